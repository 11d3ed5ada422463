"""Step 04 of lab 06 on several GPUs: the program that runs there, and the simulation of many more."""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import build, course, machine, nccl, sweeps
from . import rows as row_files
from .console import Problem, Usage, count, ending, note, significant, table
from .course import ROOT, StepFile, require_solutions, shown
from .options import whole

LAB, STEP = "06-beyond-memory", 4
MOST_GPUS = 4096
MOST_SIMULATED_KEYS = 1 << 16  # per GPU: 4096 GPUs have 1 GiB of keys then
MERGED_RUNS = 8  # as many runs are merged in pairs; more are sorted again: max_merged_runs in the lab's runs.cuh
PARTS, PART_KEYS = 8, 1 << 25  # of the exchange, the most parts and the fewest keys per part: parts_for() in parts.h
KEY_BYTES, SAMPLE_BYTES = 4, 16  # of a std::uint32_t; of a Splitter in the lab's exchange.h
USUAL_SHARE = 1 << 32  # keys per GPU that times are predicted for
Line = dict[str, Any]  # what the programs print
# Arguments of `run` that mean something for several GPUs; "verb" and "parser" are those of the command line.
USED = (
    "verb",
    "parser",
    "lab",
    "step",
    "n",
    "input",
    "order",
    "seed",
    "solution",
    "timeout",
    "gpus",
    "simulate",
    "rates",
)

RESULTS = ROOT / "reports/results"


@dataclass(frozen=True)
class Rates:
    """What the predictions assume of a machine. Rates are in GB/s, but the sort's, which is in Gkeys/s."""

    sort: float
    memory: float = 4243.64  # what a copy in the memory of an H200 reads and writes (roof_gb_per_s in reports/results)
    link: float = 365.0  # NCCL's all-to-all of two H200 by NVLink, each way at once
    network: float = 50.0  # of each GPU: a port of 400 Gbit/s
    host: float = 8.0  # GPUs of one host, which NVLink connects


def _recorded_sort() -> float:
    """The rate of lab 05's record step on an H200, for the most uniform keys recorded."""
    try:
        usual = (course.records("05-radix")[0].name, "u32", "uniform", "", 0, 0)
        names = ("name", "type", "input", "kernel", "blocks", "threads")
        read = row_files.read(RESULTS / "h200/05-radix.csv")
        rows = [row for row in read if row_files.key(row, names) == usual]
        return (max(rows, key=lambda row: row.n).keys_per_s or 0) / 1e9
    except (Problem, ValueError, IndexError) as error:
        raise Problem(
            f"the rate of the record step in {shown(RESULTS)} cannot be read: give --rates sort=..."
        ) from error


def rates(words: Iterable[str]) -> Rates:
    """The rates that --rates gives, such as link=450; the others are those of H200s. Raises Usage."""
    given = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            given[name] = float(value)
        except ValueError:
            given[name] = math.nan
        if name not in Rates.__dataclass_fields__ or not 0 < given[name] < math.inf:
            names = ", ".join(Rates.__dataclass_fields__)
            raise Usage(f"--rates {word} is not a rate: give NAME=NUMBER above 0, where NAME is one of {names}")
    sort = given.pop("sort") if "sort" in given else _recorded_sort()
    return Rates(sort, **given)


@dataclass(frozen=True)
class Prediction:
    """Milliseconds of each phase, and the bytes that the busiest GPU sends and receives.

    `join` is what remains when all keys have arrived, because each part of them is joined while the next one is sent.
    """

    sort: float
    splitters: float
    exchange: float
    join: float
    sent: float
    received: float

    @property
    def total(self) -> float:
        """All phases in sequence."""
        return self.sort + self.splitters + self.exchange + self.join


