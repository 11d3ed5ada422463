#!/usr/bin/env python3
"""Grades the starters and the solutions of labs: in every step a starter gets no points, and a solution gets all.

    grade_labs.py BUILD LAB ...      BUILD is Meson's build folder

The starters are changed by a comment, so that they are compiled and run as anybody's work. One more submission has a
step that does not compile and one that is not written: the others must get their points, also those that use one of
these. --rescore must change nothing. Before that, the commands that make the programs of every lab must call no starter
of another lab. Exits with 77, which Meson counts as "not run", if no sandbox works here.
"""

from __future__ import annotations

import functools
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests/grading")]

from private import private  # noqa: E402

from workbook.core import build, course  # noqa: E402
from workbook.core.console import Problem  # noqa: E402
from workbook.core.starters import starter  # noqa: E402
from workbook.grading import class_run, rubric, texts  # noqa: E402
from workbook.grading.class_run import Options  # noqa: E402
from workbook.grading.grades import Criterion, Grade  # noqa: E402
from workbook.grading.lab_commands import LabCommands, step_files  # noqa: E402
from workbook.inspection import inspector  # noqa: E402

SKIPPED = 77
REPORT = "words " * 200


def write(folder: Path, labs: Sequence[str], change: Callable[[str, str], str]) -> None:
    """A submission: the solutions' files after a change, which gets the path and the text."""
    for lab in labs:
        place = folder / "labs" / lab
        (place / "report").mkdir(parents=True)
        (place / "report/report.md").write_text(REPORT)
        for name in step_files(lab):
            solution = (ROOT / "solutions" / lab / name).read_text()
            (place / name).write_text(change(f"{lab}/{name}", solution))


@functools.cache
def traps() -> str:
    """Inline functions that have the names of the runner's own, as the linker knows them. It must not call them."""
    names = sorted(name for name in inspector.ours().weak if "nlohmann" in name)
    if len(names) < 50:
        raise Problem(f"the runners have only {len(names)} inline functions of their library for JSON")
    return "".join(f'extern "C" [[gnu::used]] inline void {name}() {{ __builtin_trap(); }}\n' for name in names)


def copying(path: str, text: str) -> str:
    """The text with a kernel that copies a structure by a function that g++ makes: nvcc takes it, so the sandbox must,
    too; and with traps."""
    suffix = "".join(letter for letter in path if letter.isdigit())
    return (
        f"{text}{traps()}struct alignas(16) Copied{suffix} {{\n  long long a;\n  long long b;\n}};\n"
        f"__global__ void copy{suffix}(Copied{suffix}* to, const Copied{suffix} from) {{ to[threadIdx.x] = from; }}\n"
    )


def partly(labs: Sequence[str]) -> Callable[[str, str], str]:
    """A change that breaks the last step of each lab, so that it does not compile, and leaves the first unwritten."""
    last = {f"{lab}/{step_files(lab)[-1]}" for lab in labs}
    first = {f"{lab}/{step_files(lab)[0]}" for lab in labs}

    def change(path: str, text: str) -> str:
        if path in last:
            return text + "int broken = ;\n"
        return starter(text) if path in first else text

    return change


def wrong(grade: Grade, expected: Callable[[Criterion], float]) -> list[str]:
    """Lines about criteria whose points are not the expected ones."""
    found = [f"{grade.student}: {grade.not_graded}"] if grade.not_graded else []
    found += [f"{grade.student}: refused: {words}" for words in grade.refused]
    for criterion in grade.criteria:
        if criterion.points != expected(criterion):
            found.append(
                f"{grade.student}: {criterion.lab} {criterion.step} {criterion.name}: {criterion.points} points, not "
                f"{expected(criterion)}: {criterion.words}"
            )
            found += [f"  {texts.details(failure)}" for failure in criterion.failures[:1]]
    return found


def expected_points(labs: Sequence[str]) -> dict[str, Callable[[Criterion], float]]:
    """What each submission must get for a criterion."""
    lost = {(lab, int(step_files(lab)[at][:2])) for lab in labs for at in (0, -1)}
    return {
        "solution": lambda criterion: criterion.max_points,
        "starter": lambda criterion: criterion.max_points if criterion.step is None else 0,
        "partly": lambda criterion: 0 if (criterion.lab, criterion.step) in lost else criterion.max_points,
    }


def calls_of_starters() -> list[str]:
    """Lines about programs that call a starter of another lab, because each lab is graded by itself."""
    found = []
    for lab in course.labs():
        for kind in ("cpu", "check"):
            others = [w for w in LabCommands(lab, kind).inputs() if f"-{kind}.p/" in w and f"labs/{lab}-" not in w]
            found += [f"{lab}, {kind}: the program calls {path}" for path in others]
    return found


def main(folder: str, *labs: str) -> int:
    """Grades; the exit status."""
    build.use_folder(Path(folder).resolve())
    if calls := calls_of_starters():
        print("\n".join(calls))
        return 1
    if not rubric.reader_of_toml():
        print("not run: this Python cannot read TOML")
        return SKIPPED
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary, private(ROOT, build.folder()):
        place, out = Path(temporary, "class"), Path(temporary, "grades")
        write(place / "solution", labs, copying)
        write(place / "starter", labs, lambda _, text: starter(text) + "// begun\n")
        write(place / "partly", labs, partly(labs))
        try:
            # Set up by Meson, which runs this test.
            with mock.patch.object(build, "ensure"):
                found = class_run.grade_class(Options(place, out, labs))
                again = class_run.grade_class(Options(place, out, labs, rescore=True))
        except Problem as problem:
            lacks = "no sandbox works" in str(problem)
            print(f"{'not run: ' * lacks}{problem}")
            return SKIPPED if lacks else 1
    expected = expected_points(labs)
    lines = [line for grade in found for line in wrong(grade, expected[grade.student])]
    if again != found:
        lines.append("points from the records that were read again are not those that were given at first")
    print("\n".join(lines))
    print(f"{len(found)} submissions graded, {len(lines)} faults, {time.monotonic() - started:.0f} s")
    return 1 if lines or len(found) != 3 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
