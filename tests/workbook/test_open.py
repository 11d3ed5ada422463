"""The course in the browser: its pages, who may ask for them, and the verdict at every save."""

from __future__ import annotations

import http.client
import json
import os
import posixpath
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from in_folder import InFolder, run_cli
from small_course import LAB, small_course, work_in
from svg_faults import TEXT, contrast

from workbook import cli
from workbook.browser import documents
from workbook.browser.documents import Course
from workbook.browser.server import Server
from workbook.browser.work import Job
from workbook.core.console import Usage
from workbook.core.course import ROOT, find_step, labs
from workbook.core.judge_types import Case, Outcome
from workbook.core.progress import ProgressFile
from workbook.reporting.page import TEMPLATES

HANG = 60.0  # seconds after which a test that hangs fails


class Places(InFolder):
    """Which files have pages, and where."""

    def test_a_place_and_its_page(self) -> None:
        for place, page in {
            "labs/README.md": "labs/index.html",
            "README.md": "index.html",
            "LICENSE": "LICENSE.html",
            f"labs/{LAB}/REFERENCE.md": f"labs/{LAB}/REFERENCE.html",
            f"labs/{LAB}/00_exchange.cu": f"labs/{LAB}/00_exchange.cu.html",
            f"labs/{LAB}/figures/work.svg": f"labs/{LAB}/figures/work.svg",
        }.items():
            self.assertEqual((documents.page_of(place), documents.place_of(page)), (page, place))

    def test_what_is_no_part_of_the_course_has_no_page(self) -> None:
        (self.folder / "labs").mkdir()
        (self.folder / "labs/link.md").symlink_to("/etc/hostname")
        for place in ("/etc/hostname", "../README.md", "labs/../meson.build", ".git/config", "labs/link.md", "labs"):
            self.assertFalse(documents.is_shown(place, self.folder if "link" in place else ROOT), place)
        for place in ("workbook", "meson.build", "solutions/README.md", "tests/meson.build", "build/build.ninja"):
            self.assertFalse(documents.is_shown(place), place)
        for page in ("labs/README.md", "labs/nothing.html", "", "index", "labs/index.html/"):
            self.assertEqual(documents.place_of(page), "", page)


class Pages(unittest.TestCase):
    """Documents and sources as pages."""

    def test_every_link_of_a_handout_leads_to_a_page(self) -> None:
        course = Course(live=True)
        count = 0
        for place in [
            "labs/README.md",
            *(f"labs/{lab}/{name}.md" for lab in labs() for name in ("README", "REFERENCE")),
        ]:
            text = course.page(place)
            for link in re.findall(r'(?:href|src)="([^"]+)"', text):
                path = unquote(link.partition("#")[0])
                if re.match(r"[a-z]+:", link) or not path or path.endswith("work.js"):
                    continue
                page = posixpath.normpath(posixpath.join(posixpath.dirname(documents.page_of(place)), path))
                self.assertTrue(documents.place_of(page), f"{place}: {link}")
                count += 1
        self.assertGreater(count, 300)

    def test_what_a_page_cannot_show_is_not_linked(self) -> None:
        course = Course()
        self.assertEqual(course.fragment("[a](../solutions/README.md) b", "labs/README.md"), "<p>a b</p>\n")
        link = course.fragment("[a](../common/README.md#how-it-works)", "labs/README.md")
        self.assertEqual(link, '<p><a href="../common/index.html#how-it-works">a</a></p>\n')
        self.assertIn('href="https://x.org/a"', course.fragment("[a](https://x.org/a)", "labs/README.md"))
        self.assertIn('href="#here"', course.fragment("[a](#here)", "labs/README.md"))

    def test_a_source_has_names_for_its_lines(self) -> None:
        text = Course().page(f"labs/{LAB}/00_exchange.cu")
        count = len((ROOT / f"labs/{LAB}/00_exchange.cu").read_text().splitlines())
        self.assertEqual(re.findall(r'<span id="L(\d+)">', text), [str(i) for i in range(1, count + 1)])
        self.assertIn("&lt;&lt;&lt;", text)

    def test_the_colours_have_the_contrasts_of_wcag(self) -> None:
        light: dict[str, str] = {}
        dark: dict[str, str] = {}
        for template in ("page.html", "course.html"):
            blocks = re.findall(r":root \{([^}]*)\}", (TEMPLATES / template).read_text())
            for colours, block in zip((light, dark), blocks):
                colours.update(re.findall(r"--([\w-]+): (#\w{6})\b", block))
        for name, colours in {"light": light, "dark": dark}.items():
            for text in ("ink", "muted", "link", "good", "bad", "code", "text"):
                for ground in ("paper", "shade"):
                    self.assertGreaterEqual(contrast(colours[text], colours[ground]), TEXT, (name, text, ground))


