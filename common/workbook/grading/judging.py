"""Runs a submission's steps on the cases of the run's secret seed, and makes criteria of the outcomes.

The cases are the judge's own, as `./workbook check` uses them. A case has a name, lab/step/build/set/number, which
stays the same as long as the seed does: that is how a case is replayed.

The speed of a step is a ratio to that of the reference solution, or of the gold standard, measured in turns.
"""

# Python 3.9 cannot evaluate `int | None`, and the annotations of what is recorded are evaluated.
# ruff: noqa: UP045

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Optional

from ..core import build, check_build
from ..core.check_build import Judges, Observation
from ..core.console import Usage
from ..core.judge_client import JudgeClient
from ..core.judge_types import BUSY, Case, Lab, Limits, Measurement, Outcome, Step
from .grades import Criterion, Failure
from .rubric import UNCHECKED_LAUNCH, Rubric, Speed
from .texts import shortened

SETS = {"cpu": ("quick", "public"), "cuda": ("quick", "public"), "check": ("check",)}
SECONDS = {"quick": 5.0, "public": 10.0, "check": 20.0}  # that a case may take, besides waiting for a busy machine
MOST_HUNG = 2  # cases of a step and build that do not end: after these, the others count as failed
MOST_ENDED = 20  # cases that end the program, if none passes
MOST_SECONDS = 300.0  # for all cases of a step on a build, besides waiting; the solutions take a few
MOST_KEPT = 8  # failures that a criterion names
FEW_KEYS, WARP = 33, 32
_HOSTS = ("host-pointer", "device-variable")  # findings of what works only where host and device share their memory


@dataclass(frozen=True)
class NamedCase:
    """A case and its name."""

    id: str
    case: Case
    set: str
    property: str = ""  # of the step, which it tests


def property_of(case: Case, table: Lab) -> str:
    """The property of a step that a case tests, beyond those that are named before it."""
    line = next(line for line in table.lines(case.step) if line.task == case.task)
    if case.blocks or case.threads:
        return "launch shapes"
    if case.type != table.type_of(line):
        return "key types"
    if case.n <= FEW_KEYS:
        return "few keys"
    if case.n % (line.tile or WARP) == 0:
        return "full tiles" if line.tile else "full warps"
    return "descending order" if case.order == "descending" else "any n"


def cases_of(judge: JudgeClient, lab: str, step: int, kind: str, set_: str, seed: int) -> list[NamedCase]:
    """The cases of a set, with their names."""
    table = judge.lab(lab)
    cases = [case for group in judge.cases(lab, step, set_, kind, seed) for case in group.cases]
    return [
        NamedCase(f"{lab}/{step:02}/{kind}/{set_}/{i}", case, set_, property_of(case, table))
        for i, case in enumerate(cases)
    ]


def find_case(judge: JudgeClient, name: str, seeds: Mapping[str, int]) -> NamedCase | None:
    """The case of this name; None if there is none."""
    parts = name.split("/")
    if len(parts) != 5 or not parts[1].isdigit() or parts[2] not in SETS or parts[3] not in SETS[parts[2]]:
        return None
    found = cases_of(judge, parts[0], int(parts[1]), parts[2], parts[3], seeds[parts[3]])
    return next((case for case in found if case.id == name), None)


@dataclass
class Tally:
    """Cases of a step that were run on one build."""

    kind: str
    passed: int = 0  # of those that are not passed by doing nothing
    failed: int = 0
    hung: int = 0
    ended: int = 0  # cases that ended the program
    not_written: int = 0
    properties: dict[str, list[int]] = field(default_factory=dict)  # cases that passed, and all, by what they test
    why_stopped: str = ""
    failures: list[tuple[NamedCase, Outcome]] = field(default_factory=list)
    seconds: float = 0  # of the step itself: a busy machine must not cost points

    def add(self, case: NamedCase, outcome: Outcome) -> None:
        """Counts an outcome."""
        times = outcome.times
        self.seconds += SECONDS[case.set] if outcome.status == "hung" else (times.wall_ms - times.waited_ms) / 1e3
        if not outcome.passed:
            self.count(case, 0)
            if outcome.status != "not-written" or not self.not_written:  # one of them says it all
                self.failures.append((case, outcome))
            self.hung += outcome.status == "hung"
            self.ended += outcome.status in ("hung", "crashed", "exited")
            self.not_written += outcome.status == "not-written"
        elif outcome.status == "verified" and not outcome.already_correct:
            self.count(case, 1)

    def count(self, case: NamedCase, passed: int) -> None:
        """Counts a case as passed, 1, or as failed, 0."""
        self.passed += passed
        self.failed += not passed
        of_property = self.properties.setdefault(case.property, [0, 0])
        of_property[0] += passed
        of_property[1] += 1

    def should_stop(self) -> bool:
        """Whether the other cases need not be run; then `why_stopped` is a clause."""
        if self.hung >= MOST_HUNG:
            self.why_stopped = f"{self.hung} cases did not end, so the others were not run and count as failed"
        elif self.seconds > MOST_SECONDS:
            self.why_stopped = f"the cases together took more than {MOST_SECONDS:.0f} s, so the others count as failed"
        elif self.ended >= MOST_ENDED and not self.passed:
            self.why_stopped = f"the first {self.failed} cases all ended the program, so the others were not run"
        return bool(self.why_stopped)

    @property
    def cases(self) -> int:
        """All that count."""
        return self.passed + self.failed


