"""Draws a run of a step: which thread reads and writes which place, with time from left to right. For a step that
sorts host memory, it draws when its copies and kernels ran."""

from __future__ import annotations

import argparse
import os
import re
from dataclasses import replace
from pathlib import Path

from ..core import build, files, timelines
from ..core.console import Problem, Usage, note
from ..core.course import BUILD, find_one, require_solutions, shown
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Outcome, Step
from ..core.options import add, case_of, choose_build, whole
from ..core.sweeps import file_inputs, number
from ..pictures import access_picture
from ..pictures.access_layout import in_words
from ..pictures.accesses import MAX_PLACES
from ..pictures.recorded import observe
from ..reporting import plot, timeline

MAX_N = 2**16
FOLDER = BUILD / "pictures"
SMALL_KEYS = "range:0:15"  # a step with a counter per value then counts several of each, next to each other


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    add(parser, "lab", "step")
    many = "a timeline may have more (default: about ten pieces)"
    add(parser, "--n", help=f"number of keys, at most {MAX_N:,} (default: 16); {many}")
    what = "uniform, sorted, ... or file:PATH, whose bytes are the keys (default: uniform, or 0 to 15 for counters)"
    add(parser, "--input", help=what)
    add(parser, "--seed", "--type", "--order")
    for name in ("--blocks", "--threads"):
        add(parser, name, type=whole(name))
    add(parser, "--task", "--memory", "--pageable")
    parser.add_argument(
        "--arrays",
        choices=("shared", "global", "all"),
        help="the arrays to draw (default: those in shared memory, or in global memory if there are none); "
        "of a step of lab 06, this option draws accesses to arrays instead of the timeline",
    )
    parser.add_argument(
        "--places",
        metavar="A-B",
        help="the places to draw of an array that is too large (default: those that count keys, or the first)",
    )
    parser.add_argument(
        "--launches",
        metavar="A-B",
        help="the launches to observe and draw, from 0 (default: the first that fit); needed if n is large",
    )
    parser.add_argument("--json", metavar="FILE", help="also write the spans of a timeline to this file")
    add(parser, "--build", help="the build of a timeline (default: cuda if a GPU answers, else cpu)")
    add(parser, "--solution")
    add(parser, "--timeout", help="the longest time that the step may take")
    parser.add_argument(
        "-o",
        dest="output",
        metavar="FILE.svg",
        help=f"the file to write (default: {shown(FOLDER)}/LAB-STEP.svg)",
    )


def count_of(text: str) -> int:
    """The number of keys that --n gives, as 16 or 2^4. Raises Usage if it cannot be drawn."""
    n = number(text, "--n")
    if n > MAX_N:
        raise Usage(f"--n {text} is too large for a picture: it can show part of a run of {MAX_N:,} keys at most")
    return n


