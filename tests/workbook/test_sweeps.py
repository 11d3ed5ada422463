"""Sweeps: which cases they have, which rows come of them, and how they are resumed."""

import io
import os
import signal
import tempfile
import time
import unittest
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import fake_judge
from report_data import row
from test_judge_client import FAKE, FakeJudge

from workbook.core import build, machine, measuring, presets, report_sweeps, resuming, rows, sweeps
from workbook.core.console import Problem, Usage, terminated_as_interrupted
from workbook.core.judge_client import JudgeClient
from workbook.core.judge_types import NARROW_RANGE, Lab, from_json
from workbook.core.measuring import Programs, Result
from workbook.core.sweeps import Sweep

STEP = fake_judge.STEP


def lab(*steps: dict) -> Lab:
    """A lab with steps that differ from the usual one in these members."""
    lines = [{**STEP, "number": i, "name": f"s{i}", **step} for i, step in enumerate(steps or ({},), 1)]
    return from_json(Lab, {**fake_judge.LAB, "steps": lines})


class Planning(unittest.TestCase):
    """From a sweep to cases."""

    def test_every_combination(self) -> None:
        sweep = Sweep(
            "03-bitonic", n=(1, 2), types=("u32", "u64"), orders=("ascending", "descending"), shapes=((1, 32), (2, 64))
        )
        cases, left_out = sweeps.cases(lab(), sweep, 7)
        self.assertEqual((len(cases), left_out), (16, []))
        self.assertEqual({item.case.seed for item in cases}, {7})
        self.assertEqual(cases[0].title(), "03-bitonic step 1 s1: 1 u32 keys, uniform, ascending, <<<1, 32>>>")

    def test_a_step_with_one_block_size_gets_that_size(self) -> None:
        fixed = lab({"threads": 256})
        sweep = Sweep("03-bitonic", n=(8,), shapes=((0, 0), (1, 32), (1, 256), (4, 64), (2, 0)))
        shapes = [(item.case.blocks, item.case.threads) for item in sweeps.cases(fixed, sweep, 7)[0]]
        self.assertEqual(shapes, [(0, 0), (1, 256), (4, 256), (2, 0)])

    def test_what_would_take_too_long_is_left_out(self) -> None:
        cases, left_out = sweeps.cases(lab({"max_n": 100}), Sweep("03-bitonic", n=(10, 1000)), 7)
        self.assertEqual([item.case.n for item in cases], [10])
        self.assertEqual(
            left_out, ["03-bitonic step 1 for n = 1000, where it would take too long (its largest is 100)"]
        )
        self.assertEqual(sweeps.cases(lab({"max_n": 100}), Sweep("03-bitonic"), 7)[0][0].case.n, 100)

    def test_a_part_is_left_out_for_types_it_does_not_take(self) -> None:
        with_part = lab({}, {"number": 1, "task": "scan", "types": ["u64"]})
        cases, _ = sweeps.cases(with_part, Sweep("03-bitonic", n=(8,), types=("u32",)), 7)
        self.assertEqual([item.case.task for item in cases], ["sort"])
        cases, _ = sweeps.cases(with_part, Sweep("03-bitonic", n=(8,)), 7)
        self.assertEqual([(item.case.task, item.case.type) for item in cases], [("sort", "u32"), ("scan", "u64")])

    def test_an_exchange_has_an_order_and_no_gold_standard(self) -> None:
        gold = lab({"name": "vqsort"}, {"name": "vqsort-tiles", "tile": 1024}).steps
        cases, _ = sweeps.cases(lab({"task": "exchange"}), Sweep("03-bitonic", n=(8,), orders=("descending",)), 7)
        (item,) = sweeps.with_gold(cases, [sweeps.Rival(Path("gold"), gold)], only_gold=False)
        self.assertEqual(item.title(), "03-bitonic step 1 s1: 8 u32 keys, uniform, descending")
        self.assertIn("--type u32 --order descending --seed 7", sweeps.replay(item.case))

    def test_gold_comes_first_and_once(self) -> None:
        table = lab({}, {"tile": 1024})
        gold = lab({"name": "vqsort"}, {"name": "vqsort-tiles", "tile": 1024}, {"name": "scan", "task": "scan"}).steps
        cases, _ = sweeps.cases(table, Sweep("03-bitonic", n=(8,), shapes=((1, 32), (2, 64))), 7)
        rivals = [sweeps.Rival(Path("gold"), gold)]
        names = [item.step.name for item in sweeps.with_gold(cases, rivals, only_gold=False)]
        self.assertEqual(names, ["vqsort", "s1", "s1", "vqsort-tiles", "s2", "s2"])
        names = [item.step.name for item in sweeps.with_gold(cases, rivals, only_gold=True)]
        self.assertEqual(names, ["vqsort", "vqsort-tiles"])
        rivals.append(sweeps.Rival(Path("/peers/other-1.0"), gold[:1], peer=True))
        found = [(item.rival, item.step.name) for item in sweeps.with_gold(cases, rivals, only_gold=True)]
        self.assertEqual(found, [(rivals[0], "vqsort"), (rivals[1], "other-1.0 vqsort"), (rivals[0], "vqsort-tiles")])

    def test_amounts_of_memory(self) -> None:
        for text, count in (("1000", 1000), ("256K", 256 << 10), ("3M", 3 << 20), ("2G", 2 << 30)):
            self.assertEqual(sweeps.memory_bytes(text), count)
            self.assertEqual(sweeps.memory_text(count), text)
        for text in ("0", "0K"):
            with self.assertRaisesRegex(Usage, f"--memory {text} leaves no memory: "):
                sweeps.memory_bytes(text)
        for text in ("", "-1", "1.5G", "2g", "2GiB", "K"):
            with self.assertRaisesRegex(Usage, "--memory .* is not an amount of memory"):
                sweeps.memory_bytes(text)

    def test_keys_in_host_memory(self) -> None:
        host, gold = lab({"memory": "host"}), lab({"name": "vqsort"}, {"name": "copied", "memory": "host"}).steps
        sweep = Sweep("03-bitonic", n=(8,), memory=(1 << 20, 3000), pageable=True)
        rivals = [sweeps.Rival(Path("gold"), gold)]
        planned = sweeps.with_gold(sweeps.cases(host, sweep, 7)[0], rivals, only_gold=False)
        found = [(item.step.name, item.case.memory, item.case.pageable, item.row("cpu").memory) for item in planned]
        some, more = (1 << 20, True, "1M pageable"), (3000, True, "3000 pageable")
        # The gold standard may use all memory, so it is measured once.
        self.assertEqual(found, [("copied", 0, False, "all"), ("s1", *some), ("s1", *more)])
        self.assertIn("--memory 1M --pageable --seed 7", sweeps.replay(planned[1].case))
        self.assertIn("memory 1M pageable", planned[1].title())
        (item,) = sweeps.cases(host, Sweep("03-bitonic", n=(8,)), 7)[0]
        self.assertEqual(item.row("cpu").memory, "all")

    def test_as_much_memory_as_the_keys_occupy(self) -> None:
        table = lab({"memory": "host", "min_device_bytes": 5000}, {})
        planned, _ = sweeps.cases(table, Sweep("03-bitonic", n=(1000, 2048), memory=(sweeps.AS_KEYS,)), 7)
        self.assertEqual([item.case.memory for item in planned], [5000, 8192, 0, 0])

    def test_keys_in_device_memory_have_no_limit(self) -> None:
        for sweep in (Sweep("03-bitonic", n=(8,), memory=(1 << 20,)), Sweep("03-bitonic", n=(8,), pageable=True)):
            with self.assertRaisesRegex(Usage, "sort keys in device memory: leave out --memory and --pageable"):
                sweeps.cases(lab(), sweep, 7)
        self.assertEqual(sweeps.cases(lab(), Sweep("03-bitonic", n=(8,)), 7)[0][0].row("cpu").memory, "")

    def test_small_cases_come_first_where_time_may_run_out(self) -> None:
        cases, _ = sweeps.cases(lab({}, {}), Sweep("03-bitonic", n=(9, 1), shapes=((4, 32), (1, 32))), 7)
        first = [(item.case.n, item.case.blocks, item.case.step) for item in sweeps.smallest_first(cases)]
        self.assertEqual(first[:3], [(1, 1, 1), (1, 1, 2), (1, 4, 1)])

    def test_all_of_a_file(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes(4004))
            file.flush()
            inputs = sweeps.file_inputs([f"file:{file.name}"])
            cases, _ = sweeps.cases(lab(), Sweep("03-bitonic", inputs=inputs, types=("u32", "u64")), 7)
        self.assertEqual(
            [(item.case.n, bool(item.why_not)) for item in cases], [(1001, False), (sweeps.DEFAULT_N, True)]
        )
        self.assertIn("4004 bytes, which is not a multiple of the 8 bytes of a u64 key", cases[1].why_not)

    def test_what_was_not_measured(self) -> None:
        sweep = Sweep("03-bitonic", words="n", n=(1, 1024), budget=20)
        table = lab()
        self.assertEqual(
            sweep.missing(table, [row(step=1, n=1024)]),
            "Left out for lack of time (20 s): 1 of 2 measurements over n, at n = 1, step 01.",
        )
        self.assertEqual(sweep.missing(table, [row(step=1, n=1), row(step=1, n=1024)]), "")


