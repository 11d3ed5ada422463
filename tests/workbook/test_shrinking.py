"""Tests of the search for a smaller case that fails."""

from __future__ import annotations

import math
import unittest
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from report_data import step

from workbook.check import verdict
from workbook.check.shrinking import TRIES, Need, Shrinking
from workbook.check.words import smaller
from workbook.core.judge_types import Case, Finding, Outcome

LINE = step(2, "shared", types=("u32", "f32", "pairs"))


def outcome_of(case: Case, fails: bool, **members: Any) -> Outcome:
    return Outcome("wrong" if fails else "verified", not fails, case, **members)


def shrunk(fails: Callable[[Case], bool], all_keys: float = math.inf, **values: Any) -> Shrinking:
    """The search, which has ended, from a large case on."""
    usual = {"n": 3001, "type": "pairs", "order": "descending", "input": "uniform", "seed": 77}
    first = Case("03-bitonic", 2, **{**usual, **values})
    assert fails(first)
    tried: list[Case] = []

    def run(case: Case) -> Outcome:
        tried.append(case)
        assert len(tried) <= TRIES
        assert sum(case.n for case in tried) <= all_keys
        return outcome_of(case, fails(case))

    shrinking = Shrinking(outcome_of(first, True), LINE, run, 1 << 16, all_keys)
    shrinking.search()
    return shrinking


def facts_of(found: Shrinking) -> list[str]:
    """What the smallest case needs in order to fail, in words."""
    return [need.words for need in found.needs]


class Smallest(unittest.TestCase):
    """Which case is shown."""

    def test_everything_that_does_not_matter_is_left_out(self) -> None:
        found = shrunk(lambda case: case.n > 2, blocks=3, threads=96, offset=3, reversed_blocks=True)
        self.assertEqual(
            found.smallest.case, Case("03-bitonic", 2, 3, type="u32", input="range:0:9", seed=0, order="ascending")
        )
        self.assertEqual(facts_of(found), [])

    def test_where_keys_are_slow_all_tries_have_few_together(self) -> None:
        for all_keys, smallest in ((math.inf, 2049), (5000, 3001), (20000, 2073)):
            found = shrunk(lambda case: case.n > 2048, all_keys)
            self.assertEqual(found.smallest.case.n, smallest)

    def test_what_matters_is_kept_and_said(self) -> None:
        for values, kept, words in (
            ({}, lambda case: case.order == "descending", "fails only in descending order"),
            ({}, lambda case: case.type == "pairs", "fails for pairs, not for their keys alone"),
            ({"type": "f32"}, lambda case: case.type == "f32", "fails for f32 keys, not for u32 keys"),
            ({"reversed_blocks": True}, lambda case: case.reversed_blocks, "fails only if the last block starts first"),
            ({"offset": 5}, lambda case: case.offset > 0, "fails only if the arrays begin past an aligned address"),
            (
                {"threads": 96},
                lambda case: case.threads > 0,
                "fails with <<<1, 32>>>, and passes for this n with the launch shape",
            ),
        ):
            with self.subTest(words):
                found = shrunk(kept, **values)
                self.assertEqual(found.smallest.case.n, 2)
                self.assertTrue(kept(found.smallest.case))
                self.assertEqual([fact[: len(words)] for fact in facts_of(found)], [words])

    def test_a_fault_that_few_inputs_show(self) -> None:
        found = shrunk(lambda case: case.n > 2 and (case.input == "reversed" or case.seed == 77))
        self.assertEqual((found.smallest.case.n, found.smallest.case.input, facts_of(found)), (3, "reversed", []))
        found = shrunk(lambda case: case.n > 40 and case.input == "reversed", input="reversed")
        self.assertEqual(facts_of(found)[0], "fails for the input reversed, not for small random numbers")

    def test_few_keys_that_happen_to_be_in_order_decide_nothing(self) -> None:
        found = shrunk(lambda case: case.order == "descending" or case.input == "reversed", type="u32")
        self.assertEqual(facts_of(found), [])
        found = shrunk(lambda case: case.type == "f32" or case.seed not in (0, 77), type="f32", order="ascending")
        self.assertEqual(facts_of(found), [])

    def test_what_was_said_of_the_first_case_is_not_said_again(self) -> None:
        found = shrunk(lambda case: case.n > 2)
        found.smallest = replace(found.smallest, message="nothing changed: is a store missing?\n  wrong key at index 0")
        for said, times in (("nothing changed: is a store missing?\n  wrong key at index 1", 0), ("wrong key", 1)):
            text = "\n".join(smaller(verdict.Smallest(found.smallest, True, ()), said))
            self.assertEqual(text.count("is a store missing?"), times)
            self.assertIn("\n  wrong key at index 0", text)

    def test_another_failure_is_not_the_same(self) -> None:
        races = {n: Finding("a.cu", 1 if n < 100 else 2, "race", "two threads") for n in range(4000)}
        first = Case("03-bitonic", 2, 3001, type="u32", input="range:0:9", seed=0)
        shrinking = Shrinking(
            outcome_of(first, True, findings=(races[3001],)),
            LINE,
            lambda case: outcome_of(case, True, findings=(races[case.n],)),
            1 << 16,
        )
        shrinking.search()
        self.assertEqual(shrinking.smallest.case.n, 100)

    def test_what_fails_in_another_line_does_not_pass(self) -> None:
        """A template has a launch for each order: without the error read, each of them is reported."""
        lines = {"ascending": Finding("a.cu", 1, "race", "x"), "descending": Finding("a.cu", 2, "race", "x")}
        first = Case("03-bitonic", 2, 3001, type="u32", input="range:0:9", seed=0, order="descending")
        shrinking = Shrinking(
            outcome_of(first, True, findings=(lines["descending"],)),
            LINE,
            lambda case: outcome_of(case, True, findings=(lines[case.order],)),
            1 << 16,
        )
        shrinking.search()
        self.assertEqual((shrinking.smallest.case.order, facts_of(shrinking)), ("descending", []))

    def test_what_never_ends_is_not_tried_again(self) -> None:
        first = Case("03-bitonic", 2, 3001, type="u32")

        def run(case: Case) -> Outcome:
            raise AssertionError(case)

        for outcome in (
            Outcome("hung", False, first),
            Outcome("verified", False, first, findings=(Finding("a.cu", 1, "time-limit", "slow"),)),
            Outcome("wrong", False, Case("03-bitonic", 2, 100, blocks=-1, expect="refused")),
        ):
            shrinking = Shrinking(outcome, LINE, run, 1 << 16)
            shrinking.search()
            self.assertFalse(shrinking.has_shrunk)


