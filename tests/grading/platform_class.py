#!/usr/bin/env python3
"""Grades a class of 60 that has handed in through Canvas, Moodle, Gradescope and git, and reports how long that took.

    platform_class.py BUILD FOLDER [STUDENTS]     BUILD is Meson's build folder, FOLDER a new one

A quarter of the students uses each platform. They have solved lab 01, made a beginner's mistake of tests/mistakes,
solved a part of it, or handed in nothing. FOLDER gets the submissions, the rosters and the grades, for you to look at.
Prints a line per platform, and one per student whose points are not as expected; the exit status is 1 if there are any.
Exits with 77 if no sandbox works here.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / path) for path in ("common", "tests/mistakes", "tests/mutations")]

import steps  # noqa: E402
from private import private  # noqa: E402

from workbook.core import build  # noqa: E402
from workbook.core.console import Problem  # noqa: E402
from workbook.core.starters import starter  # noqa: E402
from workbook.grading import class_run, rubric  # noqa: E402
from workbook.grading.class_run import Options  # noqa: E402
from workbook.grading.grades import Grade  # noqa: E402
from workbook.grading.lab_commands import step_files  # noqa: E402

LAB = "01-odd-even"
SKIPPED = 77
FIRST = ("Anna", "Ben", "Cem", "Dörte", "Émile", "Fatima", "Groß-Karl", "Hana", "Ian", "Jürgen", "Kaya", "Li", "Mei")
LAST = ("Müller", "de Groot", "Öz", "O'Neil", "Ångström", "Nguyen", "Smith", "Weiß", "García", "Kowalski", "Rossi")
REPORT = "\n".join(f"Sentence {number} of a report that says what was measured and found." for number in range(40))


@dataclass(frozen=True)
class Student:
    """A student, what is handed in, and what it is worth."""

    number: int
    files: Mapping[str, str]  # by the names of the lab's files; empty: nothing is handed in
    what: str  # "right", "missing", or the name of a mistake
    worth: str  # "all", "some" or "none" of the points for steps

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{FIRST[self.number % len(FIRST)]} {LAST[self.number % len(LAST)]}"

    @property
    def id(self) -> str:
        """What the roster calls the student."""
        return f"s{1000 + self.number}"

    @property
    def login(self) -> str:
        """On a platform."""
        return f"user-{self.number}"


def solutions() -> dict[str, str]:
    """The files of the lab."""
    return {name: (ROOT / "solutions" / LAB / name).read_text(encoding="utf-8") for name in step_files(LAB)}


def submissions() -> Iterator[tuple[dict[str, str], str, str]]:
    """What students hand in, what it is, and what it is worth: right ones, parts and mistakes in turns, without end."""
    right = solutions()
    mistakes = [one for one in steps.MISTAKES if one.lab == LAB]
    last = list(right)[-1]
    others: list[tuple[dict[str, str], str, str]] = [
        ({**right, last: starter(right[last])}, "the last step is not written", "some"),
        ({name: right[name] for name in list(right)[:2]}, "two steps", "some"),
        ({**right, last: right[last] + "this is not C++\n"}, "the last step does not compile", "some"),
        ({name: starter(text) for name, text in right.items()}, "starters", "none"),
        ({}, "missing", "none"),
    ]
    number = 0
    while True:
        own = {name: text + f"// line {number}\n" for name, text in right.items()}
        yield {**own, "report.md": REPORT}, "right", "all"
        mistake = mistakes[number % len(mistakes)]
        yield {**right, mistake.file: mistake.source}, mistake.name, "some"
        mistake = mistakes[(7 * number + 3) % len(mistakes)]
        yield {**right, mistake.file: mistake.source}, mistake.name, "some"
        yield others[number % len(others)]
        number += 1


# --- the shapes of platforms ---


def text_of(rows: Sequence[Sequence[object]], separator: str = ",") -> str:
    """A CSV file."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def write(path: Path, text: str) -> None:
    """Writes a file and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def canvas(folder: Path, students: Sequence[Student]) -> str:
    """All files in one folder, some of a second attempt or with another case; the gradebook."""
    rows: list[list[object]] = [["Student", "ID", "SIS Login ID", "Section", f"{LAB} (901)"]]
    rows.append(["    Points Possible", "", "", "", 100])
    for one in students:
        first, _, last = one.name.partition(" ")
        rows.append([f"{last}, {first}", 20_000 + one.number, one.id, "A", ""])
        short = "".join(letter for letter in f"{last}{first}".lower() if letter.isalpha())
        for at, (name, text) in enumerate(one.files.items()):
            shown = name.title().replace(".Cu", ".cu") if one.number % 3 == 0 else name
            again = shown.replace(".cu", "-1.cu") if one.number % 3 == 1 else shown
            late = "LATE_" if one.number % 5 == 0 else ""
            write(folder / f"{short}_{late}{20_000 + one.number}_{70_000 + 10 * one.number + at}_{again}", text)
            if again != shown:  # the first attempt
                write(folder / f"{short}_{20_000 + one.number}_{60_000 + 10 * one.number + at}_{shown}", "// empty\n")
    return text_of(rows)


def moodle(folder: Path, students: Sequence[Student]) -> str:
    """A folder per student, every second one with an archive; the grading worksheet."""
    rows: list[list[object]] = [["Identifier", "Full name", "ID number", "Email address", "Grade", "Maximum Grade"]]
    for one in students:
        rows.append([f"Participant {4000 + one.number}", one.name, one.id, f"{one.login}@example.org", "", "100.00"])
        place = folder / f"{one.name}_{4000 + one.number}_assignsubmission_file_"
        if one.files and one.number % 2:
            place.mkdir(parents=True)
            with zipfile.ZipFile(place / "my lab.zip", "w") as archive:
                for name, text in one.files.items():
                    archive.writestr(f"work/labs/{LAB}/{'report/' * (name == 'report.md')}{name}", text)
        for name, text in one.files.items() if not one.number % 2 else ():
            write(place / ("report" if name == "report.md" else "") / name, text)
    return text_of(rows)


def gradescope(folder: Path, students: Sequence[Student]) -> str:
    """A folder per submission, and the file that says whose it is; a roster with semicolons and a byte-order mark."""
    lines = ["---"]
    for one in students:
        if not one.files:
            continue
        place = f"submission_{300 + one.number}"
        for name, text in one.files.items():
            write(folder / place / "labs" / LAB / ("report" if name == "report.md" else "") / name, text)
        lines += [f"{place}:", "  :submitters:", f"  - :name: {one.name}", f"    :sid: {one.id}"]
        lines += [f"    :email: {one.login}@example.org", "  :created_at: 2026-11-20 10:00:00.123456789 Z"]
    write(folder / "submission_metadata.yml", "\n".join(lines) + "\n")
    return "\ufeff" + text_of([["id", "name"], *([one.id, one.name] for one in students)], ";")


def repositories(folder: Path, students: Sequence[Student]) -> str:
    """A clone per student, with a commit; a roster with the names on GitHub."""
    identity = {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for one in (one for one in students if one.files):
        clone = folder / f"cuda-lab01-{one.login}"
        for name, text in one.files.items():
            write(clone / "labs" / LAB / ("report" if name == "report.md" else "") / name, text)
        write(clone / "README.md", "A release of the course.\n")
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "my solution"]):
            subprocess.run(["git", *words], cwd=clone, check=True, env={**os.environ, **identity})
    return text_of([["id", "name", "login"], *([one.id, one.name, one.login] for one in students)])


PLATFORMS = (canvas, moodle, gradescope, repositories)


# --- the class ---


def faults(students: Sequence[Student], grades: Sequence[Grade]) -> list[str]:
    """What is not as expected."""
    found = []
    by_id = {grade.student: grade for grade in grades}
    for one in students:
        grade = by_id.pop(one.id, None)
        if grade is None or (one.what == "missing") != grade.is_missing or grade.points is None:
            found.append(f"{one.id}, {one.what}: {grade.not_graded if grade else 'no grade'}")
            continue
        own = [criterion for criterion in grade.criteria if criterion.step is not None]
        points, most = sum(c.points or 0 for c in own), sum(c.max_points for c in own)
        worth = "none" if not points else "all" if points == most else "some"
        if worth != one.worth:
            found.append(f"{one.id}, {one.what}: {points:g} of {most:g}, which is not {one.worth}")
    return [*found, *(f"{student} is on no roster" for student in by_id)]


def graded(place: Path, name: str) -> list[Grade]:
    """Grades what came through a platform, and prints how long that took. Raises Problem."""
    start = time.monotonic()
    out, roster = place / f"{name}-grades", place / f"{name}.csv"
    with mock.patch.object(build, "ensure"):  # set up by Meson
        grades = class_run.grade_class(Options(place / name, out, (LAB,), roster=roster))
    minutes, seconds = divmod(round(time.monotonic() - start), 60)
    each = [grade.seconds for grade in grades if not grade.is_missing]
    print(f"{name}: {len(each)} submissions, {minutes} min {seconds} s, {max(each):.0f} s for the slowest", flush=True)
    return grades


def main(folder: str, target: str, number: str = "60") -> int:
    """Writes the class and grades it; the exit status."""
    build.use_folder(Path(folder).resolve())
    if not rubric.reader_of_toml():
        print("not run: this Python cannot read TOML")
        return SKIPPED
    place = Path(target).resolve()
    place.mkdir(mode=0o700)
    class_ = [Student(at, *one) for at, one in zip(range(int(number)), submissions())]
    wrong, began = [], time.monotonic()
    for at, platform in enumerate(PLATFORMS):
        # The kinds of submissions come in turns of four, and each platform gets some of all.
        students = [one for one in class_ if (one.number + one.number // 4) % 4 == at]
        name = platform.__name__
        (place / name).mkdir()
        write(place / f"{name}.csv", platform(place / name, students))
        try:
            wrong += [f"{name}: {fault}" for fault in faults(students, graded(place, name))]
        except Problem as problem:
            lacks = "no sandbox works" in str(problem)
            print(f"{'not run: ' * lacks}{problem}")
            return SKIPPED if lacks else 1
    print("\n".join([*wrong, f"{len(class_)} students in {(time.monotonic() - began) / 60:.1f} min"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or not shutil.which("git"):
        sys.exit(__doc__)
    with private(ROOT, Path(sys.argv[1])):
        sys.exit(main(*sys.argv[1:]))
