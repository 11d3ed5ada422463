"""The judge's answers: labs, cases, outcomes and measurements, as dataclasses made from JSON."""

# Python 3.9 cannot evaluate `int | None`, and the annotations are evaluated here.

import functools
from collections.abc import Collection
from dataclasses import dataclass, field, is_dataclass, replace
from typing import Any, Optional, TypeVar, get_type_hints

T = TypeVar("T")
IN_PLACE = ("sort", "exchange")  # tasks that put their keys in order where they are; others write a second array
BUSY = "busy"  # a status: the machine was too busy to measure a time, which is no fault of the step
PLAYABLE_KEYS = 4096  # that a page of ./workbook play shows well
NARROW_RANGE = "range:5000000:5000255"  # an input of few values, for steps that refuse more


@dataclass(frozen=True)
class Budget:
    """What a line of a lab's table may cost on the check build, and the least work; 0 means: not checked."""

    n: int = 0
    conflicts: float = 0
    sectors: float = 0
    bytes: float = 0
    barriers: float = 0
    span: float = 0
    work: float = 0  # at least


@dataclass(frozen=True)
class Picture:
    """The run that `picture` draws of a line of a lab's table, and the part of it that is drawn."""

    n: int = 16
    input: str = ""  # "": the usual one
    arrays: str = ""  # "shared", "global" or "all"; "": those in shared memory, if there are any
    launches: Optional[tuple[int, int]] = None  # the first and the last; None: the first that fit
    places: tuple[tuple[int, int], ...] = ()
    is_in_report: bool = False


@dataclass(frozen=True)
class Lines:
    """How many lines of a step's solution the student writes, and how many are given."""

    own: int
    given: int


@dataclass(frozen=True)
class Affordable:
    """How many keys a step can sort in about a second on each build."""

    check: int
    cpu: int
    cuda: int

    def on(self, kind: str) -> int:
        """The number for the build of this name."""
        return int(getattr(self, kind))


@dataclass(frozen=True)
class Step:
    """One line of a lab's table: a step, or a part of one, which is tested and timed by itself."""

    number: int
    name: str
    file: str
    idea: str
    task: str
    stable: bool
    tile: int
    max_n: Optional[int]
    max_range: Optional[int]
    types: tuple[str, ...]
    budget: Optional[Budget]
    affordable: Affordable
    threads: Optional[int] = None  # per block, if the line takes only this number
    memory: str = "device"  # where the keys are: "device" or "host"
    min_device_bytes: Optional[int] = None  # a line that sorts host memory refuses to work with less
    round_trips: Optional[int] = None  # how often such a line copies every key to the device and back, if that is fixed
    uses: tuple[str, ...] = ()  # lines of other steps that this one calls, by name
    part: bool = False  # not the step's own line
    record: bool = False  # a step that is built for speed: the lab's fastest, for its kind of work
    lines: Optional[Lines] = None  # of a step's own line
    picture: Picture = field(default_factory=Picture)

    def takes(self, type_name: str) -> bool:
        """Whether the line sorts keys of this type."""
        return type_name in self.types

    def input_for(self, *types: str, wide: str = "uniform") -> str:
        """An input that the step sorts in all of these key types: `wide`, or if it has a counter per value, few values.

        Such a step sorts all values of u8, but it may refuse those of every other type.
        """
        return NARROW_RANGE if self.max_range is not None and set(types) - {"u8"} else wide


