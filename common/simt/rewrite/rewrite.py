#!/usr/bin/env python3
"""Turns CUDA C++ into C++ that any compiler reads: the few things in CUDA that macros and headers cannot provide.

    python3 rewrite.py IN.cu -o OUT.cpp [--depfile FILE] [-I DIR ...] [--root DIR] [--arch N] [--saturate]
                       [--define NAME] [--notes]

A kernel launch becomes a call of simt::launch, and `extern __shared__ T name[]` a name for the running block's dynamic
shared memory. Nothing moves to another line, and `#line` names the file as it was given, so that a compiler's message
points at the line that its reader wrote. In functions for the device, conditions see __CUDA_ARCH__ as N; elsewhere they
see that it is not defined. Comments, literals and everything else stay as they are.

A header that needs the same, or that includes one that does, is rewritten into a copy next to OUT, which the `#include`
then names. Only headers in their includer's folder or in a DIR are considered.

Errors go to standard error as `path:line: error: text`; then the exit status is 1, and nothing is written. With
--notes, so do notes on indices that nothing keeps within bounds.
"""

import argparse
import os
import sys

# Run by its path, this file is not part of a package.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from rewrite.output import dependencies, rewrite_all, write, write_all
from rewrite.source import Reader, RewriteError
from rewrite.unguarded import unguarded_indices


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Rewrites CUDA C++ for an ordinary C++ compiler, line by line.")
    parser.add_argument("input", metavar="IN.cu")
    parser.add_argument("-o", dest="output", metavar="OUT.cpp", required=True)
    parser.add_argument("--depfile", help="write the files that were read, as a Makefile rule")
    parser.add_argument(
        "-I", dest="folders", metavar="DIR", action="append", default=[], help="where the compiler looks for headers"
    )
    parser.add_argument("--root", metavar="DIR", help="name files in messages relative to DIR")
    parser.add_argument(
        "--arch", type=int, default=700, metavar="N", help="what __CUDA_ARCH__ is in device code (default: 700)"
    )
    parser.add_argument(
        "--saturate",
        action="store_true",
        help="casts to integers saturate in device code, and shifts by a large distance shift out all bits",
    )
    parser.add_argument("--define", default="", metavar="NAME", help="a macro that OUT.cpp defines at its beginning")
    parser.add_argument("--notes", action="store_true", help="print notes on indices that nothing keeps in bounds")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    try:
        reader = Reader(arguments.folders, arguments.root)
        main_source = reader.read(arguments.input)
        sources = list(reader.sources.values())
        notes = unguarded_indices(sources) if arguments.notes else []
        rewrite_all(sources, arguments.arch, arguments.saturate)
        main_source.rewritten = True
        write_all(sources, main_source, arguments.output, arguments.define)
        if arguments.depfile:
            write(arguments.depfile, dependencies(arguments.output, sources))
        print(*notes, sep="\n", end="\n" * bool(notes), file=sys.stderr)
    except RewriteError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
