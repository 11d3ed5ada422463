"""Rows of measurements: which files are read, and what is worked out of several rows."""

import argparse
import io
import os
import signal
import tempfile
import time
import unittest
from pathlib import Path
from contextlib import redirect_stderr
from unittest import mock

from workbook.core import files, machine, measurements, table
from workbook.verbs import bench
from workbook.core.course import ROOT
from workbook.core.terminal import Problem, Usage, terminated_as_interrupted


def row(**values):
    """A row as the judge writes it."""
    usual = dict.fromkeys(measurements.COLUMNS, "")
    usual.update(
        lab="03-bitonic",
        step="1",
        name="global",
        task="sort",
        tile="0",
        build="cpu",
        type="u32",
        order="ascending",
        input="uniform",
        seed="7",
        n="1024",
        blocks="0",
        threads="0",
        repeats="5",
        median_ms="2.0",
        q1_ms="1.9",
        q3_ms="2.1",
        keys_per_s="512000",
        gb_per_s="0.004",
        roof_gb_per_s="30",
        percent_of_roof="0.013",
        status="verified",
        machine_id="epyc",
        machine="AMD EPYC, 2 cores, 24 GiB, Debian, Linux 6.1",
        commit="abc",
        date="2026-01-02T03:04:05Z",
    )
    usual.update(values)
    return usual


