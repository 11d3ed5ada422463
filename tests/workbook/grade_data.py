"""Grades for tests: a class of plain students, hostile names and texts; and outcomes of cases."""

from __future__ import annotations

import dataclasses
from typing import Any

from workbook.core.judge_types import Case, Finding, Outcome
from workbook.grading.grades import Criterion, Failure, Grade, Run
from workbook.grading.judging import NamedCase, Tally

LAB = "03-bitonic"
SEEDS = {"cases": 4611686018427387904 + 12345}
RUN = Run(
    ("03-bitonic", "05-radix"), "# the rubric\n", SEEDS, "bubblewrap, with limits by cgroups", "a laptop",
    "1f2e3d4", "2026-01-02",
)  # fmt: skip
HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "two\nlines",
    "Ana | **bold** `code` [link](javascript:alert(1)) $x$",
    "right\u202eto left",
    "caf\udce9",
    "![x](/etc/passwd)",
    "</summary></details>",
)
HOSTILE_TEXT = (
    "</code></pre><script>alert(2)</script>\n```\n# heading\n````\n"
    "\x1b[31mred\x00 ]]> &amp; \ud800 \\(x\\) $$y$$\n</details>"
)


def failure(step: int, n: int, build: str = "cpu", **more: Any) -> Failure:
    """A failed case, with the instructor's part. `more`: of its outcome."""
    case = Case(LAB, step, n, "sort", "u32", "descending", "few-values", SEEDS["cases"] + n, 4, 256)
    race = "thread 3 writes tile[4]\n    thread 4 reads tile[4] in line 19"
    outcome = Outcome(
        "wrong", False, case, f"wrong key at index 7: 3 instead of 2; seed {case.seed}", first_wrong=7,
        shown_keys=f"  got {case.seed}",
        replay=f"./workbook run 3 {step} --n {n} --seed {case.seed}",
        title=f"{LAB} step {step} shared: {n} u32 keys, few-values, descending, <<<4, 256>>>",
        file=f"labs/{LAB}/0{step}_shared.cu", line=17, printed=f"the step printed {n}",
        findings=(Finding(f"labs/{LAB}/02_shared.cu", 17, "race", race),),
    )  # fmt: skip
    command = f"./workbook grade class --replay somebody case-{n}"
    return Failure(build, LAB, step, dataclasses.replace(outcome, **more), case_id=f"case-{n}", replay=command)


def criteria(correct: float | None = 4, failures: tuple[Failure, ...] = ()) -> tuple[Criterion, ...]:
    """The criteria of one student."""
    return (
        Criterion("03-bitonic", 1, "correct", 4, 4, "40 of 40 cases passed on the cpu build"),
        Criterion("03-bitonic", 2, "correct", correct, 4, "some of 61 cases passed on the cpu build", failures),
        Criterion("03-bitonic", 2, "speed", 0.5, 2, "0.4 times the speed of the reference"),
        Criterion("03-bitonic", None, "report", 1, 1, "report.md was handed in"),
        Criterion("05-radix", 0, "correct", 2, 2, "12 of 12 cases passed on the cpu build"),
    )


def the_class() -> list[Grade]:
    """All kinds of grades: full and partial points, hostile names and texts, refused, not graded."""
    failed = (failure(2, 1025), failure(2, 33, "check"), *(failure(2, n) for n in range(2, 12)))
    grades = [Grade(f"student {number:02}", f"class/s{number}.zip", criteria()) for number in range(1, 9)]
    grades += [Grade(f"partial {number}", "class/p", criteria(number, failed[: number + 5])) for number in range(4)]
    finding = Finding(f"labs/{LAB}/02_shared.cu", 17, "race", HOSTILE_TEXT)
    hostile = failure(2, 1025, message=HOSTILE_TEXT, findings=(finding,))
    grades += [Grade(name, f"class/{name}", criteria(0, (hostile,)), remarks=(name,)) for name in HOSTILE_NAMES]
    refused = tuple(dataclasses.replace(one, points=0.0, words="not run") for one in criteria())
    grades.append(Grade("refused", "class/r", refused, (f"02_shared.cu calls fork {HOSTILE_TEXT}",), ("extra: a.out",)))
    grades.append(Grade("broken", "class/b", (), not_graded="the disk was full =1+1"))
    grades.append(Grade("half broken", "class/h", criteria(None)))
    return grades


# --- outcomes of cases ---


def verified(n: int = 1000, **more: Any) -> Outcome:
    """An outcome of a case."""
    return Outcome("verified", True, Case(LAB, 2, n, type="u32", seed=1), **more)


def failed(status: str = "wrong", **more: Any) -> Outcome:
    """An outcome of a case that fails."""
    return dataclasses.replace(verified(), status=status, passed=False, **more)


def named(outcome: Outcome) -> NamedCase:
    """A case with a name."""
    return NamedCase(f"{LAB}/02/cpu/public/3", outcome.case, "public")


def tally(*outcomes: Outcome) -> Tally:
    """The count of these outcomes."""
    result = Tally("cpu")
    for outcome in outcomes:
        result.add(named(outcome), outcome)
    return result
