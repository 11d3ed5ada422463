"""feedback.md and feedback.html: what a student reads about a submission."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..reporting import page as pages
from . import gradebooks, texts
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


def _explained(criteria: Sequence[Criterion]) -> list[Criterion]:
    """The criteria of a lab that lack points or have a comment. What is the same for all of a step is said once."""
    seen: set[tuple[int | None, str]] = set()
    found = []
    for one in criteria:
        lacks = one.points is None or one.points < one.max_points
        if one.failures or one.comment or (lacks and (one.step, one.words) not in seen):
            found.append(one)
            seen.add((one.step, one.words))
    return found


def text(run: Run, grade: Grade) -> str:
    """feedback.md"""
    criteria = () if grade.not_graded else grade.criteria
    return squeezed(
        environment()
        .get_template("feedback.md")
        .render(
            grade=grade,
            deduction=(1 - grade.kept) * sum(one.points or 0 for one in grade.counted if one.name != BY_HAND),
            not_graded=gradebooks.NOT_GRADED,
            labs=list(dict.fromkeys(criterion.lab for criterion in criteria)),
            of_lab=lambda lab: [criterion for criterion in criteria if criterion.lab == lab],
            explained=lambda lab: _explained([criterion for criterion in criteria if criterion.lab == lab]),
            name=gradebooks.short_title,
            general_words=gradebooks.general_words,
            shown_failures=lambda criterion: gradebooks.shown_failures(criterion, run),
            failed=any(criterion.failures for criterion in criteria),
            heading=texts.heading,
            details=texts.details,
        )
    )


def page(markdown: str, grade: Grade) -> str:
    """feedback.html"""
    return pages.to_page(markdown, f"Feedback for {texts.clean(texts.person(grade))}", Path(), [])
