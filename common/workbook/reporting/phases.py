"""Sorts on several GPUs: how their time divides among their phases, beside the same keys on one GPU."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ..core.many_gpus import Line
from ..pictures import theme
from . import plot
from .tables import count, number, pipe

PHASES = {"sort": theme.BLUE, "splitters": theme.INK, "exchange": theme.ORANGE, "join": theme.TEAL}
WORDS = {"join": "merge"}
PER = 1 << 30  # times in the chart are for that many keys
BYTES = 4  # of a key


def read(folder: Path) -> list[Line]:
    """The fastest run for each input, order and number of keys and GPUs; uniform keys first."""
    text = (folder / "many-gpus.jsonl").read_text(encoding="utf-8")
    lines = map(json.loads, text.splitlines())
    best: dict[tuple[object, ...], Line] = {}
    for line in sorted(lines, key=lambda line: line["total_ms"]):
        best.setdefault((line["input"] != "uniform", line["order"], line["input"], line["n"], line["gpus"]), line)
    return [best[key] for key in sorted(best)]


def table(folder: Path) -> str:
    """All runs: the time of each phase, the speed as a multiple of one GPU's for the same keys, and what each GPU sends
    per second, beside NCCL's all-to-all of as many keys."""
    lines = read(folder)
    single = {(line["n"], line["input"], line["order"]): line for line in lines if line["gpus"] == 1}
    rows = []
    for line in lines:
        one = single.get((line["n"], line["input"], line["order"]))
        shown = PHASES if line["gpus"] > 1 else ("sort",)
        times = [number(line[f"{phase}_ms"]) if phase in shown else "" for phase in PHASES]
        total = number(line["total_ms"]), plot.rate_text(line["keys_per_s"])
        more = f"{one['total_ms'] / line['total_ms']:.2f}" if one else "", number(line.get("cub_ms"))
        sends_much = 8 * line["bytes_sent"] > BYTES * line["n"] / line["gpus"]  # an eighth of its share, or more
        rates = number(line.get("exchange_gb_per_s") if sends_much else None), number(line.get("all_to_all_gb_per_s"))
        name = line["input"] + ", descending" * (line["order"] == "descending")
        rows.append([name, count(line["n"]), line["gpus"], *times, *total, *more, *rates])
    headings = [*(f"{WORDS.get(phase, phase)}, ms" for phase in PHASES), "total, ms", "keys per second"]
    headings += ["times one GPU", "CUB on one GPU, ms", "exchange, GB/s", "NCCL's all-to-all, GB/s"]
    return pipe(["input", "n", "GPUs", *headings], rows)


def chart(folder: Path, stem: Path, formats: Iterable[str] = plot.FORMATS) -> None:
    """Draws the time per key of uniform keys, divided into phases."""
    lines = [line for line in read(folder) if (line["input"], line["order"]) == ("uniform", "ascending")]
    with plot.drawing(7.2, 0.9 + 0.21 * len(lines), stem, formats) as (figure, axes):
        plot.entitle(figure, f"Milliseconds per {plot.count_text(PER)} uniform keys, and keys per second")
        words = ["A bar for each sort, divided into its phases"]
        for y, line in enumerate(lines):
            left = 0.0
            for phase, colour in PHASES.items():
                width = line[f"{phase}_ms"] * PER / line["n"]
                name = WORDS.get(phase, phase) if not y else ""
                axes.barh(y, width, left=left, height=0.66, color=colour, edgecolor=plot.PAPER, label=name)
                left += width
            name = f"{plot.count_text(line['n'])} keys, {line['gpus']} GPU{'s' * (line['gpus'] > 1)}"
            plot.write(axes, 0, y, name, -92)
            plot.write(axes, left, y, plot.rate_text(line["keys_per_s"]), 5)
            parts = (f"{WORDS.get(phase, phase)} {number(line[f'{phase}_ms'])} ms" for phase in PHASES)
            words.append(f"{name}: {', '.join(parts)}, {plot.rate_text(line['keys_per_s'])} keys per second")
        plot.bare(axes)
        axes.set_ylim(len(lines) - 0.5, -0.5)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncol=len(PHASES), frameon=False, fontsize=8.5, borderpad=0)
        figure.set_label("; ".join(words))
