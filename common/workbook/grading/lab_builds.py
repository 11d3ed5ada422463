"""Compiles a submission's files for one lab.

A file that does not compile, or that uses what is refused, costs its own step: the others are linked with the starter
in its place.
"""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ..inspection import inspector
from ..inspection.objects import Object
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
    refused: dict[str, Failure] = field(default_factory=dict)  # files that may not run; the same
    unknown: tuple[str, ...] = ()  # what the others use beyond what is known to be harmless

    @property
    def lost(self) -> dict[str, Failure]:
        """The files that the starter stands in for, and why."""
        return {**self.broken, **self.refused}


def _failure(lab: str, name: str, kind: str, words: str, text: str) -> Failure:
    """A file that does not compile, or cannot be linked. The place is always in the student's own text."""
    lines = (int(number) for number in re.findall(rf"(?<![\w/-])(?:labs/{lab}/)?{re.escape(name)}:(\d+)", words))
    line = next((line for line in lines if 0 < line <= len(text.splitlines())), 0)
    place = f"{name}:{line}" if line else inspector.place_of(words, name, text)
    return Failure(kind, lab, int(name[:2]), status="does not compile", message=shortened(words), place=place)


class LabBuilder:
    """Builds labs of submissions in a box."""

    def __init__(self, programs: Programs, box: Box, workers: int) -> None:
        self.programs, self.box, self.workers = programs, box, workers
        self.texts: Mapping[str, str] = {}  # what was handed in of the lab that is built, by the names of the files

    def build(self, lab: str, texts: Mapping[str, str]) -> LabBuild:
        """The runners of a lab. `texts`: what was handed in, by the names of the files. Raises MachineFault."""
        made = LabBuild(lab)
        self.texts = texts
        names = step_files(lab)
        made.unchanged = {
            name for name in names if texts.get(name, "") in ("", self.programs.starters[f"{lab}/{name}"])
        }
        if made.unchanged == set(names):
            return made
        self.programs.lay_out(self.box, lab, {name: text for name, text in texts.items() if name not in made.unchanged})
        objects = self._compile(made, [name for name in names if name not in made.unchanged])
        self._inspect(made, objects)
        for kind in self.programs.kinds:
            self._link(made, kind, objects)
        return made

    def _compile(self, made: LabBuild, names: Sequence[str]) -> dict[tuple[str, str], Path]:
        """The objects by file and build. A file that does not compile on a build is also in `made.broken`."""
        jobs = [(name, kind) for name in names for kind in self.programs.kinds]
        with ThreadPoolExecutor(self.workers) as pool:
            results = list(pool.map(lambda job: self.programs.compile(self.box, made.lab, *job), jobs))
        for (name, kind), compiled in zip(jobs, results):
            if compiled.refused:
                self._refuse(made, name, compiled.refused)
            elif not compiled.item and name not in made.broken:
                self._require_machine(compiled, made.lab, name, kind)
                made.broken[name] = _failure(made.lab, name, kind, compiled.words, self.texts[name])
        return {job: compiled.item for job, compiled in zip(jobs, results) if compiled.item}

    def _inspect(self, made: LabBuild, objects: Mapping[tuple[str, str], Path]) -> None:
        """What the objects use. The one place where submissions are inspected. Once a file is refused, the others must
        do without what it defines, so they are inspected again."""
        known = -1
        while known < len(made.refused):
            known = len(made.refused)
            for kind in self.programs.kinds:
                own = [path for (name, k), path in objects.items() if k == kind and name not in made.lost]
                found = inspector.inspect(own)
                made.unknown = tuple(dict.fromkeys((*made.unknown, *found.unknown)))
                for name, sentences in found.refused.items():
                    self._refuse(made, name, sentences)
        for kind in self.programs.kinds:
            self._refuse_calls(made, kind, objects)

    def _refuse_calls(self, made: LabBuild, kind: str, objects: Mapping[tuple[str, str], Path]) -> None:
        """Refuses files that call functions of steps which theirs must not use."""
        theirs = {name: Object(path) for (name, k), path in objects.items() if k == kind and name not in made.lost}
        all_steps = {name: Object(self.programs.starter_object(made.lab, name, kind)) for name in step_files(made.lab)}
        for name in theirs:
            may_call = self.programs.tables[made.lab].may_call(int(name[:2]))
            if sentences := inspector.calls_of_others(name, {**all_steps, **theirs}, may_call):
                self._refuse(made, name, sentences)

    def _refuse(self, made: LabBuild, name: str, sentences: Sequence[str]) -> None:
        """Refuses a file, unless it has been."""
        place, words = inspector.place_of(sentences[0], name, self.texts[name]), "\n".join(sentences)
        why = Failure("", made.lab, int(name[:2]), status="refused", message=words, place=place)
        made.refused.setdefault(name, why)

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

    def _link(self, made: LabBuild, kind: str, objects: Mapping[tuple[str, str], Path]) -> None:
        """Links a runner. Where that fails, files are added to the starters one by one, to find those that break it."""
        names = step_files(made.lab)
        ours = {name: self.programs.starter_object(made.lab, name, kind) for name in names}
        theirs = {name: objects[name, kind] for name in names if (name, kind) in objects and name not in made.lost}
        linked = self.programs.link(self.box, made.lab, kind, {**ours, **theirs})
        if not linked.item:
            used = dict(ours)
            for name, item in theirs.items():
                attempt = self.programs.link(self.box, made.lab, kind, {**used, name: item})
                if attempt.item:
                    used[name], linked = item, attempt
                else:
                    made.broken[name] = _failure(made.lab, name, kind, attempt.words, self.texts[name])
            linked = linked if linked.item else self.programs.link(self.box, made.lab, kind, used)
        if not linked.item:
            raise MachineFault(f"the starters of {made.lab} cannot be linked in the sandbox: {linked.words[:200]}")
        made.programs[kind] = linked.item
