"""Grades a folder of submissions: draws or reads the seeds, and goes on where an earlier run has stopped."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

from ..core import build, check_build, files, machine
from ..core.console import Problem, Progress, Usage, listed, note
from ..core.course import BUILD, has_solutions, labs
from ..core.judge_client import JudgeClient
from . import by_hand, earlier, handed_in, outputs, resubmitted, rubric, sandbox_trial, scoring
from .checkouts import secrets as secrets_of_course
from .grader import Class, Grader, judge_prefix, needed_programs
from .grades import MISSING, Grade, Run, read_grade, read_grades, read_run, run_file, write_run
from .handed_in import Handed
from .judging import SETS, require_rivals
from .late import UNKNOWN, with_extra
from .programs import Programs
from .roster import Roster
from .roster import read as read_roster_file
from .shards import Shard, require_alike
from .work import Work, require_comparable

RUBRIC = rubric.RUBRIC
OURS = (
    ".lock",
    "roster.csv",
    "by-hand.csv",
    "pseudonyms.csv",
)  # what a folder of grades may hold before there is a run
WORKERS = 4  # compilers and runners that a submission uses at a time, at most: it has few files
# Seconds of a processor that grading a lab's solution takes: the table in solutions/README.md.
SECONDS = {
    "01-odd-even": 22, "02-merge": 65, "03-bitonic": 40, "04-counting": 27, "05-radix": 106, "06-beyond-memory": 34,
}  # fmt: skip
SEEDS = tuple(dict.fromkeys(name for sets in SETS.values() for name in sets)) + ("speed",)


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    folder: Path
    out: Path
    labs: tuple[str, ...] = ()  # none: all
    jobs: int = 0  # 0: one per core
    rubric: Path = RUBRIC
    unsafe: bool = False
    shard: Shard = Shard()
    seeds_of: Path | None = None  # a folder of grades whose seeds are used
    roster: Path | None = None  # none: the one that is kept with the grades, if there is one
    earlier: tuple[Path, ...] = ()  # folders of other years, with which submissions are compared
    only: tuple[str, ...] = ()  # students who are graded, also again; none: all who have no grade
    rescore: bool = False  # run nothing again: give points by this rubric for what was recorded
    pseudonyms: bool = False  # on pages and in tables; they stay until their file is removed


# --- the folder of grades ---


def check_out(options: Options) -> None:
    """Raises Problem or Usage if the grades cannot go to the folder that was named."""
    out, folder = options.out.resolve(), options.folder.resolve()
    if out == folder or folder in out.parents:
        raise Usage(f"{options.out} is in the folder of submissions: choose another folder with --out")
    if out.exists() and not out.is_dir():
        raise Usage(f"{options.out} is not a folder: choose another one with --out")
    if out.is_dir() and any(entry.name not in OURS for entry in out.iterdir()) and not run_file(out).is_file():
        raise Problem(f"{options.out} holds something other than grades: choose another folder with --out")


def locked(out: Path) -> contextlib.AbstractContextManager[None]:
    """Holds a folder of grades, which one run at a time may write. Only its owner may read it."""
    if not out.exists():
        out.mkdir(parents=True, mode=0o700)
    return files.held(out / ".lock", f"another grader writes to {out}: wait until it has finished")


def new_seeds() -> dict[str, int]:
    """New secret seeds."""
    return {name: secrets.randbits(48) for name in SEEDS}


def with_seeds(run: Run, options: Options) -> Run:
    """A run that begins, with new secret seeds, or with those of another run."""
    if options.seeds_of is None:
        return replace(run, seeds=new_seeds())
    other = read_run(options.seeds_of)
    if other is None or set(other.seeds) != set(SEEDS):
        raise Usage(f"{options.seeds_of} has no run.json with seeds: name a folder of grades")
    run = replace(run, seeds=dict(other.seeds))
    if options.shard.of > 1:  # to be merged with that one
        require_alike("this shard", run, options.seeds_of, other)
    return run


def require_same(run: Run, options: Options, chosen: Sequence[str], text: str) -> None:
    """Raises Problem unless a run can go on with these options."""
    differing = [
        words
        for words, is_same in (
            ("other labs", list(run.labs) == list(chosen)),
            ("another rubric", options.rescore or run.rubric == text),
            ("another shard", run.shard == str(options.shard)),
        )
        if not is_same
    ]
    if differing:
        rescore = "add --rescore to give points by the new rubric, " if differing == ["another rubric"] else ""
        raise Problem(
            f"{options.out} holds a run with {' and '.join(differing)}: {rescore}grade with the same options again, or "
            "choose another folder with --out"
        )


def require_builds(run: Run, options: Options, built: Sequence[str]) -> None:
    """Raises Problem unless a run can go on on this machine: its other points are for the criteria of these builds."""
    if run.builds != tuple(built):
        raise Problem(
            f"{options.out} holds a run with other builds ({', '.join(run.builds)}; here: {', '.join(built)}): grade "
            "where the same builds can run, or choose another folder with --out"
        )


def new_run(options: Options, chosen: Sequence[str], text: str, built: Sequence[str]) -> Run:
    """A run that begins. What is found out later is missing: the sandbox and the machine."""
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    run = Run(tuple(chosen), text, commit=machine.commit(), date=date, shard=str(options.shard), builds=tuple(built))
    return with_seeds(run, options)


# --- what is needed to grade ---


def kinds() -> list[str]:
    """The builds that submissions are judged on."""
    build.ensure()
    runnable = build.runnable()
    if "cpu" not in runnable:
        raise Problem("grading needs the cpu build: ./workbook doctor explains what is missing")
    return ["cpu", "check", *(kind for kind in runnable if kind == "cuda")]


def hidden(options: Options) -> list[Path]:
    """What no submission may read."""
    paths = [options.folder, options.out, build.folder(), BUILD, *secrets_of_course()]
    paths += [path for path in (options.seeds_of, options.roster, *options.earlier) if path]
    return list(dict.fromkeys(path.resolve() for path in paths if path.exists()))


@contextlib.contextmanager
def prepared(options: Options, run: Run, chosen: Sequence[str], marks: rubric.Rubric) -> Iterator[Class]:
    """Everything that submissions share, to grade these labs of a run. A new run gets its sandbox and its machine."""
    rivals = needed_programs(chosen, marks, run.builds)
    if rivals and marks.speed.against == "reference" and not has_solutions():
        raise Problem('this copy of the workbook has no solutions to compare speeds with: set against = "gold"')
    with sandbox_trial.workspace() as workspace:
        sandbox = sandbox_trial.choose(workspace, hidden(options), options.unsafe)
        for name in ("unpack.py", "own_code.py"):
            shutil.copy(Path(__file__).with_name(name), sandbox.shared)
        try:
            jobs = options.jobs or os.cpu_count() or 1
            workers = min(jobs, WORKERS)
            programs = Programs(sandbox, chosen, run.builds)
            while len(sandbox.boxes) < max(jobs // workers, 1):
                sandbox.add_box()
            programs.prepare(rivals)
            with JudgeClient(prefix=judge_prefix()) as judge:
                tables = {lab: judge.lab(lab) for lab in chosen}
                marks.require_budgets(tables.values(), options.rubric)
                if rivals:
                    require_rivals(tables.values(), marks, judge, options.rubric)
                place = "; ".join(filter(None, [machine.gpu_name(), judge.host().machine]))
            run = replace(run, sandbox=run.sandbox or sandbox.description, machine=run.machine or place)
            yield Class(run, marks, sandbox, programs, tables, options.out, options.folder, workers)
        finally:
            sandbox.close()


def announce(whole: Class) -> None:
    """Notes on how the class is graded, and on what is not judged here."""
    note(f"sandbox: {whole.sandbox.description}")
    speed = any(whole.rubric.points(lab, line.number, "speed") for lab, t in whole.tables.items() for line in t.steps)
    if speed and not whole.judges_speed:
        note(f"speed: not judged, because it needs the {whole.rubric.speed.build} build and no GPU answers")
    if not check_build.counts_exactly():
        note("budgets: not judged, because the workbook was built by clang++; build it with g++ to judge them")


def estimate(submissions: int, chosen: Sequence[str], built: Sequence[str], cores: int) -> str:
    """How long grading may take, before any submission was graded."""
    # A GPU runs the cases of one submission at a time. With one, lab 01 took as long as if there were a single core.
    at_once = 1 if "cuda" in built else min(cores, WORKERS * submissions)
    minutes = submissions * sum(SECONDS.get(lab, 40) for lab in chosen) / at_once / 60
    what = f"{submissions} submission{'s' * (submissions != 1)}"
    return f"{what}: roughly {max(1, round(minutes))} min, if they take as long as the solutions"


# --- the run ---


def summary(grade: Grade) -> str:
    """A student's result in a few words."""
    if grade.not_graded:
        return f"not graded: {grade.not_graded.splitlines()[0]}"
    if grade.points is None:
        return "not graded in part"
    refused = ", refused" if grade.refused else ""
    return f"{grade.points:g} of {grade.max_points:g}{refused}"


