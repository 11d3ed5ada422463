"""What `check` finds beyond its tests: the check build's verdict and budgets, nvcc's errors, narrow positions."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import fake_judge
from in_folder import InFolder
from test_check import STEPS, Script, checker_of
from test_judge_client import FAKE, FakeJudge

from workbook.check import narrowing, suspects
from workbook.check.words import failure_lines
from workbook.core import (
    build,
    check_build,
    files,
    machine,
    nvcc_compile,
    profiles,
    progress,
)
from workbook.core.check_build import Effort
from workbook.core.console import Problem
from workbook.core.course import ROOT, StepFile, labs, steps
from workbook.core.judge_client import JudgeClient
from workbook.core.judge_types import Case, Lab, Outcome, from_json

LAUNCH = {
    "kernel": "k",
    "grid": [4, 1, 1],
    "block": [64, 1, 1],
    "barriers": 4 * 2 * 3,
    "span": 16,
    "shared_ld_requests": 8,
    "global_atomic_requests": 24,
    "shared_ld_wavefronts": 30,
    "shared_st_wavefronts": 10,
    "shared_ld_ideal_wavefronts": 10,
    "shared_st_ideal_wavefronts": 10,
    "global_ld_sectors": 64,
    "global_st_sectors": 64,
    "global_ld_ideal_sectors": 32,
    "global_st_ideal_sectors": 32,
    "global_ld_bytes": 1000,
    "global_st_bytes": 280,
}


class CheckBuild(FakeJudge):
    """The check build's outcomes become a verdict: findings, costs, budgets."""

    def verdict(self, budget: dict[str, float] | None = None, **answer: Any) -> check_build.Observation:
        """The verdict on a step with this budget, whose outcomes have these members."""
        self.client({"notes": [fake_judge.CONFLICT], "launches": [LAUNCH], **answer})
        step = {**fake_judge.STEP, "number": 2, "budget": budget}
        lab = from_json(Lab, {**fake_judge.LAB, "steps": [step]})
        with (
            mock.patch.object(JudgeClient, "lab", lambda *_: lab),
            mock.patch.object(check_build, "counts_exactly", lambda: True),
        ):
            return check_build.check_step("03-bitonic", 2, Path("runner"), judges=check_build.Judges(FAKE))

    def test_costs(self) -> None:
        costs = profiles.costs([LAUNCH, LAUNCH], 256)
        expected = {"conflicts": 2.0, "sectors": 2.0, "bytes": 32.0, "used": 10.0, "barriers": 3.0}
        self.assertEqual(costs, {**expected, "span": 125.0, "work": 250.0})

    def test_copies_within_the_device_are_bytes_moved(self) -> None:
        self.assertEqual(profiles.costs([LAUNCH], 256, 2560)["bytes"], 26.0)
        self.assertEqual(profiles.costs([LAUNCH], 256, 2560)["used"], 15.0)
        verdict = self.verdict({"n": 1000, "bytes": 5000.0}, copied_bytes=1000)
        self.assertEqual(verdict.costs[0].values["bytes"], (5096.0, 5000.0))
        self.assertIn("cudaMemcpy or cudaMemcpyAsync moves 1e+03 of these bytes per key", verdict.over[-1])

    def test_within_the_budget(self) -> None:
        # The fake judge's budget cases have 1 and 1000 keys.
        verdict = self.verdict({"n": 1000, "conflicts": 2.0, "sectors": 2.0, "bytes": 4096.0, "barriers": 3.0})
        self.assertTrue(verdict.passed, verdict)
        self.assertEqual(verdict.costs[0].values["bytes"], (4096.0, 4096.0))
        self.assertIn("conflicts 2.00 (at most 2)", str(verdict.costs[0]))
        self.assertIn("bytes moved 4096.00 (at most 4096)", str(verdict.costs[0]))

    def test_over_the_budget_names_where(self) -> None:
        verdict = self.verdict({"n": 1000, "conflicts": 1.9, "sectors": 0.0, "bytes": 0.0, "barriers": 0.0})
        self.assertEqual((verdict.passed, verdict.word), (False, "over budget"))
        self.assertIn("over budget: global, 2.00 wavefronts", verdict.over[0])
        self.assertTrue(verdict.over[0].endswith("; the budget allows 1.9"), verdict.over[0])
        self.assertTrue(verdict.over[1].startswith("a.cu:7: note: bank-conflict"))

    def test_work_that_one_thread_does(self) -> None:
        # The fake judge's budget cases have 1 and 1000 keys.
        self.assertIsNone(self.verdict({"n": 1000, "span": 16000.0}).serial)
        verdict = self.verdict({"n": 1000, "span": 15000.0})
        assert verdict.serial
        self.assertEqual({"span": (16000.0, 15000.0)}, verdict.serial.values)
        self.assertIn("over budget: global, 16000.00 requests on the critical path for 1,000 keys", verdict.over[0])
        self.assertRegex(verdict.over[1], r"^  \w+: 16000.00 in 1 launch with \d+ blocks? of \d+ threads$")
        self.assertFalse(verdict.passed)

    def test_work_that_one_thread_does_except_with_the_budgets_keys(self) -> None:
        run = JudgeClient.run

        def elsewhere(judge: JudgeClient, runner: Path, case: Case, **options: Any) -> Outcome:
            outcome = run(judge, runner, case, **options)
            return replace(outcome, launches=({**LAUNCH, "span": 20 * case.n},)) if case.n == 2000 else outcome

        with (
            mock.patch.object(JudgeClient, "run", elsewhere),
            mock.patch("workbook.core.check_build.random.Random", lambda _: mock.Mock(randint=lambda _, most: most)),
        ):
            self.assertTrue(self.verdict({"n": 1000, "span": 20000.0}).passed)
            verdict = self.verdict({"n": 1000, "span": 19000.0})
        assert verdict.serial
        self.assertEqual("global with 2,000 keys", verdict.serial.name)
        self.assertIn("global with 2,000 keys, 20000.00 requests on the critical path", verdict.over[0])

    def test_how_the_keys_were_sorted(self) -> None:
        verdict = self.verdict({"n": 1000, "span": 16000.0}, bytes_to_host=500)
        self.assertEqual([Effort("global", 256, 2.0, 500.0), Effort("global", 256, 2.0, 0.5)], verdict.efforts)

    def test_the_kernel_that_costs_most_is_named_first(self) -> None:
        once = {**LAUNCH, "kernel": "once", "grid": [4, 1, 1]}
        launches = [once, *({**LAUNCH, "kernel": "often", "grid": [grid, 2, 1]} for grid in (1, 3))]
        self.assertEqual(
            ["  often: 125.00 in 2 launches with 2 to 6 blocks of 64 threads",
             "  once: 62.50 in 1 launch with 4 blocks of 64 threads"],
            check_build._by_kernel(launches, 256, "span"),
        )  # fmt: skip

    def test_work_that_kernels_leave_to_the_host(self) -> None:
        self.assertEqual("", self.verdict({"n": 1000, "work": 16.0}).idle)
        verdict = self.verdict({"n": 1000, "work": 33.0})
        self.assertRegex(
            verdict.idle,
            r"too little work: global, its kernels make \d\d requests for 1,000 keys; at least 33 are needed: "
            "the kernels must do the work, not the host",
        )
        self.assertEqual([verdict.idle], verdict.over)

    def test_a_finding_fails_a_case_that_came_out_right(self) -> None:
        verdict = self.verdict({"n": 256, "conflicts": 9.0}, findings=[fake_judge.RACE])
        assert verdict.failed
        self.assertEqual(
            failure_lines(verdict.failed)[:2],
            ["a.cu:9: error: race: kernel k (3 times)", "  the check build's result was correct, by luck"],
        )
        self.assertEqual((verdict.passed, verdict.word), (False, "failed"))

    def test_wrong_without_a_finding(self) -> None:
        verdict = self.verdict(status="wrong", passed=False, message="wrong key", replay="SIMT_SEED=0 ./workbook run x")
        assert verdict.failed
        lines = failure_lines(verdict.failed, " --build check")
        self.assertIn("wrong key", lines[0])
        self.assertEqual(lines[-1], "  again: SIMT_SEED=0 ./workbook run x --build check")

    def test_a_refusal_that_the_case_allows_is_no_failure(self) -> None:
        self.assertTrue(self.verdict(status="unsupported", passed=True, message="no such shape").passed)

    def test_requests_that_the_judge_refuses(self) -> None:
        self.client("usage")
        with self.assertRaises(Problem):
            check_build.check_step("03-bitonic", 2, Path("runner"), judges=check_build.Judges(FAKE))

    def test_the_limits_of_kernels_reach_the_runner(self) -> None:
        self.verdict()
        runs = [request for request in self.requests() if request["ask"] == "run"]
        self.assertTrue(runs)
        self.assertEqual({json.dumps(request["environment"]) for request in runs}, {'{"SIMT_SECONDS": "6"}'})


