"""The command line: help, names that do not exist, and what is refused before anything is built."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from in_folder import InFolder, run_cli

from workbook import cli
from workbook.core import build
from workbook.core import course as paths
from workbook.core.console import Terminated, ending, terminated_as_interrupted
from workbook.core.course import ROOT, labs
from workbook.verbs import completion, doctor

LAB = labs()[0]


def run(*words: str, folder: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with no terminal."""
    return subprocess.run(
        [sys.executable, "-m", "workbook", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "common"), **variables},
    )


class Help(InFolder):
    def test_every_verb_has_help(self) -> None:
        for verb in cli.VERBS:
            with self.subTest(verb=verb):
                done = run(verb, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(done.stdout.startswith(f"usage: ./workbook {verb}"))

    def test_alone_it_lists_the_verbs_and_the_verdicts(self) -> None:
        done = run()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for words in (*(f"  {verb}" for verb in cli.VERBS if verb != "starters"), f"labs/{LAB}", "  01 "):
            self.assertIn(words, done.stdout)
        self.assertNotIn("\033", done.stdout)
        if "builds set up: cpu" in done.stdout:
            self.assertIn("the cpu build runs the tests; the check build finds", done.stdout)
        self.assertTrue(all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout)

    def test_an_unknown_verb_lists_the_verbs(self) -> None:
        done = run("sort")
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: unknown command 'sort'\nchoose one of: demo, test, check,", done.stderr)

    def test_a_mistyped_verb_is_recognized(self) -> None:
        for word, meant in (
            ("chek", "check"),
            ("profil", "profile"),
            (LAB, f"./workbook check {LAB}"),
            (f"labs/{LAB}/01_global.cu", f"./workbook check labs/{LAB}/01_global.cu"),
        ):
            done = run(word)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"error: unknown command '{word}'; did you mean {meant}?\n", done.stderr)

    def test_a_wrong_option_shows_the_usage_of_its_verb(self) -> None:
        for words, error, usage in (
            (["run", LAB, "1", "--solutions"], "unknown option --solutions; did you mean --solution?", "run [-h]"),
            (["bench", LAB, "--stepp=1"], "unknown option --stepp; did you mean --step?", "bench [-h]"),
            (["check", LAB, "1", "2"], "unexpected argument: 2", "check [-h]"),
            (["check"], "the following arguments are required: LAB", "check [-h]"),
            (["run", LAB, "1", "--build", "gpu"], "argument --build: invalid choice: 'gpu'", "run [-h]"),
        ):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(f"error: {error}", done.stderr)
            self.assertIn(f"\nusage: ./workbook {usage}", done.stderr)

    def test_a_compiler_that_is_not_there_is_named_as_the_cause(self) -> None:
        cause = (
            "the variable CXX names the C++ compiler no-such-compiler, which was not found: install it, or unset CXX"
        )
        source = Path(self.folder, "a.cu")
        source.write_text("int main() {}\n")
        for words in (["check", LAB], ["run", LAB, "1"], ["bench", LAB], ["demo"], ["test"], ["cc", str(source)]):
            done = run(*words, folder=self.folder, CXX="no-such-compiler -O1")
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertEqual(done.stderr.splitlines()[-1], f"error: {cause}")
        done = run("doctor", CXX="no-such-compiler")
        self.assertEqual(done.returncode, 1)
        self.assertIn(cause, done.stdout.splitlines()[-1])


