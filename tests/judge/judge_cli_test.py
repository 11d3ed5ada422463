"""`run` with a real judge and runner: numbers, files, and keys on standard input.

judge_cli_test.py JUDGE RUNNER, the runner of the solutions of 04-counting, whose keys on standard input are counted.
"""

import contextlib
import io
import random
import struct
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from workbook import cli
from workbook.core import course, sweeps
from workbook.core.judge_client import JudgeClient
from workbook.core.judge_types import IN_PLACE
from workbook.verbs import run

JUDGE, RUNNER = map(Path, sys.argv[1:3])


def sort(*options: str, keys: bytes = b"") -> SimpleNamespace:
    """`./workbook run` of step 1, whose keys are bytes, on programs that exist already."""
    out = io.TextIOWrapper(io.BytesIO(), write_through=True)
    with (
        mock.patch.object(run, "prepare", lambda *_: ("cpu", RUNNER)),
        mock.patch.object(run, "JudgeClient", lambda: JudgeClient(JUDGE)),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(keys))),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()) as printed,
    ):
        first = [] if "--step" in options else ["1"]
        words = [word for word in options if word != "--step"]
        status = cli.main(["run", "04-counting", *first, *words])
    return SimpleNamespace(status=status, out=out.buffer.getvalue(), printed=printed.getvalue())


class Sort(unittest.TestCase):
    def assert_refused(self, words: str, *options: str, keys: bytes = b"") -> None:
        done = sort("--type", "u8", *options, keys=keys)
        self.assertEqual((done.status, done.out), (2, b""), done.printed)
        self.assertIn(words, done.printed)
        self.assertEqual(len(done.printed.splitlines()), 1, done.printed)

    def test_values_that_are_not_numbers(self) -> None:
        self.assert_refused("--blocks must be a whole number from 0 to 2147483647", "--blocks", "99999999999")
        self.assert_refused("--threads must be a whole number from 0 to 2147483647; it is 1x", "--threads", "1x")
        self.assert_refused("--seed must be a whole number from 0 to 18446744073709551615", "--seed", "zz")
        self.assert_refused("--seed must be a whole number", "--seed=-1")
        for text in ("x", "0", "-1", "nan"):
            self.assert_refused(f"--timeout must be greater than 0, in seconds; it is {text}", f"--timeout={text}")
        self.assert_refused("--n many is not a whole number", "--n", "many")

    def test_impossible_launch_shapes_reach_the_step(self) -> None:
        # A failed test prints such a command.
        done = sort("--type", "u8", "--n", "100", "--blocks", "-1", "--threads", "-32")
        self.assertIn("unsupported", done.printed)

    def test_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "keys")
            path.write_bytes(b"")
            self.assert_refused("is empty: it contains no keys", "--input", f"file:{path}")
            path.write_bytes(bytes(1003))
            odd = ["--step", "4", "--input", f"file:{path}", "--type", "u32"]
            done = sort(*odd, "--n", "100")
            self.assertEqual(done.status, 0, done.printed)
            self.assertIn("100 u32 keys", done.printed)
            for more, words in (([], "--n 250 or less"), (["--n", "251"], "contains 250 u32 keys in its 1003 bytes")):
                done = sort(*odd, *more)
                self.assertEqual(done.status, 2)
                self.assertIn(words, done.printed)

    def test_keys_on_standard_input_follow_their_number(self) -> None:
        keys = random.Random(5).randbytes(3001)
        done = sort("--type", "u8", "--stdin", keys=struct.pack("<I", len(keys)) + keys)
        self.assertEqual(done.status, 0, done.printed)
        self.assertEqual(done.out, bytes(sorted(keys)))
        self.assertEqual(sort("--type", "u8", "--stdin", keys=bytes(4)).out, b"")

    def test_a_number_on_standard_input_that_does_not_fit(self) -> None:
        for announced, words in (
            (11, "announces 11 keys, 11 bytes, but 10 bytes follow"),
            (9, "announces 9 keys, 9 bytes, but 10 bytes follow"),
            (537000001, "announces 537000001 keys; at most 537000000 are accepted"),
        ):
            self.assert_refused(words, "--stdin", keys=struct.pack("<I", announced) + bytes(10))
        self.assert_refused("standard input has 3 bytes; it must begin with 4", "--stdin", keys=bytes(3))

    def test_what_standard_input_excludes(self) -> None:
        self.assert_refused("--stdin sorts all of standard input: leave out --n", "--stdin", "--n", "10")
        self.assert_refused("--stdin sorts: leave out --task scan", "--stdin", "--task", "scan")
        self.assert_refused("--stdin cannot be used with --build check", "--stdin", "--build", "check")


