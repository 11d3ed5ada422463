"""Times steps against the gold standard: sweeps over n, launch shapes, inputs, value ranges, types, steps and labs."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ..core import bench_tables, build, files, machine, measuring, presets, sweeps
from ..core import rows as row_files
from ..core.console import Usage, note
from ..core.course import StepFile, find_lab, find_step, labs, shown, step_of_file, steps
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Limits, Outcome
from ..core.measuring import Programs, Result
from ..core.options import RUN, add, prepare, seconds, whole
from ..core.resuming import Interrupted, resume
from ..core.rows import Row
from ..core.sweeps import Sweep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("lab", nargs="*", metavar="LAB", help="one or more labs, or all")
    parser.add_argument(
        "--preset",
        choices=("gpu", "records", "peers"),
        help="gpu: record everything about the solutions on this GPU; records: about each lab's record step; "
        "peers: compare the records with other libraries over sizes, inputs and types",
    )
    _add_sweep_options(parser)
    _add_limit_options(parser)
    _add_preset_options(parser)
    add(parser, *RUN)


def _add_sweep_options(parser: argparse.ArgumentParser) -> None:
    def several(name: str, metavar: str, what: str, **more: object) -> None:
        parser.add_argument(name, nargs="+", action="extend", metavar=metavar, help=what, **more)  # type: ignore[arg-type]

    several("--step", "STEP", "the steps to time, such as 2 or shared (default: all)")
    several("--n", "N", "number of keys, such as 1000 or 2^20; several values make a sweep")
    several(
        "--input",
        "NAME",
        "uniform, sorted, values:33, range:0:255, ... or file:PATH (default: uniform; few values for steps that count "
        "each value)",
    )
    several("--largest-value", "V", "uniform keys from 0 to V, such as 255 or 2^16")
    several("--type", "TYPE", "u32, i32, f32, u64, pairs, ...")
    several("--order", "ORDER", "ascending, descending")
    for name, what in (("blocks", "blocks per launch"), ("threads", "threads per block")):
        several(f"--{name}", name[0].upper(), f"{what}; 0: the step chooses", type=whole(f"--{name}", -(2**31)))
    several("--shapes", "BxT", "launch shapes, such as 64x256; grid: many from <<<1, 32>>> to <<<1024, 1024>>>")
    add(parser, "--memory", nargs="+", action="extend")
    add(parser, "--pageable")
    parser.add_argument("--kernels", action="store_true", help="also time each kernel of a step")
    parser.add_argument("--transfers", action="store_true", help="also time the copies to the device and back")
    parser.add_argument("--only-gold", action="store_true", help="time the gold standard only")
    several("--peer", "PROGRAM", "also time this runner of another library (common/README.md says how to build one)")


def _add_limit_options(parser: argparse.ArgumentParser) -> None:
    repeats = "maximum number of timed runs per measurement"
    parser.add_argument("--repeats", type=whole("--repeats", 1), metavar="MAX", help=repeats)
    for name, what in (
        ("--min-time", "minimum sorting time per measurement"),
        ("--time-limit", "maximum time per measurement"),
        ("--budget", "start no further measurement of a lab after this time"),
    ):
        read = seconds(name, zero=name != "--budget")
        parser.add_argument(name, type=read, metavar="SECONDS", help=what)
    parser.add_argument(
        "--csv", metavar="FILE", help="write the rows to this file (default: a new one per lab in build/bench/)"
    )
    parser.add_argument("--force", action="store_true", help="replace the file that --csv names, if it exists")
    parser.add_argument("--machine", metavar="NAME", help="a short name for this machine, for the rows")
    parser.add_argument("--fresh", action="store_true", help="do not resume an interrupted bench")


def _add_preset_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("with --preset")
    group.add_argument("--out", metavar="FOLDER", help="write the results to this folder (default: build/bench/record)")
    group.add_argument("--brief", action="store_true", help="measure only sizes and key types")
    group.add_argument("--untested", action="store_true", help="skip the graded tests")
    group.add_argument("--large", action="store_true", help="also test and time steps with more than 2^32 keys")
    group.add_argument("--profile", action="store_true", help="also run Nsight Compute and compute-sanitizer")


# --- from arguments to a sweep ---


def _shapes(arguments: argparse.Namespace) -> tuple[sweeps.Shape, ...]:
    if arguments.shapes:
        if arguments.blocks or arguments.threads:
            raise Usage("--shapes sets blocks and threads: leave out --blocks and --threads")
        return sweeps.shapes(arguments.shapes)
    return tuple((blocks, threads) for blocks in arguments.blocks or [0] for threads in arguments.threads or [0])


def sweep_of(arguments: argparse.Namespace, lab: str, lab_steps: Sequence[StepFile], kind: str) -> Sweep:
    """The sweep of one lab that the arguments describe. Raises Usage if they are wrong."""
    inputs = [*sweeps.file_inputs(arguments.input or [])]
    inputs += [f"range:0:{sweeps.number(value, '--largest-value')}" for value in arguments.largest_value or []]
    n = tuple(sweeps.number(text, "--n") for text in arguments.n or [])
    if not n and not any(name.startswith("file:") for name in inputs):
        n = sweeps.BENCH_SIZES[kind]
    defaults = Limits()
    given = {name: getattr(arguments, name) for name in ("repeats", "min_time", "time_limit")}
    limits = Limits(**{**asdict(defaults), **{name: value for name, value in given.items() if value is not None}})
    return Sweep(
        lab,
        steps=tuple(step.number for step in lab_steps),
        n=n,
        inputs=tuple(inputs),
        types=tuple(arguments.type or ()),
        orders=tuple(arguments.order or ("ascending",)),
        shapes=_shapes(arguments),
        memory=tuple(sweeps.memory_bytes(text) for text in arguments.memory or ()) or (0,),
        pageable=arguments.pageable,
        limits=limits,
        seed=arguments.seed,
        timeout=arguments.timeout or 20,
        budget=arguments.budget or 0,
        kernels=arguments.kernels,
        transfers=arguments.transfers,
        only_gold=arguments.only_gold,
        machine_id=arguments.machine or "",
    )


def _chosen(arguments: argparse.Namespace) -> dict[str, list[StepFile]]:
    """The labs, each with its steps."""
    if not arguments.lab:
        raise Usage(f"name a lab: {', '.join(labs())}, or all")
    _refuse_steps(arguments.lab)
    names = labs() if arguments.lab == ["all"] else [find_lab(name) for name in arguments.lab]
    if arguments.step and len(names) > 1:
        raise Usage("--step works with one lab only: name one")
    return {lab: [find_step(lab, step) for step in arguments.step] if arguments.step else steps(lab) for lab in names}


def _unwritten(judge: JudgeClient, lab: str, runner: Path, numbers: Sequence[int]) -> list[Outcome]:
    """Where the gaps are if none of the steps and their parts can be run; empty if one can. Each gets a few keys to
    sort."""
    table = judge.lab(lab)
    found = []
    for line in table.steps:
        if line.number in numbers:
            case = Case(lab, line.number, 100, line.task, table.type_of(line), seed=1)
            found.append(judge.run(runner, case))
            if found[-1].status != "not-written":
                return []
    return found


def _refuse_steps(words: Sequence[str]) -> None:
    """Raises Usage if a number follows a lab: other verbs take it for a step, and it would be taken for a lab here."""
    for word in words[1:]:
        if word.isdigit():
            raise Usage(f"{word} is a step here: use --step {word}; to time several labs, give their names")


def _peers(arguments: argparse.Namespace) -> list[Path]:
    """The programs that --peer names. Raises Usage if one cannot be run."""
    found = [Path(path).resolve() for path in arguments.peer or []]
    for text, path in zip(arguments.peer or [], found):
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise Usage(f"--peer {text} is not a program: name a runner (common/README.md says how to build one)")
    names = [path.name for path in found]
    if len(set(names)) < len(names):
        raise Usage("two programs after --peer have the same file name, by which the results name them: rename one")
    return found


# --- the verb ---


def _check(arguments: argparse.Namespace) -> dict[str, list[StepFile]]:
    """Checks all arguments; returns the labs and steps. Raises Usage if an argument is wrong."""
    chosen = _chosen(arguments)
    sweep_of(arguments, "", [], "cpu")
    _peers(arguments)
    if arguments.csv:
        _check_csv(arguments.csv, arguments.force)
    return chosen


def _check_csv(path: str, force: bool) -> None:
    """Raises Usage if the file that --csv names cannot be written, or exists and must not be replaced."""
    why_not = files.writable(path)
    if why_not:
        raise Usage(f"{path} cannot be written ({why_not}): name a file in an existing folder with --csv")
    if os.path.exists(path) and not force:
        raise Usage(f"{path} exists, and --csv would replace it: name another file, or add --force to replace this one")


def _warn_if_busy() -> None:
    idle = machine.idle_cores()
    if idle is not None and idle < 0.8:
        note(
            f"warning: other programs keep this machine busy (only {idle:.1f} of {os.cpu_count()} cores are idle): "
            "times will be too long"
        )


def _nothing_written(lab: str, lab_steps: Sequence[StepFile], gaps: Sequence[Outcome]) -> None:
    several = len(lab_steps) > 1
    which = f"no step of {lab} is" if several else f"step {lab_steps[0].number} of {lab} is not"
    begin = f"./workbook check {lab}"
    used = [step for gap in gaps if (step := step_of_file(gap.file)) and step.lab != lab]
    if len(used) == len(gaps):  # the gaps of the lab itself are filled
        users = f"the steps of {lab} use" if several else f"step {lab_steps[0].number} of {lab} uses"
        which = f"step {used[0].number} of {used[0].lab}, which {users}, is not"
        begin = f"./workbook check {used[0].lab} {used[0].number}"
    note(f"{which} written yet, so there is nothing to time. {begin} shows where to begin.")


def _require_measured(lab: str, result: Result, only_gold: bool) -> list[Row]:
    """The rows of the lab's steps. Raises Usage, and leaves no file, if none could be measured."""
    measured = [row for row in row_files.whole(result.rows) if not row.is_gold]
    if not only_gold and all(row.status == "unsupported" for row in measured):
        result.path.unlink(missing_ok=True)
        why = list(dict.fromkeys(row.message for row in measured))
        reasons = f": {'; '.join(why[:3])}{'; ...' if len(why) > 3 else ''}" if why else ""
        raise Usage(f"nothing to measure: {lab} cannot run with these options{reasons}")
    return measured


