"""What is measured: every sweep over sizes, launch shapes, inputs, value ranges and key types is defined here.

measuring.py carries sweeps out. bench, demo, report and the presets choose among them.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .console import Usage
from .judge_types import IN_PLACE, Case, Lab, Limits, Step
from .rows import Row, key

Shape = tuple  # (blocks, threads per block); 0: the step chooses


class Misfit(Usage):
    """A file does not hold whole keys of a type."""


STEP_CHOOSES: Shape = (0, 0)
GRID = tuple((blocks, threads) for blocks in (1, 4, 16, 64, 256, 1024) for threads in (32, 64, 128, 256, 512, 1024))
FEW_SHAPES: tuple[Shape, ...] = ((1, 32), (1, 256), (4, 256), (16, 16), (64, 64), (256, 256), (1024, 1024))
REPORT_SIZES = (1000, 10_000, 100_000)
RANGES = tuple(f"range:0:{2**bits - 1}" for bits in (4, 8, 12, 16, 20, 24))
SHAPED_RANGES = RANGES[0], RANGES[2], RANGES[3]
# u32 keys from 0 to 65,535, for steps that count values: beside uniform keys in the comparison of all labs.
COUNTED_INPUT, COUNTED_WORDS = RANGES[3], "keys to compare with other labs"
DEFAULT_N = 1 << 20
# As much device memory as the keys occupy, or as a step needs: less than half of what sorting them at once would take,
# so that steps that sort host memory work in about seven pieces, for any n.
AS_KEYS = -1
BENCH_SIZES = {"cpu": (1 << 10, 1 << 14, 1 << 18), "cuda": (1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26)}
_KEY_BYTES = {"u8": 1, "u16": 2, "u32": 4, "i32": 4, "f32": 4, "u64": 8, "i64": 8, "f64": 8, "pairs": 4}


@dataclass(frozen=True)
class Sweep:
    """Every combination of these for the steps of one lab."""

    lab: str
    name: str = ""  # what varies, as part of a file's name
    words: str = ""  # the same, for a sentence
    steps: tuple[int, ...] = ()  # empty: all
    n: tuple[int, ...] = ()  # empty: as many as a step or an input file allows
    inputs: tuple[str, ...] = ()  # empty: uniform, or few values for a step with a counter per value
    types: tuple[str, ...] = ()  # empty: the lab's own
    orders: tuple[str, ...] = ("ascending",)
    shapes: tuple[Shape, ...] = (STEP_CHOOSES,)
    memory: tuple[int, ...] = (0,)  # bytes of device memory for steps that sort host memory; 0: nearly all; or AS_KEYS
    pageable: bool = False  # host memory is not pinned for such steps
    limits: Limits = field(default_factory=Limits)
    seed: int | None = None  # None: a fresh one
    timeout: float = 20  # seconds that a step may take
    budget: float = 0  # seconds after which no measurement begins; 0: no limit
    kernels: bool = False  # rows for each kernel
    transfers: bool = False  # rows for the copies to the device and back
    only_gold: bool = False
    machine_id: str = ""  # empty: the machine's own

    def missing(self, lab: Lab, rows: Iterable[Row]) -> str:
        """A sentence on what there was no time for; "" if nothing is missing."""
        measured = {_identity(row, bool(self.types)) for row in rows if row.lab == lab.name and not row.kernel}
        wanted = {
            (step.number, step.task, n, blocks, threads, name, type_name)
            for step in lab.steps
            if not self.steps or step.number in self.steps
            for n in self.n
            if step.max_n is None or n <= step.max_n
            for blocks, threads in shapes_of(step, self.shapes)
            for type_name in ([known for known in self.types if step.takes(known)] if self.types else [""])
            for name in self.inputs or (step.input_for(type_name or lab.type_of(step)),)
        }
        missing = wanted - measured
        if not missing:
            return ""
        sizes = ", ".join(f"{n:,}" for n in sorted({case[2] for case in missing}))
        steps = sorted({case[0] for case in missing})
        return (
            f"Left out for lack of time ({self.budget:g} s): {len(missing)} of {len(wanted)} measurements over "
            f"{self.words}, at n = {sizes}, {numbered(steps)}."
        )


def _identity(row: Row, with_type: bool) -> tuple[Any, ...]:
    type_name = row.type if with_type else ""
    return row.step, row.task, row.n, row.blocks, row.threads, row.input, type_name


def numbered(steps: Sequence[int]) -> str:
    """ "steps 01, 02" """
    return f"step{'s' * (len(steps) > 1)} {', '.join(f'{number:02}' for number in steps)}"


# --- reading what a person typed ---


def number(text: str, option: str = "") -> int:
    """65536 for "2^16" and "65536". Raises Usage if it is not a whole number."""
    match = re.fullmatch(r"(\d{1,18})(?:\^(\d{1,2}))?", text)
    value = int(match[1]) ** int(match[2] or 1) if match else -1
    if not 0 <= value < 1 << 63:
        what = f"{option} {text}" if option else text
        raise Usage(f"{what} is not a whole number from 0 on: give one, such as 1000, or a power as in 2^16")
    return value


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def memory_bytes(text: str, option: str = "--memory") -> int:
    """The bytes that an option means: "64M", "262144". Raises Usage if it is not an amount of memory."""
    match = re.fullmatch(r"(\d{1,12})([KMG]?)", text)
    if match and not int(match[1]):
        raise Usage(f"{option} {text} leaves no memory: give an amount as in 256K, 64M or 2G, or leave it out")
    if not match:
        raise Usage(f"{option} {text} is not an amount of memory: give a number of bytes, or one as in 256K, 64M or 2G")
    return int(match[1]) * _UNITS[match[2]]


def memory_text(count: int) -> str:
    """The inverse of memory_bytes()."""
    unit = max((unit for unit, size in _UNITS.items() if count % size == 0), key=_UNITS.__getitem__)
    return f"{count // _UNITS[unit]}{unit}"


def shapes(words: Iterable[str]) -> tuple[Shape, ...]:
    """The launch shapes that `--shapes` means: "64x256", or "grid"."""
    found: list[Shape] = []
    for word in words:
        if word == "grid":
            found += GRID
            continue
        match = re.fullmatch(r"(\d{1,9})x(\d{1,9})", word)
        if not match:
            raise Usage(
                f"--shapes {word} is not a launch shape: give blocks and threads per block as in 64x256, or grid"
            )
        found.append((int(match[1]), int(match[2])))
    return tuple(dict.fromkeys(found))


def file_inputs(names: Iterable[str]) -> tuple[str, ...]:
    """The inputs, with the paths of files made absolute. Raises Usage if a file cannot be read."""
    found = []
    for name in names:
        if name.startswith("file:"):
            path = os.path.abspath(os.path.expanduser(name[5:]))
            if os.path.isdir(path):
                raise Usage(f"{name[5:]} is a folder: name a file in it")
            if not os.path.isfile(path):
                raise Usage(f"no such file: {name[5:]}")
            if not os.access(path, os.R_OK):
                raise Usage(f"{name[5:]} cannot be read: check its permissions")
            name = f"file:{path}"
        found.append(name)
    return tuple(found)


# --- from a sweep to cases ---


@dataclass(frozen=True)
class Rival:
    """A program that steps are compared with: the gold standard's runner, or a peer (another library's runner)."""

    program: Path
    steps: Sequence[Step]
    peer: bool = False

    def named(self, step: Step) -> Step:
        """The step as rows name it: those of a peer with the name of its program, which others do not have."""
        return replace(step, name=f"{self.program.name} {step.name}") if self.peer else step


@dataclass(frozen=True)
class Planned:
    """A case to measure, with its line of the lab's table, or of the gold standard's."""

    case: Case
    step: Step
    why_not: str = ""  # why the case is impossible, as far as that is known before
    rival: Rival | None = None  # what is measured in place of the lab's step

    @property
    def is_gold(self) -> bool:
        """Whether a gold standard is measured, not a step."""
        return self.rival is not None

    @property
    def program(self) -> Path | None:
        """The program that is measured; None: the lab's runner."""
        return self.rival.program if self.rival else None

    @property
    def line(self) -> tuple[str, int, str]:
        """The line of the table."""
        return self.case.lab, self.case.step, self.step.name

    @property
    def size(self) -> int:
        """Keys or threads, whichever are more: without a GPU, idle threads cost as much."""
        return max(self.case.n, self.case.blocks * self.case.threads)

    def row(self, kind: str, commit: str = "") -> Row:
        """The row of its measurement, so far as it is known before."""
        case, step = self.case, self.step
        return Row(
            lab=case.lab,
            step=step.number,
            name=step.name,
            task=step.task,
            tile=step.tile,
            build=kind,
            type=case.type or "",
            order=case.order,
            input=case.input,
            seed=case.seed,
            n=case.n,
            blocks=case.blocks,
            threads=case.threads,
            memory=memory_column(step, case),
            commit=commit,
        )

    def title(self) -> str:
        """ "03-bitonic step 2 shared: 1000 u32 keys, uniform, ascending" """
        case = self.case
        keys = "" if case.type == "pairs" else " keys"
        whose = "peer" if self.rival and self.rival.peer else "gold standard"
        what = f"{whose} {self.step.name}" if self.is_gold else f"{case.lab} step {case.step} {self.step.name}"
        text = f"{what}: {case.n} {case.type}{keys}, {case.input}"
        if self.step.task in IN_PLACE:
            text += f", {case.order}"
        if case.blocks or case.threads:
            text += f", <<<{case.blocks or '*'}, {case.threads or '*'}>>>"
        if case.memory or case.pageable:
            text += f", memory {memory_column(self.step, case)}"
        return text


