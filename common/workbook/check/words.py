"""The lines that `check` prints about a verdict, and about what it finds out before. No program parses them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..core.check_build import LESSER, kinds_of
from ..core.console import tell, wrapped_message
from ..core.course import StepFile
from ..core.judge_types import Case, Outcome
from ..diagnose import words
from .verdict import Event, Explanation, FailedCase, Gap, Passed, Smallest, Verdict

MOST_LINES = 25  # of a verdict that are shown, unless all are asked for
MOST_FINDINGS = 3  # of a case that are shown at once
COLUMNS = 80  # of what a step printed
_LAST_WORDS = re.compile(r"^\S+\.cuh?:\d+: error: .+", re.MULTILINE)  # of CUDA on the CPU, before it ends the process


class Words:
    """Prints events as lines. The verdict on a failure that was announced continues the announcement."""

    def __init__(self, kinds: Sequence[str], solution: bool, shows_all: bool = False) -> None:
        """`kinds`: the builds that are tested."""
        self._options = " --solution" * solution
        self._is_one_build = len(kinds) == 1
        self._shows_all = shows_all
        self._is_announced = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, Passed):
            tell("\n".join(passed(event)))
        elif isinstance(event, FailedCase):
            self._is_announced = True
            tell(announced(event))
        else:
            self._show(event)

    def _show(self, verdict: Verdict) -> None:
        if verdict.failed:
            tell(self._first_line(verdict.failed))
            build = verdict.failed.shown.kind
            options = (f" --build {build}" if build == "check" or not self._is_one_build else "") + self._options
            cause, case = why(verdict.failed, options, self._options)
            print("\n".join(self._fitted(cause, case)), flush=True)
        elif verdict.gap:
            tell("\n".join(unwritten(verdict.step, verdict.gap)))
        elif verdict.over:
            tell(f"OVER    {verdict.step}: correct, but it costs more than it should:\n")
            lines = [*verdict.over, *map(str, verdict.remarks)]
            if command := _player(verdict, self._options):
                lines.append(command)
            print("\n".join(self._fitted(_wrapped(lines), [])), flush=True)
        else:
            for note in verdict.notes:
                tell(note)
            if verdict.nvcc:
                tell(f"FAILED  {verdict.step} passes on the CPU, but nvcc does not compile it:\n")
                print(verdict.nvcc, flush=True)
            elif verdict.nvcc_seconds is not None:
                waited = verdict.nvcc_seconds
                longer = f", {waited:.1f} s after the last test" if waited >= 0.1 else ""
                tell(f"ok      {verdict.step}: nvcc compiles it, too{longer}")

    def _first_line(self, failed: Explanation) -> str:
        first, shown = failed.first, failed.shown
        uses = f"uses {shown.title}, which fails on the {shown.kind} build" if shown.line != first.line else ""
        if self._is_announced:
            why_here = "" if shown.kind == first.kind else f"The {shown.kind} build shows why. "
            return f"\n{f'It {uses}. ' if uses else why_here}The first thing to fix:\n"
        where = f"{first.title} {uses}" if uses else f"{shown.title}, {shown.kind} build"
        return f"FAILED  {where}. The first thing to fix:\n"

    def _fitted(self, cause: list[str], case: list[str]) -> list[str]:
        """As many lines as a reader wants to see at once. What is wrong comes first; how to repeat it, last."""
        room = MOST_LINES - len(case) - 1
        if self._shows_all or len(cause) <= room + 1:
            return [*cause, *case]
        kept = max(room, MOST_LINES // 2)
        return [*cause[:kept], f"    ... and {len(cause) - kept} more lines: --all shows them", *case]


def _wrapped(lines: Sequence[str]) -> list[str]:
    return [part for line in lines for part in wrapped_message(line).split("\n")]


# --- before the verdict ---


def passed(event: Passed) -> list[str]:
    """That a step has passed on a build, and what it costs."""
    *types, last = event.types or [""]
    of_types = f" of {', '.join(types)} and {last}" if types else ""
    found = ", no finding" if event.kind == "check" else ""
    lines = [
        f"ok      {event.step}: {event.cases} cases{of_types} on the {event.kind} build{found}, {event.seconds:.1f} s"
    ]
    if event.printing:
        line = event.printed.splitlines()[0][:COLUMNS]
        lines.append(f"        the step printed something in {event.printing} of them, first: {line}")
    return [*lines, *(f"        {costs}" for costs in event.costs), *map(str, event.remarks)]


def announced(failure: FailedCase) -> str:
    """That a case has failed, before the reason is known."""
    outcome = failure.outcome
    what = message(outcome).partition("\n")[0].partition("; ")[0].removesuffix(".")
    if outcome.findings:
        what = f"{outcome.findings[0].kind} at {outcome.findings[0].file}:{outcome.findings[0].line}"
    keys = keys_of(outcome).partition(", ")[0]
    return f"FAILED  {failure.title}, {failure.kind} build: {what} ({keys}). Looking for the reason ..."


# --- verdicts ---


def unwritten(step: StepFile, gap: Gap) -> list[str]:
    """Which code is missing, and what to do."""
    lab = "" if gap.step.lab == step.lab else f"{gap.step.lab}, "
    what = gap.message or f"step {gap.step.number:02} is not written yet"
    return [
        f"{lab}{what}: {gap.place}" + ("" if gap.is_in(step) else f" ({step} uses it)"),
        "Write the missing code first, and then delete the line that says NOT_WRITTEN.",
        f"For help: ./workbook hint {gap.step.lab} {gap.step.number}",
    ]


def why(failed: Explanation, options: str, playing: str) -> tuple[list[str], list[str]]:
    """What is wrong and what to do about it; and the case that shows it. `options`: of the command that repeats it, and
    `playing`, of the one that plays it."""
    outcome, smallest, diagnosis = failed.shown.outcome, failed.smallest, failed.diagnosis
    explained, details = words.explained(diagnosis), words.details(diagnosis)
    findings, case = failure_parts(outcome, is_explained=diagnosis.kind in ("change", "gap"))
    if smallest and smallest.is_smaller:  # of the larger case, only its fault matters
        case = case[1:]
        findings = findings[:-1] if outcome.findings else findings
    first, *more = [*explained, *details, *findings] if explained else [*findings[:1], *details, *findings[1:]]
    facts = [f"    {fact}" for fact in smallest.facts] if smallest else []
    cause = [first, *facts, *more]
    seen = failed.seen
    if seen and not diagnosis.changes:
        cause += [str(remark) for remark in seen.remarks if remark.kind in ("early-exit", "split-primitive")]
    if not smallest or not smallest.is_smaller:
        case += rows(outcome)
    last = smallest.outcome if smallest else outcome
    if smallest:
        case += smaller(smallest, outcome.message)
    if seen and (launches := launched(seen)):
        case.append(launches)
    cause += [f"  perhaps the reason: {note}" for note in failed.suspects]
    case.append(f"  again: {last.replay}{options}")
    if last.playing:
        case.append(f"  see it run: {last.playing}{playing}")
    return _wrapped(cause), _wrapped(case)


def _player(verdict: Verdict, options: str) -> str:
    """How to see what is over budget, if that is a property of single requests."""
    step = verdict.step
    for costs in verdict.costs:
        if {"conflicts", "sectors"} & set(costs.over):
            task = f" --task {costs.task}" * (costs.name != step.name)
            command = f"./workbook play {step.lab} {step.number}{task}{options}"
            return f"  see it run (press c to go to the next such request): {command}"
    return ""


# --- cases ---


def keys_of(outcome: Outcome) -> str:
    """The input of a case: "1000 u32 keys, uniform, ascending"."""
    return outcome.title.partition(": ")[2] or outcome.title


def _to_refuse(case: Case) -> str:
    """What a step must refuse about a case that expects this."""
    if case.blocks or case.threads:
        return f"blocks {case.blocks}, threads per block {case.threads}"
    if case.memory:
        return f"{case.memory:,} bytes of device memory, which are too few"
    return f"keys of the input {case.input}, which have more values than the step can count"


def message(outcome: Outcome) -> str:
    """What was wrong with a case, whose status is shown beside it."""
    if outcome.case.expect == "refused":
        what = _to_refuse(outcome.case)
        must = "the step must throw lab::Unsupported and touch nothing"
        return f'{what}: {must}; instead, the outcome was "{outcome.status}"'
    if outcome.status == "verified":
        return "the check build's result was correct" + ("" if kinds_of(outcome) <= LESSER else ", by luck")
    if outcome.status == "exited" and not outcome.findings:  # otherwise the check build has ended it
        fails = "a case fails if its step calls exit(). Throw an exception instead: check shows its message"
        return f"{outcome.message}: {fails}"
    return outcome.message


def rows(outcome: Outcome) -> list[str]:
    """The rows of keys of a wrong result."""
    return outcome.shown_keys.splitlines() if outcome.status == "wrong" else []


def _printed(outcome: Outcome) -> str:
    """What the step printed, without the lines of findings, which are shown as such."""
    known = tuple(f"{finding.file}:{finding.line}: error: {finding.kind}: " for finding in outcome.findings)
    kept: list[str] = []
    in_finding = False
    for line in outcome.printed.rstrip().splitlines():
        in_finding = line.startswith(known) or (in_finding and line.startswith("    "))  # the rest of a finding
        if not in_finding:
            kept.append(line)
    return "\n".join(kept).strip("\n")


def failure_parts(outcome: Outcome, is_explained: bool = False) -> tuple[list[str], list[str]]:
    """How a case failed, beginning with the line to fix; and which case it is. `is_explained`: the cause has been
    named, of which findings are consequences."""
    case, what = outcome.case, message(outcome)
    if is_explained and outcome.changed_nothing:
        what = what.partition(";")[0]  # what follows asks for the cause
    if is_explained and outcome.status == "hung":
        what = what.partition(". ")[0]
    if case.expect != "refused" and outcome.status not in ("verified", "wrong"):
        what = f"{outcome.status}: {what}"
    findings = [str(finding) for finding in outcome.findings[: 1 if is_explained else MOST_FINDINGS]]
    if is_explained:  # what to do has been said
        findings = [finding.partition("\n")[0] for finding in findings]
    printed = _printed(outcome)
    if outcome.status == "crashed" and not findings and (last := _LAST_WORDS.search(printed)):
        findings = [last[0]]
        printed = printed.replace(last[0], "").strip("\n")
    lines = [*findings, f"  {what}"] if findings else [": ".join(filter(None, (outcome.place, what)))]
    which = [f"  {outcome.title}" + (f", seed {case.seed}" if case.seed is not None else "")]
    if printed:
        which += ["  the runner printed:", *printed.splitlines()]
    return lines, which


def how_it_failed(outcome: Outcome) -> list[str]:
    """How a case failed, beginning with the line to fix; the keys of a wrong result; and which case it is."""
    lines, which = failure_parts(outcome)
    return [*lines, *rows(outcome), *which]


def in_one_line(outcome: Outcome) -> str:
    """How a case failed, and how to see it run."""
    playing = f" (see it run: `{outcome.playing}`)" if outcome.playing else ""
    return how_it_failed(outcome)[0].partition("\n")[0] + playing


def failure_lines(outcome: Outcome, options: str = "") -> list[str]:
    """What how_it_failed() says, and how to repeat the case; `options` are added to that command."""
    return [*_wrapped(how_it_failed(outcome)), f"  again: {outcome.replay}{options}"]


def launched(outcome: Outcome) -> str:
    """What a case launched, and how often: "  it launched sort once; merge 3 times"; "" if that is not known."""
    kernels: dict[str, list[dict[str, Any]]] = {}
    for launch in outcome.launches:
        kernels.setdefault(launch["kernel"], []).append(launch)
    parts = []
    for kernel, own in kernels.items():
        stores = sum(launch.get("global_st_requests", 0) + launch.get("global_atomic_requests", 0) for launch in own)
        times = "once" if len(own) == 1 else f"{len(own)} times"
        parts.append(f"{kernel} {times}" + ("" if stores else ", which stores nothing in global memory"))
    return f"  it launched {'; '.join(parts)}" if parts else ""


def smaller(smallest: Smallest, said: str) -> list[str]:
    """The smallest case that fails in the same way. `said`: the message of the case that is shown before."""
    found = smallest.outcome
    lines = []
    if smallest.is_smaller:
        lines.append(f"  the smallest case that fails: {keys_of(found)}, seed {found.case.seed}")
        first, _, more = found.message.partition("\n")
        was_said = first == said.partition("\n")[0]
        if found.message and found.status == "wrong":
            lines += f"  {more.lstrip() if was_said and more else found.message}".split("\n")
        lines += rows(found)
    return lines
