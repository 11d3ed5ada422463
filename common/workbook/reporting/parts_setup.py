"""Parts of a report that describe what was measured, and what the tests and the check build say about it."""

from __future__ import annotations

import datetime
import os
import platform
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from ..check import words
from ..check.verdict import Gap
from ..core import machine as this_machine
from ..core.check_build import TOLERANCE
from ..core.console import grouped
from ..core.course import ROOT, find_step
from ..core.judge_types import Outcome, Step
from ..core.progress import Known
from ..core.rows import Row, whole
from .context import Context, failures
from .gather import Judged
from .place import sources
from .selection import by_line, groups, powers, speed, usual
from .tables import count, launch, number, paragraphs, pipe

_KERNEL = r"__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)"
_EMULATED_FACTS = (
    "compute capability",
    "shared memory per block, bytes",
    "constant memory, bytes",
    "registers per block",
    "threads per block, at most",
    "blocks per launch, at most",
)


def statement(report: Context) -> str:
    """The first paragraph of the handout, and the table of steps."""
    handout = ROOT / "labs" / report.lab / "README.md"
    words = ""
    if handout.is_file():
        paragraphs = re.split(r"\n\s*\n", handout.read_text(encoding="utf-8"))
        texts = (
            text for text in paragraphs if text.strip() and not text.lstrip().startswith(("#", "|", "!", "`", "<!--"))
        )
        words = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", next(texts, "")).strip()
    rows = [
        [
            f"{step.number:02}",
            step.name + ("" if step.task in ("sort", step.name) else f" ({step.task})"),
            step.idea,
            ", ".join(step.types),
            "yes" if step.stable else "no" if step.task == "sort" else "",
        ]
        for step in report.steps
    ]
    return words + "\n\n" + pipe(["step", "name", "idea", "keys", "stable"], rows, left=5)


# --- the machine ---


def machine(report: Context) -> str:
    """The table of hardware and software."""
    rows = _gpu(report)
    roof = next((row.roof_gb_per_s for row in report.own() if row.roof_gb_per_s), None)
    if roof:
        where = "GPU" if report.kind == "cuda" else "processor, all cores"
        rows.append([f"memory bandwidth of a copy ({where}), read + written, GB/s", number(roof)])
    nvcc = this_machine.answer("nvcc", "--version") or ""
    release = re.search(r"release ([\d.]+), V([\d.]+)", nvcc)
    rows.append(["CUDA toolkit", f"{release[1]} (nvcc {release[2]})" if release else "none"])
    rows += _host()
    own = report.own()
    if own:
        commits = list(dict.fromkeys(row.commit for row in own if row.commit))
        dates = sorted({row.date[:10] for row in own})
        changed = " (+: with uncommitted changes)" if any("+" in commit for commit in commits) else ""
        period = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        rows.append(["measured", f"{period}, commit {', '.join(commits)}{changed}"])
    return pipe(["what", "value"], rows, left=2)


def _gpu(report: Context) -> list[list[str]]:
    """Rows about the GPU, or about what the cpu build emulates."""
    facts = dict(report.device)
    if report.kind != "cuda":
        limits = "; ".join(f"{what} {_digits(facts[what])}" for what in _EMULATED_FACTS if what in facts)
        none = ["GPU", "none: CUDA is emulated on the processor (cpu build)"]
        return [none, ["emulated limits", limits]] if limits else [none]
    name = facts.pop("device", "?")
    driver = this_machine.answer("nvidia-smi", "--id=0", "--query-gpu=driver_version", "--format=csv,noheader")
    known = [[what, _digits(value)] for what, value in facts.items() if value not in ("0", "")]
    return [["GPU", name], *known, ["driver", driver or "?"]]


def _digits(value: str) -> str:
    """A number with its thousands separated."""
    if not re.fullmatch(r"[\d x()]+", value):
        return value
    return re.sub(r"\d{5,}", lambda digits: f"{int(digits[0]):,}", value)


