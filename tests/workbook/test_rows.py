"""Rows of measurements: which files are read, and what follows from several rows."""

import os
import unittest

from in_folder import InFolder
from report_data import row

from workbook.core import files, rows
from workbook.core.console import Problem
from workbook.core.course import ROOT

HEADER = (
    "lab,step,name,task,tile,build,type,order,input,seed,n,blocks,threads,memory,kernel,launches,repeats,median_ms,q1_ms,q3_ms,"
    "keys_per_s,gb_per_s,roof_gb_per_s,percent_of_roof,gold,ratio,grid,block,dynamic_shared,static_shared,registers,"
    "status,message,machine_id,machine,commit,date"
)


class Files(InFolder):
    """Which files are refused, and with which words."""

    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "rows.csv"
        rows.write(self.path, [row(message='a "quoted", word'), row(n=2048)])

    def assert_refused(self, words: str) -> None:
        with self.assertRaisesRegex(Problem, words) as raised:
            rows.read(self.path)
        self.assertEqual(raised.exception.status, 2)

    def test_what_is_written_is_read(self) -> None:
        written = [row(message='a "quoted", word', ratio=0.25, grid=4), row(n=2048, seed=None)]
        rows.write(self.path, written)
        self.assertEqual(rows.read(self.path), written)

    def test_the_columns_are_those_of_recorded_files(self) -> None:
        self.assertEqual(",".join(rows.COLUMNS), HEADER)
        recorded = sorted(ROOT.glob("reports/results/*/*.csv"))
        self.assertTrue(recorded)
        for path in recorded:
            text = path.read_text()
            columns = rows.COLUMNS if ",memory," in text.partition("\n")[0] else rows.EARLIER_COLUMNS
            self.assertEqual(text, ",".join(columns) + "\n" + rows.formatted(rows.read(path), columns), path)

    def write_earlier(self) -> None:
        """Writes two rows without the column that such files lack."""
        header, columns = ",".join(rows.EARLIER_COLUMNS), rows.EARLIER_COLUMNS
        self.path.write_text(f"{header}\n{rows.formatted([row(), row(n=2)], columns)}")

    def test_files_without_the_latest_column_are_read(self) -> None:
        self.write_earlier()
        self.assertEqual(rows.read(self.path), [row(), row(n=2)])
        self.assertEqual(rows.mend(self.path), 0)

    def test_rows_appended_to_such_a_file_have_all_columns(self) -> None:
        self.write_earlier()
        rows.RowFile(self.path).append([row(n=3, memory="1M")])
        self.assertEqual(rows.read(self.path), [row(), row(n=2), row(n=3, memory="1M")])

    def test_no_measurements_at_all(self) -> None:
        self.path.write_text("# A title\n")
        self.assert_refused("rows.csv holds no measurements: ./workbook bench and report write them")

    def test_another_version(self) -> None:
        text = self.path.read_text()
        self.path.write_text(text.replace("kernel", "kernels", 1))
        self.assert_refused("another version .it lacks kernel; it has kernels.: measure again")
        self.path.write_text(text.replace("lab,step", "step,lab", 1))
        self.assert_refused("another version .its columns are in another order.")

    def test_cut_short(self) -> None:
        text = self.path.read_text()
        self.path.write_text(text[:-40])
        self.assert_refused(f"cut short: row 3 has .* of {len(rows.COLUMNS)} fields")
        self.path.write_text(text[:-1])
        self.assert_refused("cut short: its last row, 3, is incomplete")

    def spoil(self, column: str, value: str) -> None:
        """Writes a good row and one with this value."""
        good = rows.formatted([row()])
        fields = good.strip().split(",")
        fields[rows.COLUMNS.index(column)] = value  # no field before the machine holds a comma
        self.path.write_text(f"{HEADER}\n{good}{','.join(fields)}\n")

    def test_a_value_that_is_not_a_number(self) -> None:
        for column, value in (("median_ms", "fast"), ("n", "1.5"), ("n", "")):
            self.spoil(column, value)
            self.assert_refused(f"is damaged: row 3: '{value}' in column {column} is not a number")

    def test_a_file_to_resume_loses_its_damaged_rows_only(self) -> None:
        self.assertEqual(rows.mend(self.path), 0)
        self.spoil("keys_per_s", "fast")
        self.path.write_text((self.path.read_text() + rows.formatted([row(n=4)]))[:-30])
        self.assertEqual(rows.mend(self.path), 2)
        self.assertEqual(rows.read(self.path), [row()])
        self.path.write_text("lab,step\n")
        self.assertIsNone(rows.mend(self.path))
        self.assertFalse(self.path.exists())
        self.assertEqual(rows.mend(self.path), 0)

    def test_rows_are_appended(self) -> None:
        self.path.write_text(self.path.read_text() + "03-bitonic,1,glo")
        file = rows.RowFile(self.path)
        self.assertEqual([known.n for known in file.existing], [1024, 2048])
        file.append([row(n=1), row(n=2)])
        self.assertEqual([known.n for known in rows.read(self.path)], [1024, 2048, 1, 2])
        self.path.unlink()
        rows.RowFile(self.path)
        self.assertEqual(rows.read(self.path), [])

    def test_a_label_is_the_first_column(self) -> None:
        rows.write(self.path, [row(), row(n=1)], "sample", ["uniform", "file"])
        lines = self.path.read_text().splitlines()
        self.assertEqual([line.split(",")[0] for line in lines], ["sample", "uniform", "file"])
        self.assertEqual(lines[0], f"sample,{HEADER}")

    def test_a_name_is_never_taken_from_another_file(self) -> None:
        target = self.path.with_name("results.csv")
        names = []
        for text in "abc":
            self.path.write_text(text)
            names.append(files.move_to_free_name(self.path, target))
        self.assertEqual([name.name for name in names], ["results.csv", "results-2.csv", "results-3.csv"])
        self.assertEqual([name.read_text() for name in names], ["a", "b", "c"])

    def test_an_unwritable_path_is_known_before(self) -> None:
        self.assertIsNone(files.writable(self.path))
        self.assertEqual(files.writable("/dev/full"), "it is not a regular file")
        self.assertEqual(files.writable(self.path.parent), "it is not a regular file")
        self.assertTrue(files.writable("/proc/x.csv"))
        self.assertEqual(os.listdir(self.path.parent), [self.path.name])

    def test_empty_or_missing(self) -> None:
        self.path.write_text("")
        self.assert_refused("is empty")
        self.path.unlink()
        self.assert_refused("cannot read .*No such file")
        self.path.write_bytes(b"\xff\xfe\x00")
        self.assert_refused("it is not a text file")

    def test_two_machines_with_one_name(self) -> None:
        several = [row(), row(machine="AMD EPYC, 2 cores, 24 GiB, Debian, Linux 6.2")]
        rows.check_machines(several)  # another version of Linux is the same machine
        several.append(row(machine="Intel Xeon, 16 cores, 126 GiB, Debian, Linux 6.1"))
        with self.assertRaisesRegex(
            Problem, "two machines are called epyc: AMD EPYC, 2 cores, and Intel Xeon, 16 cores"
        ):
            rows.check_machines(several)
        several[-1].machine_id = "xeon"
        rows.check_machines(several)


