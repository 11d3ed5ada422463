"""Compares what threads did in one stage with what the stage of a network must do, and says how they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..pictures.trace import Trace, key_of
from .comparisons import Comparison, key_text
from .networks import Stage


@dataclass(frozen=True)
class Cause:
    """What is wrong first, and where."""

    place: str  # FILE:LINE, or FILE where no line is at fault
    text: str
    details: tuple[str, ...] = ()  # what should be, and in which stage this is
    is_undecided: bool = False  # an exchange is missing: a store, or the comparison, may be wrong

    def __str__(self) -> str:
        kind = " error:" if ":" in self.place else ""  # an editor does not look for a file without a line
        return "\n    ".join([f"{self.place}:{kind} {self.text}", *filter(None, self.details)])

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

    def place(self, code: int) -> str:
        """The student's line of an instruction."""
        return self.trace.in_source.get(code) or self.trace.lines.get(code, "")

    def thread(self, one: Comparison) -> str:
        """ "thread 3 of block 0" """
        return f"thread {one.thread} of block {one.block}"

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
    first = wrong[0]
    own = sorted({one.pair for one in found})
    alike = next((other for other in plan if other != stage and sorted(other.pairs) == own), None)
    if alike and not set(own) & set(stage.pairs):
        text = f"{where} compares the pairs of {alike.kind or alike.name}: {pairs_text(own)}"
        return Cause(run.place(first.code), text, (f"it must be {stage.name}: {pairs_text(sorted(stage.pairs))}",))
    detail = f"no such pair belongs to this stage, but {pairs_text(sorted(stage.pairs))}"
    if len(first.loads) == 2:
        partners = {p: q for pair in stage.pairs for p, q in (pair, pair[::-1])}
        own_partners = [(p, partners[p]) for p in first.pair if p in partners]
        if own_partners:
            detail = f"the partner of {run.named(own_partners[0][0])} is {run.named(own_partners[0][1])}"
    text = f"{run.thread(first)} compares {run.named(*first.pair)}"
    return Cause(run.place(first.code), text, (detail, f"in {where}: {stage.name}"))


def missing_pairs(run: Run, stage: Stage, found: Sequence[Comparison], where: str, place: str) -> Cause | None:
    """The first pair of the stage that no thread compares."""
    own = {one.pair for one in found}
    missing = sorted(pair for pair in stage.pairs if pair not in own)
    if not missing:
        return None
    place = run.place(found[0].code) if found else place
    if len(missing) == 1:
        text = f"no thread compares {run.named(*missing[0])}"
    elif len(missing) == len(stage.pairs):
        text = f"no thread compares any of the pairs {pairs_text(missing)}"
    else:
        text = f"no thread compares {len(missing):,} of the {len(stage.pairs):,} pairs: {pairs_text(missing)}"
    detail = _of_threads(stage, found, missing)
    stages = f"in {where}: {stage.name}"
    twice = compared_twice(run, found)
    return replace(twice, details=(text, stages)) if twice else Cause(place, text, (detail, stages))


def compared_twice(run: Run, found: Sequence[Comparison]) -> Cause | None:
    """A pair that two threads compare in one stage."""
    first: dict[tuple[int, ...], Comparison] = {}
    for one in found:
        other = first.setdefault(one.pair, one)
        if one.thread != other.thread or one.block != other.block:
            text = f"{run.thread(other)} and {run.thread(one)} both compare {run.named(*one.pair)}"
            return Cause(run.place(one.code), text)
    return None


def _of_threads(stage: Stage, found: Sequence[Comparison], missing: Sequence[tuple[int, int]]) -> str:
    """Whether the missing pairs are those that come after one pair per thread, or half of them."""
    threads = {(one.block, one.thread) for one in found}
    is_rest = missing == sorted(stage.pairs)[-len(missing) :]
    if is_rest and len(threads) == len(found) and len(found) >= 32 and len(found) % 32 == 0:
        return f"each of the {len(found)} threads compares one pair; go on with more, where there are more pairs"
    if not found:
        return "check the loops that lead to a comparison, and the conditions that skip one"
    return "check how many pairs there are, and which is the first and the last one"


def wrong_results(run: Run, stage: Stage, found: Sequence[Comparison], where: str) -> Cause | None:
    """The first pair of the stage that is not in the right order afterwards."""
    stages = f"in {where}: {stage.name}"
    for one in found:
        if one.pair not in stage.pairs:
            continue
        extra = [position for position in one.stores if position not in one.loads]
        if extra:
            text = f"{run.thread(one)} compares {run.named(*one.pair)}, but writes {run.named(extra[0])}"
            return Cause(run.place(one.stores[extra[0]].code), text, (stages,))
        if cause := _wrong_result(run, stage, one):
            return replace(cause, details=(*cause.details, stages))
    return None


def _wrong_result(run: Run, stage: Stage, one: Comparison) -> Cause | None:
    low, high = one.pair
    a, b = one.loads[low].value, one.loads[high].value
    size = one.loads[low].bytes
    forward = stage.pairs[low, high]
    in_order = not (run.is_before(b, a, size) if forward else run.is_before(a, b, size))
    after = (one.after(low), one.after(high))
    is_tie = not run.is_before(a, b, size) and not run.is_before(b, a, size)
    if after == ((a, b) if in_order else (b, a)) or (is_tie and set(after) == {a, b}):
        return None
    keys = " and ".join(f"{run.named(p)} = {key_text(one.loads[p], run.key_type)}" for p in (low, high))
    opposite = "" if forward else "the opposite of "
    wanted = f"the order here is {opposite}{run.order}"
    if not forward:
        wanted += f", because {stage.turned.replace('i &', f'{low} &')}"
    if after == (a, b):
        text = f"{run.thread(one)} compares {keys}, but does not exchange them"
        return Cause(run.place(one.code), text, (wanted,), is_undecided=not one.stores)
    if after == (b, a):
        place = run.place(one.stores[low].code)
        return Cause(place, f"{run.thread(one)} exchanges {keys}, which are in order", (wanted,))
    return _lost_key(run, one, keys, after)


def _lost_key(run: Run, one: Comparison, keys: str, after: tuple[int, int]) -> Cause:
    low, high = one.pair
    lost = next((p for p in (low, high) if one.loads[p].value not in after), low)
    at = one.stores.get(low) or one.stores.get(high)
    size = one.loads[low].bytes
    numbers = [key_of(value, size, run.key_type) for value in after]
    now = " and ".join(f"{run.named(p)} = {number:.9g}" for p, number in zip((low, high), numbers))
    unwritten = [p for p in (low, high) if p not in one.stores]
    details = [f"before: {keys}; after: {now}"]
    # A compiler leaves out a store of what is there already, and the trace does not show it.
    details += [f"{run.named(unwritten[0])} keeps its value"] if unwritten else []
    details += ["is a key overwritten before it has been read, or the wrong one stored?"]
    text = f"{run.thread(one)} loses the key {key_text(one.loads[lost], run.key_type)} of {run.named(lost)}"
    return Cause(run.place(at.code if at else one.code), text, tuple(details))


def check_stage(
    run: Run, stage: Stage, found: Sequence[Comparison], plan: Sequence[Stage], where: str, place: str
) -> Cause | None:
    """How a stage departs from what it must do; None if it does that. `place`: where nothing is compared."""
    checks: Sequence[Callable[[], Cause | None]] = (
        lambda: wrong_pairs(run, stage, found, plan, where),
        lambda: missing_pairs(run, stage, found, where, place),
        lambda: wrong_results(run, stage, found, where),
    )
    return next((cause for check in checks if (cause := check())), None)
