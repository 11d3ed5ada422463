"""What the command reads: names of labs and steps, hints, compilers' messages, test logs, CSV rows."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from workbook.core import diagnostics, judge_client as judge, measurements, course as paths, table
from workbook.verbs import bench, check, demo, test as suite
from workbook.verbs.hint import fitted, hints_of
from workbook.core.progress import ProgressFile
from workbook.core.terminal import Usage

HANDOUT = """# A lab
### Hints for step 01

1. First,
   on two lines.
2. Second:
   ```
   # not a heading
   ```
### Hints for step 02

1. Another step's.
## Measure
1. No hint.
"""

GRADED = """step 02 shared     any n                                310 cases  ok

labs/03-bitonic/02_shared.cu: wrong key at index 3 of 5
  index  [3]
  again: ./workbook run 03-bitonic 2 --n 5 --seed 7

step 02 shared     many keys                              7 cases  FAILED
"""


def row(**values):
    """A row of the judge's CSV."""
    usual = {
        "lab": "03-bitonic",
        "step": "1",
        "name": "global",
        "task": "sort",
        "tile": "0",
        "build": "cpu",
        "type": "u32",
        "order": "ascending",
        "input": "uniform",
        "n": "1024",
        "blocks": "0",
        "threads": "0",
        "kernel": "",
        "median_ms": "2.0",
        "q1_ms": "1.9",
        "q3_ms": "2.1",
        "keys_per_s": "512000",
        "status": "verified",
        "message": "",
    }
    return {**usual, **values}