def _interrupted(lab: str, stop: Interrupted, solution: bool) -> int:
    whole_rows = row_files.whole(stop.rows)
    if any(not row.is_gold for row in whole_rows):
        bench_tables.show(lab, stop.rows, whole_rows[0].build, solution)
    how = "ended by a signal" if stop.status == 143 else "interrupted"
    note(f"{how}; {len(whole_rows)} measurements of {lab} are kept, and the same command resumes from there")
    return stop.status


def _time_lab(
    arguments: argparse.Namespace, judge: JudgeClient, lab: str, lab_steps: Sequence[StepFile]
) -> tuple[Result | None, bool]:
    """Measures and shows one lab: its rows, None if nothing is written yet, and whether all went well."""
    types = arguments.type or ()
    kind, runner = prepare(arguments, lab, lambda kind: [build.gold(kind, types)])
    if gaps := _unwritten(judge, lab, runner, [step.number for step in lab_steps]):
        _nothing_written(lab, lab_steps, gaps)
        return None, False
    programs = Programs(judge, kind, runner, build.gold(kind, types), _peers(arguments))
    result = resume(f"timing {lab}", programs, sweep_of(arguments, lab, lab_steps, kind), arguments.fresh)
    measured = _require_measured(lab, result, arguments.only_gold)
    bench_tables.show(lab, result.rows, kind, arguments.solution)
    verified = arguments.only_gold or any(row.status == "verified" for row in measured)
    return result, verified and all(row.status in ("verified", "unsupported") for row in measured)


