"""What students had difficulties with, from the records of their grades: by criterion, and with the lines of code."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..check import words
from ..core import starters
from ..core.course import ROOT
from ..core.judge_types import Outcome
from . import scoring, texts
from .grades import Failure, Grade
from .scoring import Record

NOTHING = ("not written", "not handed in")  # no difficulty that words in a lecture would help with
AROUND = 3  # lines of code before and after the one that is shown
NOTE = 42  # characters of a line of a note: a telephone shows as many
MOST_LINES = 12  # of an example without such a line
WORDS = {  # of what is not a finding, and so not in the table of labs/README.md
    "does not compile": "the compiler reports an error",
    "lacks a function": "the file does not define a function of the step, or not for all of its key types",
    "wrong": "the result is wrong, and the check build reports nothing: a logical error, such as a wrong index",
    "crashed": "the program crashes",
    "exited": "the program ends by itself",
    "hung": "a case does not end within its time limit",
    "refused": "it uses what a submission must not use, or the host does the work of the kernels",
    "unsupported": "the step refuses an input or a launch shape that it must accept",
    "not refused": "the step accepts an argument that it must refuse",
    "took too long": "its cases together take much longer than those of the solution",
    "cuda-error": "a call of the CUDA runtime or a launch fails",
    "budgets": "it is right and costs more than the budget",
}
_TABLE = re.compile(r"### Findings\n.*?\n\|---\|---\|\n(?P<rows>(?:\|[^\n]*\n)+)", re.DOTALL)
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')|//[^\n]*|/\*.*?\*/', re.DOTALL)


@dataclass(frozen=True)
class Difficulty:
    """One difficulty that a student had with a criterion of a step."""

    lab: str
    step: int
    criterion: str
    kind: str  # of a finding, such as "race"; or how a case ended, such as "wrong"; or a cost over its budget
    text: str = ""  # what the judge, the check build or the compiler says
    file: str = ""  # without its folders
    line: int | None = None
    case: str = ""  # "1000 u32 keys, uniform, ascending"
    n: int = 0  # keys

    @property
    def place(self) -> str:
        """ "02_shared.cu:17" """
        return self.file if self.line is None else f"{self.file}:{self.line}"


def shown(kind: str) -> str:
    """A kind as pages show it."""
    return {"wrong": "wrong result", "budgets": "over budget"}.get(kind, kind.replace("-", " "))


def state(record: Record) -> str:
    """ "not handed in" or "not written", if that is all there is to say about a step or a report; else "" """
    if any(tally.passed for tally in record.tallies):
        return ""
    kinds = {record.kind} if record.kind else {shown(one.kind) for one in of_record(record)}
    return kinds.pop() if len(kinds) == 1 and kinds <= {*NOTHING} else ""


def of_record(record: Record) -> list[Difficulty]:
    """The difficulties of a student with a step."""
    if record.step is None:
        return []
    lab, step = record.lab, record.step
    found: list[Difficulty] = []
    if record.kind or record.failures:
        first, *_ = record.failures or (Failure("", lab, step),)
        kind = record.kind or first.status
        found.append(Difficulty(lab, step, "correct", kind, first.message, *_place(first.place)))
    outcomes = [outcome for tally in record.tallies for _, outcome in tally.failures]
    found += [one for outcome in outcomes for one in _of_outcome(lab, step, "correct", outcome)]
    if not record.verdict:
        return found
    if failed := record.verdict.failed or record.verdict.lesser:
        found += _of_outcome(lab, step, "check", failed)
    over = {name: costs.over_budget(name) for costs in record.verdict.costs for name in costs.over}
    return found + [Difficulty(lab, step, "budgets", name, text) for name, text in over.items()]


def _of_outcome(lab: str, step: int, criterion: str, outcome: Outcome) -> list[Difficulty]:
    """The findings of a case, or how it ended."""
    places: list[tuple[str, str, str, int | None]] = [
        (one.kind, one.text, one.file.rpartition("/")[2], one.line) for one in outcome.findings
    ]
    if not places:
        text = "\n".join([words.message(outcome), *words.rows(outcome)])
        places = [(texts.how(outcome), text, *_place(outcome.place))]
    keys = words.keys_of(outcome)
    return [Difficulty(lab, step, criterion, *place, keys, outcome.case.n) for place in places]


def _place(place: str) -> tuple[str, int | None]:
    """The file and the line of "02_shared.cu:17"."""
    file, _, line = place.rpartition("/")[2].rpartition(":")
    return (file, int(line)) if line.isdigit() else (line, None)


def of_criterion(grades: Iterable[Grade]) -> dict[tuple[str, int | None, str], dict[str, int]]:
    """How many students had which difficulty with a criterion of a step, the most frequent first."""
    counted: dict[tuple[str, int | None, str], dict[str, int]] = {}
    for grade in grades:
        of_student = {(one.lab, one.step, one.criterion, one.kind) for one in _all_of(grade)}
        for lab, step, criterion, kind in of_student:
            kinds = counted.setdefault((lab, step, criterion), {})
            kinds[kind] = kinds.get(kind, 0) + 1
    return {
        place: dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0]))) for place, kinds in counted.items()
    }


def _all_of(grade: Grade) -> list[Difficulty]:
    return [one for record in scoring.records(grade) for one in of_record(record)]


# --- the most frequent ones, with an example ---


@dataclass
class Frequent:
    """A difficulty that several students had."""

    kind: str
    meaning: str
    students: set[str] = field(default_factory=set)
    steps: dict[tuple[str, int], set[str]] = field(default_factory=dict)  # who had it in which step
    examples: list[tuple[Difficulty, str]] = field(default_factory=list)  # with the text of the file

    @property
    def example(self) -> tuple[Difficulty, str]:
        """The example of the step where most students had it."""
        return self.example_in(*min(self.steps, key=lambda step: (-len(self.steps[step]), step)))

    def example_in(self, lab: str, step: int) -> tuple[Difficulty, str]:
        """The example of a step that is shown: one that has a line, and of those with fewest keys the shortest."""
        in_step = [one for one in self.examples if (one[0].lab, one[0].step) == (lab, step)]
        return min(in_step, key=lambda one: (one[0].line is None, one[0].n, len(one[0].text), one[0].text, one[1]))


def frequent(grades: Iterable[Grade]) -> list[Frequent]:
    """What is worth talking about, what most students had first. A step with findings counts by them alone: they are
    the reason for what else fails."""
    found: dict[str, Frequent] = {}
    meaning = meanings()
    for grade in grades:
        for record in scoring.records(grade):
            for one in _telling(of_record(record)):
                kind = "budgets" if one.criterion == "budgets" else one.kind
                entry = found.setdefault(kind, Frequent(kind, meaning.get(kind) or WORDS.get(kind, "")))
                entry.students.add(grade.student)
                entry.steps.setdefault((one.lab, one.step), set()).add(grade.student)
                entry.examples.append((one, _source(grade, one)))
    return sorted(found.values(), key=lambda entry: (-len(entry.students), entry.kind))


def _telling(all_: Sequence[Difficulty]) -> list[Difficulty]:
    """The difficulties with a step that say most: findings, or else all, without steps that nobody wrote."""
    known = meanings()
    findings = [one for one in all_ if one.kind in known]
    return findings or [one for one in all_ if one.kind not in (*NOTHING, "not-written")]


def _source(grade: Grade, one: Difficulty) -> str:
    """The text of the file that a difficulty is in."""
    names = (
        name for name in grade.sources if name.startswith(f"{one.lab}/") and one.file.endswith(name.rpartition("/")[2])
    )
    return grade.sources[name] if one.file and (name := next(names, "")) else ""


def meanings() -> dict[str, str]:
    """What the kinds of findings mean, in the words of labs/README.md."""
    table = _TABLE.search((ROOT / "labs/README.md").read_text(encoding="utf-8"))
    rows = [row.strip("| ").split(" | ", 1) for row in table["rows"].splitlines()] if table else []
    return {kind: words.strip() for kinds, words in rows for kind in re.findall(r"`([^`]+)`", kinds)}


def excerpt(one: Difficulty, source: str) -> str:
    """The lines around the line of a difficulty, with their numbers; if that is not known, the longest part that the
    student has written. Comments are left out: they may say who wrote them."""
    lines = without_comments(source).splitlines()
    if one.line is not None and 0 < one.line <= len(lines):
        return annotated(lines, {one.line: ()})
    first, last = written(lines, f"{one.lab}/{one.file}")
    return "\n".join(_numbered(lines, at) for at in range(first, last + 1))


def _numbered(lines: Sequence[str], at: int, mark: str = " ") -> str:
    return f"{mark} {at:3} {lines[at - 1]}".rstrip()


def annotated(lines: Sequence[str], notes: Mapping[int, Sequence[str]]) -> str:
    """The lines of a file that have notes, with the notes below them, and the lines around."""
    near = {at for line in notes for at in range(line - AROUND, line + AROUND + 1) if 0 < at <= len(lines)}
    shown: list[str] = []
    for at in sorted(near):
        shown += ["..."] if shown and at - 1 not in near else []
        shown.append(_numbered(lines, at, ">" if at in notes else " "))
        for note in notes.get(at, ()):
            shown.append(textwrap.fill(note, NOTE, initial_indent="      ^ ", subsequent_indent="        "))
    return "\n".join(shown)


def written(lines: Sequence[str], file: str) -> tuple[int, int]:
    """The first and the last line of the longest part of a file that its starter lacks; (1, 0) if there is none."""
    given = without_comments(starters.all_starters().get(Path(file), "")).splitlines()
    compared = difflib.SequenceMatcher(None, given, lines, autojunk=False)
    parts = [(start, end) for kind, _, _, start, end in compared.get_opcodes() if kind in ("insert", "replace")]
    start, end = max(parts, key=lambda part: part[1] - part[0], default=(0, 0))
    while start < end and not lines[start].strip():
        start += 1
    end = min(end, start + MOST_LINES)
    while start < end and not lines[end - 1].strip():
        end -= 1
    return start + 1, end


def without_comments(source: str) -> str:
    """A program without its comments, with the same lines."""
    return _COMMENT.sub(lambda match: match[1] or "\n" * match[0].count("\n"), source)
