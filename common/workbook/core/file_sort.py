"""Sorts a file of keys into another one, which may both be larger than the memory: `run` with --output."""

import argparse
import os
import time
from pathlib import Path

from . import files, sweeps
from .console import Problem, Progress, Usage, note, time_left
from .judge_client import JudgeClient
from .judge_types import Case, FileSorted, Step


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `run` for files."""
    parser.add_argument(
        "--output",
        metavar="PATH",
        help="lab 06: sort the whole file that --input file:PATH names, of any size, into this one",
    )
    parser.add_argument(
        "--host-memory",
        metavar="BYTES",
        help="with --output: memory for keys and buffers, such as 8G (default: half of what is free)",
    )
    parser.add_argument("--force", action="store_true", help="with --output: replace the file if it exists")


def check(arguments: argparse.Namespace) -> None:
    """Raises Usage if the options contradict each other, or the files cannot be used. Touches nothing."""
    if arguments.output is None:
        for option, given in (("--host-memory", arguments.host_memory), ("--force", arguments.force)):
            if given:
                raise Usage(f"{option} is for sorting a file: add --output PATH, or leave it out")
        return
    if not (arguments.input or "").startswith("file:"):
        raise Usage("--output needs a file to sort: add --input file:PATH")
    for option, given in (
        ("--n", arguments.n is not None),
        ("--stdin", arguments.stdin),
        ("--offset", arguments.offset),
        ("--seed", arguments.seed is not None),
        ("--task", arguments.task not in (None, "sort")),
    ):
        if given:
            raise Usage(f"--output sorts all keys of a file: leave out {option}")
    if arguments.build == "check":
        raise Usage("--output cannot be used with --build check: choose cpu or cuda")
    if arguments.host_memory:
        sweeps.memory_bytes(arguments.host_memory, "--host-memory")
    _check_output(_path(arguments.input[len("file:") :]), arguments.output, arguments.force)


def _path(text: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(text)))


def _check_output(source: Path, text: str, force: bool) -> None:
    target = _path(text)
    if target.is_dir():
        raise Usage(f"{text} is a folder: name a file in it with --output")
    if not target.parent.is_dir():
        raise Usage(f"the folder of {text} does not exist: create it, or name another file with --output")
    if target.exists() and target.samefile(source):
        raise Usage(f"{text} is the file to sort, which is never changed: name another file with --output")
    why_not = files.writable(target)
    if why_not:
        raise Usage(f"{text} cannot be written ({why_not}): name another file with --output")
    if target.exists() and not force:
        raise Usage(
            f"{text} exists, and --output would replace it: name another file, or add --force to replace this one"
        )


class _TimeLeft:
    """Says how far a sort has come, on a terminal in a bar."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._started = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        passed = time.monotonic() - self._started
        text = f"{100 * done // max(total, 1)} %"
        if done and not what.startswith("piece 1 of"):  # before that, it is unknown how long a sort takes
            text += f", {time_left(passed * (total - done) / done)}"
        text += f": {what}"
        if self._progress.live:
            self._progress.update(text, done, total)
        else:
            self._progress.update(text)


def sort(judge: JudgeClient, runner: Path, line: Step, case: Case, arguments: argparse.Namespace) -> int:
    """Sorts the file; returns the exit status. Whatever goes wrong, there is no output, and nothing else remains."""
    if line.memory != "host":
        raise Usage(f"{case.lab} sorts keys in device memory: --output is for the steps of 06-beyond-memory")
    source, target = _path(arguments.input[len("file:") :]), _path(arguments.output)
    host_memory = sweeps.memory_bytes(arguments.host_memory, "--host-memory") if arguments.host_memory else 0
    started = time.monotonic()
    with files.replacing(target) as temporary:
        with Progress(f"sorting {source.name}") as progress:
            done = judge.sort_file(
                runner,
                case,
                source,
                temporary,
                host_memory=host_memory,
                timeout=arguments.timeout,
                progress=_TimeLeft(progress),
            )
        if done.printed:
            note(f"--- the runner printed ---\n{done.printed.rstrip()}\n---")
        if done.status != "verified":
            raise Problem(f"{done.status}: {done.message}\n{arguments.output} was not written")
    _report(done, line, case, arguments, time.monotonic() - started)
    return 0


def _size(count: int) -> str:
    return f"{count / 2**30:.2f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"


def _report(done: FileSorted, line: Step, case: Case, arguments: argparse.Namespace, seconds: float) -> None:
    size = _size(4 * done.keys)
    note(f"{case.lab} step {line.number} {line.name}: {done.keys} u32 keys ({size}) of a file, {case.order}")
    speed = done.keys / seconds / 1e9
    note(f"verified and written to {arguments.output} in {seconds:.2f} s, {speed:.3g} Gkeys/s:")
    pieces = "1 piece" if done.pieces == 1 else f"{done.pieces} pieces"
    note(f"  {done.sort_seconds:8.2f} s  {pieces} read, sorted and written")
    if done.pieces > 1:
        threads = "1 thread" if done.workers == 1 else f"{done.workers} threads"
        note(f"  {done.merge_seconds:8.2f} s  merged by {threads}")
    note(f"  {done.sync_seconds:8.2f} s  waiting for the disk")
    if done.peak_bytes:
        note(
            f"peak resident memory {_size(done.peak_bytes)}: judge {_size(done.judge_bytes)}, runner "
            f"{_size(done.runner_bytes)}; the {_size(done.shared_bytes)} that both share are counted once"
        )
