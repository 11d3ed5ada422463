"""Replays a run in the browser: every access of a step or a program, forwards and backwards, in one HTML file."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core import build, files
from ..core.console import Problem, Usage, note
from ..core.course import BUILD, ROOT, StepFile, find_one, require_solutions, shown, step_of_file
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Outcome, Step
from ..core.options import CASE, add, case_of, require_output
from ..core.sweeps import file_inputs, key_bytes
from ..pictures import trace
from ..pictures.recorded import observe, part_of_run
from ..pictures.trace import Trace
from ..player.page import page
from ..player.replay import Replay
from ..player.verdict import verdict, wrong_result
from .picture import count_of, range_of

FOLDER = BUILD / "pictures"
TWO_DIGITS, FEW_VALUES = "range:0:99", "range:0:15"  # keys that fit into a cell; for a step with a counter per value
USUAL_KEYS = 64


def _numbers(one: str, several: str, own: tuple[int, int], most: int = sys.maxsize) -> str:
    """ "launch 3" or "launches 3 to 5" """
    first, last = own[0], min(own[1], most)
    return f"{one} {first}" if first == last else f"{several} {first} to {last}"


@dataclass(frozen=True)
class Window:
    """The part of a run that is recorded: from the first number to the last; None: all."""

    launches: tuple[int, int] | None
    blocks: tuple[int, int] | None

    def options(self) -> str:
        """As they are typed."""
        parts = {"launches": self.launches, "only-blocks": self.blocks}
        return "".join(f" --{name} {own[0]}-{own[1]}" for name, own in parts.items() if own)

    def in_words(self, run: Trace) -> str:
        """Which part of the run a page holds."""
        count = len(run.launches)
        parts = []
        if self.launches:
            parts.append(f"{_numbers('launch', 'launches', self.launches, count - 1)} of {count}")
        if self.blocks:
            parts.append(f"{_numbers('block', 'blocks', self.blocks)} of each launch")
        whole_run = f"The whole run: {count} launch{'es' * (count != 1)}, {len(run.accesses):,} accesses."
        text = f"Part of the run: {' and '.join(parts)}, {len(run.accesses):,} accesses." if parts else whole_run
        if run.truncated:
            last = run.accesses[-1]
            text = f"Not the whole run, which makes more accesses than are recorded. It ends in launch {last.launch}, "
            text += f"block {last.block}, after {len(run.accesses):,} accesses."
        if parts or run.truncated:
            text += " --launches A-B and --only-blocks A-B of ./workbook play choose another part."
        return text


def page_name(step: StepFile, arguments: argparse.Namespace | None = None) -> str:
    """The name of the page that is written for a step unless another is given. It holds what was asked for."""
    parts = [f"{step.lab}-{step.number:02}", *([step.part] if step.part else [])]
    for name in ("n", "input", "type", "order", "blocks", "threads", "seed"):
        value = getattr(arguments, name, None)
        label = "" if name in ("input", "type", "order") else name
        parts += [label + re.sub(r"[^\w.]+", "_", str(value))] if value is not None else []
    parts += ["solution"] if getattr(arguments, "solution", False) else []
    return "-".join(parts) + ".html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    what = "a lab (04-counting, 4 or counting), a step's file, a program built by cc --check, or a trace"
    parser.add_argument("lab", metavar="LAB|PROGRAM|TRACE", help=what)
    parser.add_argument("step", metavar="STEP", nargs="?", help="2, shared; needed unless LAB is a path")
    parser.add_argument(
        "arguments", metavar="ARGUMENT", nargs="*", help="the program's arguments, which come before options"
    )
    usual = f"{USUAL_KEYS}, or more if the step's picture needs them: see labs/LAB/steps.h"
    add(parser, "--n", help=f"number of keys (default: {usual})")
    add(parser, "--input", help="uniform, sorted, ... or file:PATH (default: numbers of at most two digits)")
    add(parser, *CASE[2:], "--seed", "--task", "--memory", "--pageable", "--offset")
    parser.add_argument(
        "--launches",
        metavar="A-B",
        help="the launches to record, from 0 (default: all, or those of the step's picture)",
    )
    parser.add_argument("--only-blocks", metavar="A-B", help="the blocks of each launch to record (default: all)")
    add(parser, "--solution")
    add(parser, "--timeout", help="the longest time that the step may take")
    parser.add_argument(
        "--trace", metavar="FILE", help="also keep the trace, as common/simt/check/TRACE.md describes it"
    )
    where = f"the page to write (default: in {shown(FOLDER)}/, with the step, --n, --input and --seed in its name)"
    parser.add_argument("-o", dest="output", metavar="FILE.html", help=where)


def checked_output(given: str | None, name: str) -> Path:
    """The page's path. Raises Usage if it cannot be written. Called before the run, which takes time."""
    path = Path(given) if given else FOLDER / name
    if not given:
        FOLDER.mkdir(parents=True, exist_ok=True)
    require_output(path, ".html", "the page is an HTML file")
    return path


