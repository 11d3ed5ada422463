"""The course as static pages: no solutions in them, no link that leads nowhere, nothing from elsewhere."""

import base64
import html
import os
import re
import unittest
from pathlib import Path
from unittest import mock

from in_folder import InFolder, needs_clone, run_cli
from test_play import decoded

from workbook.core import build, starters
from workbook.core.console import Problem
from workbook.core.course import BUILD, ROOT, find_step, labs, steps
from workbook.release import contents, leaks, links, players, site
from workbook.verbs import release

HERE = Path(os.environ.get("WORKBOOK_TEST_BUILD", BUILD))
LAB = "03-bitonic"


def solutions() -> dict[str, str]:
    """Path below solutions/ -> text."""
    return {path.as_posix(): (ROOT / "solutions" / path).read_text() for path in starters.all_starters()}


class Places(unittest.TestCase):
    """Where the lines of a solution are in its starter."""

    def test_given_lines_are_the_same_and_others_are_at_their_gap(self) -> None:
        given = written = 0
        for name, text in solutions().items():
            shown = starters.starter(text).splitlines()
            inside = False
            for number, line in enumerate(text.splitlines(), 1):
                word, found = line.strip(), shown[starters.line_in_starter(text, number, name) - 1]
                if word in (starters.BEGIN, starters.END):
                    inside = word == starters.BEGIN
                elif word.startswith((starters.INSTEAD, starters.LEFT_OUT)):
                    continue
                elif inside:
                    written += 1
                    self.assertTrue(found in text.splitlines() or f"{starters.INSTEAD} {found.strip()}" in text, line)
                else:
                    given += 1
                    self.assertEqual(found, line, f"{name}:{number}")
        self.assertGreater(min(given, written), 500)

    def test_a_trace_names_no_solution(self) -> None:
        name = f"{LAB}/02_shared.cu"
        text = solutions()[name].splitlines()
        begin = text.index(next(line for line in text if line.strip() == starters.BEGIN)) + 1
        trace = f'{{"line":[1,"solutions/{name}:{begin + 5}"]}}\n{{"line":[2,"common/step/keys.h:7"]}}\n'
        made = players.without_solutions(trace)
        self.assertIn('"common/step/keys.h:7"', made)
        found = re.search(rf'"labs/{name}:(\d+)"', made)
        assert found
        near = starters.starter(solutions()[name]).splitlines()[int(found[1]) - 5 : int(found[1])]
        self.assertTrue(any("Your code" in line for line in near), near)
        self.assertNotIn("solutions", made)


@needs_clone
class Players(InFolder):
    """The page of a step."""

    def setUp(self) -> None:
        super().setUp()
        self.enter(mock.patch.object(build, "BUILD", HERE))
        self.enter(mock.patch.object(build, "ensure"))
        self.enter(mock.patch.object(build, "kinds", lambda: ["cpu"]))
        self.enter(mock.patch.object(build, "compile_targets"))
        if not build.runner(LAB, "check", solution=True).is_file():
            raise unittest.SkipTest(f"the solution of lab {LAB} is not built here")

    def test_it_shows_starters_only(self) -> None:
        root = self.folder / "course"
        contents.copy(contents.for_students(contents.tracked()), root)
        for solution in (False, True):
            text = players.player(find_step(LAB, 2), root, solution, {"back": ["../index.html", "back"]})
            packed = re.search(r'id="events">([^<]+)<', text)
            assert packed
            about = decoded(base64.b64decode(packed[1]))
            self.assertEqual("solutions/" in str(about), solution)
            own = f"{'solutions' if solution else 'labs'}/{LAB}/02_shared.cu"
            self.assertIn(own, about["files"])
            self.assertIn("A correct run of this step.", about["window"])
            said = "\n".join(
                links.Page("\n".join(source["lines"])).text + "\n" + name for name, source in about["files"].items()
            )
            found = list(leaks.Solutions().leaks("player.cu", said))
            self.assertEqual(bool(found), solution)
            self.assertEqual("solution" in f"{said}{about['places']}{about['command']}{about['title']}", solution)
            lines = {line for place in about["places"] for line in place if line.startswith(own)}
            self.assertGreater(len(lines), 1)

    def test_a_step_without_kernels_has_none(self) -> None:
        if not build.runner("05-radix", "check", solution=True).is_file():
            raise unittest.SkipTest("the solution of lab 05-radix is not built here")
        with self.assertRaisesRegex(Problem, "no kernel accesse"):
            players.player(find_step("05-radix", 0), self.folder, False, {})