def memory_column(step: Step, case: Case) -> str:
    """What the column `memory` holds: "" for keys in device memory; else "64M" or "all", and whether it is pageable."""
    if step.memory != "host":
        return ""
    return (memory_text(case.memory) if case.memory else "all") + " pageable" * case.pageable


def replay(case: Case) -> str:
    """The command that runs exactly this case again."""
    text = f"./workbook run {case.lab} {case.step} --n {case.n} --input {case.input} --type {case.type}"
    text += f" --order {case.order}" if case.task in IN_PLACE else f" --task {case.task}"
    text += "".join(f" --{name} {value}" for name in ("blocks", "threads") if (value := getattr(case, name)))
    text += (f" --memory {memory_text(case.memory)}" if case.memory else "") + " --pageable" * case.pageable
    return f"{text} --seed {case.seed}"


def key_bytes(type_name: str) -> int:
    """Bytes of a key. Raises Usage for an unknown type."""
    if type_name not in _KEY_BYTES:
        raise Usage(f"unknown key type '{type_name}'; choose one of: {', '.join(_KEY_BYTES)}")
    return _KEY_BYTES[type_name]


def input_bytes(case: Case) -> int:
    """Bytes of the keys of a case, and of their values."""
    return case.n * (_KEY_BYTES[case.type or "u32"] + 4 * (case.type == "pairs"))