class ClassRun:
    """Grades what has no grade yet, some submissions at a time."""

    def __init__(self, whole: Class, handed: Sequence[Handed]) -> None:
        self.whole = whole
        self.handed = list(handed)
        self.done = 0
        self.started = time.monotonic()
        self._graders: SimpleQueue[Grader] = SimpleQueue()
        for box in whole.sandbox.boxes:
            self._graders.put(Grader(whole, box))

    def _grade(self, handed: Handed) -> Grade:
        grader = self._graders.get()
        try:
            return with_extra(grader.grade(handed), self.whole.rubric.whole)
        finally:
            self._graders.put(grader)

    def _write(self, grade: Grade) -> None:
        try:
            outputs.write_student(self.whole.out, self.whole.run, grade)
        except OSError:
            raise  # nothing more can be written
        except Exception as error:  # what one student handed in must not stop the others' grading
            grade = Grade(
                grade.student, grade.submission, not_graded=f"its results cannot be written: {error!r}"[:1000]
            )
            outputs.write_student(self.whole.out, self.whole.run, grade)

    def _finish(self, handed: Handed, grade: Grade, progress: Progress) -> None:
        for student in handed.everyone:  # the members of a group have the same points
            self._write(replace(grade, student=student))
        self.done += 1
        left = len(self.handed) - self.done
        minutes = (time.monotonic() - self.started) / self.done * left / 60
        when = f", about {minutes:.0f} min left" if minutes >= 1 else ", less than a minute left" if left else ""
        text = f"{self.done} of {len(self.handed)}: {grade.student}: {summary(grade)}, {grade.seconds:.0f} s{when}"
        if progress.live:
            progress.update(text, self.done, len(self.handed))
        else:
            progress.line(text)

    def run(self) -> None:
        """Grades all. Interrupted, nothing of a submission that was not finished is written."""
        with Progress("grading") as progress, ThreadPoolExecutor(len(self.whole.sandbox.boxes)) as pool:
            futures = {pool.submit(self._grade, handed): handed for handed in self.handed}
            try:
                for future in as_completed(futures):
                    self._finish(futures[future], future.result(), progress)
            except BaseException:
                for future in futures:
                    future.cancel()
                self.whole.sandbox.close()  # so that those that have begun end soon
                raise


