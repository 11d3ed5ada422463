"""Where a report is, what is drawn again, and what is printed where there is no terminal."""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from in_folder import InFolder
from report_data import LAB, row

from workbook.core.console import Progress, Usage
from workbook.core.course import ROOT
from workbook.reporting import context, place
from workbook.reporting.context import Context


class Folder(InFolder):
    """The folder of a report."""

    def setUp(self) -> None:
        super().setUp()
        (self.folder / "labs" / LAB).mkdir(parents=True)
        self.note = self.replace(place, "note")

    def place(self, solution: bool = False) -> Path:
        return place.report_folder(LAB, solution, self.folder, self.folder / "build")

    def test_it_is_next_to_what_it_is_about(self) -> None:
        self.assertEqual(self.place(), self.folder / "labs" / LAB / "report")
        self.assertEqual(self.place(True), self.folder / "labs" / LAB / "report")  # there are no solutions
        (self.folder / "solutions").mkdir()
        self.assertEqual(self.place(True), self.folder / "solutions" / LAB / "report")

    def test_a_report_in_the_build_folder_is_moved_once(self) -> None:
        old = self.folder / "build/reports" / LAB
        (old / "csv").mkdir(parents=True)
        (old / "csv/n.csv").write_text("rows")
        self.assertFalse(self.place().exists())  # nothing was written there
        (old / "report.md").write_text("my words")
        self.assertEqual((self.place() / "report.md").read_text(), "my words")
        self.assertEqual((self.place() / "csv/n.csv").read_text(), "rows")
        self.assertFalse(old.exists())
        self.assertEqual(self.note.call_count, 1)
        old.mkdir(parents=True)
        (old / "report.md").write_text("another")
        self.assertEqual((self.place() / "report.md").read_text(), "my words")

    def test_one_that_cannot_be_written(self) -> None:
        with tempfile.NamedTemporaryFile() as file, self.assertRaisesRegex(Usage, "cannot be written: choose another"):
            place.prepare(Path(file.name) / "out")

    def test_git_ignores_what_is_made_and_not_what_is_written(self) -> None:
        ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
        for made in ("csv/", "plots/", "report*.html", "report*.tex", "appendix.md"):
            self.assertIn(f"/labs/*/report/{made}", ignored)
        self.assertFalse([line for line in ignored if line.endswith(("/report/", "report.md")) and "labs" in line])


class Drawn(InFolder):
    """Plots are drawn only when they change."""

    def test_a_plot_is_drawn_again_only_if_it_changes(self) -> None:
        drawings = []

        def draw(rows: object, _lab: str, stem: Path) -> bool:
            drawings.append(rows)
            for form in context.FORMATS:
                stem.with_suffix(f".{form}").touch()
            return True

        (self.folder / "plots").mkdir()

        def figure(n: int) -> str:
            return Context(LAB, self.folder, [row(n=n)], "cpu", plots=True).figure("speed", draw, "All")

        self.assertEqual([figure(4), figure(4)], ["![All](plots/speed.svg)"] * 2)
        self.assertEqual(len(drawings), 1)
        figure(8)
        self.assertEqual(len(drawings), 2)
        (self.folder / "plots/speed.pdf").unlink()
        figure(8)
        self.assertEqual(len(drawings), 3)
        (self.folder / "plots/drawn.json").write_text("damaged")
        figure(8)
        self.assertEqual(len(drawings), 4)

    def test_nothing_to_draw_is_remembered(self) -> None:
        draw = mock.Mock(return_value=False)
        for _ in range(2):
            self.assertFalse(context.Plots(self.folder).have("a", 1, draw))
        self.assertEqual(draw.call_count, 1)


class Printed(unittest.TestCase):
    """What a sweep prints where there is no bar."""

    def printed(self, brief: bool) -> list[str]:
        with contextlib.redirect_stderr(io.StringIO()) as printed, Progress("bitonic, n", brief) as progress:
            progress.live = False
            for n in range(100):
                progress.line(f"{n} keys ... 1 ms")
            progress.remark("left out: 3")
        return printed.getvalue().splitlines()

    def test_a_report_prints_one_line_for_a_sweep(self) -> None:
        self.assertEqual(self.printed(True), ["bitonic, n ..."])
        self.assertEqual(len(self.printed(False)), 101)


if __name__ == "__main__":
    unittest.main()
