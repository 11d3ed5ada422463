"""What grading would refuse of a step's file, for `check`, which has just compiled it."""

from __future__ import annotations

from ..core import build, files
from ..core.console import Problem
from ..core.course import ROOT, StepFile, source_of
from ..core.judge_types import Note
from . import inspector

KIND = "grading"


def notes(step: StepFile, kind: str) -> list[Note]:
    """A note for each thing in the step's object file that grading would refuse. `kind`: the build."""
    made = build.object_of(step, kind)
    if not made:
        return []
    source = source_of(step.file)
    try:
        # Whatever else the lab's files define, this one may use: grading judges those by themselves.
        found = inspector.inspect([build.folder() / made], inspector.INITIALISERS)
    except (Problem, OSError) as problem:
        return [Note(source, 1, KIND, text=f"cannot tell what would be refused: {problem}")]
    text = files.text_of(ROOT / source)
    noted = []
    for sentence in found.sentences:
        line = inspector.place_of(sentence, source, text).rpartition(":")[2]
        words = f"this file would get no points: {sentence}"
        noted.append(Note(source, int(line) if line.isdigit() else 1, KIND, text=words))
    return noted
