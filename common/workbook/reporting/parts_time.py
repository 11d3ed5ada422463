"""Parts of a report about time: over n, of the parts of a sort, of copies and streams; and about its kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core import profiles, timelines
from ..core.console import grouped, significant
from ..core.profiles import Launch
from ..core.rows import COPIES, TRANSFERS, Row
from . import bars, host_copies, lines_over_n, step_charts, timeline
from .context import Context
from .selection import by_line, groups, is_power, line_of, milliseconds, powers, shape_of, speed, usual
from .tables import count, golds_for, number, over_n, paragraphs, pipe, shape_text


def n(report: Context) -> str:
    """Time and speed over n."""
    rows = [row for row in usual(report.rows) if row.build == report.kind]
    lines = {line: own for line, own in by_line(powers(rows), report.lab).items() if line[1] == "sort"}
    if not lines:
        return ""
    golds = golds_for(lines, report.rows)
    kinds = sorted({own[0].type for own in lines.values()})
    shares = any(row.ratio for own in lines.values() for row in own)
    return paragraphs(
        f"Uniform {' and '.join(kinds)} keys, ascending; each step chooses its launch shape.",
        report.figure(
            "speed",
            lines_over_n.speed_over_n,
            "Keys per second against the number of keys: all steps, the gold standard (dashed; dotted for "
            "sorts of tiles), and the limit of memory bandwidth: each key read and written once at the speed "
            "of a copy. (Data that fits into a cache can exceed it.)",
            rows,
        ),
        report.figure("time", lines_over_n.time_over_n, "Time of one sort against the number of keys.", rows),
        "In brackets: the speed in percent of the fastest gold standard's." * shares,
        over_n("median, ms", lines, golds, _time_and_share),
        report.figure(
            "gold",
            lambda rows, lab, stem: step_charts.gold_chart(step_charts.compared(rows, lab), stem),
            "The speed of each step in percent of the fastest gold standard's, at the largest n of the sweep.",
            rows,
        ),
        report.figure(
            "staircase",
            lambda rows, lab, stem: step_charts.staircases(step_charts.compared(rows, lab), stem),
            "The speed of each step as a multiple of that of the step before, at the largest n that both have.",
            rows,
        ),
        *report.not_measured("n"),
    )


def _time_and_share(row: Row) -> str:
    """0.114 (8.42 %)"""
    return number(row.median_ms) + (f" ({significant(100 * row.ratio)} %)" if row.ratio else "")


def speeds(report: Context) -> list[str]:
    """Tables over n of all steps and their parts: keys per second, and percent of memory bandwidth."""
    lines = by_line(powers([row for row in usual(report.rows) if row.build == report.kind]), report.lab)
    golds = golds_for(lines, report.rows)
    return [
        over_n("Mkeys/s", lines, golds, lambda row: grouped(speed(row) / 1e6)),
        over_n("% of memory bandwidth", lines, golds, lambda row: number(row.percent_of_roof)),
    ]


def parts(report: Context) -> str:
    """The parts that are not sorts, such as reduction and scan, each next to its gold standard if it has one."""
    rows = [row for row in usual(report.rows) if row.build == report.kind]
    lines = {line: own for line, own in by_line(powers(rows), report.lab).items() if line[1] != "sort"}
    if not lines:
        return ""
    golds = golds_for(lines, report.rows)
    return paragraphs(
        report.figure(
            "parts",
            lines_over_n.parts_over_n,
            "Values per second against their number: each part and its gold standard, if it has one.",
            rows,
        ),
        over_n("median, ms", lines, golds, lambda row: number(row.median_ms)),
    )


def kernel_rows(report: Context) -> list[Row]:
    """The rows of kernels, for uniform keys."""
    return [row for row in report.own() if row.kernel not in ("", *COPIES) and row.input == "uniform"]


def kernels(report: Context) -> str:
    """Each kernel's share of the time, where a step has several. (The appendix has times over launch shapes and n.)"""
    if not bars.of_several_kernels(report.rows, report.lab):
        return ""
    return paragraphs(
        report.figure(
            "kernels",
            bars.kernels,
            "The share of each kernel in the time of all kernels of a step, at the largest n of the sweep. (Kernels "
            "are timed in separate runs, which do not count in the times above. Steps of one kernel are left out.)",
        ),
        "The appendix has each kernel's time for all launch shapes.",
    )


