"""report.md: composed of the template and the parts that are made; what the student wrote is kept.

What the template and the handout say is known. The rest is the student's, so empty answers are counted and marked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.console import Problem, Usage
from ..core.course import ROOT
from ..core.files import text_of

TEMPLATE = ROOT / "reports/templates/report.md"
QUESTIONS, PREDICTIONS = "Questions of the handout", "Predicted and measured"  # headings of the template
ANSWER = "*Your answer:*"
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
_MADE = re.compile(r"<!-- made: (\w+) -->\n?(.*?)<!-- end of made -->", re.DOTALL)
_LINK_TO_FILE = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")


def template() -> list[tuple[str, str]]:
    """(name of the section, its text), in order."""
    pieces = re.split(r"(?m)^= (\w+)\n", TEMPLATE.read_text(encoding="utf-8"))[1:]
    return list(zip(pieces[::2], (piece.rstrip("\n") for piece in pieces[1::2])))


def _titles() -> set[str]:
    """The headings of the template."""
    return set(re.findall(r"(?m)^#+ ([^\n]*)", TEMPLATE.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Question:
    """A question of a handout."""

    number: int
    words: str
    core: bool  # whether every report should answer it

    def with_place(self) -> str:
        """The question and the place for its answer."""
        return f"**{self.number}.** {self.words}\n\n{ANSWER}"


def questions_of(lab: str) -> list[Question]:
    """The handout's questions. A handout that marks none as core wants all of them answered."""
    section = re.search(r"(?ms)^## Questions\s*\n(.*?)(?=^## |\Z)", text_of(ROOT / "labs" / lab / "README.md"))
    found = re.findall(r"(?ms)^(\d+)\. (\*\*\(core\)\*\*\s)?(.*?)(?=^\d+\. |\Z)", section[1]) if section else []
    marked = any(mark for _, mark, _ in found)
    return [
        Question(int(number), _LINK_TO_FILE.sub(r"\1", " ".join(words.split())), bool(mark) or not marked)
        for number, mark, words in found
    ]


def predictions_of(lab: str) -> list[tuple[str, str]]:
    """What the handout asks its readers to predict: (heading of the step, Markdown). That is each paragraph that begins
    with "Predict" in bold, with the list and the table that follow it."""
    found = []
    for section in re.split(r"(?m)^(?=## )", text_of(ROOT / "labs" / lab / "README.md")):
        asked: list[str] = []
        for block in re.split(r"\n\s*\n", section.rstrip()):
            if block.startswith("**Predict") or (asked and re.match(r"\d+\. |\||\s", block)):
                asked.append(_LINK_TO_FILE.sub(r"\1", block))
            elif asked:
                break
        if asked:
            found.append((section.partition("\n")[0].lstrip("# "), "\n\n".join(asked)))
    return found


def sheet_of_predictions(lab: str) -> str:
    """The predictions of a lab as Markdown, for a page to print. Raises Problem if the handout has none."""
    asked = predictions_of(lab)
    if not asked:
        raise Problem(
            f"labs/{lab}/README.md asks for no predictions: does it lack paragraphs that begin with **Predict?"
        )
    steps = "\n\n".join(f"## {heading}\n\n{text}" for heading, text in asked)
    return f"# Predictions for {lab_title(lab)}\n\nYour name, your group, the date\n\n{steps}\n"


def _places(questions: Iterable[Question]) -> str:
    return "\n\n".join(question.with_place() for question in questions)


def with_all_questions(text: str, lab: str) -> str:
    """The report with a place for each question of the handout that it lacks, in the order of their numbers."""
    section = next((section for section in _sections(text) if section[0] == QUESTIONS), None)
    if not section:
        return _insert(text, f"### {QUESTIONS}\n\n{_places(questions_of(lab))}", _later("questions"))
    _, start, at = section
    places = {int(found[1]): found.start() for found in _QUESTION.finditer(text, start, at)}
    for question in reversed(questions_of(lab)):
        if question.number in places:
            at = places[question.number]
        else:
            before, place = text[:at].rstrip("\n") + "\n\n", question.with_place()
            text, at = f"{before}{place}\n\n{text[at:].lstrip()}", len(before)
    return text


