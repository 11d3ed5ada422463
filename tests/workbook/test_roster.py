"""The roster: what spreadsheets and platforms make of a CSV file, and errors that name the line."""

from __future__ import annotations

from datetime import datetime, timedelta

from in_folder import InFolder

from workbook.core.console import Problem
from workbook.grading import roster
from workbook.grading.roster import Roster

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Lab 02 (900),03-bitonic (901),Current Score
    Points Possible,,,,,10,27,(read only)
"Müller, Anna",12345,S1,amueller,A,8,,80
"Test, Student",99,,,A,,,
"""
MOODLE = """Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Last modified (submission)
Participant 4711,Anna Müller,M1,anna@example.org,Submitted,-,100.00,"Friday, 20 November 2026"
Teilnehmer/in 4712,Ben Groß,,ben@example.org,No submission,-,100.00,-
"""


class Rosters(InFolder):
    """Files."""

    def read(self, text: str | bytes) -> Roster:
        """A roster with this text."""
        path = self.folder / "roster.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return roster.read(path)

    def refused(self, text: str | bytes, words: str) -> None:
        """The text is refused, with these words."""
        with self.assertRaisesRegex(Problem, words):
            self.read(text)

    def test_columns(self) -> None:
        (row,) = self.read(
            "Name,ID,Group,Extension,handed in,Attempt,Login,Email,Faculty\n"
            "Zoë,7,A,2,2026-11-20T10:00Z,3,zoe-x,zz@example.org,Art\n"
        ).rows
        self.assertEqual((row.id, row.name, row.group, row.attempt), ("7", "Zoë", "A", "3"))
        self.assertEqual(row.ids, ("7", "zoe-x", "zz@example.org", "zz"))
        self.assertEqual(row.extension, timedelta(days=2))
        assert row.handed_in
        self.assertEqual(row.handed_in, datetime.fromisoformat("2026-11-20T10:00:00+00:00"))

    def test_what_spreadsheets_write(self) -> None:
        """A byte-order mark, semicolons, tabs, other encodings, and zeros that are kept by a formula."""
        text = 'id;name\n="007";"Groß; Ben"\n\n008;Ana\n'
        for content in (
            text.encode("utf-8-sig"),
            ("sep=;\r\n" + text.replace("\n", "\r\n")).encode(),
            text.encode("utf-16"),
            'id\tname\n007\t"Groß; Ben"\n008\tAna\n'.encode(),
            'id,name\n007,"Groß; Ben"\n008,Ana\n'.encode(),
            'id,name\r007,"Groß; Ben"\r008,Ana\r'.encode(),
        ):
            rows = self.read(content).rows
            self.assertEqual([(row.id, row.name) for row in rows], [("007", "Groß; Ben"), ("008", "Ana")], content)

    def test_errors_name_the_line(self) -> None:
        self.refused("", "is empty")
        self.refused("id,name\n", "has no students")
        self.refused("id,name\n1," + "x" * 200_000, "this is not a CSV file")
        self.refused('id,name\n1,"Anna\nMuster"\n\n1,Ben\n', r"roster.csv:5: the id '1' is also in line 3")
        self.refused("name\nAna\n", r"roster.csv:1: the roster has no column 'id'")
        self.refused("id,extention\n1,2\n", "no column 'extention'; did you mean 'extension'")
        self.refused("id,id\n1,2\n", "two columns 'id'")
        self.refused("id,name\n1,Ana\n2,Ben\n1,Cem\n", r"roster.csv:4: the id '1' is also in line 2")
        self.refused("id\nana\nANA\n", "is also in line 2")
        self.refused("id,name\n,Ana\n", r"roster.csv:2: this line has no id")
        self.refused("id\n=1+1\n", r"roster.csv:2: the id '=1\+1' is not one")
        self.refused("id\n1.23E+11\n", "what a spreadsheet has made of it")
        self.refused("id,extension\n1,25.11.2026\n", r"roster.csv:2: '25.11.2026' is not an extension")
        self.refused("id,handed_in\n1,yesterday\n", r"roster.csv:2: 'yesterday' is not a time")
        self.refused("id,name\n1,Groß\n".encode("latin-1"), r"roster.csv:2: this is not UTF-8")

    def test_names_may_be_formulas(self) -> None:
        """They are escaped where they are written."""
        self.assertEqual(self.read("id,name\n1,=HYPERLINK(1)\n").rows[0].name, "=HYPERLINK(1)")

    def test_extensions(self) -> None:
        rows = self.read("id,extension\n1,\n2,1.5\n3,2026-11-25\n4,2026-11-25T12:00+01:00\n").rows
        self.assertEqual([row.extension for row in rows[:2]], [None, timedelta(days=1.5)])
        day, time = rows[2].extension, rows[3].extension
        assert isinstance(day, datetime) and isinstance(time, datetime)
        self.assertEqual((day.day, day.hour, day.minute), (25, 23, 59))
        self.assertEqual(time, datetime.fromisoformat("2026-11-25T11:00:00+00:00"))

    def test_of_platforms(self) -> None:
        canvas = self.read(CANVAS)
        names = [(row.id, row.name) for row in canvas.rows]
        self.assertEqual(names, [("amueller", "Müller, Anna"), ("99", "Test, Student")])
        self.assertEqual(canvas.rows[0].ids, ("amueller", "S1", "12345"))
        moodle = self.read("\ufeff" + MOODLE)
        self.assertEqual([row.id for row in moodle.rows], ["M1", "4712"])
        self.assertEqual(moodle.rows[0].ids, ("M1", "4711", "anna@example.org", "anna"))
        self.assertEqual((canvas.kind, moodle.kind), ("canvas", "moodle"))

    def test_the_times_of_moodle(self) -> None:
        """They are read in English, with any spaces. A column of one's own comes before them."""
        at = datetime(2026, 11, 22, 22, 30).astimezone()
        for text, expected in (
            ("Sunday, 22 November 2026, 10:30 PM", at),
            ("Sunday, 22 November 2026, 10:30\u202fPM", at),
            ("Sunday, November 22, 2026, 10:30 PM", at),
            ("Sunday, 22 November 2026, 22:30", at),
            ("Sonntag, 22. November 2026, 22:30", None),
            ("-", None),
        ):
            first = self.read(MOODLE.replace("Friday, 20 November 2026", text)).rows[0]
            self.assertEqual(first.handed_in, expected, text)
        own = MOODLE.replace("Friday, 20", "Sunday, 22").replace('2026"', '2026, 10:30 PM",2026-11-19')
        own = own.replace("(submission)", "(submission),handed_in")
        row = self.read(own).rows[0]
        assert row.handed_in
        self.assertEqual((row.handed_in.month, row.handed_in.day), (11, 19))

    def test_of_classroom_50(self) -> None:
        (row,) = self.read(
            "username,first_name,last_name,email,section,github_id\nana-x,Ana,Groß,a@example.org,1,77\n"
        ).rows
        self.assertEqual((row.id, row.name), ("ana-x", "Ana Groß"))

    def test_names(self) -> None:
        self.assertEqual(roster.spellings("Anna Müller"), {"annamuller", "annamueller", "mulleranna", "muelleranna"})
        self.assertEqual(roster.spellings("Müller, Anna"), roster.spellings("Anna Müller"))
        self.assertTrue(roster.agree("mueller", "Anna Müller"))
        self.assertTrue(roster.agree("muelleranna", "Anna Müller"))
        self.assertFalse(roster.agree("Anna Muster", "Ben Groß"))
