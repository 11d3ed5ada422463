"""The search for the first stage that departs from a network, in traces written by hand."""

from __future__ import annotations

import itertools
import re
import unittest
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import traces

from workbook.causes import comparisons, networks, remarks, rows, search, stage_check, tiles
from workbook.causes.search import _SEARCHES
from workbook.causes.source import SHUFFLE, Source, device_functions
from workbook.causes.stage_check import Cause, Run
from workbook.core import suspects
from workbook.core.judge_types import Case, Element, Fact, Finding, Outcome, SourceLine
from workbook.pictures import trace

LINES = [traces.line(code, f"a.cu:{10 + code}") for code in range(8)]
Pair = tuple[int, int]


def compared(thread: int, keys: list[int], pair: Pair, stores: bool | None = None) -> list[dict[str, Any]]:
    """A thread puts two keys in order. `stores`: whether it exchanges them; None: if it has to."""
    low, high = pair
    a, b = keys[low], keys[high]
    records = [traces.load(0, thread, 0, 4 * low, a), traces.load(0, thread, 1, 4 * high, b)]
    if b < a if stores is None else stores:
        keys[low], keys[high] = b, a
        records += [traces.store(0, thread, 2, 4 * low, b), traces.store(0, thread, 3, 4 * high, a)]
    return records


def launched(keys: list[int], stages: Sequence[Sequence[Pair]], stores: Mapping[Pair, bool] | None = None) -> str:
    """The trace of a launch for each stage, with a thread per pair. `stores`: what happens to pairs of the last one."""
    records = [traces.VERSION, *LINES]
    for number, stage in enumerate(stages):
        records += [traces.launch("run"), {"block": 0}]
        if number == 0:
            records.append(traces.array(0, "global", "keys", 4 * len(keys), 1))
        for thread, pair in enumerate(stage):
            exchanges = stores.get(pair) if stores and number == len(stages) - 1 else None
            records += compared(thread, keys, pair, exchanges)
    return traces.text(*records)


def cause(lab: str, step: int, n: int, text: str, order: str = "ascending") -> Cause | None:
    """What is found in a trace."""
    case = Case(lab, step, n, type="u32", order=order, task="exchange" if (lab[:2], step) == ("01", 0) else "sort")
    return _SEARCHES[lab, step](case, lambda *_: trace.read(text))


def fact(line: int, thread: int, access: str) -> Fact:
    """A thread of the first block of a kernel is at a line of a.cu; if it accesses something, tile[1]."""
    element = Element("shared", "tile", 0, None, array_bytes=256, offset=4, bytes=4, index=1) if access else None
    place = SourceLine("a.cu", line)
    return Fact(place, None, "kernel", "", None, (0, 0, 0), (thread, 0, 0), access, False, False, element)


def source_from(text: str) -> Source:
    """A step's file with this text."""
    with mock.patch.object(suspects, "source_of", lambda _: text):
        return Source("a.cu")


class Constants(unittest.TestCase):
    """Sizes that the search knows and the labs' headers define."""

    def test_they_are_those_of_the_labs(self) -> None:
        labs = Path(__file__).resolve().parents[2] / "labs"
        for header, name, known in (
            ("01-odd-even/odd_even.h", "tile_keys", networks.TILE_OF_PHASES),
            ("01-odd-even/odd_even.h", "halo_keys", networks.HALO),
            ("01-odd-even/odd_even.h", "row_keys", rows.ROW),
            ("03-bitonic/bitonic.h", "tile_keys", networks.TILE_OF_STAGES),
        ):
            text = (labs / header).read_text(encoding="utf-8")
            self.assertEqual(re.findall(rf"int {name} = (\d+);", text), [str(known)])


