"""Compiles a CUDA program for the CPU."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import build, diagnostics, machine, nvcc_options, schedules, thrust
from ..core.console import Problem, Usage
from ..core.course import BUILD, ROOT

SIMT = ROOT / "common/simt"
FLAGS = BUILD / "common/simt/compiler_flags.json"  # written by Meson: common/simt/meson.build


_MISSING = re.compile(r"fatal error: '?(cub|cutlass|cute|cudnn|nccl|nvml|npp)(?:/|\w*\.h)")
_HOST_CALL = re.compile(r": (?:error|warning): (?:(?:the )?kernel|device function) ")


@dataclass(frozen=True)
class Flags:
    """What the compiler needs for one build, as Meson wrote it."""

    library: Path
    compile: list[str]
    link: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="CUDA C++ (.cu), C++, C, objects or libraries")
    parser.add_argument(
        "-o",
        "--output-file",
        dest="program",
        metavar="PROGRAM",
        help="the program to write (default: the first FILE without .cu, in the current directory)",
    )
    parser.add_argument(
        "-I", dest="include", action="append", default=[], metavar="DIR", help="also look for headers in this folder"
    )
    parser.add_argument("-D", dest="define", action="append", default=[], metavar="NAME[=VALUE]", help="define a macro")
    parser.add_argument(
        *("--cxx", "-ccbin", "--compiler-bindir"),
        metavar="COMPILER",
        help="the C++ compiler: g++, clang++, ... (default: that of the other builds)",
    )
    parser.add_argument("-l", dest="library", action="append", default=[], metavar="NAME", help="link this library")
    parser.add_argument(
        "-O",
        dest="optimization",
        metavar="LEVEL",
        help="0 to 3; default: 2, or 0 with -G (always 1 with --check)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="when the program ends, it reports races, invalid accesses and costs; it exits with status 3 if there "
        "were errors",
    )
    parser.add_argument(
        "--schedules",
        type=int,
        default=0,
        metavar="N",
        help="with --check: also run the program in N orders of its threads, and compare what the host gets (exit "
        "status 3 if it differs)",
    )
    parser.add_argument(
        "--schedule",
        type=int,
        metavar="NUMBER",
        help="with --check: also run the program in the order with this number",
    )
    nvcc_options.add_arguments(parser)


def order_words(words: Sequence[str]) -> list[str]:
    """The words of the command line in an order that the parser reads: files may be among the options."""
    return nvcc_options.files_last(words)


def read_flags(kind: str, is_clang: bool) -> Flags:
    """The flags of the cpu or the check build for this compiler."""
    flags = json.loads(FLAGS.read_text())[kind]
    return Flags(BUILD / flags["library"], flags["clang" if is_clang else "gcc"], flags["link"])


def compiler(name: str | None) -> list[str]:
    """The compiler's command: the one named with --cxx, or that of the other builds."""
    cxx = shlex.split(name) if name else machine.compiler()
    if cxx and shutil.which(cxx[0]):
        return cxx
    if not name and machine.missing_cxx():
        raise Problem(machine.missing_cxx())
    if name:
        raise Problem(f"the C++ compiler {name} was not found: install it, or name another with --cxx")
    raise Problem("no C++ compiler was found: install g++ (./workbook doctor explains how)")


def paths(arguments: argparse.Namespace) -> tuple[list[Path], Path]:
    """The sources and the program, if those can be read and this can be written."""
    sources = [Path(name) for name in arguments.files]
    for source in sources:
        if not source.is_file():
            raise Usage(f"no such file: {source}")
        if not os.access(source, os.R_OK):
            raise Usage(f"{source} cannot be read: check its permissions")
    program = Path(arguments.program or sources[0].stem)
    if program.is_dir():
        raise Usage(f"{program} is a directory: name another program with -o")
    if program.exists() and any(program.resolve() == source.resolve() for source in sources):
        raise Usage(f"{program} is the source: name another program with -o")
    if not program.parent.is_dir():
        raise Usage(f"no such directory: {program.parent}")
    if not os.access(program.parent, os.W_OK):
        raise Usage(f"the directory {program.parent} cannot be written to: name a program elsewhere with -o")
    return sources, program


def language_of(source: Path, arguments: argparse.Namespace) -> str:
    """ "cu", "c++" or "c"; "" for what is only linked."""
    if arguments.language:
        return str(arguments.language)
    if source.suffix in (".o", ".a", ".so"):
        return ""
    return {".c": "c", ".cpp": "c++", ".cc": "c++", ".cxx": "c++", ".C": "c++"}.get(source.suffix, "cu")


