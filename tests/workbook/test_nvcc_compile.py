"""What `check` reports about nvcc, which compiles a step while its tests run."""

from __future__ import annotations

import contextlib
import io
import json
import unittest
from unittest import mock

from in_folder import InFolder
from test_check import STEPS, Script

from workbook.core import build, checking, machine, narrowing, nvcc_compile, progress
from workbook.core.judge_client import JudgeClient

STEP = STEPS[2]
OBJECT = "labs/04-counting-cuda.p/.._02_shared.cu.o"
ERROR = 'labs/04-counting/02_shared.cu(61): error: calling a __host__ function("std::swap<int>") is not allowed'


class NvccCompiles(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.replace(build, "folder", lambda: self.folder)
        self.replace(machine, "ninja", lambda: str(self.folder / "ninja"))

    def nvcc(self, script: str, target: str = OBJECT) -> None:
        """A Ninja that does this, in a build folder that has this object."""
        ninja = self.folder / "ninja"
        ninja.write_text(f'#!/bin/sh\necho "$@" > "{self.folder}/asked"\n{script}\n')
        ninja.chmod(0o755)
        entries = [{"file": f"/anywhere/labs/{STEP.file}", "output": target, "command": "nvcc"}]
        (self.folder / "compile_commands.json").write_text(json.dumps(entries))

    def check(self, kinds: tuple[str, ...] = ("cpu",)) -> tuple[bool, str]:
        """Whether a correct step passes, and what is printed."""
        script: JudgeClient = Script(lambda _kind, _case: {})  # type: ignore[assignment]
        out = io.StringIO()
        with mock.patch.object(narrowing, "Scan"), mock.patch.object(progress.ProgressFile, "save_verdict") as save:
            checker = checking.Checker(script, "04-counting", kinds)
            with mock.patch.object(checker, "observed", False), contextlib.redirect_stdout(out):
                passed = checker.passes(STEP)
        self.saved = [call.args[1:] for call in save.call_args_list]
        return passed, out.getvalue()

    def test_the_object_of_the_step_alone_is_made(self) -> None:
        self.nvcc("exit 0")
        passed, text = self.check()
        self.assertTrue(passed)
        self.assertRegex(text, r"02 shared: compiled by nvcc(, \d+\.\d s after the tests had ended)?\n")
        self.assertEqual((self.folder / "asked").read_text().split()[-1], OBJECT)
        self.assertIn(("nvcc", "passed"), self.saved)

    def test_passed_waits_for_nvcc(self) -> None:
        self.nvcc("sleep 1")
        compiler = nvcc_compile.NvccCompile(STEP)
        self.assertEqual(compiler.errors(), "")
        self.assertGreater(compiler.waited, 0.5)
        compiler.cancel()

    def test_an_error_is_shown_and_the_step_fails(self) -> None:
        self.nvcc(f"echo 'FAILED: {OBJECT}'\necho nvcc -c x.cu\necho '{ERROR}'\nexit 1")
        passed, text = self.check()
        self.assertFalse(passed)
        self.assertIn("02 shared passes on the CPU, but nvcc does not compile it", text)
        self.assertEqual(text.split("\n\n")[1].splitlines()[0], ERROR)
        self.assertNotIn("nvcc -c", text)
        self.assertIn(("nvcc", "failed"), self.saved)

    def test_nothing_is_compiled_without_nvcc_or_where_a_gpu_runs_the_tests(self) -> None:
        self.nvcc("exit 1", target="labs/04-counting-cpu.p/02_shared.cu.cpp.o")
        for kinds in (("cpu",), ("cpu", "cuda")):
            passed, text = self.check(kinds)
            self.assertTrue(passed)
            self.assertNotIn("nvcc", text)
            self.nvcc("exit 1")  # a GPU: the tests have been compiled by nvcc
        self.assertFalse((self.folder / "asked").exists())


if __name__ == "__main__":
    unittest.main()