def tally(judges: Judges, runner: Path, sets: Sequence[Sequence[NamedCase]], kind: str) -> Tally:
    """Runs sets of cases of a step on a build, as long as any case has passed.

    All sets have the same threads, and with them the same runners: on a GPU, starting one takes longer than most sets.
    """
    result = Tally(kind)

    def run(case: NamedCase) -> Outcome:
        return judges.own().run(runner, case.case, timeout=SECONDS[case.set])

    with ThreadPoolExecutor(judges.workers) as pool:
        for cases in sets:
            with check_build.outcomes(pool, run, cases) as outcomes:
                for number, (case, outcome) in enumerate(zip(cases, outcomes), 1):
                    result.add(case, outcome)
                    if result.should_stop():
                        for other in cases[number:]:
                            result.count(other, 0)
                        return result
            if not result.passed:
                break
    return result


# --- criteria ---


def first_of_each(failures: Sequence[tuple[NamedCase, Outcome]]) -> list[tuple[NamedCase, Outcome]]:
    """Some failures, of different inputs and statuses as far as possible."""
    found: dict[object, tuple[NamedCase, Outcome]] = {}
    for case, outcome in failures:
        found.setdefault((case.case.task, case.case.input, case.case.type, outcome.status), (case, outcome))
    chosen = list(found.values())[:MOST_KEPT]
    return chosen or list(failures[:MOST_KEPT])


def by_property(tallies: Sequence[Tally]) -> dict[str, tuple[int, int]]:
    """How many cases were passed, and how many there are, by what they test. On all builds."""
    names = dict.fromkeys(name for t in tallies for name in t.properties)
    counts = {name: [t.properties[name] for t in tallies if name in t.properties] for name in names}
    return {
        name: (sum(passed for passed, _ in found), sum(all_ for _, all_ in found)) for name, found in counts.items()
    }


def correct(lab: str, step: int, tallies: Sequence[Tally], max_points: float, least_share: float) -> Criterion:
    """The share of the cases that are passed: the mean of the shares of each property, which count alike."""
    passed, cases = sum(t.passed for t in tallies), sum(t.cases for t in tallies)
    properties = by_property(tallies)
    share = statistics.mean(good / all_ for good, all_ in properties.values()) if properties else 0.0
    failures = [
        Failure(t.kind, lab, step, outcome, case_id=case.id)
        for t in tallies
        for case, outcome in first_of_each(t.failures)
    ]
    if not passed and any(t.not_written for t in tallies):
        return Criterion(lab, step, "correct", 0, max_points, f"step {step:02} is not written yet", tuple(failures[:1]))
    words = [f"{t.passed} of {t.cases} cases passed on the {t.kind} build" for t in tallies]
    words += [f"on the {t.kind} build, {t.why_stopped}" for t in tallies if t.why_stopped]
    if 0 < passed < cases:
        listed = ", ".join(f"{name} {good} of {all_}" for name, (good, all_) in properties.items() if name)
        words += [f"each kind counts the same: {listed}"] if listed else []
    if 0 < share < least_share:
        words.insert(0, f"all kinds together {share:.0%}, and {least_share:.0%} is the least that gives points")
    points = round(max_points * share, 2) if share >= least_share else 0
    # A sort by the host, or an answer that the runner did not give: the cases that it passed prove nothing.
    refused = next((o for t in tallies for _, o in t.failures if o.status == "refused"), None)
    if refused is not None:
        points = 0
        words.insert(0, f"refused: {refused.message}")
    # All points are for all cases: of many, a single failure must not vanish in the rounding.
    points = min(points, max_points - 0.01) if passed < cases else points
    words_ = "; ".join(words)
    return Criterion(lab, step, "correct", max(points, 0), max_points, words_, tuple(failures), cases - passed)


