"""The check of a lab: public tests on each build, then the check build, up to the first thing to fix."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import build, check_build, machine
from .console import Progress, note, paint
from .course import StepFile
from .judge_client import CaseGroup, JudgeClient, Outcome
from .progress import ProgressFile

MOST_FINDINGS = 3  # shown at once
SETS = ("quick", "public")  # the quick cases find most mistakes; the others follow only if those pass


@dataclass
class Graded:
    """What the public tests of a step found."""

    cases: int = 0
    failure: Outcome | None = None


def run_cases(
    judge: JudgeClient,
    runner: Path,
    groups: Iterable[CaseGroup],
    timeout: float | None,
    progress: Progress | None = None,
) -> Graded:
    """Runs cases up to the first that fails."""
    graded = Graded()
    groups = list(groups)
    total = sum(len(group.cases) for group in groups)
    for group in groups:
        for case in group.cases:
            if progress:
                progress.update(group.what, graded.cases, total)
            outcome = judge.run(runner, case, timeout=timeout)
            graded.cases += 1
            if not outcome.passed:
                graded.failure = outcome
                return graded
    return graded


def public_tests(judge: JudgeClient, step: StepFile, kind: str, timeout: float | None) -> Graded:
    """The quick cases of a step, then all public ones, up to the first that fails."""
    runner = build.runner(step.lab, kind)
    total = Graded()
    with Progress(f"{step.lab} {step} on the {kind} build") as progress:
        for set_ in SETS:
            graded = run_cases(judge, runner, judge.cases(step.lab, step.number, set_, kind), timeout, progress)
            total.cases += graded.cases
            total.failure = graded.failure
            if graded.failure:
                break
    return total


def not_written(step: StepFile, outcome: Outcome) -> str:
    """ "step 02 is not written yet: labs/03-bitonic/02_shared.cu:86" """
    message = outcome.message.rpartition(": ")[2] if outcome.place in outcome.message else outcome.message
    return f"{message or f'step {step.number:02} is not written yet'}: {outcome.place}"


def check_step(
    judge: JudgeClient,
    step: StepFile,
    kind: str,
    several: bool,
    timeout: float | None = None,
    explain: Callable[[], Sequence[str]] = list,
) -> bool:
    """Tests one step on one build, prints the verdict and remembers it. Returns whether it passed.

    `explain`: lines that name the fault of a step that fails, shown before the case that failed.
    """
    start = time.monotonic()
    graded = public_tests(judge, step, kind, timeout)
    seconds = time.monotonic() - start
    failure = graded.failure
    if failure is None:
        ProgressFile().save_verdict(step, kind, "passed")
        print(
            f"{paint('ok', 'green')}      {step}: {graded.cases} cases on the {kind} build, {seconds:.1f} s", flush=True
        )
        return True
    unwritten = failure.status == "not-written"
    ProgressFile().save_verdict(step, kind, "not written" if unwritten else "failed")
    if unwritten:
        print(not_written(step, failure))
        print(f"Fill the gap there; ./workbook hint {step.lab} {step.number} helps.", flush=True)
        return False
    print(f"{paint('FAILED', 'red')}  {step}, {kind} build. The first thing to fix:\n", flush=True)
    options = f" --build {kind}" if several else ""
    for line in (*explain(), *check_build.failure_lines(failure, options)):
        print(line, flush=True)
    return False


def _observe(step: StepFile, timeout: float | None) -> check_build.Verdict:
    runner = build.runner(step.lab, "check")
    build.compile_targets([runner], f"building {step.lab} for the check build")
    with Progress(f"{step.lab} {step} on the check build") as progress:
        return check_build.check_step(step.lab, step.number, runner, timeout, progress)


def findings_of(step: StepFile, timeout: float | None = None) -> list[str]:
    """What the check build finds in a step that fails its tests, as lines; empty if it finds nothing."""
    verdict = _observe(step, timeout)
    return [*map(str, verdict.findings[:MOST_FINDINGS]), ""] if verdict.findings else []


def check_observed(step: StepFile, timeout: float | None = None) -> bool:
    """Prints and remembers the check build's verdict on a step that passes its tests. Returns whether it passed."""
    start = time.monotonic()
    verdict = _observe(step, timeout)
    ProgressFile().save_verdict(step, "check", verdict.word)
    if verdict.passed:
        print(
            f"{paint('ok', 'green')}      {step}: {verdict.cases} cases on the check build, no finding, "
            f"{time.monotonic() - start:.1f} s",
            flush=True,
        )
        for costs in verdict.costs:
            print(f"        {costs}", flush=True)
        return True
    if verdict.word == "over budget":
        print(f"{paint('OVER', 'red')}    {step}: correct, but it costs more than it should:\n")
    else:
        print(
            f"{paint('FAILED', 'red')}  {step}, check build. The results were right by luck. The first thing to fix:\n"
        )
    print("\n".join(verdict.lines(MOST_FINDINGS)), flush=True)
    return False


def check(lab: str, steps: Sequence[StepFile], timeout: float | None = None) -> bool:
    """Checks the steps in order up to the first that fails; returns whether all pass. CompileFailed, Problem."""
    build.ensure()
    kinds = build.runnable()
    build.compile_targets([build.judge(), *(build.runner(lab, kind) for kind in kinds)], f"building {lab}")
    observed = "cpu" in kinds
    with JudgeClient() as judge:
        for step in steps:
            for kind in kinds:

                def explain(step: StepFile = step) -> Sequence[str]:
                    return findings_of(step, timeout) if observed else []

                if not check_step(judge, step, kind, len(kinds) > 1, timeout, explain):
                    print("(public tests only)")
                    return False
            if observed and not check_observed(step, timeout):
                return False
    which, only = ("Passed", f" --step {steps[0].number}") if len(steps) == 1 else ("All steps passed", "")
    print(f"{which}, public tests only. Next: ./workbook bench {lab}{only}")
    if "cuda" in build.kinds() and not machine.gpus():
        note("cuda: not run, no GPU answers")
    return True
