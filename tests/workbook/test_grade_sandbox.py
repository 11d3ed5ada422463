"""The sandbox: what runs in it reads nothing but its own files, reaches nothing, and stays within its limits.

Each kind of sandbox is tested where it can run; where none can, the tests are skipped.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Optional
from unittest import mock

from workbook.core import machine
from workbook.core.console import Problem
from workbook.core.course import ROOT
from workbook.grading import sandbox_trial
from workbook.grading.checkouts import checkouts, secrets
from workbook.grading.sandbox import (
    ALL_NAMESPACES,
    BUBBLEWRAP,
    NONE,
    SECOND_USER,
    Box,
    Done,
    Limits,
    Sandbox,
    python,
)
from workbook.grading.sandbox_trial import FORCED

LIMITS = Limits(memory=256 << 20, processes=40, file=32 << 20, disk=64 << 20, seconds=20)


@contextmanager
def chosen(kind: str, *hidden: Path, unsafe: bool = False) -> Iterator[Sandbox]:
    """The sandbox of a kind, with one box. Raises Problem if it does not work here."""
    with sandbox_trial.workspace() as folder, mock.patch.dict(os.environ, {FORCED: kind}):
        sandbox = sandbox_trial.choose(folder, hidden, unsafe, LIMITS)
        try:
            sandbox.add_box()
            yield sandbox
        finally:
            sandbox.close()


def processes_of(user: Optional[int]) -> list[str]:
    """The names of the processes of a user that have not ended; of none if the box has no user of its own."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            facts = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            if facts["Uid"].split()[0] == str(user) and not facts["State"].strip().startswith("Z"):
                found.append(facts["Name"].strip())
    return found


