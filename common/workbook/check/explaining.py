"""From a case that fails to why it fails: the smallest case that does, what the check build sees of it, a small change
that fixes the step, and the diagnosis of all that."""

from __future__ import annotations

import contextlib
import functools
import math
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..core import build, check_build, files
from ..core.console import Problem, Progress
from ..core.course import ROOT, step_of_file
from ..core.judge_client import JudgeDied
from ..core.judge_types import Case, Outcome
from ..core.running import groups_of
from ..diagnose import search as changes
from ..diagnose.diagnosis import Evidence, Traced, diagnose
from ..diagnose.expectations import rule_of
from ..diagnose.tracing import traced
from . import shrinking, suspects
from .programs import QUICK_SECONDS, Programs
from .verdict import Explanation, FailedCase, Smallest

FEW_KEYS = (8, 7, 6, 5)  # numbers that are tried in place of those of a case that does not end


def explained(programs: Programs, first: FailedCase, shown: FailedCase) -> Explanation:
    """Why a step fails. `first`: the case that failed first; `shown`: the one to look at."""
    shown = replace(shown, outcome=_placed(programs, shown.outcome))
    with mutant_search(programs, shown) as search:
        smallest = _smallest(programs, first, shown)
        outcome = smallest.outcome if smallest else shown.outcome
        with Progress("looking at what the kernels have written"):
            runner = programs.runner("check") if programs.has_check() else None
            most_keys = shown.line.affordable.check
            seen = traced(programs.judge, runner, outcome, most_keys, programs.timeout or QUICK_SECONDS)
        if smallest and smallest.is_smaller and shown.kind != "check" and seen.seen and seen.seen.changed_nothing:
            # With few keys, a step may leave all of them where they are, and the check build knows why.
            smallest = replace(smallest, outcome=replace(outcome, message=seen.seen.message))
        evidence = _evidence(programs, shown, seen)
        searched = changes.Searched()
        if search and not evidence.gap:
            searched = _searched(programs, search, shown, smallest, evidence)
    is_plain = shown.outcome.status == "wrong" and not shown.outcome.findings
    return Explanation(
        first,
        shown,
        smallest,
        diagnose(evidence, searched),
        seen.seen if outcome.status == "wrong" and not outcome.findings else None,
        tuple(suspects.notes(shown.step, programs.solution, passed=False)) if is_plain else (),
    )


def _placed(programs: Programs, outcome: Outcome) -> Outcome:
    """The outcome, with the solution's file where the judge could only name the step's."""
    step = step_of_file(outcome.file) if outcome.line is None else None
    return replace(outcome, file=programs.source(step)) if step else outcome


def _smallest(programs: Programs, first: FailedCase, shown: FailedCase) -> Smallest | None:
    """The smallest case that fails in the same way; None if nothing was found out."""

    def run(case: Case) -> Outcome:
        return programs.run(shown.kind, case, QUICK_SECONDS)

    most_keys = shown.line.affordable.on(shown.kind)
    with Progress("looking for a smaller case that fails"):
        keys = shrinking.KEYS if shown.kind == "check" else math.inf
        search = shrinking.Shrinking(
            shown.outcome, shown.line, run, min(most_keys, shown.line.max_n or most_keys), keys
        )
        search.search()
    if not search.has_shrunk and not search.needs:
        return None
    if first.kind != shown.kind and first.line == shown.line:
        search.add_failing(first.kind, first.outcome.case.n)
    return Smallest(_placed(programs, search.smallest), search.has_shrunk, tuple(need.words for need in search.needs))


def _evidence(programs: Programs, shown: FailedCase, seen: Traced) -> Evidence:
    """What the smallest case shows."""
    file = programs.source(shown.step)
    return Evidence(files.text_of(ROOT / file), file, seen, rule_of(programs.lab, shown.step.number))


# --- the search for a small change ---


def mutant_search(
    programs: Programs, shown: FailedCase
) -> contextlib.AbstractContextManager[changes.MutantSearch | None]:
    """The search for a small change that fixes the step, if the check build can run the case."""
    case = shown.outcome.case
    if not programs.has_check() or case.expect == "refused" or case.input.startswith("file:"):
        return contextlib.nullcontext()
    # A file in two parts has one object in the program for a first look, and two in the other.
    if not programs.check_types and build.first_look(shown.step, programs.solution):
        return contextlib.nullcontext()
    source = files.text_of(ROOT / programs.source(shown.step))
    name = Path(shown.step.file).name
    return changes.MutantSearch(programs.lab, name, programs.name("check"), programs.solution, source)


def _searched(
    programs: Programs,
    search: changes.MutantSearch,
    shown: FailedCase,
    smallest: Smallest | None,
    evidence: Evidence,
) -> changes.Searched:
    """The small changes that fix the step."""
    most_keys = min(shown.line.affordable.check, changes.MOST_KEYS)
    first = smallest.outcome.case if smallest else _with_few_keys(programs, shown)
    failing = [case for case in dict.fromkeys((first, shown.outcome.case)) if case.n <= most_keys]
    if not failing:
        return changes.Searched()
    file, at = evidence.place()
    what = f"{evidence.kind} at {file}:{at}, " if at else ""
    # A judge that cannot run one of these cases is no reason to fail.
    with contextlib.suppress(Problem), Progress(f"{what}looking for a small change that fixes the step"):
        sets = [group for name in ("quick", "check") for group in programs.cases(shown.step, name, "check")]
        groups = groups_of(sets, shown.line, programs.check_types)
        others = [case for group in groups for case in group.cases if case.n <= most_keys]
        return search.result(failing, others, functools.partial(is_right, programs, shown), evidence.near())
    return changes.Searched()


def _with_few_keys(programs: Programs, shown: FailedCase) -> Case:
    """The case to show; if it does not end, one of few keys that fails, too."""
    case = shown.outcome.case
    for n in FEW_KEYS if shown.outcome.status == "hung" else ():
        few = replace(case, n=n)
        if not programs.run("check", few, QUICK_SECONDS, SIMT_SECONDS=changes.UNCHANGED_SECONDS).passed:
            return few
    return case


def is_right(programs: Programs, shown: FailedCase, runner: Path, environment: Mapping[str, str]) -> bool:
    """Whether the step passes on the check build with the change that an environment chooses, within the limit of
    time. Of its budgets, only those of barriers and of the longest thread count."""
    with check_build.Judges(prefix=["env", *(f"{name}={value}" for name, value in environment.items())]) as judges:
        # A change may make every case take long.
        end = threading.Timer(changes.EXAMINATION_SECONDS * changes.patience(), judges.cancel)
        end.start()
        try:
            verdict = check_build.check_step(
                programs.lab,
                shown.step.number,
                runner,
                programs.timeout or QUICK_SECONDS,
                judges=judges,
                tasks=[shown.line.task],
                types=programs.check_types,
                more=0,
            )
        except JudgeDied:
            return False
        finally:
            end.cancel()
    # The changes that are not made keep the compiler from merging accesses, which costs memory traffic. But one
    # that leaves all work to few threads only hides what they do wrong together.
    allowed = {"barriers": check_build.TOLERANCE, "span": 2 * check_build.TOLERANCE}
    counted = [
        (costs.values[name], most) for costs in verdict.costs for name, most in allowed.items() if name in costs.values
    ]
    return not verdict.failed and all(cost <= most * budget for (cost, budget), most in counted)
