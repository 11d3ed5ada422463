"""Who handed in what: the names that Canvas, Moodle, Gradescope and git give, and whose they are on a roster."""

from __future__ import annotations

import shutil
import subprocess
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path

from in_folder import needs_git
from test_grade_submissions import LAB, SHARED, Folder, read_archive

from workbook.core.console import Problem, Usage
from workbook.grading import handed_in, roster, submissions, unpack
from workbook.grading.submissions import Submission

GLOBAL = f"{LAB}/01_global.cu"
METADATA = """---
submission_100:
  :submitters:
  - :name: Anna Muster
    :sid: '4711'
    :email: anna@example.org
  :created_at: 2026-11-20 10:00:00.123456789 Z
  :score: 1.0
  :history:
  - :id: 99
    :created_at: 2026-11-01 10:00:00.000000000 Z
    :name: not a student
submission_200:
  :created_at: 2026-11-21 10:00:00.000000000 Z
  :submitters:
  - :name: Ben Groß
    :sid: '4712'
  - :name: Cem Öz
    :sid: '4713'
"""


class Class(Folder):
    """A folder with what a class has handed in."""

    def taken(self, people: str = "", labs: tuple[str, ...] = (LAB,)) -> dict[str, Submission]:
        """What is taken of each student, with the lines of a roster if there are any."""
        handed, self.remarks = handed_in.find(self.folder, self.roster(people) if people else None)
        self.handed = {one.student: one for one in handed}
        return {one.student: submissions.read(one, labs, read_archive) for one in handed}

    def roster(self, text: str) -> roster.Roster:
        """A roster with this text."""
        path = self.folder.parent / "roster.csv"
        path.write_text(text, encoding="utf-8")
        return roster.read(path)


