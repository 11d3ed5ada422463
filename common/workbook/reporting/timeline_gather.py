"""The timelines of a report: of each step that sorts host memory, recorded once and kept in the report's folder."""

from __future__ import annotations

import json
from pathlib import Path

from ..core import build, files, resuming, timelines
from ..core.console import Problem, Progress, note
from ..core.judge_client import Case, Step
from ..core.timelines import Recorded
from .measure import known_in
from .profile_gather import Job, in_one_line


def gather(job: Job) -> list[Recorded]:
    """By step. Those of the same programs are taken from the folder."""
    lines = [line for line in job.lab.steps if line.memory == "host" and line.number in job.steps]
    if not lines:
        return []
    runner = build.runner(job.lab.name, job.kind, job.solution)
    mark = resuming.digest([runner, build.judge()], [job.kind, timelines.USUAL])
    known_path = job.folder / "csv/timelines.json"
    known = {} if job.fresh else known_in(known_path)
    kept = known.get("steps", []) if known.get("mark") == mark else []
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
