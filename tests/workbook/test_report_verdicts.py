"""Verdicts, budgets, predictions and the picture of a run: gathered once, and shown as tables."""

import unittest
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

from in_folder import InFolder
from report_data import LAB, report_of, row, step

from workbook.core import build, console, profiles, progress, resuming, running
from workbook.core.console import Usage
from workbook.core.judge_types import Budget, Case, Finding, Lab, Outcome, Picture
from workbook.core.progress import Known
from workbook.core.sweeps import COUNTED_INPUT
from workbook.reporting import gather, parts_labs, parts_setup
from workbook.reporting.gather import Job, Judged
from workbook.reporting.parts_machines import processors

STEPS = (
    step(1, "global"),
    step(2, "shared", budget=Budget(n=4096, conflicts=1.1, bytes=8.5)),
    step(2, "part", task="scan"),
)


RACE = Finding("labs/a.cu", 41, "race", "two threads write\nmore")


def outcome(status: str = "verified", **values: Any) -> Outcome:
    """The outcome of a case."""
    return Outcome(status, status == "verified", Case(LAB, 2, 4096), **values)


class Folder(InFolder):
    """A report's folder, with a runner and a judge that only exist by name."""

    def setUp(self) -> None:
        super().setUp()
        for name in ("csv", "plots"):
            (self.folder / name).mkdir()
        self.program = self.folder / "program"
        self.program.touch()
        self.mark = "one"
        self.table = Lab(LAB, "u32", False, STEPS)
        self.replace(gather, "note", lambda _: None)
        self.replace(console, "note", lambda _: None)
        for place, name, value in (
            (build, "runner", lambda *_: self.program),
            (build, "judge", lambda: self.program),
            (build, "compile_targets", lambda *_: None),
            (build, "runnable", lambda: ["cpu"]),
            (resuming, "digest", lambda *_: self.mark),
        ):
            self.replace(place, name, value)

    def job(self, judge: object = None, fresh: bool = False) -> Job:
        return Job(cast(Any, judge), self.table, "cpu", [1, 2], self.folder, fresh, False, seconds=20)


class Gathered(Folder):
    """What is judged, and what is taken from the folder."""

    def setUp(self) -> None:
        super().setUp()
        self.failing: dict[str, Outcome] = {}
        self.checked: dict[int, Known] = {}
        self.finding: tuple[Finding, ...] = ()
        self.judged: list[str] = []
        self.replace(build, "compiler", lambda: "gcc")  # budgets are those of its code
        self.replace(running, "run_cases", self.run_cases)
        unknown = Known("not checked yet")
        self.replace(progress.ProgressFile, "verdict", lambda _, step: self.checked.get(step.number, unknown))
        self.replace(profiles, "costs", lambda *_: {"conflicts": 1.0, "sectors": 2.0, "bytes": 9.0, "barriers": 4.0})

    def run_cases(self, _judge: object, _runner: Path, groups: Any, _timeout: object, graded: Any) -> None:
        (group,) = groups
        name = next(line.name for line in STEPS if (line.number, line.task) == (group.number, group.task))
        if name not in self.judged:
            self.judged.append(name)
        graded.cases += 5
        graded.failure = self.failing.get(name)

    def gather(self, fresh: bool = False) -> dict[str, Judged]:
        self.judged.clear()
        judge = SimpleNamespace(
            cases=lambda _lab, number, *_, **__: [SimpleNamespace(number=number, cases=())],
            run=lambda *_, **__: outcome(launches=({}, {}), findings=self.finding),
        )
        with mock.patch.object(
            running, "groups_of", lambda groups, line: [SimpleNamespace(number=line.number, task=line.task)]
        ):
            return gather.verdicts(self.job(judge, fresh))

    def test_lines_are_judged_once_for_the_same_programs(self) -> None:
        found = self.gather()
        self.assertEqual(self.judged, ["global", "shared", "part"])
        self.assertEqual((found["shared"].cases, found["shared"].check), (5, "over budget"))
        self.assertEqual((found["global"].cases, found["global"].check), (5, "passed"))
        self.assertEqual((found["global"].launches, found["global"].costs["bytes"]), (2, 9.0))
        self.assertEqual((self.gather(), self.judged), (found, []))
        self.gather(fresh=True)
        self.assertEqual(len(self.judged), 3)
        self.mark = "another program"
        self.gather()
        self.assertEqual(len(self.judged), 3)

    def test_failures_are_kept(self) -> None:
        wrong = outcome("wrong", findings=(RACE,))
        self.failing = {"global": outcome("not-written"), "shared": wrong}
        found = self.gather()
        self.assertEqual((found["shared"].failed, found["shared"].check), (wrong, ""))
        self.assertEqual(found["part"], self.gather()["part"])
        self.failing, self.finding = {}, (RACE,)
        found = self.gather(fresh=True)
        self.assertEqual((found["shared"].check, found["shared"].failed), ("failed", outcome(findings=(RACE,))))

    def test_what_check_has_passed_is_said(self) -> None:
        self.checked = {1: Known("failed", ("cpu",)), 2: Known("passed", ("check", "cpu"))}
        found = self.gather()
        self.assertEqual([found[name].builds for name in ("global", "shared", "part")], [(), *[("check", "cpu")] * 2])


