"""What is taken of submissions: the files that students may edit, wherever they lie, and nothing else."""

import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from unittest import mock

from in_folder import InFolder

from workbook.core.console import Problem, Usage
from workbook.core.course import ROOT
from workbook.grading import handed_in, submissions, unpack
from workbook.grading.submissions import Submission

LAB = "03-bitonic"
SHARED = f"{LAB}/02_shared.cu"


def read_archive(path: Path, suffixes: Sequence[str]) -> Iterable[unpack.Member]:
    """What the grader does in the sandbox, without one."""
    program = [sys.executable, "-I", unpack.__file__, path.name, *suffixes]
    with open(path, "rb") as archive:
        done = subprocess.run(program, stdin=archive, capture_output=True, text=True, check=True)
    return submissions.parse_members(done.stdout)


class Folder(InFolder):
    """Tests with a folder of submissions."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = self.folder / "class"
        self.folder.mkdir()

    def write(self, name: str, text: str = "// mine\n") -> Path:
        """A file below the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def zip(self, name: str, members: dict[str, str]) -> Path:
        """A zip archive in the folder."""
        with zipfile.ZipFile(self.folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, text in members.items():
                archive.writestr(member, text)
        return self.folder / name

    def tar(self, name: str, members: Iterable[tuple[tarfile.TarInfo, bytes]], mode: str = "w:gz") -> Path:
        """A tar archive in the folder."""
        with tarfile.open(self.folder / name, mode) as archive:  # type: ignore[call-overload]
            for info, content in members:
                info.size = len(content) if info.isreg() else 0
                archive.addfile(info, io.BytesIO(content))
        return self.folder / name

    def read(self, name: str, labs: Sequence[str] = (LAB,)) -> Submission:
        """What is taken of a submission."""
        return submissions.read(handed_in.of_path(self.folder / name), labs, read_archive)


class Find(Folder):
    """The students of a class."""

    def test_folders_and_archives(self) -> None:
        self.write("Anna Ödegård/a.cu")
        self.zip("Ben (2).zip", {"a": ""})
        self.write("Chloé.tar.gz")
        self.write(".hidden/a.cu")
        self.write("notes.txt")
        paths, remarks = handed_in.find(self.folder)
        self.assertEqual([one.student for one in paths], ["Anna Ödegård", "Ben (2)", "Chloé"])
        self.assertEqual(remarks, ["ignored: notes.txt is not a folder or an archive"])

    def test_empty(self) -> None:
        with self.assertRaisesRegex(Problem, "has no submissions: it must hold one folder or archive"):
            handed_in.find(self.folder)
        with self.assertRaisesRegex(Usage, "is not a folder"):
            handed_in.find(self.folder / "nothing")

    def test_two_of_one_student(self) -> None:
        for first, second in (("Ben/a", "Ben.zip"), ("Ben.tar.gz", "Ben.zip"), ("Zo\u00eb/a", "Zoe\u0308.zip")):
            with self.subTest(first=first):
                paths = [self.write(first), self.write(second)]
                with self.assertRaisesRegex(Problem, "two submissions of"):
                    handed_in.find(self.folder)
                for path in paths:
                    path.unlink()
                    if path.parent != self.folder:
                        path.parent.rmdir()

    def test_links_are_not_submissions(self) -> None:
        self.write("Ben/a")
        (self.folder / "Eve").symlink_to("/etc")
        paths, remarks = handed_in.find(self.folder)
        self.assertEqual([one.student for one in paths], ["Ben"])
        self.assertIn("Eve", remarks[0])


class Places(Folder):
    """Where the files may lie in a submission."""

    def test_known_places(self) -> None:
        for at, place in enumerate(
            (f"labs/{SHARED}", SHARED, "02_shared.cu", f"my work/labs/{SHARED}", "x/02_shared.cu")
        ):
            with self.subTest(place=place):
                self.write(f"s{at}/{place}")
                self.assertEqual(self.read(f"s{at}").files, {SHARED: "// mine\n"})
                self.zip(f"z{at}.zip", {place: "// mine\n"})
                self.assertEqual(self.read(f"z{at}.zip").files, {SHARED: "// mine\n"})

    def test_top_level_needs_one_lab(self) -> None:
        self.write("Ben/02_shared.cu")
        taken = self.read("Ben", (LAB, "04-counting"))
        self.assertEqual(taken.files, {})
        self.assertIn("none of the files to fill in was found", taken.notes[0])

    def test_a_report_at_the_top(self) -> None:
        """Of a single lab, where Moodle's folders have it. One in its own folder comes first."""
        report = f"{LAB}/report/report.md"
        for at, place in enumerate(("report.md", "work/Report (1).md", "report/report.md")):
            self.write(f"s{at}/{place}", "at the top")
            self.assertEqual(self.read(f"s{at}").files, {report: "at the top"}, place)
            self.zip(f"z{at}.zip", {place: "at the top"})
            self.assertEqual(self.read(f"z{at}.zip").files, {report: "at the top"}, place)
        self.assertEqual(self.read("s0", (LAB, "04-counting")).files, {})
        self.write(f"s0/labs/{report}", "in its folder")
        self.assertEqual(self.read("s0").files, {report: "in its folder"})
        for place in ("workbook/reports/templates/report.md", "labs/04-counting/report.md", "my_report.md"):
            self.write(f"Ben/{place}")
        self.assertEqual(self.read("Ben").files, {})

    def test_another_labs_file_of_the_same_name(self) -> None:
        self.write("Ben/labs/04-counting/02_shared.cu")
        self.assertEqual(self.read("Ben").files, {})

    def test_better_place(self) -> None:
        self.write(f"Ben/labs/{SHARED}", "// right\n")
        self.write("Ben/old/02_shared.cu", "// old\n")
        taken = self.read("Ben")
        self.assertEqual(taken.files, {SHARED: "// right\n"})
        self.assertIn(
            "ignored in favour of a file that has a better place or the right name, or is newer: old/02_shared.cu",
            taken.notes,
        )

    def test_only_what_students_may_edit(self) -> None:
        for name in ("labs/03-bitonic/tile.cuh", "common/judge/judge.cpp", "labs/03-bitonic/steps.h", "Makefile"):
            self.write(f"Ben/{name}")
        self.write(f"Ben/labs/{SHARED}")
        self.write(f"Ben/labs/{LAB}/report/report.md", "my report")
        taken = self.read("Ben")
        self.assertEqual(set(taken.files), {SHARED, f"{LAB}/report/report.md"})
        self.assertEqual(taken.report(LAB), "my report")
        self.assertIn("not among the files that are graded: Makefile", " ".join(taken.notes))

    def test_names_with_spaces_and_letters(self) -> None:
        self.write(f"Åsa Ñandú/My Files (final)/labs/{SHARED}", "// ü\n")
        self.assertEqual(self.read("Åsa Ñandú").files, {SHARED: "// ü\n"})

    def test_a_header_that_was_changed(self) -> None:
        """It is not taken, and the student reads so. One with other ends of lines was not changed."""
        ours = (ROOT / "labs" / LAB / "bitonic.h").read_text(encoding="utf-8")
        self.write(f"Ben/labs/{SHARED}")
        for place, labs in ((f"Ben/labs/{LAB}/bitonic.h", (LAB,)), ("Ben/bitonic.h", (LAB,))):
            for text, is_changed in ((ours, False), (ours.replace("\n", "\r\n"), False), (ours + "int more;\n", True)):
                with self.subTest(place=place, is_changed=is_changed):
                    self.write(place).write_bytes(text.encode())
                    notes = " ".join(self.read("Ben", labs).notes)
                    words = f"changed by you, but graded with the course's own: {place.partition('/')[2]}"
                    self.assertEqual(is_changed, words in notes, notes)
                    self.zip("Zed.zip", {place.partition("/")[2]: text})
                    self.assertEqual(is_changed, words in " ".join(self.read("Zed.zip", labs).notes))
                    (self.folder / place).unlink()
        self.write("Ben/common/step/error.h", "// mine\n")
        self.assertIn("changed by you", " ".join(self.read("Ben", (LAB, "04-counting")).notes))

    def test_what_costs_its_own_step(self) -> None:
        """A file that cannot be taken does not cost the others, and the step says why."""
        record = f"{LAB}/04_record.cu"
        large = b"x" * (unpack.MOST_TEXT + 1)
        for content, words in (
            (large, "is larger than 1 MiB"),
            ("int a;\n".encode("utf-16"), "is not UTF-8 text"),
            ("int a;\n".encode("utf-16-le"), "is not UTF-8 text"),
            (b"", "is empty"),
            (b" \r\n\t\n", "is empty"),
        ):
            with self.subTest(words=words):
                self.write(f"Ben/{record}")
                self.write(f"Ben/{SHARED}").write_bytes(content)
                with zipfile.ZipFile(self.folder / "Zed.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                    archive.writestr(record, "// mine\n")
                    archive.writestr(SHARED, content)
                self.tar("Tom.tar.gz", [(tarfile.TarInfo(record), b"// mine\n"), (tarfile.TarInfo(SHARED), content)])
                for name in ("Ben", "Zed.zip", "Tom.tar.gz"):
                    taken = self.read(name)
                    self.assertEqual(({record}, ()), (set(taken.files), taken.refused), name)
                    self.assertIn(words, taken.faults[SHARED])
                    self.assertIn(f"not taken: {SHARED} {words}", " ".join(taken.notes))
        (self.folder / "Ben" / SHARED).unlink()
        (self.folder / "Ben" / SHARED).symlink_to("elsewhere.cu")
        self.assertIn("is a link", self.read("Ben").faults[SHARED])
        (self.folder / "Ben" / SHARED).unlink()
        os.mkfifo(self.folder / "Ben" / SHARED)
        self.assertIn("is not a regular file", self.read("Ben").faults[SHARED])

    def test_a_fault_beside_a_file_that_is_right(self) -> None:
        self.write(f"Ben/old/{SHARED}", "")
        self.write(f"Ben/labs/{SHARED}")
        taken = self.read("Ben")
        self.assertEqual(({SHARED: "// mine\n"}, {}), (taken.files, taken.faults))

    def test_an_encrypted_member(self) -> None:
        path = self.zip("Zed.zip", {SHARED: "secret", f"{LAB}/04_record.cu": "// mine\n"})
        data = bytearray(path.read_bytes())
        data[data.index(b"PK\1\2") + 8] |= 1  # the flag of the first member in the archive's list
        path.write_bytes(data)
        taken = self.read("Zed.zip")
        self.assertEqual({f"{LAB}/04_record.cu"}, set(taken.files))
        self.assertIn("is encrypted", taken.faults[SHARED])

    def test_a_byte_order_mark_is_left_out(self) -> None:
        self.write(f"Ben/{SHARED}").write_bytes(b"\xef\xbb\xbf// mine\n")
        self.assertEqual({SHARED: "// mine\n"}, self.read("Ben").files)

    def test_text_that_is_not_utf8(self) -> None:
        self.write(f"Ben/{SHARED}").write_bytes(b"// caf\xe9\n")
        self.assertEqual(self.read("Ben").files, {SHARED: "// caf\ufffd\n"})


class Hostile(Folder):
    """Submissions that lead elsewhere, or that are made to exhaust the reader."""

    def test_links_in_a_folder(self) -> None:
        secret = self.folder.parent / "secret"
        (secret / LAB).mkdir(parents=True)
        (secret / SHARED).write_text("// secret\n")
        (self.folder / "Eve/labs").mkdir(parents=True)
        (self.folder / "Eve/labs" / LAB).symlink_to(secret / LAB)
        (self.folder / "Mallory" / LAB).mkdir(parents=True)
        (self.folder / "Mallory" / SHARED).symlink_to(secret / SHARED)
        for name in ("Eve", "Mallory"):
            taken = self.read(name)
            self.assertEqual(taken.files, {})
            self.assertEqual(1, " ".join(taken.notes).count("links are not followed"), taken.notes)

    def test_pipes_and_devices(self) -> None:
        (self.folder / "Eve" / LAB).mkdir(parents=True)
        os.mkfifo(self.folder / "Eve" / SHARED)
        self.assertEqual(self.read("Eve").files, {})

    def test_links_in_archives(self) -> None:
        link = tarfile.TarInfo(SHARED)
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        hard = tarfile.TarInfo(f"{LAB}/01_global.cu")
        hard.type, hard.linkname = tarfile.LNKTYPE, "../../secret"
        device = tarfile.TarInfo(f"{LAB}/03_hybrid.cu")
        device.type = tarfile.CHRTYPE
        self.tar("Eve.tar.gz", [(link, b""), (hard, b""), (device, b"")])
        taken = self.read("Eve.tar.gz")
        self.assertEqual((taken.files, taken.refused), ({}, ()))
        zipped = zipfile.ZipInfo(SHARED)
        zipped.external_attr = 0o120777 << 16
        with zipfile.ZipFile(self.folder / "Zed.zip", "w") as archive:
            archive.writestr(zipped, "/etc/passwd")
        self.assertEqual(self.read("Zed.zip").files, {})

    def test_paths_out_of_the_archive(self) -> None:
        for at, name in enumerate((f"../{SHARED}", f"/{SHARED}", "a/../../x", "..\\x", "C:\\x")):
            with self.subTest(name=name):
                self.zip(f"z{at}.zip", {name: "", SHARED: ""})
                self.tar(f"t{at}.tar", [(tarfile.TarInfo(name), b"")], "w")
                for archive in (f"z{at}.zip", f"t{at}.tar"):
                    taken = self.read(archive)
                    self.assertEqual(taken.files, {})
                    self.assertIn("leads out of it", taken.refused[0])

    def test_bombs(self) -> None:
        bomb = tarfile.TarInfo("zeros")
        bomb.size = unpack.MOST_BYTES + 1
        start = bomb.tobuf() + bytes(10_000)  # more is not read
        self.zip("many.zip", {f"{i}": "" for i in range(unpack.MOST_MEMBERS + 1)})
        (self.folder / "bomb.tar.xz").write_bytes(lzma.compress(start))
        (self.folder / "bomb.tar.gz").write_bytes(gzip.compress(start))
        expected = {"many.zip": "20,000 members", "bomb": "holds more than 512 MiB"}
        for archive in ("many.zip", "bomb.tar.xz", "bomb.tar.gz"):
            with self.subTest(archive=archive):
                words = next(words for name, words in expected.items() if archive.startswith(name))
                self.assertIn(words, self.read(archive).refused[0])

    def test_a_zip_that_lies_about_sizes(self) -> None:
        path = self.zip("Eve.zip", {SHARED: "x" * (unpack.MOST_TEXT + 1)})
        data = bytearray(path.read_bytes())
        size = (unpack.MOST_TEXT + 1).to_bytes(4, "little")
        for _ in range(data.count(size)):
            at = data.index(size)
            data[at : at + 4] = (10).to_bytes(4, "little")
        path.write_bytes(data)
        self.assertEqual(self.read("Eve.zip").files, {})

    def test_broken_archives(self) -> None:
        for name in ("a.zip", "b.tar.gz", "c.tar", "d.txz"):
            with self.subTest(name=name):
                (self.folder / name).write_bytes(b"not an archive")
                self.assertIn("cannot be read", self.read(name).refused[0])
        half = self.tar("e.tar.gz", [(tarfile.TarInfo(SHARED), os.urandom(9000))])
        half.write_bytes(half.read_bytes()[:5000])
        self.assertIn("cannot be read", self.read("e.tar.gz").refused[0])

    def test_too_many_files(self) -> None:
        for number in range(30):
            self.write(f"Eve/{number}/a")
        with mock.patch.object(submissions, "MOST_MEMBERS", 40):
            self.assertIn("more than 40 files", self.read("Eve").refused[0])

    def test_malformed_lists(self) -> None:
        for text in ("x", "[]", '{"kind": 1}', json.dumps({"name": "a", "kind": "file", "text": "%"})):
            with self.subTest(text=text), self.assertRaises(unpack.Refused):
                list(submissions.parse_members(text))
