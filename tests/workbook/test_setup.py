"""The `workbook` script: where it finds itself, what it installs, and that it does so once.

It runs on a machine of our own making: a folder of commands that note what they were asked for, so that nothing is
installed and no network is asked.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from workbook.core.course import ROOT

TOOLS = ("sh", "cksum", "dirname", "readlink", "mkdir", "mv", "rm", "cat", "tail", "uname", "env", "basename")
HERE = "#!/bin/sh\necho 1.11\n"
COMPILER = '#!/bin/sh\n[ ! -e "$LACKS" ] || exit 1\ncat >/dev/null\n'
# What is installed is there afterwards.
APT = '#!/bin/sh\necho "apt-get $*" >>"$NOTES"\ncase "$*" in *" install "*) rm -f "$LACKS";; esac\n'


class Script(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.root = self.folder / "a workbook"
        package = self.root / "common/workbook"
        package.mkdir(parents=True)
        shutil.copy(ROOT / "workbook", self.root)
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text(
            "import sys\ndef main():\n    print('started with', sys.argv[1:])\n    return 7\n"
        )
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        for name in ("ninja", "meson", "git", "pkg-config", "addr2line"):
            self.command(name, HERE)
        self.command("g++", COMPILER)
        self.command("id", "#!/bin/sh\necho 0\n")
        self.lacks = self.folder / "lacks"  # while this is there, the compiler finds no header
        self.notes = self.folder / "notes"
        modules = self.folder / "modules"
        modules.mkdir()
        (modules / "matplotlib.py").touch()
        self.environment = {
            "PATH": str(self.bin),
            "PYTHONPATH": str(modules),
            "LACKS": str(self.lacks),
            "NOTES": str(self.notes),
            "HOME": str(self.folder),
        }
        if not os.path.exists("/usr/bin/python3"):
            (self.bin / "python3").symlink_to(sys.executable)

    def command(self, name, text):
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)

    def run_script(self, *words, path=None, folder=None, **more):
        return subprocess.run(
            [str(path or self.root / "workbook"), *words],
            capture_output=True,
            text=True,
            cwd=folder or self.folder,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )

    def assert_started(self, done, words="['test', 'a b']"):
        self.assertEqual((done.stdout, done.returncode), (f"started with {words}\n", 7), done.stderr)

    def noted(self):
        return self.notes.read_text() if self.notes.exists() else ""

    def test_starts_from_anywhere(self):
        self.assert_started(self.run_script("test", "a b"))
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "workbook.py").write_text("raise SystemExit('the wrong module')\n")
        (elsewhere / "link").symlink_to("second")
        (elsewhere / "second").symlink_to(os.path.relpath(self.root / "workbook", elsewhere))
        for path in (elsewhere / "link", "./link", "../a workbook/workbook"):
            self.assert_started(self.run_script("test", "a b", path=path, folder=elsewhere))
        self.assertEqual([p.name for p in elsewhere.iterdir() if p.name == ".workbook"], [])

    def test_with_everything_here_nothing_is_installed_or_said(self):
        self.command("apt-get", APT)
        done = self.run_script("test", "a b")
        self.assert_started(done)
        self.assertEqual((done.stderr, self.noted()), ("", ""))
        self.assertFalse((self.root / ".venv").exists())

    def test_what_is_missing_is_announced_and_installed_once(self):
        self.command("apt-get", APT)
        self.lacks.touch()
        done = self.run_script("test", "a b")
        self.assert_started(done)
        self.assertIn("installing from the distribution: doctest-dev libcli11-dev", done.stderr)
        self.assertEqual(self.noted().splitlines()[0], "apt-get -q update")
        self.assertIn("install -y --no-install-recommends doctest-dev libcli11-dev", self.noted())
        self.notes.unlink()
        self.lacks.touch()
        self.assert_started(self.run_script("test", "a b"))
        self.assertEqual(self.noted(), "")  # it looks once

    def test_a_copy_or_a_new_script_is_made_ready_anew(self):
        self.assert_started(self.run_script("test", "a b"))
        moved = self.folder / "moved"
        self.root.rename(moved)
        self.root = moved
        self.command("apt-get", APT)
        self.lacks.touch()
        self.assert_started(self.run_script("test", "a b"))
        self.assertIn("install", self.noted())

    def test_an_interrupted_set_up_goes_on(self):
        self.command("apt-get", "#!/bin/sh\nkill -9 $PPID\n")
        self.lacks.touch()
        self.assertNotEqual(self.run_script("test").returncode, 0)
        self.assertFalse((self.root / ".workbook/ready").exists())
        self.command("apt-get", APT)
        self.assert_started(self.run_script("test", "a b"))

    def test_a_folder_that_cannot_be_written(self):
        (self.root / ".workbook").touch()
        done = self.run_script("test")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(
            done.stderr, f"workbook: {self.root} cannot be written: copy the workbook to a folder of your own\n"
        )

    def test_without_a_package_manager_it_says_what_to_type(self):
        self.lacks.touch()
        done = self.run_script("test")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("sudo apt-get install doctest-dev libcli11-dev", done.stderr)
        self.assertIn("sudo dnf install", done.stderr)
        self.assertFalse((self.root / ".workbook/ready").exists())

    def test_who_is_not_root_and_has_no_sudo_is_told(self):
        self.command("apt-get", APT)
        self.command("id", "#!/bin/sh\necho 1000\n")
        self.lacks.touch()
        done = self.run_script("test")
        self.assertEqual(done.returncode, 1)
        self.assertIn("only root may install", done.stderr)
        self.assertEqual(self.noted(), "")

    def test_sudo_is_used_never_asks_and_keeps_the_proxy(self):
        self.command("apt-get", APT + 'echo "proxy ${http_proxy-none}" >>"$NOTES"\n')
        self.command("id", "#!/bin/sh\necho 1000\n")
        # As sudo does by default: the caller's variables do not pass, assignments on its command line do.
        (self.bin / "true").symlink_to(shutil.which("true"))
        self.command(
            "sudo",
            '#!/bin/sh\necho "sudo $*" >>"$NOTES"\n[ "$1" = -n ] && shift\n'
            'exec env -i PATH="$PATH" NOTES="$NOTES" LACKS="$LACKS" "$@"\n',
        )
        self.lacks.touch()
        self.assert_started(self.run_script("test", "a b", http_proxy="http://proxy:1"))
        self.assertIn("sudo -n env ", self.noted())
        self.assertIn("proxy http://proxy:1", self.noted())

    def test_a_sudo_that_wants_a_password_is_not_asked(self):
        self.command("apt-get", APT)
        self.command("id", "#!/bin/sh\necho 1000\n")
        self.command("sudo", '#!/bin/sh\n[ "$1" = -n ] && exit 1\necho asked >>"$NOTES"\n')
        self.lacks.touch()
        done = self.run_script("test")
        self.assertEqual(done.returncode, 1)
        self.assertIn("only root may install", done.stderr)
        self.assertEqual(self.noted(), "")

    def test_a_failed_installation_names_the_packages(self):
        self.command("apt-get", '#!/bin/sh\necho "E: no network"\nexit 100\n')
        self.lacks.touch()
        done = self.run_script("test")
        self.assertEqual(done.returncode, 1)
        self.assertIn("E: no network", done.stderr)
        self.assertIn("Install them, then type this command again", done.stderr)

    def test_help_and_doctor_need_only_python(self):
        for tool in ("g++", "ninja", "meson"):
            (self.bin / tool).unlink()
        self.command("apt-get", APT)
        for words in (("--help",), ("doctor",), ("bench", "-h"), ()):
            self.assert_started(self.run_script(*words), str(list(words)))
        self.assertEqual(self.noted(), "")


if __name__ == "__main__":
    unittest.main()