def transfers(report: Context) -> str:
    """The copies, next to the sort itself."""
    rows = [row for row in report.own() if row.blocks == 0 and row.input == "uniform"]
    if any(row.memory for row in rows):
        return host_copies.paragraph(report.kind, [row for row in rows if is_power(row.n)])
    copies = [row for row in rows if row.kernel in TRANSFERS]
    if not copies:
        return ""
    last = max(copies, key=lambda row: (row.task == "sort", row.tile == 0, row.step))
    own = [row for row in rows if (row.step, row.name, row.type) == (last.step, last.name, last.type)]
    lines = []
    for size, some in sorted(groups(own, lambda row: row.n).items()):
        by_kernel = {row.kernel: row for row in some}
        if not {"", *TRANSFERS} <= by_kernel.keys():
            continue
        there, back, sort = by_kernel["to device"], by_kernel["to host"], by_kernel[""]
        total = sum(map(milliseconds, (there, back, sort)))
        lines.append(
            [
                count(size),
                number(there.median_ms),
                number(there.gb_per_s),
                number(back.median_ms),
                number(back.gb_per_s),
                number(sort.median_ms),
                f"{100 * (1 - milliseconds(sort) / total):.0f}" if total else "",
            ]
        )
    where = "pageable memory" if report.kind == "cuda" else "one part of the processor's memory to another"
    headings = ["n", "to the device, ms", "GB/s", "to the host, ms", "GB/s", "sort, ms", "copies, % of total"]
    return f"Step {last.label}, {last.type} keys; the copies go from {where}.\n\n" + pipe(headings, lines)


def timeline_of_steps(report: Context) -> str:
    """A figure per step, and how much of the time two or more kinds of work ran."""
    found = []
    for recorded in report.timelines:
        name = f"timeline-{recorded.step}"
        found += [
            report.plot(
                name,
                f"Step {recorded.step:02} {recorded.name}: its copies and kernels, stream by stream. Thin lines: "
                "the stream has reached a copy, which waits for another one in the same direction.",
                recorded,
                lambda stem, recorded=recorded: timeline.draw(recorded, stem),  # type: ignore[misc]
            ),
            f"Step {recorded.title(count(recorded.n))}. " + " ".join(timelines.sentences(recorded)),
        ]
    return paragraphs(*found)


Table = tuple[list[str], list[list[str]]]  # headings and rows


def profile(report: Context) -> str:
    """What each kernel does to memory; without a profile, the resources of its launches."""
    return _profile(report, report.profiled) if report.profiled else _launches(report)


def _names(report: Context) -> dict[int, str]:
    """Number -> a step's number and name."""
    return {step.number: f"{step.number:02} {step.name}" for step in report.steps if not step.part}


def _profile(report: Context, profiled: Mapping[str, Any]) -> str:
    names = _names(report)
    known = {(row.step, row.kernel): row for row in kernel_rows(report)}
    exact = profiled["source"] == "cuda"
    occupancy = "." if exact else " that its threads per block and shared memory allow at most."
    return paragraphs(
        f"One sort of {count(profiled['n'])} keys, {_source(report, profiled)}. Times are of all launches "
        "together; registers are per thread; static and dynamic shared memory (bytes) and barriers are per "
        "block, as is the driver's share; the configured size is the part of a multiprocessor's cache that "
        "serves as shared memory (known only to a GPU); occupancy is the share of a multiprocessor's "
        f"warps{occupancy} The appendix has the memory accesses.",
        pipe(*launch_table(profiled, names, known), left=2),
    )


def memory(report: Context) -> str:
    """What each kernel does to memory; "" without a profile."""
    if not report.profiled:
        return ""
    return paragraphs(
        f"One sort of {count(report.profiled['n'])} keys. A request is a memory instruction of one warp. In "
        "shared memory it takes one wavefront, or more if lanes access different words of one bank. Global "
        "memory moves data in sectors of 32 bytes; the ideal is the number of sectors needed if every byte of "
        "a sector is used. (Atomics on shared memory have their own column; those on global memory count "
        "among its requests.)",
        pipe(*memory_table(report.profiled, _names(report)), left=2),
    )


def _source(report: Context, profiled: Mapping[str, Any]) -> str:
    if profiled["source"] == "cuda":
        return "profiled by Nsight Compute"
    why_not = f" (not by Nsight Compute: {profiled['why']})" if profiled["why"] else ""
    registers = "; only nvcc knows the registers" * (report.kind == "cpu")
    return (
        "profiled by the check build, which counts what a GPU would do and measures the time of this processor"
        + why_not
        + registers
    )


# --- tables of a profile ---


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _kib(sectors: float) -> str:
    return grouped(sectors / 32) if sectors else "0"


def _kib_of(value: float | None) -> str:
    return "-" if value is None else grouped(value / 1024)


def _in_order(profiled: Mapping[str, Any]) -> list[tuple[int, list[Launch]]]:
    return sorted((int(step), launches) for step, launches in profiled["steps"].items())


