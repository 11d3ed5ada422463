"""Steps that sort host memory: their copies beside the whole time, for reports and for recorded results."""

from collections.abc import Sequence

from ..core.rows import COPIES_ALONE, PINNING, Row, by_measurement, key, share_of_copies, whole, whole_key
from .selection import speed
from .tables import count, number, pipe

_HEADINGS = ("step", "n", "device memory", "sort, ms", "Mkeys/s", "pinning, ms", "trips")
_OF_COPIES = ("the copies alone, ms", "GB/s each way", "% of the sort")


def paragraph(kind: str, rows: Sequence[Row]) -> str:
    """The table with an explanation; "" if the copies were not timed."""
    lines = table(rows)
    text = (
        "In a trip, every key is copied to the device and back, both directions at the same time. The copies alone are "
        "timed after each sort, between the same memory and the device."
    )
    without = " Without a GPU, they are copies within the processor's memory." * (kind == "cpu")
    return f"{text}{without}\n\n{lines}" if lines else ""


def table(rows: Sequence[Row]) -> str:
    """Pinning, and the copies alone as a share of each step's time; "" if the copies were not timed.

    From and to pageable memory, the two directions do not overlap: there is no such share.
    """
    steps = by_measurement(rows)
    parts = {(whole_key(row), row.kernel): row for row in rows if row.kernel}
    lines = []
    for step in sorted(whole(rows), key=lambda row: (row.step, row.n)):
        copies = parts.get((key(step), COPIES_ALONE))
        pinning = parts.get((key(step), PINNING))
        pageable = step.memory.endswith("pageable")
        share = share_of_copies(copies, steps) if copies and not pageable else None
        if step.is_gold or (share is None and not pageable):
            continue
        shares = (copies.launches, number(copies.median_ms), number(copies.gb_per_s)) if copies and share else ("",) * 3
        lines.append(
            [
                step.label,
                count(step.n),
                step.memory,
                number(step.median_ms),
                number(speed(step) / 1e6),
                number(pinning.median_ms) if pinning else "",
                *shares,
                "" if share is None else f"{100 * share:.0f}",
            ]
        )
    return pipe((*_HEADINGS, *_OF_COPIES), lines) if lines else ""
