"""feedback.md and feedback.html: what a student reads about a submission."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..core import course
from ..reporting import page as pages
from . import difficulties, gradebooks, texts
from .grades import BY_HAND, Criterion, Grade, Run


class Markdown(str):
    """A text that is Markdown already. All other texts are escaped when a template prints them."""


@functools.cache
def environment() -> Environment:
    """Templates for Markdown. What they print is escaped, unless it is of the class Markdown."""

    def finish(value: Any) -> Any:
        return texts.markdown(value) if isinstance(value, str) and not isinstance(value, Markdown) else value

    made = Environment(
        loader=FileSystemLoader(pages.TEMPLATES),
        undefined=StrictUndefined,
        finalize=finish,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # of HTML; `finish` escapes for Markdown
    )
    made.globals.update(points=texts.points, fenced=lambda text: Markdown(texts.fenced(text)))
    made.globals.update(person=texts.person, wrapped=lambda text: Markdown(texts.fenced(text, "text")))
    return made


def squeezed(text: str) -> str:
    """The text without the blank lines that a template's conditions leave."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() or (lines and lines[-1]):
            lines.append(line.rstrip())
    return "\n".join(lines).strip("\n") + "\n"


@dataclass(frozen=True)
class Said:
    """What there is to say about a step, the report, or points given by hand. The same for several is said once."""

    reasons: tuple[tuple[str, str], ...]  # "correct, check: 0 of 8", and why
    comments: tuple[str, ...] = ()
    failures: tuple[tuple[str, str], ...] = ()  # "check: wrong, on the check build", and how
    more: str = ""  # a sentence about cases that are not shown
    code: str = ""  # lines of the file with what is to say about them


@dataclass(frozen=True)
class Part:
    """A step, the report, or points given by hand."""

    title: str
    points: float | None
    most: float
    state: str  # "not handed in", "not written" or ""
    said: Said | None  # None: nothing


def _parts(run: Run, grade: Grade, lab: str) -> list[Part]:
    """The parts of a lab, in the order of its criteria."""
    by_part: dict[tuple[int | None, str], list[Criterion]] = {}
    for one in grade.criteria:
        if one.lab == lab:
            by_part.setdefault((one.step, "" if one.step is not None else one.name), []).append(one)
    states = gradebooks.states(grade)
    parts = []
    for (step, name), criteria in by_part.items():
        state = states.get((lab, step), "") if name != BY_HAND else ""
        points = [one.points for one in criteria]
        parts.append(
            Part(
                f"step {step:02}" if step is not None else name,
                None if None in points else sum(one or 0 for one in points),
                sum(one.max_points for one in criteria),
                state,
                _said(run, grade, criteria, bool(state)),
            )
        )
    return parts


def _said(run: Run, grade: Grade, criteria: Sequence[Criterion], is_known: bool) -> Said | None:
    """What there is to say; `is_known`: the state says why there are no points."""
    reasons: dict[str, list[Criterion]] = {}
    failures: dict[tuple[str, str], list[str]] = {}
    notes: dict[str, dict[int, list[str]]] = {}  # by file and line
    more: list[str] = []
    for one in criteria:
        reasons.setdefault(one.words, []).append(one)
        shown, left = gradebooks.shown_failures(one, run)
        more += [left] if left else []
        for failure in shown:
            failures.setdefault((texts.heading(failure), texts.details(failure)), []).append(one.name)
            for finding in failure.outcome.findings if failure.outcome else ():
                if finding.line:
                    of_line = notes.setdefault(finding.file.removeprefix("labs/"), {}).setdefault(finding.line, [])
                    of_line += [finding.kind] if finding.kind not in of_line else []
        for line, note in one.at_lines:
            file = course.find_step(one.lab, str(one.step)).file
            notes.setdefault(file, {}).setdefault(line, []).append(f"From your instructor: {note}")
    comments = tuple(one.comment for one in criteria if one.comment)
    code = [difficulties.annotated(grade.sources.get(file, "").splitlines(), lines) for file, lines in notes.items()]
    lacks = any(one.points is None or one.points < one.max_points for one in criteria)
    if not (comments or any(code) or (not is_known and (lacks or failures))):
        return None
    return Said(
        tuple((_of_points(all_) if len(criteria) > 1 else "", words) for words, all_ in reasons.items() if words),
        comments,
        tuple((f"{', '.join(names)}: {heading}", details) for (heading, details), names in failures.items()),
        " ".join(more),
        "\n\n".join(filter(None, code)),
    )


def _of_points(criteria: Sequence[Criterion]) -> str:
    """ "correct, check: 0 of 8" """
    points = [one.points for one in criteria]
    reached = texts.points(None if None in points else sum(one or 0 for one in points))
    return (
        f"{', '.join(one.name for one in criteria)}: {reached} of {texts.points(sum(c.max_points for c in criteria))}"
    )


def _sections(parts: Sequence[Part]) -> list[tuple[str, Said]]:
    """What there is to say, with a heading each."""
    same: dict[tuple[Said, float | None, float], list[Part]] = {}
    for part in parts:
        if part.said:
            same.setdefault((part.said, part.points, part.most), []).append(part)
    return [
        (
            f"{', '.join(part.title for part in all_)}: {texts.points_of(points, most)}{' each' * (len(all_) > 1)}",
            said,
        )
        for (said, points, most), all_ in same.items()
    ]


def text(run: Run, grade: Grade) -> str:
    """feedback.md"""
    criteria = () if grade.not_graded else grade.criteria
    labs = {lab: _parts(run, grade, lab) for lab in dict.fromkeys(criterion.lab for criterion in criteria)}
    return squeezed(
        environment()
        .get_template("feedback.md")
        .render(
            grade=grade,
            deduction=(1 - grade.kept) * sum(one.points or 0 for one in grade.counted if one.name != BY_HAND),
            not_graded=gradebooks.NOT_GRADED,
            labs=labs,
            sections=_sections,
            general_words=gradebooks.general_words,
            failed=any(criterion.failures for criterion in criteria),
        )
    )


def page(markdown: str, grade: Grade) -> str:
    """feedback.html"""
    return pages.to_page(markdown, f"Feedback for {texts.clean(texts.person(grade))}", Path(), [])
