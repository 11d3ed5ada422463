"""What grading would refuse of a step's file, found while its tests run: `check` has just compiled it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ..core import build
from ..core.console import Problem
from ..core.course import ROOT, StepFile
from . import inspector


class Look:
    """The inspection of one step's object, which begins at once."""

    def __init__(self, step: StepFile, kind: str) -> None:
        self._step, self._kind = step, kind
        self._pool = ThreadPoolExecutor(1)
        self._found = self._pool.submit(self._sentences)

    def _sentences(self) -> list[str]:
        made = build.object_of(self._step, self._kind)
        if not made:
            return []
        try:
            # Whatever else the lab's files define, this one may use: grading judges those by themselves.
            found = inspector.inspect([build.folder() / made], inspector.INITIALISERS)
        except (Problem, OSError) as problem:
            return [f"what grading would refuse is not known: {problem}"]
        source = f"labs/{self._step.file}"
        text = (ROOT / source).read_text(encoding="utf-8", errors="replace")
        return [
            f"{inspector.place_of(sentence, source, text)}: note: grading gives no points for this file: {sentence}"
            for sentence in found.sentences
        ]

    def notes(self) -> list[str]:
        """A sentence for each thing. Waits for them."""
        return self._found.result()

    def cancel(self) -> None:
        """The step has failed, or the notes are known."""
        self._pool.shutdown(wait=False)
