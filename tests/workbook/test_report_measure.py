"""What a report measures, measures again and compares with; where it is; and what is drawn again."""

import argparse
import contextlib
import io
import json
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

from in_folder import InFolder
from report_data import LAB, MANY, lab_of, report_of, row, step

from workbook.core import build, measuring, report_sweeps, resuming, sweeps
from workbook.core import rows as row_files
from workbook.core.console import Problem, Progress, Usage
from workbook.core.course import ROOT
from workbook.core.judge_types import Lab
from workbook.core.rows import Row
from workbook.core.sweeps import Sweep
from workbook.reporting import context, measure, parts, place, plot
from workbook.reporting.context import Context
from workbook.reporting.measure import other_machines
from workbook.verbs import report


class Plan(unittest.TestCase):
    """The sweeps of a report."""

    def plan(self, kind: str, lab: Lab) -> dict[str, Sweep]:
        return {sweep.name: sweep for sweep in report_sweeps.plan(lab, kind, ["uniform", "sorted"])}

    def test_a_slow_step_does_not_hold_the_others_back(self) -> None:
        plan = self.plan("cuda", lab_of(65536, 65536, MANY))
        self.assertEqual((plan["n-1-2"].n[-1], plan["n-3"].n[-1]), (65536, 1 << 26))
        for name in ("inputs", "shapes"):
            self.assertEqual(plan[f"{name}-1-2"].n, (16384,))
        self.assertEqual((plan["inputs-3"].n, plan["shapes-3"].n), ((1 << 22,), (1 << 20,)))
        self.assertEqual(plan["sizes"].shapes, (sweeps.STEP_CHOOSES, *sweeps.FEW_SHAPES))
        self.assertEqual(plan["n-3"].steps, (3,))
        self.assertEqual(set(self.plan("cuda", lab_of(MANY, MANY))), {"n", "sizes", "shapes", "inputs"})

    def test_ranges_have_launch_shapes_and_only_steps_that_take_the_keys(self) -> None:
        steps = (step(1, types=("u8",)), step(2, types=("u8", "u32"), max_range=1 << 24), step(2, "part", task="scan"))
        for kind in ("cpu", "cuda"):
            plan = self.plan(kind, Lab(LAB, "u8", False, steps))
            shaped = plan["range-shapes"]
            self.assertEqual((shaped.steps, shaped.types, shaped.shapes), ((2,), ("u32",), sweeps.FEW_SHAPES))
            self.assertGreater(len(shaped.inputs), 2)
            self.assertEqual((plan["labs"].steps, plan["labs"].inputs), ((2,), (sweeps.COUNTED_INPUT,)))
            self.assertGreater(len(plan["labs"].n), 3)

    def test_launches_that_are_slow_to_emulate_are_left_out_and_reported(self) -> None:
        lab = lab_of(65536, MANY)
        self.assertEqual(set(self.plan("cpu", lab_of(1 << 24, MANY))), {"n", "sizes", "shapes", "inputs"})
        plan = self.plan("cpu", lab)
        self.assertNotIn((1024, 1024), plan["sizes-1"].shapes)
        self.assertIn((1024, 1024), plan["sizes-2"].shapes)
        sentences = measure.left_out(lab, "cpu", plan.values(), [])["sizes"]
        most = max(blocks * threads for blocks, threads in plan["sizes-1"].shapes)
        self.assertIn(f"more than {most:,} threads in step 01", " ".join(sentences))
        self.assertNotIn("step 02: emulated", " ".join(sentences))
        slow = lab_of(65536, 65536)
        sentences = measure.left_out(slow, "cpu", self.plan("cpu", slow).values(), [])["sizes"]
        self.assertIn("threads in all steps: emulated", " ".join(sentences))

    def test_what_there_was_no_time_for_is_reported(self) -> None:
        types = ("u32", "u64")
        lab = Lab(LAB, "u32", False, (step(1, types=types), step(2, types=types, max_n=4096)))
        sweep = Sweep(LAB, "types", "types", steps=(1, 2), n=(1024, 8192), types=("u32", "u64", "pairs"), budget=5)
        rows = [
            row(name="step1", n=1024),
            row(name="step1", n=1024, type="u64"),
            row(name="step1", n=8192),
            row(step=2, name="step2", n=1024, status="refused"),
        ]
        self.assertEqual(
            measure.left_out(lab, "cuda", [sweep], rows),
            {
                "types": [
                    "Left out for lack of time (5 s): 2 of 6 measurements over types, at n = 1,024, 8,192, "
                    "steps 01, 02."
                ]
            },
        )
        rows += [row(name="step1", n=8192, type="u64"), row(step=2, name="step2", n=1024, type="u64")]
        self.assertEqual(measure.left_out(lab, "cuda", [sweep], rows), {"types": []})