def cases(lab: Lab, sweep: Sweep, seed: int) -> tuple[list[Planned], list[str]]:
    """The cases of a sweep, and sentences on those left out because they would take too long."""
    planned: list[Planned] = []
    left_out: list[str] = []
    limited = sweep.memory not in ((0,), (AS_KEYS,)) or sweep.pageable
    if limited and not any(step.memory == "host" for step in lab.steps):
        raise Usage(f"the steps of {lab.name} sort keys in device memory: leave out --memory and --pageable")
    for order, wanted in itertools.product(sweep.orders, sweep.inputs or ("",)):
        for step, type_name in _lines(lab, sweep):
            input_name = wanted or step.input_for(type_name)
            sizes, why_not = sweep.n, ""
            if not sizes:
                try:
                    sizes = (default_n(step, input_name, type_name),)
                except Misfit as error:
                    sizes, why_not = (DEFAULT_N,), str(error)
            for n in sizes:
                if step.max_n is not None and n > step.max_n and len(sizes) > 1:
                    left_out.append(
                        f"{lab.name} step {step.number} for n = {n}, where it would take too long "
                        f"(its largest is {step.max_n})"
                    )
                    continue
                on_host = step.memory == "host"
                for (blocks, threads), memory in itertools.product(
                    shapes_of(step, sweep.shapes), sweep.memory if on_host else (0,)
                ):
                    case = Case(lab.name, step.number, n, step.task, type_name, order, input_name, seed)
                    case = replace(case, blocks=blocks, threads=threads)
                    if memory == AS_KEYS:
                        memory = max(input_bytes(case), step.min_device_bytes or 0)
                    case = replace(case, memory=memory, pageable=on_host and sweep.pageable)
                    planned.append(Planned(case, step, why_not))
    if not planned and left_out:
        raise Usage(f"nothing to measure. Left out: {left_out[0]}")
    return planned, left_out


