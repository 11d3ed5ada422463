"""`run` with --output: files of keys, sorted in pieces, and whatever can go wrong on the way."""

import array
import contextlib
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from in_folder import InFolder, run_cli

from workbook import cli
from workbook.core.judge_client import JudgeClient
from workbook.verbs import run

BUILD = Path(os.environ.get("WORKBOOK_TEST_BUILD", "build"))
JUDGE, FAKE = BUILD / "labs/judge", BUILD / "tests/fake-runner"
RUNNER = BUILD / "labs/06-beyond-memory-cpu-solution"
DIES, HANGS, ENDS_BLOCKS_SLOWLY, REVERSES, LOSES_THE_DEVICE = 2, 5, 32, 34, 36  # what the fake runner can do
LAB = "06-beyond-memory"


def judge_client() -> JudgeClient:
    """The judge of the build."""
    return JudgeClient(JUDGE)


def commands(runner: Path) -> contextlib.ExitStack:
    """`./workbook run` with programs that exist already."""
    stack = contextlib.ExitStack()
    stack.enter_context(mock.patch.object(run, "prepare", lambda *_: ("cpu", runner)))
    stack.enter_context(mock.patch.object(run, "JudgeClient", judge_client))
    return stack


class Files(InFolder):
    """Tests with a folder of files."""

    def setUp(self) -> None:
        super().setUp()
        self.input, self.output = self.folder / "keys.bin", self.folder / "sorted.bin"

    def make(self, n: int) -> bytes:
        """A file of n keys, some of which are the smallest and the largest there are."""
        keys = bytearray(os.urandom(4 * n))
        for at in range(0, n, 100):
            keys[4 * at : 4 * at + 4] = b"\xff" * 4 if at % 200 else bytes(4)
        self.input.write_bytes(keys)
        return bytes(keys)

    def sort(self, *options: str, step: str = "3", lab: str = LAB, runner: Path = FAKE) -> SimpleNamespace:
        """Sorts the input into the output."""
        words = ["run", lab, step, "--input", f"file:{self.input}", "--output", str(self.output), *options]
        return self.command(words, runner)

    def command(self, words: list[str], runner: Path = FAKE) -> SimpleNamespace:
        """Any command."""
        with commands(runner):
            status, printed = run_cli(*words)
        return SimpleNamespace(status=status, printed=printed)

    def assert_sorted(self, keys: bytes, order: str = "ascending") -> None:
        """The output holds these keys in order, the input is unchanged, and there is nothing else."""
        numbers = array.array("I", keys)
        expected = array.array("I", sorted(numbers, reverse=order == "descending")).tobytes()
        self.assertTrue(self.output.read_bytes() == expected)
        self.assertTrue(self.input.read_bytes() == keys)
        self.assertEqual(sorted(os.listdir(self.folder)), ["keys.bin", "sorted.bin"])

    def assert_failed(self, done: SimpleNamespace, words: str, status: int = 2) -> None:
        """An error with these words, and no file but the input."""
        self.assertEqual(done.status, status, done.printed)
        self.assertIn(words, done.printed)
        self.assertNotIn("Traceback", done.printed)
        self.assertEqual([name for name in os.listdir(self.folder) if name != "keys.bin"], [])


@unittest.skipUnless(RUNNER.exists(), "the cpu build of the solutions is not there")
class Sorting(Files):
    """The steps of the lab sort files."""

    def test_several_pieces(self) -> None:
        keys = self.make(1 << 20)
        done = self.sort("--host-memory", "2M", runner=RUNNER)
        self.assertEqual(done.status, 0, done.printed)
        self.assert_sorted(keys)
        self.assertIn("06-beyond-memory step 3 partition: 1048576 u32 keys (4.0 MiB)", done.printed)
        self.assertIn("5 pieces read, sorted and written", done.printed)
        self.assertIn("merged by", done.printed)
        self.assertIn("peak resident memory", done.printed)

    def test_every_step_and_both_orders(self) -> None:
        keys = self.make(150_001)
        for step, order in (("1", "descending"), ("2", "ascending"), ("3", "descending"), ("4", "descending")):
            with self.subTest(step=step):
                done = self.sort(
                    "--host-memory", "1M", "--order", order, "--memory", "256K", "--force", step=step, runner=RUNNER
                )
                self.assertEqual(done.status, 0, done.printed)
                self.assert_sorted(keys, order)

    def test_device_memory_that_is_too_small(self) -> None:
        self.make(1000)
        self.assert_failed(self.sort("--memory", "100K", runner=RUNNER), "at least 262144 bytes of device memory", 1)