def _record(arguments: argparse.Namespace) -> int:
    names = [find_lab(name) for name in arguments.lab] if arguments.lab not in ([], ["all"]) else labs()
    if arguments.brief and arguments.preset != "gpu":
        raise Usage(f"--preset {arguments.preset} has no short form: leave out --brief, or choose --preset gpu")
    folder = Path(arguments.out).resolve() if arguments.out else presets.FOLDER
    preset = presets.Preset(
        folder,
        arguments.brief,
        not arguments.untested,
        arguments.large,
        arguments.profile,
        name=arguments.preset,
        peers=_peers(arguments),
    )
    return 0 if presets.record(preset, names) else 1


def main(arguments: argparse.Namespace) -> int:
    """One table per lab."""
    if arguments.preset:
        return _record(arguments)
    chosen = _check(arguments)
    _warn_if_busy()
    well, results = True, []
    with JudgeClient() as judge:
        for lab, lab_steps in chosen.items():
            try:
                result, lab_well = _time_lab(arguments, judge, lab, lab_steps)
            except Interrupted as stop:
                return _interrupted(lab, stop, arguments.solution)
            well = well and lab_well
            if result is None:
                continue
            results.append(result)
            if not arguments.csv:
                kind = result.rows[0].build
                whose = "solution-" if arguments.solution else ""
                name = f"{lab}-{whose}{kind}-{time.strftime('%Y%m%d-%H%M%S')}.csv"
                print(f"all rows: {shown(files.move_to_free_name(result.path, measuring.FOLDER / name))}\n")
    if arguments.csv and results:
        row_files.write(arguments.csv, [row for result in results for row in result.rows])
        for result in results:
            result.path.unlink(missing_ok=True)
        print(f"all rows: {shown(arguments.csv)}")
    return 0 if well else 1
