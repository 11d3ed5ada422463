"""Rows, tables of steps and reports that several tests of the report use."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbook.core.judge_types import Affordable, Lab, Step
from workbook.core.rows import Row
from workbook.reporting.context import Context

LAB = "03-bitonic"
MANY = 1 << 62
# Parts and plots of a report on most measurements.
PARTS = ("n", "profile", "shapes", "inputs", "ranges", "types", "transfers", "machines")
PLOTS = (
    "speed",
    "time",
    "staircase",
    "kernels",
    "shapes",
    "shape-lines",
    "inputs",
    "ranges",
    "processors",
    "machines",
)


USUAL = Row(
    lab="03-bitonic",
    step=1,
    name="global",
    build="cpu",
    seed=7,
    n=1024,
    repeats=5,
    median_ms=2.0,
    q1_ms=1.9,
    q3_ms=2.1,
    keys_per_s=512000.0,
    gb_per_s=0.004,
    roof_gb_per_s=30.0,
    percent_of_roof=0.013,
    status="verified",
    machine_id="epyc",
    machine="AMD EPYC, 2 cores, 24 GiB, Debian, Linux 6.1",
    commit="abc",
    date="2026-01-02T03:04:05Z",
)


def row(**values: Any) -> Row:
    """A verified row with these values."""
    return replace(USUAL, **values)


def step(number: int, name: str = "", affordable: int = MANY, types: Sequence[str] = ("u32",), **values: Any) -> Step:
    """A line of a lab's table."""
    usual: dict[str, Any] = {
        "number": number,
        "name": name or f"step{number}",
        "file": f"{number:02}_{name or f'step{number}'}.cu",
        "idea": "i",
        "task": "sort",
        "stable": False,
        "tile": 0,
        "max_n": None if affordable == MANY else affordable,
        "max_range": None,
        "types": tuple(types),
        "budget": None,
        "affordable": Affordable(affordable, affordable, affordable),
        "part": values.get("task", "sort") != "sort",
    }
    return Step(**{**usual, **values})


def lab_of(*affordable: int, types: Sequence[str] = ("u32",)) -> Lab:
    """A lab's table: one step for each number of keys that it affords."""
    steps = tuple(step(number, affordable=most, types=types) for number, most in enumerate(affordable, 1))
    return Lab(LAB, types[0], False, steps)


def report_of(rows: Sequence[Row], folder: Path, kind: str = "cpu", **values: Any) -> Context:
    """A report without plots, unless `plots` is given."""
    return Context(**{"lab": LAB, "folder": folder, "rows": rows, "kind": kind, "plots": False, **values})
