"""Options that several verbs share, and the preparation for running a lab's steps."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from . import build, files, sweeps
from .console import Problem, Usage
from .course import StepFile, find, require_solutions, steps
from .judge_types import Case, Lab, Step

MAX_INT = 2**31 - 1
MAX_SEED = 2**64 - 1
MAX_OFFSET = 255


# --- values ---


def seconds(name: str, zero: bool = False) -> Callable[[str], float]:
    """Reads a number of seconds for the option `name`."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (0 <= value < math.inf) or (value == 0 and not zero):
            raise Usage(f"{name} must be {'0 or more' if zero else 'greater than 0'}, in seconds; it is {text}")
        return value

    return read


def whole(name: str, least: int = 0, most: int = MAX_INT) -> Callable[[str], int]:
    """Reads a whole number for the option `name`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise Usage(f"{name} must be a whole number from {max(least, 0)} to {most}; it is {text}")
        return value

    return read


# --- options ---

CASE = ("--n", "--input", "--type", "--order", "--blocks", "--threads")  # they describe one case
RUN = ("--solution", "--build", "--timeout", "--seed")  # of verbs that run steps
_SHARED: dict[str, dict[str, Any]] = {
    "lab": {"metavar": "LAB", "help": "04-counting, 4, counting, or the path of a step's file"},
    "step": {"metavar": "STEP", "nargs": "?", "help": "2, shared; needed unless LAB is a path"},
    "--n": {"metavar": "N", "help": "number of keys, such as 1000 or 2^20"},
    "--input": {"metavar": "NAME", "help": "uniform, sorted, ... or file:PATH, whose bytes are the keys"},
    "--type": {"metavar": "TYPE", "help": "u32, i32, f32, u64, pairs, ...: a type that the step sorts"},
    "--order": {"metavar": "ORDER", "help": "ascending or descending"},
    "--blocks": {"metavar": "B", "help": "blocks per launch; 0: the step chooses"},
    "--threads": {"metavar": "T", "help": "threads per block; 0: the step chooses"},
    "--task": {"metavar": "TASK", "help": "a part of the step, such as histogram or scan"},
    "--memory": {
        "metavar": "BYTES",
        "help": "device memory that a step of lab 06 may use, such as 256K, 64M or 2G (default: nearly all)",
    },
    "--pageable": {"action": "store_true", "help": "do not pin the host memory of a step of lab 06"},
    "--offset": {
        "metavar": "K",
        "type": whole("--offset", 0, MAX_OFFSET),
        "default": 0,
        "help": "start the arrays K keys past an aligned address",
    },
    "--solution": {"action": "store_true", "help": "use the solution, not the file in labs/"},
    "--build": {"choices": ("cpu", "cuda"), "help": "the build to run (default: cuda if a GPU answers, else cpu)"},
    "--timeout": {"metavar": "SECONDS", "help": "the longest time that a step may take", "type": seconds("--timeout")},
    "--seed": {"metavar": "S", "help": "seed of the input (default: a new one)", "type": whole("--seed", 0, MAX_SEED)},
}
for _name in ("--blocks", "--threads"):
    # Numbers below 0 are not launch shapes either, but a step must refuse them: a failed test prints them.
    _SHARED[_name]["type"] = whole(_name, -MAX_INT - 1)


def add(parser: argparse.ArgumentParser, *names: str, **changes: Any) -> None:
    """Adds arguments that several verbs have. `changes`: what a verb has otherwise, such as `help`."""
    for name in names:
        parser.add_argument(name, **{**_SHARED[name], **changes})


def add_lab_and_steps(parser: argparse.ArgumentParser) -> None:
    """LAB [STEP] and --timeout, of check and watch."""
    add(parser, "lab")
    what = "2, shared, or a part of a step, such as histogram (default: all in order, up to the first that fails)"
    add(parser, "step", help=what)
    add(parser, "--timeout", help="the longest time that a case may take (default: 5 for the first cases, then 20)")


def lab_and_steps(arguments: argparse.Namespace) -> tuple[str, list[StepFile]]:
    """The lab and the steps that the arguments name."""
    lab, step = find(arguments.lab, arguments.step)
    return lab, [step] if step else steps(lab)


def require_output(path: Path, suffix: str, what: str) -> None:
    """Raises Usage if the file, `what` ("a picture is an SVG file"), cannot be written. Called before the run, which
    takes time."""
    if path.is_dir():
        raise Usage(f"{path} is a directory: give a file name with -o")
    if path.suffix != suffix:
        raise Usage(f"{path}: {what}: name it {path.with_suffix(suffix).name}")
    if not path.parent.is_dir():
        raise Usage(f"no such directory: {path.parent}")
    why_not = files.writable(path)
    if why_not:
        raise Usage(f"{path} cannot be written: {why_not}")
    if path.exists() and not os.access(path, os.W_OK):
        raise Usage(f"{path} cannot be written: permission denied")


def line_of(lab: Lab, step: StepFile, task: str | None) -> Step:
    """The line of the table that a step, or a part of it, and --task mean. Raises Usage if there is none."""
    if step.part and not task:
        return next(line for line in lab.lines(step.number) if line.name == step.part)
    if not task:
        return lab.own_line(step.number)
    lines = lab.lines(step.number)
    for line in lines:
        if task in (line.task, line.name):
            return line
    elsewhere = [f"{line.number} {line.name}" for line in lab.steps if line.task == task]
    if elsewhere:
        why = f"has no step {step.number} with the task {task}; choose one of: {', '.join(elsewhere)}"
    else:
        own = dict.fromkeys(line.task for line in lines)
        why = f"step {step.number} has no part '{task}'; choose one of: {', '.join(own)}"
    raise Usage(f"{lab.name} {why}")


def case_of(arguments: argparse.Namespace, lab: Lab, file: StepFile) -> tuple[Step, Case]:
    """The line of the table that the options mean, and the case that they describe, but for its n."""
    line = line_of(lab, file, arguments.task)
    type_name = arguments.type or lab.type_of(line)
    memory = getattr(arguments, "memory", None)
    return line, Case(
        lab.name,
        line.number,
        0,
        line.task,
        type_name,
        arguments.order or "ascending",
        arguments.input or line.input_for(type_name),
        arguments.seed,
        arguments.blocks or 0,
        arguments.threads or 0,
        sweeps.memory_bytes(memory) if memory else 0,
        getattr(arguments, "pageable", False),
    )


# --- programs ---


def choose_build(wanted: str | None) -> str:
    """The build to run: `wanted` if it can run here; by default the best one."""
    build.ensure()
    runnable = build.runnable()
    if not runnable:
        raise Problem("no build can run here: ./workbook doctor explains why")
    if wanted is None:
        return runnable[-1]
    if wanted == "check" and "cpu" in runnable:
        return wanted
    if wanted not in runnable:
        why = "no GPU answers" if wanted in build.kinds() else "it was not set up"
        raise Usage(f"the {wanted} build cannot run ({why}); choose one of: {', '.join(runnable)}")
    return wanted


def prepare(arguments: argparse.Namespace, lab: str, more: Callable[[str], Iterable[Path]]) -> tuple[str, Path]:
    """Builds the judge, the runner of a lab and `more(kind)`; returns the name of the build and the runner."""
    require_solutions(arguments.solution)
    kind = choose_build(arguments.build)
    runner = build.runner(lab, kind, arguments.solution)
    build.compile_targets([build.judge(), runner, *more(kind)], f"building {lab}")
    return kind, runner