STEP = STEPS[2]
OBJECT = "labs/04-counting-cuda.p/.._02_shared.cu.o"
ERROR = 'labs/04-counting/02_shared.cu(61): error: calling a __host__ function("std::swap<int>") is not allowed'


class NvccCompiles(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.replace(build, "folder", lambda: self.folder)
        self.replace(machine, "ninja", lambda: str(self.folder / "ninja"))
        self.replace(build, "targets", set)

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
            checker = checker_of(script, kinds)
            with mock.patch.object(checker.programs, "is_observed", False), contextlib.redirect_stdout(out):
                passed = checker.passes(STEP)
        self.saved = [call.args[1:] for call in save.call_args_list]
        return passed, out.getvalue()

    def test_the_object_of_the_step_alone_is_made(self) -> None:
        self.nvcc("exit 0")
        passed, text = self.check()
        self.assertTrue(passed)
        self.assertRegex(text, r"02 shared: nvcc compiles it, too(, \d+\.\d s after the last test)?\n")
        self.assertEqual((self.folder / "asked").read_text().split()[-1], OBJECT)
        self.assertIn(("nvcc", "passed", None), self.saved)

    def test_where_no_gpu_can_be_only_what_shows_errors_is_made(self) -> None:
        self.nvcc("exit 0")
        self.replace(build, "targets", lambda: {"04-counting-02_shared-nvcc"})
        self.assertTrue(self.check()[0])
        self.assertEqual((self.folder / "asked").read_text().split()[-1], "labs/04-counting-02_shared-nvcc.ii")

    def test_another_ninja_can_work_in_the_folder_at_the_same_time(self) -> None:
        self.nvcc('test -f "$2/$4" && test "$(nice)" = "$(cat "$2/expected")"')
        (self.folder / "expected").write_text(f"{min(19, os.nice(0) + 2)}\n")
        compiler = nvcc_compile.NvccCompile(STEP)
        self.assertEqual(compiler.errors(), "")
        asked = (self.folder / "asked").read_text().split()
        self.assertEqual(asked, ["-C", str(self.folder), "-f", "nvcc.ninja", OBJECT])
        self.assertEqual((self.folder / "nvcc.ninja").read_text(), "builddir = nvcc\ninclude build.ninja\n")
        compiler.cancel()

    def test_another_check_that_holds_nvcc_is_waited_for_at_the_end(self) -> None:
        self.nvcc("exit 0")
        with files.locked("nvcc"):
            compiler = nvcc_compile.NvccCompile(STEP)
            self.assertTrue(compiler.is_possible)
            self.assertFalse((self.folder / "asked").exists())
        self.assertEqual(compiler.errors(), "")
        self.assertTrue((self.folder / "asked").exists())
        compiler.cancel()

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
        self.assertIn(("nvcc", "failed", None), self.saved)

    def test_nothing_is_compiled_without_nvcc_or_where_a_gpu_runs_the_tests(self) -> None:
        self.nvcc("exit 1", target="labs/04-counting-cpu.p/02_shared.cu.cpp.o")
        for kinds in (("cpu",), ("cpu", "cuda")):
            passed, text = self.check(kinds)
            self.assertTrue(passed)
            self.assertNotIn("nvcc", text)
            self.nvcc("exit 1")  # a GPU: the tests have been compiled by nvcc
        self.assertFalse((self.folder / "asked").exists())


FILE = "labs/04-counting/02_shared.cu"
GCC = f"""\
{FILE}:61:20: warning: conversion from ‘std::int64_t’ {{aka ‘long int’}} to ‘int’ may change value [-Wconversion]
{FILE}:61:20: warning: conversion from ‘long int’ to ‘int’ may change value [-Wconversion]
../labs/04-counting/02_shared.cu:64:9: warning: conversion from 'const uint64_t' {{aka 'const long unsigned int'}} to \
'unsigned int' may change value [-Wconversion]
{FILE}:70:9: warning: conversion from ‘int’ to ‘uint8_t’ {{aka ‘unsigned char’}} may change value [-Wconversion]
{FILE}:71:9: warning: conversion from ‘long int’ to ‘unsigned char’ may change value [-Wconversion]
labs/04-counting/counting.cuh:9:9: warning: conversion from ‘long int’ to ‘int’ may change value [-Wconversion]
"""
CLANG = (
    f"{FILE}:61:20: warning: implicit conversion loses integer precision: 'const std::int64_t' (aka 'const long') to "
    "'int' [-Wshorten-64-to-32]\n"
    f"{FILE}:62:20: warning: implicit conversion loses integer precision: 'std::uint64_t' (aka 'unsigned long') to "
    "'const int' [-Wshorten-64-to-32]\n"
)


class Conversions(unittest.TestCase):
    def test_one_note_per_line_of_the_file_with_a_remedy(self) -> None:
        notes = narrowing.conversions(GCC, FILE)
        self.assertEqual([note.line for note in notes], [61, 64])
        self.assertEqual(
            str(notes[0]),
            f"{FILE}:61: note: narrow: int holds positions below 2^31 only, but this step accepts any n; use "
            "std::int64_t, or write int(...) if the value always fits",
        )
        self.assertIn("unsigned int holds positions below 2^32 only", notes[1].text)

    def test_clang(self) -> None:
        self.assertEqual([note.line for note in narrowing.conversions(CLANG, FILE)], [61, 62])


class Products(unittest.TestCase):
    def lines(self, source: str) -> list[int]:
        """The lines that a note is on."""
        return [note.line for note in narrowing.products(source, FILE)]

    def test_indices_that_are_computed_in_32_bits(self) -> None:
        for expression in ("blockIdx.x * blockDim.x + threadIdx.x", "blockDim.x*blockIdx.x", "gridDim.x * blockDim.x"):
            for before in ("int i = ", "std::int64_t i = ", "f(", "threadIdx.x + "):
                with self.subTest(expression=expression, before=before):
                    self.assertEqual(self.lines(f"\n  {before}{expression};"), [2])

    def test_other_numbers_that_grow_with_n(self) -> None:
        for line in (
            "for (int run = 2; run / 2 < keys.n; run *= 2) {",
            "for (unsigned i = 0; i < keys.n; ++i)",
            "while ((1 << s) <= n) ++s;",
            "if (1 << s < keys.n) return;",
        ):
            with self.subTest(line=line):
                self.assertEqual(self.lines(line), [1])
        for line in (
            "for (std::int64_t run = 2; run < keys.n; run *= 2) {",
            "for (int i = 0; i < count; ++i)",
            "while ((std::int64_t(1) << s) <= n) ++s;",
            "constexpr int digit_values = 1 << digit_bits;",
        ):
            with self.subTest(line=line):
                self.assertEqual(self.lines(line), [])

    def test_indices_that_are_computed_in_64_bits(self) -> None:
        for line in (
            "std::int64_t(blockIdx.x) * blockDim.x",
            "(std::int64_t)blockIdx.x * blockDim.x",
            "blockIdx.x * std::int64_t(blockDim.x)",
            "std::int64_t{1} * gridDim.x * blockDim.x",
            "blockIdx.x * scatter_tile",
            "// int i = blockIdx.x * blockDim.x",
        ):
            with self.subTest(line=line):
                self.assertEqual(self.lines(line), [])

    @unittest.skipUnless((ROOT / "solutions").is_dir(), "this copy has no solutions")
    def test_no_solution_has_any(self) -> None:
        for lab in labs():
            for step in steps(lab):
                source = (ROOT / "solutions" / step.file).read_text()
                self.assertEqual(narrowing.products(source, step.file), [], step.file)


class Suspects(unittest.TestCase):
    def test_lines(self) -> None:
        source = "// cudaDeviceSynchronize()\nf(__activemask());\nCUDA_CHECK(cudaStreamSynchronize(stream));\n"
        self.assertEqual([note.line for note in suspects.masks(source, FILE)], [2])
        self.assertEqual([note.line for note in suspects.waits(source, FILE)], [3])

    @unittest.skipUnless((ROOT / "solutions").is_dir(), "this copy has no solutions")
    def test_no_solution_has_any(self) -> None:
        for lab in labs():
            for step in steps(lab):
                self.assertEqual(suspects.notes(step, solution=True, passed=True), [], step.file)


@unittest.skipUnless(shutil.which("g++"), "there is no g++")
class Scan(InFolder):
    """A scan compiles the generated source once, and remembers what it found for as long as that stays the same."""

    def setUp(self) -> None:
        super().setUp()
        self.replace(build, "BUILD", self.folder)
        self.step = StepFile("04-counting", 2, "shared")
        self.generated = self.folder / "labs/04-counting-cpu.p/02_shared.cu.cpp"
        self.generated.parent.mkdir(parents=True)
        self.save("long n; int f() { return n; }")

    def save(self, source: str) -> None:
        """Writes the generated source, whose lines are those of the step's file, and how it is compiled."""
        self.generated.write_text(f'#line 5 "{FILE}"\n{source}\n')
        name = str(self.generated.relative_to(self.folder))
        entry = {"directory": str(self.folder), "file": name, "command": f"g++ -c {name} -o x.o"}
        (self.folder / "compile_commands.json").write_text(json.dumps([entry]))

    def lines(self) -> list[int]:
        """The lines that a scan's notes of conversions are on."""
        return [note.line for note in narrowing.Scan(self.step).notes() if "holds positions" in note.text]

    def test_found_and_remembered(self) -> None:
        self.assertEqual(self.lines(), [5])
        with mock.patch.object(subprocess, "Popen", side_effect=AssertionError("compiled again")):
            self.assertEqual(self.lines(), [5])
        self.save("long n;\nint f() { return int(n); }")
        self.assertEqual(self.lines(), [])
        self.save("long n;\nint f() { return n; }")
        self.assertEqual(self.lines(), [6])

    def test_nothing_to_compile(self) -> None:
        (self.folder / "compile_commands.json").unlink()
        self.assertEqual(self.lines(), [])


LABS = ROOT / "labs"
COSTS = ("conflicts", "sectors", "bytes", "barriers", "span")
HEADER = "| step | n | conflicts | sectors | bytes moved per key | barriers per block | span per 1,000 keys |"


Budgets = dict[str, tuple[float, ...]]  # {"2 shared": (n, conflicts, sectors, bytes, barriers, span)}; 0: not checked


def in_steps(lab: str) -> Budgets:
    """The budgets in a lab's table of steps."""
    budgets = {}
    for line in re.split(r"(?=\.number = )", (LABS / lab / "steps.h").read_text())[1:]:
        budget = re.search(r"\.budget = \{(.*?)\}", line, re.S)
        if budget:
            values = {name: float(value) for name, value in re.findall(r"\.(\w+) = ([\d.]+)", budget[1])}
            name = re.match(r'\.number = (\d+),\s*\.name = "([^"]+)"', line)
            assert name, line
            budgets[f"{name[1]} {name[2]}"] = tuple(values.get(cost, 0) for cost in ("n", *COSTS))
    return budgets


def in_handout(lab: str) -> Budgets:
    """The budgets in a lab's handout, or in the reference beside it."""
    pages = [path.read_text() for path in (LABS / lab).glob("*.md")]
    lines = "".join(pages).split("\n## Check budgets\n")[1].split("\n## ")[0].splitlines()
    rows = {}
    for line in lines[lines.index(HEADER) + 2 :]:
        if not line.startswith("|"):
            break
        step, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[step] = tuple(float(cell.replace(",", "") or 0) for cell in cells)
    return rows


class Handouts(unittest.TestCase):
    """Each handout's table of budgets."""

    def test_tables_are_those_of_the_steps(self) -> None:
        labs = sorted(path.parent.name for path in LABS.glob("*/steps.h"))
        self.assertEqual(6, len(labs))
        for lab in labs:
            with self.subTest(lab):
                self.assertTrue(in_steps(lab))
                self.assertEqual(in_steps(lab), in_handout(lab))
