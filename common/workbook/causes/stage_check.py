"""Compares what threads did in one stage with what the stage of a network must do, and says how they differ."""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..pictures.trace import Access, Launch, Trace, key_of
from .comparisons import Comparison, key_text
from .networks import Stage
from .source import Source, line_of

ALL_THREADS = re.compile(r"blockIdx\.x\s*\)?\s*\*\s*blockDim\.x\s*\+\s*threadIdx\.x")
MOST_CALLS = 4  # of a function, that are quoted
MOST_QUOTED = 3  # lines from which the arguments of a launch come


@dataclass(frozen=True)
class Cause:
    """What is wrong first, and where."""

    place: str  # FILE:LINE, or FILE where no line is at fault
    text: str
    details: tuple[str, ...] = ()  # what should be, and in which stage this is
    is_undecided: bool = False  # an exchange is missing: a store, or the comparison, may be wrong
    is_of_order: bool = False  # two keys are in the wrong order: what compares them may be wrong
    is_certain: bool = False  # it names the line to change: a small change of another line says less
    launched_at: str = ""  # FILE:LINE of the launch, if it is known and may be wrong

    def __str__(self) -> str:
        kind = " error:" if ":" in self.place else ""  # an editor does not look for a file without a line
        return "\n    ".join([f"{self.place}:{kind} {self.text}", *filter(None, self.details)])

    @property
    def lines(self) -> set[int]:
        """The lines that it names."""
        named = re.findall(r"\bline (\d+)", " ".join(self.details))
        return {line_of(self.place)[1], *map(int, named)}

    def also(self, detail: str) -> Cause:
        """The same, with one more thing to know."""
        return replace(self, details=(detail, *self.details))


