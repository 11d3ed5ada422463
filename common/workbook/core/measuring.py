"""Carries out sweeps: appends one row per measurement to a file, and skips what the file already has."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from . import machine, sweeps
from . import rows as row_files
from .console import Problem, Progress, Usage, note, significant, time_left
from .course import BUILD
from .judge_client import JudgeCannot, JudgeClient
from .judge_types import BUSY, KernelTime, Measurement, Quartiles, Step
from .rows import Row, RowFile
from .sweeps import Planned, Rival, Sweep

FOLDER = BUILD / "bench"
WIDE = 25  # percent of the median: above it, the middle half of the runs is too wide for the median to mean much


@dataclass(frozen=True)
class Machine:
    """What the rows of one runner have in common."""

    machine: str
    machine_id: str
    roof: float  # bytes per second of a copy; 0: unknown
    plausible_copy: float  # bytes per second that reported times are checked against; 0: not checked
    steps: tuple[Step, ...] = ()


class Programs:
    """The runners of one lab and build, of the gold standard and of peers, and the judge that times them."""

    def __init__(
        self, judge: JudgeClient, kind: str, runner: Path, gold: Path | None, peers: Sequence[Path] = ()
    ) -> None:
        self.judge, self.kind, self.runner, self.gold, self.peers = judge, kind, runner, gold, tuple(peers)
        self.commit = machine.commit()
        self._machines: dict[Path, Machine] = {}

    @property
    def all(self) -> tuple[Path, ...]:
        """The paths of all runners."""
        return (self.runner, *([self.gold] if self.gold else []), *self.peers)

    def machine(self, program: Path | None = None) -> Machine:
        """The machine as a runner describes it (default: the lab's). It is asked once."""
        if not self._machines:
            self._look()
        return self._machines[program or self.runner]

    def rivals(self) -> list[Rival]:
        """What steps are compared with."""
        return [Rival(path, self.machine(path).steps, path in self.peers) for path in self.all[1:]]

    def _look(self) -> None:
        found = {path: self.judge.runner(path, bandwidth=True) for path in self.all}
        own = found[self.runner]
        for path in self.peers:
            if found[path].on_gpu != own.on_gpu:
                where = "on a GPU" if own.on_gpu else "on the CPU"
                raise Usage(f"--peer {path} does not run {where}, where the {self.kind} build runs: leave it out")
        # No student's code runs in the gold standard's process: its bandwidth is to be trusted.
        copy = found[self.gold or self.runner].copy_bytes_per_second
        host = self.judge.host(bandwidth=not own.on_gpu)
        for path, info in found.items():
            self._machines[path] = Machine(
                f"{info.device}; {host.machine}" if info.on_gpu else host.machine,
                info.device_id if info.on_gpu else host.machine_id,
                copy if own.on_gpu else host.copy_bytes_per_second,
                copy,
                info.steps,
            )


@dataclass
class _Costs:
    """How long measurements took, to estimate how long the rest will take."""

    limit: float  # seconds that a measurement takes at most
    known: dict[tuple[str, str], dict[int, float]] = field(default_factory=dict)

    def remember(self, item: Planned, seconds: float) -> None:
        self.known.setdefault((item.case.lab, item.step.name), {})[item.size] = seconds

    def _scaled(self, known: dict[int, float], size: int) -> float:
        """What the same step took for this size, or in proportion for the next smaller (or the smallest) one."""
        near = max((other for other in known if other <= size), default=min(known))
        return min(known[near] * min(max(size / max(near, 1), 1.0), 1e3), self.limit)

    def of(self, item: Planned) -> float | None:
        """The estimate for a case: from its own step, else the average of its runner's steps. None: nothing is known,
        because the gold standard's times do not predict a student's."""
        own = self.known.get((item.case.lab, item.step.name))
        if own:
            return self._scaled(own, item.size)
        others = [self._scaled(known, item.size) for (lab, _), known in self.known.items() if lab == item.case.lab]
        return sum(others) / len(others) if others else None


@dataclass
class Result:
    """The result of a sweep."""

    rows: list[Row]
    path: Path
    ok: bool  # everything that a step supports was verified


class Sweeping:
    """One sweep in progress."""

    def __init__(self, programs: Programs, sweep: Sweep, path: Path, progress: Progress) -> None:
        self.programs, self.sweep, self.progress = programs, sweep, progress
        self.file = RowFile(path)
        self.rows = list(self.file.existing)
        self.costs = _Costs(sweep.limits.time_limit + sweep.timeout)
        self.wide: dict[str, int] = {}
        self.unwritten: dict[tuple[str, int, str], Measurement] = {}  # lines of the table that are not written yet
        self.ok = True
        self.started = time.monotonic()
        self.plan: list[Planned] = []

    def run(self) -> None:
        """Measures all that is missing."""
        self._check_machine()
        self._make_plan()
        left_out = 0
        for place, item in enumerate(self.plan):
            spent = time.monotonic() - self.started
            if self.sweep.budget and spent + (self.costs.of(item) or 0) > self.sweep.budget:
                left_out += 1
                continue
            self._measure(item, f"{place + 1} of {len(self.plan)}{self._time_left(place)}: {item.title()}")
        if left_out:
            self.progress.remark(
                f"left out: {left_out} of {len(self.plan)} measurements, because "
                f"{self.sweep.budget:g} s were not enough for all"
            )

    def _machine_id(self, program: Path | None = None) -> str:
        return self.sweep.machine_id or self.programs.machine(program).machine_id

    def _check_machine(self) -> None:
        for row in row_files.whole(self.rows):
            if row.machine_id != self._machine_id():
                raise Problem(
                    f"{self.file.path} has measurements of another machine ({row.machine_id}; this one is "
                    f"{self._machine_id()}): remove that file, or measure all of it again (--fresh)",
                    2,
                )

    def _make_plan(self) -> None:
        programs = self.programs
        lab = programs.judge.lab(self.sweep.lab)
        seed = random.SystemRandom().getrandbits(32) if self.sweep.seed is None else self.sweep.seed
        planned, left_out = sweeps.cases(lab, self.sweep, seed)
        for text in left_out:
            self.progress.remark(f"left out: {text}")
        done = {row_files.key(row) for row in row_files.whole(self.rows)}
        if done:
            self.progress.remark(f"resuming: {len(done)} measurements already exist")
        self.plan = [
            item
            for item in sweeps.with_gold(planned, programs.rivals(), self.sweep.only_gold)
            if row_files.key(item.row(programs.kind)) not in done
        ]
        if self.sweep.budget:
            self.plan = sweeps.smallest_first(self.plan)

    # --- one measurement ---

    def _measure(self, item: Planned, title: str) -> None:
        self.progress.update(title)
        known = item.line in self.unwritten
        started = time.monotonic()
        measured = self._measured(item)
        seconds = time.monotonic() - started
        if measured.status == "unsupported" and item.is_gold:
            return  # the step's own row reports why
        machine_ = self.programs.machine(item.program)
        row = replace(
            item.row(self.programs.kind, self.programs.commit),
            status=measured.status,
            message=measured.message,
            repeats=measured.repeats,
            machine_id=self._machine_id(item.program),
            machine=machine_.machine,
            date=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        )
        if measured.status == "verified":
            added = self._verified_rows(item, row, measured, machine_)
            self.progress.line(f"{title} ... {_speed(row)} ({measured.repeats} runs)")
        else:
            added = [row]
            if not known:
                self._report_failure(item, title, measured)
        self.rows += added
        if measured.status != BUSY:  # the same command measures it again
            self.file.append(added)
        if measured.status != "unsupported":
            self.costs.remember(item, seconds)

    def _measured(self, item: Planned) -> Measurement:
        """The judge's measurement. The sweep continues if there are too many keys for this machine's memory."""
        if item.why_not:
            return Measurement("unsupported", item.why_not)
        if item.line in self.unwritten:  # as for every other n
            return self.unwritten[item.line]
        try:
            measured = self._ask(item)
        except JudgeCannot as error:
            return Measurement("unsupported", str(error))
        if measured.status == "not-written":
            self.unwritten[item.line] = measured
        return measured

    def _ask(self, item: Planned) -> Measurement:
        programs, sweep = self.programs, self.sweep
        return programs.judge.measure(
            item.program or programs.runner,
            item.case,
            sweep.limits,
            timeout=sweep.timeout,
            kernels=sweep.kernels and not item.is_gold,
            copy_bytes_per_second=programs.machine().plausible_copy,
        )

    def _verified_rows(self, item: Planned, row: Row, measured: Measurement, machine_: Machine) -> list[Row]:
        """The row of the step, filled in, then those of its copies and kernels."""
        times = Quartiles(measured.median_ms, measured.q1_ms, measured.q3_ms)
        _set_times(row, times)
        # (The roof of keys in host memory is the bus, whose rate is not measured; without a GPU it is that memory.)
        has_roof = machine_.roof > 0 and not (item.step.memory == "host" and self.programs.kind == "cuda")
        if has_roof:
            row.roof_gb_per_s = machine_.roof * 1e-9
        if times.median_ms > 0:
            rate = measured.minimum_bytes / (times.median_ms * 1e-3)
            row.gb_per_s = rate * 1e-9
            row.percent_of_roof = 100 * rate / machine_.roof if has_roof else None
            gold = None if item.is_gold else row_files.best_gold(self.rows, row)
            row.ratio = row_files.share_of_gold(row, gold)
            row.gold = gold.name if gold and row.ratio else ""
        if row.spread > WIDE:
            row.message = f"spread {row.spread:.6g} %"
            label = f"{row.lab} step {row.step} {row.name} n = {row.n}"
            self.wide[label] = self.wide.get(label, 0) + 1
        found = [row]
        if self.sweep.transfers and not item.is_gold:
            found += (
                _host_copy_rows(row, measured, item) if item.step.memory == "host" else _copy_rows(row, measured, item)
            )
        if self.sweep.kernels and not item.is_gold:
            found += [_kernel_row(row, kernel) for kernel in measured.kernels]
        return found

    def _report_failure(self, item: Planned, title: str, measured: Measurement) -> None:
        self.progress.line(f"{title} ... {measured.status}: {measured.message}")
        if measured.printed:
            note(f"--- the runner printed ---\n{measured.printed.rstrip()}\n---")
        if measured.status == "wrong" and not item.is_gold and measured.failed_seed is not None:
            note(f"again: {sweeps.replay(replace(item.case, seed=measured.failed_seed))}")
        if measured.status != "unsupported":
            self.ok = False

    # --- how long the rest will take ---

    def _time_left(self, place: int) -> str:
        left = 0.0
        for item in self.plan[place:]:
            if item.why_not:
                continue
            cost = self.costs.of(item)
            if cost is None:
                return ""
            left += cost
        if self.sweep.budget:  # it ends the sweep as surely as the last measurement does
            left = min(left, self.sweep.budget - (time.monotonic() - self.started))
        left = max(math.ceil(left), 1)
        return f", {time_left(left)}"

    def warn(self) -> None:
        """Warns about measurements that vary widely."""
        if self.wide:
            places = "; ".join(
                f"{row} ({times} measurements)" if times > 1 else row for row, times in self.wide.items()
            )
            note(
                f"warning: some measurements vary widely (the middle half of the runs by more than {WIDE} % of the "
                f"median): is the machine busy with something else? Affected: {places}"
            )


def _set_times(row: Row, times: Quartiles) -> None:
    row.median_ms, row.q1_ms, row.q3_ms = times.median_ms, times.q1_ms, times.q3_ms
    row.keys_per_s = row.n / (times.median_ms * 1e-3) if times.median_ms > 0 and row.n > 0 else None


def _speed(row: Row) -> str:
    rate = (row.keys_per_s or 0) / 1e6
    return f"{row.median_ms:.4f} ms, " + (
        f"{significant(rate / 1e3)} Gkeys/s" if rate >= 1e3 else f"{significant(rate)} Mkeys/s"
    )


def _part(whole: Row, name: str) -> Row:
    """A row below a measurement: the same as that one, without the times of the whole."""
    return replace(whole, kernel=name, gb_per_s=None, percent_of_roof=None, gold="", ratio=None, message="")


def _copy_row(whole: Row, name: str, times: Quartiles, bytes_: int) -> Row:
    row = _part(whole, name)
    _set_times(row, times)
    if times.median_ms > 0:
        row.gb_per_s = bytes_ / (times.median_ms * 1e6)
    return row


def _copy_rows(whole: Row, measured: Measurement, item: Planned) -> list[Row]:
    """The rows of the copies before and after a sort in device memory."""
    bytes_ = sweeps.input_bytes(item.case)
    times = (measured.to_device, measured.to_host)
    return [_copy_row(whole, name, copy, bytes_) for name, copy in zip(row_files.TRANSFERS, times)]


def _host_copy_rows(whole: Row, measured: Measurement, item: Planned) -> list[Row]:
    """The rows of pinning, and of the copies that a sort of host memory makes, alone."""
    bytes_ = sweeps.input_bytes(item.case)
    if item.case.pageable:  # nothing is pinned, and copies in both directions do not overlap
        return []
    found = [_copy_row(whole, row_files.PINNING, measured.to_device, bytes_)]
    trips = item.step.round_trips
    if trips:
        times = Quartiles(*(trips * time for time in astuple(measured.to_host)))
        row = _copy_row(whole, row_files.COPIES_ALONE, times, trips * bytes_)  # in each direction
        row.launches = trips
        found.append(row)
    return found


def _kernel_row(whole: Row, kernel: KernelTime) -> Row:
    row = _part(whole, kernel.name)
    median = kernel.median_ms if kernel.median_ms is not None else kernel.milliseconds or 0.0
    _set_times(row, Quartiles(median, kernel.q1_ms or median, kernel.q3_ms or median))
    row.repeats = kernel.repeats if kernel.repeats is not None else whole.repeats
    row.launches, row.grid, row.block = kernel.launches, kernel.blocks, kernel.threads
    row.dynamic_shared = kernel.dynamic_shared
    row.static_shared = kernel.static_shared if (kernel.static_shared or 0) >= 0 else None
    row.registers = kernel.registers if (kernel.registers or 0) >= 0 else None
    return row


# --- one file, resumed ---


def run(what: str, programs: Programs, sweep: Sweep, path: Path, warn: bool = True, brief: bool = False) -> Result:
    """Carries out a sweep. Rows are added to those in `path`; measurements that it has already are not repeated.

    An interruption keeps the rows written so far. `brief`: where there is no bar, one line for the whole sweep.
    """
    with Progress(what, brief) as progress, machine.ClockWatch(programs.kind == "cuda") as clocks:
        sweeping = Sweeping(programs, sweep, path, progress)
        sweeping.run()
    if warn and not brief:
        sweeping.warn()
    if clocks.reasons:
        note(
            f"warning: the GPU lowered its clocks during the sweep ({', '.join(sorted(clocks.reasons))}): "
            "the times are longer than they should be"
        )
    return Result(sweeping.rows, path, sweeping.ok)
