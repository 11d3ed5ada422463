"""The profiles of a report: gathered once, and kept in the report's folder."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core import build, files, machine, profiles, resuming
from ..core.console import Problem, Progress, note
from ..core.judge_client import Case, JudgeClient, Lab
from ..core.profiles import Launch
from .measure import known_in

MAX_SHAPES = 3  # of one kernel, each with a line; more are combined
KEYS = {"check": 1 << 14, "cuda": 1 << 20}  # at most


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

    def keys(self, source: str) -> int:
        """How many keys every step can sort in a short time."""
        lines = map(self.lab.own_line, self.steps)
        most = min([KEYS[source], *(line.affordable.on(source) for line in lines)])
        return 1 << max(most.bit_length() - 1, 0)


def in_one_line(problem: Problem) -> str:
    """A problem in one line; the profiler's own error if it printed one."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()] or ["no error message"]
    error = next((line for line in lines if "==ERROR==" in line), None)
    return error.replace("==ERROR== ", "") if error else lines[0]


def gather(job: Job) -> dict[str, Any] | None:
    """{"source", "n", "why" (not Nsight Compute), "commit", "mark", "steps": {number: launches}}; None: no profile.

    Profiles of the same programs are taken from the folder.
    """
    sources, why = (["cuda", "check"] if job.kind == "cuda" else ["check"]), ""
    for source in sources:
        try:
            return _gather(job, source, why)
        except build.CompileFailed:
            why = f"the {source} build does not compile"
        except Problem as problem:
            why = in_one_line(problem)
        note(f"no profile by {'Nsight Compute' if source == 'cuda' else 'the check build'}: {why}")
    return None


def _gather(job: Job, source: str, why: str) -> dict[str, Any] | None:
    path = job.folder / "csv/profile.json"
    runner = build.runner(job.lab.name, source, job.solution)
    build.compile_targets([build.judge(), runner], f"building {job.lab.name}")
    n = job.keys(source)
    mark = resuming.digest([runner, build.judge()], [source, n])
    found: dict[str, Any] = {
        "source": source,
        "n": n,
        "why": why,
        "commit": machine.commit(),
        "mark": mark,
        "steps": {},
    }
    known = {} if job.fresh else known_in(path)
    if known.get("mark") == mark and isinstance(known.get("steps"), dict):
        found = {**known, "why": why}
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
                line = job.lab.own_line(number)
                type_name = job.lab.type_of(line)
                case = Case(job.lab.name, number, n, line.task, type_name, input=line.input_for(type_name), seed=1)
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