@dataclass(frozen=True)
class Run:
    """What all stages of a run have in common."""

    trace: Trace
    key_type: str
    order: str
    array: str = "keys"  # as the messages call it
    n: int = 0  # elements of the array that hold keys; 0: not known
    is_stable: bool = False  # keys that are equal must keep their order
    launch: Launch | None = None  # the one that is looked at
    number: int = 0  # of the launch, from 1
    is_in_block: bool = False  # a block has all pairs of its stages

    @cached_property
    def _sources(self) -> dict[str, Source]:
        return {}

    def source(self, place: str) -> Source:
        """The text of the file of a place."""
        file, _ = line_of(place)
        return self._sources.setdefault(file, Source(file))

    def index_of(self, place: str) -> str:
        """Where the index of a line comes from."""
        return self.source(place).index_of(line_of(place)[1])

    def bound_of(self, place: str) -> str:
        """What decides how often a line is reached, or the line that calls its function."""
        source, line = self.source(place), line_of(place)[1]
        return source.bound_of(line) or source.bound_of(source.caller(line))

    def loop_of(self, place: str) -> str:
        """The innermost loop around a line."""
        source, line = self.source(place), line_of(place)[1]
        loops = source.loops_around(line)
        return source.quoted(loops[-1]) if loops else ""

    def repeated_by(self, place: str) -> str:
        """What repeats the stage of a line."""
        return self.source(place).repeated_by(line_of(place)[1])

    def advance_of(self, place: str) -> str:
        """Where the innermost loop around a line, or around the line that calls its function, advances, and where the
        number comes from by which it does."""
        source, line = self.source(place), line_of(place)[1]
        loops = source.loops_around(line) or source.loops_around(source.caller(line))
        if not loops:
            return ""
        at = source.step_of(loops[-1])
        step = re.search(r"\+=\s*(\w+)\W*$", source.lines[at - 1])
        comes = source.assigned(step[1], at) if step else 0
        return "; ".join(source.quoted(n) for n in (at, comes) if n)

    def decision_of(self, place: str, is_ahead: bool = False) -> str:
        """ "this depends on line 39: `if (swap)`" """
        found = self.source(place).decision_of(line_of(place)[1], is_ahead)
        return f"this depends on {found}" if found else ""

    def _passed_names(self, launch: Launch, positions: Sequence[int]) -> list[str]:
        """The variables in the arguments of a launch at some positions."""
        source, line = self.source(launch.place), line_of(launch.place)[1]
        passed = " ".join(source.argument(line, position) for position in positions)
        return re.findall(r"(?<![\w.])[A-Za-z_]\w*", passed)

    def passed_of(self, launch: Launch, *positions: int) -> str:
        """Where the arguments of a launch at some positions come from."""
        source, line = self.source(launch.place), line_of(launch.place)[1]
        names = self._passed_names(launch, positions)
        comes = [at for name in names if (at := source.assigned(name, line) or source.filled(name, line))]
        comes += [at for name in names if (at := source.changed_after(name, line)) and at not in comes]
        comes += [at for name in names for at in source.lambda_calls(line, name)]
        tests = [test for at in comes if (test := source.test_around(at)) and source.test_around(line) != test]
        made = [returned for at in comes for returned in source.returned_to(at)]
        own = [*dict.fromkeys((*comes, *made, *tests))]
        before = dict.fromkeys(origin for at in comes for origin in source.origins_of(at) if origin not in own)
        return "; ".join(map(source.quoted, (*own, *before) if len(own) + len(before) <= MOST_QUOTED else own))

    def given(self, launch: Launch, *positions: int) -> str:
        """ "these are `first` and `n / 2`": what a launch passes at some positions; "" if one is not known"""
        source, line = self.source(launch.place), line_of(launch.place)[1]
        passed = [source.argument(line, position) for position in positions]
        these = "this is " if len(passed) == 1 else "these are "
        return these + " and ".join(f"`{argument}`" for argument in passed) if all(passed) else ""

    def makes(self, launch: Launch, *positions: int) -> str:
        """What gives a launch its arguments at some positions: the loops and the test around it that use their
        variables, and the lines that they come from."""
        source, line = self.source(launch.place), line_of(launch.place)[1]
        names = set(self._passed_names(launch, positions))
        around = [*source.loops_around(line), source.test_around(line)]
        own = [at for at in around if at and names & set(re.findall(r"\w+", source.lines[at - 1]))]
        comes = [at for name in sorted(names) if (at := source.assigned(name, line))]
        comes += [at for loop in own for at in source.counted_by(loop)]
        return "; ".join(map(source.quoted, list(dict.fromkeys(own + comes))[:MOST_CALLS]))

    def guards_of(self, place: str) -> str:
        """The loops and tests around a line."""
        return "; ".join(self.source(place).guards_of(line_of(place)[1]))

    def calls_of(self, place: str) -> str:
        """The lines that call the function, or the lambda, around a line, if there are several."""
        source, line = self.source(place), line_of(place)[1]
        own = source.lambda_around(line)
        name, calls = (own.name, own.calls) if own else (source.function_of(line)[0], source.calls(line))
        called = "; ".join(map(source.quoted, calls[:MOST_CALLS]))
        return f"{name}() is called in {called}" if len(calls) > 1 else ""

    def passed_to(self, place: str, comes: str) -> str:
        """The lines that call the function around a line, if they pass what an index there comes from."""
        source, line = self.source(place), line_of(place)[1]
        return self.calls_of(place) if source.names_parameter(line, comes) else ""

    def number_of_thread(self, place: str) -> str:
        """The first line of the kernel, or of the function, around a place that uses threadIdx."""
        source, line = self.source(place), line_of(place)[1]
        for at in (line, source.caller(line)):
            _, first, last = source.function_of(at) if at else ("", 1, 0)
            found = next((n for n in range(first, last + 1) if "threadIdx" in source.lines[n - 1]), 0)
            if found:
                return source.quoted(found)
        return ""

    def limits_of(self, place: str) -> str:
        """What may keep the threads from taking all pairs, at a line or where its function is called."""
        source, line = self.source(place), line_of(place)[1]
        return source.limits_of(line) or source.limits_of(source.caller(line))

    def place(self, code: int) -> str:
        """The student's line of an instruction."""
        return self.trace.in_source.get(code) or self.trace.lines.get(code, "")

    def thread(self, one: Comparison) -> str:
        """ "thread 3 of block 0" """
        return f"thread {one.thread} of block {one.block}"

    @property
    def threads(self) -> tuple[int, str]:
        """How many threads share the pairs of a stage, and of what they are the threads."""
        if self.launch is None:
            return 0, ""
        blocks = 1 if self.is_in_block else math.prod(map(int, self.launch.grid.split(",")))
        return blocks * math.prod(map(int, self.launch.block.split(","))), "block" if self.is_in_block else "grid"

    def thread_number(self, one: Comparison) -> int:
        """The number of a thread among these."""
        if self.launch is None or self.is_in_block:
            return one.thread
        return one.block * math.prod(map(int, self.launch.block.split(","))) + one.thread

    def passed_count(self, stage: Stage) -> int | None:
        """The number of comparators that the launch passes to the kernel; None if that is not known."""
        if self.launch is None or self.is_in_block or stage.counted is None:
            return None
        position = stage.counted[0]
        return self.launch.arguments[position] if position < len(self.launch.arguments) else None

    def is_before(self, a: int, b: int, size: int) -> bool:
        """Whether the key with the bits `a` must come before that with the bits `b`."""
        first, second = self._rank(a, size), self._rank(b, size)
        return first < second if self.order == "ascending" else first > second

    def _rank(self, bits: int, size: int) -> float:
        """A number in whose order the keys are. The bits of floats are compared, so that NaNs have a place, too."""
        if self.key_type != "f32":
            return key_of(bits, size, self.key_type)
        return -(bits - (1 << 31)) if bits >> 31 else bits

    def named(self, *positions: int) -> str:
        """ "keys[0] and keys[1]" """
        return " and ".join(f"{self.array}[{position}]" for position in positions)


def pairs_text(pairs: Sequence[tuple[int, ...]]) -> str:
    """ "(0, 1), (2, 3), (4, 5), ..." """
    shown = ", ".join(f"({', '.join(map(str, pair))})" for pair in pairs[:3])
    return shown + ", ..." * (len(pairs) > 3)


