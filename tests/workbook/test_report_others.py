"""Measurements of other machines that a report compares with."""

from __future__ import annotations

import argparse
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from in_folder import InFolder
from report_data import LAB, report_of, row

from workbook.core import rows as row_files
from workbook.core.console import Problem
from workbook.reporting import parts
from workbook.reporting.measure import other_machines
from workbook.verbs import report


class Others(InFolder):
    """The machines to compare with."""

    def test_files_that_cannot_be_read_are_reported_before_anything_is_measured(self) -> None:
        parser = argparse.ArgumentParser()
        report.add_arguments(parser)
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(report, "prepare", side_effect=AssertionError):
            path = Path(folder) / "mine.csv"
            row_files.write(path, [row()])
            whole = path.read_text()
            for content, words in (
                (whole[:-9], "cut short"),
                (whole.replace("kernel", "x", 1), "another version"),
                ("", "empty"),
            ):
                path.write_text(content)
                with self.assertRaisesRegex(Problem, words):
                    report.main(parser.parse_args([LAB, "--out", f"{folder}/out", "--with", str(path)]))

    def test_recorded_results_are_marked_as_the_solutions(self) -> None:
        own = [row(n=n) for n in (1024, 4096)]
        own += [row(n=n, lab="gold", name="vqsort", step=6) for n in (1024, 4096)]
        made = report_of(own, self.folder, others=other_machines(LAB, [], own))
        machines, processors = parts.PARTS["machines"](made), parts.PARTS["processors"](made)
        self.assertIn("| NVIDIA H200, the solution, recorded |", machines)
        self.assertIn("NVIDIA H200, the solution, recorded |", processors)
        self.assertIn("| the same with the copies |", processors)

    def test_named_files(self) -> None:
        path = self.folder / "mine.csv"
        row_files.write(path, [row(machine_id="other", machine="Other, 4 cores, 8 GiB")])
        found = other_machines(LAB, [str(path)], [row()])
        self.assertEqual(found[0][0], "mine")
        row_files.write(path, [row(machine="Other, 4 cores, 8 GiB")])
        with self.assertRaisesRegex(Problem, "two machines are called epyc"):
            other_machines(LAB, [str(path)], [row()])
        with self.assertRaisesRegex(Problem, "has no measurements of 05-radix"):
            other_machines("05-radix", [str(path)], [])
        with self.assertRaisesRegex(Problem, "no such file or folder: /nonexistent"):
            other_machines(LAB, ["/nonexistent"], [])


if __name__ == "__main__":
    unittest.main()