class Sizes(Files):
    """Files of any number of keys."""

    def test_no_key_one_key_and_about_a_piece(self) -> None:
        # With 1M, a piece has 106,496 keys.
        for n in (0, 1, 2, 106_495, 106_496, 106_497, 212_992, 212_993):
            with self.subTest(n=n):
                keys = self.make(n)
                done = self.sort("--host-memory", "1M", "--force", step="1")
                self.assertEqual(done.status, 0, done.printed)
                self.assert_sorted(keys)
                pieces = max(-(-n // 106_496), 0)
                self.assertIn(f"{pieces} piece{'s' * (pieces != 1)} read", done.printed)

    def test_equal_keys(self) -> None:
        self.input.write_bytes(b"\xff" * 4 * 500_000)
        done = self.sort("--host-memory", "2M", step="1")
        self.assertEqual(done.status, 0, done.printed)
        self.assert_sorted(b"\xff" * 4 * 500_000)

    def test_the_limit_holds(self) -> None:
        keys = self.make(6 << 20)  # 24 MiB
        done = self.sort("--host-memory", "16M", step="1")
        self.assertEqual(done.status, 0, done.printed)
        self.assert_sorted(keys)
        match = [line for line in done.printed.splitlines() if line.startswith("peak resident memory")]
        if match:  # some kernels do not report it
            programs = 8  # MiB of the judge and the fake runner, beyond an eighth of the limit
            self.assertLess(float(match[0].split()[3]), 16 + programs, match[0])

    def test_what_becomes_of_an_output_that_exists(self) -> None:
        keys = self.make(1000)
        self.output.write_text("mine")
        self.output.chmod(0o640)
        self.assertIn("sorted.bin exists, and --output would replace it", self.sort(step="1").printed)
        self.assertEqual(self.output.read_text(), "mine")
        self.assertEqual(self.sort("--force", step="1").status, 0)
        self.assert_sorted(keys)
        self.assertEqual(stat.S_IMODE(self.output.stat().st_mode), 0o640)


class Refusals(Files):
    """What is refused before anything is touched."""

    def test_inputs(self) -> None:
        self.assert_failed(self.sort(), "no such file")
        self.input.mkdir()
        self.assert_failed(self.sort(), "keys.bin is a folder")
        self.input.rmdir()
        self.input.write_bytes(bytes(1001))
        self.assert_failed(self.sort(), "has 1001 bytes, which is not a multiple of the 4 bytes of a u32 key")
        with mock.patch.object(os, "access", lambda *_: False):
            self.assert_failed(self.sort(), "keys.bin cannot be read: check its permissions")

    def test_outputs(self) -> None:
        keys = self.make(100)
        self.output = self.folder / "missing/sorted.bin"
        self.assert_failed(self.sort(), "does not exist: create it, or name another file with --output")
        self.output = self.folder
        self.assert_failed(self.sort(), "is a folder: name a file in it with --output")
        self.output = self.input
        self.assert_failed(self.sort("--force"), "is the file to sort, which is never changed")
        self.output = self.folder / "link"
        os.link(self.input, self.output)
        self.assertIn("is the file to sort, which is never changed", self.sort("--force").printed)
        self.output.unlink()
        self.output = Path("/dev/null")
        self.assert_failed(self.sort("--force"), "/dev/null cannot be written (it is not a regular file)")
        self.assertEqual(self.input.read_bytes(), keys)

    def test_options(self) -> None:
        self.make(100)
        for options, words in (
            (["--n", "10"], "--output sorts all keys of a file: leave out --n"),
            (["--offset", "1"], "leave out --offset"),
            (["--seed", "1"], "leave out --seed"),
            (["--build", "check"], "--output cannot be used with --build check"),
            (["--host-memory", "lots"], "--host-memory lots is not an amount of memory"),
            (["--type", "i32"], "u32 keys"),
        ):
            with self.subTest(options=options):
                self.assert_failed(self.sort(*options), words)
        self.assert_failed(self.sort(lab="03-bitonic", step="1"), "--output is for the steps of 06-beyond-memory")
        self.assert_failed(self.sort("--gpus", "2", step="4"), "--output cannot be used with --gpus")
        run_it = ["run", LAB, "3"]
        self.assert_failed(self.command([*run_it, "--output", str(self.output)]), "add --input file:PATH")
        uniform = [*run_it, "--input", "uniform"]
        self.assert_failed(self.command([*uniform, "--output", str(self.output)]), "add --input file:PATH")
        self.assert_failed(self.command([*uniform, "--host-memory", "1G"]), "--host-memory is for sorting a file")
        self.assert_failed(self.command([*uniform, "--force"]), "--force is for sorting a file")

    def test_too_little_memory(self) -> None:
        self.make(4 << 20)
        self.assert_failed(self.sort("--host-memory", "100K"), "choose --host-memory 2M or more")
        self.assert_failed(self.sort("--host-memory", "1M"), "choose --host-memory 2M or more")
        with open(self.input, "wb") as file:
            file.truncate(1 << 38)  # of no blocks
        self.assert_failed(self.sort("--host-memory", "1M"), "MiB of host memory are too little")
        self.assert_failed(self.sort("--host-memory", "999999G"), "GiB are free: choose a smaller --host-memory")

    def test_too_little_space(self) -> None:
        size = 1 << 43
        with open(self.input, "wb") as file:
            file.truncate(size)
        if os.statvfs(self.folder).f_bavail * os.statvfs(self.folder).f_frsize > size:
            self.skipTest("this disk is too large")
        done = self.sort("--host-memory", "1200M")
        self.assert_failed(done, "16384.0 GiB: 8192.0 GiB for the output and as much for the sorted pieces")
        self.assertEqual(self.input.stat().st_size, size)


class Failures(Files):
    """What goes wrong in the middle: no output, and nothing remains."""

    def setUp(self) -> None:
        super().setUp()
        self.keys = self.make(300_000)  # three pieces

    def fails(self, what: int, *options: str, at: int = 2) -> SimpleNamespace:
        """Sorts with a runner that fails from piece `at` on."""
        with mock.patch.dict(os.environ, {"FAKE_STEP": f"{at} {what}"}):
            return self.sort("--host-memory", "1M", *options)

    def test_the_runner_dies(self) -> None:
        done = self.fails(DIES)
        self.assert_failed(done, "crashed: piece 2 of 3: the process crashed: Segmentation fault", 1)
        self.assertIn("about to die", done.printed)
        self.assertIn("sorted.bin was not written", done.printed)
        self.assertEqual(self.input.read_bytes(), self.keys)

    def test_the_device_is_lost(self) -> None:
        self.assert_failed(
            self.fails(LOSES_THE_DEVICE, at=3), "cuda-error: piece 3 of 3: the device has fallen off the bus", 1
        )

    def test_the_runner_hangs(self) -> None:
        self.assert_failed(self.fails(HANGS, "--timeout", "0.3"), "hung: piece 2 of 3: no answer within", 1)

    def test_the_step_is_wrong(self) -> None:
        done = self.fails(REVERSES)
        self.assert_failed(done, "wrong: piece 2 of 3: key ", 1)
        self.assertIn("every key of the input is there, but in the wrong order", done.printed)

    def test_an_output_that_exists_survives(self) -> None:
        self.output.write_text("mine")
        self.assertEqual(self.fails(DIES, "--force").status, 1)
        self.assertEqual(self.output.read_text(), "mine")
        self.assertEqual(sorted(os.listdir(self.folder)), ["keys.bin", "sorted.bin"])

    def test_files_may_not_become_that_large(self) -> None:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))
        try:
            done = self.sort("--host-memory", "1M")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        self.assert_failed(done, "may not become that large")

    @contextlib.contextmanager
    def small_disk(self) -> Iterator[Path]:
        """A file system of 4 MiB, in which the output is to be."""
        disk = self.folder / "disk"
        disk.mkdir()
        try:
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4M", "tmpfs", disk], capture_output=True).returncode:
                self.skipTest("mounting needs root")
            try:
                self.output = disk / "sorted.bin"
                yield disk
            finally:
                subprocess.run(["umount", disk], check=True)
        finally:
            disk.rmdir()

    def test_a_disk_that_is_full_already(self) -> None:
        with self.small_disk() as disk:
            (disk / "others").write_bytes(bytes(3 << 20))
            done = self.sort("--host-memory", "1M")
            self.assertEqual(os.listdir(disk), ["others"])
        self.assert_failed(done, "1.0 MiB left, but the sort needs 2.3 MiB: 1.1 MiB for the output and as much for")

    def test_a_disk_that_becomes_full(self) -> None:
        """It becomes full while piece 2 is sorted. That needs a file system that cannot reserve space: a stand-in."""
        library = self.folder / "keys.bin.so"
        source = "#include <errno.h>\n" + "".join(
            f'extern "C" int {name}(int, int, long, long) {{ return errno = EOPNOTSUPP, -1; }}\n'
            for name in ("fallocate", "fallocate64")
        )
        compiler = [os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-x", "c++", "-"]
        subprocess.run([*compiler, "-o", library], input=source, text=True, check=True)
        judge = JudgeClient(JUDGE, ["env", f"LD_PRELOAD={library}"])
        with self.small_disk() as disk, mock.patch.dict(os.environ, {"FAKE_STEP": f"2 {ENDS_BLOCKS_SLOWLY}"}):
            taken = threading.Timer(1.5, lambda: fill(disk / "others"))
            taken.start()
            with mock.patch(f"{__name__}.judge_client", lambda: judge):
                done = self.sort("--host-memory", "1M")
            taken.join()
            self.assertEqual(os.listdir(disk), ["others"])
        library.unlink()
        self.assert_failed(done, "the disk is full: no space is left in")
        self.assertEqual(self.input.read_bytes(), self.keys)


class Signals(Files):
    """Ctrl-C and SIGTERM."""

    def interrupted(self, number: int) -> subprocess.Popen[str]:
        """A sort that hangs at its second piece, and gets a signal then."""
        self.make(300_000)
        program = (
            "import sys; sys.path[:0] = [sys.argv.pop(1), sys.argv.pop(1)]\n"
            "import test_run_files as tests; from workbook import cli\n"
            "with tests.commands(tests.FAKE): sys.exit(cli.main(sys.argv[1:]))"
        )
        folders = [str(Path(cli.__file__).parents[1]), str(Path(__file__).parent)]
        words = ["run", LAB, "3", "--input", f"file:{self.input}", "--output", str(self.output), "--host-memory", "1M"]
        child = subprocess.Popen(
            [sys.executable, "-c", program, *folders, *words],
            env={**os.environ, "FAKE_STEP": f"2 {HANGS}", "WORKBOOK_TEST_BUILD": str(BUILD)},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        wait_for_runners(child.pid, 1)
        self.assertEqual(len(os.listdir(self.folder)), 2)  # the input, and the output under another name
        os.killpg(child.pid, number) if number == signal.SIGINT else child.send_signal(number)
        return child

    def test_nothing_remains(self) -> None:
        for number, status, words in ((signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended by a signal")):
            with self.subTest(signal=number):
                child = self.interrupted(number)
                _, printed = child.communicate(timeout=600)
                self.assertEqual(child.returncode, status, printed)
                self.assertIn(words, printed)
                self.assertEqual(os.listdir(self.folder), ["keys.bin"])
                wait_for_runners(child.pid, 0)


def fake_runners(session: int) -> Iterator[int]:
    """Processes of this session that are a fake runner."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            facts = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(facts[3]) == session and "fake-runner" in (entry / "cmdline").read_text():
                yield int(entry.name)


def fill(path: Path) -> None:
    """Writes until no space is left."""
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def wait_for_runners(session: int, number: int) -> None:
    """Returns when this session has so many fake runners."""
    end = time.monotonic() + 600
    while len(list(fake_runners(session))) != number:
        if time.monotonic() > end:
            raise AssertionError("nothing happened for too long")
        time.sleep(0.05)
