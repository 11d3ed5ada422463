"""Runs a case that fails once more, traced, and looks for the first stage that departs from the network."""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from ..core import check_build
from ..core.judge_client import JudgeClient
from ..core.judge_types import Case, Element, Finding, Outcome
from ..pictures import trace as traces
from ..pictures.recorded import part_of_run
from ..pictures.trace import Barrier, Launch, Trace
from . import networks, remarks, rows, tiles
from .comparisons import busiest, by_launch, comparisons
from .networks import Stage
from .source import SHUFFLE, Source, device_functions, line_of
from .stage_check import Cause, Run, check_stage
from .tiles import FEW_KEYS, MOST_ACCESSES, Traced, missing_barrier

_Found = TypeVar("_Found")
WARP = 32  # lanes
MOST_THREADS = 1024  # per block
LAST_TRACED = 3  # launch, from 0, of a case whose first launches are traced
MOST_KEYS = 8192  # of a case that is traced: a kernel may do far more work with them than it should
BEGINNING = 4_000_000  # characters of the trace of a long run, of which there may be 20 million


class Search:
    """The search for the cause of a result that is wrong."""

    def __init__(self, judge: JudgeClient, runner: Path, timeout: float | None = None) -> None:
        """`runner`: that of the check build."""
        self._judge, self._runner, self._timeout = judge, runner, timeout
        self._text: dict[tuple[Case, tuple[int, int] | None, tuple[int, int] | None], str] = {}  # of the last run
        self._most = 0  # characters of a trace that are read; 0: all

    def traced(self, case: Case, launches: tuple[int, int] | None, blocks: tuple[int, int] | None = None) -> Trace:
        """Runs a case and traces it, or the launches and blocks from the first to the last."""
        key = (case, launches, blocks)
        if key not in self._text:
            self._text = {key: self._recorded(*key)}
        text = self._text[key]
        return traces.read(traces.beginning(text, self._most) if self._most else text)

    def _recorded(self, case: Case, launches: tuple[int, int] | None, blocks: tuple[int, int] | None) -> str:
        environment = {**check_build.environment(), **part_of_run(launches, blocks)}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace"
            self._judge.run(self._runner, case, timeout=self._timeout, trace=path, environment=environment)
            return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    def cause(self, outcome: Outcome, facts: Sequence[str] = (), file: str = "") -> Cause | None:
        """What is wrong first in a case that fails; None if nothing is found. `facts`: what the case needs in order to
        fail. `file`: the step's."""
        source = Source(file or outcome.file)
        kinds = {finding.kind for finding in outcome.findings}
        if kinds & {"race", "divergent-barrier"} and (uneven := source.uneven()):
            return _uneven(source, *uneven)
        if "invalid-warp-mask" in kinds and (uneven := source.uneven(SHUFFLE, ("if",))):
            return _uneven_shuffle(source, *uneven)
        if "invalid-warp-mask" in kinds and (chosen := _line_of_chosen_shuffle(source, outcome.findings[0])):
            return _chosen_shuffle(source, chosen)
        if kinds & {"race", "divergent-barrier"} and (leaving := source.leaving()):
            return _leaving(source, *leaving)
        is_of_lanes = kinds == {"invalid-warp-mask"} or (outcome.status == "wrong" and not kinds)
        leaving = source.leaving_shuffles() if is_of_lanes else None
        if leaving and (kinds or self._has_exits(outcome)):
            return _leaving(source, *leaving)
        if known := (
            _of_host_code(outcome, source)
            or _of_shape(outcome)
            or _of_same_arrays(kinds, source)
            or _of_two_stores(outcome, source)
            or _of_unread_error(outcome, source)
            or _of_division(outcome, source)
            or _of_unwritten_array(outcome, source)
            or _of_unwritten_tile(outcome, source)
            or _of_early_exit(outcome)
        ):
            return known
        found = None
        if can_search(outcome):
            found = _without_consequences(self._in_stages(outcome, source), outcome)
        if (
            source.held
            and not any(map(_is_of_type, facts))
            and (fact := self._of_type(outcome.case, source.held[0].type))
        ):
            facts = (*facts, fact)
        if found is None and "race" in kinds:
            found = _of_step(outcome, source) or _of_warps(outcome, source)
        found = _with_facts(found, outcome, facts, source)
        is_idle = found is not None and found.text.startswith("no thread compares any")
        if (found is None or is_idle) and outcome.status == "wrong" and not kinds:
            observed = self._observed(outcome)
            found = self._without_stores(observed, source) or _without_launches(observed, source) or found
        return remarks.remarked(found, source)

    def _without_stores(self, observed: Outcome, source: Source) -> Cause | None:
        """Why a kernel stores nothing, where nothing else explains a wrong result."""
        found = _without_stores(observed, source)
        if not isinstance(found, tuple) or observed.case.n > MOST_KEYS:
            return found if isinstance(found, Cause) else None
        name, line = found
        trace = self.traced(observed.case, (0, LAST_TRACED))
        run = Run(trace, observed.case.type or "u32", observed.case.order)
        own = {n for n, one in enumerate(trace.launches) if _plain(one.kernel) == name}
        if trace.truncated or not own or min(own) > LAST_TRACED:
            return Cause(f"{source.file}:{line}", f"{name} stores nothing in global memory, so its results are lost")
        loads = [one for one in trace.accesses if one.way == "load" and one.launch in own]
        text = f"{name} stores nothing in global memory"
        if not loads:
            at = source.comparing(line)
            why, lines = source.compared_with_itself(at) if at else ("", [])
            if why:
                return Cause(f"{source.file}:{lines[-1]}", why, tuple(map(source.quoted, lines)))
            tests = source.guards_of(at or source.function_of(line)[2]) + (source.guards_in_called(at) if at else [])
            compared = "are the two keys of a comparison the same one, or is each key stored back to where it was read"
            compared = f"{'or ' * bool(tests)}{compared}? {source.quoted(at)}" if at else ""
            which = "does one of these conditions stop" if len(tests) > 1 else "does this condition stop"
            asked = f"{which} every thread? {'; '.join(tests)}" if tests else ""
            comes = source.values_of(at) if at else ""
            return Cause(f"{source.file}:{line}", f"{text}, and reads nothing", (asked, compared, comes))
        read: dict[tuple[int, int, int], set[int]] = {}
        for one in loads:
            read.setdefault((one.launch, one.block, one.thread), set()).add(one.offset // one.bytes)
        place = run.place(loads[0].code)
        if all(len(positions) == 1 for positions in read.values()):
            only = f"thread {loads[0].thread} reads only {run.named(loads[0].offset // loads[0].bytes)}"
            return Cause(place, f"{only}, so there is nothing to compare it with", (run.index_of(place),))
        decided = run.decision_of(place, is_ahead=True)
        asked = "is a store missing at the end of the kernel, or is each key stored back to where it was read?"
        stored = source.stored_in("keys", line, source.function_of(line)[2])
        if stored and not decided and (guards := source.guards_of(stored)):
            decided = f"is line {stored} reached? it depends on {'; '.join(guards)}"
        return Cause(f"{source.file}:{line}", f"{text}, so its results are lost", (decided, asked))

    def _observed(self, outcome: Outcome) -> Outcome:
        """The same case on the check build, which notes what is launched, if the outcome is of another build."""
        if outcome.launches or outcome.remarks:
            return outcome
        return self._judge.run(self._runner, outcome.case, timeout=self._timeout, environment=check_build.environment())

    def _has_exits(self, outcome: Outcome) -> bool:
        """Whether lanes have left before a shuffle that names them."""
        return any(remark.kind == "early-exit" for remark in self._observed(outcome).remarks)

    def _of_type(self, case: Case, held: str) -> str:
        """The fact that a case passes with keys of the type of the variables that hold them; "" if it does not."""
        other = _TYPES.get(held.replace("std::", ""), "")
        if not other or case.type in (other, "pairs"):
            return ""
        outcome = self._judge.run(
            self._runner, replace(case, type=other), timeout=self._timeout, environment=check_build.environment()
        )
        return f"fails for {case.type} keys, not for {other} keys" if outcome.passed and not outcome.findings else ""

    def _in_stages(self, outcome: Outcome, source: Source) -> Cause | None:
        case = outcome.case
        key = (case.lab, case.step)
        is_race = bool(outcome.findings) and outcome.findings[0].kind == "race"
        if found := self._loads_outside(outcome):
            return found
        search = _BEFORE_RACES.get(key) if is_race else _SEARCHES[key]
        if "promises to be stable" in outcome.message:
            search = _STABLE.get(key, search)
        found = self._searched(search, case) if search else None
        if is_race and not found and key in _BARRIERS and self._searched(tiles.are_pairs_right, case):
            found = missing_barrier(outcome.findings[0], source)
        if found and not found.place:
            found = replace(found, place=outcome.place)
        if not found or not found.is_undecided:
            return found
        return self._decided(outcome, found)

    def _loads_outside(self, outcome: Outcome) -> Cause | None:
        """What a block loads into its tile, if it is not the first one and accesses an array out of bounds: the trace
        of all blocks may end before it."""
        finding, case = outcome.findings[0] if outcome.findings else None, outcome.case
        block = finding.facts[0].block if finding and finding.kind == "out-of-bounds" and finding.facts else None
        if not block or not block[0] or block[1:] != (0, 0) or (case.lab, case.step) not in _BARRIERS:
            return None
        number = block[0]
        return tiles.wrong_loads(self.traced(case, (0, LAST_TRACED), (number, number)), case)

    def _searched(self, search: Callable[[Case, Traced], _Found], case: Case) -> _Found:
        """The cause, which the beginning of a long run mostly shows."""
        if (case.lab, case.step) in _LONG and case.n > FEW_KEYS:
            self._most = BEGINNING
            try:
                if found := search(case, self.traced):
                    return found
            finally:
                self._most = 0
        return search(case, self.traced)

    def superfluous(self, case: Case, file: str) -> Cause | None:
        """A stage or a read that a right step could do without; None if there is none. `file`: the step's."""
        search = _SUPERFLUOUS.get((case.lab, case.step))
        return remarks.remarked(search(case, self.traced) if search else None, Source(file))

    def _decided(self, outcome: Outcome, found: Cause) -> Cause | None:
        """Why two keys are not exchanged: other keys may show it."""
        case = outcome.case
        if self._stores(case):
            return found
        in_order, turned = ("sorted", "reversed")[:: 1 if case.order == "ascending" else -1]
        if self._stores(replace(case, input=in_order)):
            return found.also("but keys that are in order are exchanged: the comparison is the wrong way round")
        if self._stores(replace(case, input=turned, n=max(case.n, 16))):
            return found.also("of more keys, some are exchanged: does something keep this thread from it?")
        return None if outcome.changed_nothing else found

    def _stores(self, case: Case) -> bool:
        return any(access.writes for access in self.traced(case, (0, 3)).accesses)


def can_search(outcome: Outcome) -> bool:
    """Whether it is known what each stage of a step must do, and a race, or nothing, was found first."""
    key = (outcome.case.lab, outcome.case.step)
    if outcome.case.task not in ("sort", "exchange") or outcome.case.expect == "refused":
        return False
    if outcome.case.n > MOST_KEYS:
        return False
    if outcome.findings:
        return (
            key in _SEARCHES and outcome.findings[0].kind in _CONSEQUENCES and outcome.findings[0].why not in _OF_ARRAYS
        )
    return key in _SEARCHES and outcome.status == "wrong"


def can_explain(outcome: Outcome) -> bool:
    """Whether the source, or the stages, may say what is wrong."""
    if (outcome.case.lab, outcome.case.step) not in _SEARCHES or outcome.case.expect == "refused":
        return False
    kinds = {finding.kind for finding in outcome.findings}
    is_plain = outcome.status in ("wrong", "crashed") and not kinds
    return can_search(outcome) or bool(kinds & _EXPLAINED) or is_plain


def _is_own(finding: Finding, source: Source) -> bool:
    """Whether a finding is in the step's file."""
    return finding.file.rpartition("/")[2] == source.file.rpartition("/")[2]


def _plain(kernel: str) -> str:
    """The name of a kernel without its namespaces and template arguments."""
    return kernel.partition("<")[0].rpartition("::")[2]


def _of_host_code(outcome: Outcome, source: Source) -> Cause | None:
    """A device function that host code calls: the emulation runs it, and nvcc refuses it."""
    if not any(finding.kind == "device-pointer" for finding in outcome.findings):
        return None
    call = source.host_calls(device_functions(outcome.case.lab))
    if not call:
        return None
    line, name = call
    text = f"host code calls {name}(), which is a __device__ function: only kernels can call it"
    return Cause(f"{source.file}:{line}", text, ("let a kernel do this, and launch the kernel here",))


def _of_same_arrays(kinds: Collection[str], source: Source) -> Cause | None:
    """Two pointers that were to be exchanged and become the same, so that a kernel writes what it reads."""
    exchange = source.lost_exchange()
    if "race" not in kinds or exchange is None or not all(name.isidentifier() for name in exchange[2:]):
        return None
    line, text, *_ = exchange
    return Cause(f"{source.file}:{line}", text, ("so the next launch writes into the array that it reads",))


def _of_two_stores(outcome: Outcome, source: Source) -> Cause | None:
    """A key that is stored where another one has just been stored."""
    stored = source.stored_twice() if outcome.status in ("wrong", "crashed") else None
    if stored is None:
        return None
    first, second, element = stored
    text = f"this line and line {first} both store in {element}, so the first of the two is lost"
    return Cause(f"{source.file}:{second}", text, ("is one of the two indices wrong?", source.quoted(first)))


def _of_unread_error(outcome: Outcome, source: Source) -> Cause | None:
    """A launch whose error is read further down, but a `return` comes before."""
    finding = outcome.findings[0] if outcome.findings else None
    if finding is None or finding.kind != "unchecked-launch" or not _is_own(finding, source):
        return None
    left, call = source.returns_between(finding.line, "cudaGetLastError")
    if not left:
        return None
    text = f"this `return` leaves out line {call}, which reads the error of the launch in line {finding.line}"
    return Cause(f"{source.file}:{left}", text, (source.quoted(call),), is_certain=True)


def _of_division(outcome: Outcome, source: Source) -> Cause | None:
    """A division by 0."""
    if outcome.status == "crashed" and "Floating point exception" in outcome.message:
        return _of_host_division(source)
    finding = outcome.findings[0] if outcome.findings and outcome.findings[0].kind == "arithmetic" else None
    is_own = finding and _is_own(finding, source)
    if not finding or not is_own:
        return None
    names = source.divisors(finding.line)
    comes = dict.fromkeys(at for name in names if (at := source.changed(name, finding.line)))
    if not comes:
        return None
    which = f"{names[0]}, which is 0" if len(names) == 1 else f"0: is one of {', '.join(names)} 0?"
    place = f"{finding.file}:{finding.line}"
    return Cause(place, f"this line divides by {which}", ("; ".join(map(source.quoted, comes)),))


def _of_host_division(source: Source) -> Cause | None:
    """Divisions of a function that launches kernels, by variables that are computed."""
    places: dict[int, str] = {}
    for number in range(1, len(source.lines) + 1):
        for name in source.divisors(number):
            at = source.changed(name, number)
            is_fixed = re.search(r"=\s*[1-9]\d*\s*;", source.lines[at - 1]) if at else None
            if at and not is_fixed and "<<<" in source.around(f"{source.file}:{number}"):
                comes = filter(None, map(source.quoted, (source.test_around(at), at)))
                places.setdefault(number, f"is {name} 0? {'; '.join(comes)}")
    if not places:
        return None
    first, *others = places
    also = [f"or in {source.quoted(line)}" for line in others[:2]]
    return Cause(f"{source.file}:{first}", "host code divides by 0", (places[first], *also))


def _named(element: Element) -> str:
    """The element by the name of its array, or by where that was allocated."""
    if element.index is None or not element.array:
        return element.array
    return f"{element.array}[{element.index}]"


def _of_early_exit(outcome: Outcome) -> Cause | None:
    """Threads that leave before a barrier, although others read what they should have written."""
    finding = next((one for one in outcome.findings if one.kind == "early-exit"), None)
    if finding is None:
        return None
    barrier = finding.detail_place("barrier_at") if finding.why == "return-before-barrier" else None
    leave = f"return here, before the __syncthreads() at {barrier.file}:{barrier.line}" if barrier else ""
    count, threads = finding.details.get("count"), finding.details.get("threads")
    text = f"{count} of {threads} threads {leave or 'have exited before this __syncthreads()'}"
    read = next((one for one in outcome.findings if one.kind == "uninitialized" and one.element), None)
    what = _named(read.element) if read and read.element else ""
    of_read = f"{read.file}:{read.line} reads {what}, which one of them should have written" if read and what else ""
    remedy = "every thread must do its part of that work and reach the barrier, even one that has nothing else to do"
    return Cause(f"{finding.file}:{finding.line}", text, (of_read, remedy))


def _of_unwritten_array(outcome: Outcome, source: Source) -> Cause | None:
    """An array of the step's own that the first launch reads, although nothing has been stored in it."""
    finding = outcome.findings[0] if outcome.findings else None
    element = finding.element if finding and finding.why == "never-written" else None
    made = element.allocated if element else None
    array = f"the array allocated at {made.file}:{made.line}" if made else ""
    first = outcome.launches[0] if len(outcome.launches) > 1 else None
    if array and first and not any(first.get(name, 0) for name in _STORES):
        name = _plain(first["kernel"])
        begin, end = source.function_of(source.kernel(name))[1:] if source.kernel(name) else (1, 0)
        stores = [
            n
            for n in range(begin, end + 1)
            if (found := re.match(r"\s*(\w+)\s*\[[^\]]*\]\s*=[^=]", source.lines[n - 1]))
            if not source.declared(found[1])
        ]
        text = f"launch 1 ({name}) stores nothing, and a later launch reads {array}"
        guards = "; ".join(source.guards_of(stores[-1])) if stores else ""
        which = f"is this line ever reached? {source.quoted(stores[-1])}; it depends on {guards}" if guards else ""
        return Cause(f"{source.file}:{source.kernel(name) or 1}", text, (which,))
    line = next((n for n, line in enumerate(source.lines, 1) if "<<<" in line), 0)
    if not array or not line:
        return None
    text = f"the first launch reads {array}, in which nothing has been stored"
    loops = source.loops_around(line)
    if swapped := source.swapped_before(line, loops[-1] if loops else line):
        asked = f"this line exchanges the arrays before the launch in line {line}: do that after it"
        return Cause(f"{source.file}:{swapped}", text, (asked, source.quoted(swapped)))
    comes = source.counted_by(loops[-1]) if loops else []
    decided = "; ".join(map(source.quoted, (*filter(None, (source.test_around(line),)), *loops[-1:], *comes)))
    return Cause(f"{source.file}:{line}", text, (f"are two arrays exchanged here? {source.quoted(line)}", decided))


def _of_unwritten_tile(outcome: Outcome, source: Source) -> Cause | None:
    """A __shared__ array that is read, although its block has stored nothing in it."""
    finding = outcome.findings[0] if outcome.findings and outcome.findings[0].kind == "uninitialized" else None
    element = finding.element if finding and finding.details.get("written") == 0 else None
    if not finding or not element or element.memory != "shared":
        return None
    array, line = element.array, finding.line
    place = f"{finding.file}:{line}"
    is_own = _is_own(finding, source)
    declared = source.declared(array, line) if is_own else 0
    if not declared:
        return None
    _, first, last = source.function_of(declared)
    until = line if first <= line <= last else source.caller(line) or source.outermost_call(line) or last
    stored = source.stored_in(array, declared + 1, until - 1)
    text = f"this line reads {array}, but the block has stored nothing in it"
    if not stored:
        used = [n for n in range(declared + 1, until) if re.search(rf"\b{array}\b", source.lines[n - 1])]
        asked = f"do these lines store anything in it? {'; '.join(map(source.quoted, used))}" if used else ""
        nothing = f"no line between {declared} and {until} names {array}"
        return Cause(place, text, (asked or nothing,))
    guards = source.guards_of(stored)
    counted = [
        n for loop in source.loops_around(stored) if not source.is_of_tiles(loop) for n in source.counted_by(loop)
    ]
    asked = "; ".join(dict.fromkeys((*guards, *map(source.quoted, counted))))
    return Cause(
        place,
        text,
        (
            f"this should fill it: {source.quoted(stored)}",
            f"is that line reached? it depends on {asked}" if asked else "",
        ),
    )


def _of_shape(outcome: Outcome) -> Cause | None:
    """A launch with too many threads per block in a case that asks for another shape."""
    case = outcome.case
    finding = next((one for one in outcome.findings if one.kind == "invalid-launch"), None)
    shape = finding.details.get("block") if finding else None
    if finding is None or not isinstance(shape, list) or shape[0] <= MOST_THREADS or shape[1:] != [1, 1]:
        return None
    threads = shape[0]
    place = f"{finding.file}:{finding.line}"
    if threads == case.blocks != case.threads:
        text = f"the launch has {threads:,} threads per block, which is the number of blocks that this case asks for"
        return Cause(place, text, ("are the two exchanged? <<<blocks, threads>>> takes the threads second",))
    text = f"the launch has {threads:,} threads per block, but a block has at most 1,024"
    asked = f"; this case asks for <<<{case.blocks}, {case.threads}>>>" if case.blocks and case.threads else ""
    return Cause(
        place, text, ("launch more blocks instead: <<<blocks, threads_per_block, 0, stream>>>, as given above" + asked,)
    )


def _line(line: int, place: int) -> str:
    return "this line" if line == place else f"line {line}"


def _uneven(source: Source, barrier: int, control: int) -> Cause:
    word = "loop" if re.search(r"\b(for|while)\b", source.lines[control - 1]) else "if"
    text = (
        f"not all threads of the block reach this __syncthreads(): it is inside the {word} of {_line(control, barrier)}"
    )
    details = (source.quoted(control), f"move it out of the {word}: all threads must reach each barrier equally often")
    return Cause(f"{source.file}:{barrier}", text, details)


def _without_consequences(found: Cause | None, outcome: Outcome) -> Cause | None:
    """What the stages show, unless it follows from a launch that has ended early."""
    is_ended = any(finding.kind == "out-of-bounds" for finding in outcome.findings)
    return None if found and is_ended and _OF_NUMBER.search(found.text) else found


def _of_step(outcome: Outcome, source: Source) -> Cause | None:
    """A race between blocks, in a loop that advances by the number of threads of one block, although it begins at a
    thread's number in the whole grid."""
    finding = outcome.findings[0]
    is_own = _is_own(finding, source)
    if finding.why != "same-thread-index" or not is_own or not 0 < finding.line <= len(source.lines):
        return None
    _, first, last = source.function_of(finding.line)
    for line in range(first, last + 1):
        loop = re.search(r"\bfor \([^;=]*=\s*([^;]+);[^;]*;\s*\w+ \+= blockDim\.x\s*\)", source.lines[line - 1])
        begins = (loop[1] + " " + source.definition(loop[1].strip(), line)) if loop else ""
        if "blockIdx" in begins:
            text = "this loop advances by blockDim.x, but the threads of all blocks share its work"
            return Cause(f"{source.file}:{line}", text, ("it must advance by gridDim.x * blockDim.x",))
    return None


def _of_warps(outcome: Outcome, source: Source) -> Cause | None:
    """A race between two warps, in a file whose only barrier of a warp is meant for the block."""
    finding = outcome.findings[0]
    element, other = finding.element, tiles.other_place(finding)
    lines = [n for n, text in enumerate(source.lines, 1) if "__syncwarp" in text]
    warps = {fact.thread[0] // WARP for fact in finding.facts if fact.thread}
    if element is None or other is None or len(lines) != 1 or len(warps) != 2:
        return None
    own = {source.function_of(line)[1] for line in (finding.line, other.line)}
    if source.function_of(lines[0])[1] not in own:
        return None
    text = "__syncwarp() synchronizes the lanes of one warp only: use __syncthreads() here"
    why = f"threads of other warps access {element.array}, too: see lines {finding.line} and {other.line}"
    return Cause(f"{source.file}:{lines[0]}", text, (why,))


def _without_stores(outcome: Outcome, source: Source) -> Cause | tuple[str, int] | None:
    """A kernel that stores nothing, where nothing else explains a wrong result: why, or its name and line."""
    for launch in outcome.launches if outcome.status == "wrong" and not outcome.findings else ():
        own = [one for one in outcome.launches if one["kernel"] == launch["kernel"]]
        if any(one.get(name, 0) for one in own for name in _STORES):
            continue
        name = _plain(launch["kernel"])
        line = source.kernel(name)
        helpers = [n for n, text in enumerate(source.lines, 1) if "__device__" in text]
        if line and (changed := next(filter(None, map(source.changed_copy, (line, *helpers))), None)):
            at, copy, read = changed
            text = f"this line changes {copy}, which is only a copy of a key: {name} stores nothing"
            return Cause(f"{source.file}:{at}", text, (f"{copy} is read in {source.quoted(read)}",))
        if line and (passed := source.changed_parameter()):
            at, why, remedy = passed
            return Cause(f"{source.file}:{at}", f"{why}: {name} stores nothing", (remedy,))
        if line:
            return name, line
    return None


def _without_launches(outcome: Outcome, source: Source) -> Cause | None:
    """A case for which no kernel is launched: the body of the loop around the first launch may never run."""
    line = next((n for n, text in enumerate(source.lines, 1) if "<<<" in text), 0)
    loops = source.loops_around(line) if line else []
    if outcome.status != "wrong" or outcome.launches or not loops:
        return None
    text = f"no kernel is launched for {outcome.case.n} keys: does the body of this loop ever run?"
    return Cause(f"{source.file}:{loops[0]}", text, (source.limit_of(loops[0]),))


def _leaving(source: Source, leave: int, met: int) -> Cause:
    """A `return` before a barrier or a shuffle, which is in the line `met`."""
    if SHUFFLE.search(source.lines[met - 1]):
        text = f"a lane that leaves here does not reach the shuffle of line {met}, but every lane of the mask must"
        remedy = "keep the lane active: it takes part in all shuffles, but stores nothing"
    else:
        text = f"a thread that returns here does not reach the __syncthreads() of line {met}, but all threads must"
        remedy = "put the work under a condition instead, so that every thread still reaches the barrier"
    return Cause(f"{source.file}:{leave}", text, (remedy,))


def _uneven_shuffle(source: Source, shuffle: int, control: int) -> Cause:
    text = f"not all lanes of the warp reach this shuffle: it is inside the if of {_line(control, shuffle)}"
    details = (source.quoted(control), "let all lanes take part before the if, and use the result inside it")
    return Cause(f"{source.file}:{shuffle}", text, details)


def _line_of_chosen_shuffle(source: Source, finding: Finding) -> int:
    """The line of a shuffle that only some lanes choose: the finding's, or one where other lanes wait; 0: none."""
    places = [fact.place for fact in finding.facts if fact.place and fact.place.file == source.file]
    lines = [finding.line, *(place.line for place in places)]
    return next(filter(source.chooses_shuffle, lines), 0)


def _chosen_shuffle(source: Source, line: int) -> Cause:
    text = "not all lanes of the warp reach this shuffle: only those that take its branch of `? :` do"
    details = (source.quoted(line), "let all lanes call the shuffle in a statement before, and choose afterwards")
    return Cause(f"{source.file}:{line}", text, details)


def _is_of_type(fact: str) -> bool:
    return fact.startswith("fails for") and " keys, not for " in fact


def _with_facts(found: Cause | None, outcome: Outcome, facts: Sequence[str], source: Source) -> Cause | None:
    """What a fact about the cases that fail adds to the cause: the types of keys, and the order."""
    case = outcome.case
    of_type = next(filter(_is_of_type, facts), "")
    is_of_keys = found is None or found.is_of_order or bool(_OF_KEYS.search(found.text))
    held = source.held[0] if source.held else None
    is_other = bool(of_type)
    if held and is_other and is_of_keys and outcome.status == "wrong" and case.type != "pairs":
        text = f"{held.name} has the type {held.type}, and is given a key; here, keys are {case.type}"
        before = (found.text,) if found else ()
        return Cause(f"{source.file}:{held.line}", text, ("declare it as Key, which is the type of the keys", *before))
    if found and is_of_keys and (compared_at := source.ignores_order(line_of(found.place)[1])):
        text = "the kernel compares keys but ignores the order that it is given: use lab::before(a, b, order)"
        quoted = () if compared_at == line_of(found.place)[1] else (source.quoted(compared_at),)
        kept = (detail for detail in found.details if "the wrong way round" not in detail)
        return replace(found, details=(text, *quoted, *kept))
    if (
        found
        and is_of_keys
        and case.order == "descending"
        and (fixed_at := source.fixed_order(line_of(found.place)[1]))
    ):
        text = "this line compares in ascending order, whatever order the step is given: use the parameter order"
        kept = (detail for detail in found.details if "the wrong way round" not in detail)
        return Cause(f"{source.file}:{fixed_at}", text, (source.quoted(fixed_at), found.text, *kept), is_certain=True)
    if found is None and "fails for pairs, not for their keys alone" in facts and (at := source.without_values()):
        line, text = at
        return Cause(f"{source.file}:{line}", text, ("when pairs are sorted, each value must move with its key",))
    if found and found.is_of_order and of_type and re.search(r"= -?nan\b", found.text):
        nan = "a nan has its place in the order: lab::before() knows it, but < and > are false for a nan"
        return replace(found, details=(nan, *(d for d in found.details if not d.startswith("only pairs"))))
    is_of_threads = any("with fewer threads than" in fact for fact in facts)
    if found and is_of_threads and found.text.startswith("no thread compares") and "each of the" not in str(found):
        return found.also("a thread takes only one pair of a stage: use a loop, so that it takes more pairs")
    if found and found.is_of_order and "fails only in descending order" in facts:
        return found.also("only descending order fails: is the order used in the comparison, as lab::before() does it?")
    return found


@dataclass(frozen=True)
class _Launches:
    """The launches of a run that compare keys in global memory, with what each of them must do."""

    plan: Sequence[Stage]
    what: str  # "phase", "stage"
    keys: int = 0  # that the array has, with those that fill it up
    is_stable: bool = False  # keys that are equal must keep their order

    def search(self, case: Case, traced: Traced, exact: bool = True) -> Cause | None:
        """The first launch that departs from the plan. `exact`: too few launches are wrong, too."""
        done = first = 0
        while done < len(self.plan):
            size = max(1, MOST_ACCESSES // (8 * max(case.n, 1)))
            trace = traced(case, (first, first + size - 1))
            run = Run(trace, case.type or "u32", case.order, is_stable=self.is_stable)
            own = by_launch(trace)
            for number in range(first, min(first + size, len(trace.launches))):
                accesses = own.get(number, [])
                array = busiest((one for one in accesses if one.way == "load"), "global")
                if array is None and number in own:  # such as one that fills an array
                    continue
                launch = trace.launches[number]
                run = replace(run, n=self.keys, launch=launch, number=number + 1)
                where = f"launch {number + 1} ({launch.kernel}, n = {case.n:,})"
                found = comparisons(accesses, array) if array else []
                if done == len(self.plan):
                    return None
                place = next((run.place(one.code) for one in trace.accesses if one.way == "load"), launch.place)
                if wrong := check_stage(run, self.plan[done], found, self.plan, where, place):
                    return self._left_out(trace, number - done, case.n) or wrong
                done += 1
            first += size
            if first >= len(trace.launches):
                break
            if first * 8 * case.n > 2 * MOST_ACCESSES:
                return None
        return self._too_few(case, trace, done) if exact and done < len(self.plan) else None

    def _left_out(self, trace: Trace, before: int, n: int) -> Cause | None:
        """Stages that no launch has, if the launches pass the numbers of all others. `before`: other launches."""
        positions = sorted(self.plan[0].numbers)
        if len(positions) < 2 or len(trace.launches) == before:
            return None
        plan = [tuple(stage.numbers[p][1] for p in positions) for stage in self.plan]
        own = trace.launches[before:]
        launched = [tuple(one.arguments[p] if p < len(one.arguments) else None for p in positions) for one in own]
        if not set(launched) < set(plan) or launched != [numbers for numbers in plan if numbers in launched]:
            return None
        missing = [stage for stage, numbers in zip(self.plan, plan) if numbers not in launched]
        return self._missing(Run(trace, "", ""), own[-1], missing, n)

    def _missing(self, run: Run, launch: Launch, missing: Sequence[Stage], n: int) -> Cause:
        """Stages that no launch has: what they have in common."""
        names = [stage.name.replace("the stage ", "") for stage in missing]
        text = f"{launch.kernel} is never launched for {'; '.join(names[:3])}{'; ...' if len(names) > 3 else ''}"
        alike = [{stage.numbers[p] for stage in missing if p in stage.numbers} for p in sorted(self.plan[0].numbers)]
        common = [f"{name} = {number}" for same in alike if len(same) == 1 for name, number in same]
        are = "is" if len(missing) == 1 else "are"
        have = "it is the one with" if len(missing) == 1 else "all of them have"
        end = "begin" if list(missing) == list(self.plan[: len(missing)]) else "end"
        positions = sorted(self.plan[0].numbers)
        asked = ""
        if common:
            asked = f"{have} {' and '.join(common)}: where does the loop over {common[0][0]} {end}?"
            positions = [p for p in positions if self.plan[0].numbers[p][0] == common[0][0]]
        elif all(stage.numbers[positions[0]][1] == 2 * stage.numbers[positions[-1]][1] for stage in missing):
            first, last = (self.plan[0].numbers[p][0] for p in (positions[0], positions[-1]))
            asked = f"each is the first one of its {first}: where does the loop over {last} begin?"
            positions = positions[-1:]
        details = (
            f"{len(missing)} of the {len(self.plan)} {self.what}s of {n} keys {are} missing",
            asked,
            run.makes(launch, *positions),
        )
        return Cause(launch.place, text, details)

    def _too_few(self, case: Case, trace: Trace, done: int) -> Cause | None:
        if not trace.launches:
            return Cause("", f"no kernel is launched for {case.n} keys", (f"{self.plan[0].name} is missing",))
        if not done:
            return None
        if len(self.plan[0].numbers) > 1:
            return self._missing(Run(trace, "", ""), trace.launches[-1], self.plan[done:], case.n)
        times = "once" if done == 1 else f"{done} times"
        text = f"{trace.launches[-1].kernel} is launched {times}, but {case.n} keys need {len(self.plan)} {self.what}s"
        place = trace.launches[-1].place
        missing = f"after the last launch, {self.plan[done].name} is missing"
        return Cause(place, text, (missing, Run(trace, "", "").repeated_by(place)))


def _exchange(case: Case, traced: Traced, is_stable: bool = False) -> Cause | None:
    plan = [Stage("the pairs that begin at even positions", networks.phase(0, case.n).pairs)]
    return _Launches(plan, "phase", case.n, is_stable).search(case, traced)


def _phases(case: Case, traced: Traced, is_stable: bool = False) -> Cause | None:
    return _Launches(list(networks.phases(case.n)), "phase", case.n, is_stable).search(case, traced)


def _stages(case: Case, traced: Traced) -> Cause | None:
    padded = 1 << (case.n - 1).bit_length()
    return _Launches(list(networks.classic(padded)), "stage", padded).search(case, traced)


Searching = Callable[[Case, Traced], "Cause | None"]


def _if_launched(search: Searching, least: Callable[[int], int], what: str) -> Searching:
    """The search where a race was found: it must not be one between stages that share a launch."""

    def searched(case: Case, traced: Traced) -> Cause | None:
        trace = traced(case, (0, 2))
        if len(trace.launches) >= least(case.n):
            return search(case, traced)
        barrier = next((event.place for event in trace.events if isinstance(event, Barrier)), "")
        is_between = any(int(launch.grid.partition(",")[0]) > 1 for launch in trace.launches)
        if not barrier or not is_between:
            return None
        text = f"this __syncthreads() orders the threads of one block, but all blocks must end a {what} together"
        return Cause(barrier, text, (f"run one {what} per launch: launches of one stream run one after another",))

    return searched


_SEARCHES: dict[tuple[str, int], Searching] = {
    ("01-odd-even", 0): _exchange,
    ("01-odd-even", 1): _phases,
    ("01-odd-even", 2): tiles.halo,
    ("01-odd-even", 3): rows.search,
    ("03-bitonic", 1): _stages,
    ("03-bitonic", 2): tiles.tiles,
    ("03-bitonic", 3): tiles.hybrid,
}
_BEFORE_RACES: dict[tuple[str, int], Searching] = {
    ("01-odd-even", 0): _exchange,
    ("01-odd-even", 1): _if_launched(_phases, lambda n: n - 1, "phase"),
    ("01-odd-even", 2): tiles.halo_beside_races,
    ("01-odd-even", 3): rows.beside_races,
    ("03-bitonic", 1): _if_launched(_stages, lambda n: (n - 1).bit_length(), "stage"),
    ("03-bitonic", 2): tiles.beside_races,
    ("03-bitonic", 3): tiles.hybrid_beside_races,
}
_STABLE: dict[tuple[str, int], Searching] = {
    ("01-odd-even", 0): functools.partial(_exchange, is_stable=True),
    ("01-odd-even", 1): functools.partial(_phases, is_stable=True),
}
_SUPERFLUOUS: dict[tuple[str, int], Searching] = {
    ("01-odd-even", 1): tiles.read_again,
    ("01-odd-even", 2): tiles.surplus_phases,
    ("03-bitonic", 1): tiles.read_again,
    ("03-bitonic", 2): tiles.repeated_stage,
    ("03-bitonic", 3): tiles.surplus_launch,
}
_LONG = {("01-odd-even", 2)}  # steps with hundreds of stages in a launch
_BARRIERS = {("01-odd-even", 2), ("03-bitonic", 2), ("03-bitonic", 3)}  # steps with stages between barriers
# Findings that may follow from a wrong pair of positions.
_EXPLAINED = frozenset(
    ("race", "divergent-barrier", "device-pointer", "invalid-launch", "invalid-warp-mask", "uninitialized")
    + ("arithmetic", "out-of-bounds", "unchecked-launch")
)
# The type of the keys for which variables of a type are right.
_TYPES = {"int": "i32", "int32_t": "i32", "unsigned": "u32", "unsigned int": "u32", "uint32_t": "u32", "float": "f32"}
_OF_KEYS = re.compile("loses the key|variable of another type|which are in order|does not exchange")
_OF_NUMBER = re.compile(r"\bonly .* (?:executed|launched)|is launched .* times|in any launch$|pass only the phases")
_OF_ARRAYS = ("own-array", "one-pointer", "sizeof", "some-bytes", "never-written")
_STORES = ("global_st_requests", "global_atomic_requests")
_CONSEQUENCES = ("race", "out-of-bounds", "uninitialized")