class Files(unittest.TestCase):
    """What is refused, and how it is said."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "rows.csv"
        measurements.write(self.path, [row(message='a "quoted", word'), row(n="2048")])

    def assert_refused(self, words):
        with self.assertRaisesRegex(Problem, words) as raised:
            measurements.read(self.path)
        self.assertEqual(raised.exception.status, 2)

    def test_what_is_written_is_read(self):
        rows = measurements.read(self.path)
        self.assertEqual([one["n"] for one in rows], ["1024", "2048"])
        self.assertEqual(rows[0]["message"], 'a "quoted", word')

    def test_the_columns_are_the_judges(self):
        header = (ROOT / "common/judge/rows.h").read_text()
        columns = header[header.index("row_columns[]") :].split("{")[1].split("}")[0]
        self.assertEqual([name.strip().strip('"') for name in columns.split(",")], measurements.COLUMNS)

    def test_no_measurements_at_all(self):
        self.path.write_text("# A title\n")
        self.assert_refused("rows.csv holds no measurements: rows are written by")

    def test_another_version(self):
        text = self.path.read_text()
        self.path.write_text(text.replace("kernel", "kernels", 1))
        self.assert_refused("another version .it lacks kernel; it has kernels.: measure again")

    def test_cut_short(self):
        text = self.path.read_text()
        self.path.write_text(text[:-40])
        self.assert_refused(f"cut short: row 3 has .* of {len(measurements.COLUMNS)} fields")
        self.path.write_text(text[:-1])
        self.assert_refused("cut short: its last row, 3, has no end")

    def test_a_number_that_is_none(self):
        for name, text in (("median_ms", "fast"), ("n", "1.5"), ("n", "")):
            measurements.write(self.path, [row(), row(**{name: text})])
            self.assert_refused(f"is damaged: in row 3, '{text}' as {name} is no number")

    def test_a_file_to_go_on_with_loses_its_damaged_rows_only(self):
        self.assertEqual(measurements.mend(self.path), 0)
        measurements.write(self.path, [row(n="2"), row(n="3", keys_per_s="fast"), row(n="4")])
        self.path.write_text(self.path.read_text()[:-30])
        self.assertEqual(measurements.mend(self.path), 2)
        self.assertEqual([one["n"] for one in measurements.read(self.path)], ["2"])
        self.path.write_text("lab,step\n")
        self.assertIsNone(measurements.mend(self.path))
        self.assertFalse(self.path.exists())
        self.assertEqual(measurements.mend(self.path), 0)

    def test_a_name_is_never_taken_from_another_file(self):
        target = self.path.with_name("results.csv")
        names = []
        for text in "abc":
            self.path.write_text(text)
            names.append(files.move_to_free_name(self.path, target))
        self.assertEqual([name.name for name in names], ["results.csv", "results-2.csv", "results-3.csv"])
        self.assertEqual([name.read_text() for name in names], ["a", "b", "c"])

    def test_what_cannot_be_written_is_known_before(self):
        self.assertIsNone(files.writable(self.path))
        self.assertEqual(files.writable("/dev/full"), "it is no regular file")
        self.assertEqual(files.writable(self.path.parent), "it is no regular file")
        self.assertTrue(files.writable("/proc/x.csv"))
        self.assertEqual(os.listdir(self.path.parent), [self.path.name])

    def test_empty_or_not_there(self):
        self.path.write_text("")
        self.assert_refused("is empty")
        self.path.unlink()
        self.assert_refused("cannot read .*No such file")
        self.path.write_bytes(b"\xff\xfe\x00")
        self.assert_refused("it is no text")

    def test_two_machines_under_one_name(self):
        rows = [row(), row(machine="AMD EPYC, 2 cores, 24 GiB, Debian, Linux 6.2")]
        measurements.check_machines(rows)  # another kernel is the same machine
        rows.append(row(machine="Intel Xeon, 16 cores, 126 GiB, Debian, Linux 6.1"))
        with self.assertRaisesRegex(
            Problem, "two machines are called epyc: AMD EPYC, 2 cores, and Intel Xeon, 16 cores"
        ):
            measurements.check_machines(rows)
        rows[-1]["machine_id"] = "xeon"
        measurements.check_machines(rows)


class Rows(unittest.TestCase):
    """What several rows say."""

    def test_each_measurement_once(self):
        rows = [row(median_ms="1"), row(median_ms="2"), row(kernel="sort_tiles", median_ms="3")]
        self.assertEqual([one["median_ms"] for one in measurements.distinct(rows)], ["1", "3"])
        self.assertEqual(len(measurements.whole(rows)), 2)

    def test_tables_of_kernels_and_copies(self):
        rows = [
            row(),
            row(kernel="a", launches="3", grid="4", block="64", median_ms="3"),
            row(kernel="b", launches="1", grid="1", block="32", median_ms="1"),
            row(kernel="to device", gb_per_s="10"),
        ]
        self.assertEqual(len(bench.lines_of(rows)), 3)
        self.assertIn("0.0130%", bench.lines_of(rows)[2])
        lines = bench.kernel_lines(rows)
        self.assertEqual([line.split()[-3] for line in lines[2:]], ["75%", "25%"])
        self.assertEqual(len(bench.transfer_lines(rows)), 3)
        self.assertEqual(bench.kernel_lines([row()]), [])

    def test_no_keys_have_no_speed(self):
        rows = [row(n="0", keys_per_s=speed, lab=lab) for lab in ("gold", "03-bitonic") for speed in ("0", "")]
        self.assertEqual(len(bench.lines_of(rows)), 4)
        self.assertEqual({bench.percent_of_gold(one, rows[0]) for one in rows}, {"-"})

    def test_launch_shapes_are_one_column(self):
        lines = bench.lines_of([row(blocks="64", threads="32"), row(blocks="1024", threads="1024")])
        self.assertEqual([line.split()[3] for line in (lines[0], *lines[2:])], ["ms", "64x32", "1024x1024"])

    def test_tables_fit_the_terminal(self):
        own = [
            row(step="3", name="hybrid", input=name, type=kind, percent_of_roof="1.25")
            for name in ("uniform", "range:0:65535")
            for kind in ("u32", "u64")
        ]
        rows = own + [dict(one, lab="gold", name="stable-sort") for one in own]
        with mock.patch.object(table, "width", lambda: None):
            self.assertIn("of roof", bench.lines_of(rows)[0])
        with mock.patch.object(table, "width", lambda: 80):
            lines = bench.lines_of(rows)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn("100% stable-sort", lines[2])
        self.assertEqual(lines[-1], "(too wide for this terminal, and in the file of rows: of roof)")
        with mock.patch.object(table, "width", lambda: 10):
            self.assertEqual(table.fit("abc", [["1", "22222222", "3"]], (), ("a", "b"))[1], ["b"])
        self.assertIn("40%!", bench.lines_of([row(q1_ms="1.5", q3_ms="2.3")])[2])

    def test_what_is_impossible_is_told_once(self):
        rows = [row(status="unsupported", message="no", blocks=str(b)) for b in (1, 2)]
        self.assertEqual(bench.skipped(rows), ["skipped: 2 measurements (step 1): no"])
        self.assertEqual(len(bench.lines_of([row(), *rows])), 3)

    def test_what_failed_is_told_once(self):
        rows = [
            row(step=step, n=str(n), status="not-written", message=f"step {step} is not written yet")
            for step in "23"
            for n in (1024, 1000, 1024, 4096, 5, 6)
        ]
        self.assertEqual(
            bench.failed_lines(rows),
            [f"step {step}, n = 5, 6, 1000, 2^10, ..: not-written: step {step} is not written yet" for step in "23"],
        )


class Sweeps(unittest.TestCase):
    """What is asked of the judge."""

    def test_an_empty_sweep_is_one_line_and_leaves_no_file(self):
        parser = argparse.ArgumentParser()
        bench.add_arguments(parser)
        arguments = parser.parse_args(["03-bitonic", "--type", "f64"])
        for rows, words in (
            ([], "can be measured$"),
            (
                [row(status="unsupported", message=f"step {i} takes no f64") for i in range(5)],
                r"measured: step 0 takes no f64; step 1 takes no f64; step 2 takes no f64; \.\.$",
            ),
        ):
            with (
                tempfile.NamedTemporaryFile(delete=False) as file,
                mock.patch.object(bench, "prepare", lambda *_: ("cpu", None)),
                mock.patch.object(bench, "sweep", lambda *_, rows=rows, path=file.name: (rows, 0, Path(path))),
                mock.patch.object(machine, "idle_cores", lambda: None),
            ):
                with self.assertRaisesRegex(
                    Usage, "an empty sweep: nothing that was asked for of 03-bitonic .*" + words
                ):
                    bench.main(arguments)
                self.assertFalse(Path(file.name).exists())

    def sweep(self, judge):
        """bench.sweep with `judge` in place of judge.bench, in a folder of its own."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = Path(folder.name) / "labs/program"
        program.parent.mkdir()
        program.write_text("a program")
        patches = [
            mock.patch.object(bench, "UNFINISHED", Path(folder.name) / "unfinished"),
            mock.patch.object(bench.judge, "bench", judge),
            mock.patch.object(bench.build, "gold", lambda _: program),
            mock.patch.object(bench.build, "judge", lambda: program),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        return lambda: bench.sweep("timing", "03-bitonic", "cpu", program, ["--n", "1"])

    def test_an_ended_sweep_keeps_its_rows(self):
        def ended(*arguments):
            measurements.write(arguments[4], [row()])
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)

        before = signal.getsignal(signal.SIGTERM)
        with self.assertRaises(bench.Interrupted) as raised, terminated_as_interrupted():
            self.sweep(ended)()
        self.assertEqual((raised.exception.status, len(raised.exception.rows)), (143, 1))
        self.assertEqual(signal.getsignal(signal.SIGTERM), before)

    def test_one_measurement_twice_at_once_is_refused(self):
        def at_once(*_):
            with self.assertRaisesRegex(Problem, "another bench is measuring just this"):
                sweep()
            return [], 0

        sweep = self.sweep(at_once)
        self.assertEqual(sweep()[:2], ([], 0))

    def test_damaged_rows_are_measured_again(self):
        found = []

        def judge(*arguments):
            if not found:
                measurements.write(arguments[4], [row(), row(keys_per_s="fast")])
            found.append(len(measurements.read(arguments[4])) if found else None)
            return [], 0

        sweep, said = self.sweep(judge), io.StringIO()
        sweep()
        with redirect_stderr(said):
            sweep()
        self.assertEqual(found, [None, 1])
        self.assertIn("was damaged, and is measured again", said.getvalue())

    def test_unfinished_sweeps_that_nobody_goes_on_with_are_removed(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(bench, "UNFINISHED", Path(folder)):
            for name, days in (
                ("lab-cpu-labs-new-1", 9),
                ("lab-cpu-labs-old-1", 9),
                ("lab-cpu-labs-old-2", 0),
                ("other-cpu-labs-new-1", 9),
                ("other-cpu-labs-new-2", 31),
            ):
                path = Path(folder, name + ".csv")
                path.touch()
                os.utime(path, (time.time() - days * 24 * 3600,) * 2)
            bench.tidy("lab-cpu-labs-", "new")
            self.assertEqual(
                sorted(path.stem for path in Path(folder).iterdir()),
                ["lab-cpu-labs-new-1", "lab-cpu-labs-old-2", "other-cpu-labs-new-1"],
            )

    def test_a_short_bench_looks_at_the_clocks_too(self):
        with (
            mock.patch.object(machine, "gpus", lambda: ("a GPU",)),
            mock.patch.object(
                machine, "answer", lambda *_, **__: "Not Active, Active, Not Active, Not Active, Not Active"
            ),
        ):
            with machine.ClockWatch(True) as clocks:
                pass
        self.assertEqual(clocks.reasons, {"hardware slowdown"})

    def test_idle_cores_are_those_of_the_moment(self):
        with (
            mock.patch.object(machine, "_ticks", iter([(100, 200), (110, 240)]).__next__),
            mock.patch.object(machine.os, "cpu_count", lambda: 4),
        ):
            self.assertEqual(machine.idle_cores(0), 1)

    def test_launch_shapes(self):
        self.assertEqual(bench.shapes(["1x32", "64x64", "1x32"]), ["1x32", "64x64"])
        grid = bench.shapes(["grid"])
        self.assertEqual((grid[0], grid[-1], len(grid)), ("1x32", "1024x1024", 36))
        for word in ("1x", "x1", "1x2x3", "-1x2", "big"):
            with self.assertRaisesRegex(Usage, f"--shapes {word} is no launch shape"):
                bench.shapes([word])

    def test_numbers(self):
        self.assertEqual([bench.number(text) for text in ("255", "2^16")], [255, 65536])
        for text in ("", "-1", "2^", "1e6", "2^1000"):
            with self.assertRaises(Usage):
                bench.number(text)


if __name__ == "__main__":
    unittest.main()