def _text_of(source: Path) -> str:
    """A source, and the headers next to it that it includes."""
    text = source.read_text(errors="replace")
    for name in re.findall(r'#\s*include\s*"([^"]+)"', text):
        with contextlib.suppress(OSError):
            text += (source.parent / name).read_text(errors="replace")
    return text


def _copies_break(text: str) -> bool:
    """Whether a class of the source has a destructor but no constructor that copies or moves: what it owns is freed
    twice if the compiler copies what a function returns, as it may."""
    return any(
        re.search(rf"\b(?:class|struct)\s+{name}\b", text)
        and not re.search(rf"\b{name}\s*\(\s*(?:const\s+)?{name}\b", text)
        for name in set(re.findall(r"~(\w+)\s*\(", text))
    )


def compile_command(
    cxx: Sequence[str], flags: Flags, original: Path, source: Path, arguments: argparse.Namespace
) -> list[str]:
    """The command that compiles `source`, which is `original` or its rewritten text."""
    language = language_of(original, arguments)
    options = nvcc_options.wrapped(flags.compile, arguments)
    text = _text_of(original)
    if language == "c" or _copies_break(text):
        options = [option for option in options if option != "-fno-elide-constructors"]
    if language != "cu":  # only nvcc's own language has CUDA's names without an include
        first = options.index("-include")
        options[first : first + 2] = ["-DSIMT_HOST_SOURCE"]
    return [
        *cxx,
        *(["-x", "c"] if language == "c" else ["-x", "c++", nvcc_options.standard(arguments)]),
        f"-O{arguments.optimization or ('0' if arguments.device_debug else '2')}",
        "-gdwarf-4",
        # An include in quotes is looked for next to the original.
        "-iquote",
        str(original.parent),
        *(f"-I{path}" for path in arguments.include),
        "-I",
        str(SIMT / "include"),
        *(f"-D{name}" for name in arguments.define),
        # Findings name files as the command line does.
        f"-ffile-prefix-map={os.getcwd()}=.",
        f"-ffile-prefix-map={os.getcwd()}/=",
        *options,
        *(thrust.options(text, arguments.include) if language == "cu" else []),
        *nvcc_options.passed_on(arguments.compiler_options),
        *(["-w"] if arguments.silent else []),
        "-c",
        str(source),
    ]


def link_command(
    cxx: Sequence[str], flags: Flags, items: Sequence[Path], program: Path, arguments: argparse.Namespace
) -> list[str]:
    """The command that links the object files `items`."""
    return [
        *cxx,
        "-g",
        *map(str, items),
        str(flags.library),
        *(f"-L{folder}" for folder in arguments.library_folder),
        *(f"-l{name}" for name in nvcc_options.libraries(arguments.library)),
        *flags.link,
        *nvcc_options.passed_on(arguments.compiler_options),
        *(f"-Wl,{option}" for option in nvcc_options.passed_on(arguments.linker_options)),
        "-o",
        str(program),
    ]


def rewrite(original: Path, output: Path, arguments: argparse.Namespace) -> bool:
    """Turns CUDA C++ into C++. False if that failed; the rewriter has then reported where and why."""
    command = [sys.executable, str(SIMT / "rewrite/rewrite.py"), str(original), "-o", str(output)]
    command += ["--saturate", "--arch", str(nvcc_options.architecture(arguments)), *["--notes"] * arguments.check]
    for folder in arguments.include:
        if not thrust.has_headers(Path(folder)):
            command += ["-I", folder]
    return subprocess.run(command, check=False).returncode == 0


