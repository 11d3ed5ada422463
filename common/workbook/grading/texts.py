"""Texts that come from submissions, made fit for Markdown, HTML, XML, JSON and CSV.

A name or a message may hold anything: tags, control characters, letters that reverse the direction of writing, bytes
that are not UTF-8. `clean` leaves only characters that every format can hold and that show what they are.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from ..check import words
from ..core.judge_types import Outcome
from .grades import Failure, Grade, Run

LONGEST = 4000  # characters of a message or a finding that are kept
LONGEST_BLOCK = 5 * LONGEST  # that are shown: a message with its findings is not cut once more
_SUFFIX = 40  # at most, of the words about what is left out
SECRET = 10**6  # a seed below this is a common number, and removing it would damage other texts
_SPECIAL = re.compile(r"[&<>\\`*\[\]|$~^]|(?<![^\W_])_|_(?![^\W_])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def clean(text: str, lines: bool = False) -> str:
    """The text without characters that cannot be shown; with `lines`, its line breaks are kept."""

    def shown(letter: str) -> str:
        if letter.isprintable() or (lines and letter == "\n"):
            return letter
        return " " if letter in "\n\t\r" or unicodedata.category(letter) == "Zs" else "\ufffd"

    return "".join(shown(letter) for letter in text.replace("\r\n", "\n"))


def shortened(text: str, longest: int = LONGEST) -> str:
    """At most `longest` characters of a text, with a remark on what is left out. Shortened again, it is the same."""
    kept = longest - _SUFFIX
    return text if len(text) <= longest else f"{text[:kept]}\n... ({len(text) - kept:,} more characters)"


def block(text: str) -> str:
    """A text of several lines, as it can be shown."""
    return shortened(clean(text, lines=True), LONGEST_BLOCK).strip("\n")


def markdown(text: str) -> str:
    """A text within a line of Markdown: nothing in it acts as markup.

    Characters are written as entities, because a backslash before a bracket begins mathematics in our pages.
    """
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", clean(shortened(text)))


def fenced(text: str, kind: str = "") -> str:
    """A text of several lines as a block of code in Markdown. Pages break the long lines of the kind "text"."""
    shown = block(text)
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{shown}\n{fence}"


def cell(text: str) -> str:
    """A text in a cell of a CSV file. A spreadsheet must not take it for a formula."""
    shown = clean(text)
    return f"'{shown}" if shown.startswith(_FORMULA) or text.startswith(_FORMULA) else shown


def person(grade: Grade) -> str:
    """A student as a page shows one: "Ana Groß (4711)", or the id alone where no name is known or to be shown."""
    return f"{grade.name} ({grade.student})" if grade.name and grade.name != grade.student else grade.student


def points(number: float | None) -> str:
    """Points as a person writes them: 3, 2.5; "not graded"."""
    return "not graded" if number is None else f"{number:.2f}".rstrip("0").rstrip(".")


def points_of(number: float | None, most: float) -> str:
    """ "3 of 4 points"; without a maximum, "-1 point" """
    return f"{points(number)} of {points(most)} points" if most else f"{points(number)} point{'s' * (number != -1)}"


# --- failures ---


def public(failure: Failure, run: Run) -> Failure:
    """What a student may see of a failure: neither its seed nor how to repeat it, also not within its texts, nor what
    the step has printed, which may be the keys of a case."""
    outcome = failure.outcome
    seeds = (outcome.case.seed if outcome else None, *run.seeds.values())
    secrets = sorted({str(seed) for seed in seeds if seed is not None and seed >= SECRET}, key=len, reverse=True)
    hidden = [word for word in (failure.replay, outcome.replay if outcome else "", *secrets) if word]

    def without(text: str) -> str:
        for word in hidden:
            text = text.replace(word, "...")
        return text

    if outcome:
        findings = tuple(replace(finding, text=without(finding.text)) for finding in outcome.findings)
        keys = without(outcome.shown_keys)
        case = replace(outcome.case, seed=None)
        outcome = replace(outcome, case=case, message=without(outcome.message), shown_keys=keys, findings=findings)
        outcome = replace(outcome, replay="", printed="")
    return replace(failure, outcome=outcome, message=without(failure.message), case_id="", replay="")


def how(outcome: Outcome) -> str:
    """How a case failed, in a word or two."""
    if outcome.status != "verified":
        return outcome.status
    return "sorted, but with a finding" if outcome.findings else "not refused"


def heading(failure: Failure) -> str:
    """ "wrong, on the check build"; "does not compile, at 02_shared.cu:17, on the cpu build" """
    what = how(failure.outcome).replace("-", " ") if failure.outcome else failure.status
    place = f", at {failure.place}" if failure.place else ""
    return f"{what}{place}" + (f", on the {failure.build} build" if failure.build else "")


def details(failure: Failure) -> str:
    """How it failed, in the words of `check`, and the case; or what is wrong with the file."""
    return "\n".join(words.how_it_failed(failure.outcome)) if failure.outcome else failure.message
