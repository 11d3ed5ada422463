"""Grades one submission: takes its files, builds them, runs them in the sandbox, and records the outcomes."""

import contextlib
import functools
import re
import shutil
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..core import build, check_build
from ..core.check_build import Judges
from ..core.console import Problem
from ..core.course import StepFile, has_solutions, source_of, steps
from ..core.judge_client import JudgeClient
from ..core.judge_types import Lab
from ..reporting import compose
from . import allowance, judging, scoring, submissions, unpack
from .allowance import Allowance, TimedJudge, UsedUp
from .grades import Grade, Run
from .handed_in import Handed
from .judging import NamedCase, Race, Raced, rival_program
from .lab_builds import LabBuild, LabBuilder, MachineFault
from .programs import PATIENCE, Programs
from .rubric import Rubric
from .sandbox import Box, Sandbox, python, variables
from .scoring import Record
from .submissions import Submission

UNPACK_SECONDS = 60  # of a processor
_MADE = re.compile(r"(?s)<!-- made: \w+ -->.*?<!-- end of made -->|<!--.*?-->")


def judge_prefix() -> list[str]:
    """The command that starts a judge: without our environment, and without a terminal that a runner could write to."""
    setsid, env = shutil.which("setsid") or "/usr/bin/setsid", shutil.which("env") or "/usr/bin/env"
    return [setsid, env, "-i", *(f"{name}={value}" for name, value in variables().items())]


@dataclass
class Class:
    """What all submissions of a run share."""

    run: Run
    rubric: Rubric
    sandbox: Sandbox
    programs: Programs
    tables: dict[str, Lab]
    out: Path
    folder: Path
    workers: int  # compilers and runners of one submission at a time
    gpu: threading.Lock = field(default_factory=threading.Lock)
    _cases: dict[tuple[str, int, str, str], list[NamedCase]] = field(default_factory=dict)
    _making_cases: threading.Lock = field(default_factory=threading.Lock)
    # Seconds that the cases of solutions take, by lab and step.
    _solutions: dict[tuple[str, int], float] = field(default_factory=dict)
    _timing_solutions: threading.Lock = field(default_factory=threading.Lock)

    @property
    def judges_speed(self) -> bool:
        """Whether speed can be judged on this machine."""
        return self.rubric.speed.build in self.programs.kinds

    def has_budgets(self, lab: str, step: int) -> bool:
        """Whether a step has budgets that can be judged here."""
        lines = self.tables[lab].lines(step)
        return any(line.budget and line.budget.n for line in lines) and check_build.counts_exactly()

    def cases(self, lab: str, step: int, kind: str, set_: str) -> list[NamedCase]:
        """The cases of a set, which are made once for all submissions."""
        key = (lab, step, kind, set_)
        with self._making_cases:
            if key not in self._cases:
                with JudgeClient(prefix=judge_prefix()) as judge:
                    self._cases[key] = judging.cases_of(judge, *key, self.run.seeds[set_])
            return self._cases[key]

    def hash_of_cases(self, lab: str, step: int) -> str:
        """The same for two submissions that have the same cases of a step, on the same builds."""
        sets = [(kind, set_) for kind in self.programs.kinds for set_ in judging.SETS[kind]]
        return scoring.hash_of(case for kind, set_ in sets for case in self.cases(lab, step, kind, set_))

    def solution_seconds(self, lab: str, step: int) -> float:
        """How long the cases of a step's solution take, which is measured once, when a submission takes long."""
        with self._timing_solutions:
            if (lab, step) not in self._solutions:
                measured = self._time_solution(lab, step) if has_solutions() else allowance.WITHOUT_SOLUTION
                self._solutions[lab, step] = measured
            return self._solutions[lab, step]

    def _time_solution(self, lab: str, step: int) -> float:
        taken = Allowance(lambda: float("inf"))
        client = functools.partial(TimedJudge, taken)
        programs = {kind: build.runner(lab, kind, True) for kind in ("cpu", "check")}
        build.compile_targets(list(programs.values()), "building the solution, to see how long its cases take")
        sets = [self.cases(lab, step, "cpu", set_) for set_ in judging.SETS["cpu"]]
        with Judges(None, judge_prefix(), workers=self.workers, client=client) as judges:
            judging.tally(judges, programs["cpu"], sets, "cpu")
            check_build.check_step(lab, step, programs["check"], judges=judges, seed=self.run.seeds["check"])
        return taken.spent

    def read_archive(self, box: Box, path: Path, suffixes: Sequence[str]) -> Iterable[unpack.Member]:
        """The members of an archive, which is read in the sandbox. Raises Refused."""
        reader = [python(), "-I", str(self.sandbox.shared / "unpack.py"), path.name, *suffixes]
        limited = ["/bin/sh", "-c", f'ulimit -t {UNPACK_SECONDS} && exec "$@"', "sh", *reader]
        done = self.sandbox.run(box, limited, PATIENCE, stdin=path)
        if not done.ok:
            raise unpack.Refused("the archive cannot be read within the limits of the sandbox")
        return submissions.parse_members(done.output.decode(errors="replace"))


