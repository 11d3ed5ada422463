"""The player's page in Debian's Chromium: it opens, steps, scrubs and finds a race, with the keyboard alone.

    play_in_browser.py BUILD
    play_in_browser.py BUILD --frames    how long frames take for 4096 keys, which no test judges

Exits with 77, which Meson counts as "not run", where Chromium, its driver or the package selenium is missing.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import unittest
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests/workbook")]

import traces  # noqa: E402

from workbook.core.judge_client import JudgeClient  # noqa: E402
from workbook.core.judge_types import Case, Outcome  # noqa: E402
from workbook.pictures import trace  # noqa: E402
from workbook.pictures.recorded import observe  # noqa: E402
from workbook.player.page import page  # noqa: E402
from workbook.player.replay import Replay  # noqa: E402

SKIPPED = 77
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
VIEWS = [(width, scheme) for width in (400, 1280) for scheme in ("light", "dark")]
PIECE = 200  # cells that a step may draw again: those of two requests of 32 lanes, and what they cover
SECONDS = 60  # a hang ends after these

WAITING = ["lane 0 waits at a.cu:9", "lane 2 waits at a.cu:9"]
BUILD = Path()


def written(folder: Path, name: str, recorded: trace.Trace, **about: Any) -> str:
    """The address of a page of this run."""
    known = {"title": name, "window": "The whole run.", "command": "./workbook play", "run": {"program": name}}
    path = folder / f"{name}.html"
    path.write_text(page(Replay(recorded, "u32", 4), name, {**known, **about}, [ROOT]), encoding="utf-8")
    return path.as_uri()


def racing() -> trace.Trace:
    """Lane 0 writes what lane 1 then reads; two lanes of three wait at a barrier."""
    records = [traces.store(0, 0, 1, 4, 5), traces.load(0, 1, 2, 4, 5), {"race": [1, 2, 0, 0, 1]}]
    records += [{"waits": [0, "a.cu:9"]}, {"waits": [2, "a.cu:9"]}, traces.line(1, "a.cu:7"), traces.line(2, "a.cu:8")]
    records += [traces.finding("race", "a.cu:8", 2, 2, 1), traces.finding("divergent-barrier", "a.cu:9", 2)]
    begin = (traces.VERSION, traces.launch(), {"block": 0}, traces.array(0, "shared", "tile", 256))
    return trace.read(traces.text(*begin, *records))


def racing_in_a_loop() -> trace.Trace:
    """Lane 0 writes in the next round of a loop what lane 1 then reads, and each round has a barrier in between."""
    records = [
        {"barrier": "a.cu:7"},
        traces.store(0, 0, 1, 4, 5),
        traces.load(0, 1, 2, 4, 5),
        {"race": [1, 2, 0, 0, 1]},
    ]
    records += [traces.line(1, "a.cu:5"), traces.line(2, "a.cu:8"), traces.finding("race", "a.cu:8", 2, 2, 1)]
    begin = (traces.VERSION, traces.launch(), {"block": 0}, traces.array(0, "shared", "tile", 256))
    return trace.read(traces.text(*begin, *records))


def sorted_tile(n: int) -> tuple[trace.Trace, Outcome]:
    """A run of step 2 of lab 03, which sorts tiles in shared memory."""
    case = Case("03-bitonic", 2, n, input="range:0:99", seed=1)
    with JudgeClient(BUILD / "labs/judge") as judge:
        return observe(judge, BUILD / "labs/03-bitonic-check-solution", case)


@functools.cache
def started() -> Any:
    """The browser of all tests: to start one takes longer than most tests. Its first tab stays empty."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for word in ("--headless=new", "--disable-gpu", "--no-first-run", *(["--no-sandbox"] if os.getuid() == 0 else [])):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER or ""))
    atexit.register(driver.quit)
    driver.set_script_timeout(SECONDS)
    return driver


@contextlib.contextmanager
def browser(width: int = 1280, scheme: str = "light") -> Iterator[Any]:
    """A tab of this width."""
    driver = started()
    driver.switch_to.new_window("tab")
    try:
        for log in ("browser", "performance"):
            driver.get_log(log)  # which empties it
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        yield driver
    finally:
        empty, *opened = driver.window_handles
        for tab in opened:
            driver.switch_to.window(tab)
            driver.close()
        driver.switch_to.window(empty)


