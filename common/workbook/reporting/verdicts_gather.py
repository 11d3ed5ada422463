"""Verdicts for a report: tests, the check build's findings, and what each line costs next to its budget.

They are gathered once for the same programs, and kept in the report's folder. What `check` has found on the same file
is not tested again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core import build, check_build, checking, files, profiles, resuming
from ..core.console import Problem, Progress, note
from ..core.course import find_step, step_of_file
from ..core.judge_client import Case, Outcome, Step
from ..core.progress import ProgressFile
from .measure import known_in
from .profile_gather import Job

KEYS = 1 << 14  # of lines without a budget, as many as most budgets have
SECONDS = 120.0  # after these no line begins


def _runner(job: Job, kind: str) -> Path:
    """The program of a build."""
    return build.runner(job.lab.name, kind, job.solution)


def gather(job: Job) -> dict[str, Any]:
    """{name of a line: {"tests", "where", "check", "n", "launches", "costs": {cost: counted}}}"""
    path = job.folder / "csv/verdicts.json"
    observed = "cpu" in build.runnable()
    runners = [_runner(job, job.kind), *([_runner(job, "check")] if observed else [])]
    try:
        build.compile_targets([build.judge(), *runners], f"building {job.lab.name}")
    except build.CompileFailed:
        note("no verdicts: the check build does not compile")
        return {}
    mark = resuming.digest([*runners, build.judge()], "verdicts")
    known = {} if job.fresh else known_in(path)
    lines: dict[str, Any] = known.get("lines", {}) if known.get("mark") == mark else {}
    missing = [line for line in job.lab.steps if line.name not in lines]
    started = time.monotonic()
    with Progress(f"{job.lab.name}, tests and budgets", brief=bool(missing)) as progress:
        for line in missing:
            if time.monotonic() - started > SECONDS:
                note(f"no verdict on {line.name}: the others took {SECONDS:g} s; the same command continues there")
                continue
            progress.update(f"step {line.number}, {line.name}")
            try:
                lines[line.name] = _verdict(job, line, observed)
            except Problem as problem:
                note(f"no verdict on {line.name}: {str(problem).splitlines()[0]}")
                continue
            files.write_whole(path, json.dumps({"mark": mark, "lines": lines}, indent=1) + "\n")
    return {name: _with_check(job, name, found) for name, found in lines.items()}


def _with_check(job: Job, name: str, found: dict[str, Any]) -> dict[str, Any]:
    """A line's verdict; where `check` has passed the whole step, its verdict instead of that of the quick tests."""
    if job.solution:
        return found
    number = next(line.number for line in job.lab.steps if line.name == name)
    checked = ProgressFile().verdict(find_step(job.lab.name, number))
    return {**found, "tests": checked} if checked.startswith("passed") else found


def _verdict(job: Job, line: Step, observed: bool) -> dict[str, Any]:
    """The quick tests of one line, and one sort on the check build."""
    graded = checking.Graded()
    groups = checking.groups_of(job.judge.cases(job.lab.name, line.number, "quick", job.kind), line)
    checking.run_cases(job.judge, _runner(job, job.kind), groups, None, graded=graded)
    if graded.failure:
        if graded.failure.status != "not-written":
            return {"tests": "failed", "where": _where(graded.failure)}
        gap = step_of_file(graded.failure.file)
        return {"tests": "not written", "where": f"uses {gap.lab}, {gap}" if gap and gap.lab != job.lab.name else ""}
    found: dict[str, Any] = {"tests": f"{graded.cases} quick cases passed", "where": ""}
    return {**found, **_counted(job, line)} if observed else found


def _where(outcome: Outcome) -> str:
    """The first finding of a case that failed, or what was wrong, in one line."""
    text = str(outcome.findings[0]) if outcome.findings else f"{outcome.place}: {outcome.message}"
    return text.splitlines()[0]


def _counted(job: Job, line: Step) -> Mapping[str, Any]:
    """What one sort costs on the check build: that of the line's budget, or of as many keys as it affords."""
    groups = job.judge.cases(job.lab.name, line.number, "budget", "check", seed=1) if line.budget else ()
    cases = [case for group in groups for case in group.cases if case.task == line.task]
    type_name = job.lab.type_of(line)
    n = min(KEYS, line.affordable.check, KEYS if line.max_n is None else line.max_n)
    usual = Case(job.lab.name, line.number, n, line.task, type_name, input=line.input_for(type_name), seed=1)
    case = cases[0] if cases else usual
    outcome = job.judge.run(_runner(job, "check"), case, environment=check_build.environment())
    if outcome.findings or outcome.status != "verified":
        return {"check": "failed", "where": _where(outcome)}
    costs = profiles.costs(outcome.launches, case.n, outcome.copied_bytes)
    over = line.budget and any(
        counted > allowed * 1.0001 for counted, allowed in profiles.against_budget(costs, line.budget).values()
    )
    word = "over budget" if over and check_build.counts_exactly() else "passed"
    return {"check": word, "n": case.n, "launches": len(outcome.launches), "costs": costs}
