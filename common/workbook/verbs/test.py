"""The project's whole test suite."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..core import build, machine
from ..core.console import Problem, Progress, Usage, note, paint
from ..core.course import BUILD

# Meson's names for results. An expected failure is a pass; an unexpected pass is not.
_PASSED, _SKIPPED = {"OK", "EXPECTEDFAIL"}, {"SKIP", "IGNORED"}


def counts(log: str) -> tuple[int, int, int]:
    """(passed, failed, skipped) of the lines of Meson's testlog.json."""
    results = [json.loads(line)["result"] for line in log.splitlines() if line.strip()]
    passed = sum(result in _PASSED for result in results)
    skipped = sum(result in _SKIPPED for result in results)
    return passed, len(results) - passed - skipped, skipped


def caught(log: str) -> list[str]:
    """What tests of wrong programs have printed about the share that they catch: "caught: 5 of 5 attacks"."""
    outputs = (json.loads(line).get("stdout", "") for line in log.splitlines() if line.strip())
    return [line for output in outputs for line in output.splitlines() if re.match(r"caught: \d+ of \d+ ", line)]


def not_run(log: str) -> list[str]:
    """Which tests, or parts of a test, were not run, and why: their lines "not run: REASON", or the last line."""
    lines = []
    for test in (json.loads(line) for line in log.splitlines() if line.strip()):
        printed = (test.get("stdout", "") + test.get("stderr", "")).splitlines()
        reasons = [line.removeprefix("not run: ") for line in printed if line.startswith("not run: ")]
        if test["result"] in _SKIPPED and not reasons:
            reasons = printed[-1:] or ["it does not say why"]
        lines += [f"not run: {test['name']}: {reason}" for reason in reasons]
    return lines


def check_suites(names: Iterable[str], info: Path | None = None) -> None:
    """Raises Usage if Meson does not know the suite. Called before everything is built."""
    try:
        tests = json.loads((info or BUILD / "meson-info/intro-tests.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    there = sorted({name.partition(":")[2] for test in tests for name in test["suite"]})
    for name in names:
        if name.rpartition(":")[2] not in there:
            raise Usage(f"unknown suite '{name}'; choose one of: {', '.join(there)}")


def _run_meson(suites: Sequence[str]) -> tuple[int, list[str]]:
    """Runs the tests; their status and output."""
    # A time limit ends a test that hangs, also on a busy machine.
    command = [*build.meson(), "test", "-C", str(BUILD), "--no-rebuild", "--print-errorlogs", "--timeout-multiplier=5"]
    command.append(f"--num-processes={(os.cpu_count() or 1) + 1}")  # one often waits for a browser or an endless loop
    for suite in suites:
        command += ["--suite", suite]
    with Progress("testing") as progress:

        def show(line: str) -> None:
            done = re.match(r"\s*(\d+)/(\d+) (.*?)\s+([A-Z]{2,})\s+([\d.]+)s", line)
            if done and progress.live:
                progress.update(done[3], int(done[1]), int(done[2]))
            elif done:
                note(f"{done[1]}/{done[2]} {done[3]}: {done[4]}, {done[5]} s")

        status, output = build.run_tool(command, show)
    return status, output.splitlines()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("--suite", action="append", metavar="SUITE", help="only this suite, as in meson test")


def main(arguments: argparse.Namespace) -> int:
    """Builds everything, runs all tests and counts the results."""
    build.ensure()
    check_suites(arguments.suite or [])
    note("building everything ...")
    build.compile_targets([], "building everything")
    log = BUILD / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)  # so that only this run is counted
    status, output = _run_meson(arguments.suite or [])
    if not log.is_file():
        raise Problem("meson test ran no tests:\n" + "\n".join(output[-10:]))
    passed, failed, skipped = counts(log.read_text())
    if status or failed:
        print("\n".join(output))
    for line in [*caught(log.read_text()), *not_run(log.read_text())]:
        print(line)
    kinds = build.kinds()
    if "cuda" in kinds and not machine.gpus():
        print("cuda: compiled, not run (no GPU answers)")
    elif "cuda" not in kinds:
        print("cuda: not built (./workbook doctor explains why)")
    ok = status == 0 and failed == 0 and passed > 0
    print(paint(f"{passed} passed, {failed} failed, {skipped} skipped", "green" if ok else "red"))
    return 0 if ok else 1
