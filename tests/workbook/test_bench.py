"""bench: its arguments, and the tables it prints."""

import argparse
import io
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from in_folder import InFolder
from report_data import row

from workbook.core import bench_tables, console, course, machine, sweeps
from workbook.core import rows as row_files
from workbook.core.console import Usage
from workbook.core.measuring import Result
from workbook.verbs import bench


class Tables(unittest.TestCase):
    """The tables."""

    def test_kernels_and_copies(self) -> None:
        rows = [
            row(),
            row(kernel="a", launches=3, grid=4, block=64, median_ms=3.0),
            row(kernel="b", launches=1, grid=1, block=32, median_ms=1.0),
            row(kernel="to device", gb_per_s=10.0),
        ]
        self.assertEqual(len(bench_tables.measurement_lines(rows)), 3)
        self.assertIn("0.0130%", bench_tables.measurement_lines(rows)[2])
        lines = bench_tables.kernel_lines(rows)
        self.assertEqual([line.split()[-3] for line in lines[2:]], ["75%", "25%"])
        self.assertEqual(len(bench_tables.transfer_lines(rows)), 3)
        self.assertEqual(bench_tables.kernel_lines([row()]), [])

    def test_the_copies_alone_as_a_share(self) -> None:
        rows = [row(), row(kernel="pinning"), row(kernel="copies alone", launches=2, median_ms=1.8, gb_per_s=20.0)]
        lines = bench_tables.transfer_lines(rows)
        self.assertRegex(lines[0], r"copy +ms +GB/s +of step$")
        self.assertRegex(lines[-1], r"copies alone, 2 trips +1\.80 +20\.0 +90%$")
        self.assertEqual(bench_tables.kernel_lines(rows), [])

    def test_steps_that_sort_tiles_are_marked(self) -> None:
        rows = [
            row(step=2, name="shared", tile=1024),
            row(step=3, name="hybrid"),
            row(tile=32, kernel="a", median_ms=1.0),
        ]
        lines = [*bench_tables.measurement_lines(rows), *bench_tables.kernel_lines(rows)]
        self.assertIn("02 shared, tiles ", "\n".join(lines))
        self.assertEqual(sum(", tiles " in line for line in lines), 2)
        self.assertTrue(any(line.startswith("03 hybrid ") for line in lines))

    def test_no_keys_have_no_speed(self) -> None:
        rows = [row(n=0, keys_per_s=speed, lab=lab) for lab in ("gold", "03-bitonic") for speed in (0.0, None)]
        self.assertEqual(len(bench_tables.measurement_lines(rows)), 4)
        self.assertEqual({bench_tables.percent_of_gold(each, rows[0]) for each in rows}, {"-"})

    def test_percent_of_gold(self) -> None:
        gold = row(lab="gold", keys_per_s=2e6)
        self.assertEqual(bench_tables.percent_of_gold(row(), gold), "25.6%")
        self.assertEqual(bench_tables.percent_of_gold(row(status="wrong"), gold), "-")

    def test_launch_shapes_are_one_column(self) -> None:
        lines = bench_tables.measurement_lines([row(blocks=64, threads=32), row(blocks=1024, threads=1024)])
        self.assertEqual([line.split()[3] for line in (lines[0], *lines[2:])], ["ms", "64x32", "1024x1024"])

    def test_tables_fit_the_terminal(self) -> None:
        own = [
            row(step=3, name="hybrid", input=name, type=kind, percent_of_roof=1.25)
            for name in ("uniform", "range:0:65535")
            for kind in ("u32", "u64")
        ]
        rows = own + [row(**{**vars(each), "lab": "gold", "name": "stable-sort"}) for each in own]
        with mock.patch.object(console, "width", lambda: None):
            self.assertIn("of roof", bench_tables.measurement_lines(rows)[0])
        with mock.patch.object(console, "width", lambda: 80):
            lines = bench_tables.measurement_lines(rows)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn("100% stable-sort", lines[2])
        self.assertEqual(lines[-1], "(columns left out because this terminal is too narrow: of roof)")
        with mock.patch.object(console, "width", lambda: 10):
            self.assertEqual(console.table("abc", [["1", "22222222", "3"]], (), ("a", "b"))[1], ["b"])
        self.assertIn("40%!", bench_tables.measurement_lines([row(q1_ms=1.5, q3_ms=2.3)])[2])

    def test_impossible_measurements_are_named_once(self) -> None:
        rows = [row(status="unsupported", message="no", blocks=b) for b in (1, 2)]
        self.assertEqual(bench_tables.skipped(rows), ["skipped: 2 measurements (step 1): no"])
        self.assertEqual(len(bench_tables.measurement_lines([row(), *rows])), 3)

    def test_failures_are_named_once(self) -> None:
        rows = [
            row(step=step, n=n, status="not-written", message=f"step {step} is not written yet")
            for step in (2, 3)
            for n in (1024, 1000, 1024, 4096, 5, 6)
        ]
        self.assertEqual(
            bench_tables.failed_lines(rows),
            [f"step {step}, n = 5, 6, 1000, 2^10, ...: not-written: step {step} is not written yet" for step in (2, 3)],
        )

    def test_numbers(self) -> None:
        self.assertEqual(
            [console.significant(x) for x in (0, 1234.5, 12.34, 1.234, 0.01234)],
            ["0", "1234", "12.3", "1.23", "0.0123"],
        )
        self.assertEqual([console.count(n) for n in (1000, 1024, 512, 262144)], ["1000", "2^10", "512", "2^18"])
        self.assertEqual(console.grouped(12345), "12,345")


def parsed(*words: str) -> argparse.Namespace:
    """The arguments of bench."""
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return parser.parse_args(words)