class Grader:
    """Grades submissions in one box, one at a time."""

    def __init__(self, whole: Class, box: Box) -> None:
        self.whole, self.box = whole, box
        self.builder = LabBuilder(whole.programs, box, whole.workers)
        self.allowance = Allowance(lambda: float("inf"))  # of the step that is graded

    def grade(self, handed: Handed) -> Grade:
        """The grade of a submission. A fault of the machine, or of ours, is part of it: the others are still graded."""
        started = time.monotonic()
        at = handed.at.isoformat() if handed.at else ""
        grade = Grade(
            handed.student, str(handed.path), notes=handed.notes, handed_in=at, content=handed.content,
            seeds=self.whole.run.seeds, builds=self.whole.run.builds,
        )  # fmt: skip
        try:
            self.whole.sandbox.empty(self.box)
            submission = self.read(handed)
            sources = {name: text for name, text in submission.files.items() if name.endswith(".cu")}
            grade = replace(grade, notes=submission.notes, sources=sources)
            grade = self._graded(submission, grade)
        except (MachineFault, Problem) as error:
            grade = replace(grade, not_graded=str(error))
        except Exception as error:
            grade = replace(grade, not_graded=f"{type(error).__name__}: {error}")
        finally:
            self.whole.sandbox.empty(self.box)
        return replace(grade, seconds=round(time.monotonic() - started, 1))

    def read(self, handed: Handed) -> Submission:
        """What is taken of a submission."""
        return submissions.read(
            handed, self.whole.run.labs, lambda file, suffixes: self.whole.read_archive(self.box, file, suffixes)
        )

    def _graded(self, submission: Submission, grade: Grade) -> Grade:
        refused, remarks, notes = list(submission.refused), list(grade.remarks), list(grade.notes)
        records: list[Record] = []
        for lab in self.whole.programs.labs:
            made = LabBuild(lab)
            if not submission.refused:
                made = self.build(submission, lab)
                refused += [f"{lab}: {line}" for why in made.refused.values() for line in why.message.splitlines()]
                remarks += [f"{lab}: {words}" for words in made.unknown]
            of_lab: list[Record] = []
            for step in steps(lab):
                lost = {one.step for one in of_lab if one.step is not None and not one.is_right}
                record = self._step(made, step, submission, lost)
                notes += [
                    f"{lab}: step {step.number:02} was run with the reference solution of step {number:02}, because "
                    f"your step {number:02} is missing or has lost points"
                    for number in record.with_reference
                ]
                of_lab.append(record)
            records += [*of_lab, _report(lab, submission)]
        kept = tuple(map(scoring.encoded, records))
        grade = replace(grade, records=kept, refused=tuple(refused), remarks=tuple(remarks), notes=tuple(notes))
        return scoring.scored(grade, self.whole.rubric, self.whole.run, self.whole.folder, self.whole.out)

    def build(self, submission: Submission, lab: str) -> LabBuild:
        """The runners of a lab with the submission's files. Raises MachineFault."""
        prefix = f"{lab}/"
        texts = {name[len(prefix) :]: text for name, text in submission.files.items() if name.startswith(prefix)}
        return self.builder.build(lab, texts)

    def judges(self, kind: str) -> Judges:
        """Judges whose runners are in the box. One submission at a time uses a GPU, and one of its runners."""
        workers = 1 if kind == "cuda" else self.whole.workers
        client = JudgeClient if kind == "cuda" else functools.partial(TimedJudge, self.allowance)
        return Judges(None, judge_prefix(), self.sandbox_words(kind), workers, client)

    def sandbox_words(self, kind: str) -> list[str]:
        """The command that starts a runner of a build in the box."""
        return self.whole.sandbox.words(self.box, kind == "cuda")

    # --- what is found out ---

    def _step(self, made: LabBuild, step: StepFile, submission: Submission, lost: Collection[int]) -> Record:
        """What is found out about a step. `lost`: those that need the reference solution if this one uses them."""
        number, name = step.number, Path(step.file).name
        record = Record(made.lab, number, has_budgets=self.whole.has_budgets(made.lab, number))
        if submission.refused:
            return replace(record, kind="refused", why="not run: the submission was refused")
        if name in made.refused:
            why, failures = "not run: the file uses what no step may use", (made.refused[name],)
            return replace(record, kind="refused", why=why, failures=failures)
        if name in made.broken:
            failures = (made.broken[name],)
            return replace(record, kind=failures[0].status, why=f"it {failures[0].status}", failures=failures)
        if name in made.unchanged:
            kind = "not written" if step.file in submission.files else "not handed in"
            return replace(record, kind=kind, why=_unwritten(step, submission))
        if name in made.lacking:
            record = replace(record, failures=(made.lacking[name],))
        programs, replaced = self.builder.with_reference(made, number, lost)
        record = replace(record, with_reference=tuple(replaced))
        try:
            return self._judged(programs, number, record, made.missing_types.get(name, ()))
        except UsedUp as error:
            return replace(record, kind="took too long", why=str(error))

    def _judged(
        self, programs: Mapping[str, Path], number: int, record: Record, missing_types: Collection[str]
    ) -> Record:
        """What runs of a step that was built find out. Raises UsedUp."""
        lab, tallies = record.lab, []
        table = self.whole.tables[lab].without(missing_types)
        self.allowance = Allowance(functools.partial(self.whole.solution_seconds, lab, number))
        for kind in (kind for kind in self.whole.programs.kinds if kind in ("cpu", "cuda")):
            sets = [
                [replace(one, property=judging.property_of(one.case, table)) for one in cases]
                for cases in (self.whole.cases(lab, number, kind, set_) for set_ in judging.SETS[kind])
            ]
            with self.gpu_if(kind), self.judges(kind) as judges:
                tallies.append(judging.tally(judges, programs[kind], sets, kind))
        self._require_sandbox(tallies)
        kept = tuple(map(scoring.of_tally, tallies))
        record = replace(record, tallies=kept, cases=self.whole.hash_of_cases(lab, number))
        marks = self.whole.rubric
        if not any(tally.passed for tally in tallies):
            return record
        if marks.points(lab, number, "check") or (record.has_budgets and marks.points(lab, number, "budgets")):
            record = self._observed(programs, number, record, missing_types)
        is_correct = all(not tally.failed for tally in tallies)
        if self.whole.judges_speed and is_correct and marks.points(lab, number, "speed"):
            record = replace(record, speed=self._raced(programs, lab, number))
        return record

    def _observed(
        self, programs: Mapping[str, Path], number: int, record: Record, missing_types: Collection[str]
    ) -> Record:
        """The same with the check build's verdict."""
        lab, seed = record.lab, self.whole.run.seeds["check"]
        types = {one for line in self.whole.tables[lab].lines(number) for one in line.types} - {*missing_types}
        with self.judges("check") as judges:
            seconds = judging.SECONDS["check"]
            verdict = check_build.check_step(
                lab,
                number,
                programs["check"],
                seconds,
                judges=judges,
                seed=seed,
                passed_over=check_build.LESSER,
                types=types,
            )
        named = scoring.failed_cases(verdict, self.whole.cases(lab, number, "check", "check"))
        return replace(record, verdict=scoring.of_verdict(verdict), check_cases=named)

    def _raced(self, programs: Mapping[str, Path], lab: str, number: int) -> Raced:
        """How fast a step is."""
        kind = self.whole.rubric.speed.build
        with (
            self.gpu_if(kind),
            JudgeClient(prefix=judge_prefix()) as trusted,
            JudgeClient(prefix=judge_prefix(), sandbox=self.sandbox_words(kind)) as judge,
        ):
            race = Race(trusted, judge, self.whole.rubric.speed)
            return race.run(self.whole.tables[lab], number, programs[kind], self.whole.run.seeds["speed"])

    # --- faults that are not the submission's ---

    def gpu_if(self, kind: str) -> contextlib.AbstractContextManager[object]:
        """Holds the GPU, if the build uses it."""
        return self.whole.gpu if kind == "cuda" else contextlib.nullcontext()

    def _require_sandbox(self, tallies: Sequence[judging.Tally]) -> None:
        """If runners ended by themselves, the sandbox must still work. Raises MachineFault."""
        statuses = {outcome.status for tally in tallies for _, outcome in tally.failures}
        if statuses & {"exited", "crashed"} and not self.whole.sandbox.works(self.box):
            raise MachineFault("programs can no longer be started in the sandbox")