def wrong_pairs(run: Run, stage: Stage, found: Sequence[Comparison], plan: Sequence[Stage], where: str) -> Cause | None:
    """The first pair that the stage does not have."""
    wrong = [one for one in found if len(one.loads) > 1 and one.pair not in stage.pairs]
    if not wrong:
        return None
    first = min(wrong, key=lambda one: (one.block, one.thread))
    place = run.place(_wrong_load(stage, first).code)
    own = sorted({one.pair for one in found})
    if run.n and not 0 <= first.pair[0] <= first.pair[-1] < run.n:
        return _outside(run, stage, found, first, where)
    alike = next((other for other in plan if other != stage and sorted(other.pairs) == own), None) or next(
        (other for other in plan if other.kind and other.kind != stage.kind and set(own) <= set(other.pairs)), None
    )
    if alike and not set(own) & set(stage.pairs):
        text = f"{where} compares the pairs of {alike.kind or alike.name}: {pairs_text(own)}"
        must = f"it must be {stage.name}: {pairs_text(sorted(stage.pairs))}"
        details = (run.calls_of(place), run.index_of(place), must)
        launched_at = run.launch.place if run.launch else ""
        return _of_numbers(run, stage, Cause(place, text, details, launched_at=launched_at))
    detail = _of_partner(run, stage, first)
    comes = run.index_of(place)
    if detail.startswith("the partner of") or detail.endswith("the first position is wrong"):
        comes = _begun_with(comes, is_first="first position" in detail)
    due = _pair_of(run, stage, first)
    if due and not set(due) & set(first.pair):
        detail += f"; the pair of thread {run.thread_number(first)} is {run.named(*due)}"
    text = f"{run.thread(first)} compares {run.named(*first.pair)}"
    cause = Cause(place, text, (detail, comes, run.passed_to(place, comes), f"in {where}: {stage.name}"))
    return _of_numbers(run, stage, cause, is_detail=False)


def _begun_with(comes: str, is_first: bool) -> str:
    """Where two indices come from, that of the position that is wrong first: the first or the second of the pair, which
    mostly is computed from the first."""
    parts = re.split(r"; (?=\w+ comes from |line \d+: `)", comes)
    of = [number for number, part in enumerate(parts) if re.match(r"\w+ comes from ", part)]
    if len(of) < 2:
        return comes
    first, second = of[:2]
    if re.search(rf"=.*\b{parts[second].split()[0]}\b", parts[first]):
        first, second = second, first
    return "; ".join([parts.pop(first if is_first else second), *parts])


def _wrong_load(stage: Stage, one: Comparison) -> Access:
    """Which key a thread should not have read, as _of_partner() says it."""
    if len(one.loads) != 2:
        return next(iter(one.loads.values()))
    low, high = one.pair
    partners = {p: q for pair in stage.pairs for p, q in (pair, pair[::-1])}
    if _begins_with(one, partners) is not None:
        return one.loads[low]
    is_low = bool(low & stage.stride) if stage.mask else partners.get(low, -1) < low
    return one.loads[low if is_low else high]


def _begins_with(one: Comparison, partners: Mapping[int, int]) -> int | None:
    """The higher of two positions, if it is read first, and is the first one of a pair: then the other is wrong."""
    high = one.pair[1]
    return high if next(iter(one.loads)) == high and partners.get(high, -1) > high else None


def _of_partner(run: Run, stage: Stage, first: Comparison) -> str:
    """Which position of a pair that does not belong to a stage is wrong."""
    if len(first.loads) != 2:
        return f"no such pair belongs to this stage, but {pairs_text(sorted(stage.pairs))}"
    low, high = first.pair
    second = f"no pair begins with {run.named(low)}, the second key of its pair"
    if stage.mask and low & stage.stride:
        return f"{second}: the first position is wrong"
    if stage.mask:
        partner = low ^ stage.mask
        named = run.named(low)
        if partner >= run.n > 0:
            absent = f"{run.named(partner)}, not {run.named(high)}"
            return f"the partner of {named} would be {absent}: there is no such key, so {named} stays where it is"
        return f"the partner of {named} is {run.named(partner)}"
    partners = {p: q for pair in stage.pairs for p, q in (pair, pair[::-1])}
    if (begins := _begins_with(first, partners)) is not None:
        return f"the partner of {run.named(begins)} is {run.named(partners[begins])}"
    if partners.get(low, low) < low:
        is_right = partners.get(high, high) < high
        also = f", and {run.named(partners[high], high)} are a pair" if is_right else ""
        return f"{second}{also}: the first position is wrong"
    own = next((position for position in first.pair if position in partners), None)
    if own is None:
        return f"no such pair belongs to this stage, but {pairs_text(sorted(stage.pairs))}"
    return f"the partner of {run.named(own)} is {run.named(partners[own])}"