def _shape(launch: Launch) -> str:
    text = shape_text((profiles.shape_text(launch["grid"]), profiles.shape_text(launch["block"])))
    return text + (f" and {launch['shapes'] - 1} others" if launch.get("shapes") else "")


def launch_table(profiled: Mapping[str, Any], names: Mapping[int, str], known: Mapping[tuple[int, str], Row]) -> Table:
    """Time, registers, shared memory, barriers and occupancy of each kernel.

    names: number -> the step's name; known: (number, kernel) -> a row with what nvcc reported.
    """
    headings = ["step", "kernel", "launches", "shape", "ms", "registers"]
    headings += ["static, B", "dynamic, B", "driver, B", "configured, KiB", "barriers", "occupancy, %"]
    rows = [
        [names.get(step, f"{step:02}"), *_launch_cells(profiled["source"], launch, known.get((step, launch["kernel"])))]
        for step, launches in _in_order(profiled)
        for launch in launches
    ]
    return headings, rows


def _launch_cells(source: str, launch: Launch, row: Row | None) -> list[str]:
    registers = launch.get("registers")
    if registers is None and row:
        registers = row.registers
    static = launch.get("static_shared_bytes")
    if source != "cuda" and row and row.static_shared:
        static = row.static_shared
    barriers = launch.get("barriers")
    occupancy = launch.get("occupancy_percent")
    return [
        f"`{launch['kernel']}`",
        _whole(launch["launches"]),
        _shape(launch),
        grouped(launch["time_ns"] * 1e-6) if launch.get("time_ns") is not None else "-",
        _whole(registers),
        _whole(static or 0),
        _whole(launch.get("dynamic_shared_bytes") or 0),
        _whole(launch.get("driver_shared_bytes", profiles.RESERVED if source != "cuda" else None)),
        _kib_of(launch.get("configured_shared_bytes")),
        f"{barriers / launch['warps_in_all']:.3g}" if barriers is not None else "-",  # each warp counts each barrier
        f"{profiles.occupancy_bound(launch) if occupancy is None else occupancy:.0f}",
    ]


def memory_table(profiled: Mapping[str, Any], names: Mapping[int, str]) -> Table:
    """Requests, wavefronts, sectors and bytes of each kernel."""
    headings = ["step", "kernel", "shared requests", "wavefronts", "ideal", "shared atomics", "global requests"]
    headings += ["sectors", "moved, KiB", "ideal, KiB", "used, %"]
    rows = [
        [names.get(step, f"{step:02}"), *_memory_cells(launch)]
        for step, launches in _in_order(profiled)
        for launch in launches
    ]
    return headings, rows


def _memory_cells(launch: Launch) -> list[str]:
    def total(*names: str) -> float:
        return sum(launch.get(name) or 0 for name in names)

    sectors, ideal, used = profiles.global_sectors(launch)
    return [
        f"`{launch['kernel']}`",
        _whole(total("shared_ld_requests", "shared_st_requests")),
        _whole(total("shared_ld_wavefronts", "shared_st_wavefronts")),
        _whole(profiles.ideal_wavefronts(launch)),
        _whole(total("shared_atomic_requests")),
        _whole(total("global_ld_requests", "global_st_requests", "global_atomic_requests")),
        _whole(sectors),
        _kib(sectors),
        _kib(ideal) if ideal else "-",
        f"{used:.0f}" if used is not None else "-",
    ]


# --- without a profile ---


def _launches(report: Context) -> str:
    """Shape, memory and registers of the largest launch of each kernel."""
    rows = [row for row in kernel_rows(report) if shape_of(row) == (0, 0)]
    if not rows:
        return ""
    largest: Sequence[Row] = [
        row for own in groups(rows, line_of).values() for row in own if row.n == max(other.n for other in own)
    ]
    lines = [
        [
            row.label,
            f"`{row.kernel}`",
            count(row.n),
            row.launches,
            f"{row.grid or 0:,}",
            row.block,
            "-" if row.static_shared is None else row.static_shared,
            row.dynamic_shared,
            "-" if row.registers is None else row.registers,
            number(row.median_ms),
        ]
        for row in sorted(largest, key=lambda row: (row.step, row.task != "sort"))
    ]
    unknown = "" if report.kind == "cuda" else " Only nvcc knows static shared memory and registers."
    headings = ["step", "kernel", "n", "launches", "blocks", "threads per block"]
    headings += ["static shared, B", "dynamic shared, B", "registers", "ms in all"]
    return (
        "The largest launch of each kernel, in the largest sort that was measured. Shared memory is in bytes per "
        f"block, registers are per thread.{unknown}\n\n" + pipe(headings, lines, left=2)
    )
