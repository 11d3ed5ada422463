"""What each kernel of a step does to memory: from Nsight Compute on a GPU, from the check build elsewhere."""

import argparse
import json
from collections.abc import Iterable
from dataclasses import replace

from ..core import build, files, profiles, sweeps, timelines
from ..core.console import Usage, note, wrapped
from ..core.course import StepFile, find_one, require_solutions
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Lab
from ..core.options import CASE, add, case_of, line_of
from ..core.profiles import Launch, global_sectors, ideal_wavefronts, occupancy_bound, shape_text, warps_per_block

PROFILED_KEYS = 1 << 16  # or fewer, if a step cannot afford as many


def _size(bytes_: float) -> str:
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if bytes_ >= scale:
            return f"{bytes_ / scale:.4g} {unit}"
    return f"{bytes_:.0f} B"


def _requests(launch: Launch, kind: str, unit: str) -> str:
    """ "128 requests, 2,048 sectors: 16.00 each" """
    requests, moved = launch.get(f"{kind}_requests") or 0, launch.get(f"{kind}_{unit}") or 0
    return f"{requests:,.0f} requests, {moved:,.0f} {unit}" + (f": {moved / requests:.2f} each" if requests else "")


def _resources(launch: Launch, source: str) -> Iterable[tuple[str, str]]:
    if launch.get("time_ns") is not None:
        yield "time", f"{launch['time_ns'] * 1e-6:.4g} ms" + ("" if source == "ncu" else " on the CPU")
    registers = launch.get("registers")
    yield "registers", f"{registers:.0f} per thread" if registers is not None else "known only to nvcc and the GPU"
    static, dynamic = launch.get("static_shared_bytes") or 0, launch.get("dynamic_shared_bytes") or 0
    yield "shared memory", f"{_size(static)} static, {_size(dynamic)} dynamic, per block"
    driver = launch.get("driver_shared_bytes", profiles.RESERVED if source != "ncu" else None)
    if driver is not None:
        yield "  driver", f"{_size(driver)} per block"
    configured = launch.get("configured_shared_bytes")
    yield "  configured", f"{_size(configured)} per multiprocessor" if configured is not None else "known only to a GPU"


def _shared(launch: Launch) -> Iterable[tuple[str, str]]:
    yield "shared loads", _requests(launch, "shared_ld", "wavefronts")
    yield "shared stores", _requests(launch, "shared_st", "wavefronts")
    if launch.get("shared_atomic_requests"):
        yield "shared atomics", f"{launch['shared_atomic_requests']:,.0f} requests"
    if ideal_wavefronts(launch):
        yield "  ideal", f"{ideal_wavefronts(launch):,.0f} wavefronts"


def _global(launch: Launch) -> Iterable[tuple[str, str]]:
    for label, kind in (("loads", "global_ld"), ("stores", "global_st"), ("atomics", "global_atomic")):
        requests = launch.get(f"{kind}_requests") or 0
        if kind != "global_atomic" or requests:
            moved = f", {_size(32 * (launch.get(f'{kind}_sectors') or 0))}" if requests else ""
            yield f"global {label}", _requests(launch, kind, "sectors") + moved
    _, ideal, used = global_sectors(launch)
    if used is not None:
        yield "  ideal", f"{ideal:,.0f} sectors, {_size(32 * ideal)}: {used:.0f} % of the bytes moved are used"


def _execution(launch: Launch) -> Iterable[tuple[str, str]]:
    if launch.get("barriers") is not None:
        blocks = launch["grid"][0] * launch["grid"][1] * launch["grid"][2] * launch["launches"]
        yield "barriers", f"{launch['barriers'] / (warps_per_block(launch) * blocks):.4g} per block"
    else:
        yield "barriers", "not reported by this ncu"
    occupancy = launch.get("occupancy_percent")
    yield (
        "occupancy",
        f"{occupancy:.0f} % of the warps that a multiprocessor can hold"
        if occupancy is not None
        else f"at most {occupancy_bound(launch):.0f} %, judging by threads and shared memory",
    )


def lines_of(launches: Iterable[Launch], source: str) -> list[str]:
    """The profile: a group of lines per kernel and shape, at most 80 columns wide."""
    lines: list[str] = []
    for launch in profiles.gathered(launches):
        many = f"{launch['launches']} launch{'es' * (launch['launches'] > 1)}"
        shape = f"<<<{shape_text(launch['grid'])}, {shape_text(launch['block'])}>>>"
        facts = [*_resources(launch, source), *_shared(launch), *_global(launch), *_execution(launch)]
        lines += ["", f"{launch['kernel']}   {many} of {shape}", "-" * 80]
        lines += [f"  {label:<16}{text}" for label, text in facts]
    return lines[1:]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    add(parser, "lab", "step", "--task", *CASE, "--memory", "--pageable", "--seed", "--solution")
    builds = ("check", "cuda")
    add(parser, "--build", choices=builds, help="the build to run (default: cuda if a GPU answers, else check)")
    parser.add_argument("--json", metavar="FILE", help="also write the launches to this file")


def _case(arguments: argparse.Namespace, lab: Lab, file: StepFile, kind: str) -> Case:
    step, case = case_of(arguments, lab, file)
    n = sweeps.number(arguments.n, "--n") if arguments.n else min(PROFILED_KEYS, step.affordable.on(kind))
    return replace(case, n=n)


def _overlap(judge: JudgeClient, case: Case, lab: Lab, file: StepFile, kind: str, solution: bool) -> list[str]:
    """How busy the bus and the device were, for a step that sorts host memory, in another run without the profiler."""
    line = line_of(lab, file, case.task)
    if line.memory != "host":
        return []
    plain = "cuda" if kind == "cuda" else "cpu"
    build.compile_targets([build.runner(lab.name, plain, solution)], f"building {lab.name}")
    return timelines.sentences(timelines.record(judge, case, line, plain, solution, profiles.TIMEOUT))


def main(arguments: argparse.Namespace) -> int:
    """The profile of one step."""
    lab, step = find_one(arguments.lab, arguments.step)
    require_solutions(arguments.solution)
    build.ensure()
    kind = arguments.build or ("cuda" if "cuda" in build.runnable() else "check")
    if arguments.input:
        (arguments.input,) = sweeps.file_inputs([arguments.input])
    build.compile_targets([build.judge(), build.runner(lab, kind, arguments.solution)], f"building {lab}")
    with JudgeClient() as judge:
        case = _case(arguments, judge.lab(lab), step, kind)
        launches = profiles.launches_of(judge, case, kind, arguments.solution)
        if not launches:
            raise Usage(f"{lab}, {step}: no kernel was launched, so there is nothing to profile")
        overlap = _overlap(judge, case, judge.lab(lab), step, kind, arguments.solution)
    source = "Nsight Compute" if kind == "cuda" else "check build: counts as on a GPU, times of this CPU"
    what = f"{step}" + (f", {case.task}" if arguments.task and not step.part else "")
    print(f"{lab} {what}{' (solution)' if arguments.solution else ''}, {case.n} keys, {source}\n")
    for line in lines_of(launches, "ncu" if kind == "cuda" else "check"):
        print(line)
    if overlap:
        print()
    for sentence in overlap:
        print(wrapped(sentence))
    if arguments.json:
        files.write_whole(arguments.json, json.dumps(launches, indent=1) + "\n")
        note(f"written: {arguments.json}")
    return 0
