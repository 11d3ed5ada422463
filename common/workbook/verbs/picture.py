"""Draws who reads and writes what in a run of a step: time across, places of the array down."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from ..core import build, files, judge_client as judge
from ..pictures import access_picture, trace
from ..core.course import find_lab, find_step, has_solutions, shown
from ..core.terminal import Problem, Usage, note

LARGEST_N = 64


def add_arguments(parser):
    """The verb's options."""
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("step", metavar="STEP")
    parser.add_argument("--n", metavar="N", default="16", help=f"how many keys (16); at most {LARGEST_N}")
    parser.add_argument("--input", metavar="NAME", help="uniform, sorted, .. or file:PATH (its bytes are the keys)")
    parser.add_argument("--seed", metavar="S", help="of the input; else a fresh one")
    parser.add_argument("--type", metavar="TYPE", help="u32, i32, f32, u64, pairs, .. as the step sorts")
    parser.add_argument("--order", metavar="ORDER", help="ascending or descending")
    parser.add_argument("--blocks", metavar="B", help="blocks of a launch; 0: the step chooses")
    parser.add_argument("--threads", metavar="T", help="threads of a block; 0: the step chooses")
    parser.add_argument("--task", metavar="TASK", help="a part of the step that does not sort: reduce, histogram, scan")
    parser.add_argument(
        "--arrays",
        choices=("shared", "global", "all"),
        help="which to draw; else the shared ones, and where there are none those of global memory",
    )
    parser.add_argument("--places", metavar="A-B", help="of an array that is larger than can be drawn; else the first")
    parser.add_argument("--launches", metavar="A-B", help="the launches to draw, from 0; else the first that fit")
    parser.add_argument("--solution", action="store_true", help="the solution, not what stands in labs/")
    parser.add_argument("--timeout", metavar="SECONDS", help="that the step may take")
    parser.add_argument("-o", dest="output", metavar="FILE.svg", help="else LAB-STEP.svg in the current directory")


def count_of(text):
    """The number of keys that --n gives, as 16 or 2^4. Usage: it cannot be drawn."""
    match = re.fullmatch(r"(\d{1,9})(?:\^(\d{1,2}))?", text)
    if not match:
        raise Usage(f"--n {text} is no count of keys: give a number, or a power as in 2^4")
    n = int(match[1]) ** int(match[2] or 1)
    if n > LARGEST_N:
        raise Usage(f"--n {text} is too large for a picture: at most {LARGEST_N} keys can be told apart on one")
    return n


def range_of(name, text, most=None):
    """The range that an option gives; None for none. Usage: it is no range, or too long."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text)
    if not match or int(match[2] or match[1]) < int(match[1]):
        raise Usage(f"--{name} {text} is no range: give the first and the last, as in 2-5")
    found = range(int(match[1]), int(match[2] or match[1]) + 1)
    if most and len(found) > most:
        raise Usage(f"--{name} {text} is too long: at most {most} can be drawn")
    return found


def check_output(path):
    """Usage: the file cannot be written. Looked at first, so that nobody waits for a run in vain."""
    if path.is_dir():
        raise Usage(f"{path} is a directory: name a file with -o")
    if path.suffix != ".svg":
        raise Usage(f"{path}: a picture is an SVG file, so name it {path.with_suffix('.svg').name}")
    folder = path.parent
    if not folder.is_dir():
        raise Usage(f"there is no directory {folder}")
    why_not = files.writable(path)
    if why_not:
        raise Usage(f"{path} cannot be written: {why_not}")
    if path.exists() and not os.access(path, os.W_OK):
        raise Usage(f"{path} may not be written to")


def record(lab, step, runner, options):
    """Runs the step once; gives its trace, findings, and what the judge said. Problem: nothing was traced."""
    command = [str(build.judge()), "sort", "--lab", lab, "--runner", str(runner), "--step", str(step.number), *options]
    with tempfile.TemporaryDirectory() as folder:
        traced, found = Path(folder) / "trace", Path(folder) / "findings.json"
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "CHECK_TRACE": str(traced), "CHECK_JSON": str(found)},
        )
        said = done.stderr.strip()
        unwritten = [line for line in said.splitlines() if " is not written yet" in line]
        if unwritten:
            raise Usage(unwritten[0].removeprefix("not-written: "))
        if done.returncode == 2:
            raise Usage(said.removeprefix("error: "))
        run = trace.read(traced.read_text(errors="replace")) if traced.is_file() else trace.Trace()
        try:
            findings = json.loads(found.read_text())["findings"]
        except (OSError, ValueError, KeyError):
            findings = []
    if not run.accesses:
        why = "no kernel touched memory: there is nothing to draw"
        if done.returncode and said:
            lines = [line for line in said.splitlines() if line.strip() and not line.startswith("---")]
            faults = [line for line in lines if ": error: " in line]
            why = (faults or lines[1:] or lines)[0]  # the first line names the case
        raise Usage(f"{lab}, {step}: {why}")
    return run, findings, said, done.returncode == 0


def main(arguments):
    """One run, drawn."""
    lab = find_lab(arguments.lab)
    step = find_step(lab, arguments.step)
    n = count_of(arguments.n)
    places = range_of("places", arguments.places, LARGEST_N)
    launches = range_of("launches", arguments.launches)
    output = Path(arguments.output or f"{lab}-{step.number:02}.svg")
    check_output(output)
    if arguments.solution and not has_solutions():
        raise Problem("there is no solutions/ here")
    if arguments.input:
        arguments.input = judge.file_inputs([arguments.input])[0]
    build.ensure()
    if "cpu" not in build.kinds():
        raise Problem("the cpu build is not possible here (./workbook doctor says why), and pictures come from it")
    runner = build.runner(lab, "check", arguments.solution)
    build.compile_targets([build.judge(), runner], f"building {lab}, observed")
    options = ["--n", str(n)]
    for name in ("input", "type", "order", "blocks", "threads", "task", "seed", "timeout"):
        options += judge.option(name, getattr(arguments, name))
    run, findings, said, right = record(lab, step, runner, options)
    title = said.splitlines()[0] if said else f"{lab} {step}"
    if launches is not None and not any(access.launch in launches for access in run.accesses):
        raise Usage(f"--launches {arguments.launches}: the run has {len(run.launches)}, numbered from 0")
    svg = access_picture.draw(run, findings, title, n, arguments.arrays, places, launches)
    try:
        files.write_whole(output, svg)
    except OSError as error:
        raise Usage(f"{output} cannot be written: {error.strerror}") from error
    if not right:
        note(f"the step did not do its work: {said.partition(chr(10))[2].strip() or said}")
    for finding in findings:
        note(access_picture.in_words(finding))
    if run.cut:
        note("cut off: the run makes more accesses than are kept; the picture shows the first")
    print(shown(output))
    return 0
