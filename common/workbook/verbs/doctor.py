"""What this machine has and lacks, and what to do about each."""

import importlib.util
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..core import machine
from ..core.course import BUILD, ROOT
from ..core.terminal import paint

HERE, LACKS, NEEDED = "here", "not here", "MISSING"


def _version(text):
    found = re.search(r"\d+(\.\d+)+", text or "")
    return found[0] if found else "?"


def _python():
    good = sys.version_info >= (3, 9)
    return (
        HERE if good else NEEDED,
        "Python",
        f"{platform.python_version()} ({sys.executable})",
        "install Python 3.9 or later",
    )


def _compiler():
    cxx = machine.compiler()
    if not cxx:
        return NEEDED, "C++ compiler", "", "apt-get install g++, or set CXX"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.cpp"
        source.write_text("#include <span>\nint main() { return int(std::span<int>().size()); }\n")
        try:
            done = subprocess.run(
                [*cxx, "-std=c++20", str(source), "-o", f"{folder}/a"], capture_output=True, check=False
            )
            works = done.returncode == 0
        except OSError:
            works = False
    told = (machine.answer(*cxx, "--version") or "").split("\n")[0]
    return (
        HERE if works else NEEDED,
        "C++ compiler",
        told or " ".join(cxx),
        "it does not compile C++20: install g++ 10 or later, or set CXX to one",
    )


def _meson():
    try:
        from ..core.build import meson

        version = machine.answer(*meson(), "--version") or ""
    except Exception:  # whatever is wrong with it, it is not usable
        version = ""
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers >= (1, 4):
        return HERE, "Meson", version, ""
    return LACKS, "Meson", version, "1.4 or later is needed; ./workbook demo installs it into .venv"


def _ninja():
    found = machine.ninja()
    return (
        (HERE, "ninja", machine.answer(found, "--version") or "?", "")
        if found
        else (NEEDED, "ninja", "", "apt-get install ninja-build")
    )


def _header(name, header, needed, package, what):
    cxx = machine.compiler()
    there = False
    if cxx:
        done = subprocess.run(
            [*cxx, "-E", "-x", "c++", "-std=c++20", "-"],
            input=f"#include <{header}>\n".encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        there = done.returncode == 0
    return HERE if there else NEEDED if needed else LACKS, name, "", f"apt-get install {package} ({what})"


def _matplotlib():
    if importlib.util.find_spec("matplotlib"):
        return HERE, "matplotlib", "", ""
    again = ", after rm -f .workbook/ready" * (ROOT / ".workbook/ready").exists()
    return LACKS, "matplotlib", "", f"no plots without it; ./workbook demo installs it{again}"


def _nvcc():
    nvcc = shutil.which("nvcc")
    if not nvcc:
        return LACKS, "nvcc", "", "no cuda build without it; the cpu build does not need it. CUDA toolkit 12 or later"
    version = _version(re.sub(r".*release", "", machine.answer(nvcc, "--version") or "", flags=re.DOTALL))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.cu"
        source.write_text("#include <cuda_runtime.h>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
        try:
            done = subprocess.run([nvcc, str(source), "-o", f"{folder}/a"], capture_output=True, text=True, check=False)
        except OSError as error:
            return "BROKEN", "nvcc", nvcc, f"it cannot be started ({error.strerror}): install the CUDA toolkit anew"
    if done.returncode:
        told = (done.stderr + done.stdout).strip().split("\n")
        reason = next((line for line in told if "error" in line.lower()), told[0]) or f"exit status {done.returncode}"
        return "BROKEN", "nvcc", f"{nvcc} {version}", f"it compiles nothing: {reason.strip()[:100]}"
    if int(version.split(".")[0]) < 12:
        return LACKS, "nvcc", f"{nvcc} {version}", "CUDA 12 or later is needed"
    return HERE, "nvcc", f"{version} ({nvcc})", ""


def _gpu():
    gpus = machine.gpus()
    if gpus:
        return HERE, "GPU, driver", "; ".join(gpus), ""
    why = (
        "nvidia-smi is here but no GPU answers: is the driver loaded?"
        if shutil.which("nvidia-smi")
        else ("no NVIDIA driver; tests on a GPU are not run, all else works on the cpu build")
    )
    return LACKS, "GPU, driver", "", why


def _tool(name, command, what):
    found = shutil.which(command)
    return HERE if found else LACKS, name, found or "", what


def findings():
    """(state, what, version or place, what to do where it is not here) for everything looked at."""
    off_x86_64 = platform.machine() not in ("x86_64", "AMD64")
    found = [
        _python(),
        _compiler(),
        _meson(),
        _ninja(),
        _header("doctest", "doctest/doctest.h", True, "doctest-dev", "the tests"),
        _header("CLI11", "CLI/CLI.hpp", True, "libcli11-dev", "the programs' command lines"),
        _header("Highway VQSort", "hwy/contrib/sort/vqsort.h", False, "libhwy-dev", "the CPU's best as gold standard"),
    ]
    if off_x86_64:
        found.append(
            _header(
                "Boost.Context",
                "boost/context/detail/fcontext.hpp",
                True,
                "libboost-context-dev",
                "the cpu build on processors other than x86-64",
            )
        )
    found += [
        _matplotlib(),
        _tool("addr2line", "addr2line", "apt-get install binutils (source lines in the cpu build's errors)"),
        _nvcc(),
        _gpu(),
        _tool("Nsight Compute", "ncu", "comes with the CUDA toolkit; counters of a GPU"),
        _tool("compute-sanitizer", "compute-sanitizer", "comes with the CUDA toolkit; memory errors on a GPU"),
        _tool("bubblewrap", "bwrap", "apt-get install bubblewrap (runs what others wrote in a sandbox)"),
    ]
    return found


def add_arguments(parser):
    """The verb has no options."""


def main(_arguments):
    """What is here and what is not."""
    colours = {HERE: "green", LACKS: "yellow"}
    found = findings()
    for state, name, detail, remedy in found:
        text = detail if state == HERE else "; ".join(part for part in (detail, remedy) if part)
        print(f"{paint(f'{state:<8}', colours.get(state, 'red'))}  {name:<18} {text}".rstrip())
    cpu = platform.system() == "Linux"
    if not cpu:
        print(f"{paint('MISSING ', 'red')}  the cpu build needs Linux; this is {platform.system()}")
    missing = [name for state, name, *_ in found if state == NEEDED]
    can = not missing and (cpu or any(name == "nvcc" and state == HERE for state, name, *_ in found))
    print()
    if can:
        print(
            "The workbook can work here." if BUILD.is_dir() else "The workbook can work here. ./workbook demo shows it."
        )
    else:
        print(
            f"The workbook cannot work here yet: {', '.join(missing) or 'no build is possible'}. "
            "./workbook demo installs what it can."
        )
    return 0 if can else 1