class Tables(unittest.TestCase):
    """What the report says about them."""

    def setUp(self) -> None:
        costs = {"conflicts": 1.0, "sectors": 1.5, "bytes": 9.0, "used": 6.0, "barriers": 4.0}
        passed = Judged(5, ("check", "cpu"), check="passed", n=4096, launches=3, costs=costs)
        self.report = report_of(
            [
                row(n=n, step=number, name=name, keys_per_s=1e6 * number * n)
                for n in (1024, 4096)
                for number, name in ((1, "global"), (2, "shared"))
            ],
            Path(),
            steps=STEPS,
            verdicts={
                "global": passed,
                "shared": replace(passed, check="over budget"),
                "part": Judged(failed=outcome("not-written")),
            },
        )

    def text_with(self, **values: Any) -> str:
        """The table, and what follows it, with another verdict on step 02."""
        verdicts = {**self.report.verdicts, "shared": Judged(**values)}
        return parts_setup.verdicts(replace(self.report, verdicts=verdicts))

    def test_budgets(self) -> None:
        text = parts_setup.verdicts(self.report)
        self.assertIn("| 01 global | passed (check build, cpu build) | passed | 1.00 | 1.50 | 9.00 | 4.00 |", text)
        self.assertIn(
            "| 02 shared | passed (check build, cpu build) | over budget | 1.00 of 1.1 | 1.50 | **9.00 of 8.5** | "
            "4.00 |",
            text,
        )
        self.assertIn("| 02 part | not written |  |  |  |  |  |", text)
        self.assertTrue(text.endswith("  |"), text)  # a gap is in the table
        self.assertEqual(parts_setup.verdicts(report_of([], Path(), steps=STEPS)), "")

    def test_failures(self) -> None:
        """They are in the words of `check`, with their place and the command that plays them."""
        text = self.text_with(failed=outcome("wrong", findings=(RACE,), replay="./workbook run x 2 --n 4096"))
        self.assertIn("| 02 shared | failed |  |", text)
        playing = "(see it run: `./workbook play x 2 --n 4096`)"
        self.assertTrue(text.endswith(f"02 shared: labs/a.cu:41: error: race: two threads write {playing}"), text)
        text = self.text_with(failed=outcome("crashed", message="signal 11", file="labs/a.cu", line=3))
        self.assertTrue(text.endswith("02 shared: labs/a.cu:3: crashed: signal 11"), text)
        text = self.text_with(cases=5, failed=outcome(findings=(RACE,)), check="failed")
        self.assertIn("| 02 shared | 5 quick cases passed | failed |", text)
        gap = outcome("not-written", file="labs/02-merge/01_thread.cu", line=7)
        self.assertIn("02-merge, step 01 is not written yet: labs/02-merge/01_thread.cu:7", self.text_with(failed=gap))

    def test_each_prediction_has_a_number(self) -> None:
        text = parts_setup.predictions(self.report)
        self.assertIn("| what | predicted | measured |", text)
        for line in (
            "| 01 global, launches |  | 3 |",
            "| 02 shared, bytes used per key |  | 6.00 |",
            "| 02 shared, bytes moved per key |  | 9.00 |",
            "| 02 shared, barriers per block |  | 4.00 |",
            "| 02 shared, speed as a multiple of step 01 |  | 2.00 |",
        ):
            self.assertIn(line, text)
        self.assertNotIn("part", text)

    def test_all_costs_have_a_column(self) -> None:
        self.assertEqual(set(parts_setup.COSTS), set(profiles.COSTS))


