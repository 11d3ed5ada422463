"""Presets of `bench`: one command for all that is recorded on a GPU, a short form of it, the record steps only, or a
grid of sizes, inputs and types in which they are compared with other libraries."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from . import build, machine, measuring, rows, running
from .console import Problem, note
from .course import BUILD, ROOT
from .judge_client import JudgeClient
from .judge_types import Lab, Limits
from .report_sweeps import grouped, that_sort
from .sweeps import AS_KEYS, COUNTED_INPUT, COUNTED_WORDS, FEW_SHAPES, GRID, RANGES, SHAPED_RANGES, Sweep

FOLDER = BUILD / "bench/record"
SIZES = tuple(1 << e for e in range(10, 29, 2))
LARGE_N = 1 << 25  # for key types
ORDER_SIZES = (1 << 16, 1 << 24)
INPUTS_N = 1 << 20
GRID_N = 1 << 18
HOST_SIZES = tuple(1 << e for e in range(16, 29, 2))  # for steps that sort host memory
SERIAL_N = 1 << 24  # the same for those in which one core does most of the work
MUCH_MEMORY = 16 << 30
KERNEL_SIZES = (1000, 10_000, 100_000, 4_000_000)
RECORD_SIZES = (*SIZES, 1 << 30)
RECORD_INPUTS_N = 1 << 26
RECORD_TYPES_N = (1 << 16, 1 << 20, 1 << 26)
# The grid of comparisons. More keys take the judge too long.
GRID_SIZES, LARGE_GRID_SIZES = (1 << 10, 1 << 13, 1 << 16), (1 << 20, 1 << 22)
GRID_INPUTS = ("uniform", "all-equal", "sorted", "skewed", "few-values")
ALL_INPUTS_OF = "05-radix"  # the lab whose record competes with every sort
SEGMENTS_N = 1 << 26
# The grid goes on with reports/records/measure.cpp, which runs all sorts in one process. Its options for each lab, the
# most important first: not all can be measured within the time.
MANY_KEYS = {
    "02-merge": ("--against merge --n 2^26,2^28", "--against merge --n 2^26 --type u64,i32,f32,pairs"),
    "04-counting": ("--against radix --type u8 --n 2^26,2^28,2^30",),
    "05-radix": (
        "--against radix --n 2^26 --input all",
        f"--against radix --n 2^26 --type u64,i32,i64,f32,f64,pairs,u16,u8 --input {','.join(GRID_INPUTS)}",
        f"--against radix --n 2^28 --input {','.join(GRID_INPUTS)}",
        "--against radix --n 2^26,2^28 --type f32 --input zeros",
        "--against radix --n 2^30 --input uniform,skewed",
    ),
}
MANY_KEYS_SECONDS = 270


@dataclass(frozen=True)
class Preset:
    """The results in a folder: one CSV file per lab, machine.txt and logs."""

    folder: Path
    brief: bool = False  # only sizes and types: no launch shapes, inputs and kernels
    tested: bool = True  # the graded tests first
    large: bool = False  # with n above 2^32: tests, and steps that sort host memory
    profile: bool = False  # Nsight Compute and compute-sanitizer as well
    name: str = "gpu"  # "records": only the record steps, but with more keys, and all inputs; "peers": plan_of_grid()
    peers: Sequence[Path] = ()


def plan(lab: Lab, kind: str, inputs: Sequence[str], brief: bool, large: bool = False) -> list[Sweep]:
    """The sweeps of one lab."""
    if any(step.memory == "host" for step in lab.steps):
        return _of_host_memory(lab, kind, inputs, brief, large)
    base = Sweep(lab.name, limits=Limits(time_limit=0.5))
    # Making and verifying the largest inputs takes the host a second, so they get few runs, but more than one.
    largest = Limits(repeats=3, time_limit=4)
    wanted = [
        (replace(base, words="steps by n", n=SIZES[:-2]), "some"),
        (replace(base, words="steps by n", n=SIZES[-2:], limits=largest), "some"),
    ]
    for step in lab.steps:
        others = tuple(name for name in step.types if name != lab.default_type)
        if step.task == "sort" and others:
            n = min(LARGE_N, step.affordable.on(kind) // 4)
            wanted.append((replace(base, words="key types", steps=(step.number,), types=others, n=(n,)), "all"))
    if not brief:
        wanted += _details(lab, replace(base, limits=Limits(repeats=5, time_limit=0.5)), inputs)
    return [part for sweep, mode in wanted for part in grouped(lab, kind, sweep, mode)]


def _of_host_memory(lab: Lab, kind: str, inputs: Sequence[str], brief: bool, large: bool) -> list[Sweep]:
    """The sweeps of a lab whose steps sort host memory, pinned and pageable, with little device memory and with much.

    Making and verifying the keys takes longer than most of these steps, and sorting them on the host longer still.
    """
    base = Sweep(lab.name, limits=Limits(repeats=5, time_limit=0.5), memory=(AS_KEYS,), transfers=True)
    many = replace(base, words="many keys", n=HOST_SIZES[-1:], limits=Limits(repeats=3, time_limit=4))
    serial = tuple(step.number for step in lab.steps if step.affordable.on(kind) < SERIAL_N)
    overlapped = tuple(step.number for step in lab.steps if step.round_trips and step.number not in serial)
    beyond = replace(many, steps=overlapped, memory=(MUCH_MEMORY,), timeout=60)
    wanted = [
        (replace(base, words="steps by n", n=HOST_SIZES[:-2]), "some"),
        (replace(many, n=HOST_SIZES[-2:]), "some"),
        (replace(many, steps=serial, n=(SERIAL_N,)), "all"),
        (replace(many, words="pageable memory", steps=overlapped, pageable=True), "all"),
        (replace(many, words="pageable memory", steps=serial, n=(SERIAL_N,), pageable=True), "all"),
        (replace(beyond, n=(1 << 30,)), "all"),
    ]
    if large:
        wanted.append((replace(beyond, words="more than 2^32 keys", n=(1 << 33,), limits=Limits(repeats=1)), "all"))
    if not brief:
        at_ends = tuple(name for name in inputs if name in ("uniform", "sorted", "all-equal"))
        wanted += [
            (
                replace(base, words="descending order", orders=("descending",), n=ORDER_SIZES[:1], inputs=at_ends),
                "some",
            ),
            (replace(base, words="kernels", n=(SERIAL_N // 4,), kernels=True), "all"),
            (replace(base, words="inputs", n=(INPUTS_N,), inputs=tuple(inputs), budget=30), "small"),
        ]
    return [part for sweep, mode in wanted for part in grouped(lab, kind, sweep, mode)]


def plan_of_record(lab: Lab, kind: str, inputs: Sequence[str]) -> list[Sweep]:
    """The sweeps of a lab's record steps."""
    numbers = tuple(step.number for step in lab.records)
    types = tuple(dict.fromkeys(name for step in lab.records if step.task == "sort" for name in step.types))
    if any(step.memory == "host" for step in lab.records):
        sweeps = _of_host_memory(lab, kind, inputs, True, False)
        return [sweep for sweep in sweeps if set(numbers) & set(sweep.steps or numbers)]
    base = Sweep(lab.name, steps=numbers, limits=Limits(time_limit=0.5))
    many = replace(base, limits=Limits(repeats=3, time_limit=4))
    others = tuple(name for name in types if name != lab.default_type)
    wanted = [
        (replace(base, words="the record by n", n=RECORD_SIZES[:-3]), "some"),
        (replace(many, words="the record by n", n=RECORD_SIZES[-3:]), "all"),
        (replace(many, words="the record's inputs", n=(RECORD_INPUTS_N,), inputs=tuple(inputs)), "small"),
    ]
    if others:
        wanted.append((replace(base, words="the record's key types", types=others, n=RECORD_TYPES_N), "some"))
    return [part for sweep, mode in wanted for part in grouped(lab, kind, sweep, mode)]


