"""The picture of a report: who reads and writes what in a run of one of the student's steps."""

from __future__ import annotations

import json
import re

from ..core import build, files, resuming
from ..core.console import Problem, note
from ..core.judge_client import Case
from ..pictures import access_picture
from ..pictures.observed import observe
from .measure import known_in
from .profile_gather import Job

N = 16  # keys
WIDEST = 1100  # pixels of a picture that is legible on a page


def draw(job: Job) -> str:
    """Draws the last of the steps whose picture fits a page, as plots/run.svg. Returns its caption; "" if there is
    none. It is drawn again only if the program has changed."""
    lab, runner = job.lab, build.runner(job.lab.name, "check", job.solution)
    if not runner.exists():
        return ""
    known_path, path = job.folder / "csv/run.json", job.folder / "plots/run.svg"
    mark = resuming.digest([runner, build.judge()], [N, list(job.steps)])
    known = known_in(known_path)
    if known.get("mark") == mark and path.is_file():
        return str(known.get("caption", ""))
    for number in sorted(job.steps, reverse=True):
        line = lab.own_line(number)
        type_name = lab.type_of(line)
        case = Case(lab.name, number, N, line.task, type_name, input=line.input_for(type_name), seed=1)
        try:
            run, outcome = observe(job.judge, runner, case)
            svg = access_picture.draw(run, outcome.findings, outcome.title, N, type_name)
        except Problem as problem:
            note(f"no picture of step {number}: {str(problem).splitlines()[0]}")
            continue
        width = re.search(r'<svg[^>]*? width="([\d.]+)', svg)
        if run.truncated or not width or float(width[1]) > WIDEST:
            continue
        caption = (
            f"Step {number:02} {line.name} sorts {N} {type_name} keys: who reads and writes which place, from left to "
            f"right. (Others: ./workbook picture {lab.name} STEP)"
        )
        files.write_whole(path, svg)
        files.write_whole(known_path, json.dumps({"mark": mark, "caption": caption}, indent=1) + "\n")
        return caption
    return ""