class Parts(unittest.TestCase):
    """Names in the tables."""

    def test_the_command_knows_the_parts_of_the_tables(self) -> None:
        with JudgeClient(JUDGE) as judge:
            for lab in judge.labs():
                parts = {line.name: line.number for line in lab.steps if line.part}
                self.assertEqual(course.parts(lab.name), parts)

    def test_what_a_line_uses_exists_and_comes_before_it(self) -> None:
        with JudgeClient(JUDGE) as judge:
            for lab in judge.labs():
                for line in lab.steps:
                    for name in line.uses:
                        (used,) = [other for other in lab.steps if other.name == name]
                        self.assertLess(used.number, line.number)
            counting = judge.lab("04-counting")
            (stable,) = [line for line in counting.steps if line.name == "stable"]
            self.assertEqual([line.name for line in counting.used_by(stable)], ["blelloch", "reduce"])
            (parallel,) = [line for line in counting.steps if line.name == "parallel"]
            self.assertEqual([line.name for line in counting.used_by(parallel)], ["histogram", "blelloch"])

    def test_a_part_by_its_name(self) -> None:
        done = sort("--step", "histogram", "--n", "100", "--seed", "1")
        self.assertEqual(done.status, 0, done.printed)
        self.assertIn("04-counting step 2 histogram: 100 u8 keys", done.printed)
        self.assertEqual(sort("--step", "2", "--task", "histogram", "--n", "100", "--seed", "1").status, 0)
        done = sort("--step", "2", "--task", "reduce")
        self.assertEqual(done.status, 2)
        self.assertIn("04-counting has no step 2 with the task reduce; choose one of: 4 reduce", done.printed)
        done = sort("--step", "2", "--task", "histogram-of-words")
        self.assertEqual(done.status, 2)
        self.assertIn(
            "04-counting step 2 has no part 'histogram-of-words'; choose one of: histogram, scan, sort", done.printed
        )

    def test_a_step_with_a_counter_per_value_gets_few_values_by_default(self) -> None:
        done = sort("--step", "5", "--n", "1000", "--seed", "1")
        self.assertEqual(done.status, 0, done.printed)
        self.assertIn("1000 pairs, range:5000000:5000255", done.printed)
        self.assertIn("uniform", sort("--step", "4", "--n", "1000", "--seed", "1").printed)  # of bytes

    def test_a_step_sorts_by_default_what_it_can_in_about_a_second(self) -> None:
        with JudgeClient(JUDGE) as judge:
            lab = judge.lab("01-odd-even")
            line = lab.own_line(1)
            self.assertEqual(sweeps.affordable_n(line, "uniform", "u32", "cpu"), line.affordable.cpu)
            self.assertEqual(sweeps.affordable_n(line, "uniform", "u32", "cuda"), 65536)
            (shared,) = [line for line in judge.lab("04-counting").steps if line.name == "shared"]
            self.assertEqual(sweeps.affordable_n(shared, "uniform", "u8", "cuda"), sweeps.DEFAULT_N)


class CheckCases(unittest.TestCase):
    """The cases of the check build, which the judge makes from a lab's table."""

    def test_every_type_and_order_is_tried(self) -> None:
        with JudgeClient(JUDGE) as judge:
            for lab in judge.labs():
                for line in lab.steps:
                    groups = judge.cases(lab.name, line.number, "check", "check", seed=1)
                    cases = [case for group in groups for case in group.cases if case.task == line.task]
                    sizes = {case.n for case in cases}
                    self.assertEqual({case.type for case in cases}, set(line.types), line)
                    self.assertGreater(len({case.lane_seed for case in cases}), 1)
                    self.assertIn(1, sizes)
                    if line.task in IN_PLACE:
                        self.assertEqual({case.order for case in cases}, {"ascending", "descending"})
                    if line.tile:
                        self.assertLessEqual({line.tile - 1, line.tile, 2 * line.tile + 1}, sizes)
                    if line.affordable.check < 5000:
                        self.assertTrue(all(n <= line.affordable.check for n in sizes), line)
                    else:
                        self.assertIn(5000, sizes)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
