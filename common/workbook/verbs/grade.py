"""Grades a folder of submissions."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..core.console import Usage, note
from ..core.course import find_lab
from ..core.options import whole
from ..grading.grades import Grade

_DESCRIPTION = """\
FOLDER holds one folder or archive per student, clones of their repositories, or what Canvas, Moodle or Gradescope
exported. A roster says whose they are. From each, only the files that students fill in and the reports are taken:
labs/NN-name/*.cu and labs/NN-name/report/report.md, with or without labs/, or the files alone if --labs names one lab.
They are compiled and run in a sandbox, on cases with secret seeds, which the run draws and records.

An interrupted run continues if you run the same command again. The same command also grades those who have handed in
again since, and applies GRADES/by-hand.csv, which holds your own points and comments. --rescore applies another rubric
to what was recorded.

Exit status: 0, all were graded; 2, some could not be graded (see not-graded.csv), or an option is wrong; 1, nothing was
graded. With --replay: 0, the case passes; 1, it fails.
"""
_USAGE = """\
%(prog)s FOLDER [--labs LAB ...] [--out GRADES] [--rubric FILE] [--jobs N] [--shard K/N]
                              [--roster FILE.csv] [--earlier FOLDER ...] [--seeds-of GRADES] [--unsafe]
                              [--only STUDENT ...] [--pseudonyms]
       %(prog)s FOLDER [--out GRADES] --rescore [--rubric FILE] [--roster FILE.csv]
       %(prog)s FOLDER [--out GRADES] --replay STUDENT CASE
       %(prog)s --merge GRADES GRADES ... --out ALL-GRADES"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.usage = _USAGE
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = f"{parser.description}\n\n{_DESCRIPTION}"
    parser.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", help="the submissions")
    parser.add_argument(
        "--labs",
        nargs="+",
        action="extend",
        metavar="LAB",
        help="the labs to grade (default: all, or those of the run)",
    )
    parser.add_argument("--out", type=Path, metavar="GRADES", help="where grades go (default: FOLDER-grades)")
    parser.add_argument("--rubric", type=Path, metavar="FILE", help="points (default: tests/rubric.toml)")
    parser.add_argument(
        "--roster",
        type=Path,
        metavar="FILE.csv",
        help="students: id, name, group, extension ...; or the gradebook of Canvas or the grading worksheet of Moodle",
    )
    parser.add_argument(
        "--earlier", nargs="+", type=Path, default=[], metavar="FOLDER",
        help="compare with submissions or grades of earlier years",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", type=whole("--jobs", 1), metavar="N", help="compilers and runners at a time (default: one per core)"
    )
    parser.add_argument(
        "--only", nargs="+", action="extend", default=[], metavar="STUDENT", help="grade only these, also again"
    )
    parser.add_argument(
        "--rescore",
        action="store_true",
        help="give points by the rubric for recorded outcomes, without running anything",
    )
    parser.add_argument(
        "--pseudonyms", action="store_true", help="show pseudonyms, not names; GRADES/pseudonyms.csv says who is who"
    )
    parser.add_argument(
        "--shard", default="", metavar="K/N", help="grade every N-th submission, beginning with the K-th"
    )
    parser.add_argument(
        "--merge", nargs="+", type=Path, metavar="GRADES", help="join the grades of all shards of a run into --out"
    )
    parser.add_argument("--seeds-of", type=Path, metavar="GRADES", help="use the seeds of another run, as shards must")
    parser.add_argument(
        "--replay", nargs=2, metavar=("STUDENT", "CASE"), help="run one case again, as GRADES/instructor names it"
    )
    parser.add_argument(
        "--unsafe", action="store_true", help="grade without a sandbox: submissions can do what you can"
    )


def main(arguments: argparse.Namespace) -> int:
    """Grades."""
    from ..grading import class_run, replay, shards

    if arguments.merge:
        if arguments.folder or not arguments.out:
            raise Usage("--merge joins grades: write ./workbook grade --merge GRADES GRADES ... --out ALL-GRADES")
        return report(shards.merge(arguments.out, arguments.merge), arguments.out)
    if arguments.rescore and arguments.only:
        raise Usage("--rescore runs nothing, and --only runs submissions again: name one of them")
    folder: Path | None = arguments.folder
    if folder is None:
        raise Usage(
            "name the folder that holds one folder or archive per student, before all options: "
            "./workbook grade FOLDER --labs LAB"
        )
    resolved = folder.resolve()
    options = class_run.Options(
        folder,
        arguments.out or resolved.with_name(f"{resolved.name}-grades"),
        tuple(dict.fromkeys(sorted(find_lab(lab) for lab in arguments.labs or []))),
        arguments.jobs or 0,
        arguments.rubric or class_run.RUBRIC,
        arguments.unsafe,
        shards.parse(arguments.shard),
        arguments.seeds_of,
        arguments.roster,
        tuple(arguments.earlier),
        tuple(arguments.only),
        arguments.rescore,
        arguments.pseudonyms,
    )
    if arguments.replay:
        return replay.replay(options, *arguments.replay)
    return report(class_run.grade_class(options), options.out)


def report(grades: Sequence[Grade], out: Path) -> int:
    """Prints how many submissions were graded; the exit status."""
    lost = [grade for grade in grades if grade.points is None]
    missing = [grade for grade in grades if grade.is_missing]
    there = len(grades) - len(missing)
    print(f"{there - len(lost)} of {there} submissions have grades: {out / 'grades.csv'}")
    if missing:
        note(f"not handed in: {', '.join(grade.student for grade in missing)}")
    if lost:
        note(f"not graded: {', '.join(grade.student for grade in lost)} (see {out / 'not-graded.csv'})")
    return 2 if lost else 0