class Arguments(InFolder):
    """What becomes of the arguments."""

    def simulate(self, result: Result) -> None:
        """What is built and measured: with this result, in a file that then exists."""

        def resume(*_: object) -> Result:
            result.path.touch()
            return result

        self.replace(bench, "prepare", lambda *_: ("cpu", Path("runner")))
        self.replace(bench, "_unwritten", lambda *_: [])
        self.replace(bench, "resume", resume)
        self.replace(machine, "idle_cores", lambda: None)

    def test_a_sweep(self) -> None:
        arguments = parsed("3", "--n", "2^10", "7", "--largest-value", "255", "--blocks", "1", "2", "--repeats", "4")
        sweep = bench.sweep_of(arguments, "03-bitonic", [], "cpu")
        self.assertEqual((sweep.n, sweep.inputs, sweep.shapes), ((1024, 7), ("range:0:255",), ((1, 0), (2, 0))))
        self.assertEqual((sweep.limits.repeats, sweep.limits.time_limit, sweep.timeout), (4, 30, 20))
        self.assertEqual(bench.sweep_of(parsed("3"), "03-bitonic", [], "cpu").n, sweeps.BENCH_SIZES["cpu"])

    def test_an_empty_sweep_is_one_line_and_leaves_no_file(self) -> None:
        for rows, words in (
            ([], "$"),
            (
                [row(status="unsupported", message=f"step {i} takes no f64") for i in range(5)],
                r": step 0 takes no f64; step 1 takes no f64; step 2 takes no f64; \.\.\.$",
            ),
        ):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "rows.csv"
                self.simulate(Result(rows, path, True))
                options = "nothing to measure: 03-bitonic cannot run with these options"
                with self.assertRaisesRegex(Usage, options + words):
                    bench.main(parsed("03-bitonic", "--type", "f64"))
                self.assertFalse(path.exists())

    def test_an_existing_file_is_replaced_only_by_force(self) -> None:
        measured = row(status="verified")
        csv = self.folder / "mine.csv"
        words = ("03-bitonic", "--csv", str(csv))
        self.simulate(Result([measured], self.folder / "unfinished.csv", True))
        with mock.patch.object(bench, "JudgeClient") as judge, redirect_stdout(io.StringIO()):
            self.assertEqual(bench.main(parsed(*words)), 0)
            written = csv.read_text()
            self.assertEqual(row_files.read(csv), [measured])

            csv.write_text("my own notes\n")
            judge.reset_mock()
            with self.assertRaisesRegex(Usage, "mine.csv exists, .*: name another file, or add --force"):
                bench.main(parsed(*words))
            judge.assert_not_called()
            self.assertEqual(csv.read_text(), "my own notes\n")
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["mine.csv"])

            self.assertEqual(bench.main(parsed(*words, "--force")), 0)
            self.assertEqual(csv.read_text(), written)

    def test_one_written_part_is_enough_to_time(self) -> None:
        parts = [SimpleNamespace(number=number, task=task) for number, task in ((1, "sort"), (2, "sort"), (2, "scan"))]
        table = SimpleNamespace(steps=parts, type_of=lambda _: "u32")
        for unwritten, numbers, expected in ((3, [1, 2], False), (2, [1, 2], True), (1, [1], False), (0, [2], True)):
            ends = iter(["not-written"] * unwritten + ["verified"])
            judge = mock.Mock(lab=lambda _: table, run=lambda *_, ends=ends: SimpleNamespace(status=next(ends)))
            self.assertEqual(not bench._unwritten(judge, "03-bitonic", Path("runner"), numbers), expected)

    def test_what_is_not_written_is_named(self) -> None:
        def printed(*files: str) -> str:
            with redirect_stderr(io.StringIO()) as stream:
                gaps = [SimpleNamespace(file=f"labs/{file}") for file in files]
                bench._nothing_written("03-bitonic", course.steps("03-bitonic")[: len(files)], gaps)  # type: ignore[arg-type]
            return " ".join(stream.getvalue().split())

        own, other = "03-bitonic/01_global.cu", "02-merge/04_path.cu"
        self.assertIn("step 1 of 03-bitonic is not written yet, so", printed(own))
        self.assertIn("no step of 03-bitonic is written yet", printed(own, other))
        text = "step 4 of 02-merge, which step 1 of 03-bitonic uses, is not written yet, so there is nothing to time. "
        self.assertIn(text + "./workbook check 02-merge 4 shows", printed(other))
        self.assertIn("which the steps of 03-bitonic use, is not", printed(other, other))

    def test_a_number_after_a_lab_is_a_step(self) -> None:
        for words in (("03-bitonic", "1"), ("3", "1")):
            with self.assertRaisesRegex(Usage, "^1 is a step here: use --step 1; "):
                bench.main(parsed(*words))

    def test_launch_shapes(self) -> None:
        self.assertEqual(sweeps.shapes(["1x32", "64x64", "1x32"]), ((1, 32), (64, 64)))
        grid = sweeps.shapes(["grid"])
        self.assertEqual((grid[0], grid[-1], len(grid)), ((1, 32), (1024, 1024), 36))
        for word in ("1x", "x1", "1x2x3", "-1x2", "big"):
            with self.assertRaisesRegex(Usage, f"--shapes {word} is not a launch shape"):
                sweeps.shapes([word])

    def test_whole_numbers(self) -> None:
        self.assertEqual([sweeps.number(text) for text in ("255", "2^16")], [255, 65536])
        for text in ("", "-1", "2^", "1e6", "2^1000", "2^63"):
            with self.assertRaises(Usage):
                sweeps.number(text)
