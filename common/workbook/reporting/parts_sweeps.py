"""Parts of a report about sweeps: launch shapes, inputs, types of keys and value ranges."""

import re
from collections.abc import Sequence

from ..core.console import grouped
from ..core.judge_types import NARROW_RANGE
from ..core.rows import Row, whole
from ..core.sweeps import numbered
from . import bars, shapes_and_ranges
from .context import Context, failures
from .selection import (
    BYTES,
    by_entropy,
    entropy,
    groups,
    largest_value,
    line_of,
    milliseconds,
    shape_of,
    step_of,
    swept,
)
from .tables import SIZES, count, launch, number, over_values, paragraphs, pipe, shape_text


def shapes(report: Context) -> str:
    """Speed over blocks and threads."""
    own = whole(report.own())
    if not any(row.blocks and row.task == "sort" for row in own):
        return ""
    texts = [
        report.figure(
            "shapes",
            shapes_and_ranges.shape_maps,
            "Keys per second by blocks and threads per block, one map per step. Brighter is faster.",
        ),
        report.figure(
            "shape-lines",
            shapes_and_ranges.shape_lines,
            "Time against the number of keys for some launch shapes; the fastest at the largest n has the step's "
            "colour.",
        ),
    ]
    texts += [_best_shapes([row for row in own if row.n in SIZES and row.input == "uniform" and row.blocks])]
    return paragraphs(*texts, *_impossible(report), *_too_slow(report), *report.not_measured("sizes", "shapes"))


def _best_shapes(rows: Sequence[Row]) -> str:
    """A table: the launch shape with the shortest time, for each step and n."""
    sizes = sorted({row.n for row in rows})
    lines = []
    for (step, _, name), own in sorted(groups(rows, line_of).items()):
        best = {n: min(some, key=milliseconds) for n, some in groups(own, lambda row: row.n).items()}
        cells = (f"{number(best[n].median_ms)} {launch(best[n])}" if n in best else "" for n in sizes)
        lines.append([f"{step:02} {name}", *cells])
    headings = ["best shape, ms", *(f"n = {n:,}" for n in sizes)]
    return pipe(headings, lines) + "\n\nThe appendix has the times for all shapes." if lines else ""


def _impossible(report: Context) -> list[str]:
    """Sentences on launch shapes that a step refuses."""
    refused = [row for row in whole(report.rows) if row.status == "unsupported" and row.blocks]
    texts = []
    for message, rows in groups(refused, lambda row: row.message).items():
        some = sorted({shape_of(row) for row in rows})
        launches = ", ".join(map(shape_text, some[:6])) + " and others" * (len(some) > 6)
        steps = numbered(sorted({row.step for row in rows}))
        texts.append(f"Left out: {launches} of {steps}: {message}.")
    return texts


def _too_slow(report: Context) -> list[str]:
    """Sentences on launch shapes that take too long for a step that ends with others."""

    def case(row: Row) -> tuple[int, str, str]:
        limit = re.search(r"within ([\d.]+ s)", row.message)
        return row.step, row.name, limit[1] if limit else "the time limit"

    texts = []
    for (step, name, limit), rows in sorted(groups(failures(report.rows, report.lab)[1], case).items()):
        cases = "; ".join(f"{launch(row)} with n = {row.n:,}" for row in rows)
        texts.append(
            f"Left out: step {step:02} {name} took longer than {limit} for {cases}. "
            "(It finishes with other launch shapes.)"
        )
    return texts


def _numbered(name: str, place: int) -> str:
    return name if place == 0 else f"{name}-{place + 1}"