class Defined(unittest.TestCase):
    """The sweeps of a report."""

    def test_steps_that_afford_less_have_sweeps_of_their_own(self) -> None:
        few = {"affordable": {"check": 1500, "cpu": 4096, "cuda": 65536}, "max_n": 65536}
        plan = {sweep.name: sweep for sweep in report_sweeps.plan(lab({}, few), "cpu", ["uniform", "sorted"])}
        self.assertEqual(plan["n-1"].n, (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18))
        self.assertEqual((plan["n-2"].n, plan["n-2"].steps), ((1 << 10, 1 << 12), (2,)))
        self.assertEqual(plan["inputs-2"].n, (1024,))
        self.assertNotIn((1024, 1024), plan["shapes-2"].shapes)
        self.assertIn((1024, 1024), plan["shapes-1"].shapes)
        self.assertEqual(plan["n-1"].budget, 40)
        self.assertTrue(plan["n-1"].kernels and plan["n-1"].transfers)
        self.assertNotIn("ranges", plan)

    def test_steps_that_sort_host_memory_get_less_than_all_keys_need(self) -> None:
        self.assertEqual({sweep.memory for sweep in report_sweeps.plan(lab(), "cpu", ["uniform"])}, {(sweeps.AS_KEYS,)})

    def test_a_lab_with_ranges(self) -> None:
        plan = {sweep.name: sweep for sweep in report_sweeps.plan(lab({"max_range": 1 << 24}), "cuda", ["uniform"])}
        self.assertEqual(plan["ranges"].inputs, sweeps.RANGES)
        self.assertEqual(plan["types"].inputs, (NARROW_RANGE,))
        self.assertEqual(plan["range-sizes"].n, sweeps.REPORT_SIZES)

    def test_steps_with_a_counter_per_value_get_few_values(self) -> None:
        counting, other = lab({"max_range": 1 << 24}, {}).steps
        self.assertEqual(other.input_for("u8", "u32", wide="file:x"), "file:x")
        self.assertEqual(counting.input_for("u8", wide="file:x"), "file:x")
        self.assertEqual([counting.input_for(*types) for types in (("u32",), ("u8", "u32"))], [NARROW_RANGE] * 2)
        self.assertEqual(counting.input_for("u8"), "uniform")
        steps = lab({"max_range": 1 << 24}, {})
        planned, _ = sweeps.cases(steps, Sweep(steps.name, n=(1000,), inputs=(), types=("u32",)), seed=1)
        self.assertEqual([item.case.input for item in planned], [NARROW_RANGE, "uniform"])


