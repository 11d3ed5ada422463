"""The release for students: what it leaves out, its self-check, and the folders that it refuses."""

import re
import unittest
from unittest import mock

from in_folder import InFolder

from workbook.core import starters
from workbook.core.console import Problem
from workbook.core.course import ROOT, labs
from workbook.release import contents, leaks, links
from workbook.verbs import release

SOLUTION = "solutions/03-bitonic/02_shared.cu"


def block_of_solution() -> list[str]:
    """Lines between the markers of a solution."""
    text = (ROOT / SOLUTION).read_text(encoding="utf-8")
    block = text.split(starters.BEGIN)[1].split(starters.END)[0]
    return [line for line in block.splitlines() if line.strip() and starters.INSTEAD not in line]


def setUpModule() -> None:
    """A release is made of the files that git tracks."""
    try:
        contents.tracked()
    except Problem as problem:
        raise unittest.SkipTest(str(problem)) from problem


class Contents(InFolder):
    """Which files a release has."""

    given: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.given = contents.for_students(contents.tracked())

    def test_left_out(self) -> None:
        """Nothing that is made from the solutions, and nothing that only an instructor uses."""
        for part in ("solutions", "NOTES", "mutations", "mistakes", "tests/labs", "rubric", "grading", "CHANGELOG"):
            self.assertEqual([place for place in self.given if part in place], [], part)
        for lab in labs():
            self.assertEqual([place for place in self.given if place.startswith(f"labs/{lab}/report/")], [])

    def test_each_pattern_is_needed(self) -> None:
        """A pattern that leaves out nothing is a mistyped one, or that of a file that has moved."""
        names = contents.tracked()
        reserved = {r"labs/[^/]+/report/"}  # what `report` writes there for an instructor is not committed
        for pattern in set(contents.LEFT_OUT) - reserved:
            self.assertTrue([name for name in names if re.match(pattern, name)], pattern)

    def test_what_students_need(self) -> None:
        for place in (
            "README.md",
            "workbook",
            "meson.build",
            "labs/README.md",
            "labs/03-bitonic/02_shared.cu",
            "labs/03-bitonic/bug_hunt.cu",
            "common/workbook/verbs/check.py",
            "common/workbook/inspection/allowed.txt",
            "HANDING_IN.md",
            "tests/graded/graded.cpp",
            "reports/templates/report.md",
            ".github/workflows/public-tests.yml",
        ):
            self.assertIn(place, self.given)
        self.assertEqual(self.given["README.md"], "solutions/release/README.md")
        self.assertIn("labs/03-bitonic/REFERENCE.md", contents.for_students(["labs/03-bitonic/REFERENCE.md"]))

    def test_the_documents_name_no_solution(self) -> None:
        for place in ("README.md", "HANDING_IN.md"):
            self.assertNotIn("solution", (ROOT / self.given[place]).read_text(encoding="utf-8"))


class Release(InFolder):
    """The whole release, without building it."""

    def test_starters_and_modes(self) -> None:
        """A file in labs/ that somebody has filled in is replaced by its starter."""
        out = self.folder / "course"
        files = release.write(out)
        self.assertEqual(files, sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()))
        for path, text in starters.all_starters().items():
            self.assertEqual((out / "labs" / path).read_text(encoding="utf-8"), text)
        self.assertTrue((out / "workbook").stat().st_mode & 0o111)
        self.assertFalse((out / ".git").exists())
        self.assertEqual([path.name for path in self.folder.iterdir()], ["course"])

    def test_a_filled_starter_is_not_copied(self) -> None:
        root = self.folder / "workbook"
        for place in ("labs", "solutions"):
            (root / place / "03-bitonic").mkdir(parents=True)
        (root / SOLUTION).write_text((ROOT / SOLUTION).read_text(encoding="utf-8"), encoding="utf-8")
        (root / "labs/03-bitonic/02_shared.cu").write_text("// filled in\n")
        contents.copy({"labs/03-bitonic/02_shared.cu": "labs/03-bitonic/02_shared.cu"}, self.folder / "out", root)
        made = (self.folder / "out/labs/03-bitonic/02_shared.cu").read_text(encoding="utf-8")
        self.assertIn("// Your code", made)

    def test_a_leak_leaves_nothing_behind(self) -> None:
        leak = leaks.Leak("a.txt", SOLUTION, "x = 1;")
        with (
            mock.patch.object(leaks, "find", return_value=[leak]),
            self.assertRaisesRegex(Problem, "a.txt holds a part"),
        ):
            release.write(self.folder / "course")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_refused_folders(self) -> None:
        used = self.folder / "used"
        used.mkdir()
        (used / "mine").touch()
        (self.folder / "file").touch()
        (self.folder / "link").symlink_to(self.folder / "elsewhere")
        for folder, words in {
            used: "is not empty",
            self.folder / "file": "is not a folder",
            self.folder / "link": "is not a folder",
            self.folder / "no/such/parent": "does not exist",
            ROOT: "is in the workbook itself",
            ROOT / "course": "is in the workbook itself",
            ROOT / "labs/../course": "is in the workbook itself",
        }.items():
            with self.subTest(folder=folder), self.assertRaisesRegex(Problem, words):
                contents.require_free(folder)
        empty = self.folder / "empty"
        empty.mkdir()
        contents.require_free(empty)
        contents.fill(empty, lambda folder: (folder / "new").touch())
        self.assertTrue((empty / "new").is_file())

    def test_without_git(self) -> None:
        with self.assertRaisesRegex(Problem, "is not a git repository"):
            contents.tracked(self.folder)


