"""What this machine has: GPU, compilers, tools."""

import functools
import os
import platform
import shlex
import shutil
import subprocess
import threading
import time

from .course import ROOT


def answer(*command, timeout=20):
    """Standard output of a command that ended well, stripped; else None."""
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else None


@functools.cache
def gpus():
    """The GPUs that answer, as "name, driver version, memory" each; empty if none does."""
    if not shutil.which("nvidia-smi"):
        return ()
    told = answer("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    return tuple(line.strip() for line in (told or "").splitlines() if line.strip())


def compiler():
    """The C++ compiler's command, as Meson chooses it: $CXX, else the first of the usual names; or None."""
    if os.environ.get("CXX"):
        return shlex.split(os.environ["CXX"])
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name):
            return [name]
    return None


def is_clang(command):
    """Whether the compiler is a clang, whatever its name."""
    return "clang" in (answer(*command, "--version") or "").lower()


def ninja():
    """The path of ninja, or None."""
    return shutil.which("ninja") or shutil.which("ninja-build")


def processor():
    """The processor's name, as Linux knows it; "" if it does not."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        return ""


def identity():
    """What tells this machine from another in which a folder of results may come to lie."""
    return f"{platform.node()}, {processor()}, {os.cpu_count()}, {'; '.join(gpus())}"


@functools.cache
def commit():
    """The commit that stands here, with a "+" where files were changed since; "unknown" where git does not tell."""
    told = answer("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    if not told:
        return "unknown"
    changed = answer("git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no")
    return told + ("+" if changed else "")


def _ticks():
    """(idle, all) of all cores together since the start of the machine; None where Linux does not tell."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
        return fields[3] + fields[4], sum(fields)
    except (OSError, ValueError, IndexError):
        return None


def idle_cores(seconds=0.2):
    """How many cores other programs leave idle at the moment; None where Linux does not tell.

    The load average would count what has just ended, as our own last measurement.
    """
    before = _ticks()
    time.sleep(seconds)
    after = _ticks()
    if not before or not after or after[1] <= before[1]:
        return None
    return (os.cpu_count() or 1) * (after[0] - before[0]) / (after[1] - before[1])


class ClockWatch:
    """While it is held: does the GPU slow its clocks down? `reasons` are the driver's, in its words."""

    EVERY = 5.0  # seconds
    _SLOW = {
        "sw_power_cap": "power limit",
        "hw_slowdown": "hardware slowdown",
        "hw_thermal_slowdown": "heat",
        "sw_thermal_slowdown": "heat",
        "hw_power_brake_slowdown": "power brake",
    }

    def __init__(self, watch):
        self.reasons = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True) if watch and gpus() else None

    def _watch(self):
        """Looks at once, now and then, and once more at the end: the shortest bench is looked at, too."""
        self._look()
        while not self._over.wait(self.EVERY):
            self._look()
        self._look()

    def _look(self):
        fields = ",".join(f"clocks_throttle_reasons.{name}" for name in self._SLOW)
        told = answer("nvidia-smi", "--id=0", f"--query-gpu={fields}", "--format=csv,noheader", timeout=5) or ""
        for name, state in zip(self._SLOW, told.split(",")):
            if state.strip() == "Active":
                self.reasons.add(self._SLOW[name])

    def __enter__(self):
        if self._thread:
            self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        if self._thread:
            self._thread.join()