def _lines(lab: Lab, sweep: Sweep) -> list[tuple[Step, str]]:
    """The lines of the table with the types to measure. A part of a step is left out for types that it does not take;
    a step gets a row that says so."""
    found = []
    for step in lab.steps:
        if sweep.steps and step.number not in sweep.steps:
            continue
        if not sweep.types:
            found.append((step, lab.type_of(step)))
        found += [(step, name) for name in sweep.types if step.task == "sort" or step.takes(name)]
    return found


def default_n(step: Step, input_name: str, type_name: str) -> int:
    """How many keys a case has if the user does not choose: all of a file, as far as the step takes them."""
    n = DEFAULT_N
    if input_name.startswith("file:"):
        path, size = input_name[5:], key_bytes(type_name)
        available = os.path.getsize(path)
        if not available:
            raise Usage(f"{path} is empty: it contains no keys")
        if available % size:
            raise Misfit(
                f"{path} has {available} bytes, which is not a multiple of the {size} bytes of a {type_name} key: "
                f"choose another --type, or sort only its first keys with --n {available // size} or less"
            )
        n = available // size
    return n if step.max_n is None else min(n, step.max_n)


def affordable_n(step: Step, input_name: str, type_name: str, kind: str) -> int:
    """The same for one run on a build: at most what the step sorts there in about a second. A file is sorted whole."""
    n = default_n(step, input_name, type_name)
    return n if input_name.startswith("file:") else min(n, step.affordable.on(kind))


def shapes_of(step: Step, wanted: Iterable[Shape]) -> tuple[Shape, ...]:
    """The launch shapes, with the block size of a step that takes only one."""
    return tuple(dict.fromkeys((blocks, threads and (step.threads or threads)) for blocks, threads in wanted))


def with_gold(planned: Iterable[Planned], rivals: Sequence[Rival], only_gold: bool) -> list[Planned]:
    """Each case after the gold standards and peers for the same keys; each measurement once. They may use all device
    memory, and host memory is pinned for them."""
    found: dict[tuple[Any, ...], Planned] = {}
    lines = [(rival, line) for rival in rivals for line in rival.steps]
    for item in planned:
        case, step = item.case, item.step
        possible = not item.why_not and step.takes(case.type or "") and (step.max_n is None or case.n <= step.max_n)
        wanted = []
        for rival, line in lines if possible else ():
            same_work = (line.task, line.tile, line.memory) == (step.task, step.tile, step.memory)
            in_time = line.max_n is None or case.n <= line.max_n
            if same_work and in_time and line.takes(case.type or ""):
                same = replace(case, lab="gold", step=line.number, blocks=0, threads=0, memory=0, pageable=False)
                wanted.append(Planned(same, rival.named(line), rival=rival))
        for each in (*wanted, *([] if only_gold else [item])):
            found.setdefault(key(each.row("")), each)
    return list(found.values())


def smallest_first(planned: Iterable[Planned]) -> list[Planned]:
    """For sweeps that may run out of time: the small cases of all steps first, gold still before its steps."""
    return sorted(planned, key=lambda item: (item.case.n, item.case.blocks * item.case.threads))