@dataclass(frozen=True)
class Lab:
    """One lab's table."""

    name: str
    default_type: str
    max_counted_keys: Optional[int]  # keys on standard input follow their number, at most this; None: they do not
    steps: tuple[Step, ...]

    def lines(self, number: int) -> list[Step]:
        """The lines of one step: its parts, and then the step itself, which uses them."""
        return sorted((step for step in self.steps if step.number == number), key=lambda step: not step.part)

    @property
    def records(self) -> list[Step]:
        """The steps that are built for speed: the lab's fastest, one for each kind of work."""
        return [step for step in self.steps if step.record]

    def own_line(self, number: int) -> Step:
        """The line of the step itself."""
        return next(step for step in self.steps if step.number == number and not step.part)

    def without(self, types: Collection[str]) -> "Lab":
        """The table of a runner that lacks key types. A line that takes no others is as it was."""
        left = ((line, tuple(one for one in line.types if one not in types)) for line in self.steps)
        return replace(self, steps=tuple(replace(line, types=some or line.types) for line, some in left))

    def used_by(self, line: Step) -> list[Step]:
        """The lines that a line calls: those of other steps, and the parts of its step. Each follows those it calls."""
        found: list[Step] = []
        parts = [] if line.part else [other for other in self.lines(line.number) if other.part]
        for other in (*(step for step in self.steps if step.name in line.uses), *parts):
            for used in (*self.used_by(other), other):
                if used not in found and used != line:
                    found.append(used)
        return found

    def may_call(self, number: int) -> set[int]:
        """The numbers of the steps that a step may call."""
        return {used.number for line in self.lines(number) for used in self.used_by(line)}

    def type_of(self, step: Step) -> str:
        """The lab's own key type, or the first that this line takes."""
        return self.default_type if step.takes(self.default_type) else step.types[0]

    def usual_case(self, line: Step, n: int, seed: int = 1) -> "Case":
        """A case of a line with keys that it sorts."""
        type_name = self.type_of(line)
        return Case(self.name, line.number, n, line.task, type_name, input=line.input_for(type_name), seed=seed)

    @property
    def has_ranges(self) -> bool:
        """Whether some step of the lab sorts only a limited range of values."""
        return any(step.max_range is not None for step in self.steps)

    def input_for(self, *types: str) -> str:
        """One input that every step sorts in all of these key types, so that their speeds can be compared."""
        return NARROW_RANGE if NARROW_RANGE in {step.input_for(*types) for step in self.steps} else "uniform"


@dataclass(frozen=True)
class Case:
    """One sort (or another task) of one input."""

    lab: str
    step: int
    n: int
    task: str = "sort"
    type: Optional[str] = None  # None: the lab's own
    order: str = "ascending"
    input: str = "uniform"
    seed: Optional[int] = None  # None: a fresh one
    blocks: int = 0  # 0: the step chooses
    threads: int = 0
    memory: int = 0  # bytes of device memory that a step which sorts host memory may use; 0: nearly all that is free
    pageable: bool = False  # host memory is not pinned for such a step
    offset: int = 0  # keys between an address divisible by 256 and the arrays
    reversed_blocks: bool = False  # CUDA on the CPU starts the last block first
    lane_seed: Optional[int] = None  # 0: CUDA's own order of lanes; None: that of SIMT_SEED, or the runner's default
    expect: str = "verified"


@dataclass(frozen=True)
class CaseGroup:
    """Cases that test the same thing."""

    what: str
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Times:
    """Times of one run, in milliseconds."""

    events_ms: float = 0
    wall_ms: float = 0
    waited_ms: float = 0  # the part of wall_ms for which other processes had the processors


@dataclass(frozen=True)
class Quartiles:
    """Quartiles of milliseconds."""

    median_ms: float = 0
    q1_ms: float = 0
    q3_ms: float = 0


@dataclass(frozen=True)
class KernelTime:
    """The launches of one kernel in one call of a step; the shape is that of the largest launch. None: unknown."""

    name: str
    launches: int
    milliseconds: Optional[float] = None
    median_ms: Optional[float] = None
    q1_ms: Optional[float] = None
    q3_ms: Optional[float] = None
    repeats: Optional[int] = None
    blocks: int = 0
    threads: int = 0
    dynamic_shared: int = 0
    static_shared: Optional[int] = None
    registers: Optional[int] = None


@dataclass(frozen=True)
class TimelineSpan:
    """A kernel, or a copy between host and device, and when it ran, in milliseconds since shortly before the step."""

    stream: int  # numbered in the order of first use
    what: str  # "copy in", "copy out", or a kernel's name
    begin_ms: float
    end_ms: float
    bytes: int = 0  # of a copy


@dataclass(frozen=True)
class Timeline:
    """What ran in each stream during one call of a step; empty unless kernels were timed."""

    spans: tuple[TimelineSpan, ...] = ()
    left_out: int = 0  # spans that followed those


@dataclass(frozen=True)
class SourceLine:
    """A line of a source file."""

    file: str
    line: int


