"""Sorts uniform keys and a real file's bytes with every step of every lab, verifies each, and prints one table."""

import os
import sys

from . import build, files, judge, machine, plot, table
from .bench import percent_of_gold
from .paths import BUILD, has_solutions, labs, shown
from .terminal import Problem, note, paint

KEYS = {"cpu": 1 << 18, "cuda": 1 << 24}
FOLDER = BUILD / "demo"


def _candidates():
    """Files that any machine which got this far holds, large ones last."""
    yield os.path.realpath(sys.executable)
    yield from (str(path) for path in sorted((BUILD / "common").glob("gold-*")) if path.is_file())
    cxx = machine.compiler()
    if cxx:
        compiler_proper = machine.answer(*cxx, "-print-prog-name=cc1plus")
        if compiler_proper and os.path.isfile(compiler_proper):
            yield compiler_proper


def real_file(keys):
    """A copy in build/demo of the first 4 * `keys` bytes of a real file, or of all whole keys of the largest there is.

    Gives the copy's path, its keys and the file's name.
    """
    best, size = None, -1
    for path in _candidates():
        if os.path.getsize(path) > size:
            best, size = path, os.path.getsize(path)
        if size >= 4 * keys:
            break
    taken = min(4 * keys, size // 4 * 4)
    copy = FOLDER / "real-file.bin"
    with open(best, "rb") as file:
        files.write_whole(copy, file.read(taken))
    return copy, taken // 4, best


def _build_for(kind):
    runners = [build.runner(lab, kind, solution=True) for lab in labs()]
    build.compile_targets([build.judge(), build.gold(kind), *runners], "building the solutions")


def _measure(lab, kind, file, file_keys):
    """The rows of one lab on both inputs."""
    rows = []
    csv = FOLDER / "measuring.csv"
    for name, keys in (("uniform", KEYS[kind]), (f"file:{file}", file_keys)):
        csv.unlink(missing_ok=True)
        options = ["--gold", str(build.gold(kind)), "--n", str(keys), "--input", name, "--type", "u32",
                   "--repeats", "9", "--time-limit", "2"]
        found, _ = judge.bench(f"sorting, {lab}", lab, build.runner(lab, kind, True), kind, csv, options)
        rows += found
    csv.unlink(missing_ok=True)
    return rows


def table_of(rows, facts):
    """The lines of the demo's table, at most 80 columns; and what a plot needs, (label, input, Mkeys/s, gold's)."""
    form = "{:<12} {:<25} {:<7} {:>7} {:>8} {:>6}  {:<8}"
    lines = [form.format("lab, step", "idea", "input", "ms", "Mkeys/s", "%gold", "verified").rstrip()]
    lines.append("-" * 80)
    points = []
    for row in rows:
        if row["lab"] == "gold":
            continue
        fact = facts[row["lab"]][int(row["step"])]
        gold = judge.best_gold(rows, row, bool(fact["tile"]))
        label = f"{row['lab'][:10]} {row['step']}"
        name = "file" if row["input"].startswith("file:") else row["input"]
        verified = row["status"] == "verified"
        speed = float(row["keys_per_s"]) / 1e6 if verified else 0
        numbers = "---"
        if verified:
            numbers = [table.significant(float(row["median_ms"])), table.significant(speed), percent_of_gold(row, gold)]
        verdict = "yes" if verified else row["status"]
        lines.append(form.format(label, fact["idea"][:25], name, *numbers, verdict).rstrip())
        if verified:
            points.append((label, name, speed, float(gold["keys_per_s"]) / 1e6 if gold else None))
    return lines, points


def _measure_all(kind):
    """Builds the solutions and measures every lab: the rows, the labs' tables of steps, and the real file."""
    _build_for(kind)
    FOLDER.mkdir(parents=True, exist_ok=True)
    file, file_keys, name = real_file(KEYS[kind])
    rows, facts = [], {}
    for lab in labs():
        facts[lab] = judge.table(lab)
        rows += _measure(lab, kind, file, file_keys)
    return rows, facts, file_keys, name


def add_arguments(parser):
    """The verb has no options."""


def main(_arguments):
    """The demo."""
    if not has_solutions():
        raise Problem("the demo sorts with the solutions, and there is no solutions/ here. "
                      "Try ./workbook check LAB with your own")
    build.ensure()
    kinds = build.runnable()
    if not kinds:
        raise Problem("no build can run here: ./workbook doctor says why")
    kind = kinds[-1]
    try:
        rows, facts, file_keys, name = _measure_all(kind)
    except Problem as error:
        # A GPU may answer and CUDA still not work, with a driver that is too old, say.
        if kind == "cpu" or "cpu" not in kinds:
            raise
        note(f"the cuda build does not work here, going on with the cpu build:\n{error}")
        kind = "cpu"
        rows, facts, file_keys, name = _measure_all(kind)
    measured = [row for row in rows if row["lab"] != "gold"]
    if rows:
        header = ",".join(rows[0])
        quoted = ['"' + value.replace('"', '""') + '"' if set(value) & set(',"\n') else value
                  for row in rows for value in row.values()]
        width = len(rows[0])
        body = "\n".join(",".join(quoted[i : i + width]) for i in range(0, len(quoted), width))
        files.write_whole(FOLDER / "demo.csv", f"{header}\n{body}\n")
    lines, points = table_of(rows, facts)
    gpu = machine.gpus()
    where = f"on {gpu[0].split(',')[0]}" if kind == "cuda" and gpu else "CUDA on this machine's processor"
    print(f"{kind} build: {where}. u32 keys: {table.count(KEYS[kind])} uniform ones, and")
    print(f"{table.count(file_keys)} that are the bytes of {name}.\n")
    for line in lines:
        print(line)
    golds = sorted({row["name"] for row in rows if row["lab"] == "gold" and row["status"] == "verified"})
    print(f"\ngold: the fastest of {', '.join(golds)}" if golds else "\nthe gold standard did not run")
    print(f"all numbers: {shown(FOLDER / 'demo.csv')}")
    if points:
        if plot.demo(points, FOLDER / "demo.svg", kind):
            print(f"plot:        {shown(FOLDER / 'demo.svg')}")
        else:
            print("no plot: matplotlib is not here (./workbook doctor)")
    wrong = [row for row in measured if row["status"] != "verified"]
    for row in wrong:
        print(f"{paint('not verified', 'red')}: {row['lab']} step {row['step']}: {row['status']}: {row['message']}")
    expected = 2 * sum(len(steps) for steps in facts.values())
    if len(measured) != expected:
        print(f"{paint('not all were measured', 'red')}: {len(measured)} of {expected}")
    return 0 if not wrong and expected and len(measured) == expected else 1
