"""What each kernel of a step does to memory: from Nsight Compute on a GPU, from the check build elsewhere."""

import csv
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from ..core import build, judge_client as judge
from ..core.course import find_lab, find_step, has_solutions
from ..core.terminal import Problem, Usage, note

# What a launch is described by, and where Nsight Compute keeps it (names of sm_70 and later). Counts are of warps'
# instructions ("requests"), of turns at the shared memory ("wavefronts") and of 32-byte sectors. Of two metrics the sum.
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
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
# These need the kernel's instructions to be counted one by one, which takes longer.
BY_INSTRUCTION = {
    "shared_ideal_wavefronts": "memory_l1_wavefronts_shared_ideal",
    "global_ideal_sectors": "memory_l2_theoretical_sectors_global_ideal",
    "barriers": "sass__inst_executed_per_opcode",  # those of BAR
}
# Of a multiprocessor of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications").
WARPS, BLOCKS, SHARED, RESERVED = 64, 32, 228 << 10, 1 << 10


def _number(text):
    try:
        return float(text.split("(")[0].replace(",", ""))
    except ValueError:
        return None


def _barriers(text):
    """How many BAR instructions are among "12,345 (BAR: 67; BRA: 89 ..)"; None where they have no names."""
    if not re.search(r"\([^)]*[A-Z]", text):
        return None
    return float(sum(int(count.replace(",", "")) for count in re.findall(r"\bBAR\b[^:]*: *([\d,]+)", text)))


def read_ncu(text):
    """The launches in the CSV that `ncu --csv --page raw --print-units base` prints, other lines left out."""
    lines = text.splitlines()
    head = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None:
        return []
    launches = []
    for row in csv.DictReader(line for line in lines[head:] if line.startswith('"')):
        if not (row.get("ID") or "").isdigit():
            continue  # the line of units
        launch = {
            "kernel": row["Kernel Name"],
            "process": row["Process ID"],
            "grid": [int(x) for x in row["Grid Size"].strip("()").split(",")],
            "block": [int(x) for x in row["Block Size"].strip("()").split(",")],
        }
        for name, metrics in {**COUNTERS, **FACTS, **BY_INSTRUCTION}.items():
            told = [(_barriers if name == "barriers" else _number)(row[m]) for m in metrics.split() if row.get(m)]
            if told and None not in told:
                launch[name] = sum(told)
        if launch.get("shared_ideal_wavefronts"):  # there a turn for each atomic one is among them
            launch["shared_ideal_wavefronts"] -= launch.get("shared_atomic_requests") or 0
        launches.append(launch)
    return launches


def _sort_command(lab, step, runner, n, options):
    return [
        str(build.judge()),
        "sort",
        "--lab",
        lab,
        "--step",
        str(step),
        "--runner",
        str(runner),
        "--n",
        str(n),
        "--timeout",
        "600",
        *options,
    ]


def _run(command, environment=None):
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env=environment,
        text=True,
        errors="replace",
        check=False,
    )
    return done.returncode, done.stdout


def _look(status, output):
    """Usage, if the judge says that the step is not written or cannot do this, or that the options are wrong."""
    lines = output.splitlines()
    unwritten = next((line for line in lines if " is not written yet" in line), None)
    if unwritten:
        raise Usage(unwritten.removeprefix("not-written: "))
    impossible = next((line for line in lines if line.startswith("unsupported: ")), None)
    if impossible:
        raise Usage(impossible)
    if status == 2:
        raise Usage(next((line for line in lines if line.startswith("error: ")), output).removeprefix("error: "))


def _warn(status, *faults):
    """A note where what is counted is a faulty run."""
    if status or faults:
        note(
            f"{''.join(faults) or 'the step fails this case'}: the counts are those of a faulty run; "
            "./workbook check says more"
        )


def from_ncu(command, by_instruction=True):
    """The launches of a command's processes on the GPU."""
    ncu = shutil.which("ncu")
    if not ncu:
        raise Problem(
            "the profile of a GPU needs Nsight Compute (ncu), which comes with the CUDA toolkit; "
            "--build check profiles without it"
        )
    metrics = {**COUNTERS, **FACTS, **(BY_INSTRUCTION if by_instruction else {})}.values()
    status, output = _run(
        [
            ncu,
            "--clock-control",
            "none",
            "--target-processes",
            "all",
            "--csv",
            "--page",
            "raw",
            "--print-units",
            "base",
            "--print-kernel-base",
            "function",
            *(["--print-metric-instances", "details"] if by_instruction else []),
            "--metrics",
            ",".join(metrics).replace(" ", ","),
            *command,
        ]
    )
    _look(status, output)
    _warn(status)
    launches = read_ncu(output)
    if not launches and status:
        raise Problem(f"ncu profiled nothing (status {status}):\n" + "\n".join(output.splitlines()[-8:]))
    return launches