@dataclass(frozen=True)
class Element:
    """Some bytes of an array, or near it. common/README.md documents the members."""

    memory: str  # "shared", "dynamic-shared", "variable", "constant", "allocation", "device-heap", "local", "host"
    array: str  # its name; "" if it has none
    allocation: int  # its number; 0: it is none
    allocated: Optional[SourceLine]
    array_bytes: int
    offset: int  # in bytes; below 0: before the array
    bytes: int  # that are accessed
    index: Optional[int]  # in elements of that size


@dataclass(frozen=True)
class Fact:
    """What a thread, a call or the host does at a line of the source."""

    place: Optional[SourceLine]
    header: Optional[SourceLine]  # where it is, if the place is the line that calls it
    kernel: str  # "": not in a kernel
    call: str  # "cudaMemcpyAsync()", or ""
    launch: Optional[SourceLine]
    block: Optional[tuple[int, int, int]]
    thread: Optional[tuple[int, int, int]]
    access: str  # "load", "store", "atomic"; "": none
    is_atomic: bool
    is_volatile: bool
    element: Optional[Element]


@dataclass(frozen=True)
class Finding:
    """A fault that the check build, or the plain emulation, found in a step's source; or a remark on code that is
    defined, but that easily goes wrong."""

    file: str
    line: int
    kind: str
    text: str  # for people, one clause per line: what happened, what else took part, what to do
    times: int = 1
    severity: str = "error"  # or "remark"
    why: str = ""  # the reason, by its name in common/simt/check/words.cpp
    remedy: str = "none"  # what would put two accesses in order
    round: str = ""  # "same" or "next": whether both ends of a race are in the same round of a loop
    last_barrier: Optional[SourceLine] = None
    facts: tuple[Fact, ...] = ()  # what is wrong, then what it concerns: of a race, the earlier access
    details: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def element(self) -> Optional[Element]:
        """What is accessed wrongly; None if nothing is, or if that is not known."""
        return self.facts[0].element if self.facts else None

    def __str__(self) -> str:
        first, *more = self.text.split("\n")
        million = 1_000_000
        often = f"{self.times / million:.0f} million" if self.times >= million else f"{self.times}"
        times = f" ({often} times)" if self.times > 1 else ""
        severity = "note" if self.severity == "remark" else self.severity
        return "\n".join([f"{self.file}:{self.line}: {severity}: {self.kind}: {first}{times}", *more])


@dataclass(frozen=True)
class Note:
    """Where a cost comes from: accesses of one source line that take more than the ideal; the text is their cause, if
    it is known. Or, without numbers, what a look at the source shows: code that easily goes wrong."""

    file: str
    line: int
    kind: str
    ideal: int = 0
    actual: int = 0
    unit: str = ""
    requests: int = 0
    space: str = ""
    access: str = ""
    text: str = ""

    def __str__(self) -> str:
        if not self.unit:
            return f"{self.file}:{self.line}: note: {self.kind}: {self.text}"
        return (
            f"{self.file}:{self.line}: note: {self.kind}: ideal {self.ideal:,} and actual {self.actual:,} {self.unit} "
            f"in {self.requests:,} {self.space} {self.access}{'s' * (self.requests != 1)}"
            + (f"\n    {self.text}" if self.text else "")
        )


