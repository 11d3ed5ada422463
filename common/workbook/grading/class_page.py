"""class.html: the distribution of the points, what was difficult, and submissions that resemble each other."""

import functools
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..core import files, starters
from ..core.check_build import Effort
from ..core.course import ROOT, has_solutions
from ..core.judge_types import Outcome
from ..pictures.svg import Drawing
from ..pictures.theme import BLUE, MUTED
from ..reporting import page as pages
from . import difficulties, gradebooks, scoring, similarity, texts
from .feedback import Markdown, environment, squeezed
from .grades import BY_HAND, Criterion, Grade, Run, file_name

BANDS = 10  # of the distribution
WIDTH, HEIGHT = 520, 260  # of its plot: on a telephone, its words are still large enough
MOST_CASES = 20
MOST_FINDINGS = 12
PLOT = "distribution.svg"
SOLUTION = "the published solution"  # in place of a student's name
NOT_WRITTEN = "not-written"  # the judge's word for a starter


@dataclass(frozen=True)
class CriterionOfClass:
    """How the class did on one criterion."""

    name: str
    most: float
    median: float
    full: int  # students with all points
    none: int
    difficulties: str  # "race 7, out-of-bounds 2"


@dataclass(frozen=True)
class CaseOfClass:
    """A case that students failed."""

    step: str
    case: str
    how: str
    students: int


@dataclass(frozen=True)
class EffortOfClass:
    """How the class has sorted the keys of a step, or of a part of it."""

    step: str
    threads: Markdown
    parallel: Markdown
    to_host: Markdown


@dataclass(frozen=True)
class FrequentFinding:
    """A finding, or another difficulty, that students had with a step."""

    students: int
    step: str
    kind: str
    place: str  # in the file of one of the students
    words: str  # about it


def distribution(grades: Sequence[Grade]) -> list[int]:
    """The students per tenth of the points, from none to all. All grades have points."""
    places = Counter(
        min(BANDS - 1, max(0, int(BANDS * (grade.points or 0) / grade.max_points))) if grade.max_points else 0
        for grade in grades
    )
    return [places[band] for band in range(BANDS)]


def band_name(band: int) -> str:
    """The range of a tenth of the points."""
    return f"{100 * band // BANDS} to {100 * (band + 1) // BANDS} %"


def _labs(grades: Sequence[Grade]) -> list[str]:
    """The labs that are graded."""
    return sorted({criterion.lab for grade in grades for criterion in grade.criteria})


def _steps_name(grades: Sequence[Grade]) -> Callable[[str, int], str]:
    """How the page calls a step: without its lab, if there is only one."""
    alone = len(_labs(grades)) == 1
    return lambda lab, step: f"{step:02}" if alone else f"{lab} {step:02}"


def by_criterion(grades: Sequence[Grade]) -> list[CriterionOfClass]:
    """A line per criterion of the class."""
    found: dict[tuple[str, int | None, str], list[Criterion]] = {}
    for grade in grades:
        for criterion in grade.criteria:
            found.setdefault((criterion.lab, criterion.step, criterion.name), []).append(criterion)
    had = difficulties.of_criterion(grades)
    title = gradebooks.short_title if len(_labs(grades)) == 1 else gradebooks.title
    return [
        CriterionOfClass(
            title(found[column][0]),
            max(criterion.max_points for criterion in found[column]),
            statistics.median(criterion.points or 0 for criterion in found[column]),
            sum((criterion.points or 0) >= criterion.max_points for criterion in found[column]),
            sum(not criterion.points for criterion in found[column]),
            ", ".join(f"{difficulties.shown(kind)} {students}" for kind, students in had.get(column, {}).items()),
        )
        for column in gradebooks.columns(grades)
        if column[2] != BY_HAND
    ]


def frequent_findings(grades: Sequence[Grade]) -> list[FrequentFinding]:
    """The difficulties that most students had with a step, with the words of one of them."""
    found, name = [], _steps_name(grades)
    for entry in difficulties.frequent(grades):
        for (lab, step), students in entry.steps.items():
            example, _ = entry.example_in(lab, step)
            kind, words = difficulties.shown(entry.kind), example.text.partition("\n")[0]
            found.append(FrequentFinding(len(students), name(lab, step), kind, example.place, words))
    return sorted(found, key=lambda one: (-one.students, one.step, one.kind))[:MOST_FINDINGS]


def failed_cases(grades: Sequence[Grade]) -> list[CaseOfClass]:
    """The cases that most students failed. All students of a run had the same."""
    students: Counter[tuple[str, str]] = Counter()
    how: dict[tuple[str, str], set[str]] = {}
    name = _steps_name(grades)
    for grade in grades:
        failed = {
            (name(one.lab, one.step), _case(one.build, one.outcome)): one.outcome
            for criterion in grade.criteria
            for one in criterion.failures
            if one.outcome and one.outcome.status != NOT_WRITTEN
        }
        for place, outcome in failed.items():
            students[place] += 1
            how.setdefault(place, set()).add(difficulties.shown(texts.how(outcome)))
    ordered = sorted(students.items(), key=lambda item: (-item[1], item[0]))[:MOST_CASES]
    return [CaseOfClass(step, case, ", ".join(sorted(how[step, case])), number) for (step, case), number in ordered]


