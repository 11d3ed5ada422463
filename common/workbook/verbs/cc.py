"""Compiles a single-file CUDA program for the CPU."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import build, diagnostics, machine
from ..core.console import Problem, Usage
from ..core.course import BUILD, ROOT

SIMT = ROOT / "common/simt"
FLAGS = BUILD / "common/simt/compiler_flags.json"  # written by Meson: common/simt/meson.build


@dataclass(frozen=True)
class Flags:
    """What the compiler needs for one build, as Meson wrote it."""

    library: Path
    compile: list[str]
    link: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("file", metavar="FILE.cu")
    parser.add_argument(
        "-o", dest="program", metavar="PROGRAM", help="default: FILE without .cu, in the current directory"
    )
    parser.add_argument(
        "-I", dest="include", action="append", default=[], metavar="DIR", help="look for headers in this folder too"
    )
    parser.add_argument("-D", dest="define", action="append", default=[], metavar="NAME[=VALUE]", help="define a macro")
    parser.add_argument("--cxx", metavar="COMPILER", help="g++, clang++, ...; default: that of the other builds")
    parser.add_argument("-l", dest="library", action="append", default=[], metavar="NAME", help="link this library")
    parser.add_argument(
        "-O", dest="optimization", default="2", metavar="LEVEL", help="0 to 3; default: 2 (always 1 with --check)"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="make a program that, when it ends, reports races, invalid accesses and costs, and exits with 3 if it "
        "found errors",
    )


def read_flags(kind: str, cxx: Sequence[str]) -> Flags:
    """The flags of the cpu or the check build for this compiler."""
    flags = json.loads(FLAGS.read_text())[kind]
    family = "clang" if machine.is_clang(cxx) else "gcc"
    return Flags(BUILD / flags["library"], flags[family], flags["link"])


def compiler(name: str | None) -> list[str]:
    """The compiler's command: the one named with --cxx, or that of the other builds."""
    cxx = shlex.split(name) if name else machine.compiler()
    if cxx and shutil.which(cxx[0]):
        return cxx
    if name:
        raise Problem(f"the C++ compiler {name} was not found: install it, or name another with --cxx")
    raise Problem("no C++ compiler was found: install g++ (./workbook doctor explains how)")


def paths(arguments: argparse.Namespace) -> tuple[Path, Path]:
    """The source and the program, if one can be read and the other written."""
    source = Path(arguments.file)
    if not source.is_file():
        raise Usage(f"there is no file {source}")
    if not os.access(source, os.R_OK):
        raise Usage(f"{source} cannot be read: check its permissions")
    program = Path(arguments.program or source.stem)
    if program.is_dir():
        raise Usage(f"{program} is a directory: name another program with -o")
    if program.exists() and program.resolve() == source.resolve():
        raise Usage(f"{program} is the source: name another program with -o")
    if not program.parent.is_dir():
        raise Usage(f"there is no directory {program.parent}")
    if not os.access(program.parent, os.W_OK):
        raise Usage(f"the directory {program.parent} cannot be written to: name a program elsewhere with -o")
    return source, program


def compile_command(cxx: Sequence[str], flags: Flags, source: Path, arguments: argparse.Namespace) -> list[str]:
    """The command that compiles `source`, the rewritten text of the file that the arguments name."""
    return [
        *cxx,
        "-std=c++20",
        f"-O{arguments.optimization}",
        "-gdwarf-4",
        # An include in quotes is looked for next to the original.
        "-iquote",
        str(Path(arguments.file).parent),
        *(f"-I{path}" for path in arguments.include),
        "-I",
        str(SIMT / "include"),
        *(f"-D{name}" for name in arguments.define),
        # Findings name files as the command line does.
        f"-ffile-prefix-map={os.getcwd()}=.",
        f"-ffile-prefix-map={os.getcwd()}/=",
        *flags.compile,
        "-c",
        str(source),
    ]


def link_command(
    cxx: Sequence[str], flags: Flags, item: Path, program: Path, arguments: argparse.Namespace
) -> list[str]:
    """The command that links the object file `item`."""
    libraries = [f"-l{name}" for name in arguments.library]
    return [*cxx, "-g", str(item), str(flags.library), *libraries, *flags.link, "-o", str(program)]


def rewrite(original: Path, output: Path, folders: Sequence[str]) -> bool:
    """Turns CUDA C++ into C++. False if that failed; the rewriter has then reported where and why."""
    command = [sys.executable, str(SIMT / "rewrite/rewrite.py"), str(original), "-o", str(output)]
    for folder in folders:
        command += ["-I", folder]
    return subprocess.run(command, check=False).returncode == 0


def main(arguments: argparse.Namespace) -> int:
    """FILE.cu becomes PROGRAM."""
    original, program = paths(arguments)
    cxx = compiler(arguments.cxx)
    build.ensure()
    if "cpu" not in build.kinds():
        raise Problem(
            "cc compiles for the CPU, but the cpu build is not possible here (./workbook doctor explains why)"
        )
    if not FLAGS.is_file():  # the folder is older than the rule that writes them
        build.compile_targets([BUILD / "build.ninja"], "setting up")
    flags = read_flags("check" if arguments.check else "cpu", cxx)
    build.compile_targets([flags.library], "building CUDA on the CPU")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / (original.stem + ".cpp")
        if not rewrite(original, source, arguments.include):
            return 1
        # Next to the program, so that it appears by a rename within one file system.
        partial = program.with_name(f".{program.name}.{os.getpid()}")
        item = source.with_suffix(".o")
        commands = [
            [*compile_command(cxx, flags, source, arguments), "-o", str(item)],
            link_command(cxx, flags, item, partial, arguments),
        ]
        try:
            for command in commands:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
                if done.returncode:
                    raise Problem(f"{original} does not compile:\n{diagnostics.summary(done.stdout + done.stderr)}")
                sys.stderr.write(done.stderr)  # warnings
            os.replace(partial, program)
        finally:
            partial.unlink(missing_ok=True)
    return 0
