"""nvcc's options, as far as they mean something to a compiler for the CPU, so that a build script needs no change."""

import argparse
import re
from collections.abc import Sequence

# They mean something for a GPU, or for nvcc itself, only.
IGNORED_FLAGS = (
    *("-lineinfo", "--generate-line-info", "-m64", "-dc", "--device-c", "-use_fast_math"),
    *("--use_fast_math", "-extended-lambda", "--extended-lambda", "-expt-extended-lambda", "--expt-extended-lambda"),
    *("-res-usage", "--resource-usage", "-v", "--verbose"),
)
IGNORED_VALUES = (
    *("-Xptxas", "--ptxas-options", "-Xnvlink", "-Xfatbin", "-maxrregcount", "--maxrregcount", "-rdc"),
    *("--relocatable-device-code", "-cudart", "--cudart", "-ftz", "--ftz", "-fmad", "--fmad", "-prec-div"),
    *("--prec-div", "-prec-sqrt", "--prec-sqrt", "-diag-suppress", "--diag-suppress", "-t", "--threads", "-W"),
)
# Options of several letters that begin with one dash, whose value may be the next word.
WITH_VALUE = (
    *("-o", "-I", "-D", "-l", "-L", "-O", "--cxx", "-ccbin", "--compiler-bindir", "-std", "--std", "-x", "-arch"),
    *(
        "--schedules",
        "--schedule",
        "--gpu-architecture",
        "-gencode",
        "--generate-code",
        "-code",
        "--gpu-code",
        "-Xcompiler",
        "--compiler-options",
    ),
    *("-Xlinker", "--linker-options", *IGNORED_VALUES),
)
# nvcc links these, and CUDA on the CPU is the runtime itself; the functions of the others are in headers.
CUDA_LIBRARIES = (
    "cudart",
    "cudart_static",
    "cudadevrt",
    "cuda",
    "cublas",
    "cublas_static",
    "curand",
    "curand_static",
    "cufft",
    "cufft_static",
    "nvToolsExt",
)
STANDARDS = ("17", "20", "23", "26")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Those options of nvcc that `cc` did not have anyway."""
    names = parser.add_argument_group("options of nvcc")
    names.add_argument(
        "-arch", "--gpu-architecture", dest="arch", metavar="sm_70", help="what __CUDA_ARCH__ is in device code"
    )
    names.add_argument(
        "-gencode", "--generate-code", action="append", default=[], metavar="arch=..,code=..", help="the same"
    )
    names.add_argument("-std", "--std", metavar="c++17", help="the language standard: c++17 (default) or later")
    names.add_argument(
        "-L",
        dest="library_folder",
        action="append",
        default=[],
        metavar="DIR",
        help="also look for libraries in this folder",
    )
    names.add_argument(
        *("-expt-relaxed-constexpr", "--expt-relaxed-constexpr"),
        dest="relaxed_constexpr",
        action="store_true",
        help="let device code call constexpr functions of the host",
    )
    names.add_argument(
        "-G",
        "--device-debug",
        action="store_true",
        help="do not optimize, so that ./workbook debug shows all variables",
    )
    names.add_argument("-w", dest="silent", action="store_true", help="print no warnings")
    names.add_argument("-x", dest="language", choices=("cu", "c++"), help="compile all files as this language")
    for option, long in (("-Xcompiler", "--compiler-options"), ("-Xlinker", "--linker-options")):
        names.add_argument(option, long, action="append", default=[], metavar="OPTION,..", help="pass these options on")
    parser.add_argument("-g", "--debug", action="store_true", help=argparse.SUPPRESS)  # always so
    parser.add_argument("-code", "--gpu-code", help=argparse.SUPPRESS)
    parser.add_argument(*IGNORED_FLAGS, dest="ignored_flags", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(*IGNORED_VALUES, dest="ignored_values", action="append", help=argparse.SUPPRESS)


def files_last(words: Sequence[str]) -> list[str]:
    """The same words, with the files at the end, and each option of several letters in one word with its value."""
    options: list[str] = []
    files: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            files += rest
        elif word in WITH_VALUE:
            value = next(rest, None)
            is_short = len(word) == 2
            options += [word] if value is None else [word, value] if is_short else [f"{word}={value}"]
        else:
            (options if word.startswith("-") and word != "-" else files).append(word)
    return options + files


def architecture(arguments: argparse.Namespace) -> int:
    """What __CUDA_ARCH__ is: of several architectures the latest; 700 where none is named."""
    names = " ".join([arguments.arch or "", *arguments.generate_code])
    found = [int(number) for number in re.findall(r"(?:sm|compute|lto)_(\d+)", names)]
    return 10 * max(found, default=70)


def wrapped(options: Sequence[str], arguments: argparse.Namespace) -> list[str]:
    """The options, where g++'s wrapper (common/simt/calls) knows whether it may allow constexpr functions."""
    suffix = ",--relaxed-constexpr" if arguments.relaxed_constexpr else ""
    return [word + suffix if before == "-wrapper" else word for before, word in zip(["", *options], options)]


def standard(arguments: argparse.Namespace) -> str:
    """The compiler's option. The emulation needs C++17, which is nvcc's default; older ones become that."""
    name = arguments.std or "c++17"
    return f"-std={name}" if name[-2:] in STANDARDS else "-std=c++17"


def passed_on(values: Sequence[str]) -> list[str]:
    """The options that -Xcompiler or -Xlinker passes on."""
    return [option for value in values for option in value.strip("\"'").split(",") if option]


def libraries(names: Sequence[str]) -> list[str]:
    """The libraries to link."""
    return [name for name in names if name not in CUDA_LIBRARIES]
