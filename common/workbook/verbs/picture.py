"""Draws a run of a step: which thread reads and writes which place, with time from left to right. For a step that
sorts host memory, it draws when its copies and kernels ran."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path

from ..core import build, files, timelines
from ..core.console import Problem, Usage, note
from ..core.course import BUILD, find_one, require_solutions, shown
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Outcome, Picture, Step
from ..core.options import add, case_of, choose_build, require_output, whole
from ..core.sweeps import file_inputs, number
from ..pictures.access_layout import in_words
from ..pictures.accesses import MAX_PLACES
from ..pictures.recorded import draw_run, pictured
from ..reporting import plot, timeline

MAX_N = 2**16
FOLDER = BUILD / "pictures"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    add(parser, "lab", "step")
    many = "a timeline may have more (default: about ten pieces)"
    usual = "the run that shows the step's idea, see labs/LAB/steps.h"
    add(parser, "--n", help=f"number of keys, at most {MAX_N:,} (default: {usual}); {many}")
    add(parser, "--input", help="uniform, sorted, ... or file:PATH, whose bytes are the keys (default: as for --n)")
    add(parser, "--seed", "--type", "--order")
    for name in ("--blocks", "--threads"):
        add(parser, name, type=whole(name))
    add(parser, "--task", "--memory", "--pageable")
    parser.add_argument(
        "--arrays",
        choices=("shared", "global", "all"),
        help="the arrays to draw (default: as for --n, else those in shared memory, or in global memory if there are "
        "none); of a step of lab 06, this option draws accesses to arrays instead of the timeline",
    )
    parser.add_argument(
        "--places",
        metavar="A-B[,C-D ...]",
        help="the places to draw of an array that is too large (default: as for --n, else those that count keys, or "
        "the first)",
    )
    parser.add_argument(
        "--launches",
        metavar="A-B",
        help="the launches to observe and draw, from 0 (default: as for --n, else the first that fit); needed if n is "
        "large",
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


def range_of(name: str, text: str) -> tuple[int, int]:
    """The first and the last that an option gives. Raises Usage if they are not a range."""
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text)
    if not match or int(match[2] or match[1]) < int(match[1]):
        raise Usage(f"--{name} {text} is not a range: give the first and the last, as in 2-5")
    return int(match[1]), int(match[2] or match[1])


def launches_of(text: str | None) -> tuple[int, int] | None:
    """What --launches gives, if anything."""
    return None if text is None else range_of("launches", text)


def places_of(text: str | None) -> tuple[tuple[int, int], ...]:
    """What --places gives, if anything. Raises Usage if that is too much for a picture."""
    ranges = () if text is None else tuple(range_of("places", part) for part in text.split(","))
    if sum(last + 1 - first for first, last in ranges) > MAX_PLACES:
        raise Usage(f"--places {text} is too long: a picture can show at most {MAX_PLACES}")
    return ranges


def print_remarks(outcome: Outcome, truncated: bool) -> None:
    """Prints what is wrong with the run."""
    if not outcome.passed:
        note(f"the step failed this case: {outcome.message_and_keys}")
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


def chosen_of(line: Step, case: Case, arguments: argparse.Namespace) -> tuple[Case, Picture]:
    """The case to run and the part of it to draw: what the options say, else the table's choice, if they give no n."""
    own = line.picture
    usual = own if arguments.n is None else Picture(n=count_of(arguments.n), input=own.input)
    chosen = replace(
        usual,
        input=arguments.input or usual.input,
        arrays=arguments.arrays or usual.arrays,
        places=places_of(arguments.places) or usual.places,
        launches=launches_of(arguments.launches) or usual.launches,
    )
    return pictured(case, chosen), chosen


def draw_accesses(judge: JudgeClient, case: Case, line: Step, arguments: argparse.Namespace, output: Path) -> None:
    """Runs the step on the check build, and draws its accesses to arrays."""
    case, chosen = chosen_of(line, case, arguments)
    if "cpu" not in build.kinds():
        raise Problem("pictures need the cpu build, which is not possible here: ./workbook doctor shows why")
    runner = build.runner(case.lab, "check", arguments.solution)
    build.compile_targets([runner], f"building {case.lab}, check build")
    svg, run, outcome = draw_run(judge, runner, case, chosen, arguments.timeout)
    files.write_whole(output, svg)
    print_remarks(outcome, run.truncated)
    print(shown(output))


def main(arguments: argparse.Namespace) -> int:
    """Runs the step once and draws the run."""
    lab, step = find_one(arguments.lab, arguments.step)
    n = number(arguments.n, "--n") if arguments.n else 0
    if arguments.input:
        (arguments.input,) = file_inputs([arguments.input])
    accesses = places_of(arguments.places), launches_of(arguments.launches)
    name = f"{lab}-{step.number:02}" + (f"-{step.part}" if step.part else "")
    output = Path(arguments.output) if arguments.output else FOLDER / f"{name}.svg"
    if not arguments.output:
        FOLDER.mkdir(parents=True, exist_ok=True)
    require_output(output, ".svg", "a picture is an SVG file")
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
