"""report.md: composed of the template and the parts that are made; what the student wrote is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ..core.console import Problem, Usage
from ..core.course import ROOT

TEMPLATE = ROOT / "reports/templates/report.md"
QUESTIONS, PREDICTIONS = "Questions of the handout", "Predicted and measured"  # headings of the template
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
_MADE = re.compile(r"<!-- made: (\w+) -->\n?(.*?)<!-- end of made -->", re.DOTALL)
_LINK_TO_FILE = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")


def template() -> list[tuple[str, str]]:
    """(name of the section, its text), in order."""
    pieces = re.split(r"(?m)^= (\w+)\n", TEMPLATE.read_text(encoding="utf-8"))[1:]
    return list(zip(pieces[::2], (piece.rstrip("\n") for piece in pieces[1::2])))


def _text_of(path: Path) -> str:
    """The text of a file; "" if there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def questions_of(lab: str) -> list[tuple[int, str]]:
    """The numbers and words of the handout's questions."""
    section = re.search(r"(?ms)^## Questions\s*\n(.*?)(?=^## |\Z)", _text_of(ROOT / "labs" / lab / "README.md"))
    found = re.findall(r"(?ms)^(\d+)\. (.*?)(?=^\d+\. |\Z)", section[1]) if section else []
    return [(int(number), _LINK_TO_FILE.sub(r"\1", " ".join(words.split()))) for number, words in found]


def _questions(lab: str) -> str:
    """The handout's questions, each with a place for the answer."""
    return "\n\n".join(f"**{number}.** {words}\n\n*Your answer:*" for number, words in questions_of(lab))


def _faults(lab: str) -> str:
    """A line of a table for each fault of the bug hunt; the handout states their number in words."""
    hunt = re.search(r"(?ms)^## Bug hunt\s*\n(.*?)(?=^## |\Z)", _text_of(ROOT / "labs" / lab / "README.md"))
    stated = re.findall(r"(\w+)\s+faults", hunt[1].lower()) if hunt else []
    number = next((_NUMBERS.index(word) for word in stated if word in _NUMBERS), 0)
    return "\n".join(f"| {fault} | | | |" for fault in range(1, number + 1))


def lab_title(lab: str) -> str:
    """The title of the handout."""
    lines = _text_of(ROOT / "labs" / lab / "README.md").splitlines()
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


def compose(lab: str, title: str, parts: Mapping[str, str], old: str | None) -> str:
    """A new report.md; or the old one with new parts, and with sections that it never had."""
    answers, faults = _questions(lab), _faults(lab)

    def section(text: str) -> str:
        words = {"{lab}": lab, "{title}": title, "{questions}": answers, "{faults}": faults}
        return re.sub(r"\{\w+\}", lambda name: words.get(name[0], name[0]), text)

    order = [name for name, _ in template()]
    wanted = [
        (name, text)
        for name, text in template()
        if (parts.get(name) or "<!-- made:" not in text)
        and (answers or name != "questions")
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
            text = _insert(text, section(stub), order[order.index(name) + 1 :])
    text = fill(text, parts)
    names = f"<!-- parts of {lab}: {' '.join(name for name in order if name in known | set(made))} -->"
    if known:
        return re.sub(r"<!-- parts of [\w-]+: [\w ]* -->", names, text)
    return text.rstrip("\n") + f"\n\n{names}\n"


def _known_parts(text: str) -> set[str]:
    """The parts that a report has had: a section that the student deleted is not added again."""
    match = re.search(r"<!-- parts of [\w-]+: ([\w ]*) -->", text)
    return set(match[1].split()) if match else set()


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