class Shapes(Class):
    """Folders as platforms give them."""

    def test_canvas(self) -> None:
        """All files of all students are in one folder. A later attempt has a larger number, and -1 in its name."""
        self.write("mueller_12345_67890_01_global.cu", "// 1\n")
        self.write("mueller_12345_67891_02_Halo (1).cu")
        self.write("mueller_12345_67892_02_Shared (1).cu", "// 2\n")
        self.write("mueller_LATE_12345_70001_02_shared-1.cu", "// 2, again\n")
        self.write("de_groot_22222_67893_report.md")
        self.zip("li_33333_67894_my lab.zip", {SHARED: "// li\n"})
        self.write("grades.txt")
        taken = self.taken()
        self.assertEqual(list(taken), ["de_groot_22222", "li_33333", "mueller_12345"])
        self.assertEqual(taken["mueller_12345"].files, {GLOBAL: "// 1\n", SHARED: "// 2, again\n"})
        self.assertEqual(taken["li_33333"].files, {SHARED: "// li\n"})
        notes = "\n".join(taken["mueller_12345"].notes)
        self.assertIn("Canvas marks it as late", notes)
        self.assertIn("taken under its proper name: 02_shared-1.cu as 03-bitonic/02_shared.cu", notes)
        self.assertIn("or is newer: 02_Shared (1).cu", notes)
        self.assertIn("not among the files that are graded: 02_Halo (1).cu", notes)
        self.assertEqual(self.remarks, ["ignored: grades.txt is not a folder or an archive"])

    def test_moodle(self) -> None:
        """A folder per student, which often holds an archive; or the files, with the same name before theirs."""
        self.write("Anna Muster_4711_assignsubmission_file_/02_shared.cu")
        self.write("Anna Muster_4711_assignsubmission_onlinetext_/onlinetext.html")
        self.zip("x.zip", {SHARED: "// zipped\n"})
        (self.folder / "Ben Groß_4712_assignsubmission_file_").mkdir()
        shutil.move(self.folder / "x.zip", self.folder / "Ben Groß_4712_assignsubmission_file_" / "abgabe.zip")
        self.write("Cem Öz_4713_assignsubmission_file_01_global.cu", "// flat\n")
        taken = self.taken()
        self.assertEqual(list(taken), ["Anna Muster_4711", "Ben Groß_4712", "Cem Öz_4713"])
        self.assertEqual(taken["Anna Muster_4711"].files, {SHARED: "// mine\n"})
        self.assertEqual(taken["Ben Groß_4712"].files, {SHARED: "// zipped\n"})
        self.assertEqual(taken["Cem Öz_4713"].files, {GLOBAL: "// flat\n"})
        self.assertIn("onlinetext.html", "".join(taken["Anna Muster_4711"].notes))
        self.assertEqual(taken["Ben Groß_4712"].notes, ())

    def test_gradescope(self) -> None:
        """The file that comes with the folders says whose they are, and when each was handed in."""
        self.write("submission_metadata.yml", METADATA)
        self.write("submission_100/02_shared.cu")
        self.write("submission_200/01_global.cu")
        taken = self.taken()
        self.assertEqual(list(taken), ["Anna Muster_4711", "Ben Groß_4712"])
        self.assertEqual(self.handed["Ben Groß_4712"].everyone, ("Ben Groß_4712", "Cem Öz_4713"))
        at = self.handed["Anna Muster_4711"].at
        self.assertEqual(at, datetime(2026, 11, 20, 10, tzinfo=timezone.utc))
        self.taken("id,name\n4711,\n4712,Groß\n4713,Cem\n")
        self.assertEqual([one.everyone for one in self.handed.values()], [("4711",), ("4712",)])
        self.taken("id,group\n4711,\n4712,A\n4713,A\n")
        self.assertEqual(self.handed["4712"].everyone, ("4712", "4713"))
        with self.assertRaisesRegex(Usage, "name .*class"):
            handed_in.find(self.folder.parent)
        self.write("submission_300/01_global.cu")
        with self.assertRaisesRegex(Problem, "does not say who handed in submission_300"):
            self.taken()

    def test_case_and_copies(self) -> None:
        """A file is known by its name whatever its case, and whatever a browser has added."""
        names = ("03-Bitonic/02_Shared.cu", "02_SHARED.CU", "02_shared (2).cu", "02_shared - Copy.cu", "02_shared-3.cu")
        for at, name in enumerate(names):
            self.write(f"student {at}/{name}")
            self.zip(f"zipped {at}.zip", {name.replace("/", "\\"): "// mine\n"})
        for student, taken in self.taken().items():
            self.assertEqual(taken.files, {SHARED: "// mine\n"}, student)
            self.assertIn("taken under its proper name", taken.notes[0])

    def test_a_step_is_known_by_its_number_and_name(self) -> None:
        """However they are put together. The feedback says which file was taken, and prefers the right name."""
        names = ("02_shared.cu.txt", "02-shared.cu", "step02_shared.cu", "Step 2 Shared (1).CU", "2_shared.cu (1).txt")
        for at, name in enumerate(names):
            self.write(f"student {at}/{name}")
            self.zip(f"zipped {at}.zip", {name: "// mine\n"})
        for student, taken in self.taken().items():
            self.assertEqual(taken.files, {SHARED: "// mine\n"}, student)
            self.assertRegex(taken.notes[0], rf"^taken under its proper name: .*[tuU] as {SHARED}$")
        self.write("Zed/02-shared.cu", "// another\n")
        self.write("Zed/02_shared.cu", "// mine\n")
        self.write("Zed/12_shared.cu")
        taken = self.taken()["Zed"]
        self.assertEqual(taken.files, {SHARED: "// mine\n"})
        self.assertIn("or the right name, or is newer: 02-shared.cu", taken.notes[0])
        self.assertIn("graded: 12_shared.cu", taken.notes[1])

    def test_files_of_systems_are_never_named(self) -> None:
        names = ("__MACOSX/lab/._02_shared.cu", "lab/._02_shared.cu", "lab/.DS_Store", "Thumbs.db", "lab\\desktop.ini")
        self.zip("ben.zip", {SHARED: "// mine\n", **dict.fromkeys(names, "x")})
        self.write("__MACOSX/._ben.zip")
        self.write("Thumbs.db")
        self.assertEqual({name: taken.notes for name, taken in self.taken().items()}, {"ben": ()})
        self.assertEqual(handed_in.find(self.folder)[1], [])

    def test_the_last_of_several(self) -> None:
        self.write("Ben/02_shared.cu", "// first\n")
        self.write("Ben/02_shared (2).cu", "// third\n")
        self.write("Ben/02_shared (1).cu", "// second\n")
        taken = self.taken()["Ben"]
        self.assertEqual(taken.files, {SHARED: "// third\n"})
        self.assertIn("or is newer: 02_shared (1).cu, 02_shared.cu", "".join(taken.notes))

    def test_other_names_are_said(self) -> None:
        """The course's own files, which a clone has all of, are only counted."""
        for name in ("02_halo_final.cu", "README.md", *(f"common/judge/{name}" for name in ("judge.cpp", "cases.cpp"))):
            self.write(f"Ben/{name}")
        self.write("Ben/.git/HEAD")
        taken = self.taken()["Ben"]
        self.assertTrue(taken.notes[-2].endswith("graded: 02_halo_final.cu"))
        self.assertTrue(taken.notes[-1].endswith("its own copies: 3 files of the course"))

    def test_archives_and_links_in_a_folder(self) -> None:
        """An archive in a folder is read as one by itself. A link to one is not."""
        self.zip("ben.zip", {SHARED: "// mine\n", "lab/.git/HEAD": "", "lab/.git/hooks/x.sample": ""})
        self.assertEqual(self.taken()["ben"].notes, ())
        self.zip("x.zip", {SHARED: "// zipped\n"})
        outside = self.folder.parent / "x.zip"
        shutil.move(self.folder / "x.zip", outside)
        self.write("Eve/a.txt")
        (self.folder / "Eve/lab.zip").symlink_to(outside)
        self.assertEqual(self.taken()["Eve"].files, {})

    def test_a_file_that_is_too_large(self) -> None:
        self.write("mueller_12345_67890_01_global.cu", "x" * (unpack.MOST_TEXT + 1))
        taken = self.taken()["mueller_12345"]
        self.assertEqual((taken.refused, taken.files), ((), {}))
        self.assertIn("larger than 1 MiB", taken.faults["03-bitonic/01_global.cu"])