@needs_clone
class Pages(InFolder):
    """All pages but the players."""

    def setUp(self) -> None:
        super().setUp()
        self.root, self.out = self.folder / "course", self.folder / "pages"
        self.out.mkdir()
        contents.copy(contents.for_students(contents.tracked()), self.root)

    def test_the_whole_course(self) -> None:
        with mock.patch.object(players, "player", return_value="<!DOCTYPE html><title>p</title>"):
            files = site.write(self.root, self.out)
        self.assertEqual(links.dead_in_pages(self.out, links.pages_in(self.out, files)), [])
        for lab in labs():
            for name in ("index.html", "REFERENCE.html", "bug_hunt.cu.html"):
                self.assertIn(f"labs/{lab}/{name}", files)
            for step in steps(lab):
                self.assertIn(f"labs/{step.file}.html", files)
                self.assertIn(f"players/{lab}-{step.number:02}.html", files)
        self.assertIn("reports/results/h200/gold.svg", files)
        self.assertEqual([file for file in files if re.search("solution|NOTES|mutation|mistake", file)], [])
        handout = (self.out / f"labs/{LAB}/index.html").read_text()
        self.assertIn(f'href="../../players/{LAB}-02.html"', handout)
        self.assertIn("A player replays a correct run", handout)
        for file in files:
            if file.endswith(".html") and not file.startswith("players/"):
                text = (self.out / file).read_text()
                self.assertNotIn("EventSource", text)
                self.assertNotIn("work.js", text)
                self.assertNotIn(str(ROOT), text)

    def test_without_players(self) -> None:
        with mock.patch.object(players, "player", side_effect=AssertionError):
            self.assertEqual(site.write_players(self.root, self.out, "none"), {})

    def test_a_solution_in_a_page_is_found(self) -> None:
        block = solutions()[f"{LAB}/02_shared.cu"].split(starters.BEGIN)[1].split(starters.END)[0]
        (self.out / "a.html").write_text(f"<pre>{html.escape(block)}</pre>")
        with self.assertRaisesRegex(Problem, f"a.html holds a part of solutions/{LAB}/02_shared.cu"):
            site.check_pages(self.out, ["a.html"])

    def test_dead_links_and_what_is_loaded_from_elsewhere(self) -> None:
        (self.folder / "b.html").write_text('<h1 id="one">1</h1>')
        (self.folder / "p.svg").touch()
        alive = '<a href="b.html#one">x</a><a href="#me" id="me">x</a><img src="p.svg"><img src="data:,"><a href="https://x.org">'
        dead = ('<a href="c.html">', '<a href="b.html#two">', '<a href="#you">', '<img src="q.svg">', '<a href="../x">')
        outside = ('<img src="https://x.org/p.svg">', '<script src="//x.org/p.js">', '<link href="http://x.org/a.css">')
        for text, faults in [(alive, 0), *((text, 1) for text in (*dead, *outside))]:
            (self.folder / "a.html").write_text(text)
            found = links.dead_in_pages(self.folder, links.pages_in(self.folder, ["a.html", "b.html"]))
            self.assertEqual(len(found), faults, f"{text}: {found}")

    def test_what_a_reader_sees(self) -> None:
        page = "<style>a</style><p>b &lt; <b>c</b></p><script>d</script>e"
        self.assertEqual(links.Page(page).text, "b < ce")


@needs_clone
class Folders(InFolder):
    """Where pages may be written."""

    def test_refused_before_anything_runs(self) -> None:
        (self.folder / "used").mkdir()
        (self.folder / "used/mine").touch()
        self.replace(build, "ensure", lambda: self.fail("the build was set up"))
        used = str(self.folder / "used")
        for words in (("site", used), ("release", str(self.folder / "new"), "--site", used)):
            status, printed = run_cli(*words)
            self.assertEqual((status, "is not empty" in printed), (1, True), printed)
        status, printed = run_cli("release", str(self.folder / "new"), "--site", str(self.folder / "new/pages"))
        self.assertEqual(status, 1, printed)
        self.assertFalse((self.folder / "new").exists())

    def test_with_the_release(self) -> None:
        with mock.patch.object(players, "player", side_effect=Problem("nothing to show")):
            files = release.write(self.folder / "course", self.folder / "pages")
        self.assertIn("labs/README.md", files)
        self.assertTrue((self.folder / "pages/index.html").is_file())
        self.assertEqual(list((self.folder / "pages/players").iterdir()), [])
        self.assertNotIn("A player replays", (self.folder / f"pages/labs/{LAB}/index.html").read_text())
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["course", "pages"])


if __name__ == "__main__":
    unittest.main()
