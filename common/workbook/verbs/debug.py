"""Steps through a kernel with gdb, on the CPU, by cuda-gdb's names for threads and blocks."""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from ..core import build, files
from ..core.console import Problem, Usage, note
from ..core.course import ROOT, find_one, require_solutions, shown, source_of, step_of_file
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case
from ..core.options import CASE, add, case_of
from ..core.sweeps import file_inputs, number

PACKAGE = ROOT / "common"
START = PACKAGE / "workbook/debugger/start.py"
USUAL_KEYS = "1000"
NO_GDB = "the debugger gdb was not found: install the package gdb (Debian, Ubuntu: apt-get install gdb)"
# Names that are in every program with CUDA on the CPU: in its table of symbols, and in its messages.
SYMBOL, MESSAGE = b"_ZN4simt16worker_of_threadE", b"__syncthreads()"
HELP = """\
break 42                            stop at line 42; or break 42 if threadIdx.x == 37 && blockIdx.x == 2
run, next, step, continue           as usual in gdb, and so are print NAME, backtrace and list
cuda thread 5                       look at another thread of the block; info cuda threads shows where they all are"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    what = "a lab (04-counting, 4 or counting), a step's file, or a program built by cc"
    parser.add_argument("lab", metavar="LAB|PROGRAM", help=what)
    parser.add_argument("step", metavar="STEP", nargs="?", help="2, shared; needed unless LAB is a path")
    parser.add_argument(
        "arguments", metavar="ARGUMENT", nargs="*", help="the program's arguments, which come before options"
    )
    for name, where in (("--block", "block"), ("--thread", "thread of the block")):
        text = f"run until this {where} begins a kernel: 2 or 2,0,0"
        parser.add_argument(name, metavar="X[,Y[,Z]]", type=place, help=text)
    add(parser, "--n", help=f"number of keys (default: {USUAL_KEYS})")
    add(parser, *CASE[1:], "--seed", "--task", "--memory", "--pageable", "--offset", "--solution")
    text = "write the commands for gdb to this file instead of starting gdb (for an editor)"
    parser.add_argument("--script", metavar="FILE", help=text)


def place(text: str) -> str:
    """Reads --block or --thread."""
    if not re.fullmatch(r"\d{1,9}(,\d{1,9}){0,2}", text):
        raise Usage(f"{text} is not a block or a thread: give one to three numbers, as in 2 or 2,0,0")
    return text


# --- what is debugged ---


def require_program(path: Path) -> None:
    """Raises Usage if the file is not a program that can be debugged."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror}") from error
    if not content.startswith(b"\x7fELF"):
        is_source = path.suffix in (".cu", ".cuh", ".cpp", ".h")
        how = f": compile it with ./workbook cc -G {path} -o PROGRAM, then debug PROGRAM" if is_source else ""
        raise Usage(f"{path} is {'a source file' if is_source else 'not a program'}{how}")
    if MESSAGE not in content:
        raise Usage(f"{path} does not run CUDA on the CPU: ./workbook cc -G SOURCE.cu -o PROGRAM builds such a program")
    if SYMBOL not in content or b".debug_info" not in content:
        raise Usage(f"{path} has no symbols, which strip removes: build it again with ./workbook cc -G")
    if not os.access(path, os.X_OK):
        raise Usage(f"{path} is not executable: chmod +x {path}")


def for_program(path: Path, arguments: argparse.Namespace) -> list[str]:
    """The commands that load a program."""
    require_program(path)
    words = [word for word in (arguments.step, *arguments.arguments) if word is not None]
    folder = quietly(f"directory {quoted(path.resolve().parent)}")
    return [f"file {quoted(path.resolve())}", f"set args {shlex.join(words)}", folder]


def for_step(arguments: argparse.Namespace) -> list[str]:
    """The commands that load the program of a step, which start.py then starts as a runner."""
    lab, step = find_one(arguments.lab, arguments.step)
    if arguments.arguments:
        raise Usage(f"unexpected argument: {arguments.arguments[0]}")
    if arguments.input:
        (arguments.input,) = file_inputs([arguments.input])
    n = number(arguments.n or USUAL_KEYS, "--n")
    require_solutions(arguments.solution)
    build.ensure()
    if "cpu" not in build.kinds():
        raise Problem("debug needs the cpu build, which is not possible here: ./workbook doctor shows why")
    program = build.runner(lab, "debug", arguments.solution)
    build.compile_targets([build.judge(), program], f"building {lab} for the debugger")
    with JudgeClient() as judge:
        _, case = case_of(arguments, judge.lab(lab), step)
    seed = secrets.randbits(32) if case.seed is None else case.seed  # the same for each `run`
    case = replace(case, n=n, seed=seed, offset=arguments.offset, lane_seed=int(os.environ.get("SIMT_SEED") or 0))
    source = source_of(step.file, arguments.solution)
    return [
        f"file {quoted(program)}",
        "set args --judged",
        quietly(f"directory {quoted(ROOT)}"),
        f"set exec-wrapper {wrapper(case)}",
        quietly(f"list {source}:1,1"),  # lines without a file are of this one
    ]


def wrapper(case: Case) -> str:
    """The command that starts a runner for gdb."""
    return shlex.join([sys.executable, str(START), str(build.judge()), json.dumps(asdict(case))])


# --- gdb ---


def quoted(path: Path) -> str:
    """A path as gdb reads it."""
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def quietly(command: str) -> str:
    """The command, without what it prints."""
    return f"python gdb.execute({command!r}, to_string=True)"


def require_gdb() -> str:
    """The path of gdb. Raises Problem if there is none, or one without Python."""
    gdb = shutil.which("gdb")
    if not gdb:
        raise Problem(NO_GDB)
    done = subprocess.run([gdb, "-nx", "-batch", "-ex", "python import gdb"], capture_output=True, check=False)
    if done.returncode or done.stderr:
        raise Problem(f"{gdb} cannot run Python: install the package gdb, not gdb-minimal")
    return gdb


def commands(loading: Sequence[str], arguments: argparse.Namespace) -> list[str]:
    """All commands that gdb begins with."""
    begin = [
        f"python import sys; sys.path.insert(0, {str(PACKAGE)!r})",
        "python import workbook.debugger.cuda",
        *loading,
    ]
    if arguments.block or arguments.thread:
        begin.append(f"cuda-start {arguments.block or '0'} {arguments.thread or '0'}")
    return begin


def main(arguments: argparse.Namespace) -> int:
    """Becomes gdb."""
    path = Path(arguments.lab)
    is_program = path.is_file() and step_of_file(arguments.lab) is None
    if not is_program and not path.exists() and arguments.lab.startswith(("./", "../", "/")):
        raise Usage(f"no such file: {path}")
    gdb = "" if arguments.script else require_gdb()
    script = commands(for_program(path, arguments) if is_program else for_step(arguments), arguments)
    if arguments.script:
        files.write_whole(arguments.script, "\n".join(script) + "\n")
        print(shown(arguments.script))
        return 0
    note(HELP)
    sys.stdout.flush()
    return os.execv(gdb, ["gdb", "-q", *(word for command in script for word in ("-ex", command))])