def read_roster(options: Options) -> Roster | None:
    """The roster that was named, or the one that is kept with the grades."""
    path = options.roster or outputs.roster_file(options.out)
    return read_roster_file(path) if options.roster or path.is_file() else None


def grade_class(options: Options) -> list[Grade]:
    """Grades a folder of submissions, and returns the grades of all. Raises Problem or Usage."""
    people = read_roster(options)
    check_out(options)
    marks = rubric.read(options.rubric)
    recorded = read_run(options.out)
    if options.rescore and recorded is None:
        raise Usage(f"{options.out} has no grades to rescore: name the folder of grades with --out")
    chosen = list(options.labs or (recorded.labs if recorded else labs()))
    if recorded is not None:
        require_same(recorded, options, chosen, marks.text)
        marks.require_points(chosen, recorded.builds, options.rubric)
    handed, remarks = handed_in.find(options.folder, people)
    handed = resubmitted.with_contents(handed)
    others, skipped = earlier.read(options.earlier, chosen)
    work = Work(options.out, chosen, people, handed, options.shard.part(handed))
    names = work.names(options.pseudonyms)
    left = work.of(options.only, names) if options.only else work.left()
    rules = outputs.Rules(marks, options.folder, people, work.lines_by_hand(names))
    with locked(options.out):
        for remark in [*remarks, *skipped]:
            note(remark)
        if recorded and options.rescore:
            require_comparable(options.out, recorded)
            outputs.settled_grades(options.out, recorded, rules)  # what is missing is found before anything is written
        if options.roster:
            files.write_whole(outputs.roster_file(options.out), options.roster.read_bytes())
        by_hand.begin(options.out)
        work.use(names)
        before = outputs.recorded_points(options.out)
        run = _run(options, recorded, work, rules, left)
        if people and options.shard.number == 1:
            _note_missing(options, run, people, handed)
        grades = outputs.settle(options.out, run, rules, before)
        outputs.write_class(options.out, run, grades, others)
        _note_unknown_times(grades)
    return grades


