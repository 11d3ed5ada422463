"""The commands of the build folder that make a lab's runner."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..core import build
from ..core.console import Problem
from ..core.course import has_solutions, steps
from ..core.recipe import commands

_REPLACED = ("-o", "-c", "-MF", "-MQ", "-MT")  # options with an argument: files that are elsewhere in the sandbox
_DEPENDENCIES = ("-MD", "-fpch-deps")  # options that ask for a list of what is read


def step_files(lab: str) -> list[str]:
    """The names of the files that students fill in: "02_shared.cu"."""
    return [step.file.partition("/")[2] for step in steps(lab)]


def _without_launcher(words: list[str]) -> list[str]:
    """A compiler's command without ccache, and with the path of the compiler: other variables hold in the sandbox."""
    program, *rest = words[1:] if Path(words[0]).name in ("ccache", "sccache") else words
    return [shutil.which(program) or program, *rest]


def _without_files(words: Sequence[str]) -> list[str]:
    """A compiler's command without the files that it reads and writes."""
    before = ("", *words)
    left_out = {*_REPLACED, *_DEPENDENCIES}
    return [word for last, word in zip(before, words) if word not in left_out and last not in _REPLACED]


class LabCommands:
    """The commands that make a lab's runner of one build, as they are in the build folder."""

    def __init__(self, lab: str, kind: str) -> None:
        self.lab, self.kind = lab, kind
        self.target = build.target(lab, kind)
        self.compile: dict[str, list[str]] = {}  # by the name of the file, without what is read and written
        self.objects: dict[str, list[str]] = {}  # by the name of the file, relative to the build folder
        for entry in build.compile_commands():
            output = entry.get("output", "")
            name = Path(entry["file"]).name.partition(".")[0] + ".cu"  # a starter can be compiled in two parts
            if output.startswith(f"{self.target}.p/") and name in step_files(lab):
                self.compile[name] = _without_files(_without_launcher(shlex.split(entry["command"])))
                self.objects.setdefault(name, []).append(output)
        self.link = _link_command(self.target)
        if not self.link or set(self.compile) != set(step_files(lab)):
            raise Problem(f"the build folder has no commands for {self.target}: remove build/ and run this again")
        if has_solutions():
            self._call_solutions()

    def _call_solutions(self) -> None:
        """Links the solution of a step of another lab that this one calls: each lab is graded by itself."""
        of_other_lab = re.compile(rf"labs/(?!{self.lab}-)[^/]*-{self.kind}(-solution)?\.p/.*\.o")
        starters_ = [word for word in self.link if of_other_lab.fullmatch(word)]
        if not starters_:
            return
        solutions = [
            word
            for word in _link_command(build.target(self.lab, self.kind, solution=True))
            if of_other_lab.fullmatch(word)
        ]
        # A starter's step can be compiled in two parts, and a solution is in one.
        first = self.link.index(starters_[0])
        kept = [word for word in self.link if word not in starters_]
        self.link = [*kept[:first], *solutions, *kept[first:]]

    def inputs(self) -> list[str]:
        """What is linked besides the objects of the student's files, relative to the build folder."""
        own = {*self.of_steps(), self.target}
        words = [word for word in self.link[1:] if not word.startswith("-") and word not in own]
        return [word for word in words if word.endswith((".o", ".a", ".so")) and not os.path.isabs(word)]

    def of_steps(self) -> list[str]:
        """The objects of the files that students fill in."""
        return [item for parts in self.objects.values() for item in parts]

    def of_runner(self) -> list[str]:
        """The runner's main program and our libraries, which are linked as one object."""
        return [word for word in self.inputs() if word.endswith("_main.cpp.o") or word.startswith("common/")]


def _link_command(target: str) -> list[str]:
    """The command of the build folder that links a program; empty if there is none."""
    try:
        return _without_launcher(commands(build.folder(), target, "-s")[-1])
    except subprocess.CalledProcessError:
        return []
