"""What a report shows besides measurements: profiles, timelines, verdicts, and the picture of a run.

Each is gathered once for the same programs, and kept in the report's folder.
"""

# Python 3.9 cannot evaluate `Outcome | None`, and the annotations are evaluated when a verdict is read.
# ruff: noqa: UP045

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Optional

from ..check.verdict import plain
from ..core import build, check_build, files, machine, profiles, resuming, running, timelines
from ..core.console import Problem, Progress, note
from ..core.course import find_step
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Lab, Outcome, Step, from_json
from ..core.profiles import Launch
from ..core.progress import ProgressFile
from ..core.timelines import Recorded
from ..pictures.recorded import draw_run, pictured

MAX_SHAPES = 3  # of one kernel, each with a line; more are combined
PROFILE_KEYS = {"check": 1 << 14, "cuda": 1 << 20}  # at most


@dataclass(frozen=True)
class Job:
    """What is to be profiled."""

    judge: JudgeClient
    lab: Lab
    kind: str  # the build that the report is about
    steps: Sequence[int]  # those that run to their end
    folder: Path
    fresh: bool
    solution: bool
    seconds: float  # after these no profile begins

    def runner(self, kind: str) -> Path:
        """The program of a build."""
        return build.runner(self.lab.name, kind, self.solution)

    def keys(self, source: str) -> int:
        """How many keys every step can sort in a short time."""
        lines = map(self.lab.own_line, self.steps)
        most = min([PROFILE_KEYS[source], *(line.affordable.on(source) for line in lines)])
        return 1 << max(most.bit_length() - 1, 0)


def _kept(job: Job, path: Path, runners: Sequence[Path], words: object) -> tuple[str, dict[str, Any]]:
    """A mark of these programs and words, and what a file holds that has this mark."""
    mark = resuming.digest([*runners, build.judge()], words)
    known = {} if job.fresh else files.known_in(path)
    return mark, known if known.get("mark") == mark else {}


