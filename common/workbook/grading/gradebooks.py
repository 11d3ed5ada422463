"""Grades in the formats of other programs: Gradescope, JUnit, Autolab, and CSV for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from typing import Any

from . import difficulties, scoring, texts
from .grades import BY_HAND, Criterion, Failure, Grade, Run
from .rubric import LAB_CRITERIA, STEP_CRITERIA

SHOWN_FAILURES = 5  # of one criterion
NOT_GRADED = "Not graded: a fault of the grader or of its machine, not of the submission. It will be graded again."


def title(criterion: Criterion) -> str:
    """ "03-bitonic step 02: correct" """
    step = "" if criterion.step is None else f" step {criterion.step:02}"
    return f"{criterion.lab}{step}: {criterion.name}"


def short_title(criterion: Criterion) -> str:
    """The same within a section about the lab: "step 02: correct" """
    return criterion.name if criterion.step is None else f"step {criterion.step:02}: {criterion.name}"


def shown_failures(criterion: Criterion, run: Run) -> tuple[list[Failure], str]:
    """What a student sees of a criterion's failures, and a sentence if these are not all cases that failed."""
    shown = [texts.public(failure, run) for failure in criterion.failures[:SHOWN_FAILURES]]
    failed = max(criterion.failed, sum(failure.outcome is not None for failure in criterion.failures))
    cases = sum(failure.outcome is not None for failure in shown)
    return shown, f"Shown: {cases} of {failed} cases that failed." if failed > cases else ""


def explanation(criterion: Criterion, run: Run) -> str:
    """What a student reads about a criterion, as plain text."""
    lines = [texts.clean(criterion.words)] if criterion.words else []
    lines += [texts.clean(f"From your instructor: {criterion.comment}")] if criterion.comment else []
    lines += [texts.clean(f"From your instructor, at line {at}: {note}") for at, note in criterion.at_lines]
    failures, more = shown_failures(criterion, run)
    for failure in failures:
        lines += ["", f"{texts.clean(texts.heading(failure))}:"]
        lines += [f"  {line}" for line in texts.block(texts.details(failure)).splitlines()]
    if more:
        lines += ["", more]
    return "\n".join(lines)


def _passed(criterion: Criterion) -> bool:
    return criterion.points is not None and criterion.points >= criterion.max_points


def _numbers(criteria: Sequence[Criterion]) -> list[str]:
    """For each criterion the number of its lab and its place in the lab: 3.1, 3.2, ..."""
    places: dict[str, int] = {}
    numbers = []
    for criterion in criteria:
        places[criterion.lab] = places.get(criterion.lab, 0) + 1
        numbers.append(f"{int(criterion.lab[:2])}.{places[criterion.lab]}")
    return numbers


def _general(grade: Grade) -> str:
    """What concerns the submission as a whole; "" if there is nothing."""
    if grade.not_graded:
        return NOT_GRADED
    refused = [f"Refused: {texts.block(why)}" for why in grade.refused]
    words = [texts.clean(word) for word in general_words(grade)]
    return "\n".join([*refused, *words, *([NOT_GRADED] if grade.points is None else [])])


# --- one student ---


def gradescope(run: Run, grade: Grade) -> str:
    """results.json. Without any score, if something was not graded: Gradescope must not count that as zero."""
    tests: list[dict[str, Any]] = []
    for criterion, number in zip(grade.criteria, _numbers(grade.criteria)):
        output = explanation(criterion, run)
        test: dict[str, Any] = {"name": title(criterion), "number": number, "output": output, "visibility": "visible"}
        if grade.points is not None and criterion.points is not None:
            test["score"] = round(float(criterion.points), 2)
            test["max_score"] = round(float(criterion.max_points), 2)
            test["status"] = "passed" if _passed(criterion) else "failed"
        tests.append(test)
    general = _general(grade)
    results: dict[str, Any] = {"output": general} if general else {}
    if grade.points is not None and (not tests or grade.kept < 1 or grade.dropped):
        results["score"] = round(float(grade.points), 2)  # instead of the sum of the tests
    return (
        json.dumps({**results, "visibility": "visible", "stdout_visibility": "hidden", "tests": tests}, indent=1) + "\n"
    )


def junit(run: Run, grade: Grade) -> str:
    """junit.xml: a test suite per lab, a test case per criterion."""
    root = ET.Element("testsuites", name="workbook")
    suites: dict[str, ET.Element] = {}
    for criterion in grade.criteria:
        if criterion.lab not in suites:
            suites[criterion.lab] = ET.SubElement(root, "testsuite", name=criterion.lab)
        _test_case(suites[criterion.lab], criterion, run)
    if general := _general(grade):
        suite = ET.SubElement(root, "testsuite", name="submission")
        case = ET.SubElement(suite, "testcase", classname="submission", name="accepted")
        if grade.refused or grade.points is None:
            kind = "failure" if grade.refused and not grade.not_graded else "skipped"
            ET.SubElement(case, kind, message=general.splitlines()[0])
        else:
            ET.SubElement(case, "system-out").text = general
    for suite in [*root, root]:
        for count, found in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
            suite.set(count, str(len(list(suite.iter(found)))))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _test_case(suite: ET.Element, criterion: Criterion, run: Run) -> None:
    step = "" if criterion.step is None else f".step-{criterion.step:02}"
    case = ET.SubElement(suite, "testcase", classname=f"{criterion.lab}{step}", name=criterion.name)
    if criterion.points is None:
        ET.SubElement(case, "skipped", message=texts.clean(criterion.words) or NOT_GRADED)
    elif not _passed(criterion):
        reached = texts.points_of(criterion.points, criterion.max_points)
        message = f"{reached}: {texts.clean(criterion.words)}"
        ET.SubElement(case, "failure", message=message).text = explanation(criterion, run)


