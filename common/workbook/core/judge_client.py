"""The judge as a child process: one JSON object per line to it, one back. Only this module talks to the judge."""

# Python 3.9 cannot evaluate `int | None`, and the annotations are evaluated here.
# ruff: noqa: UP045

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, Optional, TypeVar, get_type_hints

from . import build
from .console import Problem, Usage

T = TypeVar("T")


class JudgeUsage(Usage):
    """The judge cannot serve a request because its arguments are wrong; the text is the judge's."""


class JudgeCannot(Problem):
    """The judge cannot serve a request on this machine: too little memory, or a program is missing."""


class JudgeDied(Problem):
    """The judge ended, or its answer is not valid."""


@dataclass(frozen=True)
class Budget:
    """What a line of a lab's table may cost on the check build; 0 means: not checked."""

    n: int = 0
    conflicts: float = 0
    sectors: float = 0
    bytes: float = 0
    barriers: float = 0


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
    """One line of a lab's table: a step, or a part of one (`task` other than sort)."""

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

    def takes(self, type_name: str) -> bool:
        """Whether the line sorts keys of this type."""
        return type_name in self.types


@dataclass(frozen=True)
class Lab:
    """One lab's table."""

    name: str
    default_type: str
    counted_input: bool  # standard input begins with the number of keys
    steps: tuple[Step, ...]

    def lines(self, number: int) -> list[Step]:
        """The lines of one step: the step itself and its parts."""
        return [step for step in self.steps if step.number == number]

    def type_of(self, step: Step) -> str:
        """The lab's own key type, or the first that this line takes."""
        return self.default_type if step.takes(self.default_type) else step.types[0]


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
    lane_seed: int = 0  # 0: CUDA's own order of lanes
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
    to_device_ms: float = 0
    to_host_ms: float = 0


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
class Finding:
    """A fault that the check build, or the plain emulation, found in a step's source."""

    file: str
    line: int
    kind: str
    text: str
    times: int = 1

    def __str__(self) -> str:
        times = f" ({self.times} times)" if self.times > 1 else ""
        return f"{self.file}:{self.line}: error: {self.kind}: {self.text}{times}"


@dataclass(frozen=True)
class Note:
    """Where a cost comes from: accesses of one source line that take more than the ideal."""

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
        )


