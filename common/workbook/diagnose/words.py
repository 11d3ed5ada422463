"""The sentences of a diagnosis. No other module here makes any, and no program reads them."""

from __future__ import annotations

from .diagnosis import Diagnosis
from .expectations import Departure
from .origins import Line
from .schemata import Change
from .writers import Written, line_of

LONGEST = 100  # characters of code that are quoted


def explained(diagnosis: Diagnosis) -> list[str]:
    """What is wrong, and where: the small change that fixes it, or who wrote what is wrong. Nothing, if the finding, or
    the case, says it best."""
    place = f"{diagnosis.file}:{diagnosis.line}: error:"
    if diagnosis.kind == "gap":
        return [f"{place} this gap is still empty: write its code first"]
    if diagnosis.changes:
        first, *others = diagnosis.changes
        lines = [f"with this change, all cases pass on the check build ({_changes(diagnosis.tried)} tried)"]
        lines += [f"or line {other.line}: {of_change(other)}" for other in others]
        return [f"{place} {of_change(first)}", *(f"    {line}" for line in lines)]
    if diagnosis.finding is None and diagnosis.line and (known := _known(diagnosis)):
        return [f"{place} {known[0]}"]
    return []


def details(diagnosis: Diagnosis) -> list[str]:
    """What else is known."""
    known = _known(diagnosis)
    if diagnosis.finding is None and not diagnosis.changes and diagnosis.line:
        known = known[1:]  # the first is the explanation
    earlier = [
        f"earlier, line {one.line} of {one.kernel} wrote {one.element}, on which this depends"
        for one in diagnosis.earlier
    ]
    return [f"    {detail}" for detail in (*known, *earlier, *map(_of_line, diagnosis.lines))]


def _changes(number: int) -> str:
    return "1 change was" if number == 1 else f"{number:,} changes were"


def quoted(code: str) -> str:
    """Code in a sentence."""
    return f"`{code if len(code) <= LONGEST else code[: LONGEST - 4].rstrip() + ' ...'}`"


def of_change(change: Change) -> str:
    """What a change says about the file."""
    old, new = quoted(change.old), quoted(change.new)
    if change.kind == "replace":
        return f"{old} should be {new}"
    if change.kind == "remove":
        return f"{old} should not be here"
    if change.kind == "leave":
        return f"{old} should be `continue`: it must end only this round of the loop"
    if change.kind == "exchange":
        return f"{old} comes too late: it belongs before {new}"
    if change.kind == "take-barrier":
        return f"the barrier {old} should not be here"
    if change.kind == "move-barrier":
        return f"the barrier {old} belongs after line {change.new}"
    return f"a __syncthreads() is missing after this line, before {new}"


def _known(diagnosis: Diagnosis) -> list[str]:
    """Which launch goes wrong, and who wrote what is wrong."""
    if diagnosis.departure:
        access, written = diagnosis.departure.access, diagnosis.written
        if access is None or written is None:
            return [_of_departure(diagnosis.departure), *map(_of_writers, diagnosis.writers)]
        who = f"thread {written.thread} of block {written.block} has read it there, and left it as it is"
        return [_of_departure(diagnosis.departure), _writer(written) if access.writes else who]
    if diagnosis.written:
        left = [f"{_where(one)} has left it as it was" for one in diagnosis.writers]
        return [_of_writer(diagnosis.element, diagnosis.written), *left]
    if not diagnosis.element:
        return []
    if diagnosis.idle:
        launch = _launch(diagnosis.idle.launch, diagnosis.idle.launches)
        nothing = f"{launch} ({diagnosis.idle.kernel}) has written nothing to global memory"
        return [f"{nothing}, and no kernel has written {diagnosis.element}"]
    return [f"no kernel has written {diagnosis.element}", *map(_of_writers, diagnosis.writers)]


def _launch(number: int, launches: int) -> str:
    return f"launch {number + 1} of {launches}" if launches else f"launch {number + 1}"


def _of_departure(found: Departure) -> str:
    first, *more = found.numbers
    bits = "bit" if first == 1 else f"{first} bits"
    duty = {
        "phases": f"the pairs that begin at {('even', 'odd')[first % 2]} positions must be in order",
        "runs": f"each run of {first} elements must be in order",
        "stages": f"the stage k = {first}, j = {more[0] if more else 0} of the network must be done",
        "digits": f"the keys must be in the order of their lowest {bits}, and stable",
        "counts": f"each counter must hold how many keys {'are below' if first else 'have'} its value",
    }[found.state]
    if found.index < 0:
        return f"all {found.launch + 1} launches do what they must, but one more is missing, after which {duty}"
    launch = f"{_launch(found.launch, found.launches)} ({found.kernel}, line {line_of(found.place)[1]})"
    if not found.found:
        return f"{launch} does not write element {found.index}, which must be {found.wanted}: after it, {duty}"
    return f"{launch} leaves {found.found} in element {found.index} in place of {found.wanted}: after it, {duty}"


def _writer(written: Written) -> str:
    if not written.kernel:
        return f"{_where(written)} wrote it last"
    source = f"with what it had read from {written.source}" if written.source else "with a value that it had computed"
    launch = f" in {_launch(written.launch, written.launches)} (line {written.launched})"
    return f"thread {written.thread} of block {written.block} of {written.kernel} wrote it last{launch}, {source}"


def _of_writer(element: str, written: Written) -> str:
    return f"{element} is wrong: {_writer(written)}"


def _where(written: Written) -> str:
    if not written.kernel:
        return f"the copy or fill in line {written.line}"
    return f"line {written.line} of {written.kernel}, launched in line {written.launched},"


def _of_writers(written: Written) -> str:
    elements = (
        f"element {written.first}" if written.first == written.last else f"elements {written.first} to {written.last}"
    )
    array = written.element.rpartition("[")[0] or written.element.partition(" of ")[2] or written.element
    return f"{_where(written)} has written {elements} of {array}"


def _of_line(line: Line) -> str:
    what = {
        "defines": "it depends on",
        "passes": "it depends on the argument in",
        "returns": "it depends on what is returned in",
        "launch": "the kernel is launched in",
        "loop": "it is in the loop of",
        "endless": "nothing in it ends the loop of",
        "condition": "it is under the condition of",
    }[line.kind]
    return f"{what} line {line.line}: {quoted(line.code)}"
