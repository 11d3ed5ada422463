"""Times a lab's steps against the gold standard: one table of steps by n."""

import os
import time
from pathlib import Path

from . import build, judge, table
from .paths import BUILD, find_lab, find_step, shown, steps
from .run import add_common_arguments, prepare
from .terminal import Usage, paint

DEFAULT_N = {"cpu": ["2^10", "2^14", "2^18"], "cuda": ["2^10", "2^14", "2^18", "2^22", "2^26"]}


def add_arguments(parser):
    """The verb's options."""
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("--step", nargs="+", action="extend", metavar="STEP", help="else all")
    parser.add_argument("--n", nargs="+", action="extend", metavar="N", help="how many keys, as 1000 or 2^20; several are swept")
    parser.add_argument("--input", nargs="+", action="extend", metavar="NAME", help="uniform, sorted, .. or file:PATH")
    parser.add_argument("--type", nargs="+", action="extend", metavar="TYPE", help="u32, i32, f32, u64, pairs, ..")
    parser.add_argument("--order", nargs="+", action="extend", metavar="ORDER", help="ascending, descending")
    parser.add_argument("--blocks", nargs="+", action="extend", metavar="B", help="blocks of a launch; 0: the step chooses")
    parser.add_argument("--threads", nargs="+", action="extend", metavar="T", help="threads of a block; 0: the step chooses")
    parser.add_argument("--repeats", metavar="MAX", help="timed runs of a measurement at most")
    parser.add_argument("--min-time", metavar="SECONDS", help="of sorting in a measurement at least")
    parser.add_argument("--time-limit", metavar="SECONDS", help="that a measurement may take in all")
    parser.add_argument("--csv", metavar="FILE", help="where the rows go; else a new file in build/bench/")
    add_common_arguments(parser)


def percent_of_gold(row, gold):
    """The step's speed in percent of the gold standard's; "-" where one of them has none."""
    if gold is None or row["status"] != "verified":
        return "-"
    return table.significant(100 * float(row["keys_per_s"]) / float(gold["keys_per_s"])) + "%"


def lines_of(rows):
    """The table: a line for each measurement of a step, and those columns only that tell lines apart."""
    measured = [row for row in rows if row["lab"] != "gold"]
    varying = [
        name for name in ("input", "type", "order", "blocks", "threads")
        if len({row[name] for row in measured}) > 1
    ]
    headings = ["step", "n", *varying, "median ms", "spread", "Mkeys/s", "% of gold", "gold", "verified"]
    lines = []
    for row in sorted(measured, key=lambda row: int(row["step"])):
        gold = judge.best_gold(rows, row)
        cells = [f"{int(row['step']):02} {row['name']}", table.count(row["n"])]
        cells += [os.path.basename(row[name]) if name == "input" else row[name] for name in varying]
        if row["status"] == "verified":
            median = float(row["median_ms"])
            spread = 100 * (float(row["q3_ms"]) - float(row["q1_ms"])) / median if median else 0
            cells += [table.significant(median), f"{spread:.0f}%", table.significant(float(row["keys_per_s"]) / 1e6),
                      percent_of_gold(row, gold), gold["name"] if gold else "-", "yes"]
        else:
            cells += ["-", "-", "-", "-", gold["name"] if gold else "-", row["status"]]
        lines.append(cells)
    return table.render(headings, lines, left=("step", "gold", "verified", *varying))


def main(arguments):
    """One table."""
    lab = find_lab(arguments.lab)
    asked = [find_step(lab, step) for step in arguments.step] if arguments.step else steps(lab)
    arguments.input = judge.file_inputs(arguments.input)
    csv = Path(arguments.csv) if arguments.csv else None
    if csv and (csv.is_dir() or not os.access(csv.parent, os.W_OK)):
        raise Usage(f"{csv} cannot be written: name a file in a directory that is there with --csv")
    kind, runner = prepare(arguments, lab, lambda kind: [build.gold(kind)])
    if not arguments.n and not any(name.startswith("file:") for name in arguments.input):
        arguments.n = DEFAULT_N[kind]
    options = ["--gold", str(build.gold(kind)), *judge.option("step", [step.number for step in asked])]
    for name in ("n", "input", "type", "order", "blocks", "threads", "seed", "timeout", "repeats", "min_time",
                 "time_limit"):
        options += judge.option(name.replace("_", "-"), getattr(arguments, name))
    if not csv:
        folder = BUILD / "bench"
        folder.mkdir(parents=True, exist_ok=True)
        whose = "solution-" if arguments.solution else ""
        csv = folder / f"{lab}-{whose}{kind}-{time.strftime('%Y%m%d-%H%M%S')}.csv"
    partial = csv.with_name(f".{csv.name}.{os.getpid()}")
    try:
        rows, status = judge.bench(f"timing {lab}", lab, runner, kind, partial, options)
        measured = [row for row in rows if row["lab"] != "gold"]
        if measured:
            os.replace(partial, csv)
    finally:
        partial.unlink(missing_ok=True)
    if not measured:
        print("nothing was measured")
        return 1
    one = measured[0]
    print(f"{lab}{' (solution)' if arguments.solution else ''}, {kind} build, {one['machine']}")
    shared = [one[name] for name in ("type", "order", "input") if len({row[name] for row in measured}) == 1]
    print(f"{', '.join(shared)}; spread: the middle half of the runs, in percent of the median\n")
    print("\n".join(lines_of(rows)))
    print()
    for row in measured:
        if row["status"] != "verified":
            print(f"{paint('step ' + row['step'], 'red')}, n = {row['n']}: {row['status']}: {row['message']}")
    print(f"all rows: {shown(csv)}")
    return 0 if status == 0 and all(row["status"] == "verified" for row in measured) else 1
