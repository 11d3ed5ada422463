"""Starters from solutions, and what must not be lost on the way."""

import re
import unittest
from pathlib import Path

from in_folder import InFolder

from workbook.core import starters
from workbook.core.console import Problem
from workbook.core.course import ROOT, has_solutions
from workbook.core.judge_types import Lines

SOLUTION = """int f() {
  // begin solution
  //~ // Your code: give two.
  //~
  //~ NOT_WRITTEN("step 02");
  return 2;
  // end solution
}
"""
STARTER = """int f() {
  // Your code: give two.

  NOT_WRITTEN("step 02");
}
"""


class Text(unittest.TestCase):
    """The text of one starter."""

    def test_the_block_is_replaced_with_its_indentation(self) -> None:
        self.assertEqual(starters.starter(SOLUTION), STARTER)

    def test_a_block_without_replacement_vanishes(self) -> None:
        self.assertEqual(starters.starter("a\n// begin solution\nb\n// end solution\nc\n"), "a\nc\n")

    def test_lines_for_solutions_only_are_left_out_and_not_counted(self) -> None:
        text = "// Step 02.\n//- Cost: two passes.\n" + SOLUTION.replace("int f", "//- It returns two.\nint f")
        self.assertEqual(starters.starter(text), "// Step 02.\n" + STARTER)
        self.assertEqual(starters.lines_of(text), Lines(1, 3))

    def test_text_without_blocks_stays(self) -> None:
        self.assertEqual(starters.starter(STARTER), STARTER)

    def test_malformed_blocks_are_named_with_their_line(self) -> None:
        for text, line in (
            ("x\n// begin solution\n", 2),
            ("// end solution\n", 1),
            ("// begin solution\n// begin solution\n// end solution\n", 2),
            ("// begin solution\ncode\n//~ late\n// end solution\n", 3),
            ("//~ outside\n", 1),
        ):
            with self.subTest(text=text), self.assertRaisesRegex(Problem, rf"\Aname:{line}: error: "):
                starters.starter(text, "name")


class Writing(InFolder):
    """labs/ from solutions/, in a workbook of our own."""

    def setUp(self) -> None:
        super().setUp()
        self.state = self.folder / ".workbook"
        self.solution = self.folder / "solutions/01-a/01_x.cu"
        self.lab = self.folder / "labs/01-a/01_x.cu"
        self.solution.parent.mkdir(parents=True)
        self.solution.write_text(SOLUTION)
        (self.solution.parent / "NOTES.md").write_text("for the instructor\n")

    def write(self, force: bool = False) -> tuple[list[str], list[str]]:
        written, kept = starters.write(force, self.folder, self.state)
        return [str(path) for path in written], [str(path) for path in kept]

    def test_missing_files_are_written_and_notes_are_not(self) -> None:
        self.assertEqual(self.write(), (["01-a/01_x.cu"], []))
        self.assertEqual(self.lab.read_text(), STARTER)
        self.assertEqual([path.name for path in self.lab.parent.iterdir()], ["01_x.cu"])
        self.assertEqual(self.write(), ([], []))
        self.assertEqual(starters.differing(self.folder), [])

    def test_a_students_work_is_kept_unless_forced(self) -> None:
        self.write()
        self.lab.write_text("my work\n")
        self.assertEqual([str(path) for path in starters.differing(self.folder)], ["01-a/01_x.cu"])
        self.assertEqual(self.write(), ([], ["01-a/01_x.cu"]))
        self.assertEqual(self.lab.read_text(), "my work\n")
        self.assertEqual(self.write(force=True), (["01-a/01_x.cu"], []))
        self.assertEqual(self.lab.read_text(), STARTER)

    def test_work_in_another_encoding_is_kept(self) -> None:
        self.write()
        self.lab.write_bytes(b"// caf\xe9\n")
        self.assertEqual([str(path) for path in starters.differing(self.folder)], ["01-a/01_x.cu"])
        self.assertEqual(self.write(), ([], ["01-a/01_x.cu"]))
        self.assertEqual(self.lab.read_bytes(), b"// caf\xe9\n")

    def test_an_untouched_starter_follows_its_solution(self) -> None:
        self.write()
        self.solution.write_text(SOLUTION + "// more\n")
        self.assertEqual(self.write(), (["01-a/01_x.cu"], []))
        self.assertEqual(self.lab.read_text(), STARTER + "// more\n")

    def test_numbers_of_lines_in_the_table_are_corrected(self) -> None:
        table = self.lab.parent / "steps.h"
        lines = '{.number = 1, .name = "x", .idea = "i", .stable = true},\n{.number = 1, .name = "y", .idea = "j"},\n'
        table.parent.mkdir(parents=True)
        table.write_text(lines)
        self.solution.write_text("// Step 01: x.\n" + SOLUTION)
        self.assertEqual(starters.miscounted(self.folder), [Path("labs/01-a/steps.h")])
        self.write()
        self.assertEqual(starters.miscounted(self.folder), [])
        numbers = ".lines = {.own = 1, .given = 3}"
        self.assertEqual(table.read_text(), lines.replace('"i", ', f'"i", {numbers}, '))
        self.assertEqual(self.lab.read_text(), "// Step 01: x.\n" + STARTER)
        table.write_text(table.read_text().replace(f", {numbers}", ",\n     .lines = {.own = 7, .given = 3}"))
        self.assertEqual(starters.miscounted(self.folder), [Path("labs/01-a/steps.h")])
        self.write()
        self.assertIn(f",\n     {numbers}, ", table.read_text())

    def test_an_error_in_one_solution_writes_nothing(self) -> None:
        (self.solution.parent / "02_y.cu").write_text("// begin solution\n")
        with self.assertRaises(Problem):
            self.write()
        self.assertFalse(self.lab.exists())


class Repository(unittest.TestCase):
    """The files of this workbook."""

    @unittest.skipUnless(has_solutions(), "this copy has no solutions")
    def test_labs_are_the_starters_of_solutions(self) -> None:
        self.assertEqual([str(path) for path in starters.differing()], [])

    @unittest.skipUnless(has_solutions(), "this copy has no solutions")
    def test_tables_say_how_many_lines_there_are(self) -> None:
        self.assertEqual(starters.miscounted(), [])

    @unittest.skipUnless(has_solutions(), "this copy has no solutions")
    def test_every_solution_makes_a_starter_with_a_gap(self) -> None:
        made = starters.all_starters()
        self.assertTrue(made)
        for path, text in made.items():
            with self.subTest(path=str(path)):
                self.assertNotIn("begin solution", text)
                self.assertNotIn(starters.INSTEAD, text)
                self.assertIn("NOT_WRITTEN(", text)

    def test_no_file_of_a_lab_says_what_a_step_costs(self) -> None:
        for path in sorted((ROOT / "labs").glob("*/*.[ch]*")):
            self.assertNotIn("Cost:", path.read_text(encoding="utf-8"), path)

    @unittest.skipUnless(has_solutions(), "this copy has no solutions")
    def test_no_starter_has_a_comment_for_solutions_only(self) -> None:
        for path, text in starters.all_starters().items():
            solution = (ROOT / "solutions" / path).read_text(encoding="utf-8")
            marked = re.findall(rf"^\s*{starters.LEFT_OUT} *(.+)$", solution, re.MULTILINE)
            with self.subTest(path=str(path)):
                self.assertTrue(marked, "nothing is marked")
                self.assertEqual({line.strip(" /") for line in text.splitlines()} & set(marked), set())
