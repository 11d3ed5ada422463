"""Why a case fails, as data. diagnose() is a function of the step's source, what was observed, and what a search found;
words.py makes sentences of its result."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.judge_types import IN_PLACE, Finding, Outcome
from ..pictures.trace import Access, Trace
from .expectations import Departure, departure, key_bytes
from .origins import Line, divides_work, origins
from .schemata import Change
from .search import Searched
from .syntax import LOOPS, Node, Syntax, first_line, never_ends, spelled
from .writers import History, Written, line_of

MOST_DEFINITIONS, MOST_AROUND = 4, 1  # lines from which an index comes, and loops and conditions, that are shown
MOST_EARLIER = 2  # stores that are shown
MOST_STEPS = 6  # from the last writer of an element back to those of what it read, near which the search begins
ENDLESS = ("hang", "time-limit", "deadlock")
UNWRITTEN = "uninitialized"
_OF_INDEX = {
    ("out-of-bounds", "none"),
    ("race", "none"),
    ("race", "atomic"),
}  # (kind, remedy) of findings in which an index may be wrong


@dataclass(frozen=True)
class Diagnosis:
    """Why a case fails. `kind`: "gap" (a gap in a kernel that ran is still empty), "change" (a small one fixes the
    step), the kind of the first finding, "departs" (one of the launches does not do what it must), "last-writer" (of
    the first wrong element), "never-written", or the outcome's status."""

    kind: str
    file: str
    line: int  # 0: not known
    element: str = ""  # that is wrong, or is accessed wrongly
    changes: tuple[Change, ...] = ()  # with each of which the step passes, the most telling first
    tried: int = 0  # changes
    finding: Finding | None = None
    departure: Departure | None = None  # the first launch that does not do what it must
    written: Written | None = None  # the last store to the element, or the copy or fill that wrote it
    earlier: tuple[Written, ...] = ()  # stores of what its writer had read, and so on, of other lines
    writers: tuple[Written, ...] = ()  # if nothing wrote it: what wrote to its array, or to the one written last
    idle: Written | None = None  # if nothing wrote to its array: a launch that has written nothing
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Traced:
    """The smallest failing case, and what the check build saw of it. `trace`: None if it cannot be had. If it is cut
    off, its first launches may still depart from what they must do."""

    outcome: Outcome
    trace: Trace | None = None
    seen: Outcome | None = None


