"""Thrust on the CPU: its sequential system, whose headers come with the CUDA Toolkit and as a package of their own. And
libcu++ (cuda::std), and cuRAND in kernels, whose headers do, too."""

from __future__ import annotations

import re
import shutil
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from .console import Problem

_INCLUDE = re.compile(r'^[^\S\n]*#[^\S\n]*include[^\S\n]*[<"](thrust/[\w./]+|cuda/functional|cuda/std/\w+)[>"]', re.M)
# CUB's headers include these, and programs rely on it.
_FUNCTION_OBJECT = re.compile(
    r"\bcuda::(?:maximum|minimum|proclaim_return_type|std::(?:plus|minus|multiplies|divides|modulus|negate|equal_to|"
    r"not_equal_to|less|greater|less_equal|greater_equal|logical_and|logical_or|bit_and|bit_or|bit_xor|identity))\b"
)


_RANDOM_NUMBERS = re.compile(r"#\s*include\s*[<\"]curand_kernel")


def headers(text: str) -> list[str]:
    """The headers of Thrust and libcu++ that a source includes, each once."""
    found = list(dict.fromkeys(_INCLUDE.findall(text)))
    needs_functions = _FUNCTION_OBJECT.search(text) is not None and "cuda/functional" not in found
    return [*found, "cuda/functional"] if needs_functions else found


def has_headers(folder: Path) -> bool:
    """Whether it is a folder of Thrust's headers."""
    return (folder / "thrust/version.h").is_file()


def _candidates(include: Sequence[str]) -> Iterator[Path]:
    yield from map(Path, include)
    nvcc = shutil.which("nvcc")
    for toolkit in ([Path(nvcc).resolve().parents[1]] if nvcc else []) + [Path("/usr/local/cuda")]:
        yield from (toolkit / "include/cccl", *toolkit.glob("targets/*/include/cccl"))
    yield from sorted(Path(sysconfig.get_path("purelib")).glob("nvidia/*/include/cccl"))


def folder(include: Sequence[str]) -> Path:
    """The folder that has Thrust's headers: one of `include`, the toolkit's or the package's. Problem if none has."""
    for candidate in _candidates(include):
        if has_headers(candidate):
            return candidate
    raise Problem(
        "the program uses Thrust or libcu++, whose headers were not found: install the CUDA Toolkit (13 or later), or "
        "the package nvidia-cuda-cccl in .venv (.venv/bin/pip install nvidia-cuda-cccl)"
    )


def options(text: str, include: Sequence[str]) -> list[str]:
    """What a compiler needs for a source that includes Thrust, behind `-include cuda_runtime.h`; nothing for others.

    Thrust's headers come first, because some macros must have other values there (simt/thrust_begin.h): the source's
    own #include lines find them already included."""
    found = headers(text)
    random_numbers = _random_numbers(include) if _RANDOM_NUMBERS.search(text) else []
    if not found:
        return random_numbers
    # The system for GPUs includes <iostream>, and programs rely on it.
    names = ("simt/thrust_begin.h", *found, "simt/thrust_end.h", "iostream")
    between = [word for name in names for word in ("-include", name)]
    return ["-isystem", str(folder(include)), *between, *random_numbers]


def _random_numbers(include: Sequence[str]) -> list[str]:
    """Where cuRAND's headers are, behind all other folders: common/simt/include/curand_kernel.h includes them."""
    folders = [one for candidate in _candidates(include) for one in (candidate, candidate.parent) if one.is_dir()]
    return [word for one in folders for word in ("-idirafter", str(one))]
