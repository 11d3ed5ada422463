"""class.html: the distribution of the points, what failed most often, and submissions that resemble each other."""

import functools
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ..core import starters
from ..core.course import ROOT
from ..reporting import page as pages
from . import gradebooks, similarity, texts
from .feedback import Markdown, environment, squeezed
from .grades import Criterion, Failure, Grade, Run, file_name

BANDS = 10  # of the distribution
LONGEST_BAR = 24  # characters
MOST_CASES = 20
NOT_WRITTEN = "not-written"  # the judge's word for a starter


@dataclass(frozen=True)
class Band:
    """Students whose points are within a range."""

    name: str
    students: int
    bar: str


@dataclass(frozen=True)
class CriterionOfClass:
    """How the class did on one criterion."""

    name: str
    most: float
    median: float
    full: int  # students with all points
    none: int


@dataclass(frozen=True)
class FailedCase:
    """A case that students failed."""

    step: str
    case: str
    how: str
    students: int


def distribution(grades: Sequence[Grade]) -> list[Band]:
    """The students per tenth of the points. All grades have points."""
    places = Counter(
        min(BANDS - 1, max(0, int(BANDS * (grade.points or 0) / grade.max_points))) if grade.max_points else 0
        for grade in grades
    )
    largest = max(places.values(), default=1)
    return [
        Band(
            f"{100 * band // BANDS} to {100 * (band + 1) // BANDS} %",
            places[band],
            "█" * (-(-LONGEST_BAR * places[band] // max(largest, LONGEST_BAR))),
        )
        for band in reversed(range(BANDS))
    ]


def by_criterion(grades: Sequence[Grade]) -> list[CriterionOfClass]:
    """A line per criterion of the class."""
    found: dict[tuple[str, int | None, str], list[Criterion]] = {}
    for grade in grades:
        for criterion in grade.criteria:
            found.setdefault((criterion.lab, criterion.step, criterion.name), []).append(criterion)
    return [
        CriterionOfClass(
            gradebooks.title(found[column][0]),
            max(criterion.max_points for criterion in found[column]),
            statistics.median(criterion.points or 0 for criterion in found[column]),
            sum((criterion.points or 0) >= criterion.max_points for criterion in found[column]),
            sum(not criterion.points for criterion in found[column]),
        )
        for column in gradebooks.columns(grades)
    ]


def failed_cases(grades: Sequence[Grade]) -> list[FailedCase]:
    """The cases that most students failed. All students of a run had the same."""
    students: Counter[tuple[str, str]] = Counter()
    how: dict[tuple[str, str], Counter[str]] = {}
    for grade in grades:
        failed = [failure for criterion in grade.criteria for failure in criterion.failures]
        failures = {_identity(failure): failure for failure in failed if failure.status != NOT_WRITTEN}
        for identity, failure in failures.items():
            students[identity] += 1
            how.setdefault(identity, Counter())[failure.status or "failed"] += 1
    ordered = sorted(students.items(), key=lambda item: (-item[1], item[0]))[:MOST_CASES]
    return [FailedCase(step, case, ", ".join(sorted(how[step, case])), number) for (step, case), number in ordered]


def _identity(failure: Failure) -> tuple[str, str]:
    return f"{failure.lab} {failure.step:02}", texts.what_failed(failure)


@functools.cache
def given_names() -> frozenset[str]:
    """The names in the labs' headers, which no student can change."""
    headers = [path for end in ("h", "cuh") for path in (ROOT / "labs").glob(f"*/*.{end}")]
    return similarity.names_in(path.read_text(encoding="utf-8") for path in headers)


def in_common(grades: Sequence[Grade], earlier: Mapping[str, similarity.Sources]) -> similarity.Found:
    """What submissions have in common. Students of a group, who handed in one together, count as one."""
    given = {path.as_posix(): text for path, text in starters.all_starters().items()}
    first_of = {grade.submission: grade for grade in reversed(grades)}
    students = {grade.student: grade.sources for grade in first_of.values()}
    return similarity.similar(students, given, given_names(), earlier)


def _linked(students: Sequence[str], grades: Sequence[Grade]) -> Markdown:
    """Names of students, with links to those of this class."""
    known = {grade.student for grade in grades}
    return Markdown(", ".join(_link(name) if name in known else texts.markdown(name) for name in students))


def _link(student: str) -> Markdown:
    folder = quote(file_name(student).encode(errors="surrogateescape"), safe="")
    return Markdown(f"[{texts.markdown(student)}](students/{folder}/feedback.html)")


def _points_of(grade: Grade, lab: str) -> str:
    points = [criterion.points for criterion in grade.criteria if criterion.lab == lab]
    if grade.not_graded or not points:
        return ""
    return texts.points(None if None in points else sum(point or 0 for point in points))


def _why_not(grade: Grade) -> str:
    missing = [criterion for criterion in grade.criteria if criterion.points is None]
    return grade.not_graded or "; ".join(f"{gradebooks.title(one)}: {one.words}" for one in missing)


def text(run: Run, grades: Sequence[Grade], earlier: Mapping[str, similarity.Sources] = {}) -> str:
    """The page as Markdown. `earlier`: files of other years' students."""
    missing = [grade for grade in grades if grade.is_missing]
    grades = [grade for grade in grades if not grade.is_missing]
    graded = [grade for grade in grades if grade.points is not None]
    values: Mapping[str, object] = {
        "run": run,
        "grades": grades,
        "graded": graded,
        "not_graded": [grade for grade in grades if grade.points is None],
        "refused": [grade for grade in grades if grade.refused],
        "missing": missing,
        "noted": [grade for grade in grades if gradebooks.remarks(grade) or grade.remarks],
        "remarks": gradebooks.remarks,
        "median": statistics.median(grade.points or 0 for grade in graded) if graded else None,
        "most": max((grade.max_points for grade in graded), default=0),
        "bands": distribution(graded),
        "criteria": by_criterion(graded),
        "cases": failed_cases(grades),
        "common": in_common(grades, earlier),
        "earlier": len(earlier),
        "linked": lambda students: _linked(students, grades),
        "least": similarity.LEAST_SHARE,
        "labs": sorted({criterion.lab for grade in grades for criterion in grade.criteria}),
        "of_lab": _points_of,
        "why_not": _why_not,
        "link": _link,
    }
    return squeezed(environment().get_template("class.md").render(**values))


def page(markdown: str) -> str:
    """class.html"""
    return pages.to_page(markdown, "Grades", Path(), [])
