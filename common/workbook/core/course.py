"""Where things are, and what labs and steps there are."""

import re
from dataclasses import dataclass
from pathlib import Path

from .console import Usage

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
STATE = ROOT / ".workbook"  # what is remembered between commands

_LAB = re.compile(r"\d\d-[a-z0-9-]+")
_STEP = re.compile(r"(\d\d)_(\w+)\.cu")


@dataclass(frozen=True)
class Step:
    """One step of a lab: one file that a student fills in."""

    lab: str
    number: int
    name: str

    @property
    def file(self):
        """Its path below labs/ or solutions/."""
        return f"{self.lab}/{self.number:02}_{self.name}.cu"

    def __str__(self):
        return f"step {self.number:02} {self.name}"


def labs(root=ROOT):
    """The names of the labs, in order."""
    folder = root / "labs"
    return sorted(p.name for p in folder.iterdir() if p.is_dir() and _LAB.fullmatch(p.name)) if folder.is_dir() else []


def steps(lab, root=ROOT):
    """The steps of a lab, in order: the numbered files of labs/ and, where it is given out, of solutions/.

    A step whose number several files have is named after the first of them.
    """
    names = {path.name for folder in ("labs", "solutions") for path in (root / folder / lab).glob("*.cu")}
    found = {}
    for match in filter(None, map(_STEP.fullmatch, sorted(names))):
        found.setdefault(int(match[1]), Step(lab, int(match[1]), match[2]))
    return [found[number] for number in sorted(found)]


def find_lab(text, root=ROOT):
    """The lab that `text` means: 03-bitonic, 03, 3 or bitonic."""
    known = labs(root)
    for lab in known:
        number, name = lab.split("-", 1)
        if text.rstrip("/") in (lab, f"labs/{lab}", name, number, str(int(number))):
            return lab
    raise Usage(f"no lab is called '{text}'; there are: {', '.join(known) or 'none'}")


def find_step(lab, text, root=ROOT):
    """The step of `lab` that `text` means: 2, 02, shared, 02_shared or 02_shared.cu."""
    known = steps(lab, root)
    for step in known:
        names = (str(step.number), f"{step.number:02}", step.name, f"{step.number:02}_{step.name}")
        if Path(str(text)).name in names + (f"{step.number:02}_{step.name}.cu",):
            return step
    listed = ", ".join(f"{step.number} {step.name}" for step in known)
    raise Usage(f"{lab} has no step '{text}'; there are: {listed or 'none'}")


def has_solutions(root=ROOT):
    """Whether this copy of the workbook holds the solutions."""
    return (root / "solutions").is_dir()


def shown(path):
    """A path as a reader types it: relative to the workbook where it lies in it."""
    path = Path(path)
    try:
        return str(path.resolve().relative_to(ROOT))
    except ValueError:
        return str(path)
