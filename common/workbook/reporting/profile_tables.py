"""The profile in a report: what each kernel of each step does to memory, gathered once and kept beside the measurements."""

import json
import shutil
import time

from ..core import build, files, machine, table
from ..verbs import bench, profile
from ..core.terminal import Problem, Progress, note

# At most so many shapes of one kernel have a line each; more are put together.
SHAPES = 3


def in_one_line(problem):
    """What a problem says, in a line: the profiler's own error where it printed one."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()] or ["it said nothing"]
    told = next((line for line in lines if "==ERROR==" in line), None)
    return told.replace("==ERROR== ", "") if told else lines[0]


def gather(lab, kind, wanted, folder, fresh, solution, sizes, seconds):
    """What was profiled of a lab; None where nothing was. What the same programs did before is taken from the folder.

    wanted: the steps that run to their end; sizes: how many keys for "cuda" (Nsight Compute) and "check" (the check build).
    Gives {"source", "n", "why" (not Nsight Compute), "commit", "mark", "steps": {number: launches}}.
    """
    path = folder / "csv/profile.json"
    sources, why = (["cuda", "check"] if kind == "cuda" else ["check"]), ""
    for source in sources:
        try:
            return _gather(lab, source, wanted, path, fresh, solution, sizes[source], seconds, why)
        except build.CompileFailed:
            why = f"the {source} build does not compile"
        except Problem as problem:
            why = in_one_line(problem)
        note(f"no profile by {'Nsight Compute' if source == 'cuda' else 'the check build'}: {why}")
    return None


def _gather(lab, source, wanted, path, fresh, solution, n, seconds, why):
    runner = build.runner(lab, source, solution)
    build.compile_targets([build.judge(), runner], f"building {lab}")
    mark = bench.digest([runner, build.judge()], [source, n])
    found = {"source": source, "n": n, "why": why, "commit": machine.commit(), "mark": mark, "steps": {}}
    try:
        known = {} if fresh else json.loads(path.read_text())
        if known.get("mark") == mark and isinstance(known.get("steps"), dict):
            found = {**known, "why": why}
    except (OSError, ValueError, AttributeError):
        pass
    started = time.monotonic()
    missing = [number for number in wanted if str(number) not in found["steps"]]
    if missing and source == "cuda" and not shutil.which("ncu"):
        raise Problem("ncu is not here; it comes with the CUDA toolkit")
    with Progress(f"{lab}, profile") as progress:
        for place, number in enumerate(missing, 1):
            if time.monotonic() - started > seconds:
                note(
                    f"no profile of step {number}: the others have taken {seconds} s; the same command goes on from there"
                )
                continue
            progress.update(f"step {number}, {place} of {len(missing)}")
            try:
                launches = profile.launches_of(lab, number, n, ["--seed", "1"], source, solution)
            except Problem as problem:
                if source == "cuda" and not found["steps"]:
                    raise  # it will refuse the others as well
                note(f"no profile of step {number}: {in_one_line(problem)}")
                continue
            if not launches:
                continue
            found["steps"][str(number)] = launches_in_short(launches)
            files.write_whole(path, json.dumps(found, indent=1) + "\n")
    return found if found["steps"] else None


def launches_in_short(launches):
    """A line for each kernel and shape, or for each kernel where it has many shapes."""
    groups = profile.gathered(launches)
    for group in groups:
        group["blocks_in_all"] = _product(group["grid"]) * group["launches"]
        group["warps_in_all"] = -(-_product(group["block"]) // 32) * group["blocks_in_all"]
    found = []
    for name in dict.fromkeys(group["kernel"] for group in groups):
        own = [group for group in groups if group["kernel"] == name]
        found += own if len(own) <= SHAPES else [_together(own)]
    return found


def _product(size):
    return size[0] * size[1] * size[2]


def _together(groups):
    """Shapes of one kernel as one: the counts of all, the rest of the largest."""
    largest = max(groups, key=lambda group: group["warps_in_all"] / group["launches"])
    one = dict(largest, shapes=len(groups))
    for name in {name for group in groups for name in group}:
        if name in ("time_ns", "barriers", "launches") or name.endswith(
            ("requests", "wavefronts", "sectors", "_in_all")
        ):
            one[name] = sum(group.get(name) or 0 for group in groups)
    return one


# --- the tables ---


def _whole(value):
    return "-" if value is None else f"{value:,.0f}"


def _kib(sectors):
    return table.grouped(sectors / 32) if sectors else "0"


def shape_cells(one):
    """Launches, and blocks and threads as a launch has them."""
    text = f"&lt;&lt;&lt;{profile.shape_text(one['grid'])}, {profile.shape_text(one['block'])}&gt;&gt;&gt;"
    return [_whole(one["launches"]), text + (f" and {one['shapes'] - 1} others" if one.get("shapes") else "")]


def launch_table(found, names, known):
    """(headings, rows): time, registers, shared memory, barriers and occupancy of each kernel.

    names: number -> the step's name; known: (number, kernel) -> {"registers", "static_shared"} that nvcc told.
    """
    rows = []
    for number, launches in _in_order(found):
        for one in launches:
            told = known.get((number, one["kernel"]), {})
            registers = one.get("registers")
            static = (
                one.get("static_shared_bytes")
                if found["source"] == "cuda" or not told.get("static_shared")
                else float(told["static_shared"])
            )
            barriers = None
            if one.get("barriers") is not None:
                barriers = one["barriers"] / one["warps_in_all"]  # each warp of a block comes to each of its barriers
            occupancy = one.get("occupancy_percent")
            rows.append(
                [
                    names.get(number, f"{number:02}"),
                    f"`{one['kernel']}`",
                    *shape_cells(one),
                    table.grouped(one["time_ns"] * 1e-6) if one.get("time_ns") is not None else "-",
                    _whole(registers) if registers is not None else told.get("registers") or "-",
                    _whole(static or 0),
                    _whole(one.get("dynamic_shared_bytes") or 0),
                    f"{barriers:.3g}" if barriers is not None else "-",
                    f"{occupancy if occupancy is not None else profile.occupancy_bound(one):.0f}",
                ]
            )
    return [
        "step",
        "kernel",
        "launches",
        "shape",
        "ms",
        "registers",
        "static, B",
        "dynamic, B",
        "barriers",
        "occupancy, %",
    ], rows


def memory_table(found, names):
    """(headings, rows): requests, wavefronts, sectors and bytes of each kernel."""
    rows = []
    for number, launches in _in_order(found):
        for one in launches:

            def total(*columns, one=one):
                return sum(one.get(column) or 0 for column in columns)

            sectors, ideal, used = profile.global_sectors(one)
            turns = profile.ideal_wavefronts(one)
            rows.append(
                [
                    names.get(number, f"{number:02}"),
                    f"`{one['kernel']}`",
                    _whole(total("shared_ld_requests", "shared_st_requests")),
                    _whole(total("shared_ld_wavefronts", "shared_st_wavefronts")),
                    _whole(turns),
                    _whole(total("shared_atomic_requests")),
                    _whole(total("global_ld_requests", "global_st_requests", "global_atomic_requests")),
                    _whole(sectors),
                    _kib(sectors),
                    _kib(ideal) if ideal else "-",
                    f"{used:.0f}" if used is not None else "-",
                ]
            )
    return [
        "step",
        "kernel",
        "shared requests",
        "wavefronts",
        "ideal",
        "shared atomics",
        "global requests",
        "sectors",
        "moved, KiB",
        "ideal, KiB",
        "used, %",
    ], rows


def _in_order(found):
    return sorted((int(number), launches) for number, launches in found["steps"].items())
