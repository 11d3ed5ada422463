"""Where things are, and which labs and steps exist."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .console import Problem, Usage, nearest

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
STATE = ROOT / ".workbook"  # what is remembered between commands


_LAB = re.compile(r"\d\d-[a-z0-9-]+")
_STEP = re.compile(r"(\d\d)_(\w+)\.cu")
_LINE = re.compile(r'\.number = (\d+), \.name = "([\w-]+)"')  # of a lab's table of steps
_IDEA = re.compile(r'\.idea = "([^"]*)"')


def _unknown(what: str, word: str, names: Iterable[str], listed: Iterable[str]) -> Usage:
    """The error about a word that names nothing: what was probably meant, and all that is possible."""
    near = nearest(Path(word).stem, names)
    meant = f" (did you mean {near}?)" if near else ""
    return Usage(f"{what} '{word}'{meant}; choose one of: {', '.join(listed) or 'none'}")


@dataclass(frozen=True)
class StepFile:
    """One step of a lab: a file that a student fills in. Or, if `part` is not empty, only that part of the step."""

    lab: str
    number: int
    name: str
    part: str = ""  # the name of its line in the lab's table: histogram

    @property
    def file(self) -> str:
        """Its path below labs/ or solutions/."""
        return f"{self.lab}/{self.number:02}_{self.name}.cu"

    def __str__(self) -> str:
        return f"step {self.number:02} {self.name}" + (f", {self.part}" if self.part else "")


def source_of(file: str, solution: bool = False) -> str:
    """The path in the workbook of a step's file, which is named by its path below labs/ or solutions/."""
    return f"{'solutions' if solution else 'labs'}/{file}"


def labs(root: Path = ROOT) -> list[str]:
    """The names of the labs, in order."""
    folder = root / "labs"
    return sorted(p.name for p in folder.iterdir() if p.is_dir() and _LAB.fullmatch(p.name)) if folder.is_dir() else []


def steps(lab: str, root: Path = ROOT) -> list[StepFile]:
    """The steps of a lab, in order: the numbered files of labs/ and, if it is there, of solutions/.

    If several files have the same number, the step has the name of the first.
    """
    names = {path.name for folder in ("labs", "solutions") for path in (root / folder / lab).glob("*.cu")}
    found: dict[int, StepFile] = {}
    for match in filter(None, map(_STEP.fullmatch, sorted(names))):
        found.setdefault(int(match[1]), StepFile(lab, int(match[1]), match[2]))
    return [found[number] for number in sorted(found)]


def _table(lab: str, root: Path) -> list[tuple[int, str, str]]:
    """The lines of a lab's table, from its text, so that nothing need be built: each one's number, name and text."""
    try:
        table = (root / "labs" / lab / "steps.h").read_text(encoding="utf-8")
    except OSError:
        return []
    found = list(_LINE.finditer(table))
    ends = [match.start() for match in found[1:]] + [len(table)]
    return [(int(match[1]), match[2], table[match.start() : end]) for match, end in zip(found, ends)]


def namespace_of(lab: str, root: Path = ROOT) -> str:
    """The namespace of a lab's functions, from its table."""
    found = re.search(r"namespace (\w+)", (root / "labs" / lab / "steps.h").read_text(encoding="utf-8"))
    return found[1] if found else ""


def lines_of(step: StepFile, root: Path = ROOT) -> str:
    """What the lab's table says of a step and of its parts."""
    return "".join(text for number, _, text in _table(step.lab, root) if number == step.number)


def parts(lab: str, root: Path = ROOT) -> dict[str, int]:
    """The parts of a lab's steps, which are tested by themselves: {name: the step's number}."""
    names = {step.name for step in steps(lab, root)}
    return {name: number for number, name, _ in _table(lab, root) if name not in names}


def ideas(lab: str, root: Path = ROOT) -> dict[str, str]:
    """What is new in each step and part of a lab: {name: idea}."""
    return {name: idea[1] for _, name, text in _table(lab, root) if (idea := _IDEA.search(text))}


def records(lab: str, root: Path = ROOT) -> list[StepFile]:
    """The record steps of a lab: one that sorts, and one for each other kind of work that has one."""
    lines = _table(lab, root)
    return [StepFile(lab, number, name) for number, name, text in lines if ".record = true" in text]


