"""What the check build says of a step: findings over cases of every kind, and what it costs against its budget."""

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from . import build
from . import judge_client as judge
from .console import Problem

SEEDS = (0, 1, 77)  # orders in which lanes run; 0 is CUDA's own
_SHAPES = (
    {},
    {"blocks": 1, "threads": 32},
    {"blocks": 1, "threads": 96},
    {"blocks": 64, "threads": 128},
    {"threads": 1024},
    {"blocks": 1},
)
_MANY = 40_000  # more than the largest tile of any step, for one block to go through
KERNEL_SECONDS = "6"  # of the processor's time, that a launch of these few keys may take: it goes on for ever else
_MORE = 8  # cases that are still run after one has failed without a finding
_SIZES = (1, 2, 33, 1000, 1025, 3001)
COSTS = {
    "conflicts": "wavefronts of shared memory for each that would do without bank conflicts",
    "sectors": "sectors of global memory for each that would do if all their bytes were asked for",
    "bytes": "bytes of global memory moved for each key",
    "barriers": "barriers a block",
}


@dataclass
class Verdict:
    """What was found. `findings`: lines "path:line: error: KIND: text", the first one first. `failed`: a case that
    came out wrong without a finding, with the command that repeats it. `over`: lines on budgets that were exceeded."""

    cases: int = 0
    findings: list = field(default_factory=list)
    failed: str = ""
    costs: list = field(default_factory=list)  # (name of the line of the table, {cost: (counted, budget)})
    over: list = field(default_factory=list)

    @property
    def passed(self):
        """Nothing wrong, nothing over its budget."""
        return not self.findings and not self.failed and not self.over


def cases(facts, task):
    """The options of the judge for each case: every type and order, sizes around boundaries, launch shapes, inputs."""
    # What a step does that names a largest n grows with the square of n, in as many launches.
    patience = min(facts["largest_n"], 1500 if facts["largest_n"] < 1 << 20 else 5000)
    sizes = {n for n in _SIZES if n <= patience}
    if facts["tile"]:
        sizes |= {facts["tile"] - 1, facts["tile"], 2 * facts["tile"] + 1}
    inputs = ("uniform", "few-values", "reversed", "all-equal")
    found = []
    for i, n in enumerate(sorted(sizes)):
        case = {
            "n": n,
            "type": facts["types"][i % len(facts["types"])],
            "input": inputs[i % len(inputs)],
            "seed": 1000 + i,
            **_SHAPES[i % len(_SHAPES)],
        }
        if task == "sort":
            case["order"] = ("ascending", "descending")[i % 2]
        found.append(case)
    for i, shape in enumerate(_SHAPES[1:]):  # blocks that have several tiles to do
        n = _MANY if shape == {"blocks": 1} and facts["largest_n"] > _MANY * 4 else patience
        found.append({"n": n, "type": facts["types"][0], "input": "uniform", "seed": 3000 + i, **shape})
    for i, kind in enumerate(facts["types"]):  # each type once at a size of several blocks
        found.append({"n": patience, "type": kind, "input": "uniform", "seed": 2000 + i})
    return [dict(case, task=task) for case in found]


def run_case(lab, number, runner, case, order_seed, timeout):
    """Runs one case with lanes in the order of `order_seed`: the judge's exit status, what it said, and what the check
    build wrote (None: nothing)."""
    command = [str(build.judge()), "sort", "--lab", lab, "--step", str(number), "--runner", str(runner)]
    for name, value in case.items():
        command += [f"--{name}", str(value)]
    command += ["--timeout", str(timeout)] if timeout else []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "check.json"
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={"SIMT_SECONDS": KERNEL_SECONDS, **os.environ, "CHECK_JSON": str(path), "SIMT_SEED": str(order_seed)},
            text=True,
            errors="replace",
            check=False,
        )
        try:
            return done.returncode, done.stdout, json.loads(path.read_text())
        except (OSError, ValueError):
            return done.returncode, done.stdout, None


def _again(lab, number, case, order_seed):
    """The command that repeats a case."""
    options = " ".join(f"--{name} {value}" for name, value in case.items() if (name, value) != ("task", "sort"))
    return f"SIMT_SEED={order_seed} ./workbook run {lab} {number} --build check {options}"


def line_of(finding):
    """A finding as it is printed."""
    times = f" ({finding['times']} times)" if finding.get("times", 1) > 1 else ""
    return f"{finding['file']}:{finding['line']}: error: {finding['kind']}: {finding['text']}{times}"


