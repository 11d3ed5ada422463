"""Sorts one input once with the student's step, or the solution's, and verifies it."""

import os

from ..core import build, checked, judge_client as judge
from ..core.course import find_lab, find_step, has_solutions
from ..core.terminal import Problem, Usage


def choose_build(asked):
    """The build asked for, if it is there and can run; else the best."""
    build.ensure()
    there = build.runnable()
    if not there:
        raise Problem("no build can run here: ./workbook doctor says why")
    if asked is None:
        return there[-1]
    if asked == "check" and "cpu" in there:
        return asked
    if asked not in there:
        why = "no GPU answers" if asked in build.kinds() else "it was not set up"
        raise Usage(f"the {asked} build cannot be run ({why}); there are: {', '.join(there)}")
    return asked


def add_common_arguments(parser, builds=("cpu", "cuda")):
    """Options that `run` and `bench` share."""
    parser.add_argument("--solution", action="store_true", help="the solution, not what stands in labs/")
    parser.add_argument("--build", choices=builds, help="else cuda where a GPU answers")
    parser.add_argument("--timeout", metavar="SECONDS", help="that a step may take")
    parser.add_argument("--seed", metavar="S", help="of the input; else a fresh one")


def add_arguments(parser):
    """The verb's options."""
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("step", metavar="STEP")
    parser.add_argument("--n", metavar="N", help="how many keys, as 1000 or 2^20")
    parser.add_argument("--input", metavar="NAME", help="uniform, sorted, .. or file:PATH (its bytes are the keys)")
    parser.add_argument("--type", metavar="TYPE", help="u32, i32, f32, u64, pairs, .. as the step sorts")
    parser.add_argument("--order", metavar="ORDER", help="ascending or descending")
    parser.add_argument("--blocks", metavar="B", help="blocks of a launch; 0: the step chooses")
    parser.add_argument("--threads", metavar="T", help="threads of a block; 0: the step chooses")
    parser.add_argument("--task", metavar="TASK", help="a part of the step that does not sort: reduce, histogram, scan")
    parser.add_argument("--stdin", action="store_true", help="binary keys, from standard input to standard output")
    add_common_arguments(parser, ("cpu", "check", "cuda"))


def prepare(arguments, lab, extra):
    """Builds what a run or a measurement needs; gives the build's name and the runner."""
    if arguments.solution and not has_solutions():
        raise Problem("there is no solutions/ here")
    kind = choose_build(arguments.build)
    runner = build.runner(lab, kind, arguments.solution)
    build.compile_targets([build.judge(), runner, *extra(kind)], f"building {lab}")
    return kind, runner


def run_observed(lab, step, runner, arguments):
    """Sorts on the check build and prints its findings and notes; the exit status, 3 for findings."""
    case = {
        name: getattr(arguments, name)
        for name in ("n", "input", "type", "order", "blocks", "threads", "task", "seed")
        if getattr(arguments, name) is not None
    }
    status, said, told = checked.run_case(
        lab, step.number, runner, case, os.environ.get("SIMT_SEED", "0"), arguments.timeout
    )
    print(said.strip())
    for finding in (told or {}).get("findings", []):
        print(checked.line_of(finding))
    for remark in (told or {}).get("notes", []):
        print(checked.note_of(remark))
    return 3 if (told or {}).get("findings") else status


def main(arguments):
    """One input, sorted once."""
    lab = find_lab(arguments.lab)
    step = find_step(lab, arguments.step)
    if arguments.input:
        arguments.input = judge.file_inputs([arguments.input])[0]
    kind, runner = prepare(arguments, lab, lambda kind: [])
    if kind == "check":
        if arguments.stdin:
            raise Usage("--stdin and --build check exclude each other")
        return run_observed(lab, step, runner, arguments)
    command = [str(build.judge()), "sort", "--lab", lab, "--runner", str(runner), "--step", str(step.number)]
    for name in ("n", "input", "type", "order", "blocks", "threads", "task", "seed", "timeout"):
        command += judge.option(name, getattr(arguments, name))
    command += ["--stdin"] if arguments.stdin else []
    judge.flush()
    # The judge takes over this process: its exit status, input and output are the command's own.
    os.execv(command[0], command)