class Isolated:
    """Attempts that must fail, in one kind of sandbox."""

    class Tests(unittest.TestCase):
        """Not run by itself: the kinds are below."""

        kind = ""
        sandbox: Sandbox
        box: Box
        secret: Path

        @classmethod
        def setUpClass(cls) -> None:
            held = ExitStack()
            cls.addClassCleanup(held.close)
            folder = Path(held.enter_context(tempfile.TemporaryDirectory()))  # its owner alone may enter it
            cls.secret = folder / "secret"
            cls.secret.write_text("the grades")
            try:
                cls.sandbox = held.enter_context(chosen(cls.kind, cls.secret))
            except Problem as problem:
                raise unittest.SkipTest(f"{cls.kind} does not work here: {problem}") from problem
            cls.box = cls.sandbox.boxes[0]

        def setUp(self) -> None:
            self.sandbox.empty(self.box)

        def sh(self, script: str, seconds: float = 600) -> Done:
            """Runs a shell script in the box."""
            return self.sandbox.run(self.box, ["/bin/sh", "-c", script], seconds)

        def py(self, script: str, seconds: float = 600) -> Done:
            """Runs a Python script in the box."""
            return self.sandbox.run(self.box, [python(), "-I", "-c", script], seconds)

        def test_files_of_others(self) -> None:
            other = self.sandbox.add_box()
            (other.folder / "02_shared.cu").write_text("// another student's\n")
            for path in (self.secret, other.folder / "02_shared.cu", other.folder):
                done = self.sh(f"cat {path} || ls {path}")
                self.assertNotEqual(done.status, 0, path)
                self.assertEqual(done.output, b"")
            (self.box.folder / "mine").write_text("mine")
            (self.box.folder / "mine").chmod(0o644)
            self.assertEqual(self.sh(f"cat {self.box.folder}/mine").output, b"mine")

        def test_nothing_is_changed(self) -> None:
            (self.box.folder / "mine").write_text("mine")
            places = (self.box.folder, self.sandbox.shared, Path("/usr"), Path("/etc"), Path("/"))
            for place in places:
                self.assertNotEqual(self.sh(f"touch {place}/new").status, 0, place)
            self.sh(f"rm -rf {self.box.folder}/mine {self.sandbox.shared}/probe.py")
            self.assertTrue((self.box.folder / "mine").exists() and (self.sandbox.shared / "probe.py").exists())

        def test_network(self) -> None:
            if "no network" not in self.sandbox.description:
                self.assertIn("a submission can reach the network", self.sandbox.description)
                return
            with closing(socket.create_server(("127.0.0.1", 0))) as server:
                port = server.getsockname()[1]
                done = self.py(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)")
            self.assertNotEqual(done.status, 0)

        def test_other_processes(self) -> None:
            self.assertNotEqual(self.sh(f"kill -0 {os.getpid()}").status, 0)
            with subprocess.Popen(["sleep", "600"]) as bystander:
                self.sh("kill -9 -1; kill -9 0")
                self.assertIsNone(bystander.poll())
                bystander.kill()

        def test_no_rights(self) -> None:
            done = self.sh(
                "grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; mount -t tmpfs none /tmp; chown 0 /tmp"
            )
            self.assertRegex(done.output.decode(), r"CapEff:\s+0+\n(.*\n)*NoNewPrivs:\s+1")
            self.assertNotEqual(done.status, 0)

        def test_environment(self) -> None:
            with mock.patch.dict(os.environ, {"TOKEN": "secret"}):
                self.assertNotIn(b"secret", self.sh("env").output)

        def test_time(self) -> None:
            done = self.sh("sleep 10000 & sleep 10000", 1)  # a test that waits for them does not end
            self.assertTrue(done.timed_out, done)
            self.sandbox.empty(self.box)
            self.assertEqual(self.sh("ps -u $(id -u) -o comm= | grep -c sleep || true").output.strip(), b"0")

        def test_memory(self) -> None:
            done = self.py("x = [bytearray(1 << 20) for _ in range(1000)]; print('used')")
            self.assertNotIn(b"used", done.output)

        def test_processes(self) -> None:
            bomb = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"
            self.assertTrue(self.py(bomb, 2).timed_out)
            self.sandbox.empty(self.box)
            self.assertTrue(self.sandbox.works(self.box))

        def test_nothing_is_left_of_what_a_command_has_started(self) -> None:
            if self.kind == SECOND_USER and self.sandbox.namespaces != ALL_NAMESPACES:
                self.skipTest("this system has no namespaces for the processes of a second user")
            # Each hands its life on to a child in a session of its own: nobody could find them one by one.
            hop = (
                "import os, time\n"
                "end = time.time() + 60\n"
                "for _ in range(4):\n"
                "  if os.fork() == 0:\n"
                "    while time.time() < end:\n"
                "      os.setsid()\n"
                "      time.sleep(0.002)\n"
                "      if os.fork(): os._exit(0)\n"
                "    os._exit(0)\n"
            )
            for rest, seconds in (("", 600.0), ("time.sleep(60)", 1.0)):
                self.py(hop + rest, seconds)
                for _ in range(100):  # the kernel ends them after it has ended the first process
                    if not processes_of(self.box.user):
                        break
                    time.sleep(0.1)
                self.assertEqual([], processes_of(self.box.user))

        def test_folders_that_are_hidden(self) -> None:
            with tempfile.TemporaryDirectory() as temporary:
                clone = Path(temporary, "a clone")
                (clone / ".git").mkdir(parents=True)
                (clone / ".git/packed-refs").write_text("secret")
                Path(temporary).chmod(0o755)
                try:
                    with chosen(self.kind, clone) as sandbox:
                        box = sandbox.boxes[0]
                        done = sandbox.run(box, ["/bin/cat", f"{clone}/.git/packed-refs"], 600)
                        self.assertEqual(b"", done.output)
                        self.assertNotEqual(0, done.status)
                        clone.rename(clone.with_name("another name"))  # what is gone must not keep others from running
                        self.assertTrue(sandbox.works(box))
                except Problem as problem:  # without mounts of its own, the command refuses
                    self.assertIn(f"could read {clone}", str(problem))

        def test_disk(self) -> None:
            self.sh('cd "$TMPDIR"; for i in 1 2 3 4; do head -c 60000000 /dev/zero >$i; done')
            sizes = self.sh('cd "$TMPDIR"; du -sm .').output.split()
            if self.kind == BUBBLEWRAP:  # nothing is left from one command to the next
                self.assertLess(int(sizes[0]), 2)
            else:  # one file has a limit; all together are removed with the submission
                self.assertLess(int(sizes[0]), 4 * 32 + 2)
            self.sandbox.empty(self.box)
            self.assertFalse(any(self.box.scratch.iterdir()))

        def test_output(self) -> None:
            done = self.sh("yes | head -c 100000000; yes | head -c 100000000 >&2")
            self.assertLessEqual(len(done.output), LIMITS.file)
            self.assertLessEqual(len(done.errors), 1 << 20)

        def test_files_left_in_public_folders(self) -> None:
            name = f"workbook-left-{os.getpid()}"
            self.sh(f"mkdir -p /tmp/{name}/a; touch /tmp/{name}/a/b /var/tmp/{name}")
            self.sandbox.empty(self.box)
            self.assertFalse(Path("/tmp", name).exists() or Path("/var/tmp", name).exists())


class InBubblewrap(Isolated.Tests):
    """A view of the file system that holds nothing else."""

    kind = BUBBLEWRAP


class AsSecondUser(Isolated.Tests):
    """Another user without rights."""

    kind = SECOND_USER


del Isolated


