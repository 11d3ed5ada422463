"""Why a loop of a kernel does not end."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from workbook.causes.endless import _why, endless, repeated
from workbook.causes.source import Source
from workbook.core.course import ROOT
from workbook.core.judge_types import Case, Outcome

KERNEL = """
__global__ void kernel(int* keys, int n) {
  %s
}
"""


def cause(loop: str, line: int = 4, status: str = "hung") -> str:
    """What is said of a kernel with a loop that was in a line when its time ended."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.cu"
        file.write_text(KERNEL % loop, encoding="utf-8")
        case = Case("01-odd-even", 1, 8)
        found = endless(Outcome(case=case, passed=False, status=status, file=str(file), line=line), Source(str(file)))
    return str(found).replace(str(file), "x.cu") if found else ""


class Endless(unittest.TestCase):
    def test_a_variable_that_stays_the_same(self) -> None:
        for step, why in (
            ("i += 0", "`i += 0` does not change i"),
            ("i *= 1", "`i *= 1` does not change i"),
            ("k += 1", "it changes k, but its condition is `i < n`"),
        ):
            with self.subTest(step):
                said = cause(f"for (int i = 0, k = 0; i < n; {step})\n    keys[i] = 0;")
                self.assertTrue(said.startswith(f"x.cu:3: error: this loop does not end: {why}"), said)

    def test_a_while_loop(self) -> None:
        self.assertIn("nothing in it changes k or n", cause("int k = 1;\n  while (k < n) {\n    keys[k] = 0;\n  }", 5))
        self.assertIn("does the loop end?", cause("int k = 1;\n  while (k < n) {\n    k += keys[k];\n  }", 5))

    def test_a_loop_that_advances_in_a_branch(self) -> None:
        said = cause("int k = 1;\n  while (k < n) {\n    if (keys[k] < 0) {\n      k += 2;\n    }\n  }", 5)
        self.assertIn("line 6: `k += 2` runs only if this condition is true: line 5: `if (keys[k] < 0)`", said)

    def test_a_while_loop_that_halves(self) -> None:
        loop = "int stride = n;\n  while (stride >= 0) {\n    keys[stride] = 0;\n    stride /= 2;\n  }"
        said = cause(loop, 99)  # the kernel was in a function of a header
        self.assertTrue(
            said.startswith("x.cu:4: error: this loop does not end: `stride /= 2` leaves stride at 0"), said
        )
        self.assertEqual(cause(loop.replace(">= 0", "> 0"), 99), "")
        self.assertEqual(cause(loop.replace("keys[stride] = 0", "if (n) stride -= 1"), 99), "")  # it changes twice

    def test_a_while_loop_that_leaves_its_step_out(self) -> None:
        loop = "int k = 1;\n  while (k < n) {\n    if (keys[k]) continue;\n    k = k * 2;\n  }"
        self.assertIn("if its `continue` runs, `k = k * 2` is left out", cause(loop, 5))
        self.assertIn("`k = k` does not change k", cause(loop.replace("k * 2", "k").replace("continue", "{}"), 5))
        endless_loop = loop.replace("k < n", "true")
        self.assertIn("its condition is `true`, and it has neither", cause(endless_loop, 5))
        self.assertNotIn("neither", cause(endless_loop.replace("continue", "return"), 5))

    def test_steps_that_only_look_like_others(self) -> None:
        for loop in (
            "int k = 0;\n  while (k < n) {\n    k = 2 * k + 1;\n  }",
            "int k = n;\n  while (k >= 0) {\n    k = k / 2 - 1;\n  }",
            "int k = 0;\n  ++k;\n  while (k < n) {\n    k = 2 * k;\n  }",
            "int k = int(unsigned(n)) - 1;\n  while (k >= 0) {\n    k -= 1;\n  }",
            "int k = 0;\n  while (k < n) {\n    for (int i = 0; i < n; ++i) if (keys[i]) continue;\n    k += 1;\n  }",
        ):
            with self.subTest(loop):
                self.assertEqual(cause(loop, 99), "")

    def test_threads_that_repeat_work(self) -> None:
        loop = "int t = threadIdx.x;\n  for (int i = t; i < n; ++i) keys[i] = 0;"
        self.assertIn("x.cu:4: error: each thread begins this loop at its own number, but advances by 1", cause(loop))
        for right in (
            loop.replace("i = t", "i = 0"),
            loop.replace("i = t", "i = t + 1"),
            loop.replace("keys[i] = 0;", "if (keys[i]) break;"),
            "for (int i = 0; i < n; ++i) keys[threadIdx.x] += i;",
            "int t = 4 * threadIdx.x, end = t + 4;\n  for (int i = t; i < end; ++i) keys[i] = 0;",
            "int t = threadIdx.x, end = t + 4;\n  for (int i = t; i < end; ++i) keys[i] = 0;",
            "int t = threadIdx.x;\n  for (int i = t; i < t + 4; ++i) keys[i] = 0;",
        ):
            with self.subTest(right):
                self.assertNotIn("advances by 1", cause(right))

    def test_right_loops(self) -> None:
        for path in sorted((ROOT / "solutions").glob("*/*.cu")):
            with self.subTest(path.name):
                source = Source(str(path))
                self.assertIsNone(repeated(source))
                self.assertEqual([loop.line for loop in source.loops if _why(loop, source)], [])

    def test_halving(self) -> None:
        loop = "for (int stride = n / 2; stride >= 0; stride /= 2)\n    keys[stride] = 0;"
        self.assertIn("`stride /= 2` leaves stride at 0, and `stride >= 0` is true then", cause(loop))

    def test_the_wrong_way(self) -> None:
        self.assertIn("away from the limit", cause("for (int i = 0; i < n; --i)\n    keys[i] = 0;"))
        self.assertIn("i is unsigned", cause("for (unsigned i = n; i >= 0; --i)\n    keys[i] = 0;"))
        self.assertIn(
            "in thread 0, i begins with 0", cause("for (int i = threadIdx.x; i < n; i *= 2)\n    keys[i] = 0;")
        )

    def test_a_loop_elsewhere_in_the_file(self) -> None:
        self.assertIn("x.cu:3: error", cause("for (int i = 0; i < n; i -= 1) {}\n  keys[0] = 0;", 4))

    def test_do_while_is_not_read(self) -> None:
        self.assertEqual(cause("int k = 0;\n  do {\n    ++k;\n  } while (k < n);", 5), "")

    def test_a_shape_that_is_exchanged(self) -> None:
        said = cause("keys[0] = 1;\n}\nvoid f() {\n  kernel<<<threads_per_block, blocks, 0, stream>>>(keys, 1);", 6)
        self.assertTrue(said.startswith("x.cu:6: error: are the numbers of blocks and threads exchanged"), said)
        said = cause("keys[0] = 1;\n}\nvoid f() {\n  kernel<<<blocks, threads>>>(keys, 1);", 6)
        self.assertEqual(said, "")

    def test_only_what_hangs(self) -> None:
        self.assertEqual(cause("for (int i = 0; i < n; i += 0)\n    keys[i] = 0;", status="wrong"), "")


if __name__ == "__main__":
    unittest.main()