# --- programs and traces ---


def kind_of(path: Path) -> str:
    """ "program" or "trace". Raises Usage if the file is neither."""
    try:
        with path.open("rb") as file:
            begin = file.read(4)
            is_checked = begin == b"\x7fELF" and b"CHECK_TRACE" in file.read()
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror}") from error
    if begin.startswith(b"{"):
        return "trace"
    if is_checked and not os.access(path, os.X_OK):
        raise Usage(f"{path} is not executable: chmod +x {path}")
    if is_checked:
        return "program"
    if begin == b"\x7fELF":
        raise Usage(
            f"{path} records nothing, because it was not built with the checks: "
            "build it with ./workbook cc --check SOURCE.cu -o PROGRAM"
        )
    if path.suffix in (".cu", ".cuh", ".cpp", ".h"):
        raise Usage(
            f"{path} is a source file: compile it with ./workbook cc --check {path} -o PROGRAM, then play PROGRAM"
        )
    raise Usage(f"{path} is neither a program built by ./workbook cc --check nor a trace")


def run_program(path: Path, arguments: Sequence[str], window: Window, timeout: float | None) -> str:
    """The trace of a program that runs once. Raises Problem if it leaves none."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "trace"
        environment = {**os.environ, "CHECK_TRACE": str(target), **part_of_run(window.launches, window.blocks)}
        try:
            done = subprocess.run([str(path.resolve()), *arguments], env=environment, timeout=timeout, check=False)
        except subprocess.TimeoutExpired as error:
            raise Problem(f"{path} did not end within {timeout:g} s: give it more time with --timeout") from error
        except OSError as error:
            raise Usage(f"{path} cannot be started: {error.strerror}") from error
        if not target.is_file():
            raise Problem(f"{path} ended with status {done.returncode} and wrote no trace")
        return target.read_text(encoding="utf-8", errors="replace")


def of_file(path: Path, arguments: argparse.Namespace, window: Window) -> tuple[Trace, dict[str, Any]]:
    """The run of a program, or the one that a trace holds, and what the page says about it."""
    words = [word for word in (arguments.step, *arguments.arguments) if word is not None]
    if kind_of(path) == "trace":
        if words or window.options():
            raise Usage(
                f"{path} is a trace, which is shown as it is: leave out arguments, --launches and --only-blocks"
            )
        text = path.read_text(encoding="utf-8", errors="replace")
    else:
        text = run_program(path, words, window, arguments.timeout)
    run = trace.read(text)
    title = shlex.join([path.name, *words])
    about = {
        "title": title,
        "command": f"./workbook play {shlex.join([str(path), *words])}{window.options()}",
        "run": {"program": title},
        "window": window.in_words(run),
        "verdict": verdict(run, None),
    }
    return run, about


# --- steps ---


def _usual(arguments: argparse.Namespace, line: Step, window: Window) -> tuple[int, Window]:
    """The number of keys and the part of the run: those of the table's picture, if its idea needs more than a few keys
    and nothing else was asked for."""
    if arguments.n:
        return count_of(arguments.n), window
    own = line.picture
    if own.n <= USUAL_KEYS:
        return USUAL_KEYS, window
    return own.n, Window(window.launches or own.launches, window.blocks)


def _case(arguments: argparse.Namespace, line: Step, case: Case, n: int) -> Case:
    """The case, with small keys where nothing else was asked for."""
    small = line.picture.input or (TWO_DIGITS if line.max_range is None else FEW_VALUES)
    has_small = not arguments.input and case.type not in ("f32", "f64")
    return replace(
        case,
        n=n,
        input=small if has_small else case.input,
        offset=arguments.offset,
        lane_seed=int(os.environ.get("SIMT_SEED") or 0),
    )


def _print_remarks(outcome: Outcome) -> None:
    """Prints what is wrong with the run."""
    if not outcome.passed:
        note(f"the step failed this case: {outcome.message_and_keys}")
    for finding in outcome.findings:
        note(str(finding))


def of_step(arguments: argparse.Namespace, window: Window) -> tuple[Trace, dict[str, Any], str]:
    """The run of a step, what the page says about it, and its key type."""
    lab, step = find_one(arguments.lab, arguments.step)
    if arguments.arguments:
        raise Usage(f"unexpected argument: {arguments.arguments[0]}")
    if arguments.input:
        (arguments.input,) = file_inputs([arguments.input])
    count_of(arguments.n or str(USUAL_KEYS))
    require_solutions(arguments.solution)
    build.ensure()
    if "cpu" not in build.kinds():
        raise Problem("play needs the cpu build, which is not possible here: ./workbook doctor shows why")
    runner = build.runner(lab, "check", arguments.solution)
    build.compile_targets([build.judge(), runner], f"building {lab}, check build")
    with JudgeClient() as judge:
        line, case = case_of(arguments, judge.lab(lab), step)
        n, window = _usual(arguments, line, window)
        case = _case(arguments, line, case, n)
        run, outcome = observe(judge, runner, case, arguments.timeout, window.launches, window.blocks)
    _print_remarks(outcome)
    case = outcome.case
    own = {"lab": lab, "step": case.step, "task": case.task, "n": case.n, "input": case.input, "type": case.type}
    own |= {"order": case.order, "seed": case.seed}
    options = window.options() + " --solution" * arguments.solution
    about = {
        "title": outcome.title + " (solution)" * arguments.solution,
        "command": outcome.replay.replace("./workbook run ", "./workbook play ", 1) + options,
        "run": {**own, **({"part": window.options().strip()} if window.options() else {})},
        "window": window.in_words(run),
        "verdict": verdict(run, outcome),
        "wrong": wrong_result(outcome),
    }
    return run, about, case.type or ""


def _page(run: Trace, about: Mapping[str, Any], key_type: str, folders: Sequence[Path]) -> str:
    """The page's text. Sources are looked for in the folders, and then in the workbook."""
    replay = Replay(run, key_type, key_bytes(key_type) if key_type else 0)
    if about.get("wrong"):
        replay.add_wrong_result(*about["wrong"])
    return page(replay, about["title"], about, [*folders, ROOT])