def plan_of_grid(lab: Lab, kind: str, inputs: Sequence[str]) -> list[Sweep]:
    """The grid of comparisons for a lab's last record step. Each sweep begins with the fewest keys and has a budget, so
    that all labs take some five minutes."""
    step = lab.records[-1]
    if step.memory == "host":
        return []
    base = Sweep(lab.name, steps=(step.number,), limits=Limits(repeats=7, min_time=0, time_limit=0.3))
    floats = tuple(name for name in step.types if name in ("f32", "f64"))
    others = tuple(name for name in step.types if name != lab.default_type)
    some_inputs = GRID_INPUTS if step.task == "sort" else GRID_INPUTS[:1]
    every = (*inputs, "values:33", "values:1000") if lab.name == ALL_INPUTS_OF else some_inputs
    wanted = [replace(base, words="inputs and sizes", inputs=every, budget=100)]
    if others and step.task == "sort":
        wanted.append(replace(base, words="types and sizes", types=others, inputs=some_inputs, budget=80))
    if floats and lab.name == ALL_INPUTS_OF:
        wanted.append(replace(base, words="both zeros", types=floats, inputs=("zeros",), budget=20))
    few = Limits(repeats=3, min_time=0, time_limit=1)
    sweeps = [
        part
        for sweep in wanted
        for part in (replace(sweep, n=GRID_SIZES), replace(sweep, n=LARGE_GRID_SIZES, limits=few))
    ]
    if step.task != "sort":  # other libraries sort segments only in processes of their own
        sweeps.append(replace(wanted[0], words="many keys", n=(SEGMENTS_N,), limits=few))
    return [part for sweep in sweeps for part in grouped(lab, kind, sweep, "some")]