def _outside(run: Run, stage: Stage, found: Sequence[Comparison], first: Comparison, where: str) -> Cause:
    """A pair that reaches beyond the keys: one too many, or one that should be skipped."""
    place = run.place(first.code)
    outside = next(position for position in first.pair if not 0 <= position < run.n)
    named = run.named(outside)
    lacks = f"there is no {named}" if run.array == "keys" or outside < 0 else f"{named} holds no key"
    text = f"{run.thread(first)} compares {run.named(*first.pair)}, but {lacks}: "
    there = "there is 1 key" if run.n == 1 else f"there are {run.n:,} keys"
    text += there if outside >= run.n else "the first position is 0"
    right = [one for one in found if one.pair in stage.pairs]
    pairs = len({one.pair for one in found})
    details = [f"skip a comparator whose partner is not below {run.n:,}"]
    comes = run.bound_of(place) if outside >= run.n else run.index_of(place)
    if stage.mask and 2 * len(stage.pairs) == run.n and pairs <= len(stage.pairs):  # no comparator is to be skipped
        details, comes = [], run.index_of(place) or comes
    if outside < 0 and "%" in comes:
        comes += "; the remainder of a negative number is negative or 0"
    if outside < run.n or not stage.pairs:
        details = []
    elif details and len({one.pair for one in right}) == len(stage.pairs) and (stage.counted or (0, ""))[1] != "pairs":
        word = "phase" if stage.name.startswith("phase") else "stage"
        details = [f"this {word} has {_counted(len(stage.pairs))}, but the kernel compares {pairs:,}"]
        passed = run.passed_count(stage)
        if run.launch and passed is not None and passed > len(stage.pairs):
            place = run.launch.place
            text = f"launch {run.number} ({run.launch.kernel}) passes comparators = {passed}, "
            text += f"but the stage has {len(stage.pairs)}"
            comes = run.passed_of(run.launch, stage.counted[0]) if stage.counted else ""
    due = _pair_of(run, stage, first) if outside < run.n else None
    if due:
        details += [f"the pair of thread {run.thread_number(first)} is {run.named(*due)}"]
    details += [comes, f"in {where}: {stage.name}"]
    return _of_numbers(run, stage, Cause(place, text, tuple(details)), is_detail=False)


def _counted(pairs: int) -> str:
    return f"{pairs:,} pair" + "s" * (pairs != 1)


def _of_numbers(run: Run, stage: Stage, cause: Cause, is_detail: bool = True) -> Cause:
    """Whether the launch passes the numbers of another stage to the kernel: then it is at fault, not the kernel.
    `is_detail`: says so, too, if it passes the right ones."""
    launch = run.launch
    if launch is None or run.is_in_block or not stage.numbers:
        return cause
    passed = {p: launch.arguments[p] if p < len(launch.arguments) else None for p in stage.numbers}
    if None in passed.values():
        return cause

    def listed(numbers: Sequence[int | None]) -> str:
        return " and ".join(f"{name} = {number}" for (name, _), number in zip(stage.numbers.values(), numbers))

    wanted = [number for _, number in stage.numbers.values()]
    given = [*passed.values()]
    if given == wanted:
        detail = f"the launch passes {listed(given)}, as it must: how does the kernel use that?"
        return cause.also(detail) if is_detail else cause
    text = f"launch {run.number} ({launch.kernel}) passes {listed(given)}, but it must be {listed(wanted)}"
    exchanged = "are two arguments exchanged?" if len(wanted) == 2 and given == wanted[::-1] else ""
    wrong = [position for position, right in zip(stage.numbers, wanted) if passed[position] != right]
    if not exchanged and len(wrong) == 1:
        argument = run.source(launch.place).argument(line_of(launch.place)[1], wrong[0])
        is_plain = argument and argument != stage.numbers[wrong[0]][0]
        exchanged = f"the launch passes `{argument}` as {stage.numbers[wrong[0]][0]}" if is_plain else ""
    comes = run.passed_of(launch, *wrong) or run.decision_of(launch.place)
    wanted_stage = f"with {run.n:,} keys, this must be the launch of {stage.name}" if run.n else ""
    return Cause(launch.place, text, (exchanged, comes, wanted_stage))


def missing_pairs(run: Run, stage: Stage, found: Sequence[Comparison], where: str, place: str) -> Cause | None:
    """The first pair of the stage that no thread compares."""
    own = {one.pair for one in found}
    missing = sorted(pair for pair in stage.pairs if pair not in own)
    if not missing:
        return None
    if found and all(len(one.loads) == 1 for one in found):
        return one_key(run, found[0], f"{where}: {stage.name}")
    place = run.place(found[0].code) if found else place
    if len(missing) == 1:
        is_last = len(stage.pairs) > 1 and missing[0] == max(stage.pairs)
        last = f", the last of the {len(stage.pairs):,} pairs" if is_last else ""
        text = f"no thread compares {run.named(*missing[0])}{last}"
    elif len(missing) == len(stage.pairs):
        text = f"no thread compares any of the pairs {pairs_text(missing)}"
    else:
        text = f"no thread compares {len(missing):,} of the {len(stage.pairs):,} pairs: {pairs_text(missing)}"
    stages = f"in {where}: {stage.name}"
    if twice := compared_twice(run, found, stage):
        return _of_numbers(run, stage, replace(twice, details=(text, *twice.details, stages)), is_detail=False)
    cause = Cause(place, text, (*_of_threads(run, stage, found, missing, place), stages))
    if wrong := _too_few_keys(run, stage, text, stages):
        return wrong
    launch, passed = run.launch, run.passed_count(stage)
    if launch and stage.counted and passed is not None:
        number = stage.number_of(missing[0])
        if passed <= number:
            text = f"launch {run.number} ({launch.kernel}) passes {stage.counted[1]} = {passed}, which is too few"
            needed = max(map(stage.number_of, stage.pairs)) + 1
            detail = f"no thread takes comparator {number}, counted from 0: {run.named(*missing[0])}; "
            detail += f"{needed:,} comparators are needed"
            return Cause(launch.place, text, (detail, run.passed_of(launch, stage.counted[0]), stages))
    return _of_numbers(run, stage, cause, is_detail=False)