class Asked(InFolder):
    """A server with a small course, and what it answers."""

    def setUp(self) -> None:
        super().setUp()
        self.root = small_course(self.folder)
        self.work = work_in(self.root)
        self.addCleanup(self.work.close)
        self.server = Server(self.work)
        self.addCleanup(self.server.server_close)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.addCleanup(self.server.shutdown)
        self.base = urlsplit(self.server.address).path

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, str, http.client.HTTPMessage]:
        """Asks for a path as a page of ours would; the status, the answer, and its headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=HANG)
        own = {} if body is None else {"Origin": f"http://127.0.0.1:{self.server.server_port}"}
        data = None if body is None else body if isinstance(body, str) else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, data, {**own, **headers})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text, answer.headers

    def do(self, what: str, step: int | None = None, lab: str = LAB) -> int:
        return self.ask(f"{self.base}do", {"what": what, "lab": lab, "step": step})[0]

    def until(self, is_there: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Waits for a state of the lab."""
        end = time.monotonic() + HANG
        version = -1
        while time.monotonic() < end:
            state = self.work.state(LAB)
            if is_there(state):
                return state
            version = self.work.wait(version, 1)
        raise AssertionError(f"the state did not come: {self.work.state(LAB)}")

    def ended(self, number: int = 0) -> dict[str, Any]:
        """Waits until a job has ended; its state."""
        job = self.until(lambda state: (j := state["job"]) and not j["running"] and j["number"] >= number)["job"]
        return dict(job)

    def save(self, text: str, step: int = 1) -> None:
        (self.root / "labs" / find_step(LAB, step, self.root).file).write_text(text)