@dataclass(frozen=True)
class Outcome:
    """The outcome of one case."""

    status: str
    passed: bool  # the outcome is what the case expects
    case: Case
    message: str = ""
    shown_keys: str = ""  # rows: of few keys, all; otherwise those around the first wrong one
    first_wrong: Optional[int] = None
    already_correct: bool = False  # the keys as they came would be right
    changed_nothing: bool = False  # no write has reached the keys, and the check build knows why
    replay: str = ""  # the command that repeats the case
    title: str = ""
    file: str = ""
    line: Optional[int] = None
    printed: str = ""
    times: Times = field(default_factory=Times)
    kernels: tuple[KernelTime, ...] = ()
    timeline: Timeline = field(default_factory=Timeline)
    findings: tuple[Finding, ...] = ()
    remarks: tuple[Finding, ...] = ()  # they do not make a case fail
    notes: tuple[Note, ...] = ()
    launches: tuple[dict[str, Any], ...] = ()  # the check build's counts, launch by launch
    copied_bytes: int = 0  # read and written by copies within the device
    bytes_to_host: int = 0  # that kernels have passed to the host, by copies or in memory that both can access

    @property
    def place(self) -> str:
        """ "labs/03-bitonic/02_shared.cu:41", without the line where it is not known."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def message_and_keys(self) -> str:
        """What was wrong, and the keys below it."""
        return "\n".join(filter(None, (self.message, self.shown_keys)))

    @property
    def playing(self) -> str:
        """The command that plays the case; "" for one with too many keys, or in which no kernel is to run."""
        is_run = "./workbook run " in self.replay and self.case.n <= PLAYABLE_KEYS and self.case.expect != "refused"
        return self.replay.replace("./workbook run ", "./workbook play ", 1) if is_run else ""


@dataclass(frozen=True)
class FileSorted:
    """How a file was sorted, or why it was not."""

    status: str
    keys: int
    pieces: int
    message: str = ""
    printed: str = ""
    workers: int = 0  # that merged the pieces
    sort_seconds: float = 0  # to read, sort and write the pieces
    merge_seconds: float = 0
    sync_seconds: float = 0  # to wait for the disk in the end
    peak_bytes: int = 0  # resident memory of the judge and the runner, what they share counted once; 0: unknown
    judge_bytes: int = 0
    runner_bytes: int = 0
    shared_bytes: int = 0


@dataclass(frozen=True)
class Limits:
    """When a measurement ends."""

    repeats: int = 30  # timed runs at most
    min_time: float = 0.2  # seconds of sorting at least
    time_limit: float = 30  # seconds in all


@dataclass(frozen=True)
class Measurement:
    """Times of one case over several runs, each verified."""

    status: str
    message: str = ""
    printed: str = ""
    repeats: int = 0
    median_ms: float = 0
    q1_ms: float = 0
    q3_ms: float = 0
    failed_seed: Optional[int] = None
    to_device: Quartiles = field(default_factory=Quartiles)
    to_host: Quartiles = field(default_factory=Quartiles)
    kernels: tuple[KernelTime, ...] = ()
    minimum_bytes: float = 0  # what the task must read and write


@dataclass(frozen=True)
class InputInfo:
    """An input distribution."""

    name: str
    what: str
    only_compared: bool = False  # measured by `bench --preset peers` and where it is named, but not in reports


@dataclass(frozen=True)
class Host:
    """The machine that the judge runs on."""

    machine: str
    machine_id: str
    copy_bytes_per_second: float = 0


@dataclass(frozen=True)
class RunnerInfo:
    """What a runner reports about its device, and its own table of steps."""

    device: str
    device_id: str
    on_gpu: bool
    copy_bytes_per_second: float = 0
    facts: tuple[tuple[str, str], ...] = ()
    steps: tuple[Step, ...] = ()


# --- from JSON ---


def converted(kind: Any, value: Any) -> Any:
    """`value`, which came as JSON, as the annotated type `kind`."""
    arguments: tuple[Any, ...] = getattr(kind, "__args__", ())
    if type(None) in arguments:
        rest = [argument for argument in arguments if argument is not type(None)]
        return None if value is None else converted(rest[0], value)
    if is_dataclass(kind):
        return from_json(kind, value)  # type: ignore[arg-type]
    origin = getattr(kind, "__origin__", None)
    if origin is tuple:
        if not isinstance(value, list):
            raise TypeError("not a list")
        types = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else arguments
        return tuple(converted(type_, item) for type_, item in zip(types, value))
    if origin is list and isinstance(value, list):
        return [converted(arguments[0], item) for item in value]
    if origin is dict and isinstance(value, dict) and arguments[1] is not Any:
        return {name: converted(arguments[1], item) for name, item in value.items()}
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    plain = origin or kind
    if isinstance(plain, type) and not isinstance(value, plain):
        raise TypeError(f"{value!r} where {plain.__name__} is expected")
    return value


_hints = functools.cache(get_type_hints)


def from_json(kind: type[T], value: Any) -> T:
    """An object of this dataclass from a JSON object. Raises TypeError if a member is missing or wrong."""
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} where an object is expected")
    hints = _hints(kind)  # type: ignore[arg-type]
    return kind(**{name: converted(hints[name], member) for name, member in value.items() if name in hints})
