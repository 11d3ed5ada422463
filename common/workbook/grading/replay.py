"""One case of a graded submission, run again with the seeds of its run: for a student who complains."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..check import words
from ..core import check_build
from ..core.console import Problem, Usage, note
from ..core.judge_client import JudgeClient
from ..core.judge_types import Outcome
from . import handed_in, judging, pseudonyms, rubric, scoring
from .class_run import Options, kinds, prepared, read_roster
from .grader import Grader, judge_prefix
from .grades import Run, read_grade, read_run
from .handed_in import Handed
from .work import Work


def _submission(options: Options, name: str, run: Run) -> tuple[Handed, str]:
    """What the student has handed in now, and the student's id. `name`: what --only accepts."""
    people = read_roster(options)
    handed, _ = handed_in.find(options.folder, people)
    work, names = Work(options.out, run.labs, people, handed, handed), pseudonyms.read(options.out)
    (found,) = work.of([name], names)
    return found, work.student_of(names).get(name, name)


def _outcome(
    grader: Grader, handed: Handed, case: judging.NamedCase, kind: str, with_reference: Collection[int]
) -> Outcome:
    submission = grader.read(handed)
    made = grader.build(submission, case.case.lab)
    words = [*submission.refused, *(failure.message for failure in made.lost.values())]
    for line in words:
        note(line)
    if kind not in made.programs:
        raise Problem(
            "the case was not run, for the reasons above" if words else "the lab was handed in as it was given out"
        )
    programs, _ = grader.builder.with_reference(made, case.case.step, with_reference)
    environment = check_build.environment() if kind == "check" else {}
    with grader.gpu_if(kind), JudgeClient(prefix=judge_prefix(), sandbox=grader.sandbox_words(kind)) as judge:
        seconds = judging.SECONDS[case.set]
        return judge.run(programs[kind], case.case, timeout=seconds, environment=environment)


def replay(options: Options, student: str, name: str) -> int:
    """Runs a case again and prints its outcome; the exit status is 0 if it passes."""
    run = read_run(options.out)
    if run is None:
        raise Usage(f"{options.out} has no run.json: name the folder of grades with --out")
    handed, student = _submission(options, student, run)
    lab = name.partition("/")[0]
    unknown = Usage(f"there is no case {name}: the files in {options.out}/instructor name the cases that failed")
    if lab not in run.labs:
        raise unknown
    no_points = rubric.parse("[step]", options.rubric)  # so nothing is built to compare speeds with
    with prepared(options, replace(run, builds=tuple(kinds())), [lab], no_points) as whole:
        with JudgeClient(prefix=judge_prefix()) as judge:
            case = judging.find_case(judge, name, run.seeds)
        if case is None:
            raise unknown
        kind = name.split("/")[2]
        if kind not in whole.programs.kinds:
            raise Problem(f"the {kind} build cannot run on this machine")
        grade = read_grade(options.out, student)
        place = (lab, case.case.step)
        replaced = (
            [one.with_reference for one in scoring.records(grade) if (one.lab, one.step) == place] if grade else []
        )
        outcome = _outcome(Grader(whole, whole.sandbox.boxes[0]), handed, case, kind, sum(replaced, ()))
    if outcome.passed and not outcome.findings:
        print(f"passed: {outcome.title}, seed {outcome.case.seed}")
        return 0
    print("\n".join(words.failure_lines(outcome)[:-1]))  # the last line runs the file in labs/, not the student's
    known = {failure.case_id for criterion in grade.criteria for failure in criterion.failures} if grade else set()
    if name not in known:
        note("this case is not among the failures that the grade names")
    return 1