class OnARoster(Class):
    """Whose a submission is."""

    def students(self, people: str, *names: str) -> dict[str, str]:
        """The folder or file of each student, of submissions with these names."""
        for name in names:
            self.write(name if name.endswith((".zip", ".cu")) else f"{name}/a.cu")
        self.handed = {one.student: one for one in handed_in.find(self.folder, self.roster(people))[0]}
        return {student: one.path.name for student, one in self.handed.items()}

    def test_ids_and_names(self) -> None:
        people = "id;name;login\n1001;Anna Müller;amueller-tum\n1002;Müller, Ben;\n1003;Zoë de Groot;\n1004;;cem\n"
        found = self.students(
            people,
            "muellerben_55555_77777_01_global.cu",
            "Zoe de Groot_4711_assignsubmission_file_",
            "cuda-fall-lab03-amueller-tum",
            "1004",
        )
        self.assertEqual(sorted(found), ["1001", "1002", "1003", "1004"])
        self.assertTrue(found["1001"].startswith("cuda"))
        self.assertTrue(found["1002"].startswith("muellerben"))

    def test_an_id_that_is_somebody_elses(self) -> None:
        """Platforms number students, too: a number counts only if the name, where both are known, is the same."""
        people = "id,name\n4711,Ben Groß\n4712,Anna Muster\n"
        found = self.students(people, "Anna Muster_4711_assignsubmission_file_")
        self.assertEqual(list(found), ["4712"])

    def test_logins_that_are_no_names(self) -> None:
        """A clone or a folder that is named after an id belongs to that student, whatever the student is called."""
        people = "id,name,login\n1001,Anna Müller,xx-coder\n1002,Ben Groß,\n"
        found = self.students(people, "cuda-lab03-xx-coder", "1002")
        self.assertEqual(found, {"1001": "cuda-lab03-xx-coder", "1002": "1002"})

    def test_a_number_beside_the_name(self) -> None:
        """As people name folders. The name must be that of the student with this id, or the number is not an id."""
        people = "id,name\n1001,Anna Müller\n1002,Ben Groß\n1003,\n"
        found = self.students(people, "1001 Anna Mueller.zip", "ben_1002", "hw-1003")
        self.assertEqual(found, {"1001": "1001 Anna Mueller.zip", "1002": "ben_1002", "1003": "hw-1003"})

    def test_a_number_of_somebody_else(self) -> None:
        people = "id,name\n1001,Anna Müller\n1002,Ben Groß\n"
        found = self.students(people, "1002 Anna Müller", "Ben Groß 1001")
        self.assertEqual(found, {"1001": "1002 Anna Müller", "1002": "Ben Groß 1001"})

    def test_unknown(self) -> None:
        with self.assertRaisesRegex(Problem, "does not say whose these are: Dora, Emil"):
            self.students("id\nana\n", "ana", "Emil", "Dora")

    def test_two_of_one_name(self) -> None:
        with self.assertRaisesRegex(Problem, "does not say whose"):
            self.students("id,name\n1,Anna Muster\n2,Anna Muster\n", "Anna Muster")

    def test_several_attempts(self) -> None:
        found = self.students("id\nana\n", "ana.zip", "ana (2).zip", "ana (10).zip")
        self.assertEqual(found, {"ana": "ana (10).zip"})
        self.assertEqual(
            self.handed["ana"].notes, ("of several attempts, ana (10).zip counts, not ana.zip, ana (2).zip",)
        )
        self.assertEqual(self.students("id,attempt\nana,2\n"), {"ana": "ana (2).zip"})
        self.assertEqual(self.students("id,attempt\nana,ana.zip\n"), {"ana": "ana.zip"})
        with self.assertRaisesRegex(Problem, "there is no attempt '4' of ana; there are: ana.zip"):
            self.students("id,attempt\nana,4\n")

    def test_attempts_without_an_order(self) -> None:
        with self.assertRaisesRegex(Problem, "one group 'A', of which there are several submissions: ana, ben"):
            self.students("id,group\nana,A\nben,A\n", "ana", "ben")
        self.assertEqual(self.students("id,group,attempt\nana,A,\nben,A,ben\n"), {"ben": "ben"})
        self.assertEqual(self.handed["ben"].everyone, ("ben", "ana"))

    def test_nothing_handed_in(self) -> None:
        self.assertEqual(self.students("id\nana\n"), {})
        self.write("02_shared.cu")
        with self.assertRaisesRegex(Problem, "has no submissions"):
            self.students("id\nana\n")


