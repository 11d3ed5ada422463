"""Sweeps of the judge, end to end: bench_test.py JUDGE GOLD RUNNER COUNTING.

RUNNER and COUNTING: of the solutions of 03-bitonic and 04-counting, cpu build.
"""

import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from workbook.core import measurements

LAB = "03-bitonic"
PROGRAMS = []


class Sweeps(unittest.TestCase):
    """A CSV file of its own for each test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.csv = Path(folder.name) / "rows.csv"

    def command(self, *options, gold=True):
        judge, gold_runner, runner, _ = PROGRAMS
        return [
            judge,
            "bench",
            "--lab",
            LAB,
            "--runner",
            runner,
            "--build",
            "cpu",
            "--csv",
            str(self.csv),
            "--seed",
            "7",
            "--repeats",
            "5",
            *(["--gold", gold_runner] if gold else []),
            *options,
        ]

    def bench(self, *options, status=0, **more):
        done = subprocess.run(self.command(*options, **more), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def rows(self):
        return measurements.read(self.csv)

    def test_a_row_says_all(self):
        self.bench("--n", "2^12", "--step", "3", "--commit", "abc", "--machine-id", "desk")
        step = self.rows()[-1]
        self.assertEqual(
            [step[name] for name in ("lab", "step", "n", "status", "commit", "machine_id", "kernel")],
            [LAB, "3", "4096", "verified", "abc", "desk", ""],
        )
        gold = max((row for row in self.rows() if row["lab"] == "gold"), key=lambda row: float(row["keys_per_s"]))
        self.assertEqual(step["gold"], gold["name"])
        self.assertAlmostEqual(float(step["ratio"]), float(step["keys_per_s"]) / float(gold["keys_per_s"]), places=4)
        self.assertAlmostEqual(float(step["gb_per_s"]), 8 * 4096 / float(step["median_ms"]) / 1e6, places=4)
        self.assertAlmostEqual(
            float(step["percent_of_roof"]), 100 * float(step["gb_per_s"]) / float(step["roof_gb_per_s"]), places=3
        )

    def test_kernels_and_copies(self):
        self.bench("--n", "10000", "--kernels", "--transfers", gold=False)
        rows = self.rows()
        kernels = {row["kernel"]: row for row in rows if row["step"] == "3" and row["kernel"]}
        self.assertEqual(
            set(kernels), {"to device", "to host", "sort_tiles_kernel", "run_global_stage", "merge_in_tiles"}
        )
        # 10,000 keys are 10 tiles: four merges, of which each begins with its strides beyond a tile.
        self.assertEqual(
            [kernels[name]["launches"] for name in ("sort_tiles_kernel", "run_global_stage", "merge_in_tiles")],
            ["1", "10", "4"],
        )
        self.assertEqual(int(kernels["sort_tiles_kernel"]["grid"]), 10)
        self.assertGreater(float(kernels["to device"]["gb_per_s"]), 0)
        self.assertEqual(len(measurements.whole(rows)), 3)

    def test_an_impossible_shape_is_skipped_and_said(self):
        told = self.bench("--n", "1000", "--step", "2", "--shapes", "1x32", "2x4096", gold=False)
        self.assertIn("impossible launch shape: 4096 threads", told)
        self.assertEqual(
            [(row["blocks"], row["threads"], row["status"]) for row in self.rows()],
            [("1", "32", "verified"), ("2", "4096", "unsupported")],
        )
        self.assertIn("--shapes 2by2 is no launch shape", self.bench("--shapes", "2by2", status=2))

    def test_the_same_call_measures_nothing_again(self):
        self.bench("--n", "100", "200")
        before = self.csv.read_text()
        self.assertIn("going on: ", self.bench("--n", "100", "200"))
        self.assertEqual(self.csv.read_text(), before)

    def test_interrupted_it_goes_on(self):
        process = subprocess.Popen(self.command("--n", "2^16", "2^17", "--min-time", "5"), stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (self.csv.exists() and self.csv.read_text().count("\n") > 2):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.wait()
        kept = self.rows()
        self.assertGreater(len(kept), 0)
        self.csv.write_text(self.csv.read_text() + "03-bitonic,1,glo")  # as if it had been cut within a row
        self.bench("--n", "2^16", "2^17")
        rows = self.rows()
        self.assertEqual(rows[: len(kept)], kept)
        self.assertEqual(len(measurements.distinct(rows)), len(rows))
        self.assertEqual(sum(row["lab"] == LAB for row in rows), 6)
        self.assertTrue(all(row["ratio"] for row in rows if row["lab"] == LAB))

    def test_time_that_is_up_leaves_out_the_rest(self):
        told = self.bench("--n", "1000", "2^17", "--budget", "0.000001", gold=False)
        self.assertIn("left out: ", told)
        self.assertLess(len(self.rows()), 6)

    def test_the_gold_standard_alone(self):
        self.bench("--n", "1000", "--only-gold")
        self.assertEqual({row["lab"] for row in self.rows()}, {"gold"})

    def test_no_keys_have_a_time_and_no_speed(self):
        self.bench("--n", "0", "1", "--step", "1")
        self.assertEqual({row["status"] for row in self.rows()}, {"verified"})
        self.assertEqual({(row["keys_per_s"], row["ratio"]) for row in self.rows() if row["n"] == "0"}, {("", "")})

    def test_impossible_combinations_are_skipped_and_said(self):
        told = self.bench(
            "--step", "3", "--n", "1000", "--input", "range:0:4294967296", "uniform", "--type", "u32", "u64"
        )
        self.assertIn("unsupported: 4294967296 is too large for u32 keys", told)
        own = [(row["type"], row["input"], row["status"]) for row in self.rows() if row["lab"] == LAB]
        self.assertEqual(len(own), 4)
        self.assertEqual([one for one in own if one[2] != "verified"], [("u32", "range:0:4294967296", "unsupported")])

    def test_an_empty_sweep_says_why(self):
        judge, _, runner, _ = PROGRAMS
        done = subprocess.run(
            [
                judge,
                "bench",
                "--lab",
                "01-odd-even",
                "--runner",
                runner,
                "--build",
                "cpu",
                "--step",
                "1",
                "--n",
                "2^40",
                "2^41",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn(
            "an empty sweep: nothing is left to be measured. Left out: 01-odd-even step 1 for n = "
            "1099511627776, where it would take too long (its largest is 65536)",
            done.stderr,
        )

    def test_too_many_keys_for_the_memory_do_not_end_a_sweep(self):
        told = self.bench("--step", "3", "--n", "2^40", "1000")
        self.assertIn("of this machine's memory", told)
        self.assertEqual([row["status"] for row in self.rows() if row["lab"] == LAB], ["unsupported", "verified"])

    def test_bytes_are_held_against_a_counting_sort(self):
        judge, gold_runner, _, counting = PROGRAMS
        subprocess.run(
            [
                judge,
                "bench",
                "--lab",
                "04-counting",
                "--runner",
                counting,
                "--gold",
                gold_runner,
                "--build",
                "cpu",
                "--csv",
                str(self.csv),
                "--step",
                "1",
                "--n",
                "2^18",
                "--repeats",
                "3",
                "--order",
                "ascending",
                "descending",
            ],
            stderr=subprocess.DEVNULL,
            check=True,
        )
        self.assertEqual(
            {(row["gold"], row["status"]) for row in self.rows() if row["lab"] == "04-counting"},
            {("counting", "verified")},
        )
        self.assertEqual({row["status"] for row in self.rows() if row["name"] == "counting"}, {"verified"})

    def test_rows_of_another_machine_are_refused(self):
        self.bench("--n", "100", "--machine-id", "desk")
        before = self.csv.read_text()
        told = self.bench("--n", "100", "--machine-id", "lap", status=2)
        self.assertIn("has measurements of another machine (desk; this one is lap)", told)
        self.assertEqual(self.csv.read_text(), before)

    def test_a_damaged_number_is_named(self):
        self.bench("--n", "100", "--step", "1")
        rows = self.rows()
        self.csv.write_text(self.csv.read_text().replace(rows[1]["keys_per_s"], "fast"))
        self.assertIn("'fast' as keys_per_s of row 3 is no number", self.bench("--n", "100", "--step", "1", status=2))

    def test_the_time_left_is_no_longer_than_the_budget(self):
        told = subprocess.run(
            self.command("--n", "2^10", "2^12", "2^14", "--budget", "5"), stderr=subprocess.PIPE, text=True, check=False
        ).stderr
        left = [int(seconds) for seconds in re.findall(r"about (\d+) s left", told)]
        self.assertTrue(left)
        self.assertTrue(all(1 <= seconds <= 5 for seconds in left), left)
        self.assertNotIn("min left", told)
        self.assertIn("--budget 0 is no number of seconds: give more than 0", self.bench("--budget", "0", status=2))

    def test_a_file_of_another_version(self):
        self.csv.write_text("lab,step\nx,1\n")
        self.assertIn("is not a file of measurements of this version", self.bench("--n", "10", status=2))
        self.assertEqual(self.csv.read_text(), "lab,step\nx,1\n")


if __name__ == "__main__":
    PROGRAMS = sys.argv[1:5]
    unittest.main(argv=sys.argv[:1])
