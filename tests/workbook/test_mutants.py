"""The places of a file where a small change may mend it, and the file with all of these changes."""

from __future__ import annotations

import unittest
from pathlib import Path

from workbook.mutants.reading import functions, read
from workbook.mutants.schemata import Mutant
from workbook.mutants.search import Found, Result
from workbook.mutants.sites import Sites

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """
template <class Key>
__global__ void exchange(Key* keys, std::int64_t n, lab::Order order) {
  const std::int64_t i = 2 * (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x);
  if (i + 1 >= n) return;
  %s
}
"""


def texts(statement: str) -> list[str]:
    """What may be wrong in a statement of a kernel."""
    return [mutant.text for mutant in Sites(KERNEL % statement).mutants if mutant.line == 6]


class Reading(unittest.TestCase):
    def test_functions(self) -> None:
        (found,) = functions(read(KERNEL % ""))
        self.assertEqual((found.name, found.is_device), ("exchange", True))

    def test_operators_are_one_token(self) -> None:
        words = [token.text for token in read("a <= b && std::min<int>(c, d->e) != 1 << 2;")]
        self.assertEqual(words[:4], ["a", "<=", "b", "&&"])
        self.assertIn("::", words)
        self.assertIn("->", words)
        self.assertEqual(words[-5:], ["!=", "1", "<<", "2", ";"])


class Places(unittest.TestCase):
    def test_each_solution_keeps_its_lines(self) -> None:
        files = [*(ROOT / "solutions").glob("0*/0*.cu")] or [*(ROOT / "labs").glob("0*/0*.cu")]
        self.assertTrue(files)
        for file in files:
            text = file.read_text(encoding="utf-8")
            sites = Sites(text)
            changed = sites.text()
            self.assertEqual(changed.count("\n"), text.count("\n"), file)
            self.assertGreater(len(sites.mutants), 20, file)
            numbers = [mutant.number for mutant in sites.mutants]
            self.assertEqual(len(set(numbers)), len(numbers), file)

    def test_comparisons(self) -> None:
        found = texts("if (keys[i] < keys[i + 1]) return;")
        self.assertIn("`keys[i] < keys[i + 1]` is the wrong way round", found)
        self.assertIn("`keys[i] < keys[i + 1]` should have `<=` in place of `<`", found)

    def test_template_arguments_are_no_comparisons(self) -> None:
        found = texts("keys[i] = lab::earlier<order>(keys[i], keys[i + 1]);")
        self.assertFalse([text for text in found if "wrong way round" in text])
        self.assertIn("earlier should be later in `lab::earlier<order>(keys[i], keys[i + 1])`", found)
        call = "lab::earlier<order>(keys[i], keys[i + 1])"
        self.assertIn(f"the arguments `keys[i]` and `keys[i + 1]` of `{call}` are in the wrong order", found)

    def test_a_constant_for_which_a_variable_is_meant(self) -> None:
        found = texts("sort(keys, tile_keys);")
        self.assertTrue([text for text in found if text.startswith("`tile_keys` is the wrong variable in ")])

    def test_which_of_several_that_are_alike(self) -> None:
        found = texts("keys[left + i] = from[left + i];")
        self.assertIn("the first `left + i` should be 0", found)
        self.assertIn("the second `i` should be 0", found)
        self.assertIn("`i` should be 0", texts("keys[left + i] = 0;"))

    def test_a_number_with_its_operation(self) -> None:
        self.assertIn("`2` in `n / 2` is too large by one", texts("for (int t = 0; t < n / 2; ++t) keys[t] = 0;"))
        self.assertIn("`1` is too small by one", texts("keys[i] = 1;"))

    def test_built_in_variables(self) -> None:
        found = texts("const int t = threadIdx.x;")
        self.assertTrue([text for text in found if text.startswith("threadIdx.x numbers the threads of one block")])

    def test_what_was_forgotten(self) -> None:
        found = texts("keys[2 * i] = 0;")
        self.assertIn("`n` must be added to `2 * i`", found)
        self.assertNotIn("`i` must be added to `2 * i`", found)
        constant = "constexpr int tile_keys = 1024;\n" + KERNEL % "for (int t = 0; t < n; t += gridDim.x) keys[t] = 0;"
        self.assertIn("`gridDim.x` must be multiplied by `tile_keys`", [one.text for one in Sites(constant).mutants])
        self.assertNotIn("tile_keys", Sites(constant, has_constants=False).text().partition("\n")[2])

    def test_lambdas(self) -> None:
        self.assertEqual(texts("run([keys](int a) { keys[a] = a + 1; });"), [])
        found = texts("const auto stage = [&](int half) { keys[half] = keys[i] + 1; };")
        self.assertIn("the second `half` is too small by one", found)
        self.assertIn("`i` must be added to `half`", found)

    def test_a_constant_pointer_is_a_declaration(self) -> None:
        self.assertNotIn("`unsigned * const flat = & n` should not be here", texts("unsigned* const flat = &n;"))

    def test_a_return_in_a_loop(self) -> None:
        found = texts("for (int j = 0; j < 4; ++j) if (j == i) return;")
        self.assertIn("`return` ends the whole function, not only this iteration of the loop", found)
        self.assertNotIn("`return` ends the whole function, not only this iteration of the loop", texts("return;"))

    def test_barriers_only_beside_shared_memory(self) -> None:
        self.assertFalse([text for text in texts("keys[i] = 0;") if "__syncthreads" in text])
        shared = KERNEL % "__shared__ Key tile[4]; tile[0] = keys[i]; keys[i] = tile[1];"
        self.assertTrue([one for one in Sites(shared).mutants if "__syncthreads() is missing" in one.text])

    def test_constants_stay_as_they_are(self) -> None:
        self.assertEqual(texts("constexpr int size = 4 * 2; static_assert(size > 1);"), [])

    def test_lines_that_do_not_compile_are_left_out(self) -> None:
        sites = Sites(KERNEL % "keys[i] = keys[i + 1];", excluded=[6])
        self.assertFalse([mutant for mutant in sites.mutants if mutant.line == 6])


class Results(unittest.TestCase):
    def test_the_most_telling_first(self) -> None:
        mutants = [Mutant(0, 0, 7, "a", "f", 1), Mutant(1, 1, 8, "b", "f", 1), Mutant(2, 2, 9, "c", "f", 3)]
        lines = Result([Found((mutant,)) for mutant in mutants], 99).lines("x.cu")
        self.assertEqual(lines[1:], ["x.cu:7: a", "x.cu:8: b"])
        self.assertIn("(99 changes were tried)", lines[0])

    def test_a_barrier_that_moves(self) -> None:
        taken = Mutant(0, 0, 7, "this barrier should not be here", "f", 1, "taken")
        put = Mutant(1, 1, 9, "a __syncthreads() is missing between lines 9 and 10", "f", 1, "put")
        (_, line) = Result([Found((taken, put))], 99).lines("x.cu")
        self.assertEqual(line, "x.cu:7: this barrier is in the wrong place: it belongs between lines 9 and 10")

    def test_nothing_found(self) -> None:
        self.assertEqual(Result([], 99).lines("x.cu"), [])


if __name__ == "__main__":
    unittest.main()
