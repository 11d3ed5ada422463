"""Sorts uniform keys and real input with every step of every lab, verifies each, and prints one table.

The steps are those of the solutions. In a copy of the workbook without solutions, they are the student's own: those
that are not written yet are listed as such, beside the speed of the gold standard.
"""

import argparse
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..core import build, machine, measuring, samples
from ..core import rows as row_files
from ..core.bench_tables import percent_of_gold
from ..core.console import Problem, count, note, paint, significant
from ..core.course import BUILD, has_solutions, labs, shown
from ..core.judge_client import JudgeClient
from ..core.judge_types import BUSY, Lab, Limits, Step
from ..core.rows import Row
from ..core.samples import Sample
from ..core.sweeps import Sweep
from ..reporting import plot, step_charts

KEYS = {"cpu": 1 << 16, "cuda": 1 << 21}
FOLDER = BUILD / "demo"
NOT_WRITTEN = "not-written"
_VERIFIED = ("verified", BUSY)  # BUSY: every output was verified, and only the time is missing


@dataclass
class Measured:
    """What the demo measured: rows, each with the name of its sample."""

    labs: list[Lab]
    rows: list[tuple[str, Row]]
    samples: Sequence[Sample]
    words: str  # about the samples
    solution: bool = True

    def of_steps(self) -> list[Row]:
        """The rows of steps, without the gold standard's."""
        return [row for _, row in self.rows if not row.is_gold]

    def expected(self) -> int:
        """How many rows there must be."""
        return sum(sample.fits(step) for lab in self.labs for step in lab.steps for sample in self.samples)


def _sweeps(lab: Lab, kind: str, sample: Sample) -> Iterable[Sweep]:
    """A sweep for the steps that take the sample's type, with fewer keys for those that cannot afford all."""
    groups: dict[tuple[int, str], set[int]] = {}
    for step in lab.steps:
        if sample.fits(step):
            keys = min(sample.keys, *(line.affordable.on(kind) for line in lab.lines(step.number)))
            name = step.input_for(sample.type or lab.type_of(step), wide=sample.input)
            groups.setdefault((keys, name), set()).add(step.number)
    for (keys, name), numbers in sorted(groups.items()):
        yield Sweep(
            lab.name,
            steps=tuple(sorted(numbers)),
            n=(keys,),
            inputs=(name,),
            types=(sample.type,) if sample.type else (),
            limits=Limits(repeats=3, time_limit=0.5),
        )


