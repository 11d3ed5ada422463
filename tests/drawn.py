"""Draws a few of many cases for the default suites by the date, so that in time all of them run. `thorough` runs them
all."""

from __future__ import annotations

import datetime
import os
import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def drawn(cases: Sequence[Item], count: int) -> list[Item]:
    """`count` of the cases, or all of them if the environment variable DRAWN_BY is "all". Prints how to draw the same
    ones again."""
    seed = os.environ.get("DRAWN_BY") or str(datetime.date.today())
    if seed == "all":
        return list(cases)
    print(f"{count} of {len(cases)} cases were drawn; to draw the same ones again, set DRAWN_BY={seed}", flush=True)
    return random.Random(seed).sample(list(cases), count)
