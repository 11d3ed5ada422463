"""Calls of the judge, which makes the input, has a runner sort it, verifies and times."""

import os
import re
import subprocess
import sys

from . import build, machine, measurements
from .console import Problem, Progress, ending, note

BUDGET = ("n", "conflicts", "sectors", "bytes", "barriers")  # see step/step.h


def table(lab):
    """The lab's table: (number, task) -> {"name", "idea", "stable", "tile", "largest_n", "types", "budget"}."""
    done = subprocess.run([str(build.judge()), "table", "--lab", lab], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Problem(done.stderr.strip() or f"the judge could not list the steps of {lab}", done.returncode)
    steps = {}
    for line in done.stdout.splitlines():
        number, name, idea, stable, tile, largest_n, types, task, *budget = line.split("\t")
        steps[int(number), task] = {
            "name": name,
            "idea": idea,
            "stable": stable != "0",
            "tile": int(tile),
            "largest_n": int(largest_n),
            "types": types.split(","),
            "budget": dict(zip(BUDGET, map(float, budget))),
        }
    return steps


def inputs():
    """The names of the input distributions; empty while the judge is not built."""
    try:
        told = subprocess.run([str(build.judge()), "inputs"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return []
    return [line.split("\t") for line in told.splitlines()]


def any_written(lab, runner, numbers):
    """Whether at least one of the steps is more than a gap; each is asked to sort a few keys."""
    for number, task in table(lab):
        if number in numbers:
            done = subprocess.run(
                [
                    str(build.judge()),
                    "sort",
                    "--lab",
                    lab,
                    "--runner",
                    str(runner),
                    "--step",
                    str(number),
                    "--task",
                    task,
                    "--n",
                    "100",
                    "--seed",
                    "1",
                ],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            if not re.search("^not-written: ", done.stderr, re.MULTILINE):
                return True
    return False


def option(name, values):
    """`--name v1 v2 ..` for the judge; nothing for no values."""
    if values is None or values == []:
        return []
    return [f"--{name}", *map(str, values if isinstance(values, (list, tuple)) else [values])]


def file_inputs(values):
    """The inputs with the paths of files made absolute, after a look whether they can be read at all."""
    found = []
    for value in values or []:
        if value.startswith("file:"):
            path = os.path.abspath(os.path.expanduser(value[5:]))
            if not os.path.isfile(path):
                raise Problem(f"there is no file {value[5:]}", 2)
            if not os.access(path, os.R_OK):
                raise Problem(f"{value[5:]} may not be read", 2)
            value = f"file:{path}"
        found.append(value)
    return found


def bench(what, lab, runner, kind, csv_path, options, warn=True):
    """Times steps; the rows are added to those in `csv_path`, whose rows are given back, with the judge's exit status.

    An interruption ends the judge too; the rows that it has written stay. `warn`: pass its warnings on.
    """
    command = [
        str(build.judge()),
        "bench",
        "--lab",
        lab,
        "--runner",
        str(runner),
        "--build",
        kind,
        "--csv",
        str(csv_path),
        "--commit",
        machine.commit(),
        *options,
    ]
    errors, said, status = [], [], None
    with Progress(what) as progress, machine.ClockWatch(kind == "cuda") as clocks:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        with ending(process):
            pending = ""
            while True:
                # The judge begins a line when it begins a measurement and ends it with the result.
                chunk = os.read(process.stderr.fileno(), 4096).decode(errors="replace")
                if not chunk:
                    break
                pending += chunk
                *lines, pending = pending.split("\n")
                for line in lines:
                    if line.startswith("error:"):
                        errors.append(line[len("error:") :].strip())
                    elif line.startswith(("warning:", "left out:")):
                        said.append(line)
                    elif not progress.live:
                        note(line)
                if progress.live or pending.endswith("... "):  # elsewhere whole lines have been told, or will be
                    progress.update(pending or lines[-1])
            status = process.wait()
    for line in said:
        if warn or not line.startswith("warning:"):
            note(line)
    if clocks.reasons:
        note(
            f"warning: the GPU slowed its clocks down meanwhile ({', '.join(sorted(clocks.reasons))}): these times are "
            "longer than they need be"
        )
    if errors:
        raise Problem("\n".join(errors), 2 if status == 2 else 1)
    if status < 0:
        raise Problem(f"the judge was ended by signal {-status}")
    return (measurements.read(csv_path) if os.path.exists(csv_path) else []), status


def flush():
    """Puts out what was printed so far, before a program of ours prints."""
    sys.stdout.flush()
    sys.stderr.flush()


def device(runner):
    """[(what, value)] about the device that a runner has; empty where it does not say."""
    done = subprocess.run(
        [str(build.judge()), "device", "--runner", str(runner)], capture_output=True, text=True, check=False
    )
    return [tuple(line.split("\t", 1)) for line in done.stdout.splitlines() if "\t" in line]
