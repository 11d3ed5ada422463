"""The sweeps of a report. Steps that afford fewer keys or threads than others have separate sweeps."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .judge_types import Lab, Limits
from .sweeps import (
    AS_KEYS,
    COUNTED_INPUT,
    COUNTED_WORDS,
    FEW_SHAPES,
    GRID,
    RANGES,
    REPORT_SIZES,
    SHAPED_RANGES,
    STEP_CHOOSES,
    Shape,
    Sweep,
)

# n: the sweep over sizes; one: keys where something else varies; grid: keys for the map of launch shapes.
_REPORT = {
    "cpu": {"n": range(10, 19, 2), "one": 14, "grid": 12, "seconds": 20, "time_limit": 1.5},
    "cuda": {"n": range(10, 27, 2), "one": 22, "grid": 20, "seconds": 60, "time_limit": 3.0},
}


def _power_below(n: int) -> int:
    """The largest power of two that is at most n."""
    return 1 << max(n.bit_length() - 1, 0)


def _affordable(lab: Lab, number_: int, kind: str) -> int:
    """How many keys a step and its parts sort in about a second, and their table allows."""
    return min(
        min(step.affordable.on(kind), step.max_n if step.max_n is not None else 1 << 62) for step in lab.lines(number_)
    )


def _sizes(sizes: Sequence[int], max_n: int, mode: str) -> tuple[int, ...]:
    """The sizes of a sweep for a step that affords `max_n` keys."""
    if mode == "small":
        return tuple(dict.fromkeys(min(n, max(_power_below(max_n // 4), 1)) for n in sizes))
    return tuple(n for n in sizes if mode == "all" or n <= max_n)


def grouped(lab: Lab, kind: str, sweep: Sweep, mode: str) -> list[Sweep]:
    """The sweep, split where some steps afford fewer keys or threads than others.

    mode: what a step gets that affords fewer keys: `some` of the sizes, a `small` one in their place, or `all` of them.
    """
    groups: dict[tuple[tuple[int, ...], tuple[Shape, ...]], list[int]] = {}
    for number_ in dict.fromkeys(step.number for step in lab.steps if step.number in (sweep.steps or (step.number,))):
        max_n = _affordable(lab, number_, kind)
        sizes = _sizes(sweep.n, max_n, mode)
        # The emulation pays for every thread of every launch.
        shapes_ = tuple(shape for shape in sweep.shapes if kind == "cuda" or shape[0] * shape[1] <= max(max_n, 8192))
        groups.setdefault((sizes, shapes_), []).append(number_)
    if len(groups) == 1:
        ((sizes, shapes_),) = groups
        return [replace(sweep, n=sizes, shapes=shapes_)] if sizes or not sweep.n else []
    return [
        replace(sweep, name=f"{sweep.name}-{'-'.join(map(str, steps))}", steps=tuple(steps), n=sizes, shapes=shapes_)
        for (sizes, shapes_), steps in groups.items()
        if sizes
    ]


def that_sort(lab: Lab, type_name: str) -> tuple[int, ...]:
    """The numbers of the steps that sort keys of this type."""
    return tuple(dict.fromkeys(step.number for step in lab.steps if step.task == "sort" and step.takes(type_name)))


def plan(lab: Lab, kind: str, inputs: Sequence[str], machine_id: str = "") -> list[Sweep]:
    """The sweeps of a report on a lab. Steps that afford fewer keys have separate sweeps."""
    scope: Any = _REPORT[kind]
    long = Limits(repeats=15, time_limit=scope["time_limit"])
    short = Limits(repeats=5, time_limit=1)
    # A launch shape that takes longer is reported as such: a step that never ends shows in the sweep over n.
    shaped = 10.0 if kind == "cpu" else 20.0
    one = (1 << scope["one"],)
    seconds: float = scope["seconds"]
    # Steps that sort host memory would do most of their work on one piece if all keys fitted on the device.
    base = Sweep(lab.name, limits=short, budget=seconds, machine_id=machine_id, memory=(AS_KEYS,))
    types = tuple(dict.fromkeys(name for step in lab.steps if step.task == "sort" for name in step.types))
    detailed = replace(base, kernels=True, transfers=True, budget=2 * seconds)
    wanted = [
        (replace(detailed, name="n", words="n", n=tuple(1 << e for e in scope["n"]), limits=long), "some"),
        (
            replace(
                detailed,
                name="sizes",
                words="launch shapes and sizes",
                n=REPORT_SIZES,
                shapes=(STEP_CHOOSES, *FEW_SHAPES),
                timeout=shaped,
            ),
            "all",
        ),
        (
            replace(
                base,
                name="shapes",
                words="launch shapes",
                n=(1 << scope["grid"],),
                shapes=GRID,
                limits=Limits(repeats=3, time_limit=1),
                timeout=shaped,
            ),
            "small",
        ),
        (replace(base, name="inputs", words="inputs", n=one, inputs=tuple(inputs)), "small"),
    ]
    if len(types) > 1:
        narrow = (lab.input_for(*types),)
        wanted.append((replace(base, name="types", words="types of keys", n=one, inputs=narrow, types=types), "small"))
    u32 = replace(base, types=("u32",), steps=that_sort(lab, "u32"))
    if lab.has_ranges and u32.steps:
        few_ranges = (RANGES[0], RANGES[3], RANGES[5])
        wanted += [
            (
                replace(
                    u32,
                    name="range-shapes",
                    words="value ranges and launch shapes",
                    n=(1 << scope["grid"],),
                    inputs=SHAPED_RANGES,
                    shapes=FEW_SHAPES,
                    timeout=shaped,
                ),
                "small",
            ),
            (replace(u32, name="ranges", words="value ranges", n=one, inputs=RANGES), "small"),
            (
                replace(u32, name="range-sizes", words="value ranges and sizes", n=REPORT_SIZES, inputs=few_ranges),
                "all",
            ),
            (
                replace(
                    u32, name="labs", words=COUNTED_WORDS, n=tuple(1 << e for e in scope["n"]), inputs=(COUNTED_INPUT,)
                ),
                "some",
            ),
        ]
    return [part for sweep, mode in wanted for part in grouped(lab, kind, sweep, mode)]