@needs_git
class InGit(Folder):
    """Clones of repositories."""

    def clone(self, name: str, date: str, packed: bool) -> Path:
        """A clone whose last commit is from this time."""
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.folder), "GIT_COMMITTER_DATE": date,
            **{f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }  # fmt: skip
        first = self.folder.parent / "first" / name
        first.mkdir(parents=True)
        (first / "02_shared.cu").write_text("// mine\n")
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "mine"]):
            subprocess.run(["git", "-C", str(first), *words], env=environment, check=True)
        if packed:
            subprocess.run(["git", "-C", str(first), "gc", "-q"], env=environment, check=True)
            subprocess.run(["git", "-C", str(first), "pack-refs", "--all"], env=environment, check=True)
        target = self.folder / name
        subprocess.run(["git", "clone", "-q", str(first), str(target)], env=environment, check=True)
        return target

    def at(self, name: str) -> datetime | None:
        """When a clone says that it was handed in."""
        return handed_in.of_path(self.folder / name).at

    def test_time_of_the_last_commit(self) -> None:
        for name, packed in (("cuda-lab03-ana", False), ("cuda-lab03-ben", True)):
            self.clone(name, "2026-11-20T10:00:00+0100", packed)
            expected = datetime(2026, 11, 20, 10, tzinfo=timezone(timedelta(hours=1)))
            self.assertEqual(self.at(name), expected)
        self.assertEqual(self.read("cuda-lab03-ana").files, {SHARED: "// mine\n"})

    def test_nothing_of_a_clone_runs(self) -> None:
        """Neither its hooks nor what its configuration names."""
        git = self.clone("eve", "2026-11-20T10:00:00+0100", False) / ".git"
        trap = self.folder / "trap"
        trap.write_text(f"#!/bin/sh\ntouch {self.folder}/ran\n")
        trap.chmod(0o755)
        settings = f"[core]\n fsmonitor = {trap}\n[log]\n showSignature = true\n[gpg]\n program = {trap}\n"
        with open(git / "config", "a") as config:
            config.write(f"{settings}[extensions]\n partialClone = origin\n[core]\n sshCommand = {trap}\n")
        self.assertIsNotNone(self.at("eve"))
        self.assertFalse((self.folder / "ran").exists())

    def test_damaged(self) -> None:
        git = self.clone("eve", "2026-11-20T10:00:00+0100", False) / ".git"
        for head in ("ref: refs/../../../etc/passwd\n", "ref: refs/heads/nothing\n", "0" * 40, "", "-x"):
            (git / "HEAD").write_text(head)
            self.assertIsNone(self.at("eve"), head)
        (git / "HEAD").unlink()
        (git / "HEAD").symlink_to("/etc/passwd")
        self.assertIsNone(self.at("eve"))


if __name__ == "__main__":
    unittest.main()
