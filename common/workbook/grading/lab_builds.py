"""Compiles a submission's files for one lab.

A file that does not compile costs its own step: the others are linked with the starter in its place.
"""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from . import inspection
from .grades import Failure
from .programs import Compiled, Programs, step_files
from .sandbox import Box
from .texts import shortened


class MachineFault(Exception):
    """The grader or the machine is at fault, not the submission; the text is a sentence."""


@dataclass
class LabBuild:
    """The runners of a lab with a submission's files."""

    lab: str
    programs: dict[str, Path] = field(default_factory=dict)  # by build
    unchanged: set[str] = field(default_factory=set)  # files as they were given out, or that were not handed in
    broken: dict[str, Failure] = field(default_factory=dict)  # files that the starter stands in for
    refused: tuple[str, ...] = ()  # why it may not run
    unknown: tuple[str, ...] = ()  # what it uses beyond what is known to be harmless


class LabBuilder:
    """Builds labs of submissions in a box."""

    def __init__(self, programs: Programs, box: Box, workers: int) -> None:
        self.programs, self.box, self.workers = programs, box, workers

    def build(self, lab: str, texts: Mapping[str, str]) -> LabBuild:
        """The runners of a lab. `texts`: what was handed in, by the names of the files. Raises MachineFault."""
        made = LabBuild(lab)
        names = step_files(lab)
        made.unchanged = {
            name for name in names if texts.get(name, "") in ("", self.programs.starters[f"{lab}/{name}"])
        }
        if made.unchanged == set(names):
            return made
        self.programs.lay_out(self.box, lab, {name: text for name, text in texts.items() if name not in made.unchanged})
        objects = self._compile(made, [name for name in names if name not in made.unchanged])
        for kind in self.programs.kinds:
            if made.refused:
                return made
            self._link(made, kind, objects)
        return made

    def _compile(self, made: LabBuild, names: Sequence[str]) -> dict[tuple[str, str], Path]:
        """The objects by file and build. A file that does not compile on a build is also in `made.broken`."""
        jobs = [(name, kind) for name in names for kind in self.programs.kinds]
        with ThreadPoolExecutor(self.workers) as pool:
            results = list(pool.map(lambda job: self.programs.compile(self.box, made.lab, *job), jobs))
        for (name, kind), compiled in zip(jobs, results):
            if not compiled.item and name not in made.broken:
                self._require_machine(compiled, made.lab, name, kind)
                made.broken[name] = self._failure(made.lab, name, kind, compiled.words)
        objects = {job: compiled.item for job, compiled in zip(jobs, results) if compiled.item}
        self._inspect(made, objects)
        return objects

    def _inspect(self, made: LabBuild, objects: Mapping[tuple[str, str], Path]) -> None:
        """What the objects use. The one place where submissions are inspected."""
        for kind in self.programs.kinds:
            own = [path for (_, k), path in objects.items() if k == kind]
            found = inspection.inspect(own, self.programs.compiler(kind))
            made.refused = tuple(dict.fromkeys((*made.refused, *found.refused)))
            made.unknown = tuple(dict.fromkeys((*made.unknown, *found.unknown)))

    def _require_machine(self, compiled: Compiled, lab: str, name: str, kind: str) -> None:
        """Where the compiler failed without an error in the source, the starter must compile. Raises MachineFault."""
        if compiled.fault and not self._starter_compiles(lab, name, kind):
            raise MachineFault(f"the compiler does not work in the sandbox: {compiled.words.splitlines()[0][:200]}")

    def _starter_compiles(self, lab: str, name: str, kind: str) -> bool:
        place = self.box.folder / "tree/labs" / lab / name
        kept = place.read_bytes()
        try:
            place.write_text(self.programs.starters[f"{lab}/{name}"], encoding="utf-8")
            return self.programs.compile(self.box, lab, name, kind).item is not None
        finally:
            place.write_bytes(kept)

    @staticmethod
    def _failure(lab: str, name: str, kind: str, words: str) -> Failure:
        place = re.search(rf"{re.escape(name)}:\d+", words)
        return Failure(
            kind,
            lab,
            int(name[:2]),
            status="does not compile",
            message=shortened(words),
            place=place[0] if place else name,
        )

    def _link(self, made: LabBuild, kind: str, objects: Mapping[tuple[str, str], Path]) -> None:
        """Links a runner. Where that fails, files are added to the starters one by one, to find those that break it."""
        names = step_files(made.lab)
        ours = {name: self.programs.starter_object(made.lab, name, kind) for name in names}
        theirs = {name: objects[name, kind] for name in names if (name, kind) in objects and name not in made.broken}
        linked = self.programs.link(self.box, made.lab, kind, {**ours, **theirs})
        if not linked.item:
            used = dict(ours)
            for name, item in theirs.items():
                attempt = self.programs.link(self.box, made.lab, kind, {**used, name: item})
                if attempt.item:
                    used[name], linked = item, attempt
                else:
                    made.broken[name] = self._failure(made.lab, name, kind, attempt.words)
            linked = linked if linked.item else self.programs.link(self.box, made.lab, kind, used)
        if not linked.item:
            raise MachineFault(f"the starters of {made.lab} cannot be linked in the sandbox: {linked.words[:200]}")
        made.programs[kind] = linked.item
