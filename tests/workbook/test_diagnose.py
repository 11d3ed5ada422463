"""The diagnosis of a case that fails: the small changes that are tried, who wrote what is wrong, and the words."""

from __future__ import annotations

import re
import unittest
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import traces

from workbook.core.judge_types import Case, Element, Fact, Finding, Outcome, SourceLine
from workbook.diagnose import program, syntax, words
from workbook.diagnose.diagnosis import Diagnosis, Evidence, Traced, diagnose
from workbook.diagnose.expectations import Departure, departure, rule_of
from workbook.diagnose.origins import origins
from workbook.diagnose.schemata import Change, Mutant
from workbook.diagnose.search import Choice, Searched
from workbook.diagnose.statements import Statements
from workbook.diagnose.syntax import Syntax
from workbook.pictures import trace

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """
template <class Key>
__global__ void exchange(Key* keys, std::int64_t n, lab::Order order) {
  const std::int64_t i = 2 * (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x);
  if (i + 1 >= n) return;
  %s
}
"""
# What the rest of a file calls them, and another student might.
NAMES = {"keys": "values_to_sort", "n": "count", "i": "where", "order": "direction", "exchange": "swap_pairs"}
NAMES |= {"shared": "window", "t": "own", "half": "h"}
FILE = """
__global__ void shift(const int* keys, int* shared, int n) {
  for (int t = threadIdx.x; t < n; t += blockDim.x) {
    const int half = t / 2;
    shared[half] = keys[t];
  }
}
"""
HAS_PARSER = syntax.is_available()


def renamed(text: str) -> str:
    """The same program with other names."""
    return re.sub(r"(?<![.\w>])\b(\w+)\b", lambda match: NAMES.get(match[1], match[1]), text)


def changes(statement: str) -> list[tuple[str, str, str]]:
    """The changes of a statement of a kernel: kind, old and new."""
    mutants = Statements(Syntax(KERNEL % statement)).mutants
    return [(one.change.kind, one.change.old, one.change.new) for one in mutants if one.line == 6]


def news(statement: str, kind: str = "replace") -> list[str]:
    """What a statement becomes by the changes of one kind."""
    return [new for one, _, new in changes(statement) if one == kind]