class Doctor(InFolder):
    """How it ends."""

    def ending(self, **found: str) -> tuple[int, str]:
        """The exit status and what follows the list, where these things have these states."""
        state = self.folder / ".workbook"
        findings = [doctor.Item(state, name, "", f"install {name}") for name, state in found.items()]
        with (
            mock.patch.object(doctor, "findings", lambda: findings),
            mock.patch.object(doctor, "STATE", state),
            mock.patch.object(build, "SETUP_LOG", state / "setup.log"),
            mock.patch.object(build, "kinds", lambda: ["cpu"] if (state / "ready").exists() else []),
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            return doctor.main(argparse.Namespace()), printed.getvalue().partition("\n\n")[2]

    def test_it_ends_with_what_is_wrong_and_what_to_do(self) -> None:
        state = self.folder / ".workbook"
        state.mkdir()
        needed = "The workbook does not work here yet:\n  g++: install g++\n"
        self.assertEqual(self.ending(**{"g++": doctor.NEEDED, "Ninja": doctor.LACKS}), (1, needed))
        new = "The workbook is not set up yet: it lacks Ninja, which ./workbook demo installs.\n"
        self.assertEqual(self.ending(Ninja=doctor.LACKS), (1, new))
        self.assertEqual(
            self.ending(gdb=doctor.LACKS), (1, "The workbook is not set up yet. Run ./workbook demo to set it up.\n")
        )
        (state / "install.log").write_text("E: no network\n")
        self.assertIn(
            "was not completed. The last lines of .workbook/install.log:\n  E: no", self.ending(gdb=doctor.LACKS)[1]
        )
        (state / "ready").touch()
        self.assertEqual(self.ending(gdb=doctor.LACKS), (0, "The workbook works here.\n"))
        (state / "setup.log").write_text("Message: do this\nno\nmeson.build:1:2: ERROR: could not get fmt\n")
        status, told = self.ending(gdb=doctor.LACKS)
        self.assertEqual(status, 1)
        self.assertIn("\n  meson.build:1:2: ERROR: could not get fmt\n  do this\nFix this, then", told)


class Completion(InFolder):
    """What the shell proposes."""

    def test_candidates(self) -> None:
        step = paths.steps(LAB)[0].name
        for words, some in (
            ([""], {"check", "hint"}),
            (["ch"], {"check"}),
            (["check", ""], {LAB}),
            (["check", "--timeout", ""], {LAB}),
            (["run", LAB, ""], {step}),
            (["check", "04-counting", "h"], {"histogram", "shared"}),
            (["run", LAB, "1", "--"], {"--solution", "--n"}),
            (["report", LAB, "--"], {"--all-questions"}),
        ):
            self.assertLessEqual(some, set(completion.candidates(words)), words)
        for words in (["nonsense", ""], ["hint", LAB, "1", ""], ["cc", ""]):
            self.assertEqual(completion.candidates(words), [])

    @unittest.skipUnless(shutil.which("bash"), "there is no bash")
    def test_the_script_in_bash(self) -> None:
        program = Path(self.folder, "workbook")
        program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT}/common exec {sys.executable} -m workbook "$@"\n')
        program.chmod(0o755)
        lines = f"source <(./workbook completion); COMP_WORDS=(./workbook check {LAB[:2]}); COMP_CWORD=2; _workbook"
        done = subprocess.run(
            ["bash", "-c", lines + '; echo "${COMPREPLY[@]}"'],
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=True,
        )
        self.assertEqual((done.stdout, done.stderr), (f"{LAB}\n", ""))