def _measure(judge: JudgeClient, kind: str) -> Measured:
    """Builds the steps and measures every lab."""
    solution = has_solutions()
    runners = {lab: build.runner(lab, kind, solution) for lab in labs()}
    types = {"f32"}  # besides the labs' own
    what = "the solutions" if solution else "every lab"
    build.compile_targets([build.judge(), build.gold(kind, types), *runners.values()], f"building {what}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    chosen, words = samples.choose(FOLDER, KEYS[kind])
    measured = Measured([], [], chosen, words, solution)
    csv = FOLDER / "measuring.csv"
    for name, runner in runners.items():
        lab = judge.lab(name)
        measured.labs.append(lab)
        programs = measuring.Programs(judge, kind, runner, build.gold(kind, types))
        for sample in chosen:
            for sweep in _sweeps(lab, kind, sample):
                csv.unlink(missing_ok=True)
                result = measuring.run(f"sorting, {name}", programs, sweep, csv, warn=False)
                measured.rows += [(sample.name, row) for row in result.rows]
    csv.unlink(missing_ok=True)
    return measured


# --- the table ---

_FORM = "{:<43}" + "{}" + " {:>8} {:>3}"


def _line(left: str, idea: str, speeds: Sequence[str], percent: str, verified: str) -> str:
    """A line of the table. Without an idea, `left` takes its place, too."""
    words = f"{left[:15]:<15} {idea}" if idea else left
    return _FORM.format(words, "".join(f" {speed:>7}" for speed in speeds), percent, verified).rstrip()


def _mkeys(row: Row) -> float:
    return (row.keys_per_s or 0) / 1e6


def _step_lines(lab: str, step: Step, measured: Measured, names: Sequence[str]) -> list[str]:
    own = {name: row for name, row in measured.rows if (row.lab, row.step, row.task) == (lab, step.number, step.task)}
    speeds, percent = [], ""
    label = f"{step.number} {step.name}" + ", tiles" * bool(step.tile)
    if own and all(row.status == NOT_WRITTEN for row in own.values()):
        return [_line(label, "not written yet", [""] * len(names), "", "")]
    for name in names:
        row = own.get(name)
        if row is None or row.status != "verified":
            status = row.status if row else ""
            speeds.append(status if len(status) <= 7 else "failed")
            continue
        gold = row_files.best_gold([other for sample, other in measured.rows if sample == name], row)
        percent = percent or percent_of_gold(row, gold)
        speeds.append(significant(_mkeys(row)))
    idea, *more = textwrap.wrap(step.idea, 27) or [""]
    verified = sum(row.status in _VERIFIED for row in own.values())
    first = _line(label, idea, speeds, percent, f"{verified}/{len(own)}")
    return [first, *(" " * 16 + words for words in more)]


def _gold_line(lab: Lab, measured: Measured, names: Sequence[str]) -> str:
    """The speeds of the gold standard for whole arrays, for the most keys that were measured."""
    speeds = []
    whole = {step.name for step in lab.steps if step.task == "sort" and not step.tile}
    for sample in names:
        rows = [row for of_sample, row in measured.rows if of_sample == sample]
        own = [row for row in rows if row.lab == lab.name and row.name in whole]
        golds = [gold for gold in (row_files.best_gold(rows, row) for row in own) if gold]
        best = max(golds, key=lambda gold: (gold.n, _mkeys(gold)), default=None)
        speeds.append(significant(_mkeys(best)) if best else "")
    return _line("gold standard", "the fastest library sort", speeds, "", "")


def table_of(measured: Measured) -> list[str]:
    """The lines of the demo's table, at most 80 columns wide."""
    names = [sample.name for sample in measured.samples]
    lines: list[str] = []
    for lab in measured.labs:
        lines += ["", _line(lab.name, "", names, "% gold", "ok"), "-" * 80]
        if not measured.solution:
            lines.append(_gold_line(lab, measured, names))
        for step in lab.steps:
            lines += _step_lines(lab.name, step, measured, names)
    return lines[1:]


def draw(measured: Measured) -> str:
    """Draws the steps beside the gold standard, with the keys of the first sample; returns a sentence about it."""
    if not plot.available():
        return "no plot: matplotlib is missing (./workbook doctor)"
    rows = [row for sample, row in measured.rows if sample == measured.samples[0].name]
    steps = [step for lab in measured.labs for step in step_charts.compared(rows, lab.name)]
    drawn = step_charts.gold_chart(steps, FOLDER / "demo", ("svg",))
    return f"plot:        {shown(FOLDER / 'demo.svg')}" if drawn else "no plot: there is nothing to compare"


# --- the verb ---


def _print(measured: Measured, kind: str) -> None:
    where = f"on {machine.gpu_name()}" if kind == "cuda" else "CUDA on this machine's processor"
    print(f"{kind} build: {where}. Speeds are in million keys per second.")
    print(f"uniform: {count(KEYS[kind])} keys, fewer for steps that would take too long;\n{measured.words};")
    print("ok: inputs verified.")
    if any(row.status == BUSY for row in measured.of_steps()):
        print("busy: verified, but other programs kept the machine too busy to measure a time.")
    print()
    for line in table_of(measured):
        print(line)
    gold = any(row.is_gold and row.status == "verified" for _, row in measured.rows)
    print(
        "\n% gold: of the fastest gold standard for the same task, uniform keys"
        if gold
        else "\nthe gold standard did not run"
    )
    print(f"all numbers: {shown(FOLDER / 'demo.csv')}")
    print(draw(measured))


def _verdict(measured: Measured) -> int:
    """Names what failed; the exit status."""
    own = measured.of_steps()
    wrong = [row for row in own if row.status not in (*_VERIFIED, *([] if measured.solution else [NOT_WRITTEN]))]
    for row in wrong:
        print(f"{paint('not verified', 'red')}: {row.lab} step {row.step}: {row.status}: {row.message}")
    if len(own) != measured.expected():
        print(f"{paint('not everything was measured', 'red')}: {len(own)} of {measured.expected()}")
    return 0 if own and not wrong and len(own) == measured.expected() else 1


def _best_measured(judge: JudgeClient, kinds: Sequence[str]) -> tuple[Measured, str]:
    """Runs on the best build. A GPU may answer although CUDA does not work, for example with an old driver."""
    kind = kinds[-1]
    try:
        return _measure(judge, kind), kind
    except Problem as error:
        if kind == "cpu" or "cpu" not in kinds:
            raise
        note(f"the cuda build does not work here, continuing with the cpu build:\n{error}")
        return _measure(judge, "cpu"), "cpu"


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """The verb has no options."""


def main(_arguments: argparse.Namespace) -> int:
    """The demo."""
    build.ensure()
    kinds = build.runnable()
    if not kinds:
        raise Problem("no build can run here: ./workbook doctor explains why")
    with JudgeClient() as judge:
        measured, kind = _best_measured(judge, kinds)
    names = [name for name, _ in measured.rows]
    row_files.write(FOLDER / "demo.csv", [row for _, row in measured.rows], "sample", names)
    _print(measured, kind)
    return _verdict(measured)