def one_key(run: Run, one: Comparison, where: str) -> Cause:
    """A thread that reads a single key."""
    place = run.place(one.code)
    text = f"{run.thread(one)} reads only {run.named(*one.pair)}, so there is nothing to compare it with"
    return Cause(place, text, (run.index_of(place), f"in {where}"))


def _too_few_keys(run: Run, stage: Stage, missing: str, stages: str) -> Cause | None:
    """A launch that passes fewer keys than there are."""
    launch, at = run.launch, stage.keys_at
    passed = launch.arguments[at] if launch and at is not None and at < len(launch.arguments) else None
    if launch is None or run.is_in_block or passed is None or not 0 < passed < run.n:
        return None
    text = f"launch {run.number} ({launch.kernel}) passes n = {passed}, but there are {run.n} keys"
    return Cause(launch.place, text, (missing, stages))


def compared_twice(run: Run, found: Sequence[Comparison], stage: Stage | None = None) -> Cause | None:
    """A pair that two threads compare in one stage."""
    first: dict[tuple[int, ...], Comparison] = {}
    for one in found:
        other = first.setdefault(one.pair, one)
        if one.thread != other.thread or one.block != other.block:
            text = f"{run.thread(other)} and {run.thread(one)} both compare {run.named(*one.pair)}"
            place = run.place(one.code)
            step = _step_of(run, found, other, stage) or _step_of(run, found, one, stage)
            detail = step or _due(run, one, other, stage, place)
            if run.launch and (rows := _in_rows(run.launch, one, other)):
                detail = rows
            elif (
                one.thread == other.thread
                and not (step and _begin_apart(found, one, other))
                and not (detail and not step and ALL_THREADS.search(run.number_of_thread(place)))
            ):
                detail = (
                    "both have the same threadIdx, in two blocks: is blockIdx in the number of a thread's first pair, "
                    "and does its loop advance by gridDim.x * blockDim.x pairs?"
                )
                return Cause(place, text, (detail, run.number_of_thread(place)))
            elif not step and (owner := _owner_of(run, found, one, other, stage)):
                return Cause(place, text, (owner, run.advance_of(place)))
            if step and detail == step:
                return Cause(place, text, (step, run.advance_of(place)), is_certain=True)
            return Cause(place, text, (detail,))
    return None


def _owner_of(run: Run, found: Sequence[Comparison], one: Comparison, other: Comparison, stage: Stage | None) -> str:
    """Which third thread has a pair that two others compare, so that their loops advance by too little."""
    threads, whose = run.threads if run.launch else (0, "")
    if stage is None or one.pair not in stage.pairs or threads == 0:
        return ""
    number = stage.number_of(one.pair)
    owner = number % threads
    compared = {(o.block, o.thread, o.pair) for o in found}
    for it in (one, other):
        own = _pair_of(run, stage, it)
        if run.thread_number(it) == owner or (own and (it.block, it.thread, own) not in compared):
            return ""  # a thread that does not compare its own pair computes a wrong index
    return (
        f"they are pair {number}, counted from 0: the work of thread {owner} of the {threads} of the {whose}; do the "
        "loops of the others advance by too little?"
    )


def _begin_apart(found: Sequence[Comparison], *threads: Comparison) -> bool:
    """Whether the first pairs of two threads differ, so that their numbers do."""
    firsts = [next(o.pair for o in found if (o.block, o.thread) == (one.block, one.thread)) for one in threads]
    return firsts[0] != firsts[1]


def _in_rows(launch: Launch, one: Comparison, other: Comparison) -> str:
    """Whether a launch has several rows of blocks or of threads, in which two threads are at the same place."""
    for what, shape, numbers in (
        ("blockIdx", launch.grid, (one.block, other.block)),
        ("threadIdx", launch.block, (one.thread, other.thread)),
    ):
        width, *others = map(int, shape.split(","))
        if math.prod(others) > 1 and numbers[0] % width == numbers[1] % width and numbers[0] != numbers[1]:
            return f"the two differ in {what}.y or .z only: launch one row, or let the kernel use {what}.y, too"
    return ""


def _step_of(run: Run, found: Sequence[Comparison], one: Comparison, stage: Stage | None) -> str:
    """By how much the loop of a thread advances, if that is less than the number of threads."""
    if stage is None or run.launch is None:
        return ""
    own = [o.pair for o in found if (o.block, o.thread) == (one.block, one.thread) and o.pair in stage.pairs]
    if len(own) < 2:
        return ""
    step = stage.number_of(own[1]) - stage.number_of(own[0])
    threads, whose = run.threads
    if not 0 < step < threads:
        return ""
    numbers = ", ".join(str(stage.number_of(pair)) for pair in own[:3])
    other = next((o for o in found if (o.block, o.thread) != (one.block, one.thread)), None)
    if other and other.pair == own[0] and len(own) == len(stage.pairs):
        return (
            "each thread takes all pairs, starting with the first: compute its first pair from the number of the thread"
        )
    positions = own[1][0] - own[0][0]
    if positions == 2 * step:  # as everywhere in the array, so that a loop may count pairs or positions
        return (
            f"{run.thread(one)} takes the pairs {numbers}, ...: its loop advances by {_counted(step)} "
            f"({positions} positions); the {threads} threads of the {whose} take one pair each, so it must advance by "
            f"{threads} pairs ({2 * threads} positions)"
        )
    return (
        f"{run.thread(one)} takes the pairs {numbers}, ...: its loop advances by {_counted(step)}, but it must "
        f"advance by the number of threads in the {whose}, {threads}"
    )