def _host() -> list[list[str]]:
    """Rows about the processor and the system."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    disk = shutil.disk_usage(ROOT)
    system = platform.system()
    try:
        release = Path("/etc/os-release").read_text(encoding="utf-8")
        name = re.search(r'^PRETTY_NAME="?([^"\n]*)', release, re.MULTILINE)
        system = f"{name[1]}, {system}" if name else system
    except OSError:
        pass
    cxx = this_machine.compiler()
    version = (this_machine.answer(*cxx, "--version") or "").splitlines() if cxx else []
    return [
        ["processor", this_machine.processor() or platform.processor() or platform.machine()],
        ["cores", f"{len(os.sched_getaffinity(0))}"],
        ["memory", f"{memory:.1f} GiB"],
        ["disk", f"{disk.total / 1e9:.0f} GB, {disk.free / 1e9:.0f} GB free"],
        ["system", f"{system} {platform.release()}"],
        ["C++ compiler", version[0] if version else "none"],
        ["report made", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")],
    ]


# --- the program and its measurements ---


def program(report: Context) -> str:
    """The files with kernels, those that come with the lab among them."""
    given = sources(report.lab, False)
    rows = []
    for path in [*sorted(sources(report.lab, report.solution).glob("[0-9][0-9]_*.cu")), *sorted(given.glob("*.cuh"))]:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        code = [line for line in lines if line.strip() and not line.strip().startswith("//")]
        kernels = dict.fromkeys(re.findall(_KERNEL, "\n".join(code)))
        if path.suffix == ".cu" or kernels:
            names = ", ".join(f"`{name}`" for name in kernels)
            rows.append([f"`{path.name}`" + " (given)" * (path.suffix == ".cuh"), names, len(code)])
    return pipe(["file", "kernels", "lines of code"], rows, left=2) if rows else ""


def results(report: Context) -> str:
    """How the times were measured, and what failed."""
    own = whole(report.own())
    if not own:
        return "Nothing has been measured yet: no step of this lab sorts correctly yet."
    runs = sum(row.repeats or 0 for row in own)
    flushed = ", with the level 2 cache flushed before each run" if report.kind == "cuda" else ""
    on_host = [row for row in own if row.memory and not row.memory.endswith("pageable")]
    copies = "with" if on_host else "without"
    texts = [
        f"{len(own):,} measurements, {runs:,} timed runs. Each run had its own input, and every output was "
        f"verified against the reference. A time is the median of the runs, {copies} the copies to the device "
        f"and back, after a warm-up{flushed}. All tables and plots are made from the rows in `csv/`."
    ]
    texts += [_device_memory(on_host)] if on_host else []
    if report.kind == "cpu":
        texts.append(
            "**These are times of the cpu build**: CUDA emulated on the processor. They show how the work grows "
            "with n. They do not show which step is faster on a GPU."
        )
    texts += _failed(report, {row.name for row in own})
    wide = [row for row in own if row.message.startswith("spread")]
    if wide:
        texts.append(
            f"In {len(wide)} of the measurements the middle half of the runs spans more than a quarter of the median: "
            "the machine was busy, or the times are too short to measure well."
        )
    return "\n\n".join(texts)


def _device_memory(rows: Sequence[Row]) -> str:
    """How much device memory steps had that sort host memory."""
    ordered = sorted(powers(list(rows)), key=lambda row: row.n)
    smallest, largest = ordered[0], ordered[-1]
    return (
        "The keys are in pinned host memory; pinning it is not part of a time. A step may use as much device memory as "
        f"the keys occupy, but at least {smallest.memory} ({largest.memory} for {count(largest.n)} keys): less than "
        "half of what sorting all keys at once would take, so it works in pieces."
    )


def _failed(report: Context, measured: set[str]) -> list[str]:
    """A sentence for each way in which a step failed; `measured`: steps that have other, verified measurements."""
    texts = []
    failed = groups(failures(report.rows, report.lab)[0], lambda row: (row.step, row.name, row.status))
    for (step, name, status), rows in failed.items():
        if name not in measured:
            texts.append(f"Step {step:02} {name} was not measured: {status}: {rows[0].message}")
            continue
        cases = [
            f"n = {row.n:,}" + f", launch {launch(row)}" * bool(row.blocks) + f", {row.type}, {row.input}"
            for row in rows
        ]
        where = "; ".join(cases[:3]) + " and others" * (len(cases) > 3)
        texts.append(f"Step {step:02} {name}, {status} at {where}: {rows[0].message}")
    return texts


COSTS = {
    "conflicts": "wavefronts",
    "sectors": "sectors",
    "bytes": "bytes moved per key",
    "barriers": "barriers per block",
    "span": "span per 1,000 keys",
}
PREDICTED = {"used": "bytes used per key", **{cost: COSTS[cost] for cost in ("bytes", "barriers")}}


def verdicts(report: Context) -> str:
    """A line for each line of the lab's table: the tests, the check build, and each cost next to its budget."""
    if not report.verdicts:
        return ""
    lines, wrong = [], []
    for step in report.steps:
        found = report.verdicts.get(step.name)
        if found is None:
            continue
        costs = [_cost(step, found, cost) for cost in COSTS]
        lines.append([f"{step.number:02} {step.name}", _tests(found), found.check, *costs])
        if found.failed and (where := _where(report.lab, step.number, found.failed)):
            wrong.append(f"{step.number:02} {step.name}: {where}")
    headings = ["step", "tests", "check build", *COSTS.values()]
    return paragraphs(
        "The verdict of `./workbook check`, with its builds, or else of the quick tests on the "
        f"{report.kind} build; and one sort on the check build: its verdict, and what it counted, next to the "
        "budget where there is one. Wavefronts and sectors are multiples of the ideal; the bytes moved are 32 for each "
        "sector, and the span is the number of requests on the critical path.",
        pipe(headings, lines, left=3),
        *wrong,
    )


