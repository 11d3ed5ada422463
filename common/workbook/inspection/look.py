"""What grading would refuse of a step's file, found while its tests run: `check` has just compiled it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ..core import build, files
from ..core.console import Problem
from ..core.course import ROOT, StepFile
from ..core.judge_types import Note
from . import inspector

KIND = "grading"


class Look:
    """The inspection of one step's object, which begins at once."""

    def __init__(self, step: StepFile, kind: str) -> None:
        self._step, self._kind = step, kind
        self._pool = ThreadPoolExecutor(1)
        self._found = self._pool.submit(self._notes)

    def _notes(self) -> list[Note]:
        made = build.object_of(self._step, self._kind)
        if not made:
            return []
        source = f"labs/{self._step.file}"
        try:
            # Whatever else the lab's files define, this one may use: grading judges those by themselves.
            found = inspector.inspect([build.folder() / made], inspector.INITIALISERS)
        except (Problem, OSError) as problem:
            return [Note(source, 1, KIND, text=f"cannot tell what would be refused: {problem}")]
        text = files.text_of(ROOT / source)
        notes = []
        for sentence in found.sentences:
            line = inspector.place_of(sentence, source, text).rpartition(":")[2]
            words = f"this file would get no points: {sentence}"
            notes.append(Note(source, int(line) if line.isdigit() else 1, KIND, text=words))
        return notes

    def notes(self) -> list[Note]:
        """A note for each thing. Waits for them."""
        return self._found.result()

    def cancel(self) -> None:
        """The step has failed, or the notes are known."""
        self._pool.shutdown(wait=False)