class Evidence:
    """What a traced case shows in a step's file, without any change."""

    def __init__(self, source: str, file: str, seen: Traced, rule: Mapping[str, Any] | None = None) -> None:
        """`file`: the name of the one that contains `source`. `rule`: what the step's launches must do."""
        self.file = file
        self.syntax = Syntax(source)
        self.outcome = seen.outcome
        self.history = History(seen.trace) if seen.trace else None
        self.finding = next(iter(seen.outcome.findings), None)
        launches = seen.seen.launches if seen.seen else seen.outcome.launches
        self.gap = self.syntax.empty_gap({launch["kernel"].partition("<")[0] for launch in launches})
        self.written: Written | None = None
        self.writers: tuple[Written, ...] = ()
        self.idle: Written | None = None
        self.element = ""
        self._chain: list[Access] = []
        self.departure: Departure | None = None
        if self.history and seen.trace:
            if not seen.trace.truncated:
                self._look(self.history)
            case = seen.outcome.case
            if rule and (self.finding is None or self.finding.kind == "race"):
                self.departure = departure(seen.trace, rule, case.n, case.type or "", case.order == "descending")
            if self.departure:
                access = self.departure.access
                self._chain = self.history.chain(access, MOST_STEPS, self._origins) if access else []
                self.written = self.history.described(access) if access else None
                self.writers = self.history.by_line(self.departure.stores)

    def _look(self, history: History) -> None:
        """Finds out who wrote what is wrong."""
        outcome = self.outcome
        if self.finding is None and outcome.status == "wrong" and outcome.first_wrong is not None:
            array, size = history.result(1 if outcome.case.task in IN_PLACE else 2, key_bytes(outcome.case.type or ""))
            self.element = f"{array.name or 'result'}[{outcome.first_wrong}]"
            writer = history.last_writer(array, outcome.first_wrong * size)
            if writer:
                self._chain = history.chain(writer, MOST_STEPS, self._origins)
                self.written = history.described(writer)
            elif (transfer := history.transfer_to(array, outcome.first_wrong * size)) and history.is_last(transfer):
                self.element = ""  # the host has made it
            elif transfer:
                self.written = history.of_transfer(transfer, array, size)
                self.writers = history.left(array, outcome.first_wrong * size)
            else:
                self.writers = history.writers(array, size)
                idle = None if self.writers else history.idle()
                self.idle = None if idle is None else history.launched(idle)
                self.writers = self.writers or (() if self.idle else history.last_stores(array))
        elif self.finding is not None and self.finding.kind == UNWRITTEN:
            access = history.first_faulty(self.finding.line)
            if access is not None:
                self.element = history.element(access)
                self.writers = history.writers(access.array, access.bytes, access)
        elif self.finding is not None and self._is_of_index(self.finding):
            access = history.first_faulty(self.finding.line)
            self._chain = history.chain(access, MOST_STEPS, self._origins, is_index=True) if access else []

    @staticmethod
    def _is_of_index(finding: Finding) -> bool:
        """Whether an index may be wrong: an access is out of bounds, or no barrier would help, or the threads of a race
        execute the same line."""
        places = [fact.place for fact in finding.facts[:2]]
        is_same = finding.kind == "race" and len(places) == 2 and places[0] is not None and places[0] == places[1]
        return is_same or (finding.kind, finding.remedy) in _OF_INDEX

    def _origins(self, place: tuple[str, int]) -> list[int]:
        """The lines from which the indices and values of a line come, its own first."""
        if not self.is_own(place[0]) or self.syntax.root is None:
            return [place[1]]
        return [place[1], *(one.line for one in origins(self.syntax, place[1]))]

    @property
    def kind(self) -> str:
        """That of the diagnosis, unless there is a change."""
        if self.finding:
            return self.finding.kind
        if self.departure:
            return "departs"
        if self.written:
            return "last-writer"
        return "never-written" if self.element else self.outcome.status

    # --- places ---

    def is_own(self, file: str) -> bool:
        """Whether a file is the step's."""
        return Path(file).name == Path(self.file).name

    def place(self) -> tuple[str, int]:
        """Where something is wrong, as far as it is known without a change."""
        if self.finding and self.finding.line:
            return self.finding.file, self.finding.line
        if self.departure and not (self.written or self.writers):
            return line_of(self.departure.place)
        if known := self.written or self.idle:
            return known.file, known.line
        # A line of a given file is not wrong because it writes something else.
        own = ((one.file, one.line) for one in self.writers if self.is_own(one.file))
        return next(own, (self.outcome.file, self.outcome.line or 0))

    def own_line(self) -> int:
        """The same in the step's file; 0 if it is elsewhere."""
        file, line = self.place()
        return line if self.is_own(file) else 0

    def near(self) -> list[int]:
        """Lines at which the search for a change begins."""
        launch = line_of(self.departure.place)[1] if self.departure else 0
        lines = [self.own_line(), launch, *(one.line for one in self.writers if self.is_own(one.file))]
        for fact in self.finding.facts if self.finding else ():
            lines += [one.line for one in (fact.place, fact.launch) if one and self.is_own(one.file)]
        if self.history:
            described = map(self.history.described, self._chain)
            lines += [one.line for one in described if self.is_own(one.file)]
        lines += [one.line for one in self.lines()]
        return list(dict.fromkeys(line for line in lines if line))

    def earlier(self) -> tuple[Written, ...]:
        """Who wrote what the last writer, or the access that is wrong, had read, and so on, as far as these are other
        lines."""
        if self.history is None or not self._chain:
            return ()
        lines = {(one.file, one.line): one for one in map(self.history.described, reversed(self._chain))}
        first = self.history.described(self._chain[0])
        lines.pop((first.file, first.line), None)
        return tuple(reversed(lines.values()))[:MOST_EARLIER]

    def lines(self) -> tuple[Line, ...]:
        """Where the place's index comes from, or what runs it too often, too seldom or forever."""
        line = self.own_line()
        if self.syntax.root is None:
            return ()
        nodes = self.syntax.around(line)
        around = [Line(_kind(node), first_line(node), _head(node)) for node in nodes]
        if self.outcome.status == "hung" or (self.finding and self.finding.kind in ENDLESS):
            return tuple(sorted((one for one in around if one.kind != "condition"), key=_ends))[:MOST_DEFINITIONS]
        if self.finding and self.finding.kind == "race" and not self._is_of_index(self.finding):
            return ()
        tests = [] if self.finding else [node for node in nodes if node.type == "if_statement"]
        places = self._places()
        of_places = [origins(self.syntax, place, tests if place == line else ()) for place in places]
        definitions = [one for turn in itertools.zip_longest(*of_places) for one in turn if one]
        definitions = [one for one in definitions if one.line not in places]
        found = [
            *self._launched(),
            *{one.line: one for one in definitions}.values(),
        ][:MOST_DEFINITIONS]
        found += [one for one in around if one.line not in places and not divides_work(one.code)][:MOST_AROUND]
        return tuple({one.line: one for one in found}.values())

    def _places(self) -> list[int]:
        """The lines in the step's file at which an index may be wrong, or a value."""
        places = [(self.finding.file, self.finding.line or 0)] if self.finding else [self.place()]
        if self.finding and self.finding.kind == UNWRITTEN:
            places[:0] = [(one.file, one.line) for one in self.writers[:1]]  # it may have written to the wrong place
        elif self.finding and len(self.finding.facts) > 1 and (other := self.finding.facts[1].place):
            places.append((other.file, other.line))
        elif self.finding is None and self.history and self._chain and self._chain[0].writes:
            load = self.history.source(self._chain[0])
            places += [self.history.place(load)] if load else []
        own = [line for file, line in places if line and self.is_own(file)]
        return list(dict.fromkeys(own or [line.line for line in self._launched()]))

    def _launched(self) -> list[Line]:
        """The launch of a kernel that fails outside of the step's file."""
        launch = self.finding.facts[0].launch if self.finding and self.finding.facts else None
        if self.own_line() or launch is None or not self.is_own(launch.file):
            return []
        statement = self.syntax.statement_at(launch.line)
        return [Line("launch", launch.line, spelled(statement))] if statement is not None else []


def diagnose(evidence: Evidence, searched: Searched) -> Diagnosis:
    """Why a case fails: a change if there is one, else what is known of the place."""
    file, line = evidence.place()
    kind = evidence.kind
    if evidence.gap:
        return Diagnosis("gap", evidence.file, evidence.gap)
    if searched.changes:
        kind, file, line = "change", evidence.file, searched.changes[0].line
    return Diagnosis(
        kind,
        file,
        line,
        evidence.element,
        searched.changes,
        searched.tried,
        evidence.finding,
        evidence.departure,
        evidence.written,
        evidence.earlier(),
        evidence.writers,
        evidence.idle,
        evidence.lines(),
    )


# --- the syntax tree ---


def _kind(node: Node) -> str:
    if node.type not in LOOPS:
        return "condition"
    return "endless" if never_ends(node) else "loop"


def _ends(loop: Line) -> bool:
    return loop.kind != "endless"


def _head(node: Node) -> str:
    """A loop or a condition without its body."""
    body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
    if body is None or node.type == "do_statement":
        return spelled(node)
    text = node.text[: body.start_byte - node.start_byte].decode(errors="replace")
    return " ".join(text.split())
