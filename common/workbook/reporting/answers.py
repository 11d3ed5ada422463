"""Which answers of a report are empty. What the template and the handout say is known; the rest is the student's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from . import compose
from .markdown import anchor

ANSWER = "*Your answer:*"
_MARK = "<mark>No answer yet</mark> "
_FENCED = re.compile(r"(?ms)^(```|~~~).*?^\1")
_QUESTION = re.compile(r"(?m)^\*\*(\d+)\.\*\*")


@dataclass(frozen=True)
class Answer:
    """A place for the student's own words."""

    section: str  # its heading
    question: int  # its number in the handout; 0: the section as a whole
    empty: bool
    at: int  # where in the text the words belong


def _plain(paragraph: str) -> str:
    return " ".join(paragraph.split())


def _paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """(position, text) of the paragraphs, without what is made, comments, and cells that hold nothing."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    own = re.sub(r"(?s)<!-- made: \w+ -->.*?<!-- end of made -->|<!--.*?-->", blank, text[start:end])
    for match in re.finditer(r"(?s)\S.*?(?=\n[ \t]*\n|\Z)", own):
        if not re.fullmatch(r"#+ [^\n]*", match[0].strip()):
            yield start + match.start(), match[0]


def _cells(table: str) -> list[list[str]]:
    """The cells of the lines of a table below its rule."""
    lines = [line.strip() for line in table.strip().splitlines()]
    if len(lines) < 2 or not all(line.startswith("|") for line in lines) or set(lines[1]) - set("|-: "):
        return []
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _is_empty_table(paragraph: str) -> bool:
    """Whether it is a table of which nothing but the first column is filled."""
    rows = _cells(paragraph)
    return bool(rows) and not any(cell for row in rows for cell in row[1:])


def _sections(text: str) -> list[tuple[str, int, int]]:
    """(heading, start, end) of the text below each heading up to the next one."""
    searched = _FENCED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    found = list(re.finditer(r"(?m)^(#+) +([^\n]*?)[ \t]*$", searched))
    ends = [*(match.start() for match in found[1:]), len(text)]
    return [(match[2], match.end(), end) for match, end in zip(found, ends)]


def answers(text: str, lab: str) -> list[Answer]:
    """The places for answers in a report, in order. A section that was deleted has none."""
    prompts: dict[str, list[str]] = {}
    for _, stub in compose.template():
        title = re.search(r"(?m)^#+ ([^\n]*)", stub)
        own = [_plain(words) for _, words in _paragraphs(stub, 0, len(stub)) if not _is_empty_table(words)]
        if title and own and "{questions}" not in stub:
            prompts[title[1]] = own
    questions = {number: _plain(words) for number, words in compose.questions_of(lab)}
    found: list[Answer] = []
    for heading, start, end in _sections(text):
        if heading in prompts:
            found.append(_section(text, heading, start, end, prompts[heading]))
        elif heading == compose.QUESTIONS:
            found += _questions(text, start, end, questions)
    return found


def _section(text: str, heading: str, start: int, end: int, prompts: Collection[str]) -> Answer:
    """A section: it is empty if it holds nothing but the template's words."""
    at, empty = end, True
    for place, paragraph in _paragraphs(text, start, end):
        known = _plain(paragraph) in prompts
        at = place if known else at
        empty = empty and (known or _is_empty_table(paragraph))
    filled = heading == compose.PREDICTIONS and any(compose.predicted(text).values())
    return Answer(heading, 0, empty and not filled, at)


def _questions(text: str, start: int, end: int, known: dict[int, str]) -> Iterator[Answer]:
    """The questions of the handout: an answer is what follows the question."""
    numbers = list(_QUESTION.finditer(text, start, end))
    for opening, last in zip(numbers, [*(other.start() for other in numbers[1:]), end]):
        number, begin = int(opening[1]), opening.end()
        at, empty = last, True
        for place, paragraph in _paragraphs(text, begin, last):
            words, question = _plain(paragraph), known.get(number, "")
            if words == ANSWER:
                at = place
            elif place > begin + 1 or (question and words != question and words.startswith(question)):
                empty = False
        yield Answer(compose.QUESTIONS, number, empty, at)


# --- how they are reported ---


def numbers_in_words(numbers: Sequence[int]) -> str:
    """1 to 3, 5"""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def summary(found: Sequence[Answer], linked: bool = False) -> str:
    """ "21 of 26 answers are empty: Statement; Method; questions 1 to 12"; "" if none is."""
    empty = [answer for answer in found if answer.empty]
    if not empty:
        return ""
    names: dict[str, list[int]] = {}
    for answer in empty:
        names.setdefault(answer.section, []).append(answer.question)
    words = []
    for section, numbers in names.items():
        name = f"question{'s' * (len(numbers) > 1)} {numbers_in_words(numbers)}" if numbers[0] else section
        words.append(f"[{name}](#{anchor(section)})" if linked else name)
    are = "answer is" if len(found) == 1 else "answers are"
    return f"{len(empty)} of {len(found)} {are} empty: {'; '.join(words)}"


def marked(text: str, lab: str) -> str:
    """The report with its empty answers marked and counted."""
    found = answers(text, lab)
    for answer in sorted((answer for answer in found if answer.empty), key=lambda answer: -answer.at):
        before = (
            text[: answer.at].rstrip("\n") + "\n\n" if answer.at and text[answer.at - 1] == "\n" else text[: answer.at]
        )
        text = before + _MARK + ("" if text[answer.at : answer.at + 1] == "*" else "\n\n") + text[answer.at :]
    counted = summary(found, linked=True)
    title = re.search(r"(?m)^# [^\n]*$", text)
    if not counted or not title:
        return text
    count, _, names = counted.partition(":")
    return f"{text[: title.end()]}\n\n<mark>{count}</mark>:{names}.{text[title.end() :]}"
