"""A row of measurements for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbook.core.rows import Row

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
