"""What this machine has: GPUs, compilers, tools."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence

from .course import ROOT, STATE

UNPACKED = f"-isystem{STATE}/unpacked/usr/include"  # headers from packages that the set-up only unpacks, without root


def answer(*command: str, timeout: float = 60, given: str = "") -> str | None:
    """The stripped standard output of a command that reads `given`; None if it fails or cannot be started."""
    try:
        done = subprocess.run(
            command,
            input=given.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else None


@functools.lru_cache(maxsize=1)
def gpus() -> tuple[str, ...]:
    """The GPUs that answer, each as "name, driver version, memory"; empty if none does."""
    if not shutil.which("nvidia-smi"):
        return ()
    listed = answer("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader") or ""
    return tuple(line.strip() for line in listed.splitlines() if line.strip())


def gpu_name() -> str:
    """The first GPU's name; "" without one."""
    return gpus()[0].split(",")[0] if gpus() else ""


def compiler() -> list[str] | None:
    """The C++ compiler's command as Meson chooses it: $CXX, otherwise the first usual name; None without one."""
    if os.environ.get("CXX"):
        return shlex.split(os.environ["CXX"])
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name):
            return [name]
    return None


def missing_cxx() -> str:
    """A sentence on $CXX if it names a compiler that is not there; else "". Nothing can be built then."""
    cxx = shlex.split(os.environ.get("CXX", ""))
    if not cxx or shutil.which(cxx[0]):
        return ""
    return f"the variable CXX names the C++ compiler {cxx[0]}, which was not found: install it, or unset CXX"


def is_clang(command: Sequence[str]) -> bool:
    """Whether the compiler is clang, whatever its name."""
    return "clang" in (answer(*command, "--version") or "").lower()


def has_header(header: str) -> bool:
    """Whether the C++ compiler finds a header, or the set-up has unpacked it."""
    command = [*(compiler() or ["c++"]), UNPACKED, "-E", "-x", "c++", "-std=c++20", "-"]
    return answer(*command, given=f"#include <{header}>\n") is not None


def has_library(library: str) -> bool:
    """Whether the C++ compiler can link a library."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*(compiler() or ["c++"]), "-x", "c++", "-", f"-l{library}", "-o", f"{folder}/a"]
        return answer(*command, given="int main() {}\n") is not None


def ninja() -> str | None:
    """The path of Ninja, which may be in .venv; None without one."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    return shutil.which("ninja", path=path) or shutil.which("ninja-build", path=path)


def processor() -> str:
    """The processor's name as Linux reports it, or its numbers, which is all that AArch64 has; "" without them."""
    facts: dict[str, str] = {}
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            facts.setdefault(name.strip(), value.strip())
    numbers = (facts.get("CPU implementer"), facts.get("CPU part"))
    return facts.get("model name") or ("AArch64 {} {}".format(*numbers) if all(numbers) else "")


def identity() -> str:
    """A text that differs between machines, for results in a folder that several machines share."""
    return f"{platform.node()}, {processor()}, {os.cpu_count()}, {'; '.join(gpus())}"


def commit() -> str:
    """The commit that results name: $WORKBOOK_COMMIT if it is set, for a copy without git, else git's."""
    return os.environ.get("WORKBOOK_COMMIT") or _commit_of_git()


@functools.lru_cache(maxsize=1)
def _commit_of_git() -> str:
    """The current commit, followed by "+" if files have changed since; "unknown" outside a Git repository."""
    head = answer("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    if not head:
        return "unknown"
    changed = answer("git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no")
    return head + ("+" if changed else "")


def _ticks() -> tuple[int, int] | None:
    """(idle, all) ticks of all cores since the machine started; None if Linux does not report them."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
        return fields[3] + fields[4], sum(fields)
    except (OSError, ValueError, IndexError):
        return None


def idle_cores(seconds: float = 0.2) -> float | None:
    """How many cores other programs leave idle right now; None if Linux does not report it.

    The load average would still count programs that have just ended, such as our own last measurement.
    """
    before = _ticks()
    time.sleep(seconds)
    after = _ticks()
    if not before or not after or after[1] <= before[1]:
        return None
    return (os.cpu_count() or 1) * (after[0] - before[0]) / (after[1] - before[1])


class ClockWatch:
    """Watches whether the GPU lowers its clocks while the context is entered. `reasons` are the driver's."""

    EVERY = 5.0  # seconds
    _SLOW = {
        "sw_power_cap": "power limit",
        "hw_slowdown": "hardware slowdown",
        "hw_thermal_slowdown": "heat",
        "sw_thermal_slowdown": "heat",
        "hw_power_brake_slowdown": "power brake",
    }

    def __init__(self, watch: bool) -> None:
        self.reasons: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True) if watch and gpus() else None

    def _watch(self) -> None:
        """Looks at the start, at intervals, and at the end, so that even the shortest bench is watched."""
        self._look()
        while not self._over.wait(self.EVERY):
            self._look()
        self._look()

    def _look(self) -> None:
        fields = ",".join(f"clocks_throttle_reasons.{name}" for name in self._SLOW)
        states = answer("nvidia-smi", "--id=0", f"--query-gpu={fields}", "--format=csv,noheader", timeout=5) or ""
        for name, state in zip(self._SLOW, states.split(",")):
            if state.strip() == "Active":
                self.reasons.add(self._SLOW[name])

    def __enter__(self) -> ClockWatch:
        if self._thread:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread:
            self._thread.join()
