"""The judge as a child process: one JSON object per line to it, one back. Only this module talks to the judge."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from . import build
from .console import Problem, Usage
from .judge_types import (
    Case,
    CaseGroup,
    FileSorted,
    Host,
    InputInfo,
    Lab,
    Limits,
    Measurement,
    Outcome,
    RunnerInfo,
    converted,
)

T = TypeVar("T")


class JudgeUsage(Usage):
    """The judge cannot serve a request because its arguments are wrong; the text is the judge's."""


class JudgeCannot(Problem):
    """The judge cannot serve a request on this machine: too little memory, or a program is missing."""

    def __init__(self, text: str) -> None:
        super().__init__(text, status=2)


class JudgeDied(Problem):
    """The judge ended, or its answer is not valid."""


def _request(value: Any) -> Any:
    """A dataclass as a JSON object, without the members that are None: the judge has defaults for them."""
    return {name: member for name, member in asdict(value).items() if member is not None}


# --- the child process ---


class JudgeClient(contextlib.AbstractContextManager["JudgeClient"]):
    """A judge that runs as long as this object is open. It answers one request at a time.

    with JudgeClient() as judge:
        outcome = judge.run(runner, Case("03-bitonic", 2, 1000))
    """

    def __init__(self, program: Path | None = None, prefix: Sequence[str] = (), sandbox: Sequence[str] = ()) -> None:
        """`program`: the judge, else that of build/. `prefix`: a command, such as a profiler, that starts it.
        `sandbox`: a command that starts its runners."""
        self.program = Path(program or build.judge())
        self._prefix = list(prefix)
        self._sandbox = {"sandbox": list(sandbox)} if sandbox else {}
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        self._has_ended = False
        self._labs: tuple[Lab, ...] = ()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self, for_good: bool = False) -> None:
        """Ends the judge, and the runners it keeps. The next request starts another one, unless this was `for_good`:
        then it raises JudgeDied. Another thread may be waiting for an answer, which raises JudgeDied there."""
        with self._starting:
            process, self._process = self._process, None
            self._has_ended = self._has_ended or for_good
        if process is None:
            return
        if process.poll() is None:
            process.terminate()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # a request that was not sent is lost
                pipe.close()  # type: ignore[union-attr]

    def finish(self) -> None:
        """Waits until the judge, and what it was started by, has ended by itself."""
        process = self._process
        if process is not None and process.stdin:
            process.stdin.close()
            process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._has_ended:
                raise JudgeDied("the judge has been ended")
            if self._process is None:
                try:
                    self._process = subprocess.Popen(
                        [*self._prefix, str(self.program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=-1
                    )
                except OSError as error:
                    raise JudgeCannot(f"the judge cannot be started ({self.program}): {error.strerror}") from error
            return self._process

    def ask(
        self, request: Mapping[str, Any], progress: Callable[[dict[str, Any]], None] | None = None
    ) -> dict[str, Any]:
        """Sends a request and returns the answer. `progress` is called with what the judge reports before it.
        Raises JudgeUsage, JudgeCannot or JudgeDied."""
        process = self._running()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            while self._prefix and line and not line.startswith(b"{"):  # the profiler's
                line = process.stdout.readline()
            while progress and line.startswith(b'{"progress":'):
                progress(json.loads(line)["progress"])
                line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        except BaseException:  # the answer would be taken for that to the next request
            self.close()
            raise
        if not line.endswith(b"\n"):
            raise self._died(request, process)
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

    def _died(self, request: Mapping[str, Any], process: subprocess.Popen[bytes]) -> JudgeDied:
        status = process.wait()
        self.close()
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return JudgeDied(f"the judge {how} while it served '{request['ask']}'")

    def _answer(
        self,
        kind: type[T],
        request: Mapping[str, Any],
        member: str = "",
        progress: Callable[[dict[str, Any]], None] | None = None,
    ) -> T:
        """The answer as an object of this type, or one of its members."""
        answer = self.ask(request, progress)
        try:
            made: T = converted(kind, answer[member] if member else answer)
            return made
        except (TypeError, KeyError, IndexError) as error:
            self.close()
            raise JudgeDied(
                f"the judge's answer to '{request['ask']}' is not valid: {error}. Build it again"
            ) from error

    # --- requests ---

    def labs(self) -> tuple[Lab, ...]:
        """The tables of all labs. They never change, and are asked for once."""
        if not self._labs:
            self._labs = self._answer(tuple[Lab, ...], {"ask": "labs"}, "labs")
        return self._labs

    def lab(self, name: str) -> Lab:
        """The table of one lab."""
        for lab in self.labs():
            if lab.name == name:
                return lab
        raise JudgeUsage(f"unknown lab '{name}'; choose one of: {', '.join(lab.name for lab in self.labs())}")

    def inputs(self, compared: bool = False) -> tuple[InputInfo, ...]:
        """The input distributions; with `compared` also those that are only for the comparison with other libraries."""
        every = self._answer(tuple[InputInfo, ...], {"ask": "inputs"}, "inputs")
        return tuple(info for info in every if compared or not info.only_compared)

    def host(self, bandwidth: bool = False) -> Host:
        """This machine; with `bandwidth` also how fast its memory is copied."""
        return self._answer(Host, {"ask": "machine", "bandwidth": bandwidth})

    def runner(self, runner: Path, bandwidth: bool = False) -> RunnerInfo:
        """What a runner reports about itself; with `bandwidth` also how fast its device's memory is copied."""
        request = {"ask": "runner", "runner": str(runner), "bandwidth": bandwidth}
        return self._answer(RunnerInfo, {**request, **self._sandbox})

    def cases(self, lab: str, step: int, set_: str, build_kind: str, seed: int | None = None) -> tuple[CaseGroup, ...]:
        """The cases of a set: quick, public, large, check or budget."""
        request = {"ask": "cases", "lab": lab, "step": step, "set": set_, "build": build_kind}
        return self._answer(tuple[CaseGroup, ...], {**request, **({} if seed is None else {"seed": seed})}, "groups")

    def _of_case(self, ask: str, runner: Path, case: Case, **members: Any) -> dict[str, Any]:
        """A request about a case, with those members that are given: the judge has defaults for the others."""
        request: dict[str, Any] = {"ask": ask, "runner": str(runner), "case": _request(case), **self._sandbox}
        given = {name: value for name, value in members.items() if value is not None and value is not False}
        return {**request, **{name: str(value) if isinstance(value, Path) else value for name, value in given.items()}}

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
        added = {"environment": dict(environment)} if environment else {}
        options = {"timeout": timeout, "time_kernels": time_kernels, "keys": keys, "output": output, "trace": trace}
        return self._answer(Outcome, self._of_case("run", runner, case, **options, **added))

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
        options = {"timeout": timeout, "kernels": kernels, "copy_bytes_per_second": copy_bytes_per_second or None}
        return self._answer(Measurement, self._of_case("measure", runner, case, limits=asdict(limits), **options))

    def sort_file(
        self,
        runner: Path,
        case: Case,
        source: Path,
        target: Path,
        *,
        host_memory: int = 0,
        timeout: float | None = None,
        progress: Callable[[str, int, int], None] = lambda *_: None,
    ) -> FileSorted:
        """Sorts the keys of the file `source` into `target`, which exists. `host_memory`: bytes; 0: half of what is
        available. `progress`: what is being done, and how many of how many bytes have been read and written."""
        request = self._of_case(
            "sort_file", runner, case, input=source, output=target, host_memory=host_memory, timeout=timeout
        )
        return self._answer(
            FileSorted, request, progress=lambda seen: progress(seen["what"], seen["done"], seen["total"])
        )