class Requests(Asked):
    """Who may ask for what."""

    def test_pages(self) -> None:
        for path, words in {
            "": "Labs",
            f"labs/{LAB}/index.html": "Your work on",
            f"labs/{LAB}/01_global.cu.html": "Your code",
            "work.js": "EventSource",
            f"labs/{LAB}/figures/work.svg": "<svg",
        }.items():
            status, text, headers = self.ask(self.base + path)
            self.assertEqual((status, words in text), (200, True), path)
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertEqual((headers["Referrer-Policy"], headers["Cache-Control"]), ("no-referrer", "no-store"))

    def test_nothing_without_the_token(self) -> None:
        for path in ("/", "/labs/index.html", "/" + "x" * 24 + "/labs/index.html", self.base[:-2] + "/", "/%00/"):
            self.assertEqual(self.ask(path)[0], 404, path)
        self.assertEqual(self.ask("/do", {"what": "check", "lab": LAB, "step": 1})[0], 404)
        with Server(self.work) as other:
            self.assertNotEqual(other.token, self.server.token)
            self.assertGreaterEqual(len(other.token), 22)

    def test_a_name_that_was_made_to_lead_here_is_refused(self) -> None:
        port = self.server.server_port
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", ""):
            self.assertEqual(self.ask(f"{self.base}labs/index.html", Host=host)[0], 403, host)
        self.assertEqual(self.ask(f"{self.base}labs/index.html", Host=f"localhost:{port}")[0], 200)

    def test_a_page_of_another_site_changes_nothing(self) -> None:
        wanted = {"what": "hint", "lab": LAB, "step": 1}
        for origin in ("http://evil.example", "null", "", f"https://127.0.0.1:{self.server.server_port}"):
            self.assertEqual(self.ask(f"{self.base}do", wanted, Origin=origin)[0], 403, origin)
        self.assertEqual(self.work.state(LAB)["steps"][1]["hints"], [])

    def test_what_does_not_exist(self) -> None:
        outside = ("../README.md", "%2e%2e/README.md", "labs/%2e%2e/%2e%2e/etc/passwd", ".workbook/progress.json")
        missing = ("labs/none.html", "player/x.html", f"player/{LAB}-01.html", "events?lab=none")
        for path in (*outside, *missing):
            self.assertEqual(self.ask(self.base + path)[0], 404, path)
        wrong: list[Any] = [{}, [], "{", {"what": "check", "lab": "x", "step": None}]
        wrong += [
            {"what": what, "lab": LAB, "step": step}
            for what, step in (("rm", 1), ("hint", 9), ("hint", None), ("play", "1"))
        ]
        for body in wrong:
            self.assertEqual(self.ask(f"{self.base}do", body)[0], 400, body)
        self.assertEqual(self.ask(f"{self.base}do", "x" * 5000)[0], 413)
        self.assertEqual(self.ask(f"{self.base}elsewhere", {})[0], 404)

    def test_only_this_machine_can_connect(self) -> None:
        self.assertEqual(self.server.server_address[0], "127.0.0.1")

    def test_a_port_in_use(self) -> None:
        with self.assertRaisesRegex(Usage, f"port {self.server.server_port} is in use: choose another one"):
            Server(self.work, self.server.server_port)

    def test_events_are_the_state_and_then_each_change(self) -> None:
        windows = []
        for _ in range(2):
            connection = socket.create_connection(("127.0.0.1", self.server.server_port), HANG)
            self.addCleanup(connection.close)
            host = f"127.0.0.1:{self.server.server_port}"
            connection.sendall(f"GET {self.base}events?lab={LAB} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            windows.append(connection.makefile(encoding="utf-8"))
            self.addCleanup(windows[-1].close)

        def next_state(window: Any) -> dict[str, Any]:
            return dict(json.loads(next(line for line in window if line.startswith("data:"))[5:]))

        for window in windows:
            self.assertEqual(next_state(window)["steps"][1]["hints"], [])
        self.assertEqual(self.do("hint", 1), 200)
        for window in windows:
            self.assertEqual(len(next_state(window)["steps"][1]["hints"]), 1)


class Saves(Asked):
    """The verdict on what is saved."""

    def test_a_save_is_checked(self) -> None:
        self.save("int x;  // WRONG\n")
        job = self.ended()
        self.assertEqual((job["title"], job["ok"], job["failed"]), ("Check of step 01 global", False, 1))
        self.assertIn("01_global.cu:7: error: wrong key", job["text"])
        state = self.work.state(LAB)
        self.assertEqual((state["steps"][1]["verdict"], state["steps"][1]["failed"]), ("failed (cpu build)", True))
        self.save("int x;\n")
        job = self.ended(job["number"] + 1)
        self.assertEqual((job["ok"], job["result"], job["failed"]), (True, "passed", None))
        self.assertEqual(self.work.state(LAB)["steps"][1]["verdict"], "passed (cpu build)")
        self.assertFalse(self.work.state(LAB)["steps"][1]["failed"])

    def test_two_files_at_once_and_a_header(self) -> None:
        self.save("int x;\n", 2)
        self.save("int x;\n", 1)
        text = ""
        end = time.monotonic() + HANG
        while "step 01" not in text or "step 02" not in text:  # in one check or in two
            self.assertLess(time.monotonic(), end)
            text += self.ended()["text"]
        number = self.ended()["number"]
        with (self.root / "labs" / LAB / "odd_even.h").open("a") as header:
            header.write("\n")
        self.assertEqual(self.ended(number + 1)["title"], "Check of all steps")

    def test_a_file_saved_half_is_checked_again(self) -> None:
        self.save("int x;  // FOREVER\n")
        self.until(lambda state: state["job"] and "child" in state["job"]["text"])
        child = int(self.work.state(LAB)["job"]["text"].partition("child ")[2].split()[0])
        self.save("int x;\n")
        self.until(lambda state: state["steps"][1]["verdict"] == "passed (cpu build)")
        self.assert_gone(child)

    def test_nothing_is_left_running(self) -> None:
        self.save("int x;  // FOREVER\n")
        self.until(lambda state: state["job"] and "child" in state["job"]["text"])
        child = int(self.work.state(LAB)["job"]["text"].partition("child ")[2].split()[0])
        self.assertEqual(self.do("stop"), 200)
        job = self.ended()
        self.assertEqual((job["stopped"], job["result"]), (True, "stopped"))
        self.assert_gone(child)
        self.do("check", 1)
        self.until(lambda state: state["job"] and state["job"]["text"].count("child") and state["job"]["running"])
        child = int(self.work.state(LAB)["job"]["text"].partition("child ")[2].split()[0])
        self.work.close()
        self.assert_gone(child)

    def assert_gone(self, process: int) -> None:
        """The process ends: at once, or when whoever waits for it has noticed."""
        end = time.monotonic() + HANG
        while time.monotonic() < end:
            try:
                state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                return
            if state == "Z":
                return
            time.sleep(0.02)
        self.fail(f"process {process} is still there")

    def test_a_crash_is_no_verdict(self) -> None:
        self.save("int x;  // CRASH\n")
        job = self.ended()
        self.assertEqual((job["ok"], job["result"]), (False, "it does not compile, or could not be run"))

    def test_what_a_command_in_a_terminal_has_done_is_shown(self) -> None:
        version = self.work.wait(-1, 0)
        step = find_step(LAB, 2, self.root)
        ProgressFile(self.root / ".workbook", self.root).save_verdict(step, "cpu", "passed")
        end = time.monotonic() + HANG
        while self.work.wait(version, 1) == version:
            self.assertLess(time.monotonic(), end)
        self.assertEqual(self.work.state(LAB)["steps"][2]["verdict"], "passed (cpu build)")

    def test_a_command_that_is_not_there(self) -> None:
        self.work.command = ["/no/such/command"]
        self.do("check", 1)
        self.assertIn("/no/such/command cannot be started: No such file", self.ended()["text"])

    def test_more_than_is_kept(self) -> None:
        self.work.command = ["/bin/sh", "-c", "yes | head -c 3000000"]
        self.do("check", 1)
        self.assertLess(len(self.ended()["text"]), 300_000)

    def test_checks_that_are_not_done_are_done_together(self) -> None:
        self.save("int x;  // FOREVER\n", 2)
        self.until(lambda state: state["job"] and "child" in state["job"]["text"])
        self.assertEqual(self.do("check", 1), 200)
        title = self.until(lambda state: "," in state["job"]["title"])["job"]["title"]
        self.assertEqual(title, "Check of step 01 global, step 02 halo")
        self.do("check")
        self.until(lambda state: state["job"]["title"] == "Check of all steps")


class Buttons(Asked):
    """Hints and players."""

    def test_hints_are_those_of_the_verb(self) -> None:
        step = find_step(LAB, 1, self.root)
        count = self.work.state(LAB)["steps"][1]["of"]
        self.assertGreater(count, 1)
        for _ in range(count + 2):
            self.do("hint", 1)
        shown = self.work.state(LAB)["steps"][1]["hints"]
        self.assertEqual(len(shown), count)
        self.assertTrue(all(hint.startswith("<") for hint in shown))
        self.assertEqual(ProgressFile(self.root / ".workbook", self.root).hints_shown(step), count)

    def test_a_run_and_the_case_that_failed_are_played(self) -> None:
        self.assertEqual(self.do("play", 1), 200)
        job = self.ended()
        self.assertEqual(job["result"], "the player is ready")
        status, text, _ = self.ask(f"{self.base}{job['player'].partition('?')[0]}")
        self.assertEqual((status, "no seed" in text), (200, True))
        self.save("int x;  // WRONG\n")
        self.ended(job["number"] + 1)
        self.do("play-case", 1)
        job = self.until(lambda state: state["job"]["title"].startswith("Run") and state["job"]["ok"])["job"]
        text = self.ask(f"{self.base}{job['player'].partition('?')[0]}")[1]
        self.assertIn("<title>1 --n 5</title><p>7", text)

    def test_all_labs(self) -> None:
        self.save("int x;\n")
        self.ended()
        (lab,) = self.work.state("")["labs"]
        self.assertEqual((lab["name"], lab["passed"], lab["steps"]), (LAB, 1, 4))


class Command(InFolder):
    """The verb itself."""

    def test_what_it_runs_are_commands_of_the_workbook(self) -> None:
        step = find_step(LAB, 1)
        played = Outcome(
            "wrong", False, Case(LAB, 1, 5), replay=f"SIMT_SEED=7 ./workbook run {LAB} 1 --n 5 --seed 1"
        ).playing
        words = played.split("./workbook ")[1].split()
        for job in (Job(1, "check", LAB, []), Job(1, "check", LAB, [step]), Job(1, "play", LAB, [step]),
                    Job(1, "play", LAB, [step], words)):  # fmt: skip
            for command in job.commands():
                self.assertEqual(cli.parser(command[0]).parse_args(command).lab, LAB)

    def test_ctrl_c_ends_it(self) -> None:
        for how, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = subprocess.Popen(
                [sys.executable, "-m", "workbook", "open", "1", "--no-browser"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT / "common")},
            )
            assert process.stdout
            address = urlsplit(process.stdout.readline().strip())
            self.assertEqual(address.hostname, "127.0.0.1")
            connection = http.client.HTTPConnection("127.0.0.1", address.port or 0, timeout=HANG)
            connection.request("GET", address.path)
            self.assertIn("Lab 01", connection.getresponse().read().decode())
            connection.close()
            process.send_signal(how)
            _, said = process.communicate(timeout=HANG)
            self.assertEqual(process.returncode, status, said)
            self.assertIn("Ctrl-C stops the server.", said)
            self.assertNotIn("Traceback", said)

    def test_wrong_arguments(self) -> None:
        self.assertEqual(run_cli("open", "no-such-lab")[0], 2)
        self.assertEqual(run_cli("open", "--port", "70000")[0], 2)


if __name__ == "__main__":
    unittest.main()