def autolab(run: Run, grade: Grade) -> str:
    """The line that Autolab expects last on standard output: points per lab. Labs that were not graded are left out."""
    scores: dict[str, float | None] = dict.fromkeys(run.labs if grade.is_missing else (), 0.0)
    for criterion in grade.criteria:
        so_far = scores.get(criterion.lab, 0.0)
        kept = 1.0 if criterion.name == BY_HAND else grade.kept
        scores[criterion.lab] = None if so_far is None or criterion.points is None else so_far + kept * criterion.points
    known = {} if grade.not_graded else scores
    graded = {lab: round(float(sum_), 2) for lab, sum_ in known.items() if sum_ is not None}
    return json.dumps({"scores": graded}) + "\n"


# --- the class ---


def columns(grades: Iterable[Grade]) -> list[tuple[str, int | None, str]]:
    """All criteria of the class, in the order of the labs and their steps."""
    order = (*STEP_CRITERIA, *LAB_CRITERIA, BY_HAND)
    found = {(criterion.lab, criterion.step, criterion.name) for grade in grades for criterion in grade.criteria}

    def place(key: tuple[str, int | None, str]) -> tuple[str, bool, int, int]:
        lab, step, name = key
        return lab, step is None, step or 0, order.index(name)

    return sorted(found, key=place)


def grades_csv(grades: Sequence[Grade]) -> str:
    """grades.csv: a line per student. An empty cell: not graded."""
    names = columns(grades)
    heads = [f"{lab} {'' if step is None else f'{step:02} '}{name}" for lab, step, name in names]
    has_roster = any(grade.name or grade.group for grade in grades)
    people = ["name", "group"] if has_roster else []
    rows: list[list[str]] = [["student", *people, "points", "of", *heads, "remarks"]]
    for grade in grades:
        cells = {(criterion.lab, criterion.step, criterion.name): criterion.points for criterion in grade.criteria}
        numbers = [cells.get(name) if not grade.not_graded else None for name in names]
        known = [_number(value) for value in (grade.points, grade.max_points, *numbers)]
        who = [texts.cell(word) for word in (grade.student, *([grade.name, grade.group] if has_roster else []))]
        rows.append([*who, *known, texts.cell("; ".join([*remarks(grade), *_states(grade)]))])
    return to_csv(rows)


def remarks(grade: Grade) -> list[str]:
    """What an instructor must know about a submission as a whole."""
    not_graded = [f"not graded: {grade.not_graded}"] if grade.not_graded else []
    return [*not_graded, *(f"refused: {why}" for why in grade.refused), *general_words(grade)]


def states(grade: Grade) -> dict[tuple[str, int | None], str]:
    """ "not handed in" or "not written", by lab and step. None: the report."""
    found = {(record.lab, record.step): difficulties.state(record) for record in scoring.records(grade)}
    return {place: word for place, word in found.items() if word}


def _states(grade: Grade) -> list[str]:
    """The same and what is wrong with files, as remarks: "not handed in: 03-bitonic 02, 03-bitonic report" """
    files = {(one.lab, one.step): one.kind for one in scoring.records(grade) if one.kind and one.failures}
    of_word: dict[str, list[str]] = {}
    for (lab, step), word in {**files, **states(grade)}.items():
        of_word.setdefault(word, []).append(f"{lab} {'report' if step is None else f'{step:02}'}")
    return [f"{word}: {', '.join(places)}" for word, places in of_word.items()]


def general_words(grade: Grade) -> list[str]:
    """What a student, too, must know: comments, what lateness costs, which labs do not count, what was ignored."""
    dropped = [f"dropped, as one of the labs with the smallest shares of their points: {lab}" for lab in grade.dropped]
    comments = [f"from your instructor: {comment}" for comment in grade.comments]
    return [*comments, *([grade.late] if grade.late else []), *dropped, *grade.notes]


def not_graded_csv(grades: Sequence[Grade]) -> str:
    """not-graded.csv: what has to be graded again, and why. A fault of the grader is never zero points."""
    rows = [["student", "what", "why"]]
    for grade in grades:
        if grade.not_graded:
            rows.append([texts.cell(grade.student), "everything", texts.cell(grade.not_graded)])
            continue
        for criterion in grade.criteria:
            if criterion.points is None:
                rows.append([texts.cell(grade.student), title(criterion), texts.cell(criterion.words)])
    return to_csv(rows)


def _number(value: float | None) -> str:
    return "" if value is None else texts.points(value)


def to_csv(rows: Iterable[Sequence[str]]) -> str:
    """The text of a CSV file."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()