class Again(InFolder):
    """What may have failed by chance."""

    def setUp(self) -> None:
        super().setUp()
        (self.folder / "csv").mkdir()
        (self.folder / "csv/sweeps.json").write_text("[1]")  # not ours
        self.refused = row(status="refused", keys_per_s=None, n=1000, message="by the judge's clock")
        self.succeeds = False
        for module, name, replacement in (
            (build, "judge", lambda: Path(__file__)),
            (resuming, "resume", mock.Mock(side_effect=self.resume)),
            (measuring, "run", mock.Mock(side_effect=self.run_again)),
        ):
            self.replace(module, name, replacement)

    def resume(self, *_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(rows=[row(), self.refused], path=self.folder / "measured.csv")

    def run_again(self, _what: str, _programs: object, _sweep: Sweep, path: Path, **_: object) -> SimpleNamespace:
        rows: Sequence[Row] = row_files.read(path)
        self.assertEqual([kept.status for kept in rows], ["verified"])
        return SimpleNamespace(rows=[*rows, row(n=1000) if self.succeeds else self.refused])

    def measured(self, seed: int) -> list[str]:
        """The statuses of the rows of a sweep."""
        programs = cast(Any, SimpleNamespace(runner=Path(__file__), gold=None))
        rows = measure.measure(programs, [Sweep(LAB, "n", "n", seed=seed)], self.folder, False)
        return [measured.status for measured in rows]

    def calls(self) -> tuple[int, int]:
        """How often a sweep was carried out, and continued."""
        return cast(Any, resuming.resume).call_count, cast(Any, measuring.run).call_count

    def test_it_is_measured_again(self) -> None:
        self.assertEqual(self.measured(1), ["verified", "refused"])
        self.assertEqual(self.calls(), (1, 1))
        self.assertEqual(self.measured(1), ["verified", "refused"])
        self.assertEqual(self.calls(), (1, 2))
        self.succeeds = True
        self.assertEqual(self.measured(2), ["verified", "verified"])
        self.assertEqual(self.calls(), (2, 3))
        self.assertEqual(self.measured(2), ["verified", "verified"])
        self.assertEqual(self.calls(), (2, 3))
        self.assertEqual(list(json.loads((self.folder / "csv/sweeps.json").read_text())), ["n"])
        self.assertEqual(list((self.folder / "csv").glob("*.part")), [])

    def test_sweeps_that_a_report_no_longer_has_are_forgotten(self) -> None:
        self.measured(1)
        (self.folder / "csv/mine.csv").write_text("the student's")
        measure.forget(self.folder, ["n"])
        self.assertTrue((self.folder / "csv/n.csv").exists())
        measure.forget(self.folder, ["n-1", "n-2"])
        self.assertEqual(sorted(path.name for path in (self.folder / "csv").iterdir()), ["mine.csv", "sweeps.json"])

    def test_a_damaged_file_is_measured_again(self) -> None:
        self.measured(1)
        path = self.folder / "csv/n.csv"
        path.write_text(path.read_text()[:-9])
        with mock.patch.object(measure, "note") as note:
            self.assertEqual(self.measured(1), ["verified", "refused"])
        self.assertIn("cut short", note.call_args[0][0])
        self.assertEqual(self.calls()[0], 2)


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
            for form in plot.FORMATS:
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