class Sources(unittest.TestCase):
    """What the text of a step says about its lines."""

    KERNEL = """__global__ void run(Key* keys, int n, int parity) {
  const int pairs = n / 2;
  for (int t = threadIdx.x; t < pairs; t += blockDim.x) {
    const int i = 2 * t + parity;  // i = 0
    const int a = keys[i];
    if (a > 0) __syncthreads();
    if (t < 3) __shfl_up_sync(all, a, 1);
  }
  __syncthreads();
}

template <class Key>
__global__ void other(Key* keys) {
  if (keys) {
    compare_exchange<order>(keys, 0, 1);
  }
}

void host(Key* keys) {
  compare_exchange<order>(keys, 0, 1);
}
"""

    def setUp(self) -> None:
        self.enter = mock.patch.object(suspects, "source_of", lambda _: self.KERNEL)
        self.enter.start()
        self.addCleanup(self.enter.stop)
        self.source = Source("a.cu")

    def test_where_an_index_comes_from(self) -> None:
        self.assertEqual(self.source.index_of(5), "i comes from line 4: `const int i = 2 * t + parity`")
        self.assertEqual(self.source.index_of(9), "")

    def test_where_a_pointer_comes_from(self) -> None:
        text = "void f() {\n  const int lo = box * j;\n  Key* p = keys + lo;\n  if (before(*p, 1)) *p = 1;\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(Source("a.cu").index_of(4), "lo comes from line 2: `const int lo = box * j`")

    def test_one_index_that_is_the_number_of_the_thread(self) -> None:
        text = "void f() {\n  int t = threadIdx.x;\n  int i = 2 * t;\n  use(keys[t], keys[i + 1]);\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            found = Source("a.cu").index_of(4)
        self.assertIn("one index uses t, the number of the thread (line 2), and the other one i (line 3: `int i", found)
        for right in (text.replace("2 * t", "t ^ 1"), text.replace("keys[t], keys[i + 1]", "keys[t + i]")):
            with mock.patch.object(suspects, "source_of", lambda _, text=right: text):
                self.assertNotIn("should both use", Source("a.cu").index_of(4))

    def test_what_a_function_returns(self) -> None:
        text = "__device__ int low(int t) {\n  return 3 * t;\n}\n\nvoid f() {\n  int i = low(t);\n  use(keys[i]);\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            found = Source("a.cu").index_of(7)
        self.assertEqual(found, "i comes from line 6: `int i = low(t)`; line 2: `return 3 * t`")

    def test_how_a_function_computes_what_it_returns(self) -> None:
        source = source_from(
            "__device__ int low(int t) {\n  int one = t & 1;\n  return 2 * t - one;\n}\n\n"
            "void f() {\n  int t = blockIdx.x + threadIdx.x;\n  int i = low(t);\n  use(keys[i]);\n}\n"
        )
        self.assertEqual(
            source.index_of(9),
            "i comes from line 8: `int i = low(t)`; line 3: `return 2 * t - one`; line 2: `int one = t & 1`; "
            "line 7: `int t = blockIdx.x + threadIdx.x`",
        )

    def test_what_changes_for_the_next_round(self) -> None:
        source = source_from(
            "void f() {\n  int odd = 0;\n  for (int r = 0; r < n; ++r) {\n    run<<<1, 2>>>(keys, odd);\n"
            "    if (odd == 1) stop();\n    odd = r % 2;\n  }\n  odd = 5;\n}\n"
        )
        self.assertEqual((source.changed_after("odd", 4), source.changed_after("r", 4)), (6, 0))
        self.assertEqual(source.changed_after("odd", 2), 0)  # there is no loop around it

    def test_where_a_reference_comes_from(self) -> None:
        text = "void f() {\n  Key& low = keys[i];\n  Key& high = keys[i + 1];\n  const Key x = low, y = high;\n}\n"
        expected = "low comes from line 2: `Key& low = keys[i]`; high comes from line 3: `Key& high = keys[i + 1]`"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(Source("a.cu").index_of(4), expected)

    def test_an_index_of_two_branches(self) -> None:
        text = "void f() {\n  if (a) {\n    i = 1;\n  } else {\n    i = 2;\n  }\n  keys[i] = 0;\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(Source("a.cu").index_of(7), "i comes from line 5: `i = 2`, or from line 3: `i = 1`")

    def test_a_key_behind_a_pointer(self) -> None:
        text = "void f(Key* p) {\n  const std::uint32_t first = *p;\n  const int count = 2 * n;\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual([held.line for held in Source("a.cu").held], [2])

    def test_pointers_that_are_compared_without_the_order(self) -> None:
        text = "void f(Key* p, Key* q, lab::Order order) {\n  if (%s) *p = *q;\n}\n"
        for condition, ignores in (("*q < *p", True), ("lab::before(*q, *p, order)", False)):
            with mock.patch.object(suspects, "source_of", lambda _, text=text % condition: text):
                self.assertEqual(Source("a.cu").ignores_order(2), 2 * ignores)

    def test_keys_that_a_caller_compares_without_the_order(self) -> None:
        text = (
            "__device__ void swap(Key* p, Key* q) {\n  *p = *q;\n}\n\n"
            "__global__ void f(Key* keys, lab::Order order) {\n  if (%s) {\n    swap(&keys[i], &keys[k]);\n  }\n}\n"
        )
        unordered = text.replace(", lab::Order order", "") % "keys[k] < keys[i]"
        with mock.patch.object(suspects, "source_of", lambda _: unordered):
            self.assertEqual(Source("a.cu").ignores_order(2), 0)
        for condition, line in (("keys[k] < keys[i]", 6), ("lab::before(keys[k], keys[i], order)", 0)):
            with mock.patch.object(suspects, "source_of", lambda _, text=text % condition: text):
                self.assertEqual(Source("a.cu").ignores_order(2), line)

    def test_keys_of_one_declaration_that_are_compared_without_the_order(self) -> None:
        text = (
            "void f(Key* keys, lab::Order order) {\n  const Key a = keys[i], b = keys[k];\n  if (b < a) store(a);\n}\n"
        )
        for of_order in (text, text.replace("b < a", "(order == up) == b < a")):
            with mock.patch.object(suspects, "source_of", lambda _, text=of_order: text):
                self.assertEqual(Source("a.cu").ignores_order(3), 3 * (of_order == text))

    def test_two_variables_with_the_same_key(self) -> None:
        text = (
            "void f(Key* keys, lab::Order order) {\n  const Key a = keys[i];\n  const Key b = keys[%s];\n"
            "  if (!lab::before(b, a, order)) return;\n}\n"
        )
        said = "b and a are both keys[i]: a key is compared with itself, so no key is stored"
        same, changed = text % "i", text.replace("const ", "") % "i"
        changes = (changed.replace("  Key b", "  ++i;\n  Key b"), changed.replace("  if", "  b = keys[k];\n  if"))
        for which, line, found in (
            (same, 4, (said, [2, 3])),
            (text % "i + 1", 4, ("", [])),
            *((one, 5, ("", [])) for one in changes),
        ):
            with mock.patch.object(suspects, "source_of", lambda _, text=which: text):
                self.assertEqual(Source("a.cu").compared_with_itself(line), found)

    def test_parameters_that_are_copies(self) -> None:
        text = "__device__ void order(Key a, Key* b, Key c) {\n  const Key d = a;\n  a = c;\n  *b = d;\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            line, why, _ = Source("a.cu").changed_parameter() or (0, "", "")
            self.assertEqual((line, why), (3, "this line changes a, which is only a copy of a key"))
        with mock.patch.object(suspects, "source_of", lambda _: text.replace("a = c", "*b = c")):
            self.assertIsNone(Source("a.cu").changed_parameter())

    def test_pointers_that_are_exchanged_in_place_of_keys(self) -> None:
        text = "__device__ void swap(Key* a, Key* b) {\n  Key* c = a;\n  a = b;\n  b = c;\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            line, why, _ = Source("a.cu").changed_parameter() or (0, "", "")
            self.assertEqual((line, why), (3, "this line changes the pointer a, not the key that it points to"))
        for right in (
            text.replace("  a = b;\n", "  a = b;\n  (*a) = 0;\n"),
            text.replace("  a = b;\n  b = c;\n", "  a = a + 1;\n"),
            text.replace("b = c;", "exchange(a, b);"),
            text.replace("(Key* a, Key* b)", "(const Key* a, const Key* b)").replace("Key* c", "int c"),
        ):
            with self.subTest(right), mock.patch.object(suspects, "source_of", lambda _, text=right: text):
                self.assertIsNone(Source("a.cu").changed_parameter())

    def test_an_element_that_is_read_too_late(self) -> None:
        text = "void f() {\n  const Key a = keys[i];\n  keys[i] = keys[i + 1];\n  keys[i + 1] = %s;\n}\n"
        for value, found in (("keys[i]", (4, 3, "keys[i]")), ("a", None), ("keys[i + 1]", None)):
            with mock.patch.object(suspects, "source_of", lambda _, text=text % value: text):
                self.assertEqual(Source("a.cu").read_too_late(3), found)
        copies = "void f() {\n  tile[t] = keys[i];\n  copy[t] = tile[t];\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: copies):
            self.assertIsNone(Source("a.cu").read_too_late(2))

    def test_a_condition_that_two_branches_compute(self) -> None:
        text = (
            "void f() {\n  if (up) {\n    wrong = b < a;\n  } else {\n    wrong = a < b;\n  }\n"
            "  if (wrong) {\n    keys[i] = b;\n  }\n}\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            expected = "line 7: `if (wrong)`; line 2: `if (up)`; line 5: `wrong = a < b`"
            self.assertEqual(Source("a.cu").decision_of(8), expected)

    def test_the_loops_of_a_function_that_a_line_calls(self) -> None:
        text = (
            "__device__ void sort(Key* keys) {\n  for (int k = 2; k < 8; k *= 2) {\n    use(keys, k);\n  }\n}\n\n"
            "__global__ void f() {\n  for (int i = 0; i < 3; ++i) {\n    sort(tile);\n  }\n}\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual((Source("a.cu").loops_in_called(9), Source("a.cu").loops_in_called(8)), ([2], []))

    def test_where_the_variables_of_a_line_come_from(self) -> None:
        text = (
            "void f(int n) {\n  int runs = n / run;\n"
            "  for (int t = 0; t < n; ++t) {\n    pairs = runs * t + n;\n  }\n}\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(Source("a.cu").origins_of(4), [2])

    def test_what_is_stored_beside_a_load(self) -> None:
        text = (
            "void f() {\n  if (i < n) {\n    own[k] = keys[i];\n"
            "  } else {\n    own[k] = 7;\n  }\n  own[9] = own[8];\n}\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual((Source("a.cu").filled_beside(3), Source("a.cu").filled_beside(2)), (5, 0))

    def test_what_ends_a_loop(self) -> None:
        self.assertEqual(
            self.source.bound_of(4),
            "line 3: `for (int t = threadIdx.x; t < pairs; t += blockDim.x)`; "
            "pairs comes from line 2: `const int pairs = n / 2`",
        )

    def test_keys_in_other_variables(self) -> None:
        self.assertEqual([(held.line, held.type, held.name) for held in self.source.held], [(5, "int", "a")])

    def test_barriers_of_some_threads(self) -> None:
        self.assertEqual(self.source.uneven(), (6, 3))
        self.assertEqual(self.source.uneven(SHUFFLE, ("if",)), (7, 7))

    def test_a_barrier_of_all_threads(self) -> None:
        with mock.patch.object(suspects, "source_of", lambda _: self.KERNEL.replace("if (a > 0) __syncthreads();", "")):
            self.assertIsNone(Source("a.cu").uneven())

    def test_device_functions_called_by_the_host(self) -> None:
        self.assertEqual(self.source.host_calls(["compare_exchange"]), (20, "compare_exchange"))
        self.assertIsNone(self.source.host_calls(["load_tile"]))
        self.assertIn("compare_exchange", device_functions("03-bitonic"))


class Superfluous(unittest.TestCase):
    """What a right step could do without."""

    def again(self, *accesses: dict[str, Any]) -> str:
        begin = [traces.VERSION, *LINES, traces.launch("run"), {"block": 0}, traces.array(0, "global", "keys", 16, 1)]
        text = traces.text(*begin, *accesses)
        return str(tiles.read_again(Case("03-bitonic", 1, 4, type="u32"), lambda *_: trace.read(text)))

    def test_a_key_that_is_read_again(self) -> None:
        first, second = traces.load(0, 1, 0, 4, 9), traces.load(0, 1, 1, 8, 7)
        found = self.again(first, second, traces.load(0, 1, 2, 4, 9))
        self.assertEqual(
            found.splitlines()[0], "a.cu:12: error: this line reads keys[1], which line 10 has already read"
        )
        self.assertEqual(self.again(first, second, traces.load(0, 2, 2, 4, 9)), "None")  # another thread
        self.assertEqual(self.again(first, second, traces.store(0, 1, 3, 4, 7), traces.load(0, 1, 2, 4, 7)), "None")


class Barriers(unittest.TestCase):
    """Where a barrier is missing, by the lines of a race."""

    KERNEL = """__device__ void sort(Key* tile) {
  for (int run = 2; run < 64; run *= 2) {
    for (int t = threadIdx.x; t < 32; t += blockDim.x) {
      exchange(tile, t);
    }
    for (int t = threadIdx.x; t < 32; t += blockDim.x) exchange(tile, 2 * t);
    __syncthreads();
  }
}

__global__ void kernel(Key* keys) {
  __shared__ Key tile[64];
  load(tile, keys);
  sort(tile);
  store(tile, keys);
}
"""

    def found(self, line: int, other: int) -> str:
        facts = (fact(line, 1, "load"), fact(other, 0, "store"))
        with mock.patch.object(suspects, "source_of", lambda _: self.KERNEL):
            return str(tiles.missing_barrier(Finding("a.cu", line, "race", "x", facts=facts), Source("a.cu")))

    def test_between_two_loops(self) -> None:
        found = self.found(4, 6)
        self.assertIn("a.cu:4: error: no barrier comes between this line and line 6\n", found)
        self.assertIn("put __syncthreads() directly after line 5\n", found)

    def test_a_barrier_in_an_inner_loop(self) -> None:
        text = (
            "__global__ void kernel() {\n  for (int run = 2; run < n; run *= 2) {\n"
            "    for (int t = threadIdx.x; t < n; t += blockDim.x) exchange(tile[t], tile[t ^ (run - 1)]);\n"
            "    for (int far = run / 4; far > 0; far /= 2) {\n"
            "      for (int t = threadIdx.x; t < n; t += blockDim.x) exchange(tile[t], tile[t + far]);\n"
            "      __syncthreads();\n    }\n  }\n}\n"
        )
        with mock.patch.object(type(self), "KERNEL", text):
            found = self.found(3, 3)
        self.assertIn(
            "a.cu:3: error: no barrier comes between one iteration of the loop in line 2 and the next: the loop in "
            "line 4, with the barrier of line 6, may have no iteration\n    put __syncthreads() after line 3, ",
            found,
        )

    def test_before_a_function(self) -> None:
        found = self.found(13, 4)
        self.assertIn("a.cu:13: error: no barrier comes between this line and line 14, which calls sort()\n", found)

    def test_before_a_function_that_calls_another(self) -> None:
        text = self.KERNEL.replace("  sort(tile);", "  merge(tile);").replace(
            "__global__", "__device__ void merge(Key* tile) {\n  sort(tile);\n}\n\n__global__"
        )
        with mock.patch.object(self, "KERNEL", text):
            found = self.found(17, 4)
        self.assertIn("a.cu:17: error: no barrier comes between this line and line 18, which calls merge()\n", found)

    def test_between_two_rounds(self) -> None:
        found = self.found(4, 4)
        self.assertIn("a.cu:4: error: no barrier comes between one iteration of the loop in line 2 and the next", found)
        self.assertIn("put __syncthreads() after line 5, where all pairs have been compared", found)

    def test_between_two_calls(self) -> None:
        text = """__device__ void fix(Key* tile, int i) {
  if (tile[i + 1] < tile[i]) swap(tile[i], tile[i + 1]);
}

__device__ void stage(Key* tile, int first) {
  int i = first + threadIdx.x;
  while (i < 32) {
    fix(tile, i);
    i += blockDim.x;
  }
}

__global__ void kernel(Key* keys) {
  __shared__ Key tile[64];
  for (int run = 2; run < 64; run *= 2) {
    stage(tile, 0);
    stage(tile, 1);
    __syncthreads();
  }
}
"""
        with mock.patch.object(self, "KERNEL", text):
            found = self.found(2, 2)
        words = "a.cu:16: error: no barrier comes between this call of stage() and the one in line 17"
        self.assertEqual(found.splitlines()[:2], [words, "    put __syncthreads() after line 16"])
        with mock.patch.object(self, "KERNEL", text.replace("    __syncthreads();\n", "")):
            found = self.found(2, 2)
        everywhere = (
            "    put __syncthreads() after line 16 and after every other call of stage(), or once at the end of stage()"
        )
        self.assertEqual(found.splitlines()[:2], [words, everywhere])
        text = text.replace("    stage(tile, 1);\n    __sync", "    __sync").replace("    __syncthreads();\n", "")
        with mock.patch.object(self, "KERNEL", text):
            self.assertIn(
                "a.cu:16: error: no barrier comes between one iteration of the loop in line 15", self.found(2, 2)
            )

    def test_after_the_last_of_several_calls(self) -> None:
        text = (
            "__device__ void fix(Key* tile, int i);\n__device__ void fix(Key* tile, int i) {\n"
            "  swap(tile[i], tile[9]);\n}\n\n__global__ void kernel(Key* tile) {\n"
            "  for (int run = 2; run < 64; run *= 2) {\n    if (run % 4 == 0) fix(tile, 0);\n"
            "    if (run % 4 == 2) fix(tile, 1);\n  }\n}\n"
        )
        with mock.patch.object(self, "KERNEL", text):
            found = self.found(3, 3)
        words = "a.cu:9: error: no barrier follows this call of fix() before the next iteration of the loop in line 7\n"
        self.assertIn(words, found)

    def test_after_a_call_in_a_loop_of_its_own(self) -> None:
        text = (
            "__device__ void fix(Key* tile, int i) {\n  swap(tile[i], tile[9]);\n}\n\n"
            "__global__ void kernel(Key* tile) {\n  for (int run = 2; run < 64; run *= 2) {\n"
            "    fix(tile, 0);\n    __syncthreads();\n"
            "    for (int j = run / 4; j > 0; j /= 2) {\n      fix(tile, j);\n    }\n    __syncthreads();\n  }\n}\n"
        )
        words = "a.cu:10: error: no barrier follows this call of fix() before the next iteration of the loop in line 9"
        with mock.patch.object(self, "KERNEL", text):
            self.assertEqual(self.found(2, 2).splitlines()[:2], [words, "    put __syncthreads() after line 10"])
        text = text.replace("j /= 2) {", "j /= 2)").replace("fix(tile, j);\n    }", "fix(tile, j);")
        remedy = "    put __syncthreads() after line 10, in the loop, with braces around both"
        with mock.patch.object(self, "KERNEL", text):
            self.assertEqual(self.found(2, 2).splitlines()[:2], [words, remedy])

    def test_a_barrier_in_a_helper(self) -> None:
        text = (
            "__device__ void move(Key* tile) {\n  for (int t = threadIdx.x; t < 9; t += 32) tile[t] = 1;\n"
            "  for (int t = threadIdx.x; t < 9; t += 32) exchange(tile, t);\n}\n\n"
            "__global__ void kernel(Key* tile) {\n  move(tile);\n}\n"
        )
        with mock.patch.object(self, "KERNEL", text):
            self.assertIn("a.cu:2: error: no barrier comes between this line and line 3\n", self.found(2, 3))

    def test_functions_that_call_each_other(self) -> None:
        text = "__device__ void odd(int i) {\n  even(i);\n}\n\n__device__ void even(int i) {\n  odd(i);\n}\n"
        with mock.patch.object(self, "KERNEL", text):
            self.assertIn("no barrier comes between", self.found(2, 2))  # the search ends

    def test_before_the_next_round(self) -> None:
        text = self.KERNEL.replace("__syncthreads();", "").replace("}\n    for", "}\n    __syncthreads();\n    for")
        with mock.patch.object(self, "KERNEL", text):
            found = self.found(4, 7)
        self.assertIn(
            "a.cu:7: error: no barrier follows this line before line 4 is reached in the next iteration", found
        )


class Beginnings(unittest.TestCase):
    """The first part of a long trace."""

    def test_it_ends_at_a_barrier(self) -> None:
        records = [traces.VERSION, traces.launch("run"), {"block": 0}, traces.array(0, "shared", "tile", 64)]
        for _ in range(9):
            records += [traces.load(0, 0, 0, 0, 1), traces.load(0, 1, 0, 4, 2), {"barrier": "a.cu:3"}]
        text = traces.text(*records, traces.launch("next"), traces.line(0, "a.cu:10"))
        read = trace.read(trace.beginning(text, len(text) // 2))
        self.assertTrue(read.truncated)
        self.assertEqual([launch.kernel for launch in read.launches], ["run", "next"])
        self.assertEqual(read.lines, {0: "a.cu:10"})
        self.assertIn(len(read.accesses), range(2, 17, 2))
        self.assertEqual(trace.beginning(text, len(text)), text)


class Comparisons(unittest.TestCase):
    """Two comparisons of one thread that have a position in common, without a barrier between them."""

    def pairs(self, stores: bool) -> list[tuple[int, ...]]:
        records = [traces.VERSION, traces.launch("run"), {"block": 0}, traces.array(0, "shared", "tile", 64)]
        for code, pair in ((0, (0, 3)), (4, (0, 1))):
            records += [traces.load(0, 0, code, 0, 1), traces.load(0, 0, code + 1, 4 * pair[1], 2)]
            if stores:
                records += [traces.store(0, 0, code + 2, 0, 1), traces.store(0, 0, code + 3, 4 * pair[1], 2)]
        accesses = trace.read(traces.text(*records)).accesses
        return [one.pair for one in comparisons.comparisons(accesses, accesses[0].array)]

    def test_that_store(self) -> None:
        self.assertEqual(self.pairs(True), [(0, 3), (0, 1)])

    def test_that_only_load(self) -> None:
        self.assertEqual(self.pairs(False), [(0, 3), (0, 1)])


class Numbers(unittest.TestCase):
    """The numbers that a launch passes to its kernel."""

    def stages(self, arguments: Sequence[Sequence[int]]) -> str:
        records = [traces.VERSION, *LINES, traces.array(0, "global", "keys", 16, 1)]
        keys = [1, 2, 3, 4]
        for one in arguments:
            records += [traces.launch("run", arguments=[None, 2, *one, None]), {"block": 0}]
            stage = next((s for s in networks.classic(4) if [n for _, n in s.numbers.values()] == list(one)), None)
            for thread, (pair, forward) in enumerate(stage.pairs.items() if stage else ()):
                records += compared(thread, keys, pair, (keys[pair[1]] < keys[pair[0]]) == forward)
        return str(cause("03-bitonic", 1, 4, traces.text(*records)))

    def test_right_ones(self) -> None:
        self.assertEqual(self.stages([(2, 1), (4, 2), (4, 1)]), "None")

    def test_stages_that_are_left_out(self) -> None:
        found = self.stages([(4, 2)])
        self.assertIn("a.cu:1: error: run is never launched for k = 2, j = 1; k = 4, j = 1\n", found)
        self.assertIn("2 of the 3 stages of 4 keys are missing", found)
        self.assertIn("all of them have j = 1: where does the loop over j end?", found)

    def test_another_order(self) -> None:
        found = self.stages([(2, 1), (4, 1), (4, 2)])
        self.assertIn("a.cu:1: error: launch 2 (run) passes k = 4 and j = 1, but it must be k = 4 and j = 2\n", found)

    def test_exchanged(self) -> None:
        found = self.stages([(1, 2), (2, 4), (1, 4)])
        self.assertIn("launch 1 (run) passes k = 1 and j = 2, but it must be k = 2 and j = 1", found)
        self.assertIn("are two arguments exchanged?", found)


class Launches(unittest.TestCase):
    """Steps that run one stage per launch."""

    def found(self, step: int, text: str, n: int = 4, lab: str = "01-odd-even") -> str:
        return str(cause(lab, step, n, text))

    def test_right_phases(self) -> None:
        phases = [list(stage.pairs) for stage in networks.phases(5)]
        self.assertEqual(self.found(1, launched([9, 7, 5, 3, 1], phases), 5), "None")

    def test_right_stages(self) -> None:
        n, keys = 8, [3, 9, 1, 4, 7, 7, 0, 5]
        records = [traces.VERSION, *LINES, traces.array(0, "global", "keys", 4 * n, 1)]
        for stage in networks.classic(n):
            records += [traces.launch("run"), {"block": 0}]
            for thread, (pair, forward) in enumerate(stage.pairs.items()):
                a, b = keys[pair[0]], keys[pair[1]]
                records += compared(thread, keys, pair, b < a if forward else a < b)
        self.assertEqual(self.found(1, traces.text(*records), n, "03-bitonic"), "None")
        self.assertEqual(keys, sorted(keys))

    def test_another_neighbour(self) -> None:
        found = self.found(1, launched([9, 7, 5, 3], [[(0, 2)]]))
        # The place is that of the key which should not have been read.
        self.assertIn("a.cu:11: error: thread 0 of block 0 compares keys[0] and keys[2]\n", found)
        self.assertIn("the partner of keys[0] is keys[1]", found)
        self.assertIn("in launch 1 (run, n = 4): phase 0 (even", found)

    def test_the_other_parity(self) -> None:
        found = self.found(1, launched([9, 7, 5, 3], [[(0, 1), (2, 3)], [(0, 1), (2, 3)]]))
        self.assertIn("launch 2 (run, n = 4) compares the pairs of an even phase: (0, 1), (2, 3)\n", found)
        self.assertIn("it must be phase 1 (odd: the pairs that begin at odd positions): (1, 2)", found)

    def test_a_pair_too_few(self) -> None:
        found = self.found(0, launched([9, 7, 5, 3], [[(0, 1)]]))
        self.assertIn("a.cu:10: error: no thread compares keys[2] and keys[3], the last of the 2 pairs\n", found)

    def test_fewer_threads_than_pairs(self) -> None:
        pairs = [(i, i + 1) for i in range(0, 64, 2)]
        found = self.found(0, launched([1] * 70, [pairs]), 70)
        self.assertIn("no thread compares 3 of the 35 pairs: (64, 65), (66, 67), (68, 69)", found)
        self.assertIn("each of the 32 threads compares only one pair", found)

    def test_directions(self) -> None:
        for keys, stores, words in (
            ([9, 7], False, "compares keys[0] = 9 and keys[1] = 7, but does not exchange them"),
            ([7, 9], True, "exchanges keys[0] = 7 and keys[1] = 9, which are in order"),
        ):
            with self.subTest(words):
                found = self.found(0, launched(keys, [[(0, 1)]], {(0, 1): stores}), 2)
                self.assertIn(f"thread 0 of block 0 {words}\n    the order here is ascending\n", found)

    def test_the_opposite_order(self) -> None:
        stages = [list(stage.pairs) for stage in networks.classic(4)][:1]
        found = self.found(1, launched([1, 2, 3, 4], stages), 4, "03-bitonic")
        self.assertIn("thread 1 of block 0 compares keys[2] = 3 and keys[3] = 4, but does not exchange them", found)
        self.assertIn(
            "the order here is descending: i & k = 2 & 2 is not 0 (i is the first position of the pair)", found
        )

    def test_descending(self) -> None:
        text = launched([9, 7], [[(0, 1)]])
        self.assertIn(
            "which are in order\n    the order here is descending", str(cause("01-odd-even", 0, 2, text, "descending"))
        )

    def test_a_loop_that_advances_by_too_little_in_one_of_two_threads(self) -> None:
        keys = [7, 6, 5, 4, 3, 2, 1, 0]
        records = [traces.VERSION, *LINES, traces.launch("run", threads=4), {"block": 0}]
        records.append(traces.array(0, "global", "keys", 32, 1))
        for thread, pair in ((2, (4, 5)), (0, (0, 1)), (0, (4, 5))):
            records += compared(thread, keys, pair)
        text = trace.read(traces.text(*records))
        run = Run(text, "u32", "ascending", n=8, launch=text.launches[0], number=1)
        array = comparisons.busiest(text.accesses, "global")
        assert array
        found = stage_check.compared_twice(run, comparisons.comparisons(text.accesses, array), networks.phase(0, 8, 0))
        self.assertIn("thread 0 of block 0 takes the pairs 0, 2, ...: its loop advances by 2 pairs", str(found))

    def test_a_partner_beyond_the_last_key(self) -> None:
        run = Run(trace.read(launched([9, 7, 5], [[(0, 1)]])), "u32", "ascending", n=3)
        array = comparisons.busiest(run.trace.accesses, "global")
        assert array
        found = comparisons.comparisons(run.trace.accesses, array)
        self.assertIn(
            "the partner of keys[0] would be keys[3], not keys[1]: there is no such key, so keys[0] stays where it is",
            str(stage_check.wrong_pairs(run, networks.mirror(3, 4), found, (), "launch 1")),
        )

    def test_a_lost_key(self) -> None:
        text = traces.text(
            traces.VERSION, *LINES, traces.launch("run"), {"block": 0}, traces.array(0, "global", "keys", 8, 1),
            traces.load(0, 0, 0, 0, 9), traces.load(0, 0, 1, 4, 7), traces.store(0, 0, 2, 0, 7),
        )  # fmt: skip
        found = self.found(0, text, 2)
        self.assertIn("a.cu:12: error: thread 0 of block 0 loses the key 9 of keys[0]\n", found)
        self.assertIn("nothing new is stored in keys[1]", found)

    def test_too_few_launches(self) -> None:
        found = self.found(1, launched([9, 7, 5], [[(0, 1)], [(1, 2)]]), 3)
        self.assertIn("a.cu:1: error: run is launched 2 times, but 3 keys need 3 phases\n", found)
        self.assertIn("after the last launch, phase 2 (even", found)

    def test_no_launch(self) -> None:
        found = self.found(1, traces.text(traces.VERSION))
        self.assertIn("no kernel is launched for 4 keys\n    phase 0 (even", found)

    def test_a_pair_compared_twice(self) -> None:
        found = self.found(0, launched([9, 7, 5, 3], [[(0, 1), (0, 1)]]))
        self.assertIn("thread 0 of block 0 and thread 1 of block 0 both compare keys[0] and keys[1]\n", found)
        self.assertIn("no thread compares keys[2] and keys[3], the last of the 2 pairs\n", found)


class Tiles(unittest.TestCase):
    """Steps that run stages between barriers."""

    N = 4

    def run_of(
        self, stages: Sequence[Sequence[Pair]], stores_first: bool = False, shift: int = 0, stored: int = 4
    ) -> str:
        """The trace of a block that loads four keys, executes stages, and stores the keys."""
        keys = [9, 7, 5, 3]
        records = [traces.VERSION, *LINES, traces.launch("sort"), {"block": 0}]
        records += [traces.array(1, "global", "keys", 16, 1), traces.array(0, "shared", "tile", 64)]

        def move(source: int, target: int, i: int, k: int, code: int) -> list[dict[str, Any]]:
            return [traces.load(source, i, code, 4 * i, keys[i]), traces.store(target, i, code + 1, 4 * k, keys[i])]

        for i in range(self.N):
            records += move(1, 0, i, i + shift, 4)
        storing = [record for i in range(stored) for record in move(0, 1, i, i, 6)]
        records += [{"barrier": "a.cu:3"}, *(storing if stores_first else [])]
        for stage in stages:
            for thread, pair in enumerate(stage):
                records += compared(thread, keys, pair)
            records.append({"barrier": "a.cu:4"})
        storing = [record for i in range(stored) for record in move(0, 1, i, i, 6)]
        return traces.text(*records, *([] if stores_first else storing))

    def found(self, text: str) -> str:
        return str(cause("03-bitonic", 2, self.N, text))

    def setUp(self) -> None:
        self.stages = [list(stage.pairs) for stage in networks.mirrored(self.N)]

    def test_right(self) -> None:
        self.assertEqual(self.found(self.run_of(self.stages)), "None")

    def test_no_mirror(self) -> None:
        found = self.found(self.run_of([self.stages[0], [(0, 2), (1, 3)], self.stages[2]]))
        self.assertIn(
            "thread 0 of block 0 compares tile[0] and tile[2]\n    the partner of tile[0] is tile[3]\n", found
        )
        self.assertIn("stage 2 of 3: the mirror stage of runs of 4 keys", found)

    def test_a_wrong_first_position(self) -> None:
        found = self.found(self.run_of([[(0, 1), (1, 2)]]))
        self.assertIn(
            "compares tile[1] and tile[2]\n    no pair begins with tile[1], the second key of its pair", found
        )

    def test_exchanged_positions(self) -> None:
        found = self.found(self.run_of([[(0, 1), (3, 2)]]))
        self.assertIn(
            "its two positions are exchanged: tile[3] is taken as the first, and tile[2] as the second", found
        )

    def test_keys_that_are_compared_with_themselves(self) -> None:
        found = self.found(self.run_of([[(0, 0), (2, 2)], *self.stages[1:]]))
        self.assertIn("thread 1 of block 0 reads tile[2] twice, and no other key of tile", found)

    def test_values_that_stay_where_they_are(self) -> None:
        def found(with_values: bool) -> str:
            records = [traces.VERSION, *LINES, traces.launch("sort"), {"block": 0}]
            records += [traces.array(0, "shared", "tile", 8), traces.array(1, "shared", "tile_values", 8)]
            records += [traces.store(array, i, 4 + array, 4 * i, i) for i in range(2) for array in (0, 1)]
            records += [traces.store(0, 0, 2, 0, 1), traces.store(0, 0, 3, 4, 0)]
            if with_values:
                records += [traces.store(1, 0, 6, 0, 1), traces.store(1, 0, 7, 4, 0)]
            text = traces.text(*records)
            return str(tiles.without_values(Case("03-bitonic", 2, 2, type="pairs"), lambda *_: trace.read(text)))

        self.assertIn("this line moves keys, but not the values that belong to them", found(False))
        self.assertNotIn("this line moves keys", found(True))

    def test_a_kernel_that_is_always_of_one_order(self) -> None:
        launching = "  auto kernel = up ? sort<Order::%s>\n    : sort<Order::ascending>;\n  kernel<<<1, 2>>>(keys);\n"
        launch = traces.launch("kernel")
        launch["launch"]["at"] = "a.cu:4"
        text = traces.text(traces.VERSION, *LINES, launch)

        def found(other: str) -> str:
            source = "void f() {\n" + launching % other + "}\n"
            with mock.patch.object(suspects, "source_of", lambda _: source):
                case = Case("03-bitonic", 2, 2, type="u32", order="descending")
                return str(tiles.of_other_order(trace.read(text), case))

        self.assertIn("a.cu:2: error: kernel is always ascending here", found("ascending"))
        self.assertEqual(found("descending"), "None")
        launching = (
            "  auto kernel = sort<Order::%s>;\n  if (up) kernel = sort<Order::ascending>;\n  kernel<<<1, 2>>>(a);\n"
        )
        self.assertEqual(found("descending"), "None")

    def test_surplus_launches(self) -> None:
        n, keys = 2048, list(range(2048))
        arrays = [traces.array(0, "global", "keys", 4 * n, 1), traces.array(1, "shared", "tile", 4096)]
        in_tiles = [traces.launch("in_tiles"), {"block": 0}, traces.store(1, 0, 4, 0, 1)]
        mirror = [traces.launch("stage"), {"block": 0}]
        for thread, pair in enumerate(networks.mirror(n, n).pairs):
            mirror += compared(thread, keys, pair)

        def found(*launches: list[dict[str, Any]]) -> str:
            records = [traces.VERSION, *LINES, *arrays, traces.launch("sort_tiles"), *itertools.chain(*launches)]
            text = traces.text(*records)
            return str(tiles.surplus_launch(Case("03-bitonic", 3, n, type="u32"), lambda *_: trace.read(text)))

        self.assertEqual(found(mirror, in_tiles), "None")
        self.assertIn("launch 2 (in_tiles) is one too many", found(in_tiles, mirror, in_tiles))
        several = found(in_tiles, in_tiles, mirror, in_tiles)
        self.assertIn("launches 2 to 3, of which this is the first (in_tiles), are too many", several)
        self.assertIn("launch 4 is the one that belongs here: the mirror stage of runs of 2048 keys", several)

    def test_a_stage_is_skipped(self) -> None:
        found = self.found(self.run_of([self.stages[0], self.stages[2]]))
        self.assertIn("error: the mirror stage of runs of 4 keys is missing: the first pairs in its place are", found)
        self.assertIn("stage 2 of 3, n = 4", found)

    def test_phases_that_launches_pass(self) -> None:
        def found(text: str, *phases: tuple[int, int]) -> str:
            launches = [traces.launch("run", arguments=[None, None, 600, *own]) for own in phases]
            with mock.patch.object(suspects, "source_of", lambda _: text):
                return str(tiles._too_many_phases(trace.read(traces.text(traces.VERSION, *launches)), 600))

        # All launches are in line 1.
        text = "run<<<1, 2>>>(from, to, n, done, end);\n"
        self.assertIn("launch 1 runs 300 phases, but the halo", found(text, (0, 300)))
        self.assertIn(
            "launch 2 passes first_phase = 0, but launch 1 has passed end_phase = 200\n    this is `done`",
            found(text, (0, 200), (0, 400)),
        )
        self.assertEqual(found(text, (0, 200), (200, 400)), "None")

    def test_a_last_launch_that_reads_the_array_of_the_caller(self) -> None:
        arrays = [traces.array(0, "global", "keys", 4 * 600, 1), traces.array(1, "global", "other", 4 * 600, 2)]
        case = Case("01-odd-even", 2, 600, type="u32")

        def found(*read: int) -> str:
            launches = [[traces.launch("run"), {"block": 0}, traces.load(array, 0, 4, 0, 7)] for array in read]
            records = [launches[0][0], *arrays, *launches[0][1:], *(one for own in launches[1:] for one in own)]
            run = trace.read(traces.text(traces.VERSION, *LINES, *records))
            return str(tiles._of_last_source(run, case, run.accesses[0].array))

        self.assertIn("the last launch, number 3, reads keys, so the result is in the other array", found(0, 1, 0))
        self.assertEqual(found(0, 1), "None")

    def test_loads_of_a_later_block(self) -> None:
        arrays = [traces.array(0, "global", "keys", 4 * 513, 1), traces.array(1, "shared", "window", 4 * 1024)]

        def found(first: int) -> Cause | None:
            moved = [traces.load(0, 0, 4, 4 * first, 7), traces.store(1, 0, 5, 0, 7)]
            text = traces.text(
                traces.VERSION,
                *LINES,
                traces.launch("run", 2),
                {"block": 1},
                *arrays,
                *moved,
                traces.load(0, 1, 4, 4 * 600, 0),
            )
            return tiles.wrong_loads(trace.read(text), Case("01-odd-even", 2, 513, type="u32"))

        self.assertIn(
            "a.cu:14: error: thread 0 loads position 512 of the array into window[0], but position 256 of the array",
            str(found(512)),
        )
        self.assertIn("thread 1 loads position 600 of an array of 513 keys", str(found(256)))

    def test_a_pair_compared_twice(self) -> None:
        text = self.run_of([[(0, 1), (0, 1)], *self.stages[1:]])
        found = str(tiles.beside_races(Case("03-bitonic", 2, self.N, type="u32"), lambda *_: trace.read(text)))
        self.assertIn(
            "both compare tile[0] and tile[1]\n    no thread compares tile[2] and tile[3], the last of the 2 pairs\n",
            found,
        )

    def test_a_stage_too_few(self) -> None:
        found = self.found(self.run_of(self.stages[:2]))
        self.assertIn("a tile of 4 keys needs 3 stages, but only 2 are executed\n", found)
        self.assertIn("the stage with stride 1 of runs of 4 keys is missing", found)

    def test_stored_before_it_is_sorted(self) -> None:
        text = self.run_of(self.stages, stores_first=True)
        self.assertIn("a.cu:17: error: the tile is stored here before it is sorted\n", self.found(text))
        case = Case("03-bitonic", 2, self.N, type="u32")
        self.assertIn("before it is sorted", str(tiles.beside_races(case, lambda *_: trace.read(text))))

    def test_beside_a_race(self) -> None:
        def found(*stages: Sequence[Pair]) -> str:
            case, text = Case("03-bitonic", 2, self.N, type="u32"), self.run_of(stages)
            return str(tiles.beside_races(case, lambda *_: trace.read(text)))

        first, second, third = self.stages
        self.assertEqual(found(first, second, third), "None")
        self.assertEqual(found(first, [*second, *third]), "None")  # a barrier is missing
        self.assertIn("compares tile[0] and tile[2]", found(first, [(0, 2), (1, 3)], third))

    def test_loaded_to_another_place(self) -> None:
        found = self.found(self.run_of(self.stages, shift=1))
        self.assertIn(
            "a.cu:14: error: thread 0 loads position 0 of the array into tile[1], but position 1 of the array",
            found,
        )

    def test_not_stored(self) -> None:
        found = self.found(self.run_of(self.stages, stored=3))
        self.assertIn("nothing is stored to 1 of the 4 positions of the tile, first 3\n", found)


class Rows(unittest.TestCase):
    """The step that sorts rows in registers."""

    def setUp(self) -> None:
        self.keys = [(7 * i) % 61 for i in range(61)]

    def run_of(self, fault: str = "", rounds: int = 64, sentinel: int = 0xFFFFFFFF, moved: int = 0) -> str:
        """The trace of a warp."""
        n = len(self.keys)
        keys = self.keys + [sentinel] * (rows.ROW - n)
        records = [traces.VERSION, *LINES, traces.launch("sort", 1, 32), {"block": 0}]
        records.append(traces.array(0, "global", "keys", 4 * n, 1))
        records += [traces.load(0, (i // 4 + moved) % 32, 0, 4 * i, self.keys[i]) for i in range(n)]
        sources = {"up": [0, *range(31)], "down": [*range(1, 32), 31]}
        for sent in list(rows._Registers(keys, fault).sent())[:rounds]:
            for way, values in sent.items():
                record = traces.shuffle(0, values, sources[way])
                record["exchange"]["name"] = f"__shfl_{way}_sync"
                records.append(record)
        return traces.text(*records, *(traces.store(0, i // 4, 1, 4 * i, keys[i]) for i in range(n)))

    def found(self, text: str) -> str:
        return str(cause("01-odd-even", 3, len(self.keys), text))

    def test_right(self) -> None:
        self.assertEqual(self.found(self.run_of()), "None")

    def test_each_fault(self) -> None:
        self.keys = [(37 * i) % 128 for i in range(rows.ROW)]  # every lane has keys
        for fault, words in rows._ALL_VARIANTS.items():
            with self.subTest(fault):
                text = "a.cu:5: error: row 0: " + words.replace(": ", "\n    ", 1)
                self.assertIn(text, self.found(self.run_of(fault)))

    def test_the_line_that_keeps_the_wrong_key(self) -> None:
        self.keys = [(37 * i) % 128 for i in range(rows.ROW)]
        text = (
            "\n" * 4
            + "shuffle(own[0]);\nown[3] = lab::earlier(own[3], next);\nown[0] = lab::earlier(previous, own[0]);\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            found = self.found(self.run_of("up turned"))
        self.assertTrue(
            found.startswith("a.cu:7: error: row 0: in odd phases the right lane of a pair keeps the ear"), found
        )

    def test_two_shuffles_in_one_direction(self) -> None:
        found = self.found(self.run_of().replace("__shfl_up", "__shfl_down"))
        self.assertIn("fetches the key of lane 0: its neighbour there is lane 2", found)

    def test_too_few_phases(self) -> None:
        self.assertIn("only 64 phases are executed, but 128 keys need 128", self.found(self.run_of(rounds=32)))

    def test_wrong_sentinels(self) -> None:
        self.assertIn(
            "lane 16 has 0 at the positions from n on\n    fill the positions",
            self.found(self.run_of(sentinel=0)),
        )

    def test_the_keys_of_another_lane(self) -> None:
        found = self.found(self.run_of(moved=1))
        self.assertIn("a.cu:10: error: row 0: lane 1 loads keys[0]; its four keys are keys[4] to keys[7]", found)


SORT = """__global__ void sort(int* keys, int* values, int count, lab::Order order) {
  __shared__ Value tile_values[64];
  for (int run = 2; run < count; run *= 2) {
    for (int stride = run / 2; stride > 0; stride /= 2) {
      for (int t = threadIdx.x; t < count; t += blockDim.x) {
        if (t >= count) return;
        const bool up = (t & run) == 0;
        if (keys[t] < keys[t + stride]) keys[t] = 0;
      }
      __syncwarp();
    }
    __syncthreads();
  }
  compare_exchange<order>(tile, values, 0, 1);
}

__global__ void shuffle(int* keys) {
  const int lane = threadIdx.x % 32;
  if (lane > 3) return;
  keys[lane] = __shfl_down_sync(0xffffffff, keys[lane], 1);
}

void launch() {
  merge<order, true><<<1, 32>>>();
}
"""


class Remarks(unittest.TestCase):
    """What the text of a step says about a cause."""

    def setUp(self) -> None:
        enter = mock.patch.object(suspects, "source_of", lambda _: SORT)
        enter.start()
        self.addCleanup(enter.stop)
        self.source = Source("a.cu")

    def remarked(self, text: str, *details: str, line: int = 8) -> Cause:
        found = remarks.remarked(Cause(f"a.cu:{line}", text, details), self.source)
        assert found
        return found

    def test_loops(self) -> None:
        self.assertEqual(self.source.loops_around(8), [3, 4, 5])
        self.assertEqual(self.source.loops_around(14), [])

    def test_what_leaves_early(self) -> None:
        self.assertEqual(self.source.leaving(), (6, 12))
        self.assertEqual(self.source.leaving_shuffles(), (19, 20))

    def test_what_is_forgotten(self) -> None:
        self.assertEqual(self.source.without_values(), (8, "this line moves keys, but not their values"))
        self.assertEqual(self.source.ignores_order(8), 0)
        with mock.patch.object(suspects, "source_of", lambda _: SORT.replace("<order>", "")):
            self.assertGreater(Source("a.cu").ignores_order(8), 0)
        self.assertEqual((self.source.kernel("shuffle"), self.source.kernel("other")), (17, 0))

    def test_too_few_stages(self) -> None:
        found = self.remarked("a tile of 8 keys needs 6 stages, but only 3 are executed")
        self.assertEqual(
            found.details[0],
            "where does the loop over the runs end? line 3: `for (int run = 2; run < count; run *= 2)`",
        )

    def test_a_stage_that_is_there_twice(self) -> None:
        text = "this stage compares the pairs that the stage before it has compared: (0, 1)"
        found = self.remarked(text, "it is stage 2", "line 8: `if (keys[t] < keys[t + stride])`")
        self.assertIn("line 4: `for (int stride = run / 2", found.details[0])
        self.assertEqual(found.details[1:], ("it is stage 2",))

    def test_the_direction(self) -> None:
        found = self.remarked(
            "thread 1 compares",
            "the order here is descending: i & k = 2 & 2 is not 0 (i is the first position of the pair)",
        )
        self.assertIn("look at line 7: `const bool up = (t & run) == 0`", found.details[0])

    def test_a_barrier_of_the_warp(self) -> None:
        found = self.remarked("no barrier follows this line", "put __syncthreads() after line 9")
        self.assertEqual(
            found.details,
            ("__syncwarp() in line 10 synchronizes the lanes of one warp only: use __syncthreads() there",),
        )

    def test_a_flag_of_a_launch(self) -> None:
        text = "launch 5 (merge<order, true>) compares the pairs of the mirror stage of runs of 8 keys: (0, 7)"
        found = self.remarked(text, "it must be the stage with stride 2")
        self.assertEqual(found.place, "a.cu:24")
        self.assertIn("selects the mirror stage of runs of 8 keys; is that right?", found.details[0])

    def test_the_one_launch_with_a_flag(self) -> None:
        text = "void f() {\n  g<true><<<1, 2>>>();\n  g<true><<<1, 2>>>();\n}\n"
        cause = Cause("a.cu:1", "launch 1 (g<true>) compares the pairs of the mirror stage: (0, 7)")
        for launched_at, lines in (("", "2 or 3"), ("a.cu:2", "2")):
            found = self.of(text, replace(cause, launched_at=launched_at))
            self.assertIn(f"in the launch of g in line {lines} selects", found.details[0])

    def test_a_launch_that_is_missing_at_the_end(self) -> None:
        text = "void f() {\n  for (int k = 2; k < n; k *= 2) {\n    merge<<<1, 32>>>(k);\n  }\n}\n"
        source = source_from(text)
        found = remarks.remarked(Cause("", "a launch is missing after the last one", ("it must be the merge",)), source)
        self.assertEqual(found and found.place, "a.cu:2")
        self.assertIn("does this loop end too early? line 2: `for (int k = 2", str(found))

    def test_a_guard_with_a_wrong_limit(self) -> None:
        text = "void f(int count) {\n  if (b < count) exchange(a, b);\n}\n"
        source = source_from(text)
        cause = Cause("a.cu:2", "there is no tile[8]", ("skip a comparator whose partner is not below 8", "stage 2"))
        found = remarks.remarked(cause, source)
        words = "the guard `b < count` does not exclude this pair: count must be 8 here; which value is passed?"
        self.assertEqual(found and found.details, (words, "stage 2"))

    def test_a_line_that_only_looks_controlled(self) -> None:
        text = "void f() {\n  if (a)\n    x = 1;\n    y = 2;\n  z = 3;\n}\n"
        source = source_from(text)
        found = remarks.remarked(Cause("a.cu:4", "loses the key 3"), source)
        self.assertEqual(
            found and found.details, ("line 2 controls only line 3, not this line: enclose both lines in braces { }",)
        )
        self.assertEqual(
            remarks.remarked(Cause("a.cu:5", "loses the key 3"), source), Cause("a.cu:5", "loses the key 3")
        )

    def test_a_thread_that_leaves_its_loop(self) -> None:
        text = (
            "__global__ void f(int n) {\n  int t = threadIdx.x;\n  while (t < n) {\n    int i = 2 * t;\n    t += 32;\n"
            "    if ((i ^ 1) >= n) return;\n    exchange(i);\n  }\n}\n\nvoid g() {\n  f<<<1, 32>>>(n);\n}\n"
        )
        asked = "thread 1 takes no pair after comparator 1, whose partner does not exist: does it leave its loop there?"
        for line in (7, 12):  # the comparison, or the launch of a kernel that compares nothing
            found = self.of(text, Cause(f"a.cu:{line}", "no thread compares keys[1] and keys[2]", (asked, "launch 2")))
            self.assertEqual(found.place, "a.cu:6")
            first = "`return` ends a thread's loop; `continue` skips one comparator: line 6: `if ((i ^ 1) >= n) return`"
            self.assertEqual(found.details, (first, asked, "launch 2"))
        cause = Cause("a.cu:7", "no thread compares keys[1] and keys[2]", (asked,))
        said = str(self.of(text.replace("return", "continue"), cause))
        self.assertIn("does its loop advance too far? line 5: `t +=", said)
        other = Cause("a.cu:7", "no thread compares keys[1] and keys[2]", ("there are 2 pairs here",))
        self.assertEqual(self.of(text, other), other)  # the run does not show that it leaves the loop
        inner = text.replace(
            "if ((i ^ 1) >= n) return;", "for (int k = 0; k < 9; ++k) {\n      if (k > 7) break;\n    }"
        )
        self.assertEqual(self.of(inner, cause), cause)

    def test_a_thread_that_takes_no_pair_after_one_that_does_not_exist(self) -> None:
        stage = networks.Stage("the mirror stage", {(0, 7): True, (2, 5): True}, stride=4, mask=7)
        run = Run(trace.read(traces.text(traces.VERSION, traces.launch("run"))), "u32", "ascending")
        found = [comparisons.Comparison(0, 0, loads={0: mock.Mock(), 7: mock.Mock()})]
        left = stage_check._left_at(run, stage, found, (2, 5), 1)
        self.assertIn("thread 0 takes no pair after comparator 1, whose partner does not exist", left)
        self.assertEqual(stage_check._left_at(run, stage, found, (2, 5), 2), "")  # thread 0 takes pairs 0 and 2
        full = networks.Stage("a stage", {(0, 7): True, (1, 6): True, (2, 5): True}, stride=4, mask=7)
        self.assertEqual(stage_check._left_at(run, full, found, (2, 5), 1), "")

    def test_elements_that_are_not_exchanged(self) -> None:
        for a, b in (("keys[i]", "keys[i + 1]"), ("tile[r][c]", "tile[r][c + 1]"), ("keys[map[i]]", "keys[map[j]]")):
            found = self.of(f"void f() {{\n  {a} = {b};\n  {b} = {a};\n}}\n", Cause("a.cu:2", "loses the key 7"))
            self.assertIn(f"after this line, {a} and {b} are the same: keep the old {a}", found.text)
        text = "void f() {\n  Key* own = keys + i;\n  *own = own[1];\n  own[1] = own[0];\n}\n"
        self.assertIn("after this line, own[0] and own[1]", self.of(text, Cause("a.cu:3", "loses the key 7")).text)

    def test_one_of_two_values(self) -> None:
        text = (
            "__device__ void f() {\n  keys[a] = keys[b];\n  keys[b] = k;\n  if (x) {\n    v = values[a];\n"
            "    values[a] = values[b];\n  }\n}\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            found = Source("a.cu").without_values()
        words = (
            "this line stores values[a], but no line stores values[b], whose key is stored in line 3: one of the two "
        )
        self.assertEqual(found, (6, f"{words}values is lost"))
        right = (
            text.replace("  }\n", "    values[b] =\n        v;\n  }\n"),
            "__device__ void f() {\n  offsets[t] = 0;\n  keys[to] = k;\n  values[to] = v;\n}\n",
            "__device__ void f(int a) { keys[a] = 1; }\n__global__ void g() {\n  keys[i] = k;\n  values[i] = v;\n}\n",
        )
        for other in right:
            with mock.patch.object(suspects, "source_of", lambda _, text=other: text):
                self.assertIsNone(Source("a.cu").without_values())

    def test_the_call_that_passes_an_array(self) -> None:
        text = (
            "__device__ void copy(Key* to, const Key* from, int n) {\n  for (int k = threadIdx.x; k < n; ++k) {\n"
            "    to[k] = from[k];\n  }\n}\n\n__global__ void f() {\n  copy(window, keys + left, n);\n"
            "  copy(keys + first, window + halo, n);\n}\n"
        )
        source = source_from(text)
        self.assertEqual([source.passing(3, "window", is_written) for is_written in (True, False)], [8, 9])
        self.assertEqual(source.passing(3, "tile", True), 3)

    def test_functions_of_one_line(self) -> None:
        text = (
            "namespace a {\nnamespace {\n__device__ int own() { return threadIdx.x; }\n\n"
            "__device__ void order(Key& a, Key& b) {\n  if (b < a) swap(a, b);\n}\n\n"
            "__device__ void all(Key* keys, int i) {\n  order(keys[i], keys[i + 1]);\n}\n\n"
            "  __global__ void run(Key* keys, int n) {\n    const int pairs = n / 2;\n"
            "    for (int p = own(); p < pairs; p += 32) {\n      const int i = 2 * p;\n      all(keys, i);\n    }\n"
            "  }\n}\n}\n"
        )
        source = source_from(text)
        names = [source.function_of(line)[0] for line in (3, 6, 10, 17)]
        self.assertEqual(names, ["own", "order", "all", "run"])
        self.assertEqual((source.caller(6), source.caller(10), source.caller(17)), (10, 17, 0))
        self.assertEqual([source.outermost_call(line) for line in (6, 10, 17)], [17, 17, 0])
        self.assertIn("pairs comes from line 14: `const int pairs = n / 2`", source.bound_of(17))

    def test_what_a_called_function_returns(self) -> None:
        text = (
            "__device__ int first(int t) {\n  return 2 * t;\n}\nvoid f() {\n"
            "  auto pairs = [&](int n) { return n / 2; };\n"
            "  const int p = pairs(n);\n  const int i = first(t);\n  const int k = unknown(t);\n}\n"
        )
        source = source_from(text)
        self.assertEqual([source.returned_to(line) for line in (6, 7, 8)], [[5], [2], []])

    def test_limits_and_arguments_from_elsewhere(self) -> None:
        text = (
            "__device__ void play(Key* begin, Key* stop) {\n  for (Key* q = begin; q + 1 < stop; ++q) order(q);\n}\n"
            "__global__ void run(Key* keys, int n) {\n  play(keys, keys + n);\n}\n"
            "void sort(Key* keys, int n) {\n  auto phase = [&](int parity) {\n    run<<<1, 2>>>(keys, parity);\n  };\n"
            "  auto kernel = n > 3 ? run : run;\n  phase(0);\n  phase(1);\n}\n"
        )
        source = source_from(text)
        self.assertIn("; stop is passed in line 5: `play(keys, keys + n)`", source.bound_of(2))
        self.assertEqual(source.lambda_calls(9, "parity"), [12, 13])
        self.assertEqual(source.lambda_calls(9, "keys"), [])
        self.assertEqual((source.kernel("run"), source.kernel("kernel"), source.kernel("play")), (4, 4, 0))

    def test_braces_in_literals(self) -> None:
        text = (
            'extern "C" {\nvoid f() {\n  printf("{ %d", n);  // {\n}\n}\nvoid g(char c) {\n  if (c == \'}\') return;\n'
            "  h();\n}\n"
        )
        source = source_from(text)
        self.assertEqual([source.function_of(line)[0] for line in (3, 8)], ["f", "g"])

    def test_variables_that_are_no_kernels(self) -> None:
        text = (
            "__global__ void run(int* a) {\n}\nvoid f() {\n  const int pairs = n / 2, blocks = (pairs + 255) / 256;\n"
            "  const auto go = [&](auto kernel, int pairs) { kernel<<<blocks, 256>>>(a); };\n  go(run, pairs);\n}\n"
        )
        source = source_from(text)
        self.assertEqual((source.kernel("blocks"), source.kernel("run"), source.launched_at(5)), (0, 1, 0))

    def test_no_outermost_call(self) -> None:
        text = (
            "__device__ void f(Key* k) {\n  k[0] = 1;\n}\n__global__ void g(Key* k) {\n  f(k);\n  f(k + 1);\n}\n"
            "__device__ void h(int n) {\n  if (n > 0) i(n - 1);\n}\n__device__ void i(int n) {\n  h(n);\n}\n"
        )
        source = source_from(text)
        self.assertEqual((source.outermost_call(2), source.outermost_call(9)), (0, 0))

    def test_what_a_launch_passes(self) -> None:
        text = (
            "void f() {\n  merge<true><<<blocks, 32, 0, s>>>(keys, n / 2,\n      run);\n  g<<<1, 2>>>(a(1, 2), 3);\n}\n"
        )
        source = source_from(text)
        self.assertEqual([source.argument(2, position) for position in (1, 2, 3)], ["n / 2", "run", ""])
        self.assertEqual([source.argument(4, position) for position in (0, 1)], ["a(1, 2)", "3"])

    def test_which_condition_decides(self) -> None:
        text = (
            "__global__ void run(int* keys, int n) {\n  int i = 2 * threadIdx.x;\n  if (i >= n) return;\n"
            "  bool swap = before(keys[i], keys[i + 1]);\n  if (n > 3) {\n    n = 3;\n  } else {\n"
            "    if (swap) {\n      exchange(keys, i);\n    }\n  }\n}\n"
            "void f() {\n  auto kernel = up ? run : other;\n  kernel<<<1, 2>>>(keys, n);\n}\n"
        )
        source = source_from(text)
        swap = "bool swap = before(keys[i], keys[i + 1])"
        self.assertEqual(source.decision_of(9), f"line 8: `if (swap)`; line 4: `{swap}`")
        self.assertEqual(source.decision_of(4), "line 3: `if (i >= n) return`; line 2: `int i = 2 * threadIdx.x`")
        self.assertIn("line 5: `if (n > 3)`; line 8: `if (swap)`", source.decision_of(4, is_ahead=True))
        self.assertEqual((source.test_around(9), source.test_around(8), source.test_around(6)), (8, 5, 5))
        self.assertEqual((source.comparing(1), source.comparing(5)), (4, 0))
        self.assertEqual(source.launched_at(15), 1)

    def test_a_division_by_0(self) -> None:
        text = (
            "void f(int n) {\n  const int threads = 256;\n  int parts = n / 2;\n  int blocks = n / threads;\n"
            "  int own = n / parts + n / (parts - 1) + n / keys.n + n / std::max(1, n);\n  run<<<1, 2>>>(own);\n}\n"
        )
        source = source_from(text)
        self.assertEqual([source.divisors(line) for line in (3, 4, 5)], [[], ["threads"], ["parts"]])
        case = Case("01-odd-even", 2, 8)
        message = "crashed: the process crashed: Floating point exception"
        found = str(search._of_division(Outcome(case=case, passed=False, status="crashed", message=message), source))
        self.assertEqual(found, "a.cu:5: error: host code divides by 0\n    is parts 0? line 3: `int parts = n / 2`")

    def test_a_long_network_is_followed_back_once(self) -> None:
        levels = "".join(f"  int a{i + 1} = min(a{i}, b{i});\n  int b{i + 1} = max(a{i}, b{i});\n" for i in range(40))
        text = f"void f(int a0, int b0) {{\n{levels}  keys[a40] = keys[b40];\n}}\n"
        source = source_from(text)
        self.assertIn("a40 comes from line 80", source.index_of(82))

    def test_a_comparison_before_the_bits(self) -> None:
        asked = "only pairs that belong in the order of the step are wrong: how does the direction follow from i?"
        cause = Cause("a.cu:3", "thread 0 of block 0 exchanges keys", (asked,))
        text = "void f() {\n  const bool up = i & k == 0;\n  if (up) swap(a, b);\n}\n"
        hint = "== is evaluated before &: write (i & k) == 0"
        self.assertIn(hint, str(self.of(text, cause)))
        self.assertNotIn(hint, str(self.of(text.replace("i & k", "(i & k)"), cause)))

    def test_what_a_loop_counts(self) -> None:
        text = (
            "void f(int n) {\n  int merges = 0, tiles = 1;\n  while (tiles < n) {\n    tiles = tiles * 2;\n"
            "    merges = merges + 1;\n  }\n  power[1] = 2;\n  for (int m = merges; m > 0; m--) {\n"
            "    run<<<1, 2>>>(power[m],\n      n);\n  }\n}\n"
        )
        source = source_from(text)
        self.assertEqual(source.counted_by(8), [3, 5])
        self.assertEqual((source.filled("power", 9), source.filled("keys", 9)), (7, 0))
        self.assertEqual(source.quoted(9), "line 9: `run<<<1, 2>>>(power[m], n)`")

    def test_a_shuffle_under_a_condition_on_the_lane(self) -> None:
        text = (
            "__device__ void f(int lane) {\n  const bool has_left = lane != 0;\n  if (has_left) {\n"
            "    x = __shfl_up_sync(all, d, 1);\n  }\n}\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(Source("a.cu").uneven(SHUFFLE, ("if",)), (4, 3))

    def test_where_a_loop_advances(self) -> None:
        for step in ("i += 2", "i >>= 1", "i++", "--i", "i = i + 2"):
            text = (
                f"void f() {{\n  while (i < n) {{\n    use(i);\n    {step};\n  }}\n  for (; i < n; ++i) use(i);\n}}\n"
            )
            with mock.patch.object(suspects, "source_of", lambda _, text=text: text):
                source = Source("a.cu")
            self.assertEqual([source.step_of(line) for line in (2, 6)], [4, 6], step)

    def of(self, text: str, cause: Cause) -> Cause:
        with mock.patch.object(suspects, "source_of", lambda _: text):
            found = remarks.remarked(cause, Source("a.cu"))
        assert found
        return found

    def test_a_loop_that_counts_the_wrong_way(self) -> None:
        loop = (
            "void f() {\n  for (int k = 2; k <= n; k *= 2) {\n"
            "    for (int j = 1; j < k; j *= 2) {\n      g<<<1, 2>>>(k, j);\n"
        )
        cause = Cause("a.cu:4", "launch 2 (g) passes k = 4 and j = 1, but it must be k = 4 and j = 2")
        found = self.of(loop + "    }\n  }\n}\n", cause)
        self.assertEqual(
            found.details,
            ("does this loop count in the wrong direction? It increases j: line 3: `for (int j = 1; j < k; j *= 2)`",),
        )
        down = loop.replace("int j = 1; j < k; j *= 2", "int j = k / 4; j > 0; j /= 2") + "    }\n  }\n}\n"
        self.assertEqual(
            self.of(down, cause).details,
            ("these numbers come from the loop in line 3: `for (int j = k / 4; j > 0; j /= 2)`",),
        )

    def test_a_number_that_is_assigned(self) -> None:
        text = (
            "void f() {\n  int parity = 0;\n  for (int phase = 0; phase < n; ++phase) {\n"
            "    g<<<1, 2>>>(parity);\n    parity = phase % 2;\n  }\n}\n"
        )
        details = ("line 2: `int parity = 0`; line 5: `parity = phase % 2`",)
        cause = Cause("a.cu:4", "launch 2 (g) passes parity = 0, but it must be parity = 1", details)
        self.assertEqual(self.of(text, cause).details, details)

    def test_a_stage_that_is_missing_at_first(self) -> None:
        text = (
            "void clean(int s) {\n  exchange(s);\n}\n\nvoid f() {\n"
            "  for (int s = tile / 4; s > 0; s >>= 1) {\n    clean(s);\n  }\n}\n"
        )
        words = "the stage with stride 512 of runs of 2048 keys is missing"
        cause = Cause("a.cu:2", words, ("where do the loops over runs and strides begin and end?", "in launch 3"))
        asked = "does this loop begin with the right stride? line 6: `for (int s = tile / 4; s > 0; s >>= 1)`"
        self.assertEqual(self.of(text, cause).details, (asked, "in launch 3"))

    def test_keys_of_another_array(self) -> None:
        text = "void sort(Key* keys) {\n  exchange(keys);\n}\n\nvoid f() {\n  sort(all.data);\n}\n"
        detail = "the keys are in tile: which array is passed to the function that compares them?"
        found = self.of(text, Cause("a.cu:2", "thread 1 compares keys in global memory, not in tile", (detail,)))
        self.assertEqual(found.place, "a.cu:6")
        self.assertEqual(
            found.details, ("which array does this line pass? line 6: `sort(all.data)`", "the keys are in tile")
        )

    def test_a_call_with_exchanged_positions(self) -> None:
        detail = "keys in the wrong order are left as they are: the comparison is the wrong way round"
        found = self.of("  compare_exchange(keys, hi, lo);\n", Cause("a.cu:1", "exchanges tile[0]", (detail,)))
        asked = "keys in the wrong order are left as they are: are the two positions of this call exchanged?"
        self.assertEqual(found.details, (asked,))

    def test_the_number_of_a_thread_in_the_grid(self) -> None:
        cause = Cause("a.cu:3", "thread 1 of block 0 and thread 0 of block 1 both compare keys[2] and keys[3]", ("a",))
        for number in ("blockIdx.x * gridDim.x", "blockIdx.x", "std::int64_t(blockIdx.x) * gridDim.x"):
            text = f"void f() {{\n  int t = {number} + threadIdx.x;\n  exchange(keys, 2 * t);\n}}\n"
            asked, other = self.of(text, cause).details
            self.assertIn("blockIdx.x * blockDim.x + threadIdx.x: line 2: `int t = ", asked)
            self.assertEqual(other, "a")
        for number in (
            "blockIdx.x * blockDim.x",
            "std::int64_t(blockIdx.x) * blockDim.x",
            "blockDim.x * blockIdx.x",
            "blockIdx.x * size",
        ):
            text = f"void f() {{\n  int t = {number} + threadIdx.x;\n  exchange(keys, 2 * t);\n}}\n"
            self.assertEqual(self.of(text, cause), cause)

    def test_a_line_that_does_without_the_block(self) -> None:
        cause = Cause("a.cu:4", "thread 0 of block 1 compares keys[0] and keys[513]", ("a",))
        begin = "void f() {\n  int t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t;\n"
        text = f"{begin}  Key mine = keys[2 * threadIdx.x];\n  exchange(mine, keys[i + 1]);\n}}\n"
        asked, other = self.of(text, cause).details
        self.assertEqual(other, "a")
        self.assertTrue(asked.endswith("take the same keys: line 3: `Key mine = keys[2 * threadIdx.x]`"), asked)
        for unlike in (text.replace("threadIdx.x]", "t]"), f"__shared__ Key tile[4];\n{text}"):
            self.assertEqual(self.of(unlike, cause), cause)

    def test_a_loop_that_does_not_use_what_it_counts(self) -> None:
        cause = Cause("a.cu:2", "stage 6 of 6 compares the pairs of the stage with stride 2 of runs of 8 keys", ("a",))
        text = (
            "void stage(int stride) {\n  exchange(tile, stride);\n}\n\nvoid sort(int run) {\n"
            "  for (int gap = run / 4; gap > 0; gap /= 2) {\n    stage(run / 4);\n  }\n}\n"
        )
        unused, other = self.of(text, cause).details
        self.assertEqual(unused, "nothing in this loop uses gap: line 6: `for (int gap = run / 4; gap > 0; gap /= 2)`")
        self.assertEqual(self.of(text.replace("stage(run / 4)", "stage(gap)"), cause), cause)
        last, unused = self.of(text.replace("gap /= 2", "--gap"), cause).details
        self.assertEqual((last, unused[:31]), ("a", "nothing in this loop uses gap: "))

    def test_two_variables_that_become_the_same(self) -> None:
        text = "void f() {\n  from = to;\n  to = from;\n}\n"
        found = self.of(text, Cause("a.cu:9", "the last launch, number 2, writes b, not keys"))
        self.assertEqual(found.place, "a.cu:2")
        self.assertIn("after this line, from and to are the same", found.text)

    def test_two_stores_in_one_element(self) -> None:
        text = ""
        with mock.patch.object(suspects, "source_of", lambda _: text):
            text = "void f() {\n  keys[i] = keys[i + 1];\n  keys[i] = a;\n}\n"
            self.assertEqual(Source("a.cu").stored_twice(), (2, 3, "keys[i]"))
            text = "void f() {\n  *p = b; *p = a;\n}\n"
            self.assertEqual(Source("a.cu").stored_twice(), (2, 2, "*p"))
            for right in (
                "void f() {\n  keys[i] = b;\n  keys[j] = a;\n}\n",
                "void f() {\n  keys[i] = b;\n  keys[i] = keys[i] + a;\n}\n",
                "void f() {\n  if (c) {\n    keys[i] = b;\n  } else {\n    keys[i] = a;\n  }\n}\n",
            ):
                text = right
                self.assertIsNone(Source("a.cu").stored_twice())

    def test_arrays_exchanged_before_a_launch(self) -> None:
        text = "void f() {\n  for (;;) {\n    std::swap(from, to);\n    k<<<1, 1>>>(from,\n      to);\n  }\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(Source("a.cu").swapped_before(4, 2), 3)
            right = text
            for old, new in (("std::swap", "if (l) std::swap"), ("to);\n    k", "other);\n    k")):
                text = right.replace(old, new)
                self.assertEqual(Source("a.cu").swapped_before(4, 2), 0)

    def test_the_branch_of_a_template_argument(self) -> None:
        text = (
            "template <Order order, bool mirrored>\n__global__ void f() {\n  int hi;\n  if constexpr (mirrored) {\n"
            "    hi = lo ^ 1;\n  } else {\n    hi = lo + 1;\n  }\n  if (n) hi = 0;\n  exchange(lo, hi);\n}\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            source = Source("a.cu")
            branches = [source.branch_of(line) for line in (5, 7, 9, 10)]
            self.assertEqual(branches, [("mirrored", True), ("mirrored", False), None, None])
        details = ("hi comes from line 7: `hi = lo + 1`, or from line 5: `hi = lo ^ 1`", "in launch 2 (f<order, true>)")
        found = self.of(text, Cause("a.cu:10", "thread 0 of block 0 compares keys[0] and keys[1023]", details))
        self.assertEqual(found.details, ("hi comes from line 5: `hi = lo ^ 1`", details[1]))

    def test_a_call_without_values(self) -> None:
        call = "  compare_exchange<order>(keys, static_cast<NoValue*>(nullptr), i, i + stride);\n"
        text = f"__device__ void f(Key* keys, Value* values) {{\n{call}}}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            line, words = Source("a.cu").without_values() or (0, "")
            self.assertEqual((line, words), (2, "this call passes no values, so that the keys move without them"))

    def test_a_loop_whose_limit_has_brackets_is_not_of_threads(self) -> None:
        text = (
            "__global__ void k() {\n  for (int stride = 8; stride > 0; stride = stride / 2) {\n"
            "    for (int pair = threadIdx.x; pair < 8; pair += 4) {\n      exchange(pair);\n    }\n  }\n}\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(Source("a.cu").end_of_pairs(4), 5)

    def test_a_pointer_in_place_of_a_copy(self) -> None:
        text = ""
        with mock.patch.object(suspects, "source_of", lambda _: text):
            for kept, stored, read, words in (
                ("const Key* old = left", "*left", "*old", "old is a pointer to *left, not a copy of it: line 3"),
                ("Key* old = &keys[i]", "keys[i]", "*old", "old is a pointer to keys[i], not a copy of it: line 3"),
                ("const Key& old = keys[i]", "keys[i]", "old", "old is a reference to keys[i], not a copy of it"),
            ):
                text = f"void f() {{\n  {kept};\n  {stored} = b;\n  *right = {read};\n}}\n"
                line, why, _ = Source("a.cu").read_through(3) or (0, "", "")
                self.assertEqual((line, why[: len(words)]), (2, words))
            text = "void f() {\n  Key* left = keys + i;\n  const Key old = *left;\n  *left = b;\n  *right = old;\n}\n"
            self.assertIsNone(Source("a.cu").read_through(3))

    def test_a_comparison_in_a_fixed_order(self) -> None:
        text = "void f(Order order) {\n  if (lab::before(b, a, lab::Order::ascending)) swap(a, b);\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(Source("a.cu").fixed_order(2), 2)
            text = text.replace("lab::Order::ascending", "order")
            self.assertEqual(Source("a.cu").fixed_order(2), 0)

    def test_the_wrong_one_of_two_positions_comes_first(self) -> None:
        left, right = "left comes from line 2: `left = keys + t`", "right comes from line 3: `right = left + 1`"
        for comes in (f"{left}; {right}", f"{right}; {left}"):
            self.assertEqual(stage_check._begun_with(comes, is_first=True), f"{left}; {right}")
            self.assertEqual(stage_check._begun_with(comes, is_first=False), f"{right}; {left}")
        self.assertEqual(stage_check._begun_with(left, is_first=False), left)

    def test_where_a_while_loop_advances(self) -> None:
        text = "void f() {\n  while (phase < n) {\n    run<<<1, 1>>>(phase % 2);\n    phase += 2;\n  }\n}\n"
        found = self.of(text, Cause("a.cu:3", "launch 2 (run) passes parity = 0, but it must be parity = 1"))
        (numbers,) = found.details
        self.assertTrue(numbers.endswith("line 2: `while (phase < n)`; line 4: `phase += 2`"), numbers)

    def test_a_barrier_under_a_condition(self) -> None:
        text = (
            "__device__ void fix() {\n  swap(tile[0], tile[9]);\n}\n\n__global__ void kernel() {\n"
            "  while (gap > 0) {\n    fix();\n    if (gap >= 32) __syncthreads();\n  }\n}\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(Source("a.cu").conditional_barrier(2), (8, 8))
            text = text.replace("if (gap >= 32) ", "")
            self.assertIsNone(Source("a.cu").conditional_barrier(2))

    def test_the_strides_of_a_helper_that_begin_too_early(self) -> None:
        text = (
            "__device__ void fix(int gap) {\n  exchange(gap);\n}\n\n__device__ void order() {\n  fix(2);\n"
            "  int gap = 2;\n  while (gap > 0) {\n    fix(gap);\n    gap /= 2;\n  }\n}\n"
        )
        twice = "this stage compares the pairs that the stage before it has compared: (0, 1)"
        (asked,) = self.of(text, Cause("a.cu:2", twice, ("line 2: `exchange(gap)`",))).details
        self.assertTrue(asked.endswith("right stride? line 7: `int gap = 2`; line 8: `while (gap > 0)`"), asked)

    def test_a_lambda_that_changes_its_copies(self) -> None:
        text = (
            "void f() {\n  auto turn = [](Key x, Key y) {\n    const Key old = x;\n    x = y;\n    y = old;\n  };\n}\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            line, why, _ = Source("a.cu").changed_parameter() or (0, "", "")
            self.assertEqual((line, why), (4, "this line changes x, which is only a copy of a key"))
            text = text.replace("Key x, Key y", "Key& x, Key& y")
            self.assertIsNone(Source("a.cu").changed_parameter())

    def test_copies_that_are_compared(self) -> None:
        text = "void f() {\n  Key a = own[1], b = own[2];\n  exchange<order>(a, b);\n}\n"
        source = source_from(text)
        why = "a and b are copies of own[1] and own[2], which stay as they are"
        self.assertEqual(source.compared_copies(1, 2), (3, why))
        self.assertIsNone(source.compared_copies(0, 1))
        for other in ("Key& a = own[1];\n  Key& b = own[2];", "Key a = own[1], b = own[2];\n  own[1] = b;"):
            stored = text.replace("Key a = own[1], b = own[2];", other).replace("(a, b);", "(a, b);\n  own[1] = a;")
            self.assertIsNone(source_from(stored).compared_copies(1, 2))

    def test_a_limit_that_a_function_returns(self) -> None:
        text = (
            "__device__ int pairs_of(int n, int parity) {\n  return n / 2;\n}\n\n"
            "__global__ void f(Key* keys, int n) {\n  const int pairs = pairs_of(n, 1);\n"
            "  for (int t = 0; t < pairs; ++t) {\n    exchange(keys, t);\n  }\n}\n"
        )
        self.assertTrue(source_from(text).bound_of(8).endswith("pairs_of(n, 1)`; line 2: `return n / 2`"))

    def test_a_bound_is_that_of_a_loop_around_a_line(self) -> None:
        text = (
            "__global__ void f(Key* to, int n) {\n  for (int q = 0; q < count; ++q) exchange(q);\n"
            "  auto put = [&](int p) {\n    to[p] = tile[p];\n  };\n  for (int p = own(); p < n; ++p) put(p);\n}\n"
        )
        source = source_from(text)
        self.assertEqual(source.bound_of(4), "line 6: `for (int p = own(); p < n; ++p) put(p)`")
        text = "void f(Key* to) {\n  for (int q = 0; q < count; ++q) exchange(q);\n  to[0] = 1;\n}\n"
        self.assertEqual(source_from(text).bound_of(3), "")

    def test_a_lambda_that_several_lines_call(self) -> None:
        text = (
            "__device__ void sort(Key* tile) {\n  auto stage = [&](int stride, int flip) {\n"
            "    const int high = low() ^ flip;\n    exchange(tile, high);\n  };\n  stage(1, 2);\n"
            "  for (int s = 4; s > 0; s /= 2) stage(s, s);\n}\n"
        )
        source = source_from(text)
        self.assertEqual(source.lambda_around(4), ("stage", ["stride", "flip"], [6, 7]))
        self.assertTrue(source.names_parameter(4, "line 3: `const int high = low() ^ flip`"))
        self.assertIsNone(source.lambda_around(7))

    def test_keys_behind_references_that_are_compared_without_the_order(self) -> None:
        text = (
            "void f(Key* keys, Order order) {\n  Key& a = keys[0];\n  Key& b = keys[1];\n  if (b < a) swap(a, b);\n}\n"
        )
        self.assertEqual(source_from(text).ignores_order(4), 4)
        self.assertEqual(source_from(text.replace("Key& ", "Key* ")).ignores_order(4), 0)

    def test_a_copy_that_is_changed_in_place_of_its_key(self) -> None:
        text = (
            "__global__ void f(Key* keys) {\n  Key& a = keys[0];\n  Key b = keys[1];\n  const Key saved = a;\n"
            "  a = b;\n  b = saved;\n}\n"
        )
        source = source_from(text)
        self.assertEqual(source.changed_copy(5), (6, "b", 3))
        self.assertFalse(source.is_stored("b", 6))
        self.assertTrue(source_from(text.replace("}\n", "  keys[1] = b;\n}\n")).is_stored("b", 6))

    def test_a_loop_of_one_line(self) -> None:
        text = (
            "void f() {\n  while (a) {\n    for (int d = 2; d > 0; d /= 2) g(d);\n"
            "    for (;;) {\n      g(1);\n    }\n  }\n}\n"
        )
        self.assertEqual([source_from(text).loops_around(line) for line in (3, 4, 5)], [[2, 3], [2], [2, 4]])

    def test_an_index_that_a_call_passes(self) -> None:
        text = (
            "__device__ void g(Key* keys, int count, int flip) {\n  for (int t = 0; t < count; ++t) {\n"
            "    int low = 2 * t, high = low ^ flip;\n    exchange(keys[low], keys[high]);\n  }\n}\n"
        )
        source = source_from(text)
        self.assertTrue(source.names_parameter(4, source.index_of(4)))
        self.assertFalse(
            source_from(text.replace("low ^ flip", "low ^ 1")).names_parameter(4, "line 2: `for (t < count)`")
        )

    def test_a_shuffle_that_some_lanes_choose(self) -> None:
        text = "void f() {\n  own = lane < 31 ? min(own, __shfl_down_sync(all, own, 1)) : own;\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            source = Source("a.cu")
            self.assertEqual([source.chooses_shuffle(line) for line in (2, 1)], [True, False])
            found = [
                search._line_of_chosen_shuffle(source, Finding("a.cu", line, "invalid-warp-mask", "x", facts=facts))
                for line, facts in ((2, ()), (3, (fact(3, 31, ""), fact(2, 0, ""))), (3, ()))
            ]
            self.assertEqual(found, [2, 2, 0])

    def test_a_return_before_the_error_is_read(self) -> None:
        text = "void f() {\n  k<<<1, 1>>>();\n  return;\n  CUDA_CHECK(cudaGetLastError());\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(Source("a.cu").returns_between(2, "cudaGetLastError"), (3, 4))
            text = text.replace("  return;\n", "")
            self.assertEqual(Source("a.cu").returns_between(2, "cudaGetLastError"), (0, 0))

    def test_a_loop_that_advances_by_too_much(self) -> None:
        asked = "each of the 32 threads compares only one pair: use a loop, so that it takes more pairs"
        text = (
            "void f() {\n  const int stride = 2 * threads;\n"
            "  for (int t = threadIdx.x; t < pairs; t += stride) {\n"
            "    keys[t] = 0;\n  }\n}\n"
        )
        (detail,) = self.of(text, Cause("a.cu:4", "no thread compares keys[64] and keys[65]", (asked,))).details
        self.assertIn("does its loop advance too far? line 3: `for (int t", detail)
        self.assertTrue(detail.endswith("; line 2: `const int stride = 2 * threads`"), detail)
        for text in ("void f() {\n  keys[0] = 0;\n}\n", "void f() {\n  for (i = 0; i < n; i += 2) keys[0] = 0;\n}\n"):
            self.assertEqual(self.of(text, Cause("a.cu:2", "no thread", (asked,))).details, (asked,))

    def test_a_guard_of_the_first_position(self) -> None:
        skip = "skip a comparator whose partner is not below 7"
        for partner in ("partner", "i + stride"):
            text = f"void f() {{\n  if (i < count) exchange(keys, values, i, {partner});\n}}\n"
            found = self.of(text, Cause("a.cu:2", "compares tile[6] and tile[7], but tile[7] holds no key", (skip,)))
            tests = f"the guard `i < count` tests only the first position of the pair: {partner} must be below 7, too"
            self.assertEqual(found.details, (tests,))

    def test_a_launch_that_is_missing_in_a_loop(self) -> None:
        text = (
            "void f() {\n  for (int run = 2; run < n; run *= 2) {\n    global<<<1, 2>>>(run);\n  }\n"
            "  in_tiles<<<1, 2>>>();\n}\n"
        )
        cause = Cause("a.cu:3", "the launch of in_tiles() for runs of 8 keys is missing before launch 3 (global)")
        found = self.of(text, cause)
        outside = "line 5 launches in_tiles() outside the loop in line 2: `for (int run = 2; run < n; run *= 2)`"
        self.assertEqual((found.place, found.details), ("a.cu:5", (outside,)))
        found = self.of(text.replace("in_tiles<<<1, 2>>>();", ""), cause)
        self.assertEqual(found.details, ("nothing launches in_tiles()",))
        cause = Cause("a.cu:5", "the launch of global() for the stage is missing before launch 3 (in_tiles)")
        found = self.of(text, cause)
        self.assertEqual(found.place, "a.cu:2")
        self.assertEqual(
            found.details, ("does this loop end too early? line 2: `for (int run = 2; run < n; run *= 2)`",)
        )

    def test_an_index_of_the_whole_array_in_a_tile(self) -> None:
        words = "compares tile[{0}] and tile[{1}], but tile[{1}] holds no key: there are {2} keys"
        detail = "the guard `partner < count` does not exclude this pair"
        text = "thread 0 of block 1 " + words.format(1024, 1025, "1,024")
        found = self.of("x\n", Cause("a.cu:1", text, (detail, "in launch 3")))
        asked = "the indices of tile begin at 0 in every block: is this index a position in the whole array instead?"
        self.assertEqual((found.details, found.is_certain), ((asked, "in launch 3"), True))
        text = "thread 0 of block 1 " + words.format(1023, 1024, "1,024")  # one too many
        self.assertFalse(self.of("x\n", Cause("a.cu:1", text, (detail,))).is_certain)

    def test_threads_of_the_grid_in_a_tile(self) -> None:
        text = "void f() {\n  for (int t = blockIdx.x * blockDim.x + threadIdx.x; t < 8; t += blockDim.x) {\n  }\n}\n"
        details = ("check the loops that lead to a comparison, and more", "in launch 1 (f), block 1, stage 1 of 1")
        found = self.of(text, Cause("a.cu:9", "no thread compares tile[0] and tile[1]", details))
        self.assertEqual(found.place, "a.cu:2")
        self.assertTrue(found.text.startswith("in block 1, no thread compares anything: this line numbers the threads"))
        cause = Cause("a.cu:9", "no thread compares tile[0] and tile[1]", (details[0], "block 0, stage 1"))
        self.assertEqual(self.of(text, cause).place, "a.cu:9")

    def test_a_loop_that_advances_by_one_block(self) -> None:
        finding = Finding("a.cu", 3, "race", "x", why="same-thread-index")
        outcome = Outcome("verified", False, Case("03-bitonic", 3, 8), findings=(finding,))
        for begins, step, line in (("first", "blockDim.x", 3), ("threadIdx.x", "blockDim.x", 0), ("first", "all", 0)):
            text = (
                f"void f() {{\n  const int first = blockIdx.x * blockDim.x + threadIdx.x;\n"
                f"  for (int t = {begins}; t < n; t += {step}) {{\n  }}\n}}\n"
            )
            with mock.patch.object(suspects, "source_of", lambda _, text=text: text):
                found = search._of_step(outcome, Source("a.cu"))
            self.assertEqual(found and found.place, f"a.cu:{line}" if line else None)

    def test_a_copy_that_changes_in_place_of_a_key(self) -> None:
        text = "__global__ void f() {\n  Key a = keys[i], c;\n  const Key b = keys[j];\n  a = b;\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(Source("a.cu").changed_copy(1), (4, "a", 2))
        with mock.patch.object(suspects, "source_of", lambda _: text.replace("a = b;", "keys[i] = b;")):
            self.assertIsNone(Source("a.cu").changed_copy(1))

    def test_an_index_that_is_the_number_of_a_thread(self) -> None:
        text = "void f() {\n  const int t = threadIdx.x;\n  const int i = 2 * t;\n  const Key a = keys[t];\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(
                Source("a.cu").index_of(4),
                "its index uses t, the number of the thread (line 2): should it use i (line 3: `const int i = 2 * t`)?",
            )
        with mock.patch.object(suspects, "source_of", lambda _: text.replace("i = 2 * t", "i = 2")):
            self.assertEqual(
                Source("a.cu").index_of(4),
                "its index uses t, the number of the thread (line 2: `const int t = threadIdx.x`)",
            )

    def test_the_limits_of_a_guarded_loop(self) -> None:
        text = (
            "void f() {\n  for (int t = threadIdx.x; t < count / 2; t += blockDim.x) {\n"
            "    const int i = t;\n    if (i + 1 < count) exchange(i, i + 1);\n  }\n}\n"
        )
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertEqual(
                Source("a.cu").limits_of(4),
                "one of these limits may be wrong: line 2: `for (int t = threadIdx.x; t < count / 2; t += blockDim.x)`"
                "; line 4: `if (i + 1 < count) exchange(i, i + 1)`",
            )

    def test_where_a_pointer_comes_from(self) -> None:
        text = "void f() {\n  const int i = t;\n  Key* p = keys + i;\n  const Key a = p[0];\n}\n"
        with mock.patch.object(suspects, "source_of", lambda _: text):
            self.assertIn("p comes from line 3: `Key* p = keys + i`", Source("a.cu").index_of(4))

    def test_others_stay_as_they_are(self) -> None:
        cause = Cause("a.cu:8", "thread 0 loses the key 3", ("before: 3",))
        self.assertEqual(remarks.remarked(cause, self.source), cause)
        self.assertIsNone(remarks.remarked(None, self.source))


if __name__ == "__main__":
    unittest.main()