def from_check(command):
    """The launches of a command's runner, built for checking."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "check.json"
        status, output = _run(command, {**os.environ, "CHECK_JSON": str(path)})
        _look(status, output)
        try:
            told = json.loads(path.read_text())
            launches = told["launches"]
            faults = [f"{one['file']}:{one['line']}: {one['kind']}" for one in told["findings"]]
            _warn(status, *faults[:1])
            for launch in launches:
                launch["kernel"] = launch["kernel"].split("<")[0].split("::")[-1]  # as ncu names it
        except (OSError, ValueError, KeyError):
            raise Problem(f"the check build told nothing (status {status}):\n" + "\n".join(output.splitlines()[-8:]))
    return launches


def gathered(launches):
    """Launches of one kernel and shape put together, in order of first appearance: counts added, and how many."""
    groups = {}
    for launch in launches:
        key = (launch["kernel"], tuple(launch["grid"]), tuple(launch["block"]))
        group = groups.get(key)
        if group is None:
            groups[key] = dict(launch, launches=1)
            continue
        group["launches"] += 1
        for name, value in launch.items():
            if name in ("time_ns", "barriers") or name.endswith(("requests", "wavefronts", "sectors")):
                group[name] = (group.get(name) or 0) + (value or 0)
    return list(groups.values())


def occupancy_bound(launch):
    """Percent of a multiprocessor's warps that blocks of this size and shared memory can be at most."""
    warps = -(-launch["block"][0] * launch["block"][1] * launch["block"][2] // 32)
    shared = (launch.get("static_shared_bytes") or 0) + (launch.get("dynamic_shared_bytes") or 0) + RESERVED
    blocks = min(BLOCKS, WARPS // warps, SHARED // shared)
    return 100 * blocks * warps / WARPS


def _size(bytes_):
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if bytes_ >= scale:
            return f"{bytes_ / scale:.4g} {unit}"
    return f"{bytes_:.0f} B"


def _sum(launch, *names):
    return sum(launch.get(name) or 0 for name in names)


def ideal_wavefronts(launch):
    """Of shared loads and stores; ncu tells them in one number, the check build each."""
    return _sum(launch, "shared_ideal_wavefronts", "shared_ld_ideal_wavefronts", "shared_st_ideal_wavefronts")


def global_sectors(launch):
    """(those moved, atomics among them; the ideal; percent of what is moved that is used, or None)"""
    moved = _sum(launch, "global_ld_sectors", "global_st_sectors", "global_atomic_sectors")
    ideal = _sum(
        launch,
        "global_ideal_sectors",
        "global_ld_ideal_sectors",
        "global_st_ideal_sectors",
        "global_atomic_ideal_sectors",
    )
    # ncu's ideal takes lanes that read the same word for lanes that read different ones.
    return moved, ideal, min(100, 100 * ideal / moved) if ideal and moved else None


def shape_text(size):
    """64x2 for [64, 2, 1]."""
    size = list(size)
    while len(size) > 1 and size[-1] == 1:
        size.pop()
    return "x".join(map(str, size))


def lines_of(launches, source):
    """The profile, a block of lines a kernel and shape, at most 80 columns."""
    lines = []
    for one in gathered(launches):
        many = f"{one['launches']} launches" if one["launches"] > 1 else "1 launch"
        lines += [
            "",
            f"{one['kernel']}   {many} of <<<{shape_text(one['grid'])}, {shape_text(one['block'])}>>>",
            "-" * 80,
        ]

        def put(label, text):
            lines.append(f"  {label:<16}{text}")

        if one.get("time_ns") is not None:
            put("time", f"{one['time_ns'] * 1e-6:.4g} ms" + ("" if source == "ncu" else " on the CPU"))
        put(
            "registers",
            f"{one['registers']:.0f} a thread"
            if one.get("registers") is not None
            else "known to nvcc and the GPU only",
        )
        put(
            "shared memory",
            f"{_size(one.get('static_shared_bytes') or 0)} static, "
            f"{_size(one.get('dynamic_shared_bytes') or 0)} dynamic, a block",
        )
        for label, kind in (("shared loads", "shared_ld"), ("shared stores", "shared_st")):
            requests, wavefronts = one.get(f"{kind}_requests") or 0, one.get(f"{kind}_wavefronts") or 0
            put(
                label,
                f"{requests:,.0f} requests, {wavefronts:,.0f} wavefronts"
                + (f": {wavefronts / requests:.2f} each" if requests else ""),
            )
        if one.get("shared_atomic_requests"):
            put("shared atomics", f"{one['shared_atomic_requests']:,.0f} requests")
        if ideal_wavefronts(one):
            put("  ideal", f"{ideal_wavefronts(one):,.0f} wavefronts")
        for label, kind in (
            ("global loads", "global_ld"),
            ("global stores", "global_st"),
            ("global atomics", "global_atomic"),
        ):
            if kind == "global_atomic" and not one.get("global_atomic_requests"):
                continue
            requests, sectors = one.get(f"{kind}_requests") or 0, one.get(f"{kind}_sectors") or 0
            put(
                label,
                f"{requests:,.0f} requests, {sectors:,.0f} sectors"
                + (f": {sectors / requests:.2f} each, {_size(32 * sectors)}" if requests else ""),
            )
        _, ideal, used = global_sectors(one)
        if used is not None:
            put("  ideal", f"{ideal:,.0f} sectors, {_size(32 * ideal)}: {used:.0f} % of what is moved is used")
        if one.get("barriers") is not None:
            warps = -(-one["block"][0] * one["block"][1] * one["block"][2] // 32)
            blocks = one["grid"][0] * one["grid"][1] * one["grid"][2] * one["launches"]
            put("barriers", f"{one['barriers'] / (warps * blocks):.4g} a block")
        else:
            put("barriers", "not told by this ncu")
        put(
            "occupancy",
            f"{one['occupancy_percent']:.0f} % of the warps a multiprocessor can hold"
            if one.get("occupancy_percent") is not None
            else f"at most {occupancy_bound(one):.0f} %, as far as threads and shared memory tell",
        )
    return lines[1:]


def add_arguments(parser):
    """The verb's options."""
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("step", metavar="STEP")
    parser.add_argument("--n", metavar="N", help="how many keys; else 2^16, or fewer of a step that takes long")
    parser.add_argument("--input", metavar="NAME", help="uniform, sorted, .. or file:PATH")
    parser.add_argument("--type", metavar="TYPE", help="key type; else the lab's own")
    parser.add_argument("--order", metavar="ORDER", help="ascending or descending")
    parser.add_argument("--blocks", metavar="B", help="blocks of a launch; 0: the step chooses")
    parser.add_argument("--threads", metavar="T", help="threads of a block; 0: the step chooses")
    parser.add_argument("--seed", metavar="S", help="of the input; else a fresh one")
    parser.add_argument("--solution", action="store_true", help="the solution, not what stands in labs/")
    parser.add_argument("--build", choices=("check", "cuda"), help="else cuda where a GPU answers")
    parser.add_argument("--json", metavar="FILE", help="write the launches there as well")


def launches_of(lab, step, n, options, kind, solution):
    """Builds what is needed and profiles one sort: the launches, as dictionaries."""
    runner = build.runner(lab, kind, solution)
    build.compile_targets([build.judge(), runner], f"building {lab}")
    command = _sort_command(lab, step, runner, n, options)
    return from_ncu(command) if kind == "cuda" else from_check(command)


def main(arguments):
    """The profile of one step."""
    lab = find_lab(arguments.lab)
    step = find_step(lab, arguments.step)
    if arguments.solution and not has_solutions():
        raise Problem("there is no solutions/ here")
    build.ensure()
    kind = arguments.build or ("cuda" if "cuda" in build.runnable() else "check")
    if arguments.input:
        arguments.input = judge.file_inputs([arguments.input])[0]
    build.compile_targets([build.judge()], "building the judge")
    largest = judge.table(lab)[step.number, "sort"]["largest_n"]
    n = arguments.n or str(1 << 16 if largest >= 1 << 20 else max(largest // 64, 1))
    options = []
    for name in ("input", "type", "order", "blocks", "threads", "seed"):
        options += judge.option(name, getattr(arguments, name))
    launches = launches_of(lab, step.number, n, options, kind, arguments.solution)
    if not launches:
        raise Usage(f"{lab}, {step}: no kernel was launched: there is nothing to profile")
    print(
        f"{lab} {step}{' (solution)' if arguments.solution else ''}, {n} keys, "
        + ("Nsight Compute" if kind == "cuda" else "check build: counts as on a GPU, times of this CPU")
        + "\n"
    )
    for line in lines_of(launches, "ncu" if kind == "cuda" else "check"):
        print(line)
    if arguments.json:
        from ..core.files import write_whole

        write_whole(arguments.json, json.dumps(launches, indent=1) + "\n")
        note(f"written: {arguments.json}")
    return 0