@unittest.skipUnless(HAS_PARSER, "tree-sitter and tree-sitter-cuda are not installed")
class Places(unittest.TestCase):
    def test_each_solution_keeps_its_lines(self) -> None:
        files = [*(ROOT / "solutions").glob("0*/0*.cu")] or [*(ROOT / "labs").glob("0*/0*.cu")]
        self.assertTrue(files)
        for file in files:
            text = file.read_text(encoding="utf-8")
            places = Statements(Syntax(text))
            self.assertEqual(places.text().count("\n"), text.count("\n"), file)
            self.assertGreater(len(places.mutants), 20, file)
            numbers = [mutant.number for mutant in places.mutants]
            self.assertEqual(len(set(numbers)), len(numbers), file)

    def test_names_decide_nothing(self) -> None:
        for file in (ROOT / "labs/01-odd-even/01_global.cu", ROOT / "labs/03-bitonic/02_shared.cu"):
            text = file.read_text(encoding="utf-8")
            one, other = (Statements(Syntax(source)).mutants for source in (text, renamed(text)))
            self.assertEqual(
                [(mutant.line, mutant.rank, mutant.change.kind) for mutant in one],
                [(mutant.line, mutant.rank, mutant.change.kind) for mutant in other],
            )
        source = KERNEL % "if (keys[i] < keys[i + 1]) keys[i] = keys[n - 1 - i];"
        one, other = (Statements(Syntax(text)).mutants for text in (source, renamed(source)))
        self.assertEqual([renamed(mutant.change.new) for mutant in one], [mutant.change.new for mutant in other])

    def test_comparisons(self) -> None:
        found = news("if (keys[i] < keys[i + 1]) return;")
        self.assertIn("keys[i] <= keys[i + 1]", found)
        self.assertIn("keys[i] > keys[i + 1]", found)

    def test_template_arguments_are_no_comparisons(self) -> None:
        found = news("keys[i] = pick<order>(keys[i], keys[i + 1]);")
        self.assertFalse([text for text in found if "pick>" in text or "pick<=" in text])
        self.assertIn("keys[i] = pick<order>(keys[i + 1], keys[i])", found)
        self.assertIn("max(i, n)", " ".join(news("keys[i] = min(i, n);")))

    def test_what_is_changed_is_shown_with_what_is_around_it(self) -> None:
        self.assertIn("keys[i] = keys[n - i]", news("keys[i] = keys[n + i];"))
        self.assertIn("t < n / 3", news("for (int t = 0; t < n / 2; ++t) keys[t] = 0;"))

    def test_an_operand_that_does_nothing_is_left_out(self) -> None:
        found = news("for (int t = 0; t < n / 2; ++t) keys[t] = 0;")
        self.assertIn("t < n", found)
        self.assertNotIn("t < n / 1", found)

    def test_fewer_blocks_or_threads_hide_a_fault(self) -> None:
        found = news("run<<<n, i>>>(keys);")
        self.assertIn("run<<<i, n>>>(keys)", found)
        self.assertFalse([text for text in found if "<<<1" in text or ", 1>>>" in text or "/ 2" in text])

    def test_built_in_variables(self) -> None:
        self.assertIn("blockIdx.x * blockDim.x + threadIdx.x", news("const int t = threadIdx.x;"))

    def test_what_was_forgotten(self) -> None:
        found = news("keys[2 * i] = 0;")
        self.assertIn("keys[2 * i + n] = 0", found)
        constant = (
            "constexpr int some = 1024;\n" + KERNEL % "for (int t = 0; t < n; t += gridDim.x) keys[t % some] = 0;"
        )
        self.assertIn("t += gridDim.x * some", [one.change.new for one in Statements(Syntax(constant)).mutants])
        without = Statements(Syntax(constant), has_constants=False).mutants
        self.assertNotIn("t += gridDim.x * some", [one.change.new for one in without])

    def test_lambdas(self) -> None:
        self.assertFalse(changes("run([keys](int a) { keys[a] = a + 1; });"))
        found = news("const auto stage = [&](int half) { keys[half] = keys[i] + 1; };")
        self.assertIn("keys[half - 1] = keys[i] + 1", found)
        self.assertIn("keys[half + i] = keys[i] + 1", found)

    def test_a_return_in_a_loop(self) -> None:
        self.assertTrue(news("for (int j = 0; j < 4; ++j) if (j == i) return;", "leave"))
        self.assertFalse(news("return;", "leave"))

    def test_barriers_only_beside_shared_memory(self) -> None:
        self.assertFalse(news("keys[i] = 0;", "put-barrier"))
        self.assertTrue(news("__shared__ Key tile[4]; tile[0] = keys[i]; keys[i] = tile[1];", "put-barrier"))
        self.assertTrue(news("__syncthreads();", "take-barrier"))

    def test_constants_stay_as_they_are(self) -> None:
        self.assertFalse(changes("constexpr int size = 4 * 2; static_assert(size > 1);"))

    def test_lines_that_do_not_compile_are_left_out(self) -> None:
        places = Statements(Syntax(KERNEL % "keys[i] = keys[i + 1];"), excluded=[6])
        self.assertFalse([mutant for mutant in places.mutants if mutant.line == 6])

    def test_nothing_is_said_about_what_is_not_understood(self) -> None:
        self.assertFalse(changes("keys[i] = = 3 +;"))

    def test_a_file_that_is_broken_off(self) -> None:
        text = (ROOT / "labs/03-bitonic/02_shared.cu").read_text(encoding="utf-8")
        for end in range(0, len(text), len(text) // 20):
            self.assertEqual(Statements(Syntax(text[:end])).text().count("\n"), text[:end].count("\n"))
            self.assertEqual(Statements(Syntax(text[end:])).text().count("\n"), text[end:].count("\n"))


@unittest.skipUnless(HAS_PARSER, "tree-sitter and tree-sitter-cuda are not installed")
class Structure(unittest.TestCase):
    def test_functions(self) -> None:
        (found,) = Syntax(KERNEL % "").functions()
        self.assertEqual((syntax.name_of(found), syntax.is_of_device(found)), ("exchange", True))
        self.assertEqual([name.name for name in syntax.parameters_of(found)], ["keys", "n", "order"])

    def test_where_an_index_comes_from(self) -> None:
        seen = Outcome("wrong", False, Case("any", 1, 4), first_wrong=1, file="labs/any/a.cu", line=5)
        lines = Evidence(FILE, "labs/any/a.cu", Traced(seen)).lines()
        self.assertEqual([(one.kind, one.line) for one in lines], [("defines", 4), ("defines", 3)])

    def test_origins_go_into_what_is_called_and_out_to_what_calls(self) -> None:
        source = """__device__ int half(int n) {
  return n / 2;
}
__device__ void store(int* tile, Part part, int to) {
  while (to < part.end) tile[to++] = 1;
}
__global__ void all(int* keys, int n) {
  const auto up = [&](int i) { return min(i, n); };
  Part part;
  part.end = up(n + 1);
  const int* unused = keys + n;
  store(keys, part, half(n));
}
"""
        found = [(one.kind, one.line) for one in origins(Syntax(source), 5)]
        self.assertEqual(found, [("passes", 12), ("returns", 2), ("defines", 10), ("returns", 8)])

    def test_an_index_from_an_array(self) -> None:
        source = """__device__ void rank(Own& own, int sum) {
  const int before = sum - 1;
  own.ranks[0] = before;
}
__device__ void scatter(int* tile, Own& own) {
  tile[own.ranks[0]] = own.keys[0];
}
"""
        found = [(one.kind, one.line) for one in origins(Syntax(source), 6)]
        self.assertEqual(found, [("defines", 2), ("defines", 3)])

    def test_a_gap_that_is_still_empty(self) -> None:
        source = "__device__ void part(int* a) {{\n  // Your code: store\n  // it.\n{}}}\n" + (
            "__global__ void all(int* a) {{ part(a); }}\n__global__ void other(int* a) {{ a[0] = 1; }}\n"
        )
        for more, kernel, line in (
            ("", "all", 2),
            ("  (void)a;\n", "all", 2),
            ("  (void)a;\n  *a = 1;\n", "all", 0),
            ("", "other", 0),
        ):
            launches = ({"kernel": f"{kernel}<int>"},)
            seen = Outcome("wrong", False, Case("any", 1, 4), file="labs/any/a.cu", launches=launches)
            found = diagnose(Evidence(source.format(more), "labs/any/a.cu", Traced(seen)), Searched())
            self.assertEqual((found.kind, found.line), ("gap", line) if line else ("wrong", 0))

    def test_what_a_call_passes(self) -> None:
        calls = "__global__ void all(const int* from, int* to, int count) {\n  shift(from, to, count - 1);\n}\n"
        seen = Outcome("wrong", False, Case("any", 1, 4), file="labs/any/a.cu", line=3)
        for source in (FILE + calls, renamed(FILE + calls)):
            lines = Evidence(source, "labs/any/a.cu", Traced(seen)).lines()
            self.assertIn(("passes", 9), [(one.kind, one.line) for one in lines])

    def test_a_loop_that_never_ends(self) -> None:
        for loop, is_endless in (
            ("while (i < n) keys[i] = 0;", True),
            ("for (int j = 0; j < n; j + 1) i = j;", True),
            ("for (;;) keys[i] = 0;", True),
            ("while (i < n) ++i;", False),
            ("while (i < n) step(&i);", False),
            ("while (keys[i] > 0) n = 1;", False),
            ("for (;;) if (n) break;", False),
        ):
            tree = syntax.Syntax(KERNEL % loop)
            found = [node for node in syntax.descendants(tree.root) if node.type in syntax.LOOPS]
            self.assertEqual([syntax.never_ends(node) for node in found], [is_endless], loop)


class Writers(unittest.TestCase):
    """Who wrote what is wrong."""

    SOURCE, OUTCOME = FILE, Outcome("wrong", False, Case("any", 1, 2, type="u32"), first_wrong=1, file="labs/any/a.cu")

    def evidence(self, *records: dict[str, object], outcome: Outcome = OUTCOME, source: str = FILE) -> Evidence:
        """What such a trace shows."""
        text = traces.text(
            traces.VERSION, *records, traces.line(1, "labs/any/a.cu:5"), traces.line(2, "labs/any/a.cu:9")
        )
        return Evidence(source, "labs/any/a.cu", Traced(outcome, trace.read(text)))

    def test_the_last_writer(self) -> None:
        arrays = [traces.array(0, "global", "keys", 8, 1), traces.array(1, "global", "", 8, 3, "labs/any/a.cu:2")]
        records = [traces.launch(), {"block": 0}, *arrays, traces.load(1, 7, 1, 4, 11), traces.store(0, 7, 1, 4, 11)]
        found = self.evidence(*records)
        written = found.written
        assert written
        self.assertEqual((found.element, written.line, written.thread), ("keys[1]", 5, 7))
        self.assertEqual(written.source, "element 1 of ")
        for source in (FILE, renamed(FILE)):
            diagnosis = diagnose(self.evidence(*records, source=source), Searched())
            self.assertEqual((diagnosis.kind, diagnosis.file, diagnosis.line), ("last-writer", "labs/any/a.cu", 5))

    def test_what_was_copied_is_followed(self) -> None:
        scratch = traces.array(1, "global", "scratch", 8, 3)
        copied: dict[str, object] = {"transfer": [1, 0, 8, 3, 0, 2]}
        found = self.evidence(traces.launch(), {"block": 0}, scratch, traces.store(1, 7, 1, 4, 11), copied)
        assert found.written
        self.assertEqual((found.written.line, found.written.element), (5, "scratch[1]"))

    def test_what_led_to_it(self) -> None:
        arrays = [traces.array(0, "global", "keys", 8, 1), traces.array(1, "global", "sums", 8, 3)]
        first = [traces.launch(), {"block": 0}, *arrays, traces.store(1, 3, 2, 0, 5)]
        last = [traces.launch(), {"block": 0}, traces.load(1, 7, 1, 0, 5), traces.store(0, 7, 1, 4, 6)]
        (found,) = diagnose(self.evidence(*first, *last), Searched()).earlier
        self.assertEqual((found.line, found.element), (9, "sums[0]"))

    def test_nobody_wrote_it(self) -> None:
        keys = traces.array(0, "global", "keys", 8, 1)
        found = self.evidence(traces.launch(), {"block": 0}, keys, traces.store(0, 7, 1, 0, 11))
        self.assertIsNone(found.written)
        self.assertEqual([(one.line, one.first, one.last) for one in found.writers], [(5, 0, 0)])
        diagnosis = diagnose(found, Searched())
        self.assertEqual((diagnosis.kind, diagnosis.line), ("never-written", 5))
        self.assertIn("no kernel has written keys[1]", words.explained(diagnosis)[0])
        given = traces.line(3, "labs/any/given.cuh:7")
        found = self.evidence(traces.launch(), {"block": 0}, keys, traces.store(0, 7, 3, 0, 11), given)
        self.assertEqual(([one.line for one in found.writers], found.place()), ([7], ("labs/any/a.cu", 0)))
        diagnosis = diagnose(found, Searched())
        self.assertEqual(words.explained(diagnosis), [])
        self.assertIn("no kernel has written keys[1]", words.details(diagnosis)[0])

    def test_the_host_has_filled_it(self) -> None:
        keys = traces.array(0, "global", "keys", 8, 1)
        unchanged = [traces.launch(), {"block": 0}, keys, traces.atomic(0, 7, 1, 4, 9, 9)]
        found = self.evidence({"transfer": [1, 0, 8, 0, 0, 2]}, *unchanged)
        assert found.written
        self.assertEqual((found.written.kernel, found.written.line), ("", 9))
        diagnosis = diagnose(found, Searched())
        self.assertIn("keys[1] is wrong: the copy or fill in line 9", words.explained(diagnosis)[0])
        self.assertIn("line 5 of turn, launched in line 1, has left it as it was", words.details(diagnosis)[0])
        found = self.evidence(*unchanged, {"transfer": [1, 0, 8, 0, 0, 2]})
        self.assertEqual((found.written, found.element), (None, ""))
        of_runner = traces.line(3, "common/runner/sort.cpp:9")
        found = self.evidence({"transfer": [1, 0, 8, 0, 0, 3]}, *unchanged, of_runner)
        self.assertIsNone(found.written)

    def test_a_launch_that_has_written_nothing(self) -> None:
        records = [traces.launch(), {"block": 0}, traces.array(0, "global", "keys", 8, 1), traces.load(0, 7, 1, 0, 5)]
        found = self.evidence(*records, traces.launch("other"), {"block": 0}, traces.load(0, 7, 1, 4, 5))
        assert found.idle
        self.assertEqual((found.idle.kernel, found.idle.launch), ("other", 1))
        self.assertEqual((found.kind, found.place()), ("never-written", ("a.cu", 1)))

    def test_a_copy_into_the_wrong_array(self) -> None:
        arrays = [traces.array(0, "global", "keys", 8, 1), traces.array(1, "global", "sorted", 8, 3)]
        records = [traces.launch(), {"block": 0}, *arrays, traces.load(0, 7, 1, 0, 5), traces.store(1, 7, 1, 0, 5)]
        found = self.evidence({"transfer": [3, 0, 8, 0, 0, 1]}, *records, {"transfer": [3, 0, 8, 1, 0, 2]})
        self.assertEqual([(one.kernel, one.line) for one in found.writers], [("", 9), ("turn", 5)])

    def test_what_is_read_and_was_not_written(self) -> None:
        tile = Element("shared", "tile", 0, None, 8, 4, 4, 1)
        place = SourceLine("labs/any/a.cu", 9)
        fact = Fact(place, None, "turn", "", place, (0, 0, 0), (7, 0, 0), "load", False, False, tile)
        finding = Finding("labs/any/a.cu", 9, "uninitialized", "x", facts=(fact,))
        outcome = Outcome("verified", True, Case("any", 1, 2), findings=(finding,))
        records = [traces.launch(), {"block": 0}, traces.array(0, "shared", "tile", 8), traces.store(0, 6, 1, 0, 1)]
        found = self.evidence(*records, traces.load(0, 7, 2, 4, 0), {"fault": [7, 2]}, outcome=outcome)
        self.assertEqual((found.element, found.place()), ("tile[1]", ("labs/any/a.cu", 9)))
        self.assertEqual([one.line for one in found.writers], [5])
        self.assertIn(5, found.near())


class Expectations(unittest.TestCase):
    """The first launch that does not do what it must."""

    OUTCOME = Outcome("wrong", False, Case("any", 1, 4, type="u32"), first_wrong=1, file="labs/any/a.cu")

    @staticmethod
    def run_of(*launches: list[dict[str, object]]) -> trace.Trace:
        """A run with the accesses of each launch to an array of four keys."""
        array = traces.array(0, "global", "keys", 16, 1)
        records: list[dict[str, object]] = []
        for number, accesses in enumerate(launches):
            records += [traces.launch(), {"block": 0}, *([array] if number == 0 else []), *accesses]
        return trace.read(traces.text(traces.VERSION, *records, traces.line(1, "labs/any/a.cu:5")))

    @staticmethod
    def reads(*values: int) -> list[dict[str, object]]:
        return [traces.load(0, i, 1, 4 * i, value) for i, value in enumerate(values)]

    @staticmethod
    def writes(values: dict[int, int]) -> list[dict[str, object]]:
        return [traces.store(0, i, 1, 4 * i, value) for i, value in values.items()]

    def departure(self, rule: Mapping[str, object], *launches: list[dict[str, object]]) -> Departure | None:
        return departure(self.run_of(*launches), rule, 4, "u32", is_descending=False)

    def test_phases(self) -> None:
        phases = {"state": "phases"}
        first = [*self.reads(3, 1, 2, 0), *self.writes({0: 1, 1: 3, 2: 0, 3: 2})]
        found = self.departure(phases, first, self.reads(1, 3, 0, 2))
        assert found and found.access
        self.assertEqual((found.launch, found.index, found.found, found.wanted), (1, 1, "3", "0"))
        self.assertFalse(found.access.writes)
        missing = self.departure(phases, first)
        assert missing
        self.assertEqual((missing.launch, missing.index), (0, -1))

    def test_runs(self) -> None:
        runs = {"state": "runs", "first": 2}
        found = self.departure(runs, [*self.reads(3, 1, 2, 0), *self.writes({0: 1, 1: 3})])
        assert found
        self.assertEqual((found.launch, found.index, found.wanted, found.numbers), (0, 2, "0", (2,)))

    def test_stages(self) -> None:
        first = [*self.reads(3, 1, 0, 2), *self.writes({0: 1, 1: 3, 2: 0, 3: 2})]  # the second pair must descend
        found = self.departure({"state": "stages"}, first)
        assert found
        self.assertEqual((found.launch, found.index, found.numbers), (0, 2, (2, 1)))

    def test_a_launch_that_does_the_work_of_several(self) -> None:
        right = [*self.reads(3, 1, 2, 0), *self.writes({0: 0, 1: 1, 2: 2, 3: 3})]
        self.assertIsNone(self.departure({"state": "runs", "first": 2}, right))
        self.assertIsNone(self.departure({"state": "runs", "first": {"4": 2}}, right))
        self.assertIsNone(self.departure({"state": "phases"}, right))
        self.assertIsNone(self.departure({"state": "stages", "mirrored": True}, right))

    def test_digits(self) -> None:
        digits = {"state": "digits", "bits": 1}
        first = [*self.reads(3, 1, 2, 0), *self.writes({0: 2, 1: 0, 2: 3, 3: 1})]
        self.assertIsNone(
            self.departure({"state": "digits", "bits": 32}, [*first, *self.writes(dict(enumerate(range(4))))])
        )
        found = self.departure(digits, first, [*self.reads(2, 0, 3, 1), *self.writes({0: 1, 1: 0, 2: 3, 3: 2})])
        assert found
        self.assertEqual((found.launch, found.index, found.wanted, found.numbers), (1, 0, "0", (2,)))
        unstable = [*self.reads(3, 1, 2, 0), *self.writes({0: 0, 1: 2, 2: 3, 3: 1})]
        found = self.departure(digits, unstable)
        assert found
        self.assertEqual((found.launch, found.index, found.numbers), (0, 0, (1,)))

    def test_counts(self) -> None:
        arrays = [traces.array(0, "global", "keys", 4, 1), traces.array(1, "global", "counters", 32, 2)]
        read = [traces.load(0, i, 1, i, value, 1) for i, value in enumerate((1, 3, 1, 1))]
        count = [traces.store(1, 0, 1, 8, 3, 8), traces.store(1, 1, 1, 24, 1, 8)]
        sums = [traces.store(1, 0, 2, 8 * v, value, 8) for v, value in enumerate((0, 0, 2, 3))]
        records = [traces.launch(), {"block": 0}, *arrays, *read, *count, traces.launch(), {"block": 0}, *sums]
        run = trace.read(traces.text(traces.VERSION, *records, traces.line(1, "labs/any/a.cu:5")))
        rule = {"state": "counts", "counters": 4, "bytes": 8}
        found = departure(run, rule, 4, "u8", is_descending=False)
        assert found
        self.assertEqual((found.launch, found.index, found.found, found.wanted), (1, 2, "2", "3"))

    def test_vectors_and_copies_are_followed(self) -> None:
        def vector(values: tuple[int, ...]) -> int:
            return sum(value << 32 * i for i, value in enumerate(values))

        arrays = [traces.array(0, "global", "keys", 16, 1), traces.array(1, "global", "sorted", 16, 2)]
        first = [traces.load(0, 0, 1, 0, vector((3, 1, 2, 0)), 16), traces.store(1, 0, 1, 0, vector((1, 3, 0, 2)), 16)]
        last = self.writes({0: 0, 1: 1, 2: 2})
        copied = {"transfer": [1, 0, 16, 2, 0, 1]}
        records = [traces.launch(), {"block": 0}, *arrays, *first, copied, traces.launch(), {"block": 0}, *last]
        run = trace.read(traces.text(traces.VERSION, *records, traces.line(1, "labs/any/a.cu:5")))
        found = departure(run, {"state": "runs", "first": 2}, 4, "u32", is_descending=False)
        assert found
        self.assertEqual((found.launch, found.index, found.found, found.wanted), (1, 3, "2", "3"))

    def test_a_launch_that_only_fills_an_array_does_not_count(self) -> None:
        right = [*self.reads(3, 1, 2, 0), *self.writes({0: 1, 1: 3, 2: 0, 3: 2})]
        last = [*self.reads(1, 3, 0, 2), *self.writes({0: 0, 1: 1, 2: 2, 3: 3})]
        self.assertIsNone(self.departure({"state": "runs", "first": 2}, self.writes({0: 3}), right, last))

    def test_it_is_named_before_the_last_writer(self) -> None:
        accesses = [*self.reads(3, 1, 2, 0), *self.writes({0: 1, 1: 3, 2: 2, 3: 0})]
        seen = Traced(self.OUTCOME, self.run_of(accesses))
        for source in (FILE, renamed(FILE)):
            found = diagnose(Evidence(source, "labs/any/a.cu", seen, {"state": "runs", "first": 2}), Searched())
            self.assertEqual((found.kind, found.line), ("departs", 5))
            self.assertIn("in place of 0", words.explained(found)[0])

    def test_the_labs_expectations_can_be_read(self) -> None:
        found = [rule_of(lab.name, step) for lab in (ROOT / "labs").glob("0*") for step in range(9)]
        self.assertTrue(any(found))
        self.assertLessEqual(
            {rule["state"] for rule in found if rule}, {"phases", "runs", "stages", "digits", "counts"}
        )


class Diagnoses(unittest.TestCase):
    CHANGE = Change("replace", 5, "a < b", "a <= b")

    def test_a_change_comes_first(self) -> None:
        seen = Outcome("wrong", False, Case("any", 1, 2), file="labs/any/a.cu", line=9)
        evidence = Evidence(FILE, "labs/any/a.cu", Traced(seen))
        self.assertEqual((diagnose(evidence, Searched()).kind, diagnose(evidence, Searched()).line), ("wrong", 9))
        found = diagnose(evidence, Searched((self.CHANGE,), 99))
        self.assertEqual((found.kind, found.line, found.changes), ("change", 5, (self.CHANGE,)))
        first, second, *_ = words.explained(found)
        self.assertEqual(first, "labs/any/a.cu:5: error: `a < b` should be `a <= b`")
        self.assertIn("99 changes were tried", second)

    def test_a_barrier_that_moves(self) -> None:
        taken = Mutant(0, 0, 1, "f", Change("take-barrier", 7, "__syncthreads();", "-"))
        put = Mutant(1, 1, 1, "f", Change("put-barrier", 9, "}", "x = 1;"))
        self.assertEqual(Choice((taken, put)).change, Change("move-barrier", 7, "__syncthreads();", "9"))

    def test_each_kind_of_change_has_a_sentence_of_its_own(self) -> None:
        kinds = ("replace", "remove", "leave", "exchange", "take-barrier", "move-barrier", "put-barrier")
        self.assertEqual(len({words.of_change(Change(kind, 1, "a", "b")) for kind in kinds}), len(kinds))

    def test_a_finding_says_itself_what_is_wrong(self) -> None:
        finding = Finding("labs/any/a.cu", 5, "race", "two threads")
        self.assertEqual(words.explained(Diagnosis("race", "labs/any/a.cu", 5, finding=finding)), [])

    def test_without_the_parser_there_are_no_changes(self) -> None:
        with mock.patch.object(syntax, "_parser", lambda: None):
            self.assertFalse(syntax.is_available())
            with self.assertRaises(program.NotMade):
                program.MutantProgram(mock.Mock(), FILE, Path("nowhere"))
            seen = Outcome("wrong", False, Case("any", 1, 2), file="labs/any/a.cu", line=5)
            self.assertEqual(diagnose(Evidence(FILE, "labs/any/a.cu", Traced(seen)), Searched()).line, 5)


if __name__ == "__main__":
    unittest.main()
