"""Sweeps with a real judge, end to end: bench_test.py JUDGE GOLD RUNNER COUNTING BEYOND.

RUNNER, COUNTING and BEYOND: of the solutions of 03-bitonic, 04-counting and 06-beyond-memory, cpu build.
"""

import argparse
import io
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from contextlib import redirect_stderr
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from workbook.core import build, measuring
from workbook.core import rows as row_files
from workbook.core.console import Problem, Usage
from workbook.core.course import ROOT, StepFile
from workbook.core.judge_client import JudgeClient
from workbook.core.judge_types import Case, Measurement
from workbook.core.measuring import Programs
from workbook.core.rows import Row
from workbook.verbs import bench

LAB, BEYOND = "03-bitonic", "06-beyond-memory"
PROGRAMS: list[Path] = []
MEASURE = JudgeClient.measure


class Sweeps(unittest.TestCase):
    """A CSV file of its own for each test."""

    judge: JudgeClient

    @classmethod
    def setUpClass(cls) -> None:
        cls.judge = JudgeClient(PROGRAMS[0])
        cls.addClassCleanup(cls.judge.close)

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.csv = Path(folder.name) / "rows.csv"

    def sweep(self, *options: str, gold: bool = True, lab: str = LAB) -> bool:
        """Carries out the sweep that these options of bench describe; whether all went well."""
        parser = argparse.ArgumentParser()
        bench.add_arguments(parser)
        arguments = parser.parse_args([lab, "--seed", "7", "--repeats", "5", *options])
        steps = [StepFile(lab, int(number), "") for number in arguments.step or []]
        runner = PROGRAMS[{"04-counting": 3, BEYOND: 4}.get(lab, 2)]
        peers = [Path(path) for path in arguments.peer or []]
        programs = Programs(self.judge, "cpu", runner, PROGRAMS[1] if gold else None, peers)
        return measuring.run("timing", programs, bench.sweep_of(arguments, lab, steps, "cpu"), self.csv).ok

    def bench(self, *options: str, gold: bool = True, lab: str = LAB) -> str:
        """The same, which must go well; what it printed. What a busy machine has left out is measured again."""
        for _ in range(10):
            with redirect_stderr(io.StringIO()) as printed:
                well = self.sweep(*options, gold=gold, lab=lab)
            if well or "busy: the machine is busy" not in printed.getvalue():
                break
        self.assertTrue(well, printed.getvalue())
        return printed.getvalue()

    def rows(self) -> list[Row]:
        return row_files.read(self.csv)

    def test_a_row_is_complete(self) -> None:
        with mock.patch.dict(os.environ, {"WORKBOOK_COMMIT": "abc"}):
            self.bench("--n", "2^12", "--step", "3", "--machine", "desk")
        step = self.rows()[-1]
        self.assertEqual(
            (step.lab, step.step, step.n, step.status, step.commit, step.machine_id, step.kernel),
            (LAB, 3, 4096, "verified", "abc", "desk", ""),
        )
        gold = max((row for row in self.rows() if row.is_gold), key=lambda row: row.keys_per_s or 0)
        self.assertEqual(step.gold, gold.name)
        assert step.keys_per_s and step.median_ms and step.gb_per_s and step.roof_gb_per_s and gold.keys_per_s
        self.assertAlmostEqual(step.ratio or 0, step.keys_per_s / gold.keys_per_s, places=4)
        self.assertAlmostEqual(step.gb_per_s, 8 * 4096 / step.median_ms / 1e6, places=4)
        self.assertAlmostEqual(step.percent_of_roof or 0, 100 * step.gb_per_s / step.roof_gb_per_s, places=3)

    def test_kernels_and_copies(self) -> None:
        self.bench("--n", "10000", "--step", "1", "2", "3", "--kernels", "--transfers", gold=False)
        rows = self.rows()
        kernels = {row.kernel: row for row in rows if row.step == 3 and row.kernel}
        self.assertEqual(
            set(kernels), {"to device", "to host", "sort_tiles_kernel", "run_global_stage", "merge_in_tiles"}
        )
        # 10,000 keys are 10 tiles: four merges, each of which begins with its strides beyond a tile.
        self.assertEqual(
            [kernels[name].launches for name in ("sort_tiles_kernel", "run_global_stage", "merge_in_tiles")],
            [1, 10, 4],
        )
        self.assertEqual(kernels["sort_tiles_kernel"].grid, 10)
        self.assertGreater(kernels["to device"].gb_per_s or 0, 0)
        self.assertEqual(len(row_files.whole(rows)), 3)

    def test_a_peer_as_the_readme_builds_it(self) -> None:
        readme = (ROOT / "common/README.md").read_text(encoding="utf-8")
        source = re.search(r"```cpp\n(.*?)```", readme, re.DOTALL)
        command = re.search(r"^(g\+\+ .*?-pthread)$", readme, re.DOTALL | re.MULTILINE)
        assert source and command
        folder = self.csv.parent
        (folder / "peer.cpp").write_text(source[1], encoding="utf-8")
        built = str(build.folder())
        cxx = "clang++" if build.compiler() == "clang" else "g++"
        words = command[1].replace("g++", cxx, 1).replace("\\\n", " ")
        words = words.replace("build/", f"{built}/").replace("-Icommon", f"-I{ROOT}/common")
        subprocess.run(words.split(), cwd=folder, check=True)
        options = ("--n", "1000", "--step", "3", "--type", "u32", "f32", "--order", "descending")
        self.bench(*options, "--peer", str(folder / "std-1.0"))
        peers = [row for row in self.rows() if row.name == "std-1.0 sort"]
        self.assertEqual([(row.lab, row.type, row.status) for row in peers], [("gold", "u32", "verified")])

    def test_the_copies_of_host_memory_alone(self) -> None:
        self.bench("--n", "100000", "--memory", "256K", "--transfers", gold=False, lab=BEYOND)
        rows = self.rows()
        found = {(row.step, row.kernel): row for row in rows if row.kernel}
        copies = [(step, "copies alone") for step in (1, 2, 3)]  # step 4 has no fixed number of trips
        self.assertEqual(set(found), {*copies, *((step, "pinning") for step in (1, 2, 3, 4))})
        self.assertEqual([found[key].launches for key in copies], [1, 1, 2])
        for key in copies:
            share = row_files.share_of_copies(found[key], row_files.by_measurement(rows))
            assert share
            self.assertLess(share, 1)  # a sort on the emulated device takes much longer than its copies

    def test_nothing_waits_for_a_copy_between_the_kernels_of_a_piece(self) -> None:
        case = Case(BEYOND, 3, 1_000_000, type="u32", seed=7)  # in two pieces, although all keys would fit
        spans = self.judge.run(PROGRAMS[4], case, time_kernels=True).timeline.spans
        grouping = [span for span in spans if span.what in ("count_buckets", "scan_counts", "group", "copy out")]
        self.assertEqual([span.what for span in grouping[:4]], ["count_buckets", "scan_counts", "group", "copy out"])
        counts, keys = grouping[3:5]
        self.assertEqual((counts.bytes, keys.what, keys.bytes), (1024, "copy out", 2_000_000))

    def test_an_impossible_shape_is_skipped_and_named(self) -> None:
        printed = self.bench("--n", "1000", "--step", "2", "--shapes", "1x32", "2x4096", gold=False)
        self.assertRegex(printed, "impossible launch shape: 4096 threads")
        self.assertEqual(
            [(row.blocks, row.threads, row.status) for row in self.rows()],
            [(1, 32, "verified"), (2, 4096, "unsupported")],
        )
        with self.assertRaisesRegex(Usage, "--shapes 2by2 is not a launch shape"):
            self.sweep("--shapes", "2by2")

    def test_the_same_sweep_measures_nothing_again(self) -> None:
        self.bench("--n", "100", "200")
        before = self.csv.read_text()
        self.assertIn("resuming: ", self.bench("--n", "100", "200"))
        self.assertEqual(self.csv.read_text(), before)

    def _measure_two_rows(self, client: JudgeClient, *words: Any, **options: Any) -> Measurement:
        """JudgeClient.measure, interrupted while the judge works once there are two rows."""
        if self.csv.exists() and self.csv.read_text().count("\n") > 2:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            while True:
                MEASURE(client, *words, **options)
        return MEASURE(client, *words, **options)

    def test_interrupted_it_resumes(self) -> None:
        interrupted = mock.patch.object(JudgeClient, "measure", lambda *w, **o: self._measure_two_rows(*w, **o))
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
        with self.assertRaises(KeyboardInterrupt), redirect_stderr(io.StringIO()), interrupted:
            self.sweep("--n", "2^16", "2^17", "--step", "1", "2", "3")
        kept = self.rows()
        self.assertGreater(len(kept), 0)
        self.csv.write_text(self.csv.read_text() + "03-bitonic,1,glo")  # as if the last row had been cut short
        self.bench("--n", "2^16", "2^17", "--step", "1", "2", "3")
        rows = self.rows()
        self.assertEqual(rows[: len(kept)], kept)
        self.assertEqual(len(row_files.distinct(rows)), len(rows))
        self.assertEqual(sum(row.lab == LAB for row in rows), 6)
        self.assertTrue(all(row.ratio for row in rows if row.lab == LAB))

    def test_a_budget_leaves_out_the_rest(self) -> None:
        printed = self.bench("--n", "1000", "2^17", "--budget", "0.000001", gold=False)
        self.assertIn("left out: ", printed)
        self.assertLess(len(self.rows()), 6)

    def test_the_gold_standard_alone(self) -> None:
        self.bench("--n", "1000", "--only-gold")
        self.assertEqual({row.lab for row in self.rows()}, {"gold"})

    def test_no_keys_have_a_time_and_no_speed(self) -> None:
        self.bench("--n", "0", "1", "--step", "1")
        self.assertEqual({row.status for row in self.rows()}, {"verified"})
        self.assertEqual({(row.keys_per_s, row.ratio) for row in self.rows() if row.n == 0}, {(None, None)})

    def test_impossible_combinations_are_skipped_and_named(self) -> None:
        inputs = ("--input", "range:0:4294967296", "uniform")
        printed = self.bench("--step", "3", "--n", "1000", *inputs, "--type", "u32", "u64")
        self.assertIn("unsupported: 4294967296 is too large for u32 keys", printed)
        own = [(row.type, row.input, row.status) for row in self.rows() if row.lab == LAB]
        self.assertEqual(len(own), 4)
        self.assertEqual([row for row in own if row[2] != "verified"], [("u32", "range:0:4294967296", "unsupported")])

    def test_an_empty_sweep_explains_why(self) -> None:
        with self.assertRaises(Usage) as raised:
            self.sweep("--step", "1", "--n", "2^40", "2^41", lab="01-odd-even", gold=False)
        self.assertIn(
            "nothing to measure. Left out: 01-odd-even step 1 for n = "
            "1099511627776, where it would take too long (its largest is 65536)",
            str(raised.exception),
        )

    def test_too_many_keys_for_the_memory_do_not_end_a_sweep(self) -> None:
        printed = self.bench("--step", "3", "--n", "2^40", "1000")
        self.assertIn("of this machine's memory", printed)
        self.assertEqual([row.status for row in self.rows() if row.lab == LAB], ["unsupported", "verified"])

    def test_bytes_are_compared_with_a_counting_sort(self) -> None:
        orders = ("--order", "ascending", "descending")
        self.bench("--step", "1", "--n", "2^18", "--repeats", "3", *orders, lab="04-counting")
        self.assertEqual(
            {(row.gold, row.status) for row in self.rows() if row.lab == "04-counting"}, {("counting", "verified")}
        )
        self.assertEqual({row.status for row in self.rows() if row.name == "counting"}, {"verified"})

    def test_rows_of_another_machine_are_refused(self) -> None:
        self.bench("--n", "100", "--machine", "desk")
        before = self.csv.read_text()
        with self.assertRaisesRegex(
            Problem, r"has measurements of another machine \(desk; this one is lap\)"
        ) as raised:
            self.sweep("--n", "100", "--machine", "lap")
        self.assertEqual(raised.exception.status, 2)
        self.assertEqual(self.csv.read_text(), before)

    def test_a_damaged_number_is_named(self) -> None:
        self.bench("--n", "100", "--step", "1")
        text = self.csv.read_text()
        speed = text.splitlines()[2].split(",")[row_files.COLUMNS.index("keys_per_s")]
        self.csv.write_text(text.replace(speed, "fast"))
        with self.assertRaisesRegex(Problem, "row 3: 'fast' in column keys_per_s is not a number") as raised:
            self.sweep("--n", "100", "--step", "1")
        self.assertEqual(raised.exception.status, 2)

    def test_the_time_left_is_no_longer_than_the_budget(self) -> None:
        seconds = itertools.count(0, 0.25)  # a clock that a busy machine does not hasten
        clock = SimpleNamespace(monotonic=lambda: next(seconds), strftime=time.strftime, gmtime=time.gmtime)
        with redirect_stderr(io.StringIO()) as stream, mock.patch.object(measuring, "time", clock):
            self.sweep("--n", "2^10", "2^12", "2^14", "--budget", "5")
        printed = stream.getvalue()
        left = [int(found) for found in re.findall(r"about (\d+) s left", printed)]
        self.assertTrue(left)
        self.assertTrue(all(1 <= each <= 5 for each in left), left)
        self.assertNotIn("min left", printed)
        with self.assertRaisesRegex(Usage, "--budget must be greater than 0, in seconds; it is 0"):
            self.sweep("--budget", "0")

    def test_a_file_of_another_version(self) -> None:
        self.csv.write_text("lab,step\nx,1\n")
        with self.assertRaisesRegex(Problem, "was written by another version") as raised:
            self.sweep("--n", "10")
        self.assertEqual(raised.exception.status, 2)
        self.assertEqual(self.csv.read_text(), "lab,step\nx,1\n")


if __name__ == "__main__":
    PROGRAMS = [Path(word).resolve() for word in sys.argv[1:6]]
    unittest.main(argv=sys.argv[:1])