def _due(run: Run, one: Comparison, other: Comparison, stage: Stage | None, place: str) -> str:
    """Which pair a thread should have compared."""
    due = _pair_of(run, stage, one) or _pair_of(run, stage, other)
    index = run.index_of(place)
    used = set(re.findall(r"\b[A-Za-z_]\w*\b", index))
    names = [name for name, _ in stage.numbers.values()] if stage else []
    stride = names[-1] if names else ""
    if stride and index and stride not in used and re.search(rf"\b{stride}\b", run.source(place).around(place)):
        index += f"; the pair of a thread must also depend on {stride}"
    whose = one if _pair_of(run, stage, one) else other
    text = f"{run.thread(whose)} should compare {run.named(*due)}" if due else ""
    return ": ".join(filter(None, (text, index)))


def _pair_of(run: Run, stage: Stage | None, one: Comparison) -> tuple[int, int] | None:
    """The pair that has the number of a thread, if it compares another."""
    if stage is None or run.launch is None:
        return None
    number = run.thread_number(one)
    pair = next((pair for pair in stage.pairs if stage.number_of(pair) == number), None)
    return pair if pair != one.pair else None


def _one_pair_each(run: Run, threads: int, place: str) -> tuple[str, ...]:
    bound, source, line = run.bound_of(place), run.source(place), line_of(place)[1]
    test = bound if re.match(r"line \d+: `if\b", bound) and not source.loops_around(line) else ""
    return f"each of the {threads} threads compares only one pair: use a loop, so that it takes more pairs", test


def _left_at(run: Run, stage: Stage, found: Sequence[Comparison], missing: tuple[int, int], all_threads: int) -> str:
    """Whether a thread takes no more pairs after one that does not exist, which it should only skip."""
    number = stage.number_of(missing)
    thread = number % all_threads
    pairs = {stage.number_of(pair) for pair in stage.pairs}
    own = [stage.number_of(one.pair) for one in found if run.thread_number(one) == thread]
    absent = next((earlier for earlier in range(thread, number, all_threads) if earlier not in pairs), None)
    if absent is None or any(earlier > absent for earlier in own):
        return ""
    return (
        f"thread {thread} takes no pair after comparator {absent}, whose partner does not exist: does it leave its "
        "loop there, where it should skip only this comparator?"
    )


def _of_threads(
    run: Run, stage: Stage, found: Sequence[Comparison], missing: Sequence[tuple[int, int]], place: str
) -> tuple[str, ...]:
    """Whether the missing pairs are those that come after one pair per thread, or belong to other threads."""
    threads = {(one.block, one.thread) for one in found}
    all_threads = run.threads[0] if run.launch else 0
    is_rest = missing == sorted(stage.pairs)[-len(missing) :]
    numbers = [stage.number_of(one.pair) for one in found if one.pair in stage.pairs]
    again = [one for one, times in Counter((one.block, one.thread, one.pair) for one in found).items() if times > 1]
    if again:
        one = next(one for one in found if (one.block, one.thread, one.pair) == again[0])
        text = f"{run.thread(one)} compares {run.named(*one.pair)} again in another round of its loop: does the index "
        return (text + "depend on the variable that the loop changes?", run.index_of(place))
    if all_threads > 0 and (left := _left_at(run, stage, found, missing[0], all_threads)):
        return (left,)
    if found and 0 < all_threads <= stage.number_of(missing[0]) and max(numbers, default=0) < all_threads:
        return _one_pair_each(run, all_threads, place)
    if len(threads) == len(found) >= 32 and len(found) % 32 == 0 and (is_rest or len(found) == all_threads):
        return _one_pair_each(run, len(found), place)
    if not found:
        source, line = run.source(place), line_of(place)[1]
        line = source.launched_at(line) or line if 0 < line <= len(source.lines) else 0
        at = source.comparing(line) if line else 0
        check = "check the loops that lead to a comparison, and the conditions that skip one"
        if not at:
            return (check, run.bound_of(place))
        if loops := source.loops_in_called(at)[:MOST_QUOTED]:
            called = "; ".join(filter(None, (source.quoted(at), source.decision_of(at))))
            return (f"{check}: {'; '.join(map(source.quoted, loops))}", called)
        bound = source.decision_of(at) or run.bound_of(f"{source.file}:{at}")
        bound = "" if bound.startswith(f"line {at}:") else bound
        leaves = re.match(r"line (\d+):[^;]*\breturn\b", bound)
        if leaves and source.loops_around(int(leaves[1])):
            ends = f"`return` in line {leaves[1]} ends the whole function"
            return (f"{ends}: should it only end this iteration of the loop?", bound.partition("; ")[0])
        check = "check the loops and conditions around the comparison, and the two positions it uses"
        return (f"{check}: {source.quoted(at)}", source.values_of(at), bound)
    for one in found:
        if one.pair in stage.pairs and run.launch:
            number = stage.number_of(one.pair)
            if number % all_threads != run.thread_number(one) and stage.number_of(missing[0]) < all_threads:
                return (
                    f"{run.named(*missing[0])} are pair {stage.number_of(missing[0])}, counted from 0: the work of "
                    f"thread {stage.number_of(missing[0])}; {run.thread(one)} takes pair {number} in place of its own",
                    run.index_of(place),
                )
    pairs = len({one.pair for one in found if one.pair in stage.pairs})
    if is_rest:
        compared = f"{pairs} {'is' if pairs == 1 else 'are'} compared"
        there = f"there are {_counted(len(stage.pairs))} here, and {compared}"
        if len(threads) == 1 < all_threads:
            only = f"only {run.thread(found[0])} compares any pairs: is each thread's number computed correctly?"
            return there, only, run.number_of_thread(place)
        return there, run.limits_of(place)
    return ("check how many pairs there are, and which is the first and the last one", run.bound_of(place))


