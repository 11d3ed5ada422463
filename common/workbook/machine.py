"""What this machine has: GPU, compilers, tools."""

import functools
import os
import shlex
import shutil
import subprocess


def answer(*command, timeout=20):
    """Standard output of a command that ended well, stripped; else None."""
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else None


@functools.lru_cache(maxsize=None)
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
