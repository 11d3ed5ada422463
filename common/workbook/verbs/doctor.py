"""What this machine has and lacks, and what to do about each."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from ..core import build, files, machine, nccl
from ..core.console import paint, wrapped
from ..core.course import ROOT, STATE

HERE, LACKS, BROKEN, NEEDED = "found", "not found", "BROKEN", "MISSING"
_COLOURS = {HERE: "green", LACKS: "yellow"}

_ROOM, _ROOM_TO_SET_UP = 190, 390  # MB: for a lab; for .venv as well

# A header, the distribution's package, what it is for, and whether the set-up can do without root.
_HEADERS = {
    "doctest": ("doctest/doctest.h", "doctest-dev", "the tests", True),
    "CLI11": ("CLI/CLI.hpp", "libcli11-dev", "the command line of the graded tests", True),
    "fmt": ("fmt/format.h", "libfmt-dev", "the judge's messages", True),
    "nlohmann-json": ("nlohmann/json.hpp", "nlohmann-json3-dev", "the judge's requests and answers", True),
    "Highway VQSort": ("hwy/contrib/sort/vqsort.h", "libhwy-dev", "the fastest sort on a CPU, to compare with", False),
}

# What each Python package of pyproject.toml is for.
_TOOLS = {
    "rich": "colours and progress bars",
    "jinja2": "reports",
    "markdown-it-py": "reports as HTML",
    "matplotlib": "plots",
    "pyelftools": "shows what grading would refuse",
    "tree-sitter": "reads a step's file, so that check can try small changes of it",
    "tree-sitter-cuda": "the same",
}
_STYLE = {
    "clang-format": "formats C++",
    "ruff": "formats and checks Python",
    "mypy": "checks Python's types",
    "selenium": "opens the page of play in a browser",
}

_UNLIKE_GCC = (
    "unlike with g++, calls to host functions from kernels are not reported, nor are reads of unwritten elements of a "
    "thread's own array; check budgets are not compared, because clang++ splits vector copies; __shared__ arrays of "
    "types with a constructor do not compile; and `check` starts later, because a step is compiled for all key types "
    "first"
)


class Item(NamedTuple):
    """What was looked for, and the result."""

    state: str
    name: str
    detail: str = ""  # its version or place
    remedy: str = ""  # what to do if it is not found


def _version(text: str | None) -> str:
    found = re.search(r"\d+(\.\d+)+", text or "")
    return found[0] if found else "?"


def _python() -> Item:
    state = HERE if sys.version_info >= (3, 9) else NEEDED
    return Item(state, "Python", f"{platform.python_version()} ({sys.executable})", "install Python 3.9 or later")


def _compiler() -> Item:
    cxx = machine.compiler()
    if missing := machine.missing_cxx():
        return Item(NEEDED, "C++ compiler", "", missing)
    if not cxx:
        return Item(NEEDED, "C++ compiler", "", "apt-get install g++, or set CXX")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.cpp"
        source.write_text("#include <span>\nint main() { return int(std::span<int>().size()); }\n")
        works = machine.answer(*cxx, "-std=c++20", str(source), "-o", f"{folder}/a", timeout=120) is not None
    version = (machine.answer(*cxx, "--version") or "").split("\n")[0]
    if machine.is_clang(cxx):
        version += f"; {_UNLIKE_GCC}"
    remedy = "it cannot compile C++20: install g++ 10 or later, or set CXX to another compiler"
    return Item(HERE if works else NEEDED, "C++ compiler", version or " ".join(cxx), remedy)


def _meson() -> Item:
    try:
        version = machine.answer(*build.meson(), "--version") or ""
    except Exception:  # whatever its fault, it cannot be used
        version = ""
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    state = HERE if numbers >= (1, 4) else LACKS
    return Item(state, "Meson", version, "1.4 or later is needed; ./workbook demo installs it")


def _ninja() -> Item:
    path = machine.ninja()
    version = path and machine.answer(path, "--version")
    return Item(HERE if version else LACKS, "Ninja", version or "", "./workbook demo installs it")


def _venv() -> Item:
    found = (ROOT / ".venv/bin/python3").exists() or importlib.util.find_spec("ensurepip")
    remedy = "apt-get install python3-venv (Meson, Ninja and other Python packages are installed into .venv)"
    return Item(HERE if found else LACKS, "venv", "", remedy)


def _folder() -> Item:
    why = files.writable(STATE / "ready" if STATE.is_dir() else ROOT / ".workbook")
    return Item(
        NEEDED if why else HERE, "writable folder", str(ROOT), f"{why}: copy the workbook to a folder of your own"
    )


def _disk() -> Item:
    free = shutil.disk_usage(ROOT).free // 10**6
    needed = _ROOM if build.kinds() else _ROOM_TO_SET_UP
    remedy = f"at least {needed} MB are needed (README.md lists what takes up how much)"
    return Item(HERE if free >= needed else NEEDED, "free disk space", f"{free} MB", remedy)


def _library(name: str) -> Item:
    header, package, purpose, downloaded = _HEADERS[name]
    if machine.missing_cxx():
        return Item(LACKS, name, "", "not checked, because there is no compiler")
    otherwise = "; otherwise ./workbook demo downloads it" if downloaded else ""
    state = HERE if machine.has_header(header) else LACKS
    return Item(state, name, "", f"apt-get install {package} ({purpose}){otherwise}")


def _boost_context() -> Item:
    is_here = machine.has_header("boost/context/detail/fcontext.hpp") and machine.has_library("boost_context")
    state = HERE if is_here else NEEDED
    remedy = "apt-get install libboost-context-dev (the cpu build on processors other than x86-64 and AArch64)"
    return Item(state, "Boost.Context", "", remedy)


def _python_package(name: str, purpose: str, verb: str) -> Item:
    try:
        return Item(HERE, name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        retry = ", after rm -f .workbook/ready" if (ROOT / ".workbook/ready").exists() and verb == "demo" else ""
        return Item(LACKS, name, "", f"{purpose}; ./workbook {verb} installs it{retry}")


def _nvcc() -> Item:
    nvcc = shutil.which("nvcc")
    if not nvcc:
        remedy = "the cuda build needs CUDA toolkit 12 or later; the cpu build does not"
        return Item(LACKS, "nvcc", "", remedy)
    version = _version(re.sub(r".*release", "", machine.answer(nvcc, "--version") or "", flags=re.DOTALL))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.cu"
        source.write_text("#include <cuda_runtime.h>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
        try:
            done = subprocess.run([nvcc, str(source), "-o", f"{folder}/a"], capture_output=True, text=True, check=False)
        except OSError as error:
            remedy = f"it cannot be started ({error.strerror}): install the CUDA toolkit again"
            return Item(BROKEN, "nvcc", nvcc, remedy)
    if done.returncode:
        lines = (done.stderr + done.stdout).strip().split("\n")
        reason = next((line for line in lines if "error" in line.lower()), lines[0]) or f"exit status {done.returncode}"
        remedy = f"it cannot compile: {reason.strip()[:100]}"
        return Item(BROKEN, "nvcc", f"{nvcc} {version}", remedy)
    if int(version.split(".")[0]) < 12:
        return Item(LACKS, "nvcc", f"{nvcc} {version}", "CUDA 12 or later is needed")
    return Item(HERE, "nvcc", f"{version} ({nvcc})")


def _gpu() -> Item:
    gpus = machine.gpus()
    if gpus:
        return Item(HERE, "GPU, driver", "; ".join(gpus))
    if shutil.which("nvidia-smi"):
        return Item(LACKS, "GPU, driver", "", "nvidia-smi is installed but no GPU answers: is the driver loaded?")
    return Item(
        LACKS, "GPU, driver", "", "no NVIDIA driver; GPU tests are skipped, everything else runs on the cpu build"
    )


def _nccl() -> Item:
    place = nccl.wheel() or ("nccl.h" if machine.has_header("nccl.h") else "")
    remedy = "pip install nvidia-nccl-cu13, or apt-get install libnccl-dev (lab 06, step 4, on several GPUs)"
    return Item(HERE if place else LACKS, "NCCL", place, remedy)


def _program(name: str, command: str, remedy: str) -> Item:
    path = shutil.which(command)
    return Item(HERE if path else LACKS, name, path or "", remedy)


def findings() -> list[Item]:
    """The results of all checks."""
    found = [_folder(), _disk(), _python(), _compiler(), _meson(), _ninja(), _venv(), *map(_library, _HEADERS)]
    if platform.machine() not in ("x86_64", "aarch64"):
        found.append(_boost_context())
    found += [_python_package(name, purpose, "demo") for name, purpose in _TOOLS.items()]
    found += [_python_package(name, purpose, "test") for name, purpose in _STYLE.items()]
    found += [
        _program("addr2line", "addr2line", "apt-get install binutils (source lines in the cpu build's errors)"),
        _nvcc(),
        _gpu(),
        _program("MPI", "mpirun", "apt-get install libopenmpi-dev openmpi-bin (lab 06, step 4, on several GPUs)"),
        _nccl(),
        _program("Nsight Compute", "ncu", "reads a GPU's counters; part of the CUDA toolkit"),
        _program("compute-sanitizer", "compute-sanitizer", "finds memory errors on a GPU; part of the CUDA toolkit"),
        _program("bubblewrap", "bwrap", "apt-get install bubblewrap (runs other people's code in a sandbox)"),
        _program("gdb", "gdb", "apt-get install gdb (steps through kernels: ./workbook debug)"),
        _program("clang++", "clang++", "apt-get install clang (a second compiler for the tests; not needed)"),
        _program("Chromium", "chromium", "apt-get install chromium chromium-driver (tests the page of play)"),
    ]
    return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb has no options."""


