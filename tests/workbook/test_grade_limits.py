"""How long a submission may take, and what it may learn from a compiler."""

import unittest
from pathlib import Path
from unittest import mock

from workbook.core.judge_client import JudgeClient
from workbook.grading.allowance import LEAST_SECONDS, Allowance, TimedJudge, UsedUp
from workbook.grading.compiler_output import FOREIGN, own_lines
from workbook.grading.own_code import refusals

TREE, SCRATCH = Path("/tmp/box/tree"), Path("/tmp/box/tmp/01_global.cu.d")


class Time(unittest.TestCase):
    """A step may take ten times as long as the solution, and at least 20 seconds."""

    def test_20_seconds_are_always_allowed(self) -> None:
        def ask() -> float:
            raise AssertionError("the solution was timed, which takes long")

        allowance = Allowance(ask)
        allowance.add(LEAST_SECONDS)
        allowance.require()

    def test_ten_times_the_solution(self) -> None:
        allowance = Allowance(lambda: 20.0)
        allowance.add(200)
        allowance.require()
        allowance.add(1)
        with self.assertRaisesRegex(UsedUp, "have taken 201 s .* take 20 s, .* may take 200 s"):
            allowance.require()

    def test_a_fast_solution(self) -> None:
        allowance = Allowance(lambda: 1.0)
        allowance.add(LEAST_SECONDS + 1)
        with self.assertRaisesRegex(UsedUp, "may take 20 s"):
            allowance.require()

    def test_cases_count_without_waiting(self) -> None:
        allowance = Allowance(lambda: 0.0)
        answers = iter(({"times": {"waited_ms": 4000.0}}, {"times": {"waited_ms": 0.0}}, {}))
        clock = iter((10.0, 75.0, 100.0, 101.0))
        judge = TimedJudge(allowance, Path("judge"))
        with (
            mock.patch.object(JudgeClient, "ask", lambda *_: next(answers)),
            mock.patch("time.monotonic", lambda: next(clock)),
        ):
            judge.ask({"ask": "run"})
            self.assertEqual(61.0, allowance.spent)
            with self.assertRaises(UsedUp):
                judge.ask({"ask": "run"})
            judge.ask({"ask": "labs"})  # is no case
        self.assertEqual(61.0, allowance.spent)


class OwnCode(unittest.TestCase):
    """What only a CPU runs, or what hides from the check build, wherever a preprocessed file has it."""

    def refused(self, code: str) -> list[str]:
        """The names that are refused in a step's file."""
        text = f'# 1 "/usr/include/math.h" 1 3\nasm("x");\n# 1 "labs/01-odd-even/01_global.cu" 2\n{code}\n'
        return [sentence.split(" ")[2].rstrip(":") for sentence in refusals("01_global.cu", code, text)]

    def test_names_that_are_refused(self) -> None:
        for code, name in (
            ('asm volatile("nop");', "asm"),
            ("char a = '\"'; __asm__(\"nop\"); char b = '\"';", "__asm__"),
            ('auto s = R"(")"; asm("nop");', "asm"),
            ('auto s = u8R"x(")x"; asm("nop");', "asm"),
            ('auto s = R"(\f# 1 "x.h" 3\f)"; asm("nop");', "asm"),
            ("int n = 1'000; asm(\"nop\"); int m = 1'000;", "asm"),
            ("[[gnu::no_sanitize_thread]] void f();", "no_sanitize_thread"),
            (
                "__attribute__((__disable_sanitizer_instrumentation__)) void f();",
                "__disable_sanitizer_instrumentation__",
            ),
            ("x = _mm_loadu_si128(p);", "_mm_loadu_si128"),
            ("x = vld1q_u8(p);", "vld1q_u8"),
            ('#line 1 "/usr/include/math.h"', "#line"),
            (' # /* a */ 1 "x.h" 3', "#line"),
        ):
            self.assertEqual([name], self.refused(code), code)

    def test_what_is_not(self) -> None:
        for code in (
            'const char* words = "asm no_sanitize";',
            '/*\n# line by line\n# 2 "halves"\n*/',
            "unsigned vld4_keys(int value_u32);",
            "// asm",
            'const char* raw = R"(asm)";',
        ):
            self.assertEqual([], self.refused(code), code)


class Compilers(unittest.TestCase):
    """Only lines about the submission's files, the workbook's and the system's public headers."""

    def kept(self, *lines: str) -> list[str]:
        """What is left of a compiler's output."""
        return own_lines("\n".join(lines), TREE, SCRATCH).splitlines()

    def test_own_files_and_headers(self) -> None:
        lines = [
            "In file included from labs/01-odd-even/01_global.cu:3:",
            "/usr/include/c++/12/vector:5:2: error: no match",
            "    5 | x",
            "      | ^",
            "labs/01-odd-even/01_global.cu: In function ‘void f()’:",
            "labs/01-odd-even/01_global.cu:7:3: note: required from here",
            "common/step/keys.h:9:1: error: expected ;",
            f"{SCRATCH}/cc1.s:12: Error: no such instruction: `hello'",
            "cc1plus: all warnings being treated as errors",
            "collect2: error: ld returned 1 exit status",
        ]
        self.assertEqual(lines, self.kept(*lines))
        self.assertEqual(
            ["labs/01-odd-even/01_global.cu:1: error: x"],
            self.kept(f"{TREE}/labs/01-odd-even/01_global.cu:1: error: x"),
        )

    def test_files_of_others(self) -> None:
        found = self.kept(
            "In file included from labs/01-odd-even/01_global.cu:1:",
            "/etc/passwd:1:1: error: ‘root’ does not name a type",
            "    1 | root:x:0:0:root:/root:/bin/bash",
            "      | ^~~~",
            "/usr/../etc/shadow:2:1: error: secret",
            "/etc/passwd:2: Error: no such instruction: `daemon:x'",
            "../../solutions/a.cu(5): error: secret",
            "labs/01-odd-even/01_global.cu:9:1: error: own",
        )
        self.assertEqual(
            [
                "In file included from labs/01-odd-even/01_global.cu:1:",
                FOREIGN,
                "labs/01-odd-even/01_global.cu:9:1: error: own",
            ],
            found,
        )


if __name__ == "__main__":
    unittest.main()
