"""The pages of `open` and of `site` in Debian's Chromium: a handout, a hint, the verdict after a save, the player, with
the keyboard alone.

    open_in_browser.py BUILD

A command that stands for ./workbook gives the verdicts: its own tests are elsewhere. Exits with 77, which Meson counts
as "not run", where Chromium, its driver or the package selenium is missing.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import play_in_browser
from play_in_browser import SECONDS, VIEWS, browser, require_browser
from small_course import LAB, small_course, work_in

from workbook.browser.server import Server
from workbook.core import build
from workbook.core.course import find_step
from workbook.core.progress import ProgressFile
from workbook.release import contents, site

WRONG = "int x;  // WRONG\n"


class Opened(unittest.TestCase):
    """A browser on a small course."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = small_course(Path(folder.name).resolve())
        work = work_in(self.root)
        self.addCleanup(work.close)
        self.server = Server(work)
        self.addCleanup(self.server.server_close)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.shutdown)

    def until(self, driver: Any, script: str) -> Any:
        """Waits for what a script returns."""
        from selenium.webdriver.support.wait import WebDriverWait

        return WebDriverWait(driver, SECONDS).until(lambda d: d.execute_script(f"return {script}"))

    def opened(self, driver: Any, page: str = f"labs/{LAB}/index.html") -> None:
        driver.get(self.server.address + page)
        self.until(driver, "document.querySelectorAll('#steps details, #steps li').length")

    def text(self, driver: Any, selector: str) -> str:
        return str(driver.execute_script("return document.querySelector(arguments[0]).textContent", selector))

    def save(self, text: str) -> None:
        (self.root / "labs" / find_step(LAB, 1, self.root).file).write_text(text)

    def clean(self, driver: Any) -> None:
        """The page fits, nothing was printed to the console, and nothing was requested from elsewhere."""
        width = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
        self.assertLessEqual(width[0], width[1])
        play_in_browser.require_clean(self, driver, rf"{self.server.address}|data:|about:")

    def press(self, driver: Any, selector: str, words: str) -> None:
        """Goes to a button or fold with Tab alone, and presses Enter."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        script = """const {activeElement: here} = document;
            return here.matches(arguments[0]) && here.textContent.includes(arguments[1]);"""
        for _ in range(300):
            ActionChains(driver).send_keys(Keys.TAB).perform()
            if driver.execute_script(script, selector, words):
                ActionChains(driver).send_keys(Keys.ENTER).perform()
                return
        self.fail(f"Tab does not reach {words}")

    def test_a_hint_a_verdict_and_the_player_with_the_keyboard_alone(self) -> None:
        for width, scheme in VIEWS:
            with self.subTest(width=width, scheme=scheme), browser(width, scheme) as driver:
                self.save("int x;\n")
                ProgressFile(self.root / ".workbook", self.root).save_hints_shown(find_step(LAB, 1, self.root), 0)
                self.opened(driver)
                self.assertIn("Lab 01", self.text(driver, "h1"))
                self.until(driver, "document.querySelector('#status').className === 'passed'")
                self.press(driver, "summary", "01 global")
                self.press(driver, "#step-1 button", "int")  # Hint, or Next hint
                self.until(driver, "document.querySelector('#step-1 .hint')")
                self.assertTrue(driver.execute_script("return document.activeElement.closest('#step-1') !== null"))
                self.save(WRONG)
                self.until(driver, "document.querySelector('#status').className === 'failed'")
                self.assertIn("step 01 global: failed (cpu build)", self.text(driver, "#status"))
                link = driver.execute_script("return document.querySelector('#log a').href")
                self.assertTrue(link.endswith(f"{LAB}/01_global.cu.html#L7"), link)
                self.press(driver, "#play-case", "Play the case that failed")
                self.until(driver, "!document.querySelector('#ready').hidden")
                self.until(driver, "document.activeElement.id === 'player'")
                self.clean(driver)
                driver.get(driver.execute_script("return document.querySelector('#player').href"))
                self.assertEqual(self.text(driver, "p"), "7")

    def test_two_windows_show_the_same(self) -> None:
        with browser() as driver:
            self.opened(driver)
            first = driver.current_window_handle
            driver.switch_to.new_window("window")
            self.opened(driver)
            self.save(WRONG)
            for window in (driver.current_window_handle, first):
                driver.switch_to.window(window)
                self.until(driver, "/failed/.test(document.querySelector('#step-1 .verdict').textContent)")
            self.clean(driver)

    def test_when_the_command_has_ended_the_page_says_so(self) -> None:
        with browser() as driver:
            self.opened(driver)
            self.server.work.close()
            self.server.shutdown()
            self.server.server_close()
            self.until(driver, "/still running/.test(document.querySelector('#status').textContent)")

    def test_pages_without_a_panel_fit_and_are_clean(self) -> None:
        for width, scheme in VIEWS:
            with self.subTest(width=width, scheme=scheme), browser(width, scheme) as driver:
                for page in ("labs/index.html", f"labs/{LAB}/REFERENCE.html", f"labs/{LAB}/02_halo.cu.html"):
                    self.opened(driver, page)
                    self.clean(driver)

    def test_static_pages(self) -> None:
        out = self.root / "pages"
        root = self.root / "release"
        contents.copy(contents.for_students(contents.tracked()), root)
        out.mkdir()
        with (
            mock.patch.object(site, "labs", lambda _: [LAB]),
            mock.patch.object(build, "ensure"),
            mock.patch.object(build, "compile_targets"),
        ):
            site.write(root, out)
        for width, scheme in VIEWS:
            with self.subTest(width=width, scheme=scheme), browser(width, scheme) as driver:
                for page in ("index.html", f"labs/{LAB}/index.html", "reports/RESULTS.html"):
                    driver.get((out / page).as_uri())
                    broken = "[...document.images].filter((image) => !image.complete || !image.naturalWidth).length"
                    self.assertEqual(driver.execute_script(f"return {broken}"), 0, page)
                    width_now = driver.execute_script("return document.documentElement.scrollWidth")
                    self.assertLessEqual(width_now, width, page)
                driver.get((out / f"labs/{LAB}/index.html").as_uri())
                driver.find_element("css selector", ".play").click()
                self.until(driver, "document.documentElement.dataset.ready === 'yes'")
                self.assertIn("A correct run of this step.", self.text(driver, "#window"))
                driver.find_element("css selector", "#back a").click()
                self.assertIn("Lab 01", self.text(driver, "h1"))
                play_in_browser.require_clean(self, driver, "file:|data:|about:|blob:")


if __name__ == "__main__":
    require_browser()
    build.use_folder(Path(sys.argv.pop(1)).resolve())
    unittest.main()
