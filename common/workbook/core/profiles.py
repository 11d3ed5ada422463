"""What each kernel does to memory: launches counted by Nsight Compute or by the check build, and their costs."""

from __future__ import annotations

import contextlib
import csv
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import build
from .console import Problem, Usage, note
from .judge_client import JudgeClient
from .judge_types import Budget, Case, Outcome

Launch = dict  # one launch's counts by name, "kernel", "grid" and "block" among them

# The counts of a launch, and where Nsight Compute keeps them (names of sm_70 and later). Counts are of warps'
# instructions ("requests"), of passes through shared memory ("wavefronts") and of 32-byte sectors. Where two metrics
# are named, they are added.
COUNTERS = {
    "shared_ld_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_ld_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_st_requests": "smsp__inst_executed_op_shared_st.sum",
    "shared_st_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_atomic_requests": "smsp__inst_executed_op_shared_atom.sum",
    "global_ld_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_ld_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_st_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_st_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "global_atomic_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum "
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "global_atomic_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum "
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
}
FACTS = {
    "time_ns": "gpu__time_duration.sum",
    "registers": "launch__registers_per_thread",
    "static_shared_bytes": "launch__shared_mem_per_block_static",
    "dynamic_shared_bytes": "launch__shared_mem_per_block_dynamic",
    "driver_shared_bytes": "launch__shared_mem_per_block_driver",
    "configured_shared_bytes": "launch__shared_mem_config_size",
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
# For these, the kernel's instructions are counted one by one, which takes longer.
BY_INSTRUCTION = {
    "shared_ideal_wavefronts": "memory_l1_wavefronts_shared_ideal",
    "global_ideal_sectors": "memory_l2_theoretical_sectors_global_ideal",
    "barriers": "sass__inst_executed_per_opcode",  # those of BAR
}
# Limits of a multiprocessor of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications").
WARPS, BLOCKS, SHARED, RESERVED = 64, 32, 228 << 10, 1 << 10
TIMEOUT = 600.0  # seconds for a step under a profiler
COSTS = {
    "conflicts": "wavefronts in shared memory for each one needed without bank conflicts",
    "sectors": "sectors of global memory for each one needed if every byte of a sector were used",
    "bytes": "bytes of global memory moved per key",
    "barriers": "barriers per block",
    "span": "requests on the critical path for 1,000 keys",
}
# Of global memory, two kinds of bytes are counted. Threads use those that they read or write. Moved are all bytes of
# the sectors that hold them, 32 for each. Texts name one or the other, and never bytes alone.
IN_SHORT = {
    "conflicts": "conflicts",
    "sectors": "sectors",
    "bytes": "bytes moved",
    "barriers": "barriers",
    "span": "span",
}


# --- Nsight Compute ---


def _number(text: str) -> float | None:
    try:
        return float(text.split("(")[0].replace(",", ""))
    except ValueError:
        return None


def _barriers(text: str) -> float | None:
    """How many BAR instructions are among "12,345 (BAR: 67; BRA: 89 ...)"; None if the instructions have no names."""
    if not re.search(r"\([^)]*[A-Z]", text):
        return None
    return float(sum(int(count.replace(",", "")) for count in re.findall(r"\bBAR\b[^:]*: *([\d,]+)", text)))


def _launch(row: Mapping[str, str]) -> Launch:
    launch: Launch = {
        "kernel": row["Kernel Name"],
        "process": row["Process ID"],
        "grid": [int(x) for x in row["Grid Size"].strip("()").split(",")],
        "block": [int(x) for x in row["Block Size"].strip("()").split(",")],
    }
    for name, metrics in {**COUNTERS, **FACTS, **BY_INSTRUCTION}.items():
        read = _barriers if name == "barriers" else _number
        values = [read(row[metric]) for metric in metrics.split() if row.get(metric)]
        if values and None not in values:
            launch[name] = sum(value for value in values if value is not None)
    if launch.get("shared_ideal_wavefronts"):  # Nsight Compute adds one for each atomic request
        launch["shared_ideal_wavefronts"] -= launch.get("shared_atomic_requests") or 0
    return launch


def read_ncu(text: str) -> list[Launch]:
    """The launches in the output of `ncu --csv --page raw --print-units base`, other lines left out."""
    lines = text.splitlines()
    head = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None:
        return []
    rows = csv.DictReader(line for line in lines[head:] if line.startswith('"'))
    return [_launch(row) for row in rows if (row.get("ID") or "").isdigit()]  # the others are the line of units


def ncu_command(by_instruction: bool) -> list[str]:
    """Nsight Compute with our metrics, to which a command is appended. Raises Problem if it is not installed."""
    ncu = shutil.which("ncu")
    if not ncu:
        raise Problem(
            "the profile of a GPU needs Nsight Compute (ncu), which comes with the CUDA toolkit; "
            "--build check profiles without it"
        )
    metrics = ",".join({**COUNTERS, **FACTS, **(BY_INSTRUCTION if by_instruction else {})}.values()).replace(" ", ",")
    options = "--clock-control none --target-processes all --csv --page raw --print-units base"
    details = ["--print-metric-instances", "details"] if by_instruction else []
    return [ncu, *options.split(), "--print-kernel-base", "function", *details, "--metrics", metrics]


@contextlib.contextmanager
def judge_under_ncu(by_instruction: bool = True) -> Iterator[tuple[JudgeClient, list[Launch]]]:
    """A judge whose runners are profiled, and the list that holds their launches after the context has ended."""
    launches: list[Launch] = []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.log"
        with JudgeClient(prefix=[*ncu_command(by_instruction), "--log-file", str(log)]) as judge:
            yield judge, launches
            judge.finish()
        text = log.read_text(errors="replace") if log.exists() else ""
        launches += read_ncu(text)
        if not launches and "==ERROR==" in text:
            raise Problem("ncu profiled nothing:\n" + "\n".join(text.splitlines()[-8:]))


# --- one sort ---


def _check_outcome(outcome: Outcome) -> None:
    """Raises Usage if the step cannot run this case. Prints a note if the run was faulty."""
    if outcome.status == "not-written":
        raise Usage(outcome.message)
    if outcome.status == "unsupported":
        raise Usage(f"unsupported: {outcome.message}")
    faults = [f"{finding.file}:{finding.line}: {finding.kind}" for finding in outcome.findings[:1]]
    if outcome.status != "verified" or faults:
        note(
            f"{''.join(faults) or 'the step fails this case'}: the counts are those of a faulty run; "
            "./workbook check explains it"
        )


def launches_of(judge: JudgeClient, case: Case, kind: str, solution: bool) -> list[Launch]:
    """Profiles one sort on the build `kind`, "check" or "cuda", whose programs exist."""
    runner = build.runner(case.lab, kind, solution)
    if kind == "check":
        outcome = judge.run(runner, case, timeout=TIMEOUT)
        _check_outcome(outcome)
        return named_as_by_ncu(outcome.launches)
    with judge_under_ncu() as (profiled, launches):
        _check_outcome(profiled.run(runner, case, timeout=TIMEOUT))
    return launches


def named_as_by_ncu(launches: Iterable[Launch]) -> list[Launch]:
    """The check build's launches with kernels named as Nsight Compute names them: without namespaces and types."""
    return [{**launch, "kernel": launch["kernel"].split("<")[0].split("::")[-1]} for launch in launches]


# --- what follows from the counts ---


def gathered(launches: Iterable[Launch]) -> list[Launch]:
    """Launches of one kernel and shape together, in order of first appearance: counts added, and their number."""
    groups: dict[Any, Launch] = {}
    for launch in launches:
        key = (launch["kernel"], tuple(launch["grid"]), tuple(launch["block"]))
        group = groups.get(key)
        if group is None:
            groups[key] = dict(launch, launches=1)
            continue
        group["launches"] += 1
        for name, value in launch.items():
            if name in ("time_ns", "barriers", "span") or name.endswith(("requests", "wavefronts", "sectors")):
                group[name] = (group.get(name) or 0) + (value or 0)
    return list(groups.values())


def warps_per_block(launch: Launch) -> int:
    """Warps of a block of this launch."""
    x, y, z = launch["block"]
    return int(-(-x * y * z // 32))


def occupancy_bound(launch: Launch) -> float:
    """The most warps of a multiprocessor, in percent, that blocks of this size and shared memory can occupy."""
    warps = warps_per_block(launch)
    shared = (launch.get("static_shared_bytes") or 0) + (launch.get("dynamic_shared_bytes") or 0) + RESERVED
    blocks = min(BLOCKS, WARPS // warps, SHARED // shared)
    return float(100 * blocks * warps / WARPS)


def _sum(launch: Launch, *names: str) -> float:
    return sum(launch.get(name) or 0 for name in names)


def ideal_wavefronts(launch: Launch) -> float:
    """Of shared loads and stores; Nsight Compute reports one number for both, the check build one for each."""
    return _sum(launch, "shared_ideal_wavefronts", "shared_ld_ideal_wavefronts", "shared_st_ideal_wavefronts")


def global_sectors(launch: Launch) -> tuple[float, float, float | None]:
    """(sectors moved, atomics included; the ideal; percent of the moved bytes that are used, or None)"""
    moved = _sum(launch, "global_ld_sectors", "global_st_sectors", "global_atomic_sectors")
    ideal = _sum(
        launch,
        "global_ideal_sectors",
        "global_ld_ideal_sectors",
        "global_st_ideal_sectors",
        "global_atomic_ideal_sectors",
    )
    # Nsight Compute's ideal counts lanes that read the same word as if each read a different word.
    return moved, ideal, min(100, 100 * ideal / moved) if ideal and moved else None


def costs(launches: Sequence[Launch], n: int, copied_bytes: int = 0) -> dict[str, float]:
    """The costs that budgets name, over all launches of one sort of n keys and the copies within the device; and
    "used", the bytes of global memory per key that threads and copies read or write."""

    def total(*names: str) -> float:
        return sum(_sum(launch, *names) for launch in launches)

    def ratio(a: float, b: float) -> float:
        return a / b if b else 0.0

    blocks = sum(launch["grid"][0] * launch["grid"][1] * launch["grid"][2] for launch in launches)
    sectors = total("global_ld_sectors", "global_st_sectors")
    requests = (f"{space}_{way}_requests" for space in ("shared", "global") for way in ("ld", "st", "atomic"))
    return {
        "work": ratio(1000 * total(*requests), n),
        "conflicts": ratio(
            total("shared_ld_wavefronts", "shared_st_wavefronts"),
            total("shared_ld_ideal_wavefronts", "shared_st_ideal_wavefronts"),
        ),
        "sectors": ratio(sectors, total("global_ld_ideal_sectors", "global_st_ideal_sectors")),
        "bytes": ratio(32 * sectors + copied_bytes, n),
        "used": ratio(total("global_ld_bytes", "global_st_bytes") + copied_bytes, n),
        "barriers": ratio(sum(launch["barriers"] / warps_per_block(launch) for launch in launches), blocks),
        "span": ratio(1000 * total("span"), n),  # launches wait for one another
    }


def against_budget(counted: Mapping[str, float], budget: Budget) -> dict[str, tuple[float, float]]:
    """{cost: (counted, allowed)} of the costs that the budget checks."""
    return {name: (counted[name], getattr(budget, name)) for name in COSTS if getattr(budget, name)}


def shape_text(size: Iterable[int]) -> str:
    """64x2 for [64, 2, 1]."""
    sizes = list(size)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return "x".join(map(str, sizes))
