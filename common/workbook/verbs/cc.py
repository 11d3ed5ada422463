"""Compiles a single-file CUDA program for the CPU."""

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..core import build, diagnostics, machine
from ..core.course import BUILD, ROOT
from ..core.terminal import Problem, Usage

SIMT = ROOT / "common/simt"
LIBRARY = BUILD / "common/simt/libsimt.a"
CHECK_LIBRARY = BUILD / "common/simt/libsimt-check.a"
WRAPPED = [f"-Wl,--wrap={name}" for name in ("memcpy", "memmove", "memset")]  # see check/accesses.cpp


def add_arguments(parser):
    """The verb's options."""
    parser.add_argument("file", metavar="FILE.cu")
    parser.add_argument("-o", dest="program", metavar="PROGRAM", help="else FILE without .cu, in the current directory")
    parser.add_argument(
        "-I", dest="include", action="append", default=[], metavar="DIR", help="where headers are looked for"
    )
    parser.add_argument("-D", dest="define", action="append", default=[], metavar="NAME[=VALUE]", help="a macro")
    parser.add_argument("--cxx", metavar="COMPILER", help="g++, clang++, ..; else that of the other builds")
    parser.add_argument("-l", dest="library", action="append", default=[], metavar="NAME", help="a library to link")
    parser.add_argument("-O", dest="optimisation", default="2", metavar="LEVEL", help="0 to 3 (2)")
    parser.add_argument(
        "--check",
        action="store_true",
        help="the program reports races, wrong accesses and costs at its end; exits 3 if there were errors",
    )


def check_options(cxx):
    """Options that have the compiler call the observers before every access of memory."""
    common = ["-DSIMT_CHECK", "-fsanitize=thread", "-fno-builtin-memcpy"]
    if machine.is_clang(cxx):
        return [
            *common,
            "-O1",
            "-mllvm",
            "-tsan-instrument-read-before-write=1",
            "-mllvm",
            "-tsan-distinguish-volatile=1",
            "-mllvm",
            "-tsan-instrument-func-entry-exit=0",
        ]
    return [
        *common,
        "-O1",
        "-fno-tree-sra",
        "-Wno-tsan",
        "--param",
        "tsan-distinguish-volatile=1",
        "--param",
        "tsan-instrument-func-entry-exit=0",
    ]


def compile_checked(cxx, source, original, program, arguments):
    """The commands that make a program whose accesses are observed: linked without the sanitizer's own runtime."""
    item = source.with_suffix(".o")
    plain = compile_command(cxx, source, original, program, arguments)
    compile_part = plain[: plain.index(str(source))]
    link_part = plain[plain.index(str(source)) + 1 :]
    link_part[0] = str(CHECK_LIBRARY)
    return [
        [*compile_part, *check_options(cxx), "-c", str(source), "-o", str(item)],
        [*cxx, "-g", str(item), *WRAPPED, *link_part],
    ]


def compile_command(cxx, source, original, program, arguments):
    """The compiler's command line."""
    quiet = "-Wno-pass-failed" if machine.is_clang(cxx) else "-Wno-unknown-pragmas"
    # An include in quotes is looked for beside the original, of which `source` is the rewritten text.
    command = [
        *cxx,
        "-std=c++20",
        f"-O{arguments.optimisation}",
        "-gdwarf-4",
        "-include",
        "cuda_runtime.h",
        "-iquote",
        str(original.parent),
        *(f"-I{path}" for path in arguments.include),
        "-I",
        str(SIMT / "include"),
        *(f"-D{name}" for name in arguments.define),
        # Findings name files as the command line does.
        f"-ffile-prefix-map={os.getcwd()}=.",
        f"-ffile-prefix-map={os.getcwd()}/=",
        "-fno-delete-null-pointer-checks",
        "-fno-strict-aliasing",
        quiet,
        str(source),
        str(LIBRARY),
        *(f"-l{name}" for name in arguments.library),
        "-lpthread",
        "-o",
        str(program),
    ]
    if platform.machine() not in ("x86_64", "AMD64"):
        command.insert(-2, "-lboost_context")
    return command


def main(arguments):
    """FILE.cu becomes PROGRAM."""
    original = Path(arguments.file)
    if not original.is_file():
        raise Usage(f"there is no file {original}")
    if not os.access(original, os.R_OK):
        raise Usage(f"{original} may not be read")
    program = Path(arguments.program or original.stem)
    if program.is_dir() or (program.exists() and program.resolve() == original.resolve()):
        raise Usage(f"{program} is {'a directory' if program.is_dir() else 'the source'}: name another program with -o")
    if not program.parent.is_dir():
        raise Usage(f"there is no directory {program.parent}")
    if not os.access(program.parent, os.W_OK):
        raise Usage(f"the directory {program.parent} may not be written to")
    cxx = shlex.split(arguments.cxx) if arguments.cxx else machine.compiler()
    if not cxx or not shutil.which(cxx[0]):
        raise Problem(
            f"the C++ compiler {arguments.cxx} was not found: install it, or name another with --cxx"
            if arguments.cxx
            else "no C++ compiler was found: install g++ (./workbook doctor tells how)"
        )
    build.ensure()
    if "cpu" not in build.kinds():
        raise Problem("the cpu build is not possible here (./workbook doctor says why), and cc compiles for the CPU")
    build.compile_targets([CHECK_LIBRARY if arguments.check else LIBRARY], "building CUDA on the CPU")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / (original.stem + ".cpp")
        rewrite = [sys.executable, str(SIMT / "rewrite/rewrite.py"), str(original), "-o", str(source)]
        for path in arguments.include:
            rewrite += ["-I", path]
        if subprocess.run(rewrite, check=False).returncode:
            return 1  # the rewriter has said where and why
        # Beside the program, so that the rename which makes it appear stays within one file system.
        partial = program.with_name(f".{program.name}.{os.getpid()}")
        try:
            commands = (
                compile_checked(cxx, source, original, partial, arguments)
                if arguments.check
                else [compile_command(cxx, source, original, partial, arguments)]
            )
            for command in commands:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
                if done.returncode:
                    raise Problem(f"{original} does not compile:\n{diagnostics.summary(done.stdout + done.stderr)}")
                sys.stderr.write(done.stderr)  # warnings
            os.replace(partial, program)
        finally:
            partial.unlink(missing_ok=True)
    return 0