def earned(criterion: Criterion, verdict: Observation) -> Criterion:
    """The criterion, without points if the check build has seen that the host did the kernels' work, that code hidden
    from it did, or that kernels worked in the host's memory, which no GPU can."""
    failed = verdict.failed
    pointers = [str(finding) for finding in failed.findings if finding.kind in _HOSTS] if failed else []
    hidden = [failed.message] if failed and failed.status == "refused" else []
    why = next(iter([*filter(None, [verdict.idle]), *hidden, *pointers]), "")
    words = f"refused: {shortened(why)}"
    words = criterion.words if criterion.words.startswith(words) else f"{words}; {criterion.words}"
    return replace(criterion, points=0, words=words) if why else criterion


def check(
    lab: str,
    step: int,
    verdict: Observation,
    cases: Sequence[NamedCase],
    max_points: float,
    cost_of_lesser: float = UNCHECKED_LAUNCH,
) -> Criterion:
    """No finding of the check build, no case that fails there, and the work is not left to one thread.
    `cost_of_lesser`: the points that findings cost which make no result wrong."""
    if verdict.failed is None and (verdict.idle or verdict.serial):
        words = verdict.idle or f"not parallel: too much of the work is serial: {verdict.serial}"
        return Criterion(lab, step, "check", 0, max_points, words)
    failed = verdict.failed or verdict.lesser
    if failed is None:
        words = f"{verdict.cases} of {verdict.cases} cases passed on the check build, without a finding"
        return Criterion(lab, step, "check", max_points, max_points, words)
    points = 0 if verdict.failed else max(max_points - cost_of_lesser, 0)
    name = next((case.id for case in cases if case.case == failed.case), "")
    kinds = list(dict.fromkeys(finding.kind for finding in failed.findings))
    words = (
        f"the check build reports: {', '.join(kinds)}" if kinds else f"a case fails on the check build: {failed.status}"
    )
    words += ", and nothing worse" * (verdict.failed is None)
    return Criterion(
        lab, step, "check", points, max_points, words, (Failure("check", lab, step, failed, case_id=name),)
    )


def budgets(lab: str, step: int, verdict: Observation, max_points: float) -> Criterion:
    """The share of the budgets that are kept."""
    if verdict.failed is not None:
        words = "the budgets are judged only if every case of the check build passes without a finding"
        return Criterion(lab, step, "budgets", 0, max_points, words)
    pairs = [pair for costs in verdict.costs for pair in costs.values.values()]
    kept = sum(cost <= allowed * check_build.TOLERANCE for cost, allowed in pairs)
    words = f"{kept} of {len(pairs)} budgets kept"
    if verdict.serial or verdict.idle:  # few bytes or barriers are no merit then
        why = "the kernels do too little" if verdict.idle else "one thread does too much of the work"
        words += f", but none of them counts, because {why}"
        kept = 0
    words += f": {'; '.join(map(str, verdict.costs))}"
    points = round(max_points * kept / len(pairs), 2) if pairs else 0
    over = Failure("check", lab, step, status="over budget", message="\n".join(verdict.over))
    return Criterion(lab, step, "budgets", points, max_points, words, (over,) if kept < len(pairs) else ())


def no_points(lab: str, step: int | None, name: str, max_points: float, words: str, *failures: Failure) -> Criterion:
    """No points, for a reason that needs no run."""
    return Criterion(lab, step, name, 0, max_points, words, failures)


def report(lab: str, count: int, least: int, max_points: float) -> Criterion:
    """All or nothing: whether the student has written enough words."""
    words = f"a report with {count} words of the student's own" + f"; at least {least} are needed" * (count < least)
    return Criterion(lab, None, "report", max_points if count >= least else 0, max_points, words)


# --- speed ---


@dataclass(frozen=True)
class Raced:
    """How fast a step is, compared with another program."""

    build: str
    against: str
    keys: int  # at most, as the rubric wants
    n: int  # the keys that were sorted
    ratio: Optional[float] = None  # of the speeds; None: there is none, for this reason:
    why: str = ""
    is_fault: bool = False  # of the grader or the machine, not of the step


def rival_words(against: str) -> str:
    """What a rubric's word for the other program means."""
    return "the reference solution" if against == "reference" else "the gold standard"