class Leaks(InFolder):
    """The self-check finds parts of solutions wherever they are."""

    solutions: leaks.Solutions

    @classmethod
    def setUpClass(cls) -> None:
        cls.solutions = leaks.Solutions()

    def found(self, text: str) -> list[leaks.Leak]:
        return list(self.solutions.leaks("file", text))

    def test_a_block(self) -> None:
        """Whole, with another layout, with comments, and without its first and last lines."""
        lines = block_of_solution()
        for text in (
            "\n".join(lines),
            "\n\n".join(f"{line}  // {number}" for number, line in enumerate(lines)),
            "\n".join(line.replace(" ", "   ") for line in lines[1:-1]),
        ):
            self.assertIn(SOLUTION, {leak.solution for leak in self.found(f"int x;\n{text}\nint y;\n")})

    def test_a_line_in_a_string(self) -> None:
        """A table in Python that changes lines of a solution holds those lines."""
        for line, solution in self.solutions.lines.items():
            self.assertIn(solution, [leak.solution for leak in self.found(f'    ("{line}", "{line[:20]}"),\n')])
        self.assertGreater(len(self.solutions.lines), 100)

    def test_every_solution_is_found(self) -> None:
        """Each block that is longer than a few lines is found by itself, in each solution."""
        checked = 0
        for path in starters.all_starters():
            for block in leaks.blocks((ROOT / "solutions" / path).read_text(encoding="utf-8")):
                long = [line for line in block if len(line) >= leaks.LINE]
                if len(long) >= leaks.RUN and len("".join(long)) >= 2 * leaks.RUN_LENGTH:
                    checked += 1
                    self.assertTrue(self.found("\n".join(block)), f"{path}: {block[0]}")
        self.assertGreater(checked, 40)

    def test_code_with_other_names(self) -> None:
        """A gap whose names and layout have been changed is found; so are those that are allowed to be alike."""
        names = "\n".join(re.sub("//.*", "", line) for line in block_of_solution())
        for word, other in (("tile", "buffer"), ("stride", "distance"), ("i", "position")):
            names = re.sub(rf"\b{word}\b", other, names)
        code = names.replace("\n", " ").replace(";", ";\n")
        found = list(self.solutions.leaks("labs/x.cuh", f"void f() {{ {code} }}"))
        self.assertIn(SOLUTION, {leak.solution for leak in found})
        for file in leaks.MAY_BE_ALIKE:
            text = (ROOT / file).read_text(encoding="utf-8")
            self.assertTrue(list(self.solutions.leaks(f"not/{file}", text)), f"{file} need not be allowed any more")

    def test_what_students_get(self) -> None:
        """No gap's solution is in another file of labs/ or common/ that is handed out."""
        given = contents.for_students(contents.tracked())
        files = [file for file in given if file.startswith(("labs/", "common/"))]
        self.assertEqual([str(leak) for leak in leaks.find(ROOT, files)], [])

    def test_starters_and_other_code(self) -> None:
        for path, text in starters.all_starters().items():
            self.assertEqual(self.found(text), [], path)
        self.assertEqual(
            self.found("for (int i = threadIdx.x; i < count; i += blockDim.x) {\n  __syncthreads();\n}\n"), []
        )


class Links(InFolder):
    """Links of documents."""

    def dead(self, text: str) -> list[str]:
        (self.folder / "a.md").write_text(text)
        return links.dead(self.folder, ["a.md", "b.md", "c.txt"])

    def test_all_documents(self) -> None:
        """Those of the release are checked where they will be."""
        own = [name for name in contents.tracked() if name not in contents.OWN]
        self.assertGreater(len([name for name in own if name.endswith(".md")]), len(labs()))
        self.assertEqual(links.dead(ROOT, own), [])

    def test_dead_and_alive(self) -> None:
        (self.folder / "b.md").write_text("# One\n\n## Two words, `code`: more\n\n## One\n")
        (self.folder / "sub").mkdir()
        alive = (
            "b.md",
            "./b.md#one",
            "b.md#two-words-code-more",
            "b.md#one-1",
            "sub/",
            "#here",
            "https://example.org/x",
        )
        self.assertEqual(self.dead("# Here\n" + "".join(f"[x]({link})\n" for link in alive)), [])
        for link in ("c.md", "b.md#three", "#nowhere", "../outside.md", "/etc/passwd", "sub/d.svg"):
            self.assertEqual(len(self.dead(f"# Here\n\n| a |\n|---|\n| **[x]({link})** |\n")), 1, link)
        self.assertEqual(self.dead("![picture](no.svg)"), ["a.md: the link no.svg leads nowhere"])
        self.assertEqual(
            self.dead("[text][1] ![p][2]\n\n[1]: gone.md\n[2]: b.md\n"), ["a.md: the link gone.md leads nowhere"]
        )