def run(command: Sequence[str], what: str) -> None:
    """Runs a compiler, and shows its warnings."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        text = diagnostics.summary(done.stdout + done.stderr)
        if missing := _MISSING.search(done.stderr):
            text += (
                f"\n{missing[1]} runs on GPUs only: build this program with nvcc, or write what it calls as a kernel "
                "of your own behind #ifdef __SIMT__"
            )
        raise Problem(f"{what} does not compile:\n{text}")
    sys.stderr.write(done.stderr)


class HostCalls:
    """Looks for calls of host functions in device code where clang++ compiles, which does not report them: g++ does,
    at the same time."""

    def __init__(self) -> None:
        self._cxx = shutil.which("g++")
        if not self._cxx:
            print(
                "note: clang++ does not report host functions that kernels call, which nvcc refuses; install g++, and "
                "they will be reported",
                file=sys.stderr,
            )

    @contextlib.contextmanager
    def looked_for(self, original: Path, source: Path, arguments: argparse.Namespace) -> Iterator[None]:
        """Raises Problem at the end if device code calls host functions."""
        if not self._cxx:
            yield
            return
        command = compile_command([self._cxx], read_flags("cpu", is_clang=False), original, source, arguments)
        command += ["-O0", "-w", "-o", os.devnull]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
        ) as process:
            try:
                yield
            except BaseException:
                process.kill()
                raise
            printed = process.communicate()[1]
        # What else g++ may dislike is none of its business.
        lines = [line for line in printed.splitlines() if _HOST_CALL.search(line)]
        if process.returncode and lines:
            raise Problem(f"{original} does not compile:\n{diagnostics.summary(chr(10).join(lines))}")
        sys.stderr.writelines(f"{line}\n" for line in lines)


def explore(program: Path, most: int) -> int:
    """Runs the program in so many orders, until the host gets something else."""
    command = [str(program.resolve())]
    try:
        usual = schedules.usual(command, time.monotonic)
    except schedules.NotRepeatableError as error:
        raise Problem(
            f"{program} is not repeatable: without a change of the order of threads, two runs differ: {error}; make it "
            "repeatable first (fixed seeds, no time or addresses in its results)"
        ) from None
    if usual.run.status:
        sys.stderr.write(usual.run.errors)
        print(f"{program} fails in the usual order (status {usual.run.status}): repair that first", file=sys.stderr)
        return usual.run.status if usual.run.status > 0 else 1
    if not usual.prints:
        print("note: what the program prints differs from run to run, and is not compared", file=sys.stderr)
    rounded = False
    for number, difference in schedules.differences(command, usual, most):
        if difference is None or (rounded and difference.is_rounding):
            continue
        place = f"{difference.place}: " if difference.place else ""
        again = f"again: SIMT_SCHEDULE={number} {program.parent / program.name}, or cc --check --schedule {number}"
        if not difference.is_rounding:
            print(f"{place}error: order-dependent: {difference.text}\n    {again}", file=sys.stderr)
            return 3
        rounded = True
        print(f"{place}note: rounding: {difference.text}; sums of floats depend on their order\n    {again}")
    print(f"{most} orders of threads: what the host gets is the same{' but for rounding' if rounded else ''}")
    return 0


def run_orders(program: Path, arguments: argparse.Namespace) -> int:
    """What --schedules and --schedule ask for."""
    if arguments.schedule is not None:
        environment = {**os.environ, "SIMT_SCHEDULE": str(arguments.schedule)}
        return subprocess.run([str(program.resolve())], env=environment, check=False).returncode
    return explore(program, arguments.schedules) if arguments.schedules else 0


def main(arguments: argparse.Namespace) -> int:
    """The files become PROGRAM."""
    if not arguments.check and (arguments.schedules or arguments.schedule is not None):
        raise Usage("--schedules and --schedule need --check: only checked programs run in a given order")
    if arguments.schedules < 0 or (arguments.schedule is not None and arguments.schedule < 1):
        raise Usage("--schedules and --schedule take numbers from 1 on")
    originals, program = paths(arguments)
    cxx = compiler(arguments.cxx)
    build.ensure()
    if "cpu" not in build.kinds():
        raise Problem(
            "cc compiles for the CPU, but the cpu build is not possible here (./workbook doctor explains why)"
        )
    if not FLAGS.is_file():  # the folder is older than the rule that writes them
        build.compile_targets([BUILD / "build.ninja"], "setting up")
    is_clang = machine.is_clang(cxx)
    flags = read_flags("check" if arguments.check else "cpu", is_clang)
    host_calls = HostCalls() if is_clang else None
    build.compile_targets([flags.library], "building CUDA on the CPU")
    with tempfile.TemporaryDirectory() as folder:
        items = []
        for number, original in enumerate(originals):
            language = language_of(original, arguments)
            if not language:
                items.append(original)
                continue
            source = original
            if language == "cu":
                source = Path(folder) / f"{number}-{original.stem}.cpp"
                if not rewrite(original, source, arguments):
                    return 1
            items.append(Path(folder) / f"{number}.o")
            command = compile_command(cxx, flags, original, source, arguments)
            with contextlib.ExitStack() as around:
                if host_calls and language == "cu":
                    around.enter_context(host_calls.looked_for(original, source, arguments))
                run([*command, "-o", str(items[-1])], str(original))
        # Next to the program, so that it appears by a rename within one file system.
        partial = program.with_name(f".{program.name}.{os.getpid()}")
        try:
            run(link_command(cxx, flags, items, partial, arguments), " ".join(map(str, originals)))
            os.replace(partial, program)
        finally:
            partial.unlink(missing_ok=True)
    return run_orders(program, arguments)