class OfARun(Folder):
    """The picture of a run."""

    def draw(self, widths: dict[int, float]) -> str:
        def draw_run(_judge: object, _runner: object, case: Case, _: object) -> tuple[str, Any, Outcome]:
            if case.step not in widths:
                raise Usage("nothing to draw")
            svg = f'<svg xmlns="x" width="{widths[case.step]}" height="5"></svg>'
            return svg, SimpleNamespace(truncated=False), outcome()

        with (
            mock.patch.object(gather, "draw_run", draw_run),
            mock.patch.object(gather, "note"),
        ):
            return gather.picture(self.job())

    def test_the_last_step_whose_picture_fits(self) -> None:
        self.assertIn("Step 02 shared", self.draw({1: 700, 2: 900}))
        self.assertTrue((self.folder / "plots/run.svg").is_file())
        self.assertIn("Step 02 shared", self.draw({}))  # the same program: not run again
        self.mark = "another program"
        self.assertIn("Step 01 global", self.draw({1: 700, 2: 9000}))
        self.mark = "a third"
        self.assertEqual(self.draw({}), "")

    def test_the_step_that_the_table_chooses(self) -> None:
        chosen = replace(self.table.steps[0], picture=Picture(n=12, is_in_report=True))
        self.table = replace(self.table, steps=(chosen, *self.table.steps[1:]))
        self.assertIn("Step 01 global, 12 u32 keys", self.draw({1: 700, 2: 900}))
        self.mark = "another program"
        self.assertIn("Step 02 shared, 16 u32 keys", self.draw({1: 9000, 2: 900}))

    def test_it_is_in_the_report(self) -> None:
        report = report_of([], self.folder, steps=STEPS, picture="A run")
        self.assertEqual(parts_setup.run(report), "![A run](plots/run.svg)")
        self.assertEqual(parts_setup.run(report_of([], self.folder)), "")


class Labs(unittest.TestCase):
    """The algorithms of all labs next to each other, and the best of a GPU."""

    def test_the_best_of_each_lab_on_uniform_keys_if_it_sorts_them(self) -> None:
        def line(lab: str, number: int, input_: str, rate: float, **values: Any) -> list[Any]:
            return [
                row(lab=lab, step=number, name=f"s{number}", input=input_, n=n, keys_per_s=rate, **values)
                for n in (1024, 4096)
            ]

        own = (
            line(LAB, 0, "uniform", 8e9)
            + line(LAB, 1, "uniform", 1e6)
            + line(LAB, 2, "uniform", 2e6)
            + line(LAB, 2, COUNTED_INPUT, 9e9)
        )
        others = line("04-counting", 4, COUNTED_INPUT, 5e6) + line("05-radix", 3, "uniform", 7e6)
        recorded = line("04-counting", 3, "uniform", 8e9, type="u8", build="cuda", machine="H200; Xeon")
        recorded += line(LAB, 3, "uniform", 4e9, build="cuda", machine="H200; Xeon")
        report = report_of(own, Path(), labs=[("", others), ("recorded", recorded)])
        text = parts_labs.labs(report)
        for cells in (
            "| bitonic: u32, uniform | 2.00 (02) | 2.00 (02) |",
            "| counting: u32, 0 to 65,535 | 5.00 (04) | 5.00 (04) |",
            "| radix: u32, uniform | 7.00 (03) | 7.00 (03) |",
            "| counting: u8, uniform | 8,000 (03) | 8,000 (03) |",
        ):
            self.assertIn(cells, text)
        self.assertEqual(parts_labs.labs(report_of(own, Path())), "")

    def test_the_best_of_a_gpu_is_over_steps_and_shapes(self) -> None:
        gpu = {"build": "cuda", "machine": "H200; Xeon", "machine_id": "h200"}
        rows = [
            row(n=1000, step=1, name="one", keys_per_s=3e6, median_ms=1.0, blocks=4, threads=64, **gpu),
            row(n=1000, step=2, name="two", keys_per_s=2e6, median_ms=2.0, **gpu),
            row(n=10000, step=1, name="one", keys_per_s=1e6, median_ms=9.0, **gpu),
            row(n=10000, step=2, name="two", keys_per_s=8e6, median_ms=3.0, **gpu),
            row(n=1000, step=0, name="host", keys_per_s=9e9, median_ms=0.1, **gpu),
            row(lab="gold", step=6, name="vqsort", n=1000, keys_per_s=1e6),
        ]
        rows += [
            row(n=1000, step=2, name="two", kernel=copy, median_ms=1.0, **gpu) for copy in ("to device", "to host")
        ]
        text = processors(report_of(rows, Path(), "cuda"))
        self.assertIn("| (the fastest step and shape) | 01 one &lt;&lt;&lt;4, 64&gt;&gt;&gt; | 02 two |", text)
        self.assertRegex(text, r"\| the same with the copies \| 3.00 \|  \|")