def in_one_line(problem: Problem) -> str:
    """A problem in one line; the profiler's own error if it printed one."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()] or ["no error message"]
    error = next((line for line in lines if "==ERROR==" in line), None)
    return error.replace("==ERROR== ", "") if error else lines[0]


def profile(job: Job) -> dict[str, Any] | None:
    """{"source", "n", "why" (not Nsight Compute), "commit", "mark", "steps": {number: launches}}; None: no profile.

    Profiles of the same programs are taken from the folder.
    """
    sources, why = (["cuda", "check"] if job.kind == "cuda" else ["check"]), ""
    for source in sources:
        try:
            return _profiled(job, source, why)
        except build.CompileFailed:
            why = f"the {source} build does not compile"
        except Problem as problem:
            why = in_one_line(problem)
        note(f"no profile by {'Nsight Compute' if source == 'cuda' else 'the check build'}: {why}")
    return None


def _profiled(job: Job, source: str, why: str) -> dict[str, Any] | None:
    path = job.folder / "csv/profile.json"
    runner = job.runner(source)
    build.compile_targets([build.judge(), runner], f"building {job.lab.name}")
    n = job.keys(source)
    mark, known = _kept(job, path, [runner], [source, n])
    if not isinstance(known.get("steps"), dict):
        known = {"source": source, "n": n, "commit": machine.commit(), "mark": mark, "steps": {}}
    found: dict[str, Any] = {**known, "why": why}
    missing = [number for number in job.steps if str(number) not in found["steps"]]
    if missing and source == "cuda" and not shutil.which("ncu"):
        raise Problem("ncu is not installed; it comes with the CUDA toolkit")
    started = time.monotonic()
    with Progress(f"{job.lab.name}, profile") as progress:
        for place, number in enumerate(missing, 1):
            if time.monotonic() - started > job.seconds:
                note(
                    f"no profile of step {number}: the others took {job.seconds:g} s; the same command continues there"
                )
                continue
            progress.update(f"step {number}, {place} of {len(missing)}")
            try:
                case = job.lab.usual_case(job.lab.own_line(number), n)
                launches = profiles.launches_of(job.judge, case, source, job.solution)
            except Problem as problem:
                if source == "cuda" and not found["steps"]:
                    raise  # it will refuse the others as well
                note(f"no profile of step {number}: {in_one_line(problem)}")
                continue
            if launches:
                found["steps"][str(number)] = launches_in_short(launches)
                files.write_whole(path, json.dumps(found, indent=1) + "\n")
    return found if found["steps"] else None


def launches_in_short(launches: Iterable[Launch]) -> list[Launch]:
    """One entry for each kernel and shape, or one for a kernel with many shapes."""
    groups = profiles.gathered(launches)
    for group in groups:
        x, y, z = group["grid"]
        group["blocks_in_all"] = x * y * z * group["launches"]
        group["warps_in_all"] = profiles.warps_per_block(group) * group["blocks_in_all"]
    found: list[Launch] = []
    for name in dict.fromkeys(group["kernel"] for group in groups):
        own = [group for group in groups if group["kernel"] == name]
        found += own if len(own) <= MAX_SHAPES else [_together(own)]
    return found


def _together(groups: Sequence[Mapping[str, Any]]) -> Launch:
    """Several shapes of one kernel as one: the counts of all, the rest of the largest."""
    largest = max(groups, key=lambda group: group["warps_in_all"] / group["launches"])
    combined = dict(largest, shapes=len(groups))
    for name in {name for group in groups for name in group}:
        if name in ("time_ns", "barriers", "launches") or name.endswith(
            ("requests", "wavefronts", "sectors", "_in_all")
        ):
            combined[name] = sum(group.get(name) or 0 for group in groups)
    return combined


def timelines_of(job: Job) -> list[Recorded]:
    """By step. Those of the same programs are taken from the folder."""
    lines = [line for line in job.lab.steps if line.memory == "host" and line.number in job.steps]
    if not lines:
        return []
    runner = job.runner(job.kind)
    known_path = job.folder / "csv/timelines.json"
    mark, known = _kept(job, known_path, [runner], [job.kind, timelines.USUAL])
    kept = known.get("steps", [])
    found = []
    with Progress(f"{job.lab.name}, timelines") as progress:
        for place, line in enumerate(lines, 1):
            progress.update(f"step {line.number}, {place} of {len(lines)}")
            path = job.folder / f"csv/timeline-{line.number}.json"
            try:
                found.append(timelines.read(path) if line.number in kept else _record(job, line, path))
            except Problem as problem:
                note(f"no timeline of step {line.number}: {in_one_line(problem)}")
    known = {"mark": mark, "steps": [recorded.step for recorded in found]}
    files.write_whole(known_path, json.dumps(known) + "\n")
    return found


def _record(job: Job, line: Step, path: Path) -> Recorded:
    case = timelines.usual_case(Case(job.lab.name, line.number, 0, type=job.lab.type_of(line), seed=1), line, job.kind)
    recorded = timelines.record(job.judge, case, line, job.kind, job.solution, None)
    timelines.write(path, recorded)
    return recorded


VERDICT_KEYS = 1 << 14  # of lines without a budget, as many as most budgets have
SECONDS = 120.0  # after these no line begins


@dataclass(frozen=True)
class Judged:
    """What is known of a line of the lab's table: its quick tests, and what one sort costs on the check build."""

    cases: int = 0  # quick ones that have passed
    builds: tuple[str, ...] = ()  # those on which `check` has passed the whole step
    failed: Optional[Outcome] = None  # of the first case that fails, in the quick tests or on the check build
    check: str = ""  # "passed", "failed" or "over budget"; "": not run
    n: int = 0  # keys of that sort
    launches: int = 0
    costs: dict[str, float] = field(default_factory=dict)


def verdicts(job: Job) -> dict[str, Judged]:
    """What is known of each line, by its name."""
    path = job.folder / "csv/verdicts.json"
    observed = "cpu" in build.runnable()
    runners = [job.runner(job.kind), *([job.runner("check")] if observed else [])]
    try:
        build.compile_targets([build.judge(), *runners], f"building {job.lab.name}")
    except build.CompileFailed:
        note("no verdicts: the check build does not compile")
        return {}
    mark, known = _kept(job, path, runners, [one.name for one in fields(Judged)])
    lines: dict[str, Any] = known.get("lines", {})
    missing = [line for line in job.lab.steps if line.name not in lines]
    started = time.monotonic()
    with Progress(f"{job.lab.name}, tests and budgets", brief=bool(missing)) as progress:
        for line in missing:
            if time.monotonic() - started > SECONDS:
                note(f"no verdict on {line.name}: the others took {SECONDS:g} s; the same command continues there")
                continue
            progress.update(f"step {line.number}, {line.name}")
            try:
                lines[line.name] = plain(_judged(job, line, observed))
            except Problem as problem:
                note(f"no verdict on {line.name}: {str(problem).splitlines()[0]}")
                continue
            files.write_whole(path, json.dumps({"mark": mark, "lines": lines}, indent=1) + "\n")
    return {name: _with_check(job, name, from_json(Judged, found)) for name, found in lines.items()}


