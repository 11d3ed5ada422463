"""How `check` goes through its tests, and what `watch` sees."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from workbook import check, watch
from workbook.paths import Step

UNWRITTEN = "step 02 is not written yet: labs/03-bitonic/02_shared.cu:86"

FAILED = """\
step 02 shared     any n                                 31 cases  ok

labs/03-bitonic/02_shared.cu: keys[3] is 9, not 4; before it 1 2 3, after it 5
  1023 u32, input sorted, descending, seed 42
  the runner printed:
hello
  again: ./workbook run 03-bitonic 2 --n 1023

step 02 shared     any input                             12 cases  FAILED

labs/03-bitonic/02_shared.cu: second thing
  again: ./workbook run 03-bitonic 2 --n 1

03-bitonic: not right yet (public tests only, seed 42)
"""


class CheckStep(unittest.TestCase):
    """The quick tests come first; the full ones only after them; a verdict is kept for both ends."""

    STEP = Step("03-bitonic", 2, "shared")

    def check(self, *ends):
        calls, saved = [], []

        def graded(_step, _kind, quick, _timeout):
            calls.append("quick" if quick else "full")
            return ends[len(calls) - 1]

        keeper = SimpleNamespace(save_verdict=lambda step, kind, verdict: saved.append(verdict))
        with mock.patch.object(check, "_graded", graded), mock.patch.object(check, "ProgressFile", lambda: keeper), \
                mock.patch("builtins.print") as told:
            passed = check.check_step(self.STEP, "cpu", False)
        return passed, calls, saved, "\n".join(str(call.args[0]) for call in told.call_args_list if call.args)

    def test_passed(self):
        passed, calls, saved, told = self.check((0, "step 02 x 3 cases  ok\n"), (0, "step 02 x 30 cases  ok\n"))
        self.assertEqual((passed, calls, saved), (True, ["quick", "full"], ["passed"]))
        self.assertIn("33 cases", told)

    def test_failed_at_once(self):
        passed, calls, saved, told = self.check((1, FAILED))
        self.assertEqual((passed, calls, saved), (False, ["quick"], ["failed"]))
        self.assertIn("keys[3] is 9, not 4", told)

    def test_failed_in_the_full_tests(self):
        self.assertEqual(self.check((0, ""), (1, FAILED))[:3], (False, ["quick", "full"], ["failed"]))

    def test_not_written(self):
        passed, calls, saved, told = self.check((1, UNWRITTEN + "\n"))
        self.assertEqual((passed, calls, saved), (False, ["quick"], ["not written"]))
        self.assertIn("./workbook hint 03-bitonic 2", told)

    def test_tests_that_crash_are_no_pass(self):
        self.assertFalse(self.check((-11, ""))[0])


class Watch(unittest.TestCase):
    def test_a_save_shows(self):
        with tempfile.TemporaryDirectory() as folder:
            lab = Path(folder) / "labs/03-bitonic"
            lab.mkdir(parents=True)
            (lab / "01_global.cu").write_text("a")
            (lab / ".01_global.cu.swp.cu").write_text("an editor's own")
            (lab / "README.md").write_text("no source")
            before = watch.snapshot("03-bitonic", Path(folder))
            self.assertEqual([path.name for path in before], ["01_global.cu"])
            self.assertEqual(watch.snapshot("03-bitonic", Path(folder)), before)
            (lab / "01_global.cu").write_text("ab")
            self.assertNotEqual(watch.snapshot("03-bitonic", Path(folder)), before)


if __name__ == "__main__":
    unittest.main()
