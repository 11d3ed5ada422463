"""The build folder: when it is used, when it is set up again, and what survives that; and the suite's count."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from in_folder import InFolder

from workbook.core import build, console, machine
from workbook.core.console import Problem, Usage
from workbook.core.course import ROOT
from workbook.verbs import test as suite

FILES = {
    "build.ninja": "x",
    "meson-private/coredata.dat": "x",
    "meson-private/build.dat": "x",
    "meson-info/intro-targets.json": '[{"name": "gold-cpu"}]',
    "meson-info/meson-info.json": json.dumps({"directories": {"source": str(ROOT)}}),
}


class Folder(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.build = self.folder / "build"
        for name, value in (("BUILD", self.build), ("_FACTS", self.build / "workbook-setup.json")):
            self.replace(build, name, value)

    def fill(self, **changes: str) -> None:
        for name, text in {**FILES, **changes}.items():
            path = self.build / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def test_none_yet(self) -> None:
        self.assertEqual(build._why_unusable(), "")
        (self.build / "bench").mkdir(parents=True)
        self.assertEqual(build._why_unusable(), "")  # results alone are no set-up

    def test_whole(self) -> None:
        self.fill()
        self.assertIsNone(build._why_unusable())  # also without our own file: somebody's own meson setup
        self.assertEqual(build.kinds(), ["cpu"])

    def test_interrupted(self) -> None:
        for name in FILES:
            with self.subTest(missing=name):
                self.fill()
                (self.build / name).unlink()
                self.assertEqual(build._why_unusable(), "its set-up was interrupted")
        self.fill()
        (self.build / "build.ninja").write_text("")
        self.assertEqual(build._why_unusable(), "its set-up was interrupted")

    def test_of_another_workbook(self) -> None:
        self.fill(**{"meson-info/meson-info.json": '{"directories": {"source": "/elsewhere"}}'})
        self.assertIn("/elsewhere", build._why_unusable() or "")

    def test_of_another_compiler(self) -> None:
        self.fill()
        (self.build / "workbook-setup.json").write_text(json.dumps({**build._facts(), "compiler": "/old/g++"}))
        self.assertIn("compilers", build._why_unusable() or "")
        (self.build / "workbook-setup.json").write_text(json.dumps(build._facts()))
        self.assertIsNone(build._why_unusable())

    def test_results_outlive_a_fresh_set_up(self) -> None:
        self.fill(**{"bench/a.csv": "x", "demo/demo.csv": "x", "labs/a.o": "x"})
        build._wipe()
        self.assertEqual(sorted(path.name for path in self.build.iterdir()), ["bench", "demo"])

    def set_up(self, nvcc: bool, **statuses: int) -> tuple[list[tuple[str, ...]], str]:
        """_set_up with Meson's exit status by whether cuda is allowed: the options of each try, and what is printed."""
        tried: list[tuple[str, ...]] = []

        def meson(*options: str) -> tuple[int, str]:
            tried.append(options)
            status = statuses["cpu_alone"] if options else statuses["all"]
            if status == 0:
                self.fill()
            return status, "" if status == 0 else "meson.build:1:0: ERROR: no way\n"

        found = {"nvcc": "/fake/nvcc"} if nvcc else {}
        with (
            mock.patch.object(build, "_run_meson", meson),
            mock.patch.object(machine, "compiler", lambda: ["c++"]),
            mock.patch.object(shutil, "which", lambda name: found.get(name)),
            mock.patch.object(build, "ROOT", self.build.parent),
            mock.patch.object(build, "SETUP_LOG", self.build.parent / "setup.log"),
            contextlib.redirect_stderr(io.StringIO()) as printed,
        ):
            build._set_up()
        return tried, printed.getvalue()

    def test_a_broken_cuda_leaves_the_cpu_build(self) -> None:
        tried, printed = self.set_up(True, all=1, cpu_alone=0)
        self.assertEqual(tried, [(), ("-Dcuda=disabled",)])
        self.assertIn("does not work: only the cpu build is set up", printed)
        self.assertTrue((self.build / "workbook-setup.json").is_file())

    def test_a_failed_set_up_leaves_nothing_and_says_why(self) -> None:
        with self.assertRaises(Problem) as caught:
            self.set_up(False, all=1, cpu_alone=1)
        self.assertIn("ERROR: no way", str(caught.exception))
        self.assertEqual(build._why_unusable(), "")

    def test_ninja_is_run_again_after_damage_but_not_after_errors(self) -> None:
        for output, times in (
            ("ninja: error: loading 'build.ninja': No such file or directory\n", 2),
            ("../labs/a/01_b.cu:1:1: error: coredata is not declared\n", 1),
        ):
            runs: list[Sequence[str]] = []
            setups: list[int] = []

            def ninja(
                names: Sequence[str],
                _progress: object,
                _begun: object = None,
                runs: list[Sequence[str]] = runs,
                output: str = output,
            ) -> tuple[int, str]:
                runs.append(names)
                return (1, output) if len(runs) == 1 else (0, "")

            with (
                mock.patch.object(build, "ensure"),
                mock.patch.object(build, "_run_ninja", ninja),
                mock.patch.object(build, "_set_up", lambda setups=setups: setups.append(1)),
                contextlib.redirect_stderr(io.StringIO()),
                contextlib.suppress(build.CompileFailed),
            ):
                build.compile_targets([build.judge()])
            self.assertEqual((len(runs), len(setups)), (times, times - 1))
            self.assertEqual(runs[0], [os.path.relpath(build.judge(), self.build)])

    def test_what_may_begin_when_a_program_is_there(self) -> None:
        """It begins while others are compiled, unless more than one step has changed."""
        first = build.runner("02-merge", "cpu-first")
        made = ["02-merge-cpu-first", "02-merge-check-first"]
        for edges, expected in ((6, [made[0], "begun", made[1]]), (7, made)):
            events: list[str] = []

            def begin(events: list[str] = events) -> None:
                events.append("begun")

            lines = [
                f"[3/{edges}] Linking target labs/02-merge-cpu-first\n",
                f"[4/{edges}] Linking target labs/02-merge-check-first\n",
            ]

            def tool(_: object, on_line: Callable[[str], None], lines: list[str] = lines) -> tuple[int, str]:
                for line in lines:
                    on_line(line)
                return 0, "".join(lines)

            with (
                mock.patch.object(build, "ensure"),
                mock.patch.object(build, "run_tool", tool),
                mock.patch.object(console.Progress, "update", lambda *update, events=events: events.append(update[1])),
            ):
                build.compile_targets([first], begun=(first, begin))
            self.assertEqual(events, expected)

    def test_a_build_that_was_interrupted(self) -> None:
        """It says nothing about the sources."""
        for status, output in ((-15, "[1/9] Compiling a.cu\n"), (2, "ninja: build stopped: interrupted by user.\n")):
            with (
                mock.patch.object(build, "ensure"),
                mock.patch.object(build, "_run_ninja", lambda *_, result=(status, output): result),
                self.assertRaisesRegex(Problem, "interrupted before it had finished: run the command again"),
            ):
                build.compile_targets([build.judge()])

    def test_a_file_that_was_deleted_is_named(self) -> None:
        for output in (
            "ninja: error: '../labs/03-bitonic/02_shared.cu', needed by 'labs/a.cpp', missing and no known rule\n",
            "../labs/meson.build:9:4: ERROR: File labs/03-bitonic/02_shared.cu does not exist.\n",
        ):
            with (
                mock.patch.object(build, "ensure"),
                mock.patch.object(build, "_run_ninja", lambda *_, output=output: (1, output)),
                self.assertRaisesRegex(Problem, "^labs/03-bitonic/02_shared.cu is missing: "),
            ):
                build.compile_targets([build.judge()])


