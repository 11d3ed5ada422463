"""next-lecture.html: what most students had difficulties with, for the lecturer to talk about. It names nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..reporting import page as pages
from . import difficulties, texts
from .difficulties import Frequent
from .feedback import Markdown, environment, squeezed
from .grades import Grade, Run

MOST = 5  # difficulties
LONGEST = 1500  # characters of an example's words


@dataclass(frozen=True)
class Topic:
    """A difficulty as the page shows it."""

    kind: str
    students: int
    meaning: Markdown
    steps: str
    where: str  # the example is
    case: str
    words: str
    code: str
    has_line: bool


def topic(entry: Frequent) -> Topic:
    """What the page shows of a difficulty."""
    one, source = entry.example
    steps = sorted(entry.steps.items(), key=lambda item: (-len(item[1]), item[0]))
    return Topic(
        difficulties.shown(entry.kind),
        len(entry.students),
        Markdown(entry.meaning[:1].upper() + entry.meaning[1:]),
        ", ".join(f"{lab} step {step:02} ({len(students)})" for (lab, step), students in steps),
        f"{one.lab} step {one.step:02}" + f", {one.place}" * bool(one.file),
        one.case,
        texts.shortened(_words(one), LONGEST),
        difficulties.excerpt(one, source),
        one.line is not None,
    )


def _words(one: difficulties.Difficulty) -> str:
    """What the judge or the compiler says. The lines of code that a compiler quotes have no comments, either."""
    return difficulties.without_comments(one.text) if one.kind == "does not compile" else one.text


def text(run: Run, grades: Sequence[Grade]) -> str:
    """The page as Markdown."""
    graded = [grade for grade in grades if grade.records]
    topics = [topic(entry) for entry in difficulties.frequent(graded)[:MOST]]
    return squeezed(environment().get_template("lecture.md").render(run=run, number=len(graded), topics=topics))


def page(run: Run, grades: Sequence[Grade]) -> str:
    """next-lecture.html"""
    return pages.to_page(text(run, grades), "What to say in the next lecture", Path(), [])