def _tests(found: Judged) -> str:
    """The verdict of `check` on the whole step, or of the quick tests on the line."""
    if found.builds:
        return str(Known("passed", found.builds))
    if found.failed and not found.check:
        return "not written" if found.failed.status == "not-written" else "failed"
    return f"{found.cases} quick cases passed"


def _where(lab: str, number: int, failed: Outcome) -> str:
    """Which code is missing, if it is in another step; or how a case fails."""
    if failed.status != "not-written":
        return words.in_one_line(failed)
    step = find_step(lab, number)
    gap = Gap.of(step, failed)
    return "" if gap.is_in(step) else words.unwritten(step, gap)[0]


def _cost(step: Step, found: Judged, cost: str) -> str:
    """ "1.00 of 1.1" """
    counted = found.costs.get(cost)
    allowed = getattr(step.budget, cost) if step.budget else 0
    if not counted:
        return ""
    of_budget = f" of {allowed:g}" * bool(allowed)
    bold = "**" if allowed and counted > allowed * TOLERANCE else ""
    return f"{bold}{counted:.2f}{of_budget}{bold}"


def predictions(report: Context) -> str:
    """A table with a column for the student's predictions: costs of each step, and how much faster it is."""
    rows: list[list[str]] = []
    sizes = set()
    before = ""
    speeds = _speeds(report)
    for step in report.steps:
        found = report.verdicts.get(step.name)
        if step.part or not found or not found.costs:
            continue
        name = f"{step.number:02} {step.name}"
        sizes.add(found.n)
        rows.append([f"{name}, launches", "", f"{found.launches:,}"])
        rows += [[f"{name}, {what}", "", grouped(found.costs[cost])] for cost, what in PREDICTED.items()]
        if before in speeds and name in speeds and (ratio := _ratio(speeds[name], speeds[before])):
            rows.append([f"{name}, speed as a multiple of step {before[:2]}", "", grouped(ratio)])
        before = name
    if not rows:
        return ""
    keys = " or ".join(count(n) for n in sorted(sizes))
    explained = (
        f"Launches, bytes and barriers of one sort of {keys} keys, as the check build counts them; speeds on the "
        f"{report.kind} build, at the largest n of both steps. Bytes used are those of global memory that threads read "
        "or write. Bytes moved are all bytes of the sectors that hold them."
    )
    return f"{explained}\n\n" + pipe(["what", "predicted", "measured"], rows, left=2)


def _speeds(report: Context) -> dict[str, Sequence[Row]]:
    """A step's number and name -> its rows over n."""
    lines = by_line(powers([row for row in usual(report.rows) if row.build == report.kind]), report.lab)
    return {f"{number:02} {name}": own for (number, task, name), own in lines.items() if task == "sort"}


def _ratio(rows: Sequence[Row], others: Sequence[Row]) -> float | None:
    """How many times as fast the first is at the largest common n; None if their keys differ."""
    theirs = {row.n: speed(row) for row in others if row.type == rows[0].type}
    common = [row for row in rows if theirs.get(row.n)]
    return speed(common[-1]) / theirs[common[-1].n] if common else None


def run(report: Context) -> str:
    """The picture of a run of one step."""
    return f"![{report.picture}](plots/run.svg)" if report.picture else ""
