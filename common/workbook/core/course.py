"""Where things are, and which labs and steps exist."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .console import Problem, Usage

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
STATE = ROOT / ".workbook"  # what is remembered between commands

_LAB = re.compile(r"\d\d-[a-z0-9-]+")
_STEP = re.compile(r"(\d\d)_(\w+)\.cu")


@dataclass(frozen=True)
class StepFile:
    """One step of a lab: a file that a student fills in."""

    lab: str
    number: int
    name: str

    @property
    def file(self) -> str:
        """Its path below labs/ or solutions/."""
        return f"{self.lab}/{self.number:02}_{self.name}.cu"

    def __str__(self) -> str:
        return f"step {self.number:02} {self.name}"


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


def find_lab(text: str, root: Path = ROOT) -> str:
    """The lab that `text` means: 03-bitonic, 03, 3 or bitonic."""
    known = labs(root)
    for lab in known:
        number, name = lab.split("-", 1)
        if text.rstrip("/") in (lab, f"labs/{lab}", name, number, str(int(number))):
            return lab
    raise Usage(f"there is no lab '{text}'; choose one of: {', '.join(known) or 'none'}")


def find_step(lab: str, text: str | int, root: Path = ROOT) -> StepFile:
    """The step of `lab` that `text` means: 2, 02, shared, 02_shared or 02_shared.cu."""
    known = steps(lab, root)
    for step in known:
        names = (str(step.number), f"{step.number:02}", step.name, f"{step.number:02}_{step.name}")
        if Path(str(text)).name in (*names, f"{step.number:02}_{step.name}.cu"):
            return step
    listed = ", ".join(f"{step.number} {step.name}" for step in known)
    raise Usage(f"{lab} has no step '{text}'; choose one of: {listed or 'none'}")


def has_solutions(root: Path = ROOT) -> bool:
    """Whether this copy of the workbook holds the solutions."""
    return (root / "solutions").is_dir()


def require_solutions(solution: bool = True, root: Path = ROOT) -> None:
    """Problem: the solutions are asked for, and this copy of the workbook has none."""
    if solution and not has_solutions(root):
        raise Problem("this copy of the workbook has no solutions/")


def shown(path: str | Path) -> str:
    """A path as a reader types it: relative to the workbook if it is in there."""
    path = Path(path)
    try:
        return str(path.resolve().relative_to(ROOT))
    except ValueError:
        return str(path)
