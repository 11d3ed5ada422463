"""What a student has reached and read, remembered in .workbook/progress.json."""

import hashlib
import json
import os
import time

from . import files
from .console import note
from .course import ROOT, STATE


class ProgressFile:
    """The file's content: for each lab and step the verdicts by build, and how many hints were shown."""

    def __init__(self, state=STATE, root=ROOT):
        self.path = state / "progress.json"
        self.state = state
        self.root = root

    def read(self):
        """The content; empty if there is none yet. A damaged file is put aside, not overwritten."""
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
        note(f"{self.path.name} could not be read; it is kept as {aside.name}, and progress starts anew")
        return {}

    def _change(self, step, change):
        with files.locked("progress", self.state):
            content = self.read()
            change(content.setdefault(step.lab, {}).setdefault(str(step.number), {}))
            files.write_whole(self.path, json.dumps(content, indent=1, sort_keys=True) + "\n")

    def _digest(self, step):
        try:
            return hashlib.sha256((self.root / "labs" / step.file).read_bytes()).hexdigest()[:16]
        except OSError:
            return ""

    def save_verdict(self, step, build, verdict):
        """Remembers a verdict ("passed", "failed", "not written") on the file as it is now."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        entry = {"verdict": verdict, "file": self._digest(step), "when": now}
        self._change(step, lambda known: known.update({build: entry}))

    def verdict(self, step):
        """One word or two on a step: what the last check said, and whether the file is still that one."""
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

    def hints_shown(self, step):
        """How many hints on a step were shown so far."""
        return self.read().get(step.lab, {}).get(str(step.number), {}).get("hints", 0)

    def save_hints_shown(self, step, number):
        """Remembers how many hints were shown."""
        self._change(step, lambda known: known.update({"hints": number}))