def missing(text: str, lab: str) -> int:
    """How many of the handout's questions a report does not ask."""
    asked = {answer.question for answer in answers(text, lab)}
    return sum(question.number not in asked for question in questions_of(lab))


def _faults(lab: str) -> str:
    """A line of a table for each fault of the bug hunt; the handout states their number in words."""
    hunt = re.search(r"(?ms)^## Bug hunt\s*\n(.*?)(?=^## |\Z)", text_of(ROOT / "labs" / lab / "README.md"))
    stated = re.findall(r"(\w+)\s+faults", hunt[1].lower()) if hunt else []
    number = next((_NUMBERS.index(word) for word in stated if word in _NUMBERS), 0)
    return "\n".join(f"| {fault} | | | |" for fault in range(1, number + 1))


def lab_title(lab: str) -> str:
    """The title of the handout."""
    lines = text_of(ROOT / "labs" / lab / "README.md").splitlines()
    return lines[0].lstrip("# ").strip() if lines else lab


def fill(text: str, parts: Mapping[str, str]) -> str:
    """The text with the parts between its comments. Raises Problem if a comment is missing."""
    if len(re.findall(r"<!-- made: \w+ -->", text)) != text.count("<!-- end of made -->") or any(
        "<!-- made:" in inside for _, inside in _MADE.findall(text)
    ):
        raise Problem(
            "report.md: a comment <!-- made: ... --> or <!-- end of made --> is missing. Put it back, or move "
            "report.md away; nothing was changed",
            2,
        )

    def made(match: re.Match[str]) -> str:
        part = parts.get(match[1])
        if not part:
            return match[0]
        if match[1] == "predictions":
            part = _with_predictions(part, predicted(text))
        return f"<!-- made: {match[1]} -->\n{part}\n<!-- end of made -->"

    return _MADE.sub(made, text)


# --- predictions: the one column of a table that is the student's ---

_PREDICTION = re.compile(r"(?m)^\| ([^|\n]+?) \|([^|\n]*)\|([^|\n]*)\|$")


def predicted(text: str) -> dict[str, str]:
    """What was predicted -> the student's words, from the table of predictions in a report."""
    block = next((inside for name, inside in _MADE.findall(text) if name == "predictions"), "")
    rows = list(_PREDICTION.finditer(block))[1:]  # without the headings
    return {row[1]: row[2].strip() for row in rows if not row[1].startswith("--")}


def _with_predictions(table: str, words: Mapping[str, str]) -> str:
    """A new table of predictions with the words of the old one."""
    return _PREDICTION.sub(
        lambda row: f"| {row[1]} | {words[row[1]]} |{row[3]}|" if words.get(row[1]) else row[0], table
    )


def lab_of(text: str) -> str | None:
    """The lab that a report is about; None if it does not name one."""
    match = re.search(r"<!-- parts of ([\w-]+):", text)
    return match[1] if match else None


