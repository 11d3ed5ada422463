"""What each kernel of a step does to memory: from Nsight Compute on a GPU, from the check build elsewhere."""

import csv
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import build, judge
from .paths import find_lab, find_step, has_solutions
from .terminal import Problem, note

# What a launch is described by, and where Nsight Compute keeps it (names of sm_70 and later). Counts are of warps'
# instructions ("requests"), of turns at the shared memory ("wavefronts") and of 32-byte sectors.
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
}
FACTS = {
    "time_ns": "gpu__time_duration.sum",
    "registers": "launch__registers_per_thread",
    "static_shared_bytes": "launch__shared_mem_per_block_static",
    "dynamic_shared_bytes": "launch__shared_mem_per_block_dynamic",
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
}


def short_name(kernel):
    """A kernel's name as the source has it, without return type, namespaces, template and function arguments."""
    depth, plain = 0, ""
    for c in kernel.replace("(anonymous namespace)", "").replace("<unnamed>", ""):
        depth += c in "<("
        if depth == 0:
            plain += c
        depth -= c in ">)"
    return plain.split()[-1].split("::")[-1] if plain.split() else kernel


def _number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def read_ncu(text):
    """The launches in the CSV that `ncu --csv --page raw --print-units base` prints, other lines left out."""
    lines = text.splitlines()
    head = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None:
        return []
    launches = []
    for row in csv.DictReader(lines[head:]):
        if not (row.get("ID") or "").isdigit():
            continue  # the line of units
        launch = {"kernel": short_name(row["Kernel Name"]),
                  "grid": [int(x) for x in row["Grid Size"].strip("()").split(",")],
                  "block": [int(x) for x in row["Block Size"].strip("()").split(",")]}
        for name, metric in {**COUNTERS, **FACTS}.items():
            launch[name] = _number(row[metric]) if row.get(metric) else None
        launches.append(launch)
    return launches


def _sort_command(lab, step, runner, n, options):
    return [str(build.judge()), "sort", "--lab", lab, "--step", str(step), "--runner", str(runner), "--n", str(n),
            "--timeout", "600", *options]


def _run(command, environment=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          env=environment, text=True, errors="replace", check=False)
    return done.returncode, done.stdout


def from_ncu(command):
    """The launches of a command's processes on the GPU."""
    ncu = shutil.which("ncu")
    if not ncu:
        raise Problem("the profile of a GPU needs Nsight Compute (ncu), which comes with the CUDA toolkit; "
                      "--build check profiles without it")
    metrics = ",".join([*COUNTERS.values(), *FACTS.values()])
    status, output = _run([ncu, "--clock-control", "none", "--target-processes", "all", "--csv", "--page", "raw",
                           "--print-units", "base", "--metrics", metrics, *command])
    launches = read_ncu(output)
    if not launches:
        raise Problem(f"ncu profiled nothing (status {status}):\n" + "\n".join(output.splitlines()[-8:]))
    return launches


def from_check(command):
    """The launches of a command's runner, built for checking."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "check.json"
        status, output = _run(command, {**os.environ, "CHECK_JSON": str(path)})
        try:
            launches = json.loads(path.read_text())["launches"]
        except (OSError, ValueError, KeyError):
            raise Problem(f"the check build told nothing (status {status}):\n" + "\n".join(output.splitlines()[-8:]))
    return [dict(launch, kernel=short_name(launch["kernel"])) for launch in launches]


def gathered(launches):
    """Launches of one kernel and shape put together, in order of first appearance: counters added, and how many."""
    groups = {}
    for launch in launches:
        key = (launch["kernel"], tuple(launch["grid"]), tuple(launch["block"]))
        if key not in groups:
            groups[key] = dict(launch, launches=1)
            continue
        group = groups[key]
        group["launches"] += 1
        for name in (*COUNTERS, "time_ns", "barriers", "global_ld_ideal_sectors", "global_st_ideal_sectors"):
            if launch.get(name) is not None and group.get(name) is not None:
                group[name] += launch[name]
    return list(groups.values())


def _size(bytes_):
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if bytes_ >= scale:
            return f"{bytes_ / scale:.4g} {unit}"
    return f"{bytes_:.0f} B"


def _shape(size):
    size = list(size)
    while len(size) > 1 and size[-1] == 1:
        size.pop()
    return "x".join(map(str, size))


def lines_of(launches, source):
    """The profile, a block of lines a kernel and shape, at most 80 columns."""
    lines = []
    for one in gathered(launches):
        many = f"{one['launches']} launches" if one["launches"] > 1 else "1 launch"
        lines += ["", f"{one['kernel']}   {many} of <<<{_shape(one['grid'])}, {_shape(one['block'])}>>>", "-" * 80]

        def put(label, text):
            lines.append(f"  {label:<16}{text}")

        if one.get("time_ns") is not None:
            put("time", f"{one['time_ns'] * 1e-6:.4g} ms" + ("" if source == "ncu" else " on the CPU"))
        static, dynamic = one.get("static_shared_bytes"), one.get("dynamic_shared_bytes")
        if static is not None or dynamic is not None:
            put("shared memory", f"{_size(static or 0)} static, {_size(dynamic or 0)} dynamic")
        if one.get("registers") is not None:
            put("registers", f"{one['registers']:.0f} a thread")
        if one.get("occupancy_percent") is not None:
            put("occupancy", f"{one['occupancy_percent']:.0f} % of the warps that a multiprocessor holds")
        for label, kind in (("shared loads", "shared_ld"), ("shared stores", "shared_st")):
            requests, wavefronts = one.get(f"{kind}_requests"), one.get(f"{kind}_wavefronts")
            if requests:
                put(label, f"{requests:,.0f} requests, {wavefronts:,.0f} wavefronts: {wavefronts / requests:.2f} each")
        if one.get("shared_atomic_requests"):
            put("shared atomics", f"{one['shared_atomic_requests']:,.0f} requests")
        for label, kind in (("global loads", "global_ld"), ("global stores", "global_st")):
            requests, sectors = one.get(f"{kind}_requests"), one.get(f"{kind}_sectors")
            if requests:
                ideal = one.get(f"{kind}_ideal_sectors")
                put(label, f"{requests:,.0f} requests, {sectors:,.0f} sectors: {sectors / requests:.2f} each, "
                           f"{_size(32 * sectors)}" + (f" (ideal {_size(32 * ideal)})" if ideal else ""))
        if one.get("barriers") is not None:
            put("barriers", f"{one['barriers']:,.0f}, counted in warps")
    return lines[1:]


def add_arguments(parser):
    """The verb's options."""
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("step", metavar="STEP")
    parser.add_argument("--n", default="2^16", metavar="N", help="how many keys (2^16)")
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
    options = []
    for name in ("input", "type", "order", "blocks", "threads", "seed"):
        options += judge.option(name, getattr(arguments, name))
    launches = launches_of(lab, step.number, arguments.n, options, kind, arguments.solution)
    print(f"{lab} {step}{' (solution)' if arguments.solution else ''}, {arguments.n} keys, "
          + ("Nsight Compute" if kind == "cuda" else "check build: counts as on a GPU, times of this CPU") + "\n")
    for line in lines_of(launches, "ncu" if kind == "cuda" else "check"):
        print(line)
    if arguments.json:
        from .files import write_whole

        write_whole(arguments.json, json.dumps(launches, indent=1) + "\n")
        note(f"written: {arguments.json}")
    return 0
