"""What a rubric says about a submission as a whole: deadlines, extra credit, and labs that do not count.

It is applied to grades that are recorded, so a roster with another extension changes them in a moment.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from . import texts
from .grades import Grade
from .roster import Row

DAY = timedelta(days=1)
UNKNOWN = "when it was handed in is not known, so nothing was taken off"


@dataclass(frozen=True)
class Late:
    """What a submission costs that is handed in after the deadline."""

    due: datetime | None = None  # none: nothing is late
    per_day: float = 0.1  # of the points, for each day that has begun
    free_days: float = 0  # that cost nothing
    most_days: float = math.inf  # after them, there are no points
    grace_minutes: float = 10


@dataclass(frozen=True)
class Whole:
    """Everything of this kind in a rubric."""

    late: Late = field(default_factory=Late)
    extra: Mapping[str, frozenset[int]] = field(default_factory=dict)  # steps whose points are extra, by lab
    drop_lowest: int = 0  # labs


def settled(grade: Grade, whole: Whole, row: Row | None) -> Grade:
    """A grade with what the rubric and the roster say about the submission as a whole."""
    grade = replace(with_extra(grade, whole), name=row.name if row else "", group=row.group if row else "")
    kept, words = lateness(grade, whole.late, row)
    return replace(grade, kept=kept, late=words, dropped=_lowest(grade, whole.drop_lowest))


def with_extra(grade: Grade, whole: Whole) -> Grade:
    """A grade whose criteria say which of them are extra credit."""
    criteria = tuple(
        replace(one, extra=one.step is not None and one.step in whole.extra.get(one.lab, ())) for one in grade.criteria
    )
    return replace(grade, criteria=criteria)


def _lowest(grade: Grade, number: int) -> tuple[str, ...]:
    """The labs with the smallest shares of their points. One lab counts in any case."""
    if grade.points is None:
        return ()
    shares = {}
    for lab in sorted({one.lab for one in grade.criteria}):
        alone = replace(grade, criteria=tuple(one for one in grade.criteria if one.lab == lab), dropped=(), kept=1.0)
        shares[lab] = (alone.points or 0) / alone.max_points if alone.max_points else 1.0
    ordered = sorted(shares, key=lambda lab: (shares[lab], lab))
    return tuple(sorted(ordered[: min(number, len(ordered) - 1)])) if ordered else ()


def lateness(grade: Grade, late: Late, row: Row | None) -> tuple[float, str]:
    """The share of the points that is left, and why, in words."""
    if not late.due or grade.is_missing:
        return 1.0, ""
    at = row.handed_in if row and row.handed_in else None
    at = at or (datetime.fromisoformat(grade.handed_in) if grade.handed_in else None)
    if not at:
        return 1.0, UNKNOWN
    over = at - _due(late.due, row)
    if over <= timedelta(minutes=late.grace_minutes):
        return 1.0, ""
    days = math.ceil(over / DAY)
    counted = max(0.0, days - late.free_days)
    kept = 0.0 if days > late.most_days else max(0.0, 1 - late.per_day * counted)
    cost = f"{texts.points(100 * (1 - kept))} % of the points are taken off" if kept < 1 else "nothing is taken off"
    return kept, f"handed in {at:%Y-%m-%d %H:%M}, {days} day{'s' * (days != 1)} late: {cost}"


def _due(due: datetime, row: Row | None) -> datetime:
    extension = row.extension if row else None
    if isinstance(extension, datetime):
        return extension
    return due + extension if extension else due