def speed(lab: str, step: int, raced: Raced, marks: Speed, max_points: float) -> Criterion:
    """The share of the points that the rubric gives for a ratio."""
    if raced.ratio is None:
        return Criterion(lab, step, "speed", None if raced.is_fault else 0, max_points, raced.why)
    words = (
        f"{raced.ratio:.2f} times as fast as {rival_words(raced.against)} with {raced.n:,} keys on the {raced.build} "
        "build"
    )
    return Criterion(lab, step, "speed", round(max_points * marks.share(raced.ratio), 2), max_points, words)


ROUNDS = 3  # of both; the median of the ratios counts
RACE_SECONDS = 30.0  # that one run may take
# Each run has different keys, which take longer to make than to sort.
_LIMITS = Limits(repeats=5, min_time=0.02, time_limit=5)


def rival_program(lab: str, speed: Speed) -> Path:
    """The runner that steps are compared with."""
    return build.runner(lab, speed.build, True) if speed.against == "reference" else build.gold(speed.build, ())


def case_of(table: Lab, line: Step, speed: Speed, seed: int) -> Case:
    """What is timed."""
    n = min(speed.keys, line.affordable.on(speed.build), *([line.max_n] if line.max_n else []))
    # The keys of a step that sorts host memory must not fit on the device: it would have nothing to merge or partition.
    memory = max(line.min_device_bytes or 0, n) if line.memory == "host" else 0
    return replace(table.usual_case(line, n, seed), memory=memory)


def rival_in(gold: Iterable[Step], line: Step, type_name: str) -> Step | None:
    """The first of the gold standards that does the same work; None if there is none."""
    work = (line.task, line.tile, line.memory)
    same = (rival for rival in gold if (rival.task, rival.tile, rival.memory) == work)
    return next((rival for rival in same if rival.takes(type_name)), None)


def require_rivals(tables: Iterable[Lab], rubric: Rubric, judge: JudgeClient, path: Path) -> None:
    """Raises Usage if the rubric gives points for the speed of a step that the gold standard has no rival for."""
    if rubric.speed.against != "gold":
        return
    for table in tables:
        gold = judge.runner(rival_program(table.name, rubric.speed)).steps
        for number in sorted({line.number for line in table.steps}):
            line = table.own_line(number)
            if rubric.points(table.name, number, "speed") and not rival_in(gold, line, table.type_of(line)):
                raise Usage(
                    f"{path}: the gold standard has nothing to compare step {number:02} of {table.name} with: set "
                    "speed = 0"
                )


class Race:
    """Measures steps of one build. `trusted`: a judge of our own runners; `judge`: that of the submission."""

    def __init__(self, trusted: JudgeClient, judge: JudgeClient, speed: Speed) -> None:
        self.trusted, self.judge, self.speed = trusted, judge, speed

    def _rival_case(self, case: Case, line: Step, program: Path) -> Case:
        """The same keys for the rival. A gold standard may use all memory."""
        if self.speed.against == "reference":
            return case
        rival = rival_in(self.trusted.runner(program).steps, line, case.type or "")
        assert rival, "require_rivals() was not called"
        return replace(case, lab="gold", step=rival.number, memory=0)

    def _rounds(self, case: Case, runner: Path, line: Step) -> Iterator[tuple[Measurement, Measurement]]:
        """The rival's measurement and the runner's, in turns."""
        rival = rival_program(case.lab, self.speed)
        rival_case = self._rival_case(case, line, rival)
        copy = self.trusted.runner(rival, bandwidth=True).copy_bytes_per_second
        for _ in range(ROUNDS):
            other = self.trusted.measure(rival, rival_case, _LIMITS, timeout=RACE_SECONDS)
            yield other, self.judge.measure(runner, case, _LIMITS, timeout=RACE_SECONDS, copy_bytes_per_second=copy)

    def run(self, table: Lab, step: int, runner: Path, seed: int) -> Raced:
        """How fast a step is."""
        line = table.own_line(step)
        case = case_of(table, line, self.speed, seed)
        result = Raced(self.speed.build, self.speed.against, self.speed.keys, case.n)
        ratios = []
        for other, own in self._rounds(case, runner, line):
            if other.status != "verified":
                rival = rival_words(self.speed.against)
                return replace(
                    result, why=f"{rival} could not be measured: {other.status}: {other.message}", is_fault=True
                )
            if own.status == BUSY:
                return replace(result, why=f"not measured: {own.message}", is_fault=True)
            if own.status != "verified":
                return replace(result, why=f"when it was timed: {own.status}: {shortened(own.message)}")
            ratios.append(other.median_ms / own.median_ms)
        return replace(result, ratio=statistics.median(ratios))