def inputs(report: Context) -> str:
    """Speed over distributions."""
    plain = [row for row in whole(report.own()) if row.task == "sort" and ":" not in row.input and row.blocks == 0]
    texts = []
    for place, own in enumerate(swept(plain, "input")):
        rows = by_entropy(own)
        explanation = (
            " Entropy is in bits per key. Random inputs come first, ordered by entropy (in and-K, each key is the AND "
            "of K uniform words), then inputs that differ in their order."
        )
        texts += [
            f"{count(rows[0].n)} {rows[0].type} keys, ascending." + explanation * (place == 0),
            report.figure(_numbered("inputs", place), bars.inputs, "Keys per second for each distribution.", rows),
            over_values(rows, "input", lambda row: row.input, ("entropy", _bits)),
        ]
    return paragraphs(*texts, *report.not_measured("inputs")) if texts else ""


def _bits(row: Row) -> str:
    return number(entropy(row.input, row.type))


def types(report: Context) -> str:
    """Speed over types of keys."""
    plain = [
        row
        for row in whole(report.own())
        if row.task == "sort" and row.blocks == 0 and row.input in ("uniform", NARROW_RANGE)
    ]
    texts = []
    for place, rows in enumerate(swept(plain, "type", ("n", "input"))):
        rows.sort(key=lambda row: list(BYTES).index(row.type))
        values = " over 256 values" * (rows[0].input == NARROW_RANGE)
        pairs = " (pairs: u32 keys that carry u32 values.)" * any(row.type == "pairs" for row in rows)
        texts += [
            f"{count(rows[0].n)} keys, uniform{values}, ascending.{pairs}",
            report.figure(_numbered("types", place), bars.types, "Keys per second for each type of key.", rows),
            over_values(rows, "type", lambda row: row.type),
        ]
    return paragraphs(*texts, *report.not_measured("types")) if texts else ""


# --- value ranges ---


def _most_values(rows: Sequence[Row]) -> list[Row]:
    """The rows of that n and type for which most inputs were measured."""
    by_place = groups(rows, lambda row: (row.n, row.type)).values()
    return max(by_place, key=lambda own: (len({row.input for row in own}), own[0].n), default=[])


def ranges(report: Context) -> str:
    """Speed over the largest value, and over launch shapes for each."""
    ranged = [row for row in whole(report.own()) if largest_value(row) is not None and row.task == "sort"]
    rows = sorted(_most_values([row for row in ranged if row.blocks == 0]), key=lambda row: largest_value(row) or 0)
    texts = []
    if len({row.input for row in rows}) > 1:
        texts = [
            (
                f"{count(rows[0].n)} {rows[0].type} keys, uniform from 0 to the largest value: the fewer values, "
                "the less entropy. Where a cell is empty, the step refuses that range."
            ),
            report.figure(
                "ranges", shapes_and_ranges.value_range, "Keys per second against the number of different values.", rows
            ),
            report.figure(
                "range-lines",
                shapes_and_ranges.value_range_lines,
                "Time against the number of keys, for several largest values.",
            ),
            over_values(rows, "largest value", lambda row: f"{largest_value(row):,}"),
        ]
    texts += _ranges_by_shape([row for row in ranged if row.blocks])
    return paragraphs(*texts, *report.not_measured("ranges")) if texts else ""


def _ranges_by_shape(ranged: Sequence[Row]) -> list[str]:
    """One table per step: one line per launch shape, one column per largest value."""
    texts = []
    for (step, name), own in sorted(groups(ranged, step_of).items()):
        rows = _most_values(own)
        cells = {(shape_of(row), largest_value(row) or 0): grouped(row.median_ms or 0) for row in rows}
        values = sorted({value for _, value in cells})
        some = sorted({shape for shape, _ in cells})
        if len(values) < 2 or len(some) < 2:
            continue
        lines = [[shape_text(shape), *(cells.get((shape, value), "") for value in values)] for shape in some]
        texts += [
            (
                f"Step {step:02} {name}, milliseconds for {count(rows[0].n)} {rows[0].type} keys, by launch shape "
                "and largest value:"
            ),
            pipe(["launch shape", *(f"0 to {value:,}" for value in values)], lines),
        ]
    return texts
