"""Builds a lab's files, runs its public tests and the check build, step by step, and shows the first thing to mend."""

import math
import re
import subprocess
import time

from ..core import build, checked, machine
from ..core.course import find_lab, find_step, steps
from ..core.progress import ProgressFile
from ..core.terminal import Problem, Progress, Usage, note, paint


MOST_FINDINGS = 3  # shown at once


def first_failure(output, kind=None):
    """The first thing to mend in what the graded tests printed: the not-written line, or one failed case."""
    lines = output.splitlines()
    for i, line in enumerate(lines):
        if " is not written yet" in line:
            return line
        if re.match(r"labs/\S+: ", line) or line.startswith("the tests cannot go on"):
            block = []
            for text in lines[i:]:
                if text.startswith("step ") and block:
                    break
                block.append(text.rstrip())
                if text.startswith("  again: "):
                    if kind:
                        block[-1] += f" --build {kind}"
                    break
            while block and not block[-1]:
                block.pop()
            return "\n".join(block)
    told = [line for line in lines if line.strip()]
    return "\n".join(told[-5:]) or "the tests ended and said nothing"


def _graded(step, kind, quick, timeout):
    command = [
        str(build.graded()),
        "--lab",
        step.lab,
        "--step",
        str(step.number),
        "--runner",
        str(build.runner(step.lab, kind)),
        "--abort-after=1",
    ]  # one failure is shown
    command += ["--quick"] if quick else []
    command += ["--timeout", str(timeout)] if timeout else []
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False
    )
    return done.returncode, done.stdout.decode(errors="replace")


def check_step(step, kind, several, timeout=None, explain=list):
    """Runs the tests of one step on one build, prints the verdict and remembers it; whether it passed.

    `explain`: gives lines that name the fault of a step that fails, to be shown before the case that failed.
    """
    start = time.monotonic()
    cases = 0
    with Progress(f"{step.lab} {step} on the {kind} build") as progress:
        # The quick tests find most mistakes at once; the full ones follow only where there is something to lose.
        for quick in (True, False):
            progress.update("first look" if quick else "all public tests")
            status, output = _graded(step, kind, quick, timeout)
            if status == 2:  # no verdict on the step: the tests themselves could not run
                raise Problem(f"{step}: the tests could not be run on the {kind} build\n{output.strip()}")
            if status:
                break
            cases += sum(int(number) for number in re.findall(r"(\d+) cases  ok", output))
    seconds = time.monotonic() - start
    if status == 0:
        ProgressFile().save_verdict(step, kind, "passed")
        print(f"{paint('ok', 'green')}      {step}: {cases} cases on the {kind} build, {seconds:.1f} s", flush=True)
        return True
    message = first_failure(output, kind if several else None)
    unwritten = " is not written yet" in message
    ProgressFile().save_verdict(step, kind, "not written" if unwritten else "failed")
    if unwritten:
        print(message)
        print(f"Fill the gap there; ./workbook hint {step.lab} {step.number} helps.", flush=True)
    else:
        print(f"{paint('FAILED', 'red')}  {step}, {kind} build. The first thing to mend:\n", flush=True)
        for line in explain():
            print(line)
        print(message, flush=True)
    return False


def _observe(step, timeout):
    runner = build.runner(step.lab, "check")
    build.compile_targets([runner], f"building {step.lab} for the check build")
    with Progress(f"{step.lab} {step} on the check build") as progress:
        return checked.check_step(step.lab, step.number, runner, timeout, progress)


def findings_of(step, timeout=None):
    """Lines on what the check build finds in a step that fails its tests; empty where it finds nothing."""
    verdict = _observe(step, timeout)
    return [*verdict.findings[:MOST_FINDINGS], ""] if verdict.findings else []


def check_observed(step, timeout=None):
    """The check build's verdict on a step that passes its tests, printed and remembered; whether it passed."""
    start = time.monotonic()
    verdict = _observe(step, timeout)
    what = "passed" if verdict.passed else "over budget" if not (verdict.findings or verdict.failed) else "failed"
    ProgressFile().save_verdict(step, "check", what)
    if verdict.passed:
        print(
            f"{paint('ok', 'green')}      {step}: {verdict.cases} cases on the check build, no finding, "
            f"{time.monotonic() - start:.1f} s"
        )
        for name, costs in verdict.costs:
            print(
                f"        {name}: "
                + ", ".join(f"{cost} {value:.4g} of {allowed:g}" for cost, (value, allowed) in costs.items()),
                flush=True,
            )
        return True
    if what == "over budget":
        print(f"{paint('OVER', 'red')}    {step}: right, but it costs more than it should:\n")
        print("\n".join(verdict.over), flush=True)
    else:
        print(f"{paint('FAILED', 'red')}  {step}, check build. Right by luck; the first thing to mend:\n")
        print("\n".join(verdict.findings[:MOST_FINDINGS] or [verdict.failed]), flush=True)
    return False


def check(lab, asked, timeout=None):
    """Checks the steps asked for and stops at the first that fails; whether all pass. CompileFailed, Problem."""
    build.ensure()
    kinds = build.runnable()
    runners = [build.runner(lab, kind) for kind in kinds]
    build.compile_targets([build.judge(), build.graded(), *runners], f"building {lab}")
    observed = "cpu" in kinds
    for step in asked:
        for kind in kinds:
            explain = (lambda step=step: findings_of(step, timeout)) if observed else list
            if not check_step(step, kind, len(kinds) > 1, timeout, explain):
                print("(public tests only)")
                return False
        if observed and not check_observed(step, timeout):
            return False
    which, only = ("Passed", f" --step {asked[0].number}") if len(asked) == 1 else ("All steps passed", "")
    print(f"{which}, public tests only. Next: ./workbook bench {lab}{only}")
    if "cuda" in build.kinds() and not machine.gpus():
        note("cuda: not run, no GPU answers")
    return True


def add_arguments(parser):
    """The verb's options."""
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("step", metavar="STEP", nargs="?", help="else one after the other, to the first that fails")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="that one case may take (20)")


def asked_steps(arguments):
    """The lab and the steps that the arguments name."""
    lab = find_lab(arguments.lab)
    if arguments.timeout is not None and not 0 < arguments.timeout < math.inf:
        raise Usage(f"--timeout {arguments.timeout:g} is no number of seconds: give more than 0")
    return lab, [find_step(lab, arguments.step)] if arguments.step else steps(lab)


def main(arguments):
    """Tests of a lab."""
    lab, asked = asked_steps(arguments)
    return 0 if check(lab, asked, arguments.timeout) else 1