def _with_check(job: Job, name: str, found: Judged) -> Judged:
    """The same with the builds on which `check` has passed the whole step."""
    if job.solution:
        return found
    number = next(line.number for line in job.lab.steps if line.name == name)
    checked = ProgressFile().verdict(find_step(job.lab.name, number))
    return replace(found, builds=checked.builds) if checked.word == "passed" else found


def _judged(job: Job, line: Step, observed: bool) -> Judged:
    """The quick tests of one line, and one sort on the check build."""
    graded = running.Graded()
    groups = running.groups_of(job.judge.cases(job.lab.name, line.number, "quick", job.kind), line)
    running.run_cases(job.judge, job.runner(job.kind), groups, None, graded=graded)
    judged = Judged(graded.cases, failed=graded.failure)
    return _counted(job, line, judged) if observed and not graded.failure else judged


def _counted(job: Job, line: Step, judged: Judged) -> Judged:
    """What one sort costs on the check build: that of the line's budget, or of as many keys as it affords."""
    groups = job.judge.cases(job.lab.name, line.number, "budget", "check", seed=1) if line.budget else ()
    cases = [case for group in groups for case in group.cases if case.task == line.task]
    n = min(VERDICT_KEYS, line.affordable.check, VERDICT_KEYS if line.max_n is None else line.max_n)
    case = cases[0] if cases else job.lab.usual_case(line, n)
    outcome = job.judge.run(job.runner("check"), case, environment=check_build.environment())
    if outcome.findings or outcome.status != "verified":
        return replace(judged, check="failed", failed=outcome)
    costs = profiles.costs(outcome.launches, case.n, outcome.copied_bytes)
    over = line.budget and check_build.Costs(line.name, profiles.against_budget(costs, line.budget)).over
    word = "over budget" if over and check_build.counts_exactly() else "passed"
    return replace(judged, check=word, n=case.n, launches=len(outcome.launches), costs=costs)


WIDEST = 1100  # pixels of a picture that is legible on a page


def _by_aptness(job: Job) -> list[Step]:
    """The lines of the steps that may be drawn: first that which the table chooses, then the others from the last."""
    lines = [job.lab.own_line(number) for number in sorted(job.steps, reverse=True)]
    chosen = [line for line in job.lab.steps if line.picture.is_in_report and line.number in job.steps]
    return chosen + [line for line in lines if line not in chosen]


def picture(job: Job) -> str:
    """Draws the run of a step that fits a page, as plots/run.svg. Returns its caption; "" if there is none. It is drawn
    again only if the program has changed."""
    lab, runner = job.lab, job.runner("check")
    if not runner.exists():
        return ""
    known_path, path = job.folder / "csv/run.json", job.folder / "plots/run.svg"
    lines = _by_aptness(job)
    mark, known = _kept(job, known_path, [runner], [[line.number, astuple(line.picture)] for line in lines])
    if known and path.is_file():
        return str(known.get("caption", ""))
    for line in lines:
        case = pictured(lab.usual_case(line, line.picture.n), line.picture)
        try:
            svg, run, _ = draw_run(job.judge, runner, case, line.picture)
        except Problem as problem:
            note(f"no picture of step {line.number}: {str(problem).splitlines()[0]}")
            continue
        width = re.search(r'<svg[^>]*? width="([\d.]+)', svg)
        if run.truncated or not width or float(width[1]) > WIDEST:
            continue
        caption = (
            f"Step {line.number:02} {line.name}, {case.n:,} {case.type} keys: who reads and writes which "
            f"place, from left to right. (Others: ./workbook picture {lab.name} STEP)"
        )
        files.write_whole(path, svg)
        files.write_whole(known_path, json.dumps({"mark": mark, "caption": caption}, indent=1) + "\n")
        return caption
    return ""
