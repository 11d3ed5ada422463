"""The command line: one verb per module of verbs/. Only the module of the verb that runs is imported."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import NoReturn

from .core.console import Problem, Terminated, Usage, error_text, nearest, note, terminated_as_interrupted
from .core.course import ROOT, has_solutions

VERBS = {
    "demo": "sort real input with every step of every lab and verify the results",
    "test": "run the project's whole test suite",
    "check": "build a lab, run its public tests and the check build, and show the first thing to fix",
    "watch": "check again each time a file is saved",
    "hint": "show the next hint for a step",
    "run": "sort one input and verify it",
    "picture": "draw which threads read and write which places in a run of a step",
    "play": "replay a run of a step or a program in the browser, access by access",
    "open": "read the course in the browser, with hints and the verdict on each file as you save it",
    "debug": "step through a kernel on the CPU with gdb, thread by thread",
    "bench": "time a lab's steps against the gold standard",
    "profile": "show what each kernel of a step does to memory: requests, conflicts, sectors",
    "report": "write a lab's report: the command makes tables and plots, you write the text",
    "extract": "write a step and its headers as one self-contained file for nvcc",
    "cc": "compile a CUDA program for the CPU",
    "editor": "write the files that VS Code and GitHub Codespaces need for the workbook",
    "doctor": "show what this machine has and lacks, and what to do about it",
    "completion": "print a script that completes commands, labs, steps and options in bash and zsh",
}
# They need the solutions. A copy of the workbook for students has none of them.
INSTRUCTORS_VERBS = {
    "grade": "grade a folder of submissions in a sandbox, with points from a rubric",
    "starters": "write the files of labs/ that students fill in, from solutions/",
    "release": "write the course for students, without solutions, into a new folder",
    "site": "write the course as static pages into a new folder",
    "gradescope": "make the archive for an autograder on Gradescope",
}
if has_solutions():
    VERBS.update(INSTRUCTORS_VERBS)


def module_of(verb: str) -> ModuleType:
    """The module of a verb."""
    return importlib.import_module(f".verbs.{verb}", __package__)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """ "; did you mean --blocks?" or "" """
    near = nearest(word, known)
    return f"; did you mean {near}?" if near else ""


class Parser(argparse.ArgumentParser):
    """A parser whose errors end with the usage of the verb that was meant."""

    def error(self, message: str) -> NoReturn:
        """Raises Usage. argparse calls this for a wrong argument."""
        raise Usage(f"{message}\n{self.format_usage().rstrip()}\n({self.prog} --help explains it)")

    def options(self) -> list[str]:
        """The names of all options."""
        return [option for action in self._actions for option in action.option_strings]

    def refuse(self, words: Sequence[str]) -> NoReturn:
        """Raises Usage if there are arguments that the verb does not have."""
        word = words[0].split("=")[0]
        if word.startswith("-"):
            self.error(f"unknown option {word}{did_you_mean(word, self.options())}")
        self.error(f"unexpected argument: {words[0]}")


def parser(chosen: str = "") -> Parser:
    """The command line, with the options of the command `chosen` only."""
    top = Parser(prog="./workbook", description="A laboratory workbook on sorting with CUDA C++.")
    verbs = top.add_subparsers(dest="verb", metavar="COMMAND")
    for name, what in VERBS.items():
        verb = verbs.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
        if name == chosen:
            module_of(name).add_arguments(verb)
            top.set_defaults(parser=verb)
    return top


def _run(words: Sequence[str]) -> int:
    chosen = next((word for word in words if not word.startswith("-")), "")
    top = parser(chosen)
    if chosen and chosen not in VERBS:
        # A path or a lab where a command should be.
        lab = re.fullmatch(r"(.*/)?\d\d?(-[a-z-]+)?(/.*)?", chosen)
        hint = f"; did you mean ./workbook check {chosen}?" if lab else did_you_mean(chosen, VERBS)
        raise Usage(f"unknown command '{chosen}'{hint}\nchoose one of: {', '.join(VERBS)}")
    order_words = getattr(module_of(chosen), "order_words", None) if chosen in VERBS else None
    if order_words is not None:
        after = words.index(chosen) + 1
        words = [*words[:after], *order_words(words[after:])]
    arguments, rest = top.parse_known_args(words)
    if rest:
        getattr(arguments, "parser", top).refuse(rest)
    return int(module_of(arguments.verb or "status").main(arguments))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Returns the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    # A matplotlib in .venv finds the 3D axes of the distribution's, which no plot has.
    warnings.filterwarnings("ignore", "Unable to import Axes3D")
    try:
        with terminated_as_interrupted():
            return _run(words)
    except Problem as problem:
        sys.stdout.flush()
        print(error_text(problem, sys.stderr), file=sys.stderr)
        return problem.status
    except KeyboardInterrupt as stop:
        ended = isinstance(stop, Terminated)
        note("ended by a signal" if ended else "interrupted")
        return 143 if ended else 130
    except BrokenPipeError:
        # The reader of our output has ended. Python must not report that again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        text = f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) and str(error.filename).startswith(str(ROOT)):
            text += ". Copy the workbook to a folder of your own"
        print(error_text(text, sys.stderr), file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