def _folders(text: str) -> tuple[str, ...]:
    """The folders that a text names as a path; those above the current one too, if there is such a file."""
    path = Path(text)
    return path.resolve().parts if path.exists() else path.parts


def find_lab(text: str, root: Path = ROOT) -> str:
    """The lab that `text` names: 03-bitonic, 03, 3, bitonic, or a path in it such as labs/03-bitonic/02_shared.cu."""
    known = labs(root)
    for lab in known:
        number, name = lab.split("-", 1)
        if text.rstrip("/") in (lab, f"labs/{lab}", name, number, str(int(number))):
            return lab
    folders = _folders(text)
    for lab in known:
        if lab in folders:
            return lab
    names = [name for lab in known for name in (lab, lab.split("-", 1)[1])]
    raise _unknown("unknown lab", text, names, known)


def find_step(lab: str, text: str | int, root: Path = ROOT) -> StepFile:
    """The step of `lab` that `text` means: 2, 02, shared, 02_shared or 02_shared.cu; or a part of it: histogram."""
    known = steps(lab, root)
    for step in known:
        names = (str(step.number), f"{step.number:02}", step.name, f"{step.number:02}_{step.name}")
        if Path(str(text)).name in (*names, f"{step.number:02}_{step.name}.cu"):
            return step
    of_steps = parts(lab, root)
    for step in known:
        if of_steps.get(str(text)) == step.number:
            return StepFile(step.lab, step.number, step.name, str(text))
    for number, name, line in _table(lab, root):
        if ".lines = " in line and str(text) in (str(number), f"{number:02}", name):
            raise missing_file(f"labs/{StepFile(lab, number, name).file}", root)
    listed = [f"{step.number} {step.name}" for step in known] + list(of_steps)
    spelled = [name for step in known for name in (step.name, f"{step.number:02}_{step.name}")]
    raise _unknown(f"{lab} has no step", str(text), [*spelled, *of_steps], listed)


def missing_file(path: str, root: Path = ROOT) -> Problem:
    """The error about a file of a step that is not there."""
    again = f"git checkout -- {path} restores it as it was committed last"
    if has_solutions(root) and path.startswith("labs/"):
        again = "./workbook starters writes it again"
    return Problem(f"{path} is missing: {again}")


def find(lab_text: str, step_text: str | int | None, root: Path = ROOT) -> tuple[str, StepFile | None]:
    """The lab and the step that two arguments name. Without the second, the first may be the path of a step's file."""
    lab = find_lab(lab_text, root)
    if step_text is not None:
        return lab, find_step(lab, step_text, root)
    return lab, find_step(lab, Path(lab_text).name, root) if _STEP.fullmatch(Path(lab_text).name) else None


def find_one(lab_text: str, step_text: str | int | None, root: Path = ROOT) -> tuple[str, StepFile]:
    """The same for verbs that need a step. Raises Usage if none is named."""
    lab, step = find(lab_text, step_text, root)
    if step is None:
        listed = ", ".join(f"{known.number} {known.name}" for known in steps(lab, root))
        raise Usage(f"name a step of {lab}: {listed}")
    return lab, step


def step_of_file(file: str, root: Path = ROOT) -> StepFile | None:
    """The step whose file this is: labs/03-bitonic/02_shared.cu, or the same below solutions/. None: of no step."""
    path = Path(file)
    lab = path.parent.name
    known = steps(lab, root) if _LAB.fullmatch(lab) else []
    return next((step for step in known if Path(step.file).name == path.name), None)


def has_solutions(root: Path = ROOT) -> bool:
    """Whether this copy of the workbook holds the solutions."""
    return (root / "solutions").is_dir()


def require_solutions(solution: bool = True, root: Path = ROOT) -> None:
    """Raises Problem if a solution is requested and this copy of the workbook has none."""
    if solution and not has_solutions(root):
        raise Problem("this copy of the workbook has no solutions/")


def shown(path: str | Path) -> str:
    """A path as a reader types it: relative to the workbook if it is in there."""
    path = Path(path)
    try:
        return str(path.resolve().relative_to(ROOT))
    except ValueError:
        return str(path)
