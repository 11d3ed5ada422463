"""Calls of the judge, which makes the input, has a runner sort it, verifies and times."""

import csv
import io
import os
import subprocess
import sys

from . import build, files
from .terminal import Problem, Progress, note


def table(lab):
    """The lab's table: (number, task) -> {"name", "idea", "stable", "tile", "largest_n", "types"}."""
    done = subprocess.run([str(build.judge()), "table", "--lab", lab], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Problem(done.stderr.strip() or f"the judge could not list the steps of {lab}", done.returncode)
    steps = {}
    for line in done.stdout.splitlines():
        number, name, idea, stable, tile, largest_n, types, task = line.split("\t")
        steps[int(number), task] = {
            "name": name, "idea": idea, "stable": stable != "0", "tile": int(tile), "largest_n": int(largest_n),
            "types": types.split(","),
        }
    return steps


def inputs():
    """The names of the input distributions; empty while the judge is not built."""
    try:
        told = subprocess.run([str(build.judge()), "inputs"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return []
    return [line.split("\t") for line in told.splitlines()]


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


def bench(what, lab, runner, kind, csv_path, options):
    """Times steps; the rows go to `csv_path` (which is new) and are given back, with the judge's exit status."""
    command = [
        str(build.judge()), "bench", "--lab", lab, "--runner", str(runner), "--build", kind, "--csv", str(csv_path),
        *options,
    ]
    errors, status = [], None
    with Progress(what) as progress:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        pending = ""
        while True:
            # The judge begins a line when it begins a measurement and ends it with the result.
            chunk = os.read(process.stderr.fileno(), 4096).decode(errors="replace")
            if not chunk:
                break
            pending += chunk
            *whole, pending = pending.split("\n")
            for line in whole:
                if line.startswith("error:"):
                    errors.append(line[len("error:") :].strip())
                elif not progress.live:
                    note(line)
            progress.update(pending or (whole[-1] if whole else ""))
        status = process.wait()
    if errors:
        raise Problem("\n".join(errors), 2 if status == 2 else 1)
    if status < 0:
        raise Problem(f"the judge was ended by signal {-status}")
    return read_rows(csv_path), status


def read_rows(path):
    """The rows of a CSV file of measurements."""
    try:
        with open(path, newline="") as file:
            return list(csv.DictReader(file))
    except OSError:
        return []


def write_rows(path, rows):
    """Rows as a CSV file, written whole or not at all."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    files.write_whole(path, text.getvalue())


def best_gold(rows, row):
    """The fastest verified row of the gold standard for the same task and keys as `row`; None if there is none."""
    same = ("build", "task", "tile", "type", "order", "input", "n")
    candidates = [
        gold for gold in rows
        if gold["lab"] == "gold" and gold["status"] == "verified" and all(gold[key] == row[key] for key in same)
    ]
    return max(candidates, key=lambda gold: float(gold["keys_per_s"]), default=None)


def flush():
    """Puts out what was printed so far, before a program of ours prints."""
    sys.stdout.flush()
    sys.stderr.flush()