class Recorded(unittest.TestCase):
    """The sweeps of `bench --preset gpu`."""

    def test_steps_that_afford_less_are_measured_with_fewer_keys(self) -> None:
        few = {"affordable": {"check": 1500, "cpu": 4096, "cuda": 65536}, "max_n": 65536}
        plan = presets.plan(lab({}, few), "cuda", ["uniform", "sorted", "zipf"], brief=False)
        measured = {sweep.words: sweep for sweep in plan if 2 in sweep.steps}
        self.assertEqual((measured["inputs"].n, measured["launch shapes"].n), ((1 << 14,), (1 << 14,)))
        self.assertEqual(
            max(sweep.n[-1] for sweep in plan if sweep.words == "steps by n" and 2 in sweep.steps), 1 << 16
        )
        self.assertEqual(measured["descending order"].orders, ("descending",))
        self.assertEqual(measured["descending order"].inputs, ("uniform", "sorted"))

    def test_brief_has_sizes_and_types_only(self) -> None:
        plan = presets.plan(lab({}), "cuda", ["uniform"], brief=True)
        self.assertEqual([sweep.words for sweep in plan], ["steps by n", "steps by n", "key types"])

    def test_records_have_all_inputs_and_types(self) -> None:
        plan = presets.plan_of_record(lab({}, {"record": True}, {}), "cuda", ["uniform", "sorted"])
        self.assertEqual({sweep.steps for sweep in plan}, {(2,)})
        self.assertEqual(max(n for sweep in plan for n in sweep.n), 1 << 30)
        inputs = [sweep for sweep in plan if sweep.words == "the record's inputs"]
        self.assertEqual([(sweep.inputs, sweep.n) for sweep in inputs], [(("uniform", "sorted"), (1 << 26,))])
        self.assertEqual(len([sweep for sweep in plan if sweep.types]), 1)
        host = lab({"memory": "host", "round_trips": 2, "record": True}, {"memory": "host"})
        of_host = presets.plan_of_record(host, "cuda", ["uniform"])
        self.assertTrue(of_host and all(1 in (sweep.steps or (1,)) for sweep in of_host))

    def test_the_grid_has_all_inputs_of_one_type_and_some_of_the_others(self) -> None:
        types = {"types": ["u32", "f32", "pairs"]}
        every = ["uniform", "sorted", "power-law", "zeros"]
        table = from_json(Lab, {**fake_judge.LAB, "name": presets.ALL_INPUTS_OF, "steps": [STEP, {**STEP, **types}]})
        table = replace(table, steps=tuple(replace(s, number=i, record=True) for i, s in enumerate(table.steps, 1)))
        plan = presets.plan_of_grid(table, "cuda", every)
        self.assertEqual({sweep.steps for sweep in plan}, {(2,)})
        self.assertEqual(sorted({n for sweep in plan for n in sweep.n}), [1 << e for e in (10, 13, 16, 20, 22)])
        self.assertTrue(all(sweep.budget for sweep in plan))
        inputs = {(sweep.types, name) for sweep in plan for name in sweep.inputs}
        self.assertEqual({name for types, name in inputs if not types}, {*every, "values:33", "values:1000"})
        self.assertEqual({name for types, name in inputs if types == ("f32", "pairs")}, set(presets.GRID_INPUTS))
        self.assertEqual({types for types, name in inputs if name == "zeros"}, {(), ("f32",)})

    def test_the_grid_of_other_labs(self) -> None:
        plan = presets.plan_of_grid(lab({"record": True}), "cuda", ["uniform", "power-law"])
        self.assertEqual({name for sweep in plan for name in sweep.inputs}, set(presets.GRID_INPUTS))
        segments = presets.plan_of_grid(lab({"record": True, "task": "segments"}), "cuda", ["uniform", "sorted"])
        self.assertEqual({sweep.inputs for sweep in segments}, {("uniform",)})
        self.assertEqual(max(n for sweep in segments for n in sweep.n), presets.SEGMENTS_N)
        self.assertEqual(presets.plan_of_grid(lab({"record": True, "memory": "host"}), "cuda", ["uniform"]), [])

    def test_the_grid_goes_on_in_one_process_as_long_as_there_is_time(self) -> None:
        with tempfile.TemporaryDirectory() as name, mock.patch.object(presets, "BUILD", Path(name)):
            folder = Path(name) / "reports/records"
            folder.mkdir(parents=True)
            for cub in ("cuda", "cub-3.5.0"):
                program = folder / f"measure-05-radix-{cub}"
                ends = 'case "$@" in *all*) exec sleep 30;; *f32*) exit 1; esac'
                program.write_text(f'#!/bin/sh\necho "{cub} $@"\n{ends}\n')
                program.chmod(0o755)
            peers = (folder / "cub-3.5.0", folder / "libcusort-1.0.1", Path("/elsewhere/cub-9"))
            preset = presets.Preset(Path(name), name="peers", peers=peers)
            headings: list[str] = []
            some = {"05-radix": ("--n 1", "--type f32", "--input all")}
            with (
                mock.patch.multiple(presets, MANY_KEYS=some, MANY_KEYS_SECONDS=1),
                redirect_stderr(io.StringIO()) as err,
            ):
                well = presets._compare_many_keys(preset, ["05-radix", "02-merge"], headings.append)
            written = {path.stem: path.read_text() for path in Path(name).glob("*.csv")}
        self.assertFalse(well)
        self.assertEqual(len(headings), 5)  # the sixth is left out
        self.assertIn("stopped, because the time is used up", err.getvalue())
        self.assertIn(
            "left out, because 1 s were not enough for all: measure-05-radix-cub-3.5.0 --input all", err.getvalue()
        )
        self.assertEqual(len(written), 5)
        self.assertRegex(written["05-radix-cub-3.5.0-0"], r"^cub-3.5.0 --commit \S+ --runs 3 --n 1\n$")
        self.assertRegex(written["05-radix-cuda-2"], "all\n$")  # what it wrote before it was ended

    def test_steps_that_sort_host_memory(self) -> None:
        serial = {"memory": "host", "round_trips": 1, "affordable": {"check": 1 << 17, "cpu": 1 << 20, "cuda": 1 << 22}}
        table = lab(serial, {"memory": "host", "round_trips": 2}, {"memory": "host"})
        plan = presets.plan(table, "cuda", ["uniform", "sorted"], brief=False, large=True)
        self.assertTrue(all(sweep.transfers for sweep in plan))
        by_memory = {sweep.memory for sweep in plan if sweep.words == "many keys"}
        self.assertEqual(by_memory, {(sweeps.AS_KEYS,), (presets.MUCH_MEMORY,)})
        largest = [(sweep.n, sweep.steps) for sweep in plan if sweep.memory == (presets.MUCH_MEMORY,)]
        self.assertEqual(largest, [((1 << 30,), (2,)), ((1 << 33,), (2,))])
        pageable = {(step, n) for sweep in plan if sweep.pageable for step in sweep.steps for n in sweep.n}
        self.assertEqual(pageable, {(1, 1 << 24), (2, 1 << 28)})
        self.assertLessEqual(max(n for sweep in plan if 1 in sweep.steps for n in sweep.n), presets.SERIAL_N)
        brief = presets.plan(table, "cuda", ["uniform"], brief=True)
        self.assertEqual({sweep.inputs for sweep in brief}, {()})
        self.assertLess(max(n for sweep in brief for n in sweep.n), 1 << 32)