def _note_unknown_times(grades: Sequence[Grade]) -> None:
    """A note if the deadline takes nothing off because it is not known when something was handed in."""
    there = [grade for grade in grades if not grade.is_missing]
    if unknown := [grade.student for grade in there if grade.late == UNKNOWN]:
        note(
            f"no time is known for {len(unknown)} of {len(there)} submissions, to which no deadline was applied. Enter "
            f"their times in the roster's column handed_in: {listed(unknown)}"
        )


def _run(options: Options, recorded: Run | None, work: Work, rules: outputs.Rules, left: Sequence[Handed]) -> Run:
    """Grades what is left, or nobody if the points are to be made from records; the run."""
    if recorded is not None and options.rescore:
        if left:
            note(f"not graded, because --rescore runs nothing: {listed([one.student for one in left])}")
        run = replace(recorded, rubric=rules.marks.text)
        write_run(options.out, run)
        return run
    if not options.only:
        work.note_left(left)
    if recorded is not None and not left:
        return recorded
    return _grade_left(options, recorded, work, rules.marks, left)


def _note_missing(options: Options, run: Run, roster: Roster, handed: Sequence[Handed]) -> None:
    """Writes a grade without points for each student on the roster who has handed in nothing."""
    there = {student for one in handed for student in one.everyone}
    for row in roster.rows:
        if row.id not in there and read_grade(options.out, row.id) is None:
            outputs.write_student(options.out, run, Grade(row.id, "", notes=(MISSING,)))


def _grade_left(
    options: Options, recorded: Run | None, work: Work, marks: rubric.Rubric, left: Sequence[Handed]
) -> Run:
    """Grades these submissions; the run, which is written if it was not recorded yet."""
    built = kinds()
    if recorded is not None:
        require_builds(recorded, options, built)
    marks.require_points(work.labs, built, options.rubric)
    run = recorded or new_run(options, work.labs, marks.text, built)
    with prepared(options, run, work.labs, marks) as whole:
        announce(whole)
        note(estimate(len(left), work.labs, built, options.jobs or os.cpu_count() or 1))
        if recorded is None:
            write_run(options.out, whole.run)
        else:
            require_cases(whole)
        ClassRun(whole, left).run()
        return whole.run


def require_cases(whole: Class) -> None:
    """Raises Problem if students of this run have had other cases than this version of the workbook makes."""
    for (lab, step), hash_ in scoring.usual_cases(read_grades(whole.out)).items():
        if step is not None and lab in whole.tables and whole.hash_of_cases(lab, step) != hash_:
            raise Problem(
                f"{whole.out} holds grades for other cases of {lab}, step {step:02}: grade with the earlier version "
                f"of the workbook ({whole.run.commit or 'unknown'}), or grade everything again in another folder"
            )