class Checkouts(unittest.TestCase):
    """Where the workbook is on this machine."""

    def test_clones_copies_and_bare_repositories(self) -> None:
        with tempfile.TemporaryDirectory() as temporary:
            top = Path(temporary).resolve()
            (top / "a/clone/.git").mkdir(parents=True)
            (top / "a/clone/labs/01-odd-even").mkdir(parents=True)
            (top / "a/clone/labs/inner/solutions/01-odd-even").mkdir(parents=True)  # in a folder that is found
            (top / "copy/solutions/01-odd-even").mkdir(parents=True)
            (top / "other/.git").mkdir(parents=True)
            found = checkouts(top)
            self.assertIn(top / "a/clone", found)
            self.assertIn(top / "copy", found)
            self.assertNotIn(top / "other", found)
            self.assertNotIn(top / "a/clone/labs/inner", found)
            self.assertTrue(any(ROOT.is_relative_to(place) for place in found))
            self.assertIn(top / "copy/solutions", secrets(top))
            self.assertIn(top / "a/clone/.git", secrets(top))
            if machine.answer("git", "-C", str(ROOT), "rev-parse", "HEAD"):
                subprocess.run(["git", "clone", "-q", "--bare", str(ROOT), str(top / "bare")], check=True)
                self.assertIn(top / "bare", checkouts(top))

    def test_a_folder_that_cannot_be_looked_into_is_passed_over(self) -> None:
        with tempfile.TemporaryDirectory() as temporary:
            top = Path(temporary).resolve()
            longest = top
            while len(str(longest)) < 4085:  # what is in it has too long a path; as root, only this is refused
                longest /= "d" * min(200, 4090 - len(str(longest)) - 1)
            longest.mkdir(parents=True)
            (top / "copy/solutions/01-odd-even").mkdir(parents=True)
            with self.assertRaises(OSError):
                (longest / "solutions").is_dir()
            self.assertIn(top / "copy", checkouts(top))


class Choice(unittest.TestCase):
    """Which sandbox is chosen."""

    def test_none_is_refused(self) -> None:
        with (
            mock.patch.object(sandbox_trial, "_missing", lambda _: "it is not installed"),
            sandbox_trial.workspace() as folder,
            self.assertRaisesRegex(
                Problem, r"no sandbox works on this machine:\n  bubblewrap: it is not installed(.|\n)*--unsafe"
            ),
        ):
            sandbox_trial.choose(folder, [])

    def test_unsafe(self) -> None:
        with chosen(NONE, unsafe=True) as sandbox:
            self.assertIn("--unsafe", sandbox.description)
            self.assertTrue(sandbox.works(sandbox.boxes[0]))
            done = sandbox.run(sandbox.boxes[0], [python(), "-c", "x = bytearray(1 << 30)"], 600)
            self.assertFalse(done.ok)

    def test_readable_secrets_are_refused(self) -> None:
        """A second user sees what everybody may read."""
        if os.geteuid() != 0:
            self.skipTest("only root can run programs as another user")
        with (
            self.assertRaisesRegex(Problem, r"could read /etc/hostname|could read /etc/passwd"),
            chosen(SECOND_USER, Path("/etc/passwd")),
        ):
            pass

    def test_the_sandbox_states_what_it_cannot_limit(self) -> None:
        found = {"own": True, "scratch": True, "readable": [], "signals": False, "writable": ["/dev/shm"]}
        found |= {"network": True, "memory": False, "processes": False, "disk": False}
        with mock.patch.object(sandbox_trial, "_probe", return_value=found):
            try:
                with chosen(BUBBLEWRAP) as sandbox:
                    self.assertIn("a submission can reach the network", sandbox.description)
                    self.assertIn("a submission can fill the disk", sandbox.description)
                    self.assertNotIn("no network", sandbox.description)
            except Problem:
                self.skipTest("bubblewrap is not installed")

    def test_abandoned_folders_are_removed(self) -> None:
        with tempfile.TemporaryDirectory() as temporary, mock.patch.object(tempfile, "tempdir", temporary):
            dead = subprocess.Popen(["true"])
            dead.wait()
            old = Path(temporary, f"workbook-grade-{dead.pid}-x")
            ours = Path(temporary, f"workbook-grade-{os.getpid()}-x")
            for folder in (old, ours):
                folder.mkdir()
            with sandbox_trial.workspace() as folder:
                self.assertEqual(folder.parent, Path(temporary))
            self.assertEqual([old.exists(), ours.exists(), folder.exists()], [False, True, False])

    def test_the_probe_finds_what_is_possible(self) -> None:
        """Without a sandbox, the probe reports everything."""
        with tempfile.TemporaryDirectory() as folder, closing(socket.create_server(("127.0.0.1", 0))) as server:
            question = {"hidden": ["/etc/passwd", "/no/such"], "own": folder, "port": server.getsockname()[1]}
            question |= {"pid": os.getpid(), "memory": 1 << 20, "processes": 2, "disk": 1 << 20}
            probe = Path(sandbox_trial.__file__).with_name("probe.py")
            environment = {**os.environ, "TMPDIR": folder}
            done = subprocess.run(
                [sys.executable, str(probe), json.dumps(question)], env=environment, capture_output=True, check=True
            )
        found = json.loads(done.stdout)
        self.assertEqual(found["readable"], ["/etc/passwd"])
        self.assertIn("/tmp", found["writable"])
        possible = ("own", "scratch", "signals", "network", "disk", "processes", "memory")
        self.assertEqual([name for name in possible if not found[name]], [])
