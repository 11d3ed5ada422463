"""Sorts uniform keys and real input with every step of every lab, verifies each, and prints one table."""

import array
import os
import re
import sys
import textwrap
from typing import NamedTuple

from ..core import build, files, judge_client as judge, machine, measurements, table
from ..reporting import plot
from .bench import percent_of_gold
from ..core.course import BUILD, ROOT, has_solutions, labs, shown
from ..core.terminal import Problem, note, paint

KEYS = {"cpu": 1 << 16, "cuda": 1 << 24}
FEW_KEYS = {"cpu": 1 << 12, "cuda": 1 << 15}  # for steps whose table says that many keys would take too long
FOLDER = BUILD / "demo"


class Sample(NamedTuple):
    """What is sorted."""

    name: str
    input: str  # for the judge
    keys: int  # at most
    type: str | None  # None: each lab's own


def _candidates():
    """Files that any machine which got this far holds, large ones last."""
    yield os.path.realpath(sys.executable)
    yield from (str(path) for path in sorted((BUILD / "common/gold").glob("gold-*")) if path.is_file())
    cxx = machine.compiler()
    if cxx:
        compiler_proper = machine.answer(*cxx, "-print-prog-name=cc1plus")
        if compiler_proper and os.path.isfile(compiler_proper):
            yield compiler_proper


def real_file(size):
    """A copy in build/demo of the first `size` bytes of a real file, or of all of the largest there is.

    Gives the copy's path, its bytes and the file's name.
    """
    best, most = None, -1
    for path in _candidates():
        if os.path.getsize(path) > most:
            best, most = path, os.path.getsize(path)
        if most >= size:
            break
    taken = min(size, most) // 8 * 8  # whole keys of every type
    copy = FOLDER / "real-file.bin"
    with open(best, "rb") as file:
        files.write_whole(copy, file.read(taken))
    return copy, taken, best


def coordinates():
    """A file in build/demo of 32-bit floats: every coordinate of the handouts' figures, one behind the other.

    Gives the file's path and how many there are.
    """
    found = array.array("f")
    for path in sorted(ROOT.glob("labs/*/figures/*.svg")):
        found.extend(float(text) for text in re.findall(r' (?:x|y|x1|x2|y1|y2|cx|cy)="(-?[0-9.]+)"', path.read_text()))
    path = FOLDER / "coordinates.bin"
    files.write_whole(path, found.tobytes())
    return path, len(found)


