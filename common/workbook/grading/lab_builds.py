"""Compiles a submission's files for one lab.

A file that does not compile, or that uses what is refused, costs its own step: the others are linked with the starter
in its place. A step that uses such a step runs with the reference solution of it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ..inspection import inspector
from ..inspection.objects import Object
from .grades import Failure
from .lab_commands import step_files
from .programs import Compiled, Programs
from .sandbox import Box
from .texts import shortened

# The types of keys: as a compiler names them, as a source does, and as the judge does.
_TYPES = {
    "unsigned char": ("uint8_t", "u8"),
    "unsigned short": ("uint16_t", "u16"),
    "unsigned int": ("uint32_t", "u32"),
    "unsigned long": ("uint64_t", "u64"),
    "int": ("int32_t", "i32"),
    "long": ("int64_t", "i64"),
    "float": ("float", "f32"),
    "double": ("double", "f64"),
    "unsigned int, unsigned int": ("uint32_t with values", "pairs"),
}


class MachineFault(Exception):
    """The grader or the machine is at fault, not the submission; the text is a sentence."""


@dataclass
class LabBuild:
    """The runners of a lab with a submission's files."""

    lab: str
    programs: dict[str, Path] = field(default_factory=dict)  # by build
    objects: dict[tuple[str, str], Path] = field(default_factory=dict)  # by file and build
    unchanged: set[str] = field(default_factory=set)  # files as they were given out, or that were not handed in
    broken: dict[str, Failure] = field(default_factory=dict)  # files that the starter stands in for
    refused: dict[str, Failure] = field(default_factory=dict)  # files that may not run; the same
    lacking: dict[str, Failure] = field(default_factory=dict)  # what else the starter stands in for
    missing_types: dict[str, set[str]] = field(default_factory=dict)  # of keys, as the judge names them, by file
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
        self._compile(made, [name for name in names if name not in made.unchanged])
        self._inspect(made)
        for kind in self.programs.kinds:
            self._link(made, kind)
        self._look_for_gaps(made)
        return made

    def _compile(self, made: LabBuild, names: Sequence[str]) -> None:
        """Makes the objects. A file that does not compile on a build is also in `made.broken`."""
        jobs = [(name, kind) for name in names for kind in self.programs.kinds]
        with ThreadPoolExecutor(self.workers) as pool:
            results = list(pool.map(lambda job: self.programs.compile(self.box, made.lab, *job), jobs))
        for (name, kind), compiled in zip(jobs, results):
            if compiled.refused:
                self._refuse(made, name, compiled.refused)
            elif not compiled.item and name not in made.broken:
                self._require_machine(compiled, made.lab, name, kind)
                made.broken[name] = _failure(made.lab, name, kind, compiled.words, self.texts[name])
        made.objects = {job: compiled.item for job, compiled in zip(jobs, results) if compiled.item}

    @staticmethod
    def _theirs(made: LabBuild, kind: str) -> dict[str, Path]:
        """The student's objects of a build that may run, by file."""
        return {name: path for (name, k), path in made.objects.items() if k == kind and name not in made.lost}

    def _starter(self, made: LabBuild, name: str, kind: str) -> Object:
        return Object(self.programs.starter_object(made.lab, name, kind))

    def _inspect(self, made: LabBuild) -> None:
        """What the objects use. The one place where submissions are inspected. Once a file is refused, the others must
        do without what it defines, so they are inspected again."""
        starters = {
            kind: {name: self._starter(made, name, kind) for name in step_files(made.lab)}
            for kind in self.programs.kinds
        }
        given = {kind: set().union(*(each.defined for each in starters[kind].values())) for kind in starters}
        known = -1
        while known < len(made.refused):
            known = len(made.refused)
            for kind in self.programs.kinds:
                found = inspector.inspect([*self._theirs(made, kind).values()], given=given[kind])
                made.unknown = tuple(dict.fromkeys((*made.unknown, *found.unknown)))
                for name, sentences in found.refused.items():
                    self._refuse(made, name, sentences)
        for kind in self.programs.kinds:
            self._refuse_calls(made, kind, starters[kind])

    def _refuse_calls(self, made: LabBuild, kind: str, starters: Mapping[str, Object]) -> None:
        """Refuses files that call functions of steps which theirs must not use."""
        theirs = {name: Object(path) for name, path in self._theirs(made, kind).items()}
        for name in theirs:
            may_call = self.programs.tables[made.lab].may_call(int(name[:2]))
            if sentences := inspector.calls_of_others(name, {**starters, **theirs}, may_call):
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

    def _link(self, made: LabBuild, kind: str) -> None:
        """Links a runner. Where that fails, files are added to the starters one by one, to find those that break it."""
        theirs = self._theirs(made, kind)
        linked = self.programs.link(self.box, made.lab, kind, theirs)
        if not linked.item:
            used: dict[str, Path] = {}
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

    def _look_for_gaps(self, made: LabBuild) -> None:
        """Notes which functions, and which key types, files lack. One that has none of its functions is broken."""
        kind = self.programs.kinds[0]
        called = Object(self.programs.runner_object(made.lab, kind)).undefined
        for name, path in self._theirs(made, kind).items():
            own, wanted = Object(path), called & self._starter(made, name, kind).defined
            gaps = inspector.lacking(own, wanted)
            if not gaps:
                continue
            shown = []
            for function, types in gaps.items():
                *others, last = [_TYPES.get(one, (one,))[0] for one in types] or [""]
                named = f"{', '.join(others)} and {last}" if others else last
                shown.append(function + f" for keys of type {named}" * bool(types))
            words = f"{name} does not define {', '.join(shown)}"
            place = inspector.place_of(words, name, self.texts[name])
            failure = Failure("", made.lab, int(name[:2]), status="lacks a function", message=words, place=place)
            (made.lacking if own.defined & wanted else made.broken)[name] = failure
            made.missing_types[name] = {_TYPES[one][1] for types in gaps.values() for one in types if one in _TYPES}

    def with_reference(self, made: LabBuild, step: int, lost: Collection[int]) -> tuple[dict[str, Path], list[int]]:
        """Runners for the cases of a step, and the numbers of the steps for which they have the reference solution.
        These are steps in `lost` of which the step uses what its own solution uses, and no more: the reference must not
        do its work. If it needs more of the student's file, nothing is replaced."""
        lab, kinds = made.lab, self.programs.kinds
        files = {int(name[:2]): name for name in step_files(lab)}
        own = self._theirs(made, kinds[0]).get(files[step])
        references = {n: self.programs.references.get((lab, name, kinds[0])) for n, name in files.items()}
        used = self.programs.tables[lab].may_call(step)
        replaced: list[int] = []
        for number in sorted(used & {*lost}):
            mine, other = references[step], references[number]
            if own and mine and other:
                taken = Object(own).undefined & Object(other).defined
                replaced += [number] if taken and taken <= Object(mine).undefined else []
        programs = {kind: self._linked_with(made, step, used, replaced, kind) for kind in kinds if replaced}
        found = {kind: linked for kind, linked in programs.items() if linked}
        return (found, replaced) if replaced and len(found) == len(kinds) else (made.programs, [])

    def _linked_with(
        self, made: LabBuild, step: int, used: Collection[int], replaced: Collection[int], kind: str
    ) -> Path | None:
        """A runner for a step with the solutions of others; None if it cannot be linked. Their objects are in the box
        only then: no compiler may read them."""
        objects = {name: path for name, path in self._theirs(made, kind).items() if int(name[:2]) in {step, *used}}
        copies = {
            name: self.box.folder / f"reference-{name}.o" for name in step_files(made.lab) if int(name[:2]) in replaced
        }
        try:
            for name, copy in copies.items():
                shutil.copyfile(self.programs.references[made.lab, name, kind], copy)
                copy.chmod(0o644)
            name = f"{made.lab}-{kind}-{step:02}"
            return self.programs.link(self.box, made.lab, kind, {**objects, **copies}, name).item
        finally:
            for copy in copies.values():
                copy.unlink(missing_ok=True)
