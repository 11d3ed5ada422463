"""report.md: composed of the template and the parts that are made; what the student wrote is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ..core.console import Problem, Usage
from ..core.course import ROOT

TEMPLATE = ROOT / "reports/templates/report.md"
_MADE = re.compile(r"<!-- made: (\w+) -->\n?(.*?)<!-- end of made -->", re.DOTALL)
_LINK_TO_FILE = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")


def template() -> list[tuple[str, str]]:
    """(name of the section, its text), in order."""
    pieces = re.split(r"(?m)^= (\w+)\n", TEMPLATE.read_text(encoding="utf-8"))[1:]
    return list(zip(pieces[::2], (piece.rstrip("\n") for piece in pieces[1::2])))


def questions(lab: str) -> str:
    """The handout's questions, each with a place for the answer."""
    try:
        text = (ROOT / "labs" / lab / "README.md").read_text(encoding="utf-8")
    except OSError:
        return ""
    section = re.search(r"(?ms)^## Questions\s*\n(.*?)(?=^## |\Z)", text)
    if not section:
        return ""
    out = []
    for number, question in re.findall(r"(?ms)^(\d+)\. (.*?)(?=^\d+\. |\Z)", section[1]):
        words = _LINK_TO_FILE.sub(r"\1", " ".join(question.split()))
        out.append(f"**{number}.** {words}\n\n*Your answer:*")
    return "\n\n".join(out)


def lab_title(lab: str) -> str:
    """The title of the handout."""
    try:
        first = (ROOT / "labs" / lab / "README.md").read_text(encoding="utf-8").splitlines()[0]
    except (OSError, IndexError):
        return lab
    return first.lstrip("# ").strip()


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
        return f"<!-- made: {match[1]} -->\n\n{part}\n\n<!-- end of made -->" if part else match[0]

    return _MADE.sub(made, text)


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
    answers = questions(lab)

    def section(text: str) -> str:
        return text.replace("{lab}", lab).replace("{title}", title).replace("{questions}", answers)

    order = [name for name, _ in template()]
    wanted = [
        (name, text)
        for name, text in template()
        if (parts.get(name) or "<!-- made:" not in text) and (answers or name != "questions")
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