class Facts(unittest.TestCase):
    """What is said about sizes and shapes."""

    def test_every_n_above_a_limit(self) -> None:
        found = shrunk(lambda case: case.n > 1024)
        self.assertEqual(found.smallest.case.n, 1025)
        self.assertEqual(
            facts_of(found), ["fails for every n above 1,024 (11 were tried, 2 of them also with other keys)"]
        )
        (said,) = facts_of(found)
        found.add_failing("cpu", 1025)
        self.assertEqual(facts_of(found), [said])
        found.add_failing("cpu", 1000)
        self.assertEqual(facts_of(found), [f"{said}; on the cpu build, n = 1,000 fails, too"])

    def test_other_keys_are_tried_before_it_is_every_n(self) -> None:
        found = shrunk(lambda case: case.n > 1024 and (case.n < 1100 or case.input != "uniform"), input="few-values")
        self.assertEqual(
            facts_of(found)[-1],
            "fails for every n above 1,024 with this input (11 were tried), but n = 3,072 passes with input uniform",
        )

    def test_another_type_may_fail_in_the_other_order(self) -> None:
        wrong = {("f32", "ascending"), ("u32", "descending")}
        found = shrunk(lambda case: (case.type, case.order) in wrong, type="f32", order="ascending")
        self.assertEqual([fact for fact in facts_of(found) if "u32" in fact], [])

    def test_every_n_that_is_not_a_multiple(self) -> None:
        found = shrunk(lambda case: case.n > 1024 and case.n % 32 != 0)
        self.assertEqual(found.smallest.case.n, 1025)
        self.assertIn("fails for every n above 1,024 that is not a multiple of 32 (", facts_of(found)[0])

    def test_powers_of_two_that_pass(self) -> None:
        found = shrunk(lambda case: case.n > 1024 and case.n & (case.n - 1) != 0)
        self.assertIn("fails for every n above 1,024 that is not a power of two (", facts_of(found)[0])
        self.assertEqual(facts_of(shrunk(lambda case: case.n > 1024 and case.n != 2048)), [])

    def test_odd_numbers(self) -> None:
        found = shrunk(lambda case: case.n % 2 == 1)
        self.assertIn("fails for every n that is odd (", facts_of(found)[0])
        found.add_failing("cpu", 2101)
        self.assertIn("fails for every n that is odd (", facts_of(found)[0])
        found.add_failing("cpu", 2100)
        self.assertEqual(facts_of(found), [])
        found.needs = [Need("fails for every n that is not a power of two (11 were tried)", powers=True)]
        found.add_failing("cpu", 2100)
        self.assertEqual(len(facts_of(found)), 1)
        found.add_failing("cpu", 2048)
        self.assertEqual(facts_of(found), [])

    def test_small_numbers_fail_without_a_reason_in_n(self) -> None:
        self.assertEqual(facts_of(shrunk(lambda case: case.n > 2)), [])

    def test_multiples_among_those_tried_are_no_rule(self) -> None:
        self.assertEqual(facts_of(shrunk(lambda case: (case.n + 255) // 256 % 2 == 1 and case.n > 2, n=1100)), [])

    def test_no_rule(self) -> None:
        found = shrunk(lambda case: case.n in (3001, 700))
        self.assertEqual((found.smallest.case.n, facts_of(found)), (3001, []))

    def test_threads(self) -> None:
        of_tile = shrunk(lambda case: case.n > 1024 and case.blocks > 0, blocks=1, threads=1024, n=1100)
        self.assertEqual([fact for fact in facts_of(of_tile) if "threads" in fact], [])
        for per_thread, words in ((1, "fewer threads than keys"), (2, "fewer threads than pairs of keys")):
            found = shrunk(lambda case, k=per_thread: case.n > k * case.threads > 0, blocks=1, threads=96)  # type: ignore[misc]
            self.assertEqual((found.smallest.case.threads, found.smallest.case.n), (32, 32 * per_thread + 1))
            self.assertIn(words, facts_of(found)[-1])