@dataclass(frozen=True)
class Outcome:
    """What became of one case."""

    status: str
    passed: bool  # the outcome is what the case expects
    case: Case
    message: str = ""
    first_wrong: Optional[int] = None
    replay: str = ""  # the command that repeats the case
    title: str = ""
    file: str = ""
    line: Optional[int] = None
    printed: str = ""
    times: Times = field(default_factory=Times)
    kernels: tuple[KernelTime, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[Note, ...] = ()
    launches: tuple[dict[str, Any], ...] = ()  # the check build's counts, launch by launch

    @property
    def place(self) -> str:
        """ "labs/03-bitonic/02_shared.cu:41", without the line where it is not known."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


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
    changed_share: float = 1


@dataclass(frozen=True)
class InputInfo:
    """An input distribution."""

    name: str
    what: str


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


def _converted(kind: Any, value: Any) -> Any:
    """`value`, which came as JSON, as the annotated type `kind`."""
    arguments: tuple[Any, ...] = getattr(kind, "__args__", ())
    if type(None) in arguments:
        rest = [argument for argument in arguments if argument is not type(None)]
        return None if value is None else _converted(rest[0], value)
    if is_dataclass(kind):
        return from_json(kind, value)  # type: ignore[arg-type]
    if getattr(kind, "__origin__", None) is tuple:
        if not isinstance(value, list):
            raise TypeError("not a list")
        types = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else arguments
        return tuple(_converted(type_, item) for type_, item in zip(types, value))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    plain = getattr(kind, "__origin__", kind)
    if isinstance(plain, type) and not isinstance(value, plain):
        raise TypeError(f"{value!r} where {plain.__name__} is expected")
    return value


_HINTS: dict[type, dict[str, Any]] = {}


def _hints(kind: type) -> dict[str, Any]:
    if kind not in _HINTS:
        _HINTS[kind] = get_type_hints(kind)
    return _HINTS[kind]


def from_json(kind: type[T], value: Any) -> T:
    """An object of this dataclass from a JSON object. TypeError: a member is missing or of another type."""
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} where an object is expected")
    hints = _hints(kind)
    return kind(**{name: _converted(hints[name], member) for name, member in value.items() if name in hints})


def _request(value: Any) -> Any:
    """A dataclass as a JSON object, without the members that are None: the judge has defaults for them."""
    return {name: member for name, member in asdict(value).items() if member is not None}


# --- the child process ---


class JudgeClient:
    """A judge that runs as long as this object is open. It answers one request at a time.

    with JudgeClient() as judge:
        outcome = judge.run(runner, Case("03-bitonic", 2, 1000))
    """

    def __init__(self, program: Path | None = None, prefix: Sequence[str] = ()) -> None:
        """`program`: the judge, else that of build/. `prefix`: a command, such as a profiler, that starts it."""
        self.program = Path(program or build.judge())
        self._prefix = list(prefix)
        self._process: subprocess.Popen[bytes] | None = None
        self._labs: tuple[Lab, ...] = ()

    def __enter__(self) -> JudgeClient:  # noqa: PYI034
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the judge, and the runners it keeps."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.terminate()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            try:
                pipe.close()  # type: ignore[union-attr]
            except OSError:  # what was not sent can no longer be sent
                pass

    def finish(self) -> None:
        """Waits until the judge, and what it was started by, has ended by itself."""
        process = self._process
        if process is not None and process.stdin:
            process.stdin.close()
            process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    [*self._prefix, str(self.program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=-1
                )
            except OSError as error:
                raise JudgeCannot(f"the judge cannot be started ({self.program}): {error.strerror}") from error
        return self._process

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """One request and its answer. JudgeUsage, JudgeCannot: it cannot be served. JudgeDied: there is no answer."""
        process = self._running()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            while self._prefix and line and not line.startswith(b"{"):  # the profiler's
                line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        except BaseException:  # the answer would be taken for that to the next request
            self.close()
            raise
        if not line.endswith(b"\n"):
            raise self._died(request)
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self.close()
            raise JudgeDied(
                f"the judge's answer to '{request['ask']}' is not JSON: {line[:200].decode(errors='replace')}"
            )
        if "error" in answer:
            raise (JudgeUsage if answer.get("kind") == "usage" else JudgeCannot)(answer["error"])
        return answer

    def _died(self, request: Mapping[str, Any]) -> JudgeDied:
        assert self._process
        status = self._process.wait()
        self.close()
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return JudgeDied(f"the judge {how} while it served '{request['ask']}'")

    def _answer(self, kind: type[T], request: Mapping[str, Any], member: str | None = None) -> T:
        answer = self.ask(request)
        try:
            return from_json(kind, answer[member] if member else answer)
        except (TypeError, KeyError, IndexError) as error:
            raise self._malformed(request, error) from error

    def _answers(self, kind: type[T], request: Mapping[str, Any], member: str) -> tuple[T, ...]:
        answer = self.ask(request)
        try:
            return tuple(from_json(kind, item) for item in answer[member])
        except (TypeError, KeyError, IndexError) as error:
            raise self._malformed(request, error) from error

    def _malformed(self, request: Mapping[str, Any], error: Exception) -> JudgeDied:
        self.close()
        return JudgeDied(f"the judge's answer to '{request['ask']}' is not valid: {error}. Build it again")

    # --- requests ---

    def labs(self) -> tuple[Lab, ...]:
        """The tables of all labs. They never change, and are asked for once."""
        if not self._labs:
            self._labs = self._answers(Lab, {"ask": "labs"}, "labs")
        return self._labs

    def lab(self, name: str) -> Lab:
        """The table of one lab."""
        for lab in self.labs():
            if lab.name == name:
                return lab
        raise JudgeUsage(f"no lab is called '{name}'; there are: {', '.join(lab.name for lab in self.labs())}")

    def inputs(self) -> tuple[InputInfo, ...]:
        """The input distributions."""
        return self._answers(InputInfo, {"ask": "inputs"}, "inputs")

    def host(self, bandwidth: bool = False) -> Host:
        """This machine; with `bandwidth` also how fast its memory is copied."""
        return self._answer(Host, {"ask": "machine", "bandwidth": bandwidth})

    def runner(self, runner: Path, bandwidth: bool = False) -> RunnerInfo:
        """What a runner reports about itself; with `bandwidth` also how fast its device's memory is copied."""
        return self._answer(RunnerInfo, {"ask": "runner", "runner": str(runner), "bandwidth": bandwidth})

    def cases(self, lab: str, step: int, set_: str, build_kind: str, seed: int | None = None) -> tuple[CaseGroup, ...]:
        """The cases of a set: quick, public, large, check or budget."""
        request = {"ask": "cases", "lab": lab, "step": step, "set": set_, "build": build_kind}
        return self._answers(CaseGroup, {**request, **({} if seed is None else {"seed": seed})}, "groups")

    def run(
        self,
        runner: Path,
        case: Case,
        *,
        timeout: float | None = None,
        time_kernels: bool = False,
        keys: Path | None = None,
        output: Path | None = None,
        trace: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Sorts once and verifies. `keys`: raw keys in place of the input; `output`: where verified keys are written;
        `trace`: where the check build writes its accesses; `environment`: added to the runner's."""
        request: dict[str, Any] = {"ask": "run", "runner": str(runner), "case": _request(case)}
        paths = {"keys": keys, "output": output, "trace": trace}
        request.update({name: str(path) for name, path in paths.items() if path is not None})
        if timeout is not None:
            request["timeout"] = timeout
        if time_kernels:
            request["time_kernels"] = True
        if environment:
            request["environment"] = dict(environment)
        return self._answer(Outcome, request)

    def measure(
        self,
        runner: Path,
        case: Case,
        limits: Limits,
        *,
        timeout: float | None = None,
        kernels: bool = False,
        copy_bytes_per_second: float = 0,
    ) -> Measurement:
        """Times a case. `copy_bytes_per_second`: times that would need more bandwidth than this are refused."""
        request: dict[str, Any] = {"ask": "measure", "runner": str(runner), "case": _request(case)}
        request["limits"] = asdict(limits)
        if timeout is not None:
            request["timeout"] = timeout
        if kernels:
            request["kernels"] = True
        if copy_bytes_per_second:
            request["copy_bytes_per_second"] = copy_bytes_per_second
        return self._answer(Measurement, request)


# Names of the judge before JSON, for code that has not moved yet.
from .old_judge import any_written, bench, device, file_inputs, flush, inputs, option, table  # noqa: F401