class Refused(unittest.TestCase):
    def assert_refused(self, words: Sequence[str], *texts: str, status: int = 2) -> None:
        done = run(*words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_unknown_lab_lists_the_labs(self) -> None:
        for words in (
            ["check", "99"],
            ["watch", "99"],
            ["hint", "99", "1"],
            ["run", "99", "1"],
            ["bench", "99"],
            ["picture", "99", "1"],
            ["report", "99"],
        ):
            with self.subTest(words=words):
                self.assert_refused(words, "unknown lab '99'", LAB)

    def test_unknown_step_lists_the_steps(self) -> None:
        for words in (["check", LAB, "77"], ["hint", LAB, "77"], ["run", LAB, "77"], ["bench", LAB, "--step", "77"]):
            with self.subTest(words=words):
                self.assert_refused(words, f"{LAB} has no step '77'", "1 ")

    def test_times_that_are_none(self) -> None:
        for verb in ("check", "watch"):
            for seconds in ("0", "-3", "inf", "nan"):
                with self.subTest(verb=verb, seconds=seconds):
                    self.assert_refused(
                        [verb, LAB, "1", "--timeout", seconds],
                        f"--timeout must be greater than 0, in seconds; it is {seconds}",
                    )

    def test_unreadable_input_files(self) -> None:
        self.assert_refused(["run", LAB, "1", "--input", "file:/nonexistent/x"], "no such file: /nonexistent/x")
        self.assert_refused(["bench", LAB, "--input", "file:/nonexistent/x"], "no such file: /nonexistent/x")
        self.assert_refused(["run", LAB, "1", "--input", "file:/"], "/ is a folder: name a file in it")

    def test_no_place_for_the_rows(self) -> None:
        self.assert_refused(["bench", LAB, "--csv", "/nonexistent/a.csv"], "/nonexistent/a.csv cannot be written")
        self.assert_refused(["bench", LAB, "--csv", "/"], "/ cannot be written")
        self.assert_refused(
            ["bench", LAB, "--csv", "/dev/full"], "/dev/full cannot be written (it is not a regular file)"
        )
        self.assert_refused(["bench", LAB, "--csv", "/proc/x.csv"], "/proc/x.csv cannot be written (")
        self.assert_refused(["report", LAB, "--out", "/dev/null/x"], "/dev/null/x cannot be written")

    def test_sweeps_that_make_no_sense(self) -> None:
        self.assert_refused(["bench", LAB, "--shapes", "64"], "--shapes 64 is not a launch shape")
        self.assert_refused(["bench", LAB, "--shapes", "1x32", "--blocks", "1"], "leave out --blocks and --threads")
        for preset in ("records", "peers"):
            self.assert_refused(["bench", LAB, "--preset", preset, "--brief"], f"--preset {preset} has no short form")
        self.assert_refused(["bench", LAB, "--largest-value", "many"], "many is not a whole number")
        self.assert_refused(["bench", "all", "--step", "1"], "--step works with one lab only")
        self.assert_refused(["report", LAB, "--with", "/nonexistent/x"], "no such file or folder: /nonexistent/x")


class Ended(unittest.TestCase):
    """SIGTERM ends a command as Ctrl-C does: with its programs, and with words."""

    def test_programs_are_ended_too(self) -> None:
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        with self.assertRaises(Terminated), terminated_as_interrupted(), ending(process):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(600)
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_the_exit_status(self) -> None:
        self.assert_ended(Terminated(), 143, "ended by a signal\n")
        self.assert_ended(KeyboardInterrupt(), 130, "interrupted\n")

    def assert_ended(self, stop: BaseException, status: int, words: str) -> None:
        """What a command does that is ended by this exception."""
        with mock.patch.object(cli.module_of("hint"), "main", side_effect=stop):
            self.assertEqual(run_cli("hint", LAB, "1"), (status, words))

    def test_a_foreign_folder_is_named_with_a_way_out(self) -> None:
        for name, place in (
            (str(ROOT / "build/x"), f"{ROOT}/build/x. Copy the workbook to a folder of your own\n"),
            ("/elsewhere/x", "/elsewhere/x\n"),
        ):
            stop = PermissionError(13, "Permission denied", name)
            self.assert_ended(stop, 1, f"error: Permission denied: {place}")


class Compile(InFolder):
    """`cc`, as far as it looks at its arguments."""

    def setUp(self) -> None:
        super().setUp()
        (self.folder / "a.cu").write_text("int main() {}\n")

    def assert_refused(self, words: Sequence[str], text: str) -> None:
        done = run("cc", *words, folder=self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.is_file()], ["a.cu"])

    def test_no_such_file(self) -> None:
        self.assert_refused(["b.cu"], "no such file: b.cu")
        self.assert_refused(["."], "no such file: .")

    def test_the_source_is_not_overwritten(self) -> None:
        self.assert_refused(["a.cu", "-o", "a.cu"], "is the source")
        (self.folder / "link").symlink_to("a.cu")
        done = run("cc", "a.cu", "-o", "link", folder=self.folder)
        self.assertIn("is the source", done.stderr)

    def test_no_such_compiler(self) -> None:
        done = run("cc", "a.cu", "--cxx", "no-such-compiler", folder=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("compiler no-such-compiler was not found", done.stderr)

    def test_no_place_for_the_program(self) -> None:
        (self.folder / "a").mkdir()
        self.assert_refused(["a.cu"], "is a directory")
        self.assert_refused(["a.cu", "-o", "nowhere/a"], "no such directory: nowhere")
