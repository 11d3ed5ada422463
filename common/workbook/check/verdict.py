"""What `check` finds out about a step, as values: while it works, what has passed and that something has failed, and at
the end one verdict. words.py makes the lines that are printed; `check --json` writes the verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Union

from ..core.check_build import Costs
from ..core.course import StepFile, step_of_file
from ..core.judge_types import Finding, Note, Outcome, Step
from ..diagnose.diagnosis import Diagnosis
from ..diagnose.expectations import Departure

VERSION = 1  # of what is written; common/README.md describes it


@dataclass(frozen=True)
class Passed:
    """A step has passed the cases of one build."""

    step: StepFile
    kind: str
    cases: int
    seconds: float
    printing: int = 0  # cases in which the step printed something
    printed: str = ""  # what it printed first
    types: tuple[str, ...] = ()  # of keys, if only these were tested
    costs: tuple[Costs, ...] = ()  # on the check build
    remarks: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class FailedCase:
    """A case that fails, and where it belongs."""

    step: StepFile
    line: Step
    kind: str  # the build
    outcome: Outcome

    @property
    def title(self) -> str:
        """ "step 02 shared, histogram" """
        return str(replace(self.step, part=self.line.name) if self.line.part else self.step)


@dataclass(frozen=True)
class Smallest:
    """The smallest case that is known to fail in the same way, and what it needs in order to fail."""

    outcome: Outcome
    is_smaller: bool  # than the case that is shown
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """Why a step fails. `shown`: the case to look at, which may be that of a part, of a step that this one uses, or of
    the check build."""

    first: FailedCase
    shown: FailedCase
    smallest: Smallest | None
    diagnosis: Diagnosis
    seen: Outcome | None = None  # of the smallest case on the check build, where nothing else explains a wrong result
    suspects: tuple[Note, ...] = ()  # calls that are wrong in most steps


@dataclass(frozen=True)
class Gap:
    """Code that is not written yet, in the step or in one that it uses."""

    step: StepFile
    place: str  # "labs/03-bitonic/02_shared.cu:86"
    message: str = ""

    @classmethod
    def of(cls, step: StepFile, outcome: Outcome) -> Gap:
        """The gap in which a case of a step has ended."""
        message = outcome.message.rpartition(": ")[2] if outcome.place in outcome.message else outcome.message
        return cls(step_of_file(outcome.file) or step, outcome.place, message)

    def is_in(self, step: StepFile) -> bool:
        """Whether it is in this step."""
        return (self.step.lab, self.step.number) == (step.lab, step.number)


@dataclass(frozen=True)
class Verdict:
    """What is known of a step in the end. `word`: "passed", "failed", "over budget" or "not written"."""

    step: StepFile
    word: str
    passed: tuple[Passed, ...] = ()  # the builds that it passes
    gap: Gap | None = None
    failed: Explanation | None = None
    over: tuple[str, ...] = ()  # budgets that it exceeds, and why
    remarks: tuple[Finding, ...] = ()
    costs: tuple[Costs, ...] = ()
    notes: tuple[Note, ...] = ()  # on a step that passes
    nvcc: str = ""  # errors of nvcc
    nvcc_seconds: float | None = None  # that check waited for nvcc; None: nvcc was not run


Event = Union[Passed, FailedCase, Verdict]  # a failure: before its reason is known
Show = Callable[[Event], None]


# --- as JSON ---

# Many numbers, which `run` and `play` show.
_LEFT_OUT = {Outcome: ("launches", "notes", "kernels", "timeline"), Departure: ("access", "stores")}


def plain(value: Any) -> Any:
    """A value as JSON has it: dataclasses as objects with the names of their fields."""
    if isinstance(value, StepFile):
        return {"lab": value.lab, "number": value.number, "name": value.name, "part": value.part}
    if isinstance(value, Step):
        return {"number": value.number, "name": value.name, "task": value.task}
    if is_dataclass(value) and not isinstance(value, type):
        left_out = _LEFT_OUT.get(type(value), ())
        return {one.name: plain(getattr(value, one.name)) for one in fields(value) if one.name not in left_out}
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value


def write(event: Event) -> None:
    """Writes a verdict as one line of JSON. What happens before is not written."""
    if isinstance(event, Verdict):
        print(json.dumps({"version": VERSION, **plain(event)}), flush=True)