class Measuring(FakeJudge):
    """A sweep with the fake judge."""

    def run_sweep(self, sweep: Sweep, answer: object = "") -> tuple[Result, str]:
        """Carries out the sweep; what was printed too."""
        programs = Programs(self.client(answer), "cpu", Path("runner"), Path("gold"))
        with redirect_stderr(io.StringIO()) as printed, mock.patch.object(machine, "commit", lambda: "abc"):
            return measuring.run("timing", programs, sweep, self.folder / "rows.csv"), printed.getvalue()

    SWEEP = Sweep("03-bitonic", n=(1000,), seed=7)

    def test_rows_of_gold_and_step(self) -> None:
        result, printed = self.run_sweep(self.SWEEP)
        self.assertTrue(result.ok)
        gold, own = rows.read(result.path)
        self.assertEqual((gold.lab, own.lab, own.gold, own.ratio), ("gold", "03-bitonic", "stable-sort", 1.0))
        self.assertEqual((own.keys_per_s, own.gb_per_s, own.machine_id, own.roof_gb_per_s), (500000, 0.004, "epyc", 30))
        self.assertIn("1 of 2: gold standard stable-sort: 1000 u32 keys", printed)

    def test_what_is_there_is_not_measured_again(self) -> None:
        first, _ = self.run_sweep(self.SWEEP)
        before = first.path.read_bytes()
        asked = len(self.requests())
        second, printed = self.run_sweep(self.SWEEP)
        self.assertIn("resuming: 2 measurements already exist", printed)
        self.assertEqual(second.path.read_bytes(), before)
        self.assertFalse([request for request in self.requests()[asked:] if request["ask"] == "measure"])

    def test_another_seed_is_the_same_measurement(self) -> None:
        self.run_sweep(self.SWEEP)
        result, _ = self.run_sweep(replace(self.SWEEP, seed=8))
        self.assertEqual(len(result.rows), 2)

    def test_a_failure_is_a_row_and_no_success(self) -> None:
        wrong = {"status": "wrong", "message": "keys[3] is 9", "failed_seed": 11, "printed": "hello"}
        result, printed = self.run_sweep(self.SWEEP, wrong)
        self.assertFalse(result.ok)
        self.assertEqual([(each.status, each.median_ms) for each in result.rows], [("wrong", None)] * 2)
        self.assertIn("again: ./workbook run 03-bitonic 1 --n 1000 --input uniform --type u32", printed)
        self.assertIn("--seed 11", printed)
        self.assertIn("hello", printed)

    def test_what_a_busy_machine_left_out_is_measured_again(self) -> None:
        busy = {"status": "busy", "message": "the machine is busy", "failed_seed": 11}
        result, printed = self.run_sweep(self.SWEEP, busy)
        self.assertFalse(result.ok)
        self.assertEqual([each.status for each in result.rows], ["busy"] * 2)
        self.assertIn("1000 u32 keys, uniform, ascending ... busy: the machine is busy\n", printed)
        self.assertFalse(result.path.exists() and rows.read(result.path))
        result, _ = self.run_sweep(self.SWEEP)
        self.assertEqual([each.status for each in rows.read(result.path)], ["verified"] * 2)

    def test_unsupported_cases_are_rows_of_the_step_only(self) -> None:
        result, _ = self.run_sweep(self.SWEEP, {"status": "unsupported", "message": "too large"})
        self.assertTrue(result.ok)
        self.assertEqual([(each.lab, each.message) for each in result.rows], [("03-bitonic", "too large")])

    def test_wide_spreads_are_named(self) -> None:
        result, printed = self.run_sweep(self.SWEEP, {"q3_ms": 3.9})
        self.assertEqual(result.rows[1].message, "spread 100 %")
        self.assertIn("warning: some measurements vary widely", printed)
        self.assertIn("03-bitonic step 1 global n = 1000", printed)

    def test_kernels_and_copies(self) -> None:
        kernel = {"name": "k", "launches": 3, "milliseconds": 1.0, "median_ms": 1.5, "q1_ms": 1.0, "q3_ms": 2.0}
        kernel.update(repeats=4, blocks=2, threads=64, dynamic_shared=16, static_shared=None, registers=None)
        result, _ = self.run_sweep(replace(self.SWEEP, kernels=True, transfers=True), {"kernels": [kernel]})
        parts = {each.kernel: each for each in result.rows if each.kernel}
        self.assertEqual(list(parts), ["to device", "to host", "k"])
        self.assertEqual((parts["k"].launches, parts["k"].grid, parts["k"].block, parts["k"].repeats), (3, 2, 64, 4))
        self.assertEqual((parts["k"].median_ms, parts["k"].registers, parts["k"].ratio), (1.5, None, None))
        self.assertEqual(parts["to device"].gb_per_s, 0.002)

    def test_pinning_and_the_copies_alone(self) -> None:
        with mock.patch.object(JudgeClient, "lab", lambda *_: lab({"memory": "host", "round_trips": 2})):
            result, _ = self.run_sweep(replace(self.SWEEP, transfers=True))
            sort, pinning, copies = result.rows  # and no gold standard fits
            self.assertEqual([sort.kernel, pinning.kernel, copies.kernel], ["", "pinning", "copies alone"])
            self.assertEqual((copies.launches, copies.median_ms, copies.gb_per_s), (2, 4.0, 0.002))
            self.assertEqual(rows.share_of_copies(copies, rows.by_measurement(result.rows)), 2.0)
            self.assertIsNone(rows.share_of_copies(pinning, rows.by_measurement(result.rows)))
            result, _ = self.run_sweep(replace(self.SWEEP, transfers=True, pageable=True))
            self.assertEqual([(each.memory, each.kernel) for each in result.rows[3:]], [("all pageable", "")])
        with mock.patch.object(JudgeClient, "lab", lambda *_: lab({"memory": "host"})):
            result, _ = self.run_sweep(replace(self.SWEEP, transfers=True, n=(8,)))
            self.assertEqual([each.kernel for each in result.rows if each.n == 8], ["", "pinning"])

    def test_a_step_that_is_not_written_is_asked_once(self) -> None:
        gap = {"status": "not-written", "message": "step 01 is not written yet"}
        result, printed = self.run_sweep(replace(self.SWEEP, n=(8, 16, 32)), gap)
        steps = [each for each in result.rows if not each.is_gold]
        self.assertEqual([(each.n, each.status) for each in steps], [(n, "not-written") for n in (8, 16, 32)])
        asked = [request["case"] for request in self.requests() if request["ask"] == "measure"]
        self.assertEqual([(case["lab"], case["n"]) for case in asked if case["lab"] != "gold"], [("03-bitonic", 8)])
        self.assertEqual(printed.count("03-bitonic step 1 global: 8 u32 keys"), 1)
        self.assertFalse(result.ok)

    def test_a_budget(self) -> None:
        result, printed = self.run_sweep(replace(self.SWEEP, budget=1e-9))
        self.assertEqual(result.rows, [])
        self.assertIn("left out: 2 of 2 measurements, because 1e-09 s were not enough for all", printed)