def _details(lab: Lab, few: Sweep, inputs: Sequence[str]) -> list[tuple[Sweep, str]]:
    """Orders, kernels, launch shapes, inputs and value ranges. `few`: a sweep with few repeats."""
    at_ends = tuple(name for name in inputs if name in ("uniform", "sorted", "all-equal"))
    kernels = replace(few, limits=Limits(time_limit=0.5), kernels=True, transfers=True)
    wanted = [
        (replace(few, words="descending order", orders=("descending",), n=ORDER_SIZES, inputs=at_ends), "some"),
        (replace(kernels, words="kernels", n=KERNEL_SIZES[:3]), "some"),
        (replace(kernels, words="kernels of many keys", n=KERNEL_SIZES[3:], limits=few.limits), "some"),
        (replace(few, words="launch shapes and sizes", n=KERNEL_SIZES[:3], shapes=FEW_SHAPES, kernels=True), "some"),
        (replace(few, words="launch shapes", n=(GRID_N,), shapes=GRID, budget=30), "small"),
        (replace(few, words="inputs", n=(INPUTS_N,), inputs=tuple(inputs)), "small"),
    ]
    u32 = replace(few, types=("u32",), steps=that_sort(lab, "u32"))
    if lab.has_ranges and u32.steps:
        shaped = replace(u32, words="value ranges and launch shapes", n=(GRID_N,), inputs=SHAPED_RANGES)
        wanted.append((replace(shaped, shapes=FEW_SHAPES, budget=30), "small"))
        wanted.append((replace(u32, words="value ranges", n=(INPUTS_N,), inputs=RANGES), "small"))
        wanted.append((replace(u32, words=COUNTED_WORDS, n=SIZES, inputs=(COUNTED_INPUT,)), "some"))
    return wanted