def range_of(name: str, text: str | None, max_length: int | None = None) -> range | None:
    """The range that an option gives; None if it is not given. Raises Usage if it is not a range or is too long."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text)
    if not match or int(match[2] or match[1]) < int(match[1]):
        raise Usage(f"--{name} {text} is not a range: give the first and the last, as in 2-5")
    chosen = range(int(match[1]), int(match[2] or match[1]) + 1)
    if max_length and len(chosen) > max_length:
        raise Usage(f"--{name} {text} is too long: a picture can show at most {max_length}")
    return chosen


def check_output(path: Path) -> None:
    """Raises Usage if the file cannot be written. Called before the run, which takes time."""
    if path.is_dir():
        raise Usage(f"{path} is a directory: give a file name with -o")
    if path.suffix != ".svg":
        raise Usage(f"{path}: a picture is an SVG file: name it {path.with_suffix('.svg').name}")
    if not path.parent.is_dir():
        raise Usage(f"no such directory: {path.parent}")
    why_not = files.writable(path)
    if why_not:
        raise Usage(f"{path} cannot be written: {why_not}")
    if path.exists() and not os.access(path, os.W_OK):
        raise Usage(f"{path} cannot be written: permission denied")


def print_remarks(outcome: Outcome, truncated: bool) -> None:
    """Prints what is wrong with the run."""
    if not outcome.passed:
        note(f"the step failed this case: {outcome.message}")
    for finding in outcome.findings:
        note(in_words(finding))
    if truncated:
        note(
            "truncated: the run makes more accesses than can be recorded; the picture shows the first ones, "
            "--launches others"
        )


def draw_timeline(judge: JudgeClient, case: Case, line: Step, arguments: argparse.Namespace, output: Path) -> None:
    """Runs a step that sorts host memory, and draws when its copies and kernels ran."""
    kind = choose_build(arguments.build)
    if not plot.available() and not arguments.json:
        raise Problem(
            "timelines are drawn by matplotlib, which is not installed: ./workbook doctor shows how to get it"
        )
    build.compile_targets([build.runner(case.lab, kind, arguments.solution)], f"building {case.lab}")
    case = timelines.usual_case(case, line, kind)
    recorded = timelines.record(judge, case, line, kind, arguments.solution, arguments.timeout)
    for sentence in timelines.sentences(recorded):
        note(sentence)
    if arguments.json:
        timelines.write(Path(arguments.json), recorded)
        note(f"written: {arguments.json}")
    if plot.available():
        timeline.draw(recorded, output.with_suffix(""), ("svg",))
        print(shown(output))


def draw_accesses(judge: JudgeClient, case: Case, line: Step, arguments: argparse.Namespace, output: Path) -> None:
    """Runs the step on the check build, and draws its accesses to arrays."""
    case = replace(case, n=count_of(arguments.n or "16"))
    places, launches = range_of("places", arguments.places, MAX_PLACES), range_of("launches", arguments.launches)
    if "cpu" not in build.kinds():
        raise Problem("pictures need the cpu build, which is not possible here: ./workbook doctor shows why")
    runner = build.runner(case.lab, "check", arguments.solution)
    build.compile_targets([runner], f"building {case.lab}, check build")
    if not arguments.input and (line.max_range is not None or case.type == "u8"):
        case = replace(case, input=SMALL_KEYS)
    run, outcome = observe(judge, runner, case, arguments.timeout, launches)
    key_type = outcome.case.type or ""
    svg = access_picture.draw(
        run, outcome.findings, outcome.title, case.n, key_type, arguments.arrays, places, launches
    )
    files.write_whole(output, svg)
    print_remarks(outcome, run.truncated)
    print(shown(output))


def main(arguments: argparse.Namespace) -> int:
    """Runs the step once and draws the run."""
    lab, step = find_one(arguments.lab, arguments.step)
    n = number(arguments.n, "--n") if arguments.n else 0
    if arguments.input:
        (arguments.input,) = file_inputs([arguments.input])
    accesses = range_of("places", arguments.places, MAX_PLACES), range_of("launches", arguments.launches)
    name = f"{lab}-{step.number:02}" + (f"-{step.part}" if step.part else "")
    output = Path(arguments.output) if arguments.output else FOLDER / f"{name}.svg"
    if not arguments.output:
        FOLDER.mkdir(parents=True, exist_ok=True)
    check_output(output)
    require_solutions(arguments.solution)
    build.ensure()
    build.compile_targets([build.judge()], "building the judge")
    with JudgeClient() as judge:
        line, case = case_of(arguments, judge.lab(lab), step)
        is_timeline = line.memory == "host" and not (arguments.arrays or any(accesses))
        if not is_timeline and (arguments.json or arguments.build):
            raise Usage(
                "--json and --build are for timelines, which exist only for steps that sort host memory (lab 06): "
                "leave them out"
            )
        draw = draw_timeline if is_timeline else draw_accesses
        try:
            draw(judge, replace(case, n=n), line, arguments, output)
        except OSError as error:
            raise Usage(f"{output} cannot be written: {error.strerror}") from error
    return 0