class Several(unittest.TestCase):
    """What follows from several rows."""

    def test_each_measurement_once(self) -> None:
        several = [row(median_ms=1.0), row(median_ms=2.0), row(kernel="sort_tiles", median_ms=3.0)]
        self.assertEqual([kept.median_ms for kept in rows.distinct(several)], [1.0, 3.0])
        self.assertEqual(len(rows.whole(several)), 2)

    def test_the_gold_of_a_step_sorts_the_same(self) -> None:
        gold = [
            row(lab="gold", name="stable-sort", keys_per_s=1e6),
            row(lab="gold", name="vqsort", keys_per_s=2e6),
            row(lab="gold", name="vqsort", keys_per_s=9e6, n=2048),
            row(lab="gold", name="vqsort", keys_per_s=8e6, status="wrong"),
            row(lab="gold", name="vqsort-tiles", keys_per_s=4e6, tile=1024),
            row(lab="gold", name="reduce", keys_per_s=9e7, task="reduce"),
        ]
        self.assertEqual(rows.best_gold(gold, row()), gold[1])
        self.assertEqual(rows.best_gold(gold, row(tile=1024)), gold[4])
        self.assertIsNone(rows.best_gold(gold, row(n=7)))
        # Of keys in host memory, with the copies: whatever the limits of memory.
        self.assertIsNone(rows.best_gold(gold, row(memory="1M")))
        on_host = row(lab="gold", memory="all")
        self.assertEqual(rows.best_gold([*gold, on_host], row(memory="1M pageable")), on_host)
        # The better of two versions of a library counts, and neither alone where only one was measured.
        older, newer = (row(lab="gold", name=name, keys_per_s=8e6) for name in ("radix", "cub-3.5.0 radix"))
        newer.keys_per_s = 9e6
        self.assertEqual(rows.best_gold([older, newer], row()), newer)
        self.assertIsNone(rows.best_gold([row(lab="gold", name="radix", n=7), older, newer], row(n=7)))
        self.assertEqual(rows.share_of_gold(row(), gold[1]), 0.256)
        self.assertIsNone(rows.share_of_gold(row(status="wrong"), gold[1]))
        self.assertIsNone(rows.share_of_gold(row(), None))

    def test_the_spread(self) -> None:
        self.assertAlmostEqual(row().spread, 10)
        self.assertEqual(row(median_ms=0.0).spread, 0)
        self.assertEqual(row(q1_ms=None).spread, 0)