def require_clean(test: unittest.TestCase, driver: Any, addresses: str) -> None:
    """Fails if something was printed to the console, or requested from other addresses than those of a pattern."""
    test.assertEqual(driver.get_log("browser"), [])
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            test.assertRegex(message["params"]["request"]["url"], f"^(?:{addresses})")


class InBrowser(unittest.TestCase):
    """Pages of runs, opened."""

    folder: tempfile.TemporaryDirectory[str]
    race: str  # addresses of pages
    sort: str
    outcome: Outcome

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.race = written(Path(cls.folder.name), "race", racing())
        run, cls.outcome = sorted_tile(64)
        cls.sort = written(Path(cls.folder.name), "sort", run, run={"lab": "03-bitonic", "step": 2, "seed": 1})

    def opened(self, driver: Any, address: str) -> None:
        """Opens a page, and waits until it is drawn."""
        from selenium.webdriver.support.wait import WebDriverWait

        driver.get("about:blank")
        driver.get(address)
        ready = "return document.documentElement.dataset.ready"
        self.assertEqual(WebDriverWait(driver, SECONDS).until(lambda d: d.execute_script(ready)), "yes")
        self.drawn(driver)

    def drawn(self, driver: Any) -> None:
        """Waits for the next frame."""
        driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        )

    def keys(self, driver: Any, *keys: str) -> int:
        """Presses keys, with the page as their target; returns the moment."""
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(driver).send_keys(key).perform()
        self.drawn(driver)
        return self.moment(driver)

    def moment(self, driver: Any) -> int:
        return int(driver.execute_script("return player.model.at"))

    def text(self, driver: Any, name: str) -> str:
        return str(driver.execute_script("return document.getElementById(arguments[0]).textContent", name))

    def values(self, driver: Any, name: str) -> list[str]:
        """The values of an array, as they are drawn."""
        script = """const {model} = player, array = model.about.arrays.find((a) => a.name === arguments[0]);
            return Array.from({length: array.cells}, (_, i) =>
              model.text(model.valueOf(model.holders[array.first + i], array), array.format));"""
        return list(driver.execute_script(script, name))

    def clean(self, driver: Any) -> None:
        """Nothing was printed to the console, and nothing was requested but the page."""
        require_clean(self, driver, r"(file|data|blob|about):")

    def test_it_steps_and_scrubs_with_the_keyboard_alone(self) -> None:
        from selenium.webdriver.common.keys import Keys

        for width, scheme in VIEWS:
            with self.subTest(width=width, scheme=scheme), browser(width, scheme) as driver:
                self.opened(driver, self.sort)
                self.assertLessEqual(driver.execute_script("return document.documentElement.scrollWidth"), width)
                self.assertIn("Launch 0 begins", self.text(driver, "sentence"))
                forward = [self.keys(driver, Keys.ARROW_RIGHT) for _ in range(12)]
                self.assertEqual(forward, sorted(set(forward)))
                self.assertIn("lanes", self.text(driver, "sentence"))
                back = [self.keys(driver, Keys.ARROW_LEFT) for _ in range(11)]
                self.assertEqual(back, forward[-2::-1])
                for unit, step in enumerate((1, 32, 64), 1):
                    self.keys(driver, Keys.HOME)
                    first = self.keys(driver, str(unit), Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
                    self.assertEqual(self.keys(driver, Keys.ARROW_RIGHT) - first, step, unit)
                last = self.keys(driver, Keys.END)
                self.assertEqual(last, driver.execute_script("return player.model.length - 1"))
                keys = self.values(driver, "keys")
                self.assertEqual(keys, sorted(keys, key=int))
                self.assertEqual(
                    self.keys(driver, "4", Keys.ARROW_LEFT), last - 129
                )  # 64 loads, 64 stores, and a barrier
                driver.execute_script("document.getElementById('scrubber').focus()")
                self.keys(driver, Keys.HOME)
                self.assertEqual(self.moment(driver), 0)
                self.assertNotEqual(self.values(driver, "keys"), keys)
                self.assertEqual(sorted(self.values(driver, "keys"), key=int), keys)
                self.clean(driver)

    def test_it_opens_at_a_race_and_names_who_waits(self) -> None:
        for width, scheme in VIEWS:
            with self.subTest(width=width, scheme=scheme), browser(width, scheme) as driver:
                self.opened(driver, self.race)
                self.assertLessEqual(driver.execute_script("return document.documentElement.scrollWidth"), width)
                self.assertIn("A race.", self.text(driver, "sentence"))
                findings = self.text(driver, "findings")
                self.assertIn("the later access: thread 1 reads tile[1]: 5, line 8", findings)
                self.assertIn("the earlier access: thread 0 writes tile[1]: 5, line 7", findings)
                self.keys(driver, "g")
                lanes = driver.find_elements("css selector", "#lanes li.waits")
                self.assertEqual([lane.get_attribute("aria-label") for lane in lanes], WAITING)
                self.clean(driver)

    def test_a_finding_without_a_moment_is_shown_all_the_same(self) -> None:
        begin = (traces.VERSION, traces.launch(), {"block": 0}, traces.array(0, "shared", "tile", 256))
        late = traces.text(*begin, traces.store(0, 0, 1, 0, 5), traces.finding("race", "a.cu:8", -1, 8, 9))
        with browser() as driver:
            self.opened(driver, written(Path(self.folder.name), "late", trace.read(late)))
            self.assertIn("put __syncthreads() between", self.text(driver, "findings"))
            self.assertIn("not in this part of the run", self.text(driver, "findings"))
            self.assertEqual(self.moment(driver), 0)
            self.clean(driver)

    def test_a_wrong_result_is_said_and_opened_at_its_last_write(self) -> None:
        begin = (traces.VERSION, traces.launch(), {"block": 0}, traces.array(1, "global", "keys", 256))
        stores = [traces.store(1, 0, 1, 8, 5), traces.store(1, 1, 1, 8, 6), traces.store(1, 2, 1, 12, 7)]
        replay = Replay(trace.read(traces.text(*begin, *stores)), "u32", 4)
        replay.add_wrong_result("wrong key at index 2 of 64: 6 instead of 5", "keys", 2)
        about = {"window": "", "command": "", "run": {}, "verdict": "The result is wrong: wrong key at index 2."}
        path = Path(self.folder.name) / "wrong.html"
        path.write_text(page(replay, "wrong", {"title": "wrong", **about}), encoding="utf-8")
        for width, scheme in VIEWS:
            with self.subTest(width=width, scheme=scheme), browser(width, scheme) as driver:
                self.opened(driver, path.as_uri())
                self.assertLessEqual(driver.execute_script("return document.documentElement.scrollWidth"), width)
                shown = driver.find_element("id", "verdict")
                self.assertTrue(shown.is_displayed())
                self.assertEqual(shown.text, about["verdict"])
                self.assertEqual(self.moment(driver), 3)
                self.assertIn("keys[2] = 6. Last written by block 0, thread 1", self.text(driver, "cell"))
                self.clean(driver)

    def test_elements_that_are_left_out_are_a_gap_in_the_row(self) -> None:
        name = "the array allocated at a.cu:7"
        begin = (traces.VERSION, traces.launch(), {"block": 0}, traces.array(1, "global", name, 4096, 6))
        stores = [traces.store(1, t, 1, offset, t) for t, offset in enumerate((0, 4, 4000, 4004))]
        with browser() as driver:
            self.opened(driver, written(Path(self.folder.name), "gap", trace.read(traces.text(*begin, *stores))))
            found = driver.execute_script(
                """const [view] = player.arrays, {first} = view.array;
                const cell = (k) => view.at(first + k).x, box = view.canvas.getBoundingClientRect();
                const press = (slot) =>
                  view.cellAt({clientX: box.left + view.atSlot(slot).x + 3, clientY: box.top + 9});
                return [view.slots, cell(1) - cell(0), cell(2) - cell(1), press(1) - first, press(2), press(3) - first,
                        player.model.nameOf(first + 2)];"""
            )
            slots, next_to, across, *pressed, named = found
            self.assertEqual((slots, across, pressed), (5, 2 * next_to, [1, -1, 2]))
            self.assertEqual(named, f"element 1000 of {name}")
            self.clean(driver)

    def test_an_element_is_named_as_in_the_source(self) -> None:
        with browser() as driver:
            self.opened(driver, self.race)
            names = ["tile", "tile of turn", "x (allocation 2)", "dynamic shared memory", "allocation 7"]
            shown = driver.execute_script("return arguments[0].map((name) => elementOf(name, 3))", names)
            self.assertEqual(
                shown,
                ["tile[3]", "tile[3] of turn", "x[3] (allocation 2)", "element 3 of dynamic shared memory",
                 "element 3 of allocation 7"],
            )  # fmt: skip

    def test_a_link_holds_the_moment(self) -> None:
        with browser() as driver:
            self.opened(driver, f"{self.sort}#lab=03-bitonic&step=2&seed=1&moment=100&step_by=line")
            self.assertEqual(self.moment(driver), 100)
            self.assertEqual(driver.execute_script("return player.unit"), "line")
            self.opened(driver, f"{self.sort}#lab=03-bitonic&step=2&seed=8&moment=100")
            self.assertIn("another run: seed 8", self.text(driver, "other-run"))
            self.assertEqual(self.moment(driver), 0)
            self.clean(driver)

    def test_a_value_is_followed(self) -> None:
        from selenium.webdriver.common.keys import Keys

        with browser() as driver:
            self.opened(driver, self.sort)
            driver.execute_script("document.querySelectorAll('.scroll')[1].focus()")  # the keys
            self.keys(driver, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ENTER)
            first = self.values(driver, "keys")[1]
            self.assertIn(f"keys[1] = {first}", self.text(driver, "cell"))
            path = driver.execute_script("return player.path.map((e) => player.words.element(e))")
            self.assertEqual(path[0], "keys[1]")
            self.assertTrue(path[-1].startswith("keys["), path)
            driver.execute_script("document.activeElement.blur()")
            self.keys(driver, Keys.END)
            values = self.values(driver, "keys")
            self.assertEqual(values[int(path[-1][5:-1])], first)
            self.clean(driver)

    def test_where_the_barrier_of_a_race_is_missing(self) -> None:
        loop = written(Path(self.folder.name), "loop", racing_in_a_loop())
        with browser() as driver:
            for address, words in (
                (self.race, "the later access; __syncthreads() is missing between the two"),
                (loop, "the later access; __syncthreads() is missing after this, before line 5 is executed again"),
            ):
                self.opened(driver, address)
                marks = driver.execute_script("return player.findings.marks().map((mark) => mark.label)")
                self.assertEqual(marks, [words, "the earlier access"])
            self.clean(driver)

    def test_the_next_request_that_costs_too_much(self) -> None:
        from selenium.webdriver.common.keys import Keys

        with browser() as driver:
            self.opened(driver, self.sort)
            self.keys(driver, Keys.HOME)
            moments = [self.keys(driver, "c") for _ in range(3)]
            self.assertEqual(moments, sorted(set(moments)))
            self.assertIn("a bank conflict", self.text(driver, "cost"))
            self.keys(driver, Keys.END)
            self.assertEqual(self.keys(driver, "c"), moments[0])
            driver.execute_script("document.getElementById('costly').click()")  # the controls may cover it
            self.drawn(driver)
            self.assertEqual(self.moment(driver), moments[1])
            self.clean(driver)

    def test_a_step_draws_few_cells(self) -> None:
        with browser() as driver:
            self.opened(driver, self.sort)
            counts = driver.execute_script(
                """const counts = [];
                while (player.model.at < player.model.length - 1) {
                  player.model.moveTo(player.model.step("request", 1));
                  player.draw();
                  counts.push(player.stats.cells);
                }
                player.draw();
                return [...counts, player.stats.cells];"""
            )
            self.assertGreater(len(counts), 100)
            self.assertLessEqual(max(counts[1:]), PIECE)
            self.assertEqual(counts[-1], 0)  # nothing has changed

    def test_any_moment_is_as_if_it_had_been_reached_step_by_step(self) -> None:
        with browser() as driver:
            self.opened(driver, self.sort)
            differ = driver.execute_script(
                """const {model} = player, states = [];
                for (let event = 0; event < model.length; ++event) {
                  model.moveTo(event);
                  states.push(model.holders.join());
                }
                let differ = 0;
                for (let event = 7; event !== 0; event = (event * 389 + 7) % model.length) {
                  model.moveTo(event);
                  differ += model.holders.join() !== states[event];
                }
                return [differ, new Set(states).size];"""
            )
            self.assertEqual(differ[0], 0)
            self.assertGreater(differ[1], 500)

    def test_costs_are_those_that_the_check_build_counts(self) -> None:
        with browser() as driver:
            self.opened(driver, self.sort)
            found = driver.execute_script(
                """const {model} = player, sums = {};
                for (let event = 0; event < model.length; event = model.requestEnd[event] + 1) {
                  if (!model.isAccess(event)) continue;
                  const cost = costOf(model, model.request(event));
                  const way = model.columns.kind[event] === LOAD ? "ld" : "st";
                  const name = `${cost.space}_${way}_` + (cost.space === "shared" ? "wavefronts" : "sectors");
                  sums[name] = (sums[name] ?? 0) + cost.actual;
                }
                return sums;"""
            )
            known: Counter[str] = Counter()
            for launch in self.outcome.launches:
                known.update({name: launch[name] for name in found})
            self.assertEqual(found, dict(known))
            self.assertEqual(len(found), 4)

    def test_a_number_is_never_cut_off(self) -> None:
        with browser() as driver:
            self.opened(driver, self.sort)
            texts = ["42", "4294967295", "-2147483648", "0.12345", "3→1000000", "0xffff00ff"]
            shown = driver.execute_script("return arguments[0].map((text) => short(text, 5))", texts)
            self.assertEqual(shown, ["42", "4.3e9", "-2e9", "0.123", "…", "…00ff"])

    def test_words_on_the_ramp_can_be_read(self) -> None:
        with browser() as driver:
            self.opened(driver, self.sort)
            colours = driver.execute_script("return RAMP.map(({fill, text}) => [fill, text])")
            for fill, text in colours:
                red, green, blue = (int(part) / 255 for part in fill[4:-1].split())
                linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
                light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
                contrast = (light + 0.05) / 0.05 if text == "#000" else 1.05 / (light + 0.05)
                self.assertGreaterEqual(contrast, 4.5, (fill, text))


FRAMES = """const {model} = player, times = [];
    let moment = 12345;
    for (let frame = 0; frame < 400; ++frame) {
      moment = (moment * 1103515245 + 12345) % 2147483648;
      const start = performance.now();
      model.moveTo(frame < 200 ? moment % model.length : model.step("request", 1));
      player.draw();
      times.push(performance.now() - start);
    }
    const share = (list, part) => list.sort((a, b) => a - b)[Math.floor(part * (list.length - 1))].toFixed(1);
    const [jumps, steps] = [times.slice(0, 200), times.slice(200)];
    return [model.length, share(jumps, 0.5), share(jumps, 0.95), share(steps, 0.5), share(steps, 0.95)];"""


def frames() -> None:
    """Prints how long frames take, in milliseconds."""
    from selenium.webdriver.support.wait import WebDriverWait

    with tempfile.TemporaryDirectory() as folder:
        address = written(Path(folder), "frames", sorted_tile(4096)[0])
        print(f"page: {(Path(folder) / 'frames.html').stat().st_size / 1e6:.2f} MB")
        for width in (400, 1600):
            with browser(width) as driver:
                driver.get(address)
                WebDriverWait(driver, SECONDS).until(lambda d: d.execute_script("return Boolean(window.player)"))
                events, *times = driver.execute_script(FRAMES)
                print(
                    f"{width} px, {events} events: jump to any moment, median {times[0]} ms and 95 % within "
                    f"{times[1]} ms; one request on, median {times[2]} ms and 95 % within {times[3]} ms"
                )


def require_browser() -> None:
    """Exits where there is no browser."""
    missing = [name for name, there in {"chromium": CHROMIUM, "chromedriver": DRIVER}.items() if not there]
    missing += [] if importlib.util.find_spec("selenium") else ["selenium"]
    if missing:
        print(f"not run: {', '.join(missing)} not found; ./workbook test installs what it can")
        sys.exit(SKIPPED)


if __name__ == "__main__":
    require_browser()
    BUILD = Path(sys.argv.pop(1)).resolve()
    if sys.argv[1:] == ["--frames"]:
        frames()
    else:
        unittest.main()