def _unwritten(step: StepFile, submission: Submission) -> str:
    """What a student reads about a step for which there is nothing but the starter."""
    if step.file in submission.files:
        return f"step {step.number:02} is not written yet"
    if step.file in submission.faults:
        return submission.faults[step.file]
    return f"{source_of(step.file)} was not handed in"


def _report(lab: str, submission: Submission) -> Record:
    """What is found out about a report."""
    text = submission.report(lab)
    if submission.refused:
        return Record(lab, None, "refused", "the submission was refused")
    if text is None:
        why = submission.faults.get(
            f"{lab}/{submissions.REPORT}", f"no report was handed in (labs/{lab}/{submissions.REPORT})"
        )
        return Record(lab, None, "not handed in", why)
    return Record(lab, None, words=own_words(text, lab))


def own_words(text: str, lab: str) -> int:
    """How many words of a report are the student's own: without the template, the questions, and what is made."""
    known = {" ".join(line.split()) for line in _MADE.sub(" ", compose.unanswered(lab)).splitlines()}
    lines = (" ".join(line.split()) for line in _MADE.sub(" ", text).splitlines())
    return sum(len(re.findall(r"\w+", line)) for line in lines if line not in known)


def needed_programs(labs: Sequence[str], rubric: Rubric, kinds: Sequence[str]) -> list[Path]:
    """What is built besides the submissions: the programs that speeds are compared with."""
    if rubric.speed.build not in kinds:
        return []
    judged = [lab for lab in labs if any(rubric.points(lab, step.number, "speed") for step in steps(lab))]
    return list(dict.fromkeys(rival_program(lab, rubric.speed) for lab in judged))