def written_in(path: Path, lab: str) -> str | None:
    """The text of report.md; None if there is none. Raises Problem or Usage if the text cannot be kept."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise Problem(
            f"{path} is not UTF-8: save it in that encoding (iconv -f latin1 -t utf-8 converts Latin-1). "
            "Nothing was changed",
            2,
        ) from error
    except OSError as error:
        raise Problem(
            f"{path} cannot be read ({error.strerror}): move it away, or choose another folder with --out", 2
        ) from error
    if not text.strip():
        return None
    fill(text, {})
    if lab_of(text) not in (None, lab):
        raise Usage(f"{path.parent} holds the report on {lab_of(text)}: choose another folder with --out")
    return text


def _filled_in(stub: str, lab: str, title: str, questions: Iterable[Question]) -> str:
    """A section of the template with the words of the lab."""
    words = {"{lab}": lab, "{title}": title, "{questions}": _places(questions), "{faults}": _faults(lab)}
    return re.sub(r"\{\w+\}", lambda name: words.get(name[0], name[0]), stub)


def unanswered(lab: str) -> str:
    """Everything that a report can say before its author has written a word."""
    return "\n\n".join(_filled_in(stub, lab, lab_title(lab), questions_of(lab)) for _, stub in template())


def compose(lab: str, title: str, parts: Mapping[str, str], old: str | None) -> str:
    """A new report.md, which asks the core questions; or the old one with new parts, and sections that it never had."""
    questions, faults = [question for question in questions_of(lab) if question.core], _faults(lab)

    def section(stub: str) -> str:
        return _filled_in(stub, lab, title, questions)

    order = [name for name, _ in template()]
    wanted = [
        (name, text)
        for name, text in template()
        if (parts.get(name) or "<!-- made:" not in text)
        and (questions or name != "questions")
        and (faults or name != "hunt")
    ]
    made = [name for name, _ in wanted if parts.get(name)]
    if old is None:
        body = "\n\n".join(section(text) for _, text in wanted)
        return fill(body, parts) + f"\n\n<!-- parts of {lab}: {' '.join(made)} -->\n"
    known = _known_parts(old)
    text = old
    for name, stub in wanted:
        if parts.get(name) and name not in known and f"<!-- made: {name} -->" not in text:
            text = _insert(text, section(stub), _later(name))
    text = fill(text, parts)
    names = f"<!-- parts of {lab}: {' '.join(name for name in order if name in known | set(made))} -->"
    if known:
        return re.sub(r"<!-- parts of [\w-]+: [\w ]* -->", names, text)
    return text.rstrip("\n") + f"\n\n{names}\n"


def _known_parts(text: str) -> set[str]:
    """The parts that a report has had: a section that the student deleted is not added again."""
    match = re.search(r"<!-- parts of [\w-]+: ([\w ]*) -->", text)
    return set(match[1].split()) if match else set()


def _later(section: str) -> list[str]:
    """The sections that follow this one in the template."""
    names = [name for name, _ in template()]
    return names[names.index(section) + 1 :]


def _insert(text: str, section: str, later: list[str]) -> str:
    """Inserts the section before the first of the later ones that exists, else at the end."""
    stubs = dict(template())
    for name in later:
        heading = re.match(r"#+ [^\n]*", stubs[name])
        place = re.search(rf"(?m)^{re.escape(heading[0])}[ \t]*$", text) if heading else None
        if place:
            return text[: place.start()] + section + "\n\n" + text[place.start() :]
    at = text.find("<!-- parts of ")
    at = len(text) if at < 0 else at
    return text[:at].rstrip("\n") + "\n\n" + section + "\n\n" + text[at:]


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
    """(heading, start, end) of the text below each heading, with the headings that its author put into it."""
    searched = _FENCED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    found = list(re.finditer(r"(?m)^(#+) +([^\n]*?)[ \t]*$", searched))
    titles = _titles()

    def end(at: int) -> int:
        level = len(found[at][1])
        later = (match for match in found[at + 1 :] if len(match[1]) <= level or match[2] in titles)
        return next((match.start() for match in later), len(text))

    return [(match[2], match.end(), end(at)) for at, match in enumerate(found)]


def answers(text: str, lab: str) -> list[Answer]:
    """The places for answers in a report, in order. A section that was deleted has none."""
    prompts: dict[str, list[str]] = {}
    for _, stub in template():
        title = re.search(r"(?m)^#+ ([^\n]*)", stub)
        own = [_plain(words) for _, words in _paragraphs(stub, 0, len(stub)) if not _is_empty_table(words)]
        if title and own and "{questions}" not in stub:
            prompts[title[1]] = own
    questions = {question.number: _plain(question.words) for question in questions_of(lab)}
    found: list[Answer] = []
    for heading, start, end in _sections(text):
        if heading in prompts:
            found.append(_answer_of_section(text, heading, start, end, prompts[heading]))
        elif heading == QUESTIONS:
            found += _answers_to_questions(text, start, end, questions)
    return found


def _answer_of_section(text: str, heading: str, start: int, end: int, prompts: Collection[str]) -> Answer:
    """A section: it is empty if it holds nothing but the template's words."""
    at, empty = end, True
    for place, paragraph in _paragraphs(text, start, end):
        known = _plain(paragraph) in prompts
        at = place if known else at
        empty = empty and (known or _is_empty_table(paragraph))
    filled = heading == PREDICTIONS and any(predicted(text).values())
    return Answer(heading, 0, empty and not filled, at)


def _answers_to_questions(text: str, start: int, end: int, known: dict[int, str]) -> Iterator[Answer]:
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
        yield Answer(QUESTIONS, number, empty, at)


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
    from .markdown import anchor  # late: only a report needs markdown-it

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