def efforts(grades: Sequence[Grade]) -> list[EffortOfClass]:
    """How the keys were sorted: a line for each step and part that the check build has counted."""
    found: dict[tuple[str, str], list[tuple[Grade, Effort]]] = {}
    name = _steps_name(grades)
    for grade in grades:
        for record in scoring.records(grade):
            if record.verdict is None or record.step is None:
                continue
            for effort in record.verdict.efforts:
                found.setdefault((name(record.lab, record.step), effort.name), []).append((grade, effort))

    def cell(
        of: Sequence[tuple[Grade, Effort]], value: Callable[[Effort], float], furthest: Callable[..., Any]
    ) -> Markdown:
        grade, effort = furthest(of, key=lambda one: value(one[1]))
        middle = statistics.median(value(one) for _, one in of)
        other = f"; {_link(grade)} {value(effort):,g}" if value(effort) != middle else ""
        return Markdown(f"{middle:,g}{other}")

    return [
        EffortOfClass(
            f"{place} {part}",
            cell(of, lambda one: one.threads, min),
            cell(of, lambda one: one.parallel, min),
            cell(of, lambda one: one.to_host, max),
        )
        for (place, part), of in sorted(found.items())
    ]


def _case(build: str, outcome: Outcome) -> str:
    """ "step 2 shared: 1025 u32 keys, few-values, descending, on the cpu build" """
    return f"{outcome.title.removeprefix(f'{outcome.case.lab} ')}, on the {build} build"


@functools.cache
def given_names() -> frozenset[str]:
    """The names in the labs' headers, which no student can change."""
    headers = [path for end in ("h", "cuh") for path in (ROOT / "labs").glob(f"*/*.{end}")]
    return similarity.names_in(path.read_text(encoding="utf-8") for path in headers)


def in_common(grades: Sequence[Grade], earlier: Mapping[str, similarity.Sources]) -> similarity.Found:
    """What submissions have in common with each other, with the published solutions and with those of earlier years.
    Students of a group, who handed in one together, count as one."""
    given = {path.as_posix(): text for path, text in starters.all_starters().items()}
    first_of = {grade.submission: grade for grade in reversed(grades)}
    students = {grade.student: grade.sources for grade in first_of.values()}
    handed_in = {path.partition("/")[0] for sources in students.values() for path in sources}
    paths = [path for path in given if path.partition("/")[0] in handed_in] if has_solutions() else []
    published = {path: (ROOT / "solutions" / path).read_text(encoding="utf-8") for path in paths}
    return similarity.similar(students, given, given_names(), {**earlier, SOLUTION: published})


def _linked(students: Sequence[str], grades: Sequence[Grade]) -> Markdown:
    """Names of students, with links to those of this class."""
    known = {grade.student: grade for grade in grades}
    return Markdown(", ".join(_link(known[name]) if name in known else texts.markdown(name) for name in students))


def _link(grade: Grade) -> Markdown:
    folder = quote(file_name(grade.student).encode(errors="surrogateescape"), safe="")
    return Markdown(f"[{texts.markdown(texts.person(grade))}](students/{folder}/feedback.html)")


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
        "extra": any(criterion.extra for grade in graded for criterion in grade.criteria),
        "most": max((grade.max_points for grade in graded), default=0),
        "plot": Markdown(f"![{_in_words(graded)}]({PLOT})") if graded else "",
        "seconds": [grade.seconds for grade in grades],
        "typical": statistics.median(grade.seconds for grade in grades) if grades else 0,
        "lecture": Markdown("[What to say in the next lecture](next-lecture.html)"),
        "findings": frequent_findings(graded),
        "criteria": by_criterion(graded),
        "cases": failed_cases(grades),
        "efforts": efforts(graded),
        "common": in_common(grades, earlier),
        "earlier": len(earlier),
        "solutions": has_solutions(),
        "solution": SOLUTION,
        "linked": lambda students: _linked(students, [*grades, *missing]),
        "person": texts.person,
        "least": similarity.LEAST_SHARE,
        "labs": _labs(grades),
        "of_lab": _points_of,
        "why_not": _why_not,
        "link": _link,
    }
    return squeezed(environment().get_template("class.md").render(**values))


def _in_words(grades: Sequence[Grade]) -> str:
    """The caption of the plot."""
    above = any((grade.points or 0) > grade.max_points for grade in grades)
    more = "; more than 100 % is shown as 100 %" if above else ""
    return f"The points of {len(grades)} student{'s' * (len(grades) != 1)}, as shares of the maximum{more}"


def plot(grades: Sequence[Grade]) -> str:
    """distribution.svg: a bar for each tenth of the points, whose height is the number of students."""
    counts = distribution(grades)
    each = "; ".join(f"{band_name(band)}: {count}" for band, count in enumerate(counts))
    drawing = Drawing(WIDTH, HEIGHT, "Distribution of the points", f"{_in_words(grades)}. Students by tenth. {each}.")
    left, bottom, wide = 24.0, HEIGHT - 46.0, (WIDTH - 48.0) / BANDS
    tall = (bottom - 34) / max(*counts, 1)
    for band, count in enumerate(counts):
        x = left + band * wide
        if count:
            drawing.rect(x + 3, bottom - count * tall, wide - 6, count * tall, BLUE)
            drawing.text(x + wide / 2, bottom - count * tall - 6, str(count), 15)
        drawing.text(x, bottom + 20, str(100 * band // BANDS), 14, MUTED)
    drawing.text(left + BANDS * wide, bottom + 20, "100", 14, MUTED)
    drawing.line(left, bottom, left + BANDS * wide, bottom, MUTED)
    drawing.text(WIDTH / 2, HEIGHT - 8, "percent of the points", 14, MUTED)
    return drawing.svg().replace("<svg ", f"<svg {pages.INLINE} ", 1)


def write(out: Path, run: Run, grades: Sequence[Grade], earlier: Mapping[str, similarity.Sources] = {}) -> None:
    """Writes class.html and its plot."""
    if graded := [grade for grade in grades if grade.points is not None and not grade.is_missing]:
        files.write_whole(out / PLOT, plot(graded))
    files.write_whole(out / "class.html", pages.to_page(text(run, grades, earlier), "Grades", out, []))
