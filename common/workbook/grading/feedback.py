"""feedback.md and feedback.html: what a student reads about a submission."""

import functools
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..reporting import page as pages
from . import gradebooks, texts
from .grades import Grade, Run


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
    return made


def squeezed(text: str) -> str:
    """The text without the blank lines that a template's conditions leave."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() or (lines and lines[-1]):
            lines.append(line.rstrip())
    return "\n".join(lines).strip("\n") + "\n"


def text(run: Run, grade: Grade) -> str:
    """feedback.md"""
    criteria = () if grade.not_graded else grade.criteria
    return squeezed(
        environment()
        .get_template("feedback.md")
        .render(
            grade=grade,
            not_graded=gradebooks.NOT_GRADED,
            labs=list(dict.fromkeys(criterion.lab for criterion in criteria)),
            of_lab=lambda lab: [criterion for criterion in criteria if criterion.lab == lab],
            name=gradebooks.short_title,
            general_words=gradebooks.general_words,
            shown_failures=lambda criterion: gradebooks.shown_failures(criterion, run),
            failed=any(criterion.failures for criterion in criteria),
            verdict=texts.verdict,
            what_failed=texts.what_failed,
            details=texts.details,
        )
    )


def page(markdown: str, grade: Grade) -> str:
    """feedback.html"""
    return pages.to_page(markdown, f"Feedback for {texts.clean(grade.student)}", Path(), [])
