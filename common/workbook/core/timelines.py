"""When the copies and kernels of a step ran: recorded in one run, kept in a file, and evaluated."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from . import build, files, machine
from .console import Problem, Usage, count, grouped
from .judge_client import JudgeClient
from .judge_types import Case, Step, Timeline, TimelineSpan, from_json
from .sweeps import memory_text

COPY_IN, KERNEL, COPY_OUT = KINDS = ("copy in", "kernel", "copy out")
USUAL = {"cpu": (1 << 18, 1 << 20), "cuda": (1 << 26, 128 << 20)}  # keys and bytes of device memory: some ten pieces
TIMEOUT = 600.0  # seconds for one run


@dataclass(frozen=True)
class Recorded:
    """The timeline of one run of a step, and what was run."""

    lab: str
    step: int
    name: str
    type: str
    n: int
    input: str
    memory: int  # bytes of device memory; 0: nearly all
    pageable: bool
    build: str
    machine: str
    commit: str
    date: str
    step_ms: float  # the whole step, with what the host does
    timeline: Timeline

    def title(self, n: str) -> str:
        """What was run, in short; `n` is the number of keys as it is written there."""
        limit = f"{memory_text(self.memory)} of device memory" if self.memory else "nearly all device memory"
        return f"{self.step:02} {self.name}: {n} {self.type} keys, {limit}{', pageable' * self.pageable}"


@dataclass(frozen=True)
class Shares:
    """For which part of a timeline each kind of work ran, in percent."""

    whole_ms: float  # from the first begin to the last end
    of: dict[str, float]  # by the names of KINDS
    overlap: float  # at least two kinds at the same time


# --- recording ---


def usual_case(case: Case, line: Step, kind: str) -> Case:
    """The case with the usual number of keys and device memory, where it names none."""
    n, memory = USUAL[kind]
    return replace(case, n=case.n or min(n, line.affordable.on(kind)), memory=case.memory or memory)


def record(judge: JudgeClient, case: Case, line: Step, kind: str, solution: bool, timeout: float | None) -> Recorded:
    """Runs the step once with all copies and kernels timed; on a GPU twice, because the first launch of a kernel also
    loads it. Raises Usage or Problem if the step does not sort the keys."""
    for _ in range(2 if kind == "cuda" else 1):
        outcome = judge.run(build.runner(case.lab, kind, solution), case, timeout=timeout or TIMEOUT, time_kernels=True)
        if outcome.status in ("not-written", "unsupported"):
            raise Usage(outcome.message)
        if not outcome.passed:
            why = (outcome.message or outcome.status).splitlines()[0]
            raise Problem(
                f"{case.lab}, step {case.step} does not sort these keys ({why}): "
                f"./workbook check {case.lab} {case.step} explains it"
            )
    if not outcome.timeline.spans:
        raise Usage(f"{case.lab}, step {case.step}: there was no copy and no kernel, so there is no timeline")
    return Recorded(
        case.lab,
        case.step,
        line.name,
        outcome.case.type or "",
        case.n,
        case.input,
        case.memory,
        case.pageable,
        kind,
        machine.gpu_name() if kind == "cuda" else machine.processor(),
        machine.commit(),
        time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        outcome.times.events_ms,
        outcome.timeline,
    )


# --- files ---


def write(path: Path, recorded: Recorded) -> None:
    """Writes a JSON array with one element per line: first what was run, then the spans."""
    facts = asdict(recorded)
    lines = [facts, *facts["timeline"].pop("spans")]
    files.write_whole(path, "[\n" + ",\n".join(map(json.dumps, lines)) + "\n]\n")


def read(path: Path) -> Recorded:
    """The timeline in a file. Raises Problem if it holds none."""
    try:
        facts, *spans = json.loads(path.read_text(encoding="utf-8"))
        facts["timeline"]["spans"] = spans
        return from_json(Recorded, facts)
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise Problem(f"{path} is not a recorded timeline: {error}") from error


# --- what follows from a timeline ---


def kind_of(span: TimelineSpan) -> str:
    """One of KINDS."""
    return span.what if span.what in (COPY_IN, COPY_OUT) else KERNEL


def shares(spans: Sequence[TimelineSpan]) -> Shares:
    """For which part of the time each kind ran, and at least two kinds did. `spans` is not empty."""
    changes = sorted((at, change, kind_of(s)) for s in spans for at, change in ((s.begin_ms, 1), (s.end_ms, -1)))
    running = dict.fromkeys(KINDS, 0)
    busy = dict.fromkeys(KINDS, 0.0)
    both, last = 0.0, changes[0][0]
    for at, change, kind in changes:
        active = [name for name in KINDS if running[name]]
        for name in active:
            busy[name] += at - last
        both += at - last if len(active) > 1 else 0
        running[kind] += change
        last = at
    whole = last - changes[0][0]
    percent = 100 / whole if whole else 0.0
    return Shares(whole, {name: time_ * percent for name, time_ in busy.items()}, both * percent)


def waits(spans: Sequence[TimelineSpan]) -> list[tuple[TimelineSpan, float | None]]:
    """Each span, and until when it may have waited: a copy begins when its stream reaches it, but copies in one
    direction take turns on the bus. None: it did not wait."""
    found: list[tuple[TimelineSpan, float | None]] = []
    free = dict.fromkeys(KINDS, 0.0)
    for span in sorted(spans, key=lambda span: (span.end_ms, span.begin_ms)):
        kind = kind_of(span)
        until = min(free[kind], span.end_ms)
        found.append((span, until if kind != KERNEL and until > span.begin_ms else None))
        free[kind] = span.end_ms
    return found


def sentences(recorded: Recorded) -> list[str]:
    """How busy the bus and the device were."""
    found = shares(recorded.timeline.spans)
    part = {name: f"{share:.0f} %" for name, share in found.of.items()}
    lines = [
        f"Of the {grouped(found.whole_ms)} ms from the first copy or kernel to the end of the last, a copy in ran "
        f"{part[COPY_IN]}, kernels ran {part[KERNEL]}, a copy out ran {part[COPY_OUT]}, and at least two of these "
        f"three at the same time {found.overlap:.0f} %.",
        f"The whole step, with the host's part, took {grouped(recorded.step_ms)} ms.",
    ]
    if recorded.build != "cuda":
        lines.append(
            "On the CPU the streams are executed in sequence, so nothing can overlap. Only a GPU shows what "
            "the streams allow."
        )
    if recorded.timeline.left_out:
        lines.append(
            f"{count(recorded.timeline.left_out)} more copies and kernels followed, which are not in the timeline."
        )
    return lines