def main(_arguments: argparse.Namespace) -> int:
    """Prints what was found and what was not."""
    found = findings()
    for finding in found:
        state = f"{finding.state:<9}"
        shown = (finding.detail,) if finding.state == HERE else (finding.detail, finding.remedy)
        line = f"{state}  {finding.name:<18} {'; '.join(text for text in shown if text)}".rstrip()
        print(paint(state, _COLOURS.get(finding.state, "red")) + wrapped(line, hanging=30)[len(state) :])
    needed = [f"{finding.name}: {finding.remedy}" for finding in found if finding.state == NEEDED]
    nvcc_works = any(finding.name == "nvcc" and finding.state == HERE for finding in found)
    if platform.system() != "Linux" and not nvcc_works:
        needed.append(f"Linux: the cpu build needs it; this is {platform.system()}")
    print()
    if needed:
        print("\n  ".join(["The workbook does not work here yet:", *needed]))
        return 1
    unfinished = _unfinished([finding.name for finding in found if finding.state == LACKS])
    print(unfinished or "The workbook works here.")
    return 1 if unfinished else 0


def _unfinished(lacking: Collection[str]) -> str:
    """What remains to be done before the workbook works; "" if nothing does."""
    if why := build.why_set_up_failed():
        return f"{why}\nFix this, then run ./workbook demo, which sets it up again."
    log = STATE / "install.log"
    if not (STATE / "ready").exists() and log.exists():
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-9:]
        return "\n  ".join(["The set-up was not completed. The last lines of .workbook/install.log:", *lines]) + (
            "\nFix this, then run ./workbook demo to continue the set-up."
        )
    if tools := [name for name in ("Meson", "Ninja") if name in lacking]:
        return f"The workbook is not set up yet: it lacks {' and '.join(tools)}, which ./workbook demo installs."
    return "" if build.kinds() else "The workbook is not set up yet. Run ./workbook demo to set it up."