def wrong_results(run: Run, stage: Stage, found: Sequence[Comparison], where: str) -> Cause | None:
    """The first pair of the stage that is not in the right order afterwards."""
    stages = f"in {where}: {stage.name}"
    turned: dict[bool, Cause] = {}  # by whether keys in order are exchanged: pairs in the wrong order
    sides: set[bool] = set()  # whether these belong in the step's order
    for one in sorted(found, key=lambda one: (one.block, one.thread)):
        if one.pair not in stage.pairs:
            continue
        extra = [position for position in one.stores if position not in one.loads]
        if extra:
            text = f"{run.thread(one)} compares {run.named(*one.pair)}, but writes {run.named(extra[0])}"
            return Cause(run.place(one.stores[extra[0]].code), text, (stages,))
        if cause := _wrong_result(run, stage, one):
            if not cause.is_of_order:
                return replace(cause, details=(*cause.details, stages))
            turned.setdefault("which are in order" in cause.text, cause)
            sides.add(stage.pairs[one.pair])
    if turned and (exchanged := _exchanged_positions(run, stage, found)):
        cause = next(iter(turned.values()))
        return replace(cause, details=(*exchanged, *cause.details, stages), is_of_order=False)
    if turned and len(sides) == 1 and len(set(stage.pairs.values())) == 2:
        which = "in the order of the step" if sides == {True} else f"in the opposite order ({stage.turned})"
        only = f"only pairs that belong {which} are wrong: how does the direction follow from i?"
        cause = next(iter(turned.values()))
        return replace(cause, details=(only, *cause.details, stages))
    if len(turned) == 2:
        both = "keys in the wrong order are left as they are: the comparison is the wrong way round"
        if _stores_both(stage, found):
            both += ", or each key is stored where the other one belongs"
        return replace(turned[True], details=(both, *turned[True].details, stages), is_of_order=False)
    for cause in turned.values():
        return replace(cause, details=(*cause.details, stages))
    return None


def _stores_both(stage: Stage, found: Sequence[Comparison]) -> bool:
    """Whether the keys of a pair are stored also if they stay where they are."""
    return all(one.stores.keys() >= set(one.pair) for one in found if one.pair in stage.pairs)


def _exchanged_positions(run: Run, stage: Stage, found: Sequence[Comparison]) -> tuple[str, ...]:
    """Whether just those pairs are in the wrong order whose positions a thread reads the other way round."""
    ways: dict[bool, set[bool]] = {
        True: set(),
        False: set(),
    }  # by whether the pair is wrong
    first = None
    for one in found:
        if one.pair in stage.pairs and len({access.value for access in one.loads.values()}) == 2:
            is_wrong = _wrong_result(run, stage, one) is not None
            ways[is_wrong].add([*one.loads] == [*one.pair])
            first = first or (one if is_wrong else None)
    if first is None or len(ways[True]) != 1 or len(ways[False]) != 1 or ways[True] == ways[False]:
        return ()
    low, high = first.pair
    text = (
        f"its two positions are exchanged: {run.named(high)} is taken as the first, and {run.named(low)} as the second"
    )
    return text, run.index_of(run.place(first.code))


def _wrong_result(run: Run, stage: Stage, one: Comparison) -> Cause | None:
    low, high = one.pair
    a, b = one.loads[low].value, one.loads[high].value
    size = one.loads[low].bytes
    forward = stage.pairs[low, high]
    in_order = not (run.is_before(b, a, size) if forward else run.is_before(a, b, size))
    after = (one.after(low), one.after(high))
    is_tie = not run.is_before(a, b, size) and not run.is_before(b, a, size)
    keys = " and ".join(f"{run.named(p)} = {key_text(one.loads[p], run.key_type)}" for p in (low, high))
    if is_tie and set(after) == {a, b}:
        if not run.is_stable or after == (a, b):
            return None
        place = run.place(one.stores[low].code)
        detail = "equal keys keep their order: exchange two keys only if the second must come before the first"
        return Cause(place, f"{run.thread(one)} exchanges {keys}, which are equal", (detail,))
    if after == ((a, b) if in_order else (b, a)):
        return None
    opposite = "descending" if run.order == "ascending" else "ascending"
    wanted = f"the order here is {run.order if forward else opposite}"
    if not forward:
        wanted += f": {stage.turned.replace('i &', f'i & k = {low} &')} (i is the first position of the pair)"
    if after == (a, b):
        text = f"{run.thread(one)} compares {keys}, but does not exchange them"
        place = run.place(one.code)
        decided = run.decision_of(place, is_ahead=True)
        return Cause(place, text, (wanted, decided), is_undecided=not one.stores, is_of_order=True)
    if after == (b, a):
        place = run.place(one.stores[low].code)
        text = f"{run.thread(one)} exchanges {keys}, which are in order"
        return Cause(place, text, (wanted, run.decision_of(place)), is_of_order=True)
    return _lost_key(run, one, keys, after, in_order)