class Folder(unittest.TestCase):
    """A test that has a workbook of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("labs/03-bitonic/01_global.cu", "labs/03-bitonic/02_shared.cu", "labs/05-radix/01_count.cu"):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"// {name}\n")
        (self.root / "labs/03-bitonic/bug_hunt.cu").write_text("")


class Names(Folder):
    """Labs and steps by what people call them."""

    def test_labs(self):
        self.assertEqual(paths.labs(self.root), ["03-bitonic", "05-radix"])
        for text in ("03-bitonic", "bitonic", "3", "03", "labs/03-bitonic/"):
            self.assertEqual(paths.find_lab(text, self.root), "03-bitonic")
        with self.assertRaisesRegex(Usage, "03-bitonic, 05-radix") as raised:
            paths.find_lab("quick", self.root)
        self.assertEqual(raised.exception.status, 2)

    def test_steps(self):
        self.assertEqual([step.number for step in paths.steps("03-bitonic", self.root)], [1, 2])
        for text in ("2", "02", "shared", "02_shared", "labs/03-bitonic/02_shared.cu"):
            self.assertEqual(paths.find_step("03-bitonic", text, self.root).name, "shared")
        with self.assertRaisesRegex(Usage, "1 global, 2 shared"):
            paths.find_step("03-bitonic", "4", self.root)


class Progress(Folder):
    """What is remembered."""

    def test_verdicts_hold_for_the_file_as_it_was(self):
        progress = ProgressFile(self.root / ".workbook", self.root)
        step = paths.find_step("03-bitonic", "1", self.root)
        self.assertEqual(progress.verdict(step), "not checked yet")
        progress.save_verdict(step, "cpu", "passed")
        progress.save_hints_shown(step, 2)
        self.assertEqual(progress.verdict(step), "passed (cpu)")
        self.assertEqual(progress.hints_shown(step), 2)
        progress.save_verdict(step, "cuda", "failed")
        self.assertEqual(progress.verdict(step), "failed (cuda)")
        (self.root / "labs" / step.file).write_text("// other\n")
        self.assertEqual(progress.verdict(step), "changed since the last check")

    def test_a_damaged_file_is_put_aside(self):
        progress = ProgressFile(self.root / ".workbook", self.root)
        progress.state.mkdir()
        progress.path.write_text("{")
        self.assertEqual(progress.read(), {})
        self.assertEqual(progress.path.with_suffix(".damaged").read_text(), "{")


class Texts(unittest.TestCase):
    """Texts that others write."""

    def test_hints(self):
        self.assertEqual(hints_of(HANDOUT, 1), ["First,\non two lines.", "Second:\n```\n# not a heading\n```"])
        self.assertEqual(hints_of(HANDOUT, 2), ["Another step's."])
        self.assertEqual(hints_of(HANDOUT, 3), [])

    def test_hints_fit_the_terminal(self):
        hint = "one two three\nfour\n\nfive six seven\n\n```\na line of code\n\nand one more\n```\neight"
        with mock.patch.object(table, "width", return_value=12):
            self.assertEqual(
                fitted(hint),
                "  one two\n  three four\n\n  five six\n  seven\n\n  ```\n"
                "  a line of code\n\n"
                "  and one more\n  ```\n\n  eight",
            )

    def test_the_first_failure_of_the_graded_tests(self):
        self.assertEqual(
            check.first_failure(GRADED, "cpu").splitlines(),
            [
                "labs/03-bitonic/02_shared.cu: wrong key at index 3 of 5",
                "  index  [3]",
                "  again: ./workbook run 03-bitonic 2 --n 5 --seed 7 --build cpu",
            ],
        )
        line = "step 02 is not written yet: labs/03-bitonic/02_shared.cu:41"
        self.assertEqual(check.first_failure(line + "\n"), line)

    def test_compiler_messages(self):
        root, build = Path("/somewhere"), Path("/somewhere/build")
        output = (
            "[3/9] Compiling\nFAILED: labs/a.o\nc++ -c a.cpp: error: not this\n"
            "In file included from ../common/step/launch_shape.h:1,\n"
            "../common/step/launch_shape.h:20:5: error: no match\n   20 |  f(x)\n"
            "../labs/03-bitonic/02_shared.cu:79:46:   required from here\n"
            "/somewhere/labs/03-bitonic/03_hybrid.cu:7:1: error: again\n"
            "/somewhere/labs/03-bitonic/03_hybrid.cu:7:9: error: again, elsewhere\n"
            "ninja: build stopped: subcommand failed.\n"
        )
        lines = diagnostics.summary(output, root, build).splitlines()
        self.assertEqual(
            lines[:3],
            [
                "labs/03-bitonic/02_shared.cu:79: leads to the error below",
                "common/step/launch_shape.h:20:5: error: no match",
                "   20 |  f(x)",
            ],
        )
        self.assertEqual(lines[3:], ["", "and then:", "  labs/03-bitonic/03_hybrid.cu:7:1: error: again"])
        place = "/somewhere/labs/03-bitonic/02_shared.cu:69:68: error:"
        lines = diagnostics.summary(
            f"{place} no function for ‘f<order>(int)’\n  f<order>(1)\n"
            f"{place} ‘order’ is not a constant expression\n"
            f"{place} no function for ‘f<order>(long)’\n",
            root,
            build,
        ).splitlines()
        self.assertEqual(
            lines[2:],
            ["", "and then:", "  labs/03-bitonic/02_shared.cu:69:68: error: ‘order’ is not a constant expression"],
        )
        nvcc = '../labs/03-bitonic/01_global.cu(12): error: identifier "x" is undefined\n'
        self.assertIn("labs/03-bitonic/01_global.cu(12): error", diagnostics.summary(nvcc, root, build))
        self.assertTrue(diagnostics.summary("", root, build))

    def test_what_runs_on_gpus_only_is_told(self):
        for header in ["cuda/atomic", "thrust/sort.h", "cuda_pipeline.h"]:
            told = f"k.cu:2:10: fatal error: {header}: No such file or directory\n    2 | #include <{header}>\n"
            self.assertIn(f"has no <{header}>", diagnostics.summary(told))
        self.assertNotIn("GPUs", diagnostics.summary("k.cu:2:10: fatal error: keys.h: No such file or directory\n"))
        self.assertIn(
            "PTX", diagnostics.summary("k.cu: Assembler messages:\nk.cu:2: Error: no such instruction: `mov'\n")
        )

    def test_warnings_about_a_students_files_come_once(self):
        told = (
            "[1/2] Compiling\nlabs/03-bitonic/01_global.cu:24:7: warning: unused variable 'a'\n"
            "labs/03-bitonic/01_global.cu:24:7: warning: unused variable 'a'\n"
            "../labs/03-bitonic/01_global.cu(30): warning #177-D: never used\n../common/step/step.h:1:1: warning: no\n"
        )
        self.assertEqual(
            diagnostics.warnings(told),
            [
                "labs/03-bitonic/01_global.cu:24:7: warning: unused variable 'a'",
                "labs/03-bitonic/01_global.cu(30): warning #177-D: never used",
            ],
        )

    def test_the_count_of_a_test_log(self):
        log = "\n".join(
            f'{{"result": "{word}"}}'
            for word in ("OK", "EXPECTEDFAIL", "FAIL", "TIMEOUT", "ERROR", "UNEXPECTEDPASS", "SKIP")
        )
        self.assertEqual(suite.counts(log), (2, 4, 1))


class Tables(unittest.TestCase):
    """Measurements in tables."""

    def test_the_gold_of_a_step_sorts_the_same(self):
        rows = [
            row(lab="gold", name="stable-sort", keys_per_s="1000000"),
            row(lab="gold", name="vqsort", keys_per_s="2000000"),
            row(lab="gold", name="vqsort", keys_per_s="9000000", n="2048"),
            row(lab="gold", name="vqsort", keys_per_s="8000000", status="wrong"),
            row(lab="gold", name="vqsort-tiles", keys_per_s="4000000", tile="1024"),
            row(lab="gold", name="reduce", keys_per_s="90000000", task="reduce"),
        ]
        self.assertEqual(measurements.best_gold(rows, row())["keys_per_s"], "2000000")
        self.assertEqual(measurements.best_gold(rows, row(tile="1024"))["name"], "vqsort-tiles")
        self.assertIsNone(measurements.best_gold(rows, row(n="7")))
        self.assertEqual(bench.percent_of_gold(row(), rows[1]), "25.6%")
        self.assertEqual(bench.percent_of_gold(row(status="wrong"), rows[1]), "-")

    def test_one_written_part_is_enough_to_time(self):
        table_ = {(1, "sort"): {}, (2, "sort"): {}, (2, "scan"): {}}
        for unwritten, numbers, expected in ((3, [1, 2], False), (2, [1, 2], True), (1, [1], False), (0, [2], True)):
            ends = [SimpleNamespace(stderr="title\nnot-written: labs/x.cu:7: step is not written yet\n")] * unwritten
            ends += [SimpleNamespace(stderr="title\nverified\n")]
            with mock.patch.object(judge, "table", lambda _: table_), mock.patch("subprocess.run", side_effect=ends):
                self.assertEqual(judge.any_written("03-bitonic", "runner", numbers), expected)

    def test_the_demo_fits_eighty_columns_and_names_what_failed(self):
        rows = [
            row(sample="uniform"),
            row(sample="file", status="crashed", median_ms="", keys_per_s=""),
            row(sample="uniform", task="scan"),
        ]
        idea = "an idea in more words than its column has room for"
        facts = {
            "03-bitonic": {(1, "sort"): {"name": "global", "idea": idea}, (1, "scan"): {"name": "sums", "idea": "sums"}}
        }
        lines, points = demo.table_of(rows, facts, ["uniform", "file", "coords"])
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn("crashed", lines[2])
        self.assertTrue(lines[2].endswith("1/2"))
        self.assertEqual(lines[2][16:44].strip() + " " + lines[3].strip(), idea)
        self.assertTrue(lines[4].endswith("1/1"))
        self.assertEqual(
            points, [("03-bitonic 1 global", "uniform", 0.512, None), ("03-bitonic 1 sums", "uniform", 0.512, None)]
        )

    def test_numbers(self):
        self.assertEqual(
            [table.significant(x) for x in (0, 1234.5, 12.34, 1.234, 0.01234)], ["0", "1234", "12.3", "1.23", "0.0123"]
        )
        self.assertEqual([table.count(n) for n in (1000, 1024, 512, "262144")], ["1000", "2^10", "512", "2^18"])


if __name__ == "__main__":
    unittest.main()