def note_of(remark):
    """A note on a cost as it is printed."""
    return (
        f"{remark['file']}:{remark['line']}: note: {remark['kind']}: ideal {remark['ideal']:,} and actual "
        f"{remark['actual']:,} {remark['unit']} in {remark['requests']:,} {remark['space']} {remark['access']}"
        f"{'s' * (remark['requests'] != 1)}"
    )


def counts_exactly():
    """Whether the compiler leaves the accesses as they are written: clang++ takes copies of vectors apart."""
    try:
        compilers = json.loads((build.BUILD / "meson-info/intro-compilers.json").read_text())
        return compilers["host"]["cpp"]["id"] == "gcc"
    except (OSError, ValueError, KeyError):
        return True


def counted(launches, n):
    """The costs that budgets name."""
    total = lambda *names: sum(launch.get(name) or 0 for launch in launches for name in names)
    ratio = lambda a, b: a / b if b else 0.0
    blocks = barriers = 0
    for launch in launches:
        (x, y, z), (a, b, c) = launch["grid"], launch["block"]
        blocks += x * y * z
        barriers += launch["barriers"] / -(-a * b * c // 32)
    sectors = total("global_ld_sectors", "global_st_sectors")
    return {
        "conflicts": ratio(
            total("shared_ld_wavefronts", "shared_st_wavefronts"),
            total("shared_ld_ideal_wavefronts", "shared_st_ideal_wavefronts"),
        ),
        "sectors": ratio(sectors, total("global_ld_ideal_sectors", "global_st_ideal_sectors")),
        "bytes": ratio(32 * sectors, n),
        "barriers": ratio(barriers, blocks),
    }


def _notes(told, cost):
    """The notes that say where a cost comes from, worst first."""
    kinds = {"conflicts": ("bank-conflict",), "sectors": ("uncoalesced",), "bytes": ("uncoalesced",)}.get(cost, ())
    return [note_of(remark) for remark in told["notes"] if remark["kind"] in kinds][:3]


def _judge_costs(verdict, lab, number, runner, facts, task):
    """Counts what one line of the table costs, if it has a budget."""
    budget = facts["budget"]
    if not budget.get("n"):
        return
    case = {"n": int(budget["n"]), "seed": 1, "task": task}
    status, said, told = run_case(lab, number, runner, case, 0, None)
    if status or told is None:
        verdict.failed = verdict.failed or f"{said.strip()}\n  again: {_again(lab, number, case, 0)}"
        return
    costs = counted(told["launches"], case["n"])
    verdict.costs.append((facts["name"], {name: (costs[name], budget[name]) for name in COSTS if budget[name]}))
    for name, (cost, allowed) in verdict.costs[-1][1].items():
        if cost > allowed * 1.0001 and counts_exactly():
            verdict.over += [
                f"over its budget: {facts['name']}, {cost:.4g} {COSTS[name]}; the budget is {allowed:g}",
                *_notes(told, name),
            ]


def check_step(lab, number, runner, timeout=None, progress=None):
    """The check build's verdict on a step and its parts. Problem: the judge cannot serve it."""
    verdict = Verdict()
    lines = {task: facts for (step, task), facts in judge.table(lab).items() if step == number}
    jobs = [(case, SEEDS[i % len(SEEDS)]) for task, facts in lines.items() for i, case in enumerate(cases(facts, task))]
    found, more = {}, _MORE
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # each case is a process, and runs on one core
        futures = [(case, seed, pool.submit(run_case, lab, number, runner, case, seed, timeout)) for case, seed in jobs]
        for case, seed, future in futures:
            status, said, told = future.result()
            if status == 2:
                raise Problem(said.strip())
            if progress:
                progress.update(f"case {verdict.cases + 1} of {len(jobs)}")
            verdict.cases += 1
            for finding in (told or {}).get("findings", []):
                found.setdefault((finding["file"], finding["line"], finding["kind"]), finding)
            fine = status == 0 or "unsupported:" in said
            if not fine and not (told or {}).get("findings") and not verdict.failed:
                verdict.failed = f"{said.strip()}\n  again: {_again(lab, number, case, seed)}"
            more -= bool(verdict.failed)
            # A case that has failed does not say where: one of the next may. But nobody waits for another one to hang.
            if found or more < 0 or (verdict.failed and "hung:" in verdict.failed):
                for *_, other in futures:
                    other.cancel()
                break
    verdict.findings = [line_of(finding) for finding in found.values()]
    if not verdict.findings and not verdict.failed:
        for task, facts in lines.items():
            _judge_costs(verdict, lab, number, runner, facts, task)
    return verdict
