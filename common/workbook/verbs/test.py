"""The project's whole test suite."""

import json
import re
import subprocess

from ..core import build, machine
from ..core.course import BUILD, ROOT
from ..core.terminal import Problem, Progress, Usage, ending, note, paint

# Meson's words for a test's end. An expected failure is a pass; a pass that was expected to fail is not.
_PASSED, _SKIPPED = {"OK", "EXPECTEDFAIL"}, {"SKIP", "IGNORED"}


def counts(log):
    """(passed, failed, skipped) of the lines of Meson's testlog.json."""
    results = [json.loads(line)["result"] for line in log.splitlines() if line.strip()]
    passed = sum(result in _PASSED for result in results)
    skipped = sum(result in _SKIPPED for result in results)
    return passed, len(results) - passed - skipped, skipped


def look_for(asked, info=None):
    """Usage: Meson knows no such suite. Better to know before everything is built."""
    try:
        tests = json.loads((info or BUILD / "meson-info/intro-tests.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    there = sorted({name.partition(":")[2] for test in tests for name in test["suite"]})
    for name in asked:
        if name.rpartition(":")[2] not in there:
            raise Usage(f"no suite is called '{name}'; there are: {', '.join(there)}")


def add_arguments(parser):
    """The verb's options."""
    parser.add_argument("--suite", action="append", metavar="SUITE", help="only this suite (meson test's option)")


def main(arguments):
    """Builds everything, runs all tests, counts."""
    build.ensure()
    look_for(arguments.suite or [])
    note("building everything ..")
    build.compile_targets([], "building everything")
    log = BUILD / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)  # the count must be of this run
    command = [*build.meson(), "test", "-C", str(BUILD), "--no-rebuild", "--print-errorlogs"]
    for suite in arguments.suite or []:
        command += ["--suite", suite]
    with Progress("testing") as progress:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=build.environment(),
            cwd=ROOT,
            text=True,
            errors="replace",
        )
        output = []
        with ending(process):
            for line in process.stdout:
                output.append(line.rstrip("\n"))
                done = re.match(r"\s*(\d+)/(\d+) (.*?)\s+([A-Z]{2,})\s+([\d.]+)s", line)
                if done and progress.live:
                    progress.update(f"{done[1]} of {done[2]}: {done[3]}")
                elif done:
                    note(f"{done[1]}/{done[2]} {done[3]}: {done[4]}, {done[5]} s")
            status = process.wait()
    if not log.is_file():
        raise Problem("meson test ran no tests:\n" + "\n".join(output[-10:]))
    passed, failed, skipped = counts(log.read_text())
    if status or failed:
        print("\n".join(output))
    kinds = build.kinds()
    if "cuda" in kinds and not machine.gpus():
        print("cuda: built, not run (no GPU answers)")
    elif "cuda" not in kinds:
        print("cuda: not built (./workbook doctor says why)")
    ok = status == 0 and failed == 0 and passed > 0
    print(paint(f"{passed} passed, {failed} failed, {skipped} skipped", "green" if ok else "red"))
    return 0 if ok else 1