class Suite(InFolder):
    LOG = "\n".join(
        json.dumps({"name": "x", "result": result})
        for result in ("OK", "EXPECTEDFAIL", "SKIP", "FAIL", "TIMEOUT", "ERROR", "UNEXPECTEDPASS")
    )

    def test_counts(self) -> None:
        self.assertEqual(suite.counts(self.LOG + "\n"), (2, 4, 1))
        self.assertEqual(suite.counts(""), (0, 0, 0))

    def test_shares_caught(self) -> None:
        outputs = ("fine\ncaught: 5 of 5 attacks (g++)\ncaught it\n", "", "caught: 3 of 4 mistakes")
        log = "\n".join(json.dumps({"result": "OK", "stdout": output}) for output in outputs)
        self.assertEqual(suite.caught(log), ["caught: 5 of 5 attacks (g++)", "caught: 3 of 4 mistakes"])

    def test_what_is_not_run_is_named_with_its_reason(self) -> None:
        tests = (
            {"name": "a", "result": "OK", "stdout": "not run: one: no gdb\nnot run: two: no GPU\n", "stderr": "OK\n"},
            {"name": "b", "result": "SKIP", "stdout": "Looked.\nThere is no gdb.\n"},
            {"name": "c", "result": "SKIP"},
            {"name": "d", "result": "OK", "stdout": "fine\n"},
        )
        self.assertEqual(
            suite.not_run("\n".join(map(json.dumps, tests))),
            [
                "not run: a: one: no gdb",
                "not run: a: two: no GPU",
                "not run: b: There is no gdb.",
                "not run: c: it does not say why",
            ],
        )

    def test_an_unknown_suite_is_refused_before_anything_is_built(self) -> None:
        info = self.folder / "intro-tests.json"
        info.write_text('[{"suite": ["sorting:one"]}, {"suite": ["sorting:two", "sorting:one"]}]')
        suite.check_suites(["one", "sorting:two"], info)
        with self.assertRaisesRegex(Usage, "^unknown suite 'three'; choose one of: one, two$"):
            suite.check_suites(["one", "three"], info)
        suite.check_suites(["three"], info.with_name("none.json"))

    def run_suite(self, log: str | None, status: int, kinds: tuple[str, ...] = ("cpu",)) -> tuple[int, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "meson-logs/testlog.json"
            path.parent.mkdir()
            path.write_text('{"result": "OK"}\n')  # of an earlier run: must not count

            def start(*_: object, **__: object) -> SimpleNamespace:
                if log is not None:
                    path.write_text(log)
                return SimpleNamespace(stdout=iter(["1/1 x  OK  0.01s\n"]), poll=lambda: status, wait=lambda: status)

            with (
                mock.patch.object(suite, "BUILD", Path(folder)),
                mock.patch.object(build, "ensure"),
                mock.patch.object(build, "compile_targets"),
                mock.patch.object(build, "meson", lambda: ["meson"]),
                mock.patch.object(build, "kinds", lambda: list(kinds)),
                mock.patch.object(machine, "gpus", lambda: ()),
                mock.patch.object(subprocess, "Popen", start),
                contextlib.redirect_stderr(io.StringIO()),
                contextlib.redirect_stdout(io.StringIO()) as printed,
            ):
                return suite.main(argparse.Namespace(suite=None)), printed.getvalue().splitlines()

    def test_the_last_line_counts_and_the_exit_status_is_honest(self) -> None:
        status, lines = self.run_suite('{"result": "OK"}\n{"name": "x", "result": "SKIP"}\n', 0)
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        status, lines = self.run_suite('{"result": "OK"}\n{"result": "FAIL"}\n', 1)
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_no_tests_are_no_success(self) -> None:
        self.assertEqual(self.run_suite("", 0)[0], 1)
        with self.assertRaises(Problem):
            self.run_suite(None, 0)

    def test_a_failure_that_the_log_does_not_show_is_one(self) -> None:
        self.assertEqual(self.run_suite('{"result": "OK"}\n', 1)[0], 1)

    def test_without_a_gpu_cuda_is_not_passed(self) -> None:
        _, lines = self.run_suite('{"result": "OK"}\n', 0, ("cpu", "cuda"))
        self.assertIn("cuda: compiled, not run", lines[-2])