class Resuming(FakeJudge):
    """Sweeps that are interrupted."""

    def resume(self, run: Callable[..., Result]) -> Callable[[], Result]:
        """resuming.resume with `run` in place of measuring.run, in a folder of its own."""
        program = self.folder / "labs/program"
        program.parent.mkdir()
        program.write_text("a program")
        replaced: list[tuple[Any, str, object]] = [
            (resuming, "UNFINISHED", self.folder / "unfinished"),
            (measuring, "run", run),
            (build, "judge", lambda: program),
        ]
        for module, name, value in replaced:
            self.replace(module, name, value)
        programs = Programs(JudgeClient(FAKE), "cpu", program, program)
        return lambda: resuming.resume("timing", programs, Sweep("03-bitonic", n=(1,)))

    def test_an_ended_sweep_keeps_its_rows(self) -> None:
        def ended(_what: str, _programs: Programs, _sweep: Sweep, path: Path, **_: bool) -> Result:
            rows.write(path, [row()])
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(600)
            raise AssertionError

        before = signal.getsignal(signal.SIGTERM)
        with self.assertRaises(resuming.Interrupted) as raised, terminated_as_interrupted():
            self.resume(ended)()
        self.assertEqual((raised.exception.status, len(raised.exception.rows)), (143, 1))
        self.assertEqual(signal.getsignal(signal.SIGTERM), before)

    def test_one_measurement_twice_at_once_is_refused(self) -> None:
        def at_once(_what: str, _programs: Programs, _sweep: Sweep, path: Path, **_: bool) -> Result:
            with self.assertRaisesRegex(Problem, "another bench is already measuring exactly this"):
                sweep()
            return Result([], path, True)

        sweep = self.resume(at_once)
        self.assertEqual(sweep().rows, [])

    def test_damaged_rows_are_measured_again(self) -> None:
        found: list[int] = []

        def run(_what: str, _programs: Programs, _sweep: Sweep, path: Path, **_: bool) -> Result:
            if not found:
                rows.write(path, [row(), row(keys_per_s=123.0)])
                path.write_text(path.read_text().replace(",123,", ",fast,"))
                found.append(-1)
            else:
                found.append(len(rows.read(path)))
            return Result([], path, True)

        sweep = self.resume(run)
        sweep()
        with redirect_stderr(io.StringIO()) as printed:
            sweep()
        self.assertEqual(found, [-1, 1])
        self.assertIn("was damaged and is measured again", printed.getvalue())

    def test_a_sweep_without_rows_leaves_no_file(self) -> None:
        def refused(_what: str, _programs: Programs, _sweep: Sweep, path: Path, **_: bool) -> Result:
            rows.write(path, [])
            raise Problem("no")

        with self.assertRaises(Problem):
            self.resume(refused)()
        self.assertEqual(list((self.folder / "unfinished").glob("*.csv")), [])

    def test_sweeps_that_will_not_be_resumed_are_removed(self) -> None:
        with mock.patch.object(resuming, "UNFINISHED", self.folder):
            for name, days in (
                ("lab-cpu-labs-new-1", 9),
                ("lab-cpu-labs-old-1", 9),
                ("lab-cpu-labs-old-2", 0),
                ("other-cpu-labs-new-1", 9),
                ("other-cpu-labs-new-2", 31),
            ):
                path = Path(self.folder, name + ".csv")
                path.touch()
                os.utime(path, (time.time() - days * 24 * 3600,) * 2)
            resuming.tidy("lab-cpu-labs-", "new")
            self.assertEqual(
                sorted(path.stem for path in self.folder.iterdir()),
                ["lab-cpu-labs-new-1", "lab-cpu-labs-old-2", "other-cpu-labs-new-1"],
            )


class Machine(unittest.TestCase):
    """What is watched while something is measured."""

    def test_a_short_bench_looks_at_the_clocks_too(self) -> None:
        with (
            mock.patch.object(machine, "gpus", lambda: ("a GPU",)),
            mock.patch.object(
                machine, "answer", lambda *_, **__: "Not Active, Active, Not Active, Not Active, Not Active"
            ),
            machine.ClockWatch(True) as clocks,
        ):
            pass
        self.assertEqual(clocks.reasons, {"hardware slowdown"})

    def test_idle_cores_are_those_of_the_moment(self) -> None:
        with (
            mock.patch.object(machine, "_ticks", iter([(100, 200), (110, 240)]).__next__),
            mock.patch.object(os, "cpu_count", lambda: 4),
        ):
            self.assertEqual(machine.idle_cores(0), 1)
