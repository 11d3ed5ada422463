"""The programs of a lab that a check runs: which are built, for which types of keys, and how a case is run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..core import build, check_build
from ..core.course import StepFile, source_of
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, CaseGroup, Outcome, Step
from ..core.progress import ProgressFile

# First the case that failed last time. The quick cases find most mistakes; the others follow only if those pass.
SETS = ("last failure", "quick", "public")
QUICK_SECONDS = 5.0  # that an early case may take: they have few keys, and a loop that never ends is reported soon


class Programs:
    """The programs of one lab, and the judge that runs them."""

    def __init__(
        self,
        judge: JudgeClient,
        lab: str,
        kinds: Sequence[str],
        timeout: float | None = None,
        solution: bool = False,
        unbuilt: Sequence[Path] = (),
    ) -> None:
        """`kinds`: the builds that are tested. `unbuilt`: the program of the check build, if it is to be compiled when
        it is needed."""
        self.judge = judge
        self.lab = lab
        self.table = judge.lab(lab)
        self.kinds = kinds
        self.timeout = timeout
        self.solution = solution
        self.unbuilt = unbuilt
        self.types: tuple[str, ...] | None = None  # of keys, the only ones that are tested; None: all
        self.check_types: tuple[str, ...] | None = None  # of the check build's program
        self.is_observed = "cpu" in kinds  # a check build is possible

    def name(self, kind: str) -> str:
        """The name of a build's program."""
        return f"{kind}-first" if (self.check_types if kind == "check" else self.types) else kind

    def runner(self, kind: str) -> Path:
        """The program of a build."""
        return build.runner(self.lab, self.name(kind), self.solution)

    def take_first_types(self) -> tuple[str, ...]:
        """Runs the programs for a first look from now on. The types of keys that these have."""
        self.types = self.check_types = self.judge.runner(build.runner(self.lab, "cpu-first")).steps[0].types
        return self.types

    def has_check(self) -> bool:
        """Whether the check build's program is there."""
        return self.is_observed and not self.unbuilt

    def build_rest(self, type_: str | None = None) -> None:
        """Compiles what is missing of the check build, so that it has keys of this type."""
        if self.check_types and not self.types and type_ not in (None, *self.check_types):
            self.unbuilt = [build.runner(self.lab, "check", self.solution)]
            self.check_types = None
        if self.unbuilt:
            build.compile_targets(self.unbuilt, f"building the check build of {self.lab}")
            self.unbuilt = ()

    def run(self, kind: str, case: Case, seconds: float | None = None, **more: str) -> Outcome:
        """Runs a case on a build. `seconds`: that it may take, unless the user has set a limit. `more`: variables of
        the check build's environment."""
        environment = {**check_build.environment(), **more} if kind == "check" else None
        return self.judge.run(self.runner(kind), case, timeout=self.timeout or seconds, environment=environment)

    # --- what is tested ---

    def lines(self, step: StepFile) -> list[Step]:
        """What is tested of a step: its parts before the step itself, or only the part that was chosen."""
        return [line for line in self.table.lines(step.number) if step.part in ("", line.name)]

    def failed_last_time(self, step: StepFile, kind: str) -> Case | None:
        """The case that failed in the last check of a student's step."""
        return None if self.solution else ProgressFile().failed_case(step, kind)

    def cases(self, step: StepFile, set_: str, kind: str) -> Iterable[CaseGroup]:
        """The cases of a set."""
        if set_ != SETS[0]:
            return self.judge.cases(self.lab, step.number, set_, kind)
        case = self.failed_last_time(step, kind)
        return [CaseGroup("what failed last time", (case,))] if case else []

    def source(self, step: StepFile) -> str:
        """The name of a step's file."""
        return source_of(step.file, self.solution)