def main(arguments: argparse.Namespace) -> int:
    """Records a run and writes its page."""
    window = Window(
        arguments.launches and range_of("launches", arguments.launches),
        arguments.only_blocks and range_of("only-blocks", arguments.only_blocks),
    )
    if arguments.trace and (why_not := files.writable(arguments.trace)):
        raise Usage(f"{arguments.trace} cannot be written: {why_not}")
    path = Path(arguments.lab)
    is_file = path.is_file() and step_of_file(arguments.lab) is None
    if not is_file and not path.exists() and arguments.lab.startswith(("./", "../", "/")):
        raise Usage(f"no such file: {path}")
    if is_file:
        output = checked_output(arguments.output, f"{path.stem}.html")
        run, about = of_file(path, arguments, window)
        key_type, folders = "", [Path.cwd(), path.resolve().parent]
        if not run.accesses:
            where = f" in{window.options()}" * bool(window.options())
            raise Usage(f"{path}: no kernel accessed memory{where}, so there is nothing to play")
    else:
        _, step = find_one(arguments.lab, arguments.step)
        output = checked_output(arguments.output, page_name(step, arguments))
        run, about, key_type = of_step(arguments, window)
        folders = []
    if arguments.trace:
        files.write_whole(arguments.trace, run.text)
    files.write_whole(output, _page(run, about, key_type, folders))
    if run.truncated:
        note(about["window"])
    if sys.stdout.isatty():
        note("open it in a browser:")
    print(shown(output))
    return 0
