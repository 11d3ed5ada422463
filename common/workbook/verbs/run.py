"""Sorts one input once with the student's step, or the solution's, and verifies it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from ..core import check_build, file_sort, many_gpus, sweeps
from ..core.console import Usage, note
from ..core.course import StepFile, find_one
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Lab, Outcome
from ..core.options import CASE, add, case_of, prepare


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    add(parser, "lab", "step", *CASE, "--task", "--memory", "--pageable")
    parser.add_argument(
        "--stdin", action="store_true", help="read binary keys from standard input, write them to standard output"
    )
    add(parser, "--offset", "--solution")
    add(parser, "--build", choices=("cpu", "check", "cuda"))
    add(parser, "--timeout", "--seed")
    file_sort.add_arguments(parser)
    many_gpus.add_arguments(parser)


def counted_keys(data: bytes, key_bytes: int, max_keys: int) -> bytes:
    """The keys after the 4 bytes that give their number, the low byte first. Raises Usage if it is wrong."""
    if len(data) < 4:
        raise Usage(
            f"standard input has {len(data)} bytes; it must begin with 4 that hold the number of keys, low byte first"
        )
    n = int.from_bytes(data[:4], "little")
    if n > max_keys:
        raise Usage(f"standard input announces {n} keys; at most {max_keys} are accepted")
    if len(data) - 4 != n * key_bytes:
        raise Usage(f"standard input announces {n} keys, {n * key_bytes} bytes, but {len(data) - 4} bytes follow")
    return data[4:]


def keys_of(data: bytes, type_name: str, max_counted_keys: int | None) -> bytes:
    """The keys on standard input. Raises Usage if they are incomplete."""
    if type_name == "pairs":
        raise Usage("--stdin takes keys without values: choose another --type")
    size = sweeps.key_bytes(type_name)
    keys = data if max_counted_keys is None else counted_keys(data, size, max_counted_keys)
    if len(keys) % size:
        raise Usage(
            f"standard input has {len(keys)} bytes, which is not a multiple of the {size} bytes of a {type_name} key"
        )
    return keys


def report(outcome: Outcome) -> int:
    """Prints the outcome of the case on standard error; returns the exit status."""
    note(f"{outcome.title}, seed {outcome.case.seed}")
    if outcome.printed:
        note(f"--- the runner printed ---\n{outcome.printed.rstrip()}\n---")
    for finding in outcome.findings:
        note(str(finding))
    if outcome.status != "verified":
        note(f"{outcome.status}: {outcome.message_and_keys}")
        return 1
    if outcome.shown_keys:
        note(outcome.shown_keys)
    note(f"verified; {outcome.times.events_ms:.4f} ms, one run without warm-up (./workbook bench measures properly)")
    return 0


def _report_observed(outcome: Outcome) -> int:
    """The same for the check build, with its findings, or else its notes, on standard output; 3 for findings."""
    print(f"{outcome.title}, seed {outcome.case.seed}")
    if outcome.printed:
        print(outcome.printed.rstrip())
    between = "\n" if outcome.status == "verified" else ": "
    print(between.join(filter(None, (outcome.status, outcome.message_and_keys))))
    remarks = () if outcome.findings else (*outcome.remarks, *outcome.notes)  # they do not matter yet in a faulty run
    for line in (*outcome.findings, *remarks):
        print(line)
    return 3 if outcome.findings else 0 if outcome.status == "verified" else 1


def _sort_stdin(judge: JudgeClient, runner: Path, lab: Lab, case: Case, timeout: float | None) -> int:
    """Sorts the keys on standard input to standard output."""
    assert case.type
    keys = keys_of(sys.stdin.buffer.read(), case.type, lab.max_counted_keys)
    with tempfile.TemporaryDirectory() as folder:
        source, sorted_ = Path(folder) / "keys", Path(folder) / "sorted"
        source.write_bytes(keys)
        case = Case(**{**vars(case), "n": len(keys) // sweeps.key_bytes(case.type)})
        del keys
        status = report(judge.run(runner, case, timeout=timeout, keys=source, output=sorted_))
        if status == 0:
            with open(sorted_, "rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    return status


def _case(arguments: argparse.Namespace, lab: Lab, file: StepFile, kind: str) -> Case:
    """The case that the arguments describe; with --stdin its n is not known yet."""
    step, case = case_of(arguments, lab, file)
    case = replace(case, offset=arguments.offset)
    if arguments.stdin:
        return replace(case, input="uniform")  # not used
    if arguments.n is not None:
        n = sweeps.number(arguments.n, "--n")
    else:
        n = sweeps.affordable_n(step, case.input, case.type or "", kind)
    return replace(case, n=n)


def _check_stdin(arguments: argparse.Namespace) -> None:
    if not arguments.stdin:
        return
    if arguments.build == "check":
        raise Usage("--stdin cannot be used with --build check")
    if arguments.n:
        raise Usage("--stdin sorts all of standard input: leave out --n")
    if arguments.task not in (None, "sort"):
        raise Usage(f"--stdin sorts: leave out --task {arguments.task}")


def main(arguments: argparse.Namespace) -> int:
    """One input, sorted once."""
    lab_name, step = find_one(arguments.lab, arguments.step)
    if many_gpus.wanted(arguments):
        return many_gpus.main(arguments, step)
    _check_stdin(arguments)
    if arguments.input:
        (arguments.input,) = sweeps.file_inputs([arguments.input])
    file_sort.check(arguments)
    if arguments.n is not None:
        sweeps.number(arguments.n, "--n")
    if arguments.memory:
        sweeps.memory_bytes(arguments.memory)
    kind, runner = prepare(arguments, lab_name, lambda kind: [])
    with JudgeClient() as judge:
        lab = judge.lab(lab_name)
        if arguments.output:
            return file_sort.sort(judge, runner, *case_of(arguments, lab, step), arguments)
        case = _case(arguments, lab, step, kind)
        if arguments.stdin:
            return _sort_stdin(judge, runner, lab, case, arguments.timeout)
        if kind != "check":
            return report(judge.run(runner, case, timeout=arguments.timeout))
        seed = int(os.environ.get("SIMT_SEED") or 0)
        observed = replace(case, lane_seed=seed)
        environment = check_build.environment()
        return _report_observed(judge.run(runner, observed, timeout=arguments.timeout, environment=environment))