def _samples(kind):
    """The inputs of the demo, and a sentence about them."""
    keys = KEYS[kind]
    file, size, name = real_file(8 * keys)
    points, count = coordinates()
    words = f"file: the bytes of {name} as keys; coords: {count} coordinates\nof the handouts' figures as 32-bit floats"
    return [
        Sample("uniform", "uniform", keys, None),
        Sample("file", f"file:{file}", min(keys, size // 8), None),
        Sample("coords", f"file:{points}", min(keys, count), "f32"),
    ], words


def _build_for(kind):
    runners = [build.runner(lab, kind, solution=True) for lab in labs()]
    build.compile_targets([build.judge(), build.gold(kind), *runners], "building the solutions")


def _measure(lab, kind, sample, facts):
    """The rows of one lab on one sample: of the steps that take its type, fewer keys where many would take too long."""
    rows = []
    csv = FOLDER / "measuring.csv"
    groups = {}
    for (number, _), fact in facts.items():
        if sample.type in (None, *fact["types"]):
            few = fact["largest_n"] < 1 << 60
            groups.setdefault(min(sample.keys, FEW_KEYS[kind]) if few else sample.keys, set()).add(number)
    for keys, numbers in sorted(groups.items()):
        csv.unlink(missing_ok=True)
        options = [
            "--gold",
            str(build.gold(kind)),
            "--n",
            str(keys),
            "--input",
            sample.input,
            "--step",
            *map(str, sorted(numbers)),
            "--repeats",
            "5",
            "--time-limit",
            "1",
        ]
        options += ["--type", sample.type] if sample.type else []
        found, _ = judge.bench(f"sorting, {lab}", lab, build.runner(lab, kind, True), kind, csv, options, warn=False)
        rows += [dict(row, sample=sample.name) for row in found]
    csv.unlink(missing_ok=True)
    return rows


def _mkeys(row):
    return float(row["keys_per_s"]) / 1e6


def table_of(rows, facts, names):
    """The lines of the demo's table, at most 80 columns; and what a plot needs, (label, input, Mkeys/s, gold's).

    rows: the judge's, each with the name of its sample; facts: lab -> table of steps; names: of the samples
    """
    form = "{:<15} {:<27}" + " {:>7}" * len(names) + " {:>8} {:>3}"
    lines, points = [], []
    for lab, steps in facts.items():
        lines += ["", form.format(lab, "", *names, "% gold", "ok").rstrip(), "-" * 80]
        for (number, task), fact in steps.items():
            own = {
                row["sample"]: row
                for row in rows
                if row["lab"] == lab and int(row["step"]) == number and row["task"] == task
            }
            speeds, verified, percent = [], 0, ""
            for name in names:
                row = own.get(name)
                if row is None:
                    speeds.append("")
                    continue
                if row["status"] != "verified":
                    speeds.append(row["status"][:7])
                    continue
                verified += 1
                speeds.append(table.significant(_mkeys(row)))
                gold = measurements.best_gold([other for other in rows if other["sample"] == name], row)
                percent = percent or percent_of_gold(row, gold)
                points.append((f"{lab} {number} {fact['name']}", name, _mkeys(row), _mkeys(gold) if gold else None))
            idea, *more = textwrap.wrap(fact["idea"], 27) or [""]
            lines.append(
                form.format(f"{number} {fact['name']}"[:15], idea, *speeds, percent, f"{verified}/{len(own)}").rstrip()
            )
            lines += [" " * 16 + words for words in more]
    return lines[1:], points


def _measure_all(kind):
    """Builds the solutions and measures every lab: the rows, the labs' tables of steps, the samples and words on them."""
    _build_for(kind)
    FOLDER.mkdir(parents=True, exist_ok=True)
    samples, words = _samples(kind)
    rows, facts = [], {}
    for lab in labs():
        facts[lab] = judge.table(lab)
        for sample in samples:
            rows += _measure(lab, kind, sample, facts[lab])
    return rows, facts, samples, words


def add_arguments(parser):
    """The verb has no options."""


def main(_arguments):
    """The demo."""
    if not has_solutions():
        raise Problem(
            "the demo sorts with the solutions, and there is no solutions/ here. Try ./workbook check LAB with your own"
        )
    build.ensure()
    kinds = build.runnable()
    if not kinds:
        raise Problem("no build can run here: ./workbook doctor says why")
    kind = kinds[-1]
    try:
        rows, facts, samples, words = _measure_all(kind)
    except Problem as error:
        # A GPU may answer and CUDA still not work, with a driver that is too old, say.
        if kind == "cpu" or "cpu" not in kinds:
            raise
        note(f"the cuda build does not work here, going on with the cpu build:\n{error}")
        kind = "cpu"
        rows, facts, samples, words = _measure_all(kind)
    measured = [row for row in rows if row["lab"] != "gold"]
    measurements.write(FOLDER / "demo.csv", rows, ["sample", *measurements.COLUMNS])
    lines, points = table_of(rows, facts, [sample.name for sample in samples])
    gpu = machine.gpus()
    where = f"on {gpu[0].split(',')[0]}" if kind == "cuda" and gpu else "CUDA on this machine's processor"
    print(f"{kind} build: {where}. Speeds in million keys a second.")
    print(
        f"uniform: {table.count(KEYS[kind])} keys, {table.count(FEW_KEYS[kind])} where the work grows with the square;"
        f"\n{words}; ok: inputs verified.\n"
    )
    for line in lines:
        print(line)
    golds = sorted({row["name"] for row in rows if row["lab"] == "gold" and row["status"] == "verified"})
    print(
        "\n% gold: of the fastest of the gold standard's for the same task, uniform keys"
        if golds
        else "\nthe gold standard did not run"
    )
    print(f"all numbers: {shown(FOLDER / 'demo.csv')}")
    if points:
        if plot.demo(points, FOLDER / "demo.svg", kind):
            print(f"plot:        {shown(FOLDER / 'demo.svg')}")
        else:
            print("no plot: matplotlib is not here (./workbook doctor)")
    wrong = [row for row in measured if row["status"] != "verified"]
    for row in wrong:
        print(f"{paint('not verified', 'red')}: {row['lab']} step {row['step']}: {row['status']}: {row['message']}")
    expected = sum(
        1
        for steps in facts.values()
        for fact in steps.values()
        for sample in samples
        if sample.type in (None, *fact["types"])
    )
    if len(measured) != expected:
        print(f"{paint('not all were measured', 'red')}: {len(measured)} of {expected}")
    return 0 if not wrong and expected and len(measured) == expected else 1
