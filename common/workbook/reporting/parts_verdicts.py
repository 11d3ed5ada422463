"""Parts of a report about what the tests and the check build say: verdicts, budgets, predictions, a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.console import grouped
from ..core.judge_client import Step
from ..core.rows import Row
from .context import Context
from .selection import by_line, powers, speed, usual
from .tables import count, pipe

COSTS = {"conflicts": "wavefronts", "sectors": "sectors", "bytes": "bytes per key", "barriers": "barriers per block"}


def verdicts(report: Context) -> str:
    """A line for each line of the lab's table: the tests, the check build, and each cost next to its budget."""
    if not report.verdicts:
        return ""
    lines, wrong = [], []
    for step in report.steps:
        found = report.verdicts.get(step.name)
        if found is None:
            continue
        costs = [_cost(step, found, cost) for cost in COSTS]
        lines.append([f"{step.number:02} {step.name}", found["tests"], found.get("check", ""), *costs])
        wrong += [f"{step.number:02} {step.name}: {found['where']}"] if found.get("where") else []
    headings = ["step", "tests", "check build", *COSTS.values()]
    return "\n\n".join(
        [
            (
                "The verdict of `./workbook check`, with its builds, or else of the quick tests on the "
                f"{report.kind} build; and one sort on the check build: its verdict, and what it counted, next to the "
                "budget where there is one. Wavefronts and sectors are multiples of the ideal."
            ),
            pipe(headings, lines, left=3),
            *wrong,
        ]
    )


def _cost(step: Step, found: dict[str, Any], cost: str) -> str:
    """ "1.00 of 1.1" """
    counted = found.get("costs", {}).get(cost)
    allowed = getattr(step.budget, cost) if step.budget else 0
    if not counted:
        return ""
    of_budget = f" of {allowed:g}" * bool(allowed)
    return f"**{counted:.2f}{of_budget}**" if allowed and counted > allowed * 1.0001 else f"{counted:.2f}{of_budget}"


def predictions(report: Context) -> str:
    """A table with a column for the student's predictions: costs of each step, and how much faster it is."""
    rows: list[list[str]] = []
    sizes = set()
    before = ""
    speeds = _speeds(report)
    for step in report.steps:
        found = (report.verdicts or {}).get(step.name, {})
        if step.part or not found.get("costs"):
            continue
        name = f"{step.number:02} {step.name}"
        sizes.add(found["n"])
        rows.append([f"{name}, launches", "", f"{found['launches']:,}"])
        rows += [[f"{name}, {COSTS[cost]}", "", grouped(found["costs"][cost])] for cost in ("bytes", "barriers")]
        if before in speeds and name in speeds and (ratio := _ratio(speeds[name], speeds[before])):
            rows.append([f"{name}, speed as a multiple of step {before[:2]}", "", grouped(ratio)])
        before = name
    if not rows:
        return ""
    keys = " or ".join(count(n) for n in sorted(sizes))
    explained = (
        f"Launches, bytes moved and barriers of one sort of {keys} keys, as the check build counts them; speeds on the "
        f"{report.kind} build, at the largest n of both steps."
    )
    return f"{explained}\n\n" + pipe(["what", "predicted", "measured"], rows, left=2)


def _speeds(report: Context) -> dict[str, Sequence[Row]]:
    """A step's number and name -> its rows over n."""
    lines = by_line(powers([row for row in usual(report.rows) if row.build == report.kind]), report.lab)
    return {f"{number:02} {name}": own for (number, task, name), own in lines.items() if task == "sort"}


def _ratio(rows: Sequence[Row], others: Sequence[Row]) -> float | None:
    """How many times as fast the first is at the largest common n; None if their keys differ."""
    theirs = {row.n: speed(row) for row in others if row.type == rows[0].type}
    common = [row for row in rows if theirs.get(row.n)]
    return speed(common[-1]) / theirs[common[-1].n] if common else None


def run(report: Context) -> str:
    """The picture of a run of one step."""
    return f"![{report.picture}](plots/run.svg)" if report.picture else ""
