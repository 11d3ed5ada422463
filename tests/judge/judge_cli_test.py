"""What the judge's command line takes and refuses: numbers, files, and keys on standard input.

python3 judge_cli_test.py JUDGE RUNNER_OF_04_COUNTING
"""

import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

JUDGE, RUNNER = sys.argv[1:3]


def sort(*options, keys=None):
    """The judge's `sort` of step 1, whose keys are bytes."""
    return subprocess.run(
        [JUDGE, "sort", "--lab", "04-counting", "--step", "1", "--runner", RUNNER, "--type", "u8", *options],
        input=keys,
        capture_output=True,
        check=False,
    )


class Sort(unittest.TestCase):
    def assert_refused(self, told, *options, keys=None):
        done = sort(*options, keys=keys)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(told, done.stderr.decode())
        self.assertEqual(len(done.stderr.decode().splitlines()), 1, done.stderr)

    def test_numbers_that_are_none(self):
        self.assert_refused(
            "--blocks 99999999999 is no number of blocks: give 0 to 2147483647", "--blocks", "99999999999"
        )
        self.assert_refused("--threads 1x is no number of threads: give 0 to 2147483647", "--threads", "1x")
        self.assert_refused("--seed zz is no seed", "--seed", "zz")
        self.assert_refused("--seed -1 is no seed", "--seed", "-1")
        for text in ("x", "0", "-1", "nan"):
            self.assert_refused(f"--timeout {text} is no number of seconds: give more than 0", "--timeout", text)
        self.assert_refused("--n many is no count of keys", "--n", "many")

    def test_impossible_launch_shapes_reach_the_step(self):
        done = sort("--n", "100", "--blocks", "-1", "--threads", "-32")  # as a failed test says how to run it again
        self.assertIn("unsupported", done.stderr.decode())

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "keys")
            path.write_bytes(b"")
            self.assert_refused("is empty: it holds no keys", "--input", f"file:{path}")
            path.write_bytes(bytes(1003))
            odd = ["--input", f"file:{path}", "--step", "4", "--type", "u32"]
            done = subprocess.run(
                [JUDGE, "sort", "--lab", "04-counting", "--runner", RUNNER, *odd, "--n", "100"],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("100 u32 keys", done.stderr)
            for more, told in (([], "--n 250 or less"), (["--n", "251"], "holds 250 u32 keys in its 1003 bytes")):
                done = subprocess.run(
                    [JUDGE, "sort", "--lab", "04-counting", "--runner", RUNNER, *odd, *more],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(done.returncode, 2)
                self.assertIn(told, done.stderr)

    def test_keys_on_standard_input_follow_their_number(self):
        keys = random.Random(5).randbytes(3001)
        done = sort("--stdin", keys=struct.pack("<I", len(keys)) + keys)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, bytes(sorted(keys)))
        self.assertEqual(sort("--stdin", keys=bytes(4)).stdout, b"")

    def test_a_number_on_standard_input_that_does_not_fit(self):
        keys = bytes(10)
        self.assert_refused(
            "announces 11 keys, 11 bytes, but 10 bytes follow", "--stdin", keys=struct.pack("<I", 11) + keys
        )
        self.assert_refused(
            "announces 9 keys, 9 bytes, but 10 bytes follow", "--stdin", keys=struct.pack("<I", 9) + keys
        )
        self.assert_refused(
            "announces 537000001 keys; at most 537000000 are taken", "--stdin", keys=struct.pack("<I", 537000001) + keys
        )
        self.assert_refused("standard input has 3 bytes; it must begin with 4", "--stdin", keys=bytes(3))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
