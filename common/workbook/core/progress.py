"""Verdicts on a student's steps and the hints shown, remembered in .workbook/progress.json."""

import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import files
from .console import note
from .course import ROOT, STATE, StepFile


def _hints(step: StepFile) -> str:
    """The name of the number of hints that were shown."""
    return f"hints {step.part}" if step.part else "hints"


class ProgressFile:
    """The file: for each lab and step the verdicts by build, and how many hints were shown."""

    def __init__(self, state: Path = STATE, root: Path = ROOT) -> None:
        self.path = state / "progress.json"
        self.state = state
        self.root = root

    def read(self) -> dict[str, Any]:
        """The content; empty if there is no file yet. A damaged file is renamed, not overwritten."""
        try:
            content = json.loads(self.path.read_text())
            if isinstance(content, dict):
                return content
        except FileNotFoundError:
            return {}
        except (ValueError, OSError):
            pass
        aside = self.path.with_suffix(".damaged")
        os.replace(self.path, aside)
        note(f"{self.path.name} could not be read; it is kept as {aside.name}, and progress starts from scratch")
        return {}

    def _change(self, step: StepFile, change: Callable[[dict[str, Any]], None]) -> None:
        with files.locked("progress", self.state):
            content = self.read()
            change(content.setdefault(step.lab, {}).setdefault(str(step.number), {}))
            files.write_whole(self.path, json.dumps(content, indent=1, sort_keys=True) + "\n")

    def _digest(self, step: StepFile) -> str:
        try:
            return hashlib.sha256((self.root / "labs" / step.file).read_bytes()).hexdigest()[:16]
        except OSError:
            return ""

    def save_verdict(self, step: StepFile, build: str, verdict: str) -> None:
        """Remembers a verdict ("passed", "failed", "not written", "over budget") on the file as it is now."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        entry = {"verdict": verdict, "file": self._digest(step), "when": now}
        self._change(step, lambda known: known.update({build: entry}))

    def verdict(self, step: StepFile) -> str:
        """The verdict of the last check in a few words, or that the file has changed since."""
        known = self.read().get(step.lab, {}).get(str(step.number), {})
        verdicts = {b: v for b, v in known.items() if isinstance(v, dict)}
        if not verdicts:
            return "not checked yet"
        if any(v.get("file") != self._digest(step) for v in verdicts.values()):
            return "changed since the last check"
        for worst in ("not written", "failed", "over budget"):
            builds = sorted(b for b, v in verdicts.items() if v.get("verdict") == worst)
            if builds:
                return worst if worst != "failed" else f"failed ({', '.join(builds)})"
        return f"passed ({', '.join(sorted(verdicts))})"

    def latest_lab(self) -> str:
        """The lab of the last verdict; "" if there is none yet."""
        times = [
            (str(verdict.get("when", "")), lab)
            for lab, lab_steps in self.read().items()
            for known in lab_steps.values()
            for verdict in known.values()
            if isinstance(verdict, dict)
        ]
        return max(times)[1] if times else ""

    def hints_shown(self, step: StepFile) -> int:
        """How many hints on a step, or on a part of it, were shown so far."""
        return int(self.read().get(step.lab, {}).get(str(step.number), {}).get(_hints(step), 0))

    def save_hints_shown(self, step: StepFile, number: int) -> None:
        """Remembers how many hints were shown."""
        self._change(step, lambda known: known.update({_hints(step): number}))