def _write_machine(preset: Preset) -> None:
    nvcc = machine.answer("nvcc", "--version") or ""
    lines = [f"commit: {machine.commit()}", f"command: ./workbook bench --preset {preset.name}"]
    lines.append(f"date: {time.strftime('%Y-%m-%dT%H:%MZ', time.gmtime())}")
    lines += [f"gpu: {gpu}" for gpu in machine.gpus()]
    lines += [f"nvcc: {line[len('Build ') :]}" for line in nvcc.splitlines() if line.startswith("Build ")]
    (preset.folder / "machine.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines), flush=True)


def _test(judge: JudgeClient, lab: Lab, kind: str, preset: Preset) -> bool:
    """Runs the graded cases of a lab's solutions; whether all passed."""
    runner = build.runner(lab.name, kind, solution=True)
    well, lines = True, []
    sets = ("public", "large") if preset.large else ("public",)
    numbers = dict.fromkeys(step.number for step in lab.steps)
    for number in numbers if preset.name == "gpu" else [step.number for step in lab.records]:
        for set_ in sets:
            groups = judge.cases(lab.name, number, set_, kind)
            graded = running.run_cases(judge, runner, groups, 120 if preset.large else None)
            failure = graded.failure
            lines.append(f"step {number:02}: {graded.cases} {set_} cases  {'FAILED' if failure else 'ok'}")
            if failure:
                well = False
                lines += [f"{failure.title}: {failure.status}: {failure.message}", f"again: {failure.replay}"]
    (preset.folder / f"{lab.name}-graded.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines), flush=True)
    return well


def _measure(judge: JudgeClient, lab: Lab, kind: str, preset: Preset, heading: Callable[[str], None]) -> bool:
    """Measures one lab into its CSV file; whether everything was verified."""
    path = preset.folder / f"{lab.name}.csv"
    path.unlink(missing_ok=True)
    runner = build.runner(lab.name, kind, solution=True)
    programs = measuring.Programs(judge, kind, runner, build.gold(kind), preset.peers)
    well = True
    inputs = [info.name for info in judge.inputs(compared=preset.name == "peers")]
    if preset.name == "gpu":
        planned = plan(lab, kind, inputs, preset.brief, preset.large)
    else:
        planned = (plan_of_grid if preset.name == "peers" else plan_of_record)(lab, kind, inputs)
    for sweep in planned:
        heading(f"{lab.name}: {sweep.words}")
        well = measuring.run(lab.name, programs, sweep, path).ok and well
    measured = [row for row in rows.whole(rows.read(path)) if not row.is_gold]
    print(f"{len(measured)} measurements, {sum(row.verified for row in measured)} verified: {path}", flush=True)
    return well


def _many_keys(preset: Preset, labs: Sequence[str]) -> list[tuple[Path, Path, str]]:
    """What measure.cpp does in the comparison: its programs (for each CUB), where their output goes, and their options,
    the most important first."""
    folder = BUILD / "reports/records"
    cubs = ["cuda", *(path.name for path in preset.peers if path.parent == folder and path.name.startswith("cub-"))]
    wanted = [(place, lab, options) for lab in labs for place, options in enumerate(MANY_KEYS.get(lab, ()))]
    return [
        (folder / f"measure-{lab}-{cub}", preset.folder / f"{lab}-{cub}-{place}.csv", options)
        for place, lab, options in sorted(wanted, key=lambda item: item[0])
        for cub in cubs
    ]


def _compare_many_keys(preset: Preset, labs: Sequence[str], heading: Callable[[str], None]) -> bool:
    """Runs measure.cpp as long as there is time; whether all went well. Its output is kept as far as it came."""
    end = time.monotonic() + MANY_KEYS_SECONDS
    well = True
    for program, path, options in _many_keys(preset, labs):
        left = end - time.monotonic()
        if left <= 0:
            note(f"left out, because {MANY_KEYS_SECONDS} s were not enough for all: {program.name} {options}")
            continue
        heading(f"{program.name} {options}")
        command = [str(program), "--commit", machine.commit(), "--runs", "3", *options.split()]
        with open(path, "wb") as file:
            try:
                well = subprocess.run(command, stdout=file, timeout=left, check=False).returncode == 0 and well
            except subprocess.TimeoutExpired:
                note("stopped, because the time is used up")
        if not path.stat().st_size:
            path.unlink()
    return well


def _run_script(*words: str | Path) -> bool:
    environment = {**build.environment(), "BUILD": str(BUILD)}
    return subprocess.run([sys.executable, *map(str, words)], cwd=ROOT, env=environment, check=False).returncode == 0


def record(preset: Preset, labs: Sequence[str]) -> bool:
    """Builds, tests and measures the solutions of these labs on the GPU; whether all went well."""
    build.ensure()
    kind = "cuda"
    if kind not in build.runnable():
        raise Problem(
            f"--preset {preset.name} needs a GPU and the cuda build: ./workbook doctor explains what is missing"
        )
    started = time.monotonic()

    def heading(text: str) -> None:
        print(f"== {text} ({time.monotonic() - started:.0f} s)", flush=True)

    preset.folder.mkdir(parents=True, exist_ok=True)
    heading("building")
    runners = [build.runner(lab, kind, solution=True) for lab in labs]
    programs = {program for program, _, _ in _many_keys(preset, labs)} if preset.name == "peers" else set()
    build.compile_targets([build.judge(), build.gold(kind), *runners, *sorted(programs)], "building the solutions")
    _write_machine(preset)
    well = True
    with JudgeClient() as judge:
        for name in labs:
            lab = judge.lab(name)
            if preset.tested:
                heading(f"{name}: graded tests")
                well = _test(judge, lab, kind, preset) and well
        for name in labs:
            well = _measure(judge, judge.lab(name), kind, preset, heading) and well
    if preset.name == "peers":
        well = _compare_many_keys(preset, labs, heading) and well
    if preset.profile:
        heading("counts of Nsight Compute, for reports/agreement/README.md")
        recorded = preset.folder / "agreement.csv"
        well = _run_script("reports/agreement/agreement.py", "--record", recorded) and well
        heading("compute-sanitizer on the faulty kernels, for reports/sanitizer/README.md")
        faults = preset.folder / "sanitizer.csv"
        script = "reports/sanitizer/sanitizer.py"
        well = _run_script(script, "--without-check-build", "-o", faults) and well
    heading("finished")
    if not well:
        note(f"something failed: see the lines above and the logs in {preset.folder}")
    return well
