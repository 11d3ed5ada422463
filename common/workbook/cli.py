"""The command line: one verb a module."""

import argparse
import os
import sys

from .verbs import (
    bench,
    cc,
    check,
    demo,
    doctor,
    hint as hints,
    picture,
    profile,
    report,
    run,
    starters,
    status,
    test as suite,
    watch,
)
from .core.course import ROOT
from .core.terminal import Problem, Terminated, note, paint, terminated_as_interrupted

_MODULES = {
    "demo": (demo, "sort real input with every step of every lab, verified"),
    "test": (suite, "run the project's whole test suite"),
    "check": (check, "build a lab, run its public tests and the check build, show the first thing to mend"),
    "watch": (watch, "check at every save"),
    "hint": (hints, "the next hint on a step"),
    "run": (run, "sort one input and verify it"),
    "picture": (picture, "draw who reads and writes what in a run of a step"),
    "bench": (bench, "time a lab's steps against the gold standard"),
    "profile": (profile, "what each kernel of a step does to memory: requests, conflicts, sectors"),
    "report": (report, "write a lab's report: tables and plots made, the words yours"),
    "cc": (cc, "compile a single-file CUDA program for the CPU"),
    "doctor": (doctor, "what this machine has and lacks, and what to do about it"),
    "starters": (starters, "write the files of labs/ that students fill in, from solutions/"),
}


def parser():
    """The whole command line."""
    top = argparse.ArgumentParser(prog="./workbook", description="A laboratory workbook on sorting with CUDA C++.")
    verbs = top.add_subparsers(dest="verb", metavar="VERB")
    for name, (module, what) in _MODULES.items():
        verb = verbs.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
        module.add_arguments(verb)
        verb.set_defaults(main=module.main)
    top.set_defaults(main=status.main)
    return top


def main(arguments=None):
    """Runs one verb; gives the exit status."""
    parsed = parser().parse_args(arguments)
    try:
        with terminated_as_interrupted():
            return parsed.main(parsed)
    except Problem as problem:
        sys.stdout.flush()
        note(f"{paint('error:', 'red', sys.stderr)} {problem}")
        return problem.status
    except KeyboardInterrupt as stop:
        ended = isinstance(stop, Terminated)
        note("ended by a signal" if ended else "interrupted")
        return 143 if ended else 130
    except BrokenPipeError:
        # Whoever read our output has gone; Python must not complain about it once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        foreign = isinstance(error, PermissionError) and str(error.filename).startswith(str(ROOT))
        note(
            f"{paint('error:', 'red', sys.stderr)} {error.strerror or error}: {error.filename or ''}".rstrip(": ")
            + ". Copy the workbook to a folder of your own" * foreign
        )
        return 1


if __name__ == "__main__":
    sys.exit(main())
