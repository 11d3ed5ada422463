"""What grading would refuse of a step's file, for `check`, which has just compiled it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ..core import build, files
from ..core.console import Problem
from ..core.course import ROOT, StepFile, source_of, steps
from ..core.judge_types import Note
from . import inspector
from .objects import Object, Unreadable

KIND = "grading"


def notes(step: StepFile, kind: str, may_use: Collection[int]) -> list[Note]:
    """A note for each thing in the step's object file that grading would refuse. `kind`: the build. `may_use`: the
    numbers of the steps that it may call."""
    made = build.object_of(step, kind)
    if not made:
        return []
    source = source_of(step.file)
    try:
        found = inspector.inspect([build.folder() / made], inspector.INITIALISERS)
        paths = {Path(other.file).name: build.object_of(other, kind) for other in steps(step.lab)}
        objects = {name: Object(build.folder() / path) for name, path in paths.items() if path}
        calls = inspector.calls_of_others(Path(step.file).name, objects, may_use)
    except (Problem, Unreadable, OSError) as problem:
        return [Note(source, 1, KIND, text=f"cannot tell what would be refused: {problem}")]
    text = files.text_of(ROOT / source)
    noted = []
    for sentence in (*found.sentences, *calls):
        line = inspector.place_of(sentence, source, text).rpartition(":")[2]
        words = f"this file would get no points: {sentence}"
        noted.append(Note(source, int(line) if line.isdigit() else 1, KIND, text=words))
    return noted