def _converted(bits: int, size: int, key_type: str) -> set[int]:
    """What becomes of a key in a variable of another type, and back."""
    number = key_of(bits, size, key_type)
    if number != number or abs(number) == float("inf"):
        return set()
    whole = int(number)
    numbers: list[float] = [whole, whole & 0xFFFFFFFF, whole & 0xFFFF, whole & 0xFF]
    numbers += [(whole + half) % (2 * half) - half for half in (1 << 7, 1 << 15, 1 << 31)]
    numbers += [struct.unpack("<f", struct.pack("<f", number))[0], float(number)]
    made = set()
    for other in numbers:
        if key_type == "f32":
            made.add(int.from_bytes(struct.pack("<f", other), "little"))
        else:
            made.add(int(other) & ((1 << 8 * size) - 1))
    return made - {bits}


def _lost_key(run: Run, one: Comparison, keys: str, after: tuple[int, int], in_order: bool) -> Cause:
    low, high = one.pair
    lost = next((p for p in (low, high) if one.loads[p].value not in after), low)
    first, second = one.loads[low].value, one.loads[high].value
    due = (first, second) if in_order else (second, first)
    wrong = next((p for p, now, right in zip((low, high), after, due) if now != right), low)
    at = one.stores.get(wrong) or one.stores.get(low) or one.stores.get(high)
    size = one.loads[low].bytes
    numbers = [key_of(value, size, run.key_type) for value in after]
    shown = [f"{number:.9g}" if run.key_type == "f32" else str(number) for number in numbers]
    now = " and ".join(f"{run.named(p)} = {number}" for p, number in zip((low, high), shown))
    unwritten = [p for p in (low, high) if p not in one.stores]
    details = [f"before: {keys}; after: {now}"]
    place = run.place(at.code if at else one.code)
    key = key_text(one.loads[lost], run.key_type)
    before = {one.loads[p].value for p in (low, high)}
    made = _converted(one.loads[lost].value, size, run.key_type)
    if changed := [number for value, number in zip(after, shown) if value not in before and value in made]:
        text = f"{run.thread(one)} reads the key {key} and stores {changed[0]}, as in a variable of another type"
        return Cause(place, text, ("declare a variable that holds a key as Key", *details))
    # A compiler leaves out a store of what is there already, and the trace does not show it.
    text = f"{run.thread(one)} loses the key {key} of {run.named(lost)}"
    source = run.source(place)
    if late := source.read_too_late(line_of(place)[1]):
        reading, overwritten, what = late
        why = (
            f"this line reads {what}, but line {overwritten} has already overwritten it: save it in a variable first, "
        )
        why += "and use that"
        return Cause(f"{source.file}:{reading}", why, (text, *details))
    if through := source.read_through(line_of(place)[1]):
        line, why, remedy = through
        return Cause(f"{source.file}:{line}", why, (remedy, source.quoted(line), text, *details))
    if unwritten and (copied := source.changed_copy(line_of(place)[1])):
        changing, name, reading = copied
        if not source.is_stored(name, changing):
            why = f"this line changes {name}, which is only a copy of a key: {run.named(unwritten[0])} stays as it is"
            read = f"{name} is read in {source.quoted(reading)}"
            return Cause(f"{source.file}:{changing}", why, (read, text, *details))
    details += [f"nothing new is stored in {run.named(unwritten[0])}"] if unwritten else []
    if len(unwritten) == 1 and in_order:
        details += ["the two keys are in order, so neither may change: is this store outside the `if`?"]
    else:
        missing = "is its store missing, is " if unwritten else "is "
        details += [f"{missing}a key overwritten before it has been read, or is the wrong one stored?"]
    if (copy := source.changed_parameter()) and source.function_of(copy[0]) == source.function_of(line_of(place)[1]):
        line, why, remedy = copy
        return Cause(f"{source.file}:{line}", why, (remedy, text))
    return Cause(place, text, tuple(details))


def check_stage(
    run: Run, stage: Stage, found: Sequence[Comparison], plan: Sequence[Stage], where: str, place: str
) -> Cause | None:
    """How a stage departs from what it must do; None if it does that. `place`: where nothing is compared."""
    checks: Sequence[Callable[[], Cause | None]] = (
        lambda: wrong_pairs(run, stage, found, plan, where),
        lambda: missing_pairs(run, stage, found, where, place),
        lambda: _shared_pair(run, stage, found, where),
        lambda: _of_results(run, stage, found, where),
    )
    return next((cause for check in checks if (cause := check())), None)


def _of_results(run: Run, stage: Stage, found: Sequence[Comparison], where: str) -> Cause | None:
    wrong = wrong_results(run, stage, found, where)
    return _of_numbers(run, stage, wrong, is_detail=False) if wrong else None


def _shared_pair(run: Run, stage: Stage, found: Sequence[Comparison], where: str) -> Cause | None:
    twice = compared_twice(run, found, stage)
    return replace(twice, details=(*twice.details, f"in {where}: {stage.name}")) if twice else None