def predict(line: Line, share: float, r: Rates) -> Prediction:
    """What a sort with `share` keys per GPU takes, if its shares are divided as in the simulation."""
    gpus, scale = line["gpus"], share / line["keys_per_gpu"]
    most = line["most_keys"] * scale
    sent, received = (line[name] * scale * KEY_BYTES for name in ("most_sent", "most_received"))
    outside = max(0.0, gpus - r.host) / (gpus - 1)  # the part of what a GPU sends that leaves its host
    busiest = max(sent, received)
    exchange = max(busiest * (1 - outside) / r.link, busiest * outside / r.network)
    samples = line["samples"] * SAMPLE_BYTES / (r.network if gpus > r.host else r.link)
    passes = math.ceil(math.log2(gpus))
    join = passes * most * 2 * KEY_BYTES / r.memory if gpus <= MERGED_RUNS else most / r.sort
    splitters = line["splitters_ms"] + samples / 1e6
    parts = max(1, min(PARTS, MOST_GPUS // gpus, int(share) // PART_KEYS))
    left = join / parts + max(0.0, join - exchange) * (1 - 1 / parts)
    return Prediction(share / r.sort / 1e6, splitters, exchange / 1e6, left / 1e6, sent, received)


def measured(input_name: str) -> Iterator[Line]:
    """The recorded runs on several GPUs: lines of the program, in reports/results/*/many-gpus.jsonl."""
    for path in sorted(RESULTS.glob("*/many-gpus.jsonl")):
        for text in path.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if line["gpus"] > 1 and line["n"] > 0 and line["input"] == input_name:
                yield line


def _gib(size: float) -> str:
    return significant(size / (1 << 30))


def simulation_table(lines: Sequence[Line], r: Rates) -> list[str]:
    """A row for each number of GPUs, and each measured run beside its prediction."""
    rows = []
    for line in lines:
        p = predict(line, USUAL_SHARE, r)
        speed = line["gpus"] * USUAL_SHARE / p.total / 1e6
        balance = line["most_keys"] / line["keys_per_gpu"]
        times = (p.sort, p.splitters, p.exchange, p.join, p.total, speed)
        rows.append([str(line["gpus"]), f"{balance:.3f}", _gib(p.sent), _gib(p.received), *map(significant, times)])
    headings = ["GPUs", "balance", "sent", "received", "sort", "splitters", "exchange", "join", "total", "Gkeys/s"]
    printed = [
        f"{count(lines[0]['keys_per_gpu'])} simulated keys per GPU, {lines[0]['input']}; balance: the fullest share by "
        "the average.",
        "Expected for 2^32 keys per GPU: GiB that the busiest GPU sends and receives, milliseconds, keys per second.",
        "",
        *table(headings, rows)[0],
    ]
    by_gpus = {line["gpus"]: line for line in lines}
    compared = [line for line in measured(lines[0]["input"]) if line["gpus"] in by_gpus]
    for line in compared:
        p = predict(by_gpus[line["gpus"]], line["n"] / line["gpus"], r)
        printed.append(
            f"{line['gpus']} x {line['gpu']}, {count(line['n'])} keys in all: predicted {significant(p.total)} ms "
            f"(exchange {significant(p.exchange)}), measured {significant(line['total_ms'])} ms "
            f"(exchange {significant(line['exchange_ms'])})"
        )
    if not compared:
        printed.append("No run on several GPUs with this input is recorded in reports/results.")
    return printed


# --- the command ---


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `run` for this step."""
    many = parser.add_argument_group("step 4 of lab 06, on many GPUs")
    one = many.add_mutually_exclusive_group()
    one.add_argument(
        "--gpus",
        type=whole("--gpus", 1, MOST_GPUS),
        metavar="G",
        help="sort on G GPUs of this machine, by NCCL; --n: keys in all (default: 2^28)",
    )
    one.add_argument(
        "--simulate",
        type=whole("--simulate", 2, MOST_GPUS),
        metavar="G",
        help="divide keys among 2, 4, ... G simulated GPUs; --n: keys per GPU (default: 2^14)",
    )
    many.add_argument(
        "--rates",
        nargs="+",
        default=[],
        metavar="NAME=RATE",
        help="what --simulate assumes of the GPUs: sort (Gkeys/s), memory, link, network (GB/s), host (GPUs per host)",
    )


def wanted(arguments: argparse.Namespace) -> bool:
    """Whether the options ask for several GPUs. Raises Usage for --rates alone."""
    if arguments.rates and arguments.simulate is None:
        raise Usage("--rates needs --simulate")
    return arguments.gpus is not None or arguments.simulate is not None


def _check_arguments(arguments: argparse.Namespace, step: StepFile) -> None:
    name = "--gpus" if arguments.gpus is not None else "--simulate"
    if (step.lab, step.number) != (LAB, STEP):
        raise Usage(f"{name} is for step {STEP} of lab {LAB}: ./workbook run {LAB} {STEP} {name} ...")
    if wrong := [other for other, value in vars(arguments).items() if value and other not in USED]:
        raise Usage(f"--{wrong[0].replace('_', '-')} cannot be used with {name}")
    if arguments.simulate is not None and arguments.order == "descending":
        raise Usage("--simulate divides keys in ascending order: leave out --order")


def _program(name: str, solution: bool) -> Path:
    return build.folder() / "labs" / LAB / "many_gpus" / f"{name}{'-solution' if solution else ''}"


def _keys(arguments: argparse.Namespace) -> list[str]:
    return ["--input", arguments.input or "uniform", "--seed", str(1 if arguments.seed is None else arguments.seed)]


def _lines_of(command: Sequence[str], timeout: float | None) -> Iterator[Line]:
    """Runs a program, and returns the lines of JSON as it prints them. Its messages go to standard error."""
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, cwd=ROOT) as process,
        ending(process),
    ):
        for text in process.stdout or ():
            if text.startswith("{"):
                yield json.loads(text)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Problem(f"it takes longer than {timeout} s") from None
    if status:
        raise Problem(f"{Path(command[0]).name} failed with status {status}; what it reported is above")


def _simulate(arguments: argparse.Namespace) -> int:
    assumed = rates(arguments.rates)
    per_gpu = sweeps.number(arguments.n, "--n") if arguments.n is not None else 1 << 14
    if not 1 <= per_gpu <= MOST_SIMULATED_KEYS:
        raise Usage(f"--n {arguments.n}: simulated GPUs have 1 to {MOST_SIMULATED_KEYS} keys each")
    build.ensure()
    if "cpu" not in build.kinds():
        raise Problem("the simulation needs the cpu build: ./workbook doctor explains what it lacks")
    program = _program("simulate-gpus", arguments.solution)
    build.compile_targets([program], "building the simulation")
    command = [str(program), "--gpus", str(arguments.simulate), "--per-gpu", str(per_gpu), *_keys(arguments)]
    lines = list(_lines_of(command, arguments.timeout))
    print("\n".join(simulation_table(lines, assumed)))
    return 0


def lacking() -> list[str]:
    """What this machine lacks for the program on several GPUs, and what to do about each."""
    found = []
    if not shutil.which("nvcc"):
        found.append("nvcc: install the CUDA toolkit, 12 or later")
    if not shutil.which("mpirun") or not shutil.which("mpicxx"):
        found.append("MPI: apt-get install libopenmpi-dev openmpi-bin")
    if not nccl.wheel() and not machine.has_header("nccl.h"):
        found.append("NCCL: pip install nvidia-nccl-cu13, or apt-get install libnccl-dev")
    return found


def _mpirun(gpus: int) -> list[str]:
    command = ["mpirun", "-n", str(gpus)]
    if "Open MPI" in (machine.answer("mpirun", "--version") or ""):
        # NCCL's threads need more cores than the one that Open MPI would give to a process. And it refuses to run as
        # root, as in a container, unless told otherwise.
        command += ["--bind-to", "none"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
    return command


def _result_table(line: Line) -> list[str]:
    phases = ("sort", "splitters", "exchange", "join", "total")
    rows = [[phase, significant(line[f"{phase}_ms"])] for phase in phases]
    if "cub_ms" in line:
        rows.append(["CUB", significant(line["cub_ms"])])
    return [
        f"{count(line['n'])} keys, {line['input']}, {line['order']}, on {line['gpus']} x {line['gpu']}: verified",
        "",
        *table(["phase", "ms"], rows)[0],
        "",
        f"{significant(line['keys_per_s'] / 1e9)} Gkeys/s; {line['nccl_share']:.1%} of the time in NCCL {line['nccl']}",
        f"The fullest share has {line['balance']:.4f} times the average. "
        f"No GPU sent more than {_gib(line['bytes_sent'])} GiB.",
    ]


def _run(arguments: argparse.Namespace) -> int:
    n = sweeps.number(arguments.n, "--n") if arguments.n is not None else 1 << 28
    if lacks := lacking():
        raise Problem("step 4 cannot run on several GPUs, because this machine lacks:\n  " + "\n  ".join(lacks))
    gpus = machine.gpus()
    if len(gpus) < arguments.gpus:
        raise Problem(f"--gpus {arguments.gpus}: {len(gpus) or 'no'} GPU{'s answer' if len(gpus) != 1 else ' answers'}")
    build.ensure()
    program = _program("many-gpus", arguments.solution)
    if program.name not in build.targets():
        raise Problem("build/ was set up without MPI or NCCL: remove it (rm -rf build) and run the command again")
    build.compile_targets([program], "building the program for many GPUs")
    command = [*_mpirun(arguments.gpus), str(program), "--n", str(n), "--order", arguments.order or "ascending"]
    command += _keys(arguments)
    (line,) = _lines_of(command, arguments.timeout)
    print("\n".join(_result_table(line)))
    kept = build.folder() / "bench" / "many-gpus.jsonl"
    kept.parent.mkdir(exist_ok=True)
    with open(kept, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    note(f"added to {kept}")
    return 0


def main(arguments: argparse.Namespace, step: StepFile) -> int:
    """Runs the step on several GPUs, real or simulated."""
    _check_arguments(arguments, step)
    require_solutions(arguments.solution)
    return _run(arguments) if arguments.gpus is not None else _simulate(arguments)
