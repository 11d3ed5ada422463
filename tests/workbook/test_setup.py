"""The `workbook` script: where it finds itself, what it installs, and that it does so once.

It runs on a simulated machine: a folder of commands that record their arguments, so that nothing is installed and the
network is not used.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from in_folder import InFolder

from workbook.core.course import BUILD, ROOT

TOOLS = (
    "sh",
    "cksum",
    "dirname",
    "readlink",
    "mkdir",
    "mv",
    "rm",
    "cat",
    "tail",
    "uname",
    "env",
    "sed",
    "tr",
    "uniq",
    "true",
)
MODULES = (
    "meson",
    "ninja",
    "rich",
    "jinja2",
    "markdown-it-py",
    "matplotlib",
    "pyelftools",
    "tree-sitter",
    "tree-sitter-cuda",
)
HEADERS = "doctest-dev libcli11-dev libfmt-dev nlohmann-json3-dev"
HERE = "#!/bin/sh\necho 1.11\n"
COMPILER = '#!/bin/sh\n[ ! -e "$LACKS" ] || exit 1\ncat >/dev/null\n'
# What is installed is there afterwards.
APT = (
    '#!/bin/sh\n[ "$2" != -o ] || shift 3\necho "apt-get $*" >>"$NOTES"\ncase "$*" in install*) rm -f "$LACKS";; esac\n'
)


def program(name: str) -> str:
    """The path of a program that every system has."""
    path = shutil.which(name)
    assert path, name
    return path


class Script(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.root = self.folder / "a workbook"
        package = self.root / "common/workbook"
        package.mkdir(parents=True)
        shutil.copy(ROOT / "workbook", self.root)
        shutil.copy(ROOT / "pyproject.toml", self.root)
        (package / "__init__.py").touch()
        (package / "__main__.py").write_text(
            "import sys\ndef main():\n    print('started with', sys.argv[1:])\n    return 7\n"
        )
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(program(tool))
        for name in ("ninja", "meson", "git", "pkg-config", "addr2line"):
            self.command(name, HERE)
        self.command("g++", COMPILER)
        self.command("id", "#!/bin/sh\necho 0\n")
        self.lacks = self.folder / "lacks"  # while this is there, the compiler finds no header
        self.notes = self.folder / "notes"
        self.modules = self.folder / "modules"  # the distribution's Python packages
        for name in MODULES:
            self.module(self.modules, name, "99.0")
        for name in ("ensurepip.py", "pip.py"):  # Debian's python3 alone has neither
            (self.modules / name).touch()
        self.environment = {
            "PATH": str(self.bin),
            "PYTHONPATH": str(self.modules),
            "LACKS": str(self.lacks),
            "NOTES": str(self.notes),
            "HOME": str(self.folder),
        }
        if not os.path.exists("/usr/bin/python3"):
            (self.bin / "python3").symlink_to(sys.executable)

    @staticmethod
    def module(folder: Path, name: str, version: str) -> None:
        """A Python package of which only the name and the version exist."""
        info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")

    def command(self, name: str, text: str) -> None:
        """A command of the simulated machine."""
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)

    def run_script(
        self, *words: str, path: Path | str | None = None, folder: Path | None = None, **more: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(path or self.root / "workbook"), *words],
            capture_output=True,
            text=True,
            cwd=folder or self.folder,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            timeout=600,
            check=False,
        )

    def assert_started(self, done: subprocess.CompletedProcess, words: str = "['bench', 'a b']") -> None:
        self.assertEqual((done.stdout, done.returncode), (f"started with {words}\n", 7), done.stderr)

    def noted(self) -> str:
        return self.notes.read_text() if self.notes.exists() else ""

    def test_starts_from_anywhere(self) -> None:
        self.assert_started(self.run_script("bench", "a b"))
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "workbook.py").write_text("raise SystemExit('the wrong module')\n")
        (elsewhere / "link").symlink_to("second")
        (elsewhere / "second").symlink_to(os.path.relpath(self.root / "workbook", elsewhere))
        for path in (elsewhere / "link", "./link", "../a workbook/workbook"):
            self.assert_started(self.run_script("bench", "a b", path=path, folder=elsewhere))
        self.assertEqual([p.name for p in elsewhere.iterdir() if p.name == ".workbook"], [])

    def test_with_everything_here_nothing_is_installed_or_printed(self) -> None:
        self.command("apt-get", APT)
        done = self.run_script("bench", "a b")
        self.assert_started(done)
        self.assertEqual((done.stderr, self.noted()), ("", ""))
        self.assertFalse((self.root / ".venv").exists())

    def test_what_is_missing_is_announced_and_installed_once(self) -> None:
        self.command("apt-get", APT)
        self.lacks.touch()
        done = self.run_script("bench", "a b")
        self.assert_started(done)
        self.assertIn(f"installing system packages: {HEADERS}", done.stderr)
        self.assertEqual(self.noted().splitlines()[0], "apt-get update")
        self.assertIn(f"install -y --no-install-recommends {HEADERS}", self.noted())
        self.notes.unlink()
        self.lacks.touch()
        self.assert_started(self.run_script("bench", "a b"))
        self.assertEqual(self.noted(), "")  # it looks once

    def test_a_copy_or_a_new_script_is_made_ready_again(self) -> None:
        self.assert_started(self.run_script("bench", "a b"))
        moved = self.folder / "moved"
        self.root.rename(moved)
        self.root = moved
        self.command("apt-get", APT)
        self.lacks.touch()
        self.assert_started(self.run_script("bench", "a b"))
        self.assertIn("install", self.noted())

    def test_an_interrupted_set_up_goes_on(self) -> None:
        self.command("apt-get", "#!/bin/sh\nkill -9 $PPID\n")
        self.lacks.touch()
        self.assertNotEqual(self.run_script("bench").returncode, 0)
        self.assertFalse((self.root / ".workbook/ready").exists())
        self.command("apt-get", APT)
        self.assert_started(self.run_script("bench", "a b"))

    def test_a_folder_that_cannot_be_written(self) -> None:
        (self.root / ".workbook").touch()
        done = self.run_script("bench")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(
            done.stderr, f"workbook: {self.root} is not writable: copy the workbook to a folder of your own\n"
        )

    def test_without_a_package_manager_it_prints_what_to_type(self) -> None:
        self.lacks.touch()
        (self.bin / "g++").unlink()
        done = self.run_script("bench")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(f"sudo apt-get install g++ {HEADERS}", done.stderr)
        self.assertIn("sudo dnf install", done.stderr)
        self.assertFalse((self.root / ".workbook/ready").exists())

    def test_without_root_packages_are_only_unpacked(self) -> None:
        self.command("apt-get", '#!/bin/sh\necho "$*" >>"$NOTES"\n: >"$3_1_all.deb"\n')
        self.command("dpkg-deb", '#!/bin/sh\necho "dpkg-deb $*" >>"$NOTES"\nrm -f "$LACKS"\n')
        self.command("id", "#!/bin/sh\necho 1000\n")
        self.lacks.touch()
        done = self.run_script("bench", "a b")
        self.assert_started(done)
        self.assertIn(f"unpacked into .workbook/unpacked instead of being installed: {HEADERS}\n", done.stderr)
        self.assertNotIn("Meson", done.stderr)
        first = ["-q download doctest-dev", "dpkg-deb -x doctest-dev_1_all.deb ."]
        self.assertEqual(self.noted().splitlines()[:2], first)
        self.assertEqual(list((self.root / ".workbook/unpacked").iterdir()), [])

    def test_without_root_and_such_packages_meson_downloads_the_libraries(self) -> None:
        self.command("apt-get", '#!/bin/sh\necho "E: no network"\nexit 100\n')
        self.command("id", "#!/bin/sh\necho 1000\n")
        self.lacks.touch()
        done = self.run_script("bench", "a b")
        self.assert_started(done)
        self.assertIn("could not download doctest-dev:  E: no network\n", done.stderr)
        self.assertIn(f"Meson will try to download these libraries into subprojects/: {HEADERS}\n", done.stderr)
        self.assertIn("continuing without: libhwy-dev", done.stderr)

    def test_without_root_and_without_a_compiler_nothing_is_built(self) -> None:
        self.command("apt-get", APT)
        self.command("id", "#!/bin/sh\necho 1000\n")
        (self.bin / "g++").unlink()
        done = self.run_script("bench")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("Only root can install them. Then run this command again:", done.stderr)
        self.assertEqual(self.noted(), "")

    def test_ctrl_c_waits_for_apt_and_says_so(self) -> None:
        begun, over = self.folder / "begun", self.folder / "over"
        self.command("apt-get", f"#!/bin/sh\ntrap '' INT\n: >'{begun}'\n{program('sleep')} 1\n: >'{over}'\n")
        self.lacks.touch()
        process = subprocess.Popen(
            [str(self.root / "workbook"), "bench"],
            env=self.environment,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        while not begun.exists():
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        told = process.communicate(timeout=600)[1]
        self.assertIn("waiting for apt to finish", told)
        self.assertEqual((process.returncode, over.exists()), (130, True))

    def test_where_meson_cannot_be_installed_the_cause_is_shown(self) -> None:
        (self.modules / "meson-99.0.dist-info").rename(self.folder / "gone")
        (self.bin / "meson").unlink()
        self.simulate_venv(pip_works=False)
        done = self.run_script("bench")
        self.assertEqual(done.returncode, 1)
        self.assertIn("into .venv (see .workbook/install.log):\n  ERROR: no network\n", done.stderr)
        self.assertFalse((self.root / ".workbook/ready").exists())
        (self.root / ".workbook/probe").symlink_to("/dev/full")
        self.assertIn("(see .workbook/install.log):\n  cannot write to ", self.run_script("bench").stderr)

    def test_python_packages_come_from_the_distribution_first(self) -> None:
        self.command("apt-get", APT + f'case "$*" in install*) mv "{self.folder}"/away/* "{self.modules}";; esac\n')
        (self.folder / "away").mkdir()
        # Packages that do not exist: the distribution's own Python, which runs here, may have the real ones.
        project = self.root / "pyproject.toml"
        project.write_text(project.read_text().replace('"rich>=12"', '"first-fiction>=1",\n  "second-fiction>=1"'))
        for name in ("first-fiction", "second-fiction"):
            self.module(self.folder / "away", name, "99.0")
        done = self.run_script("bench", "a b")
        self.assert_started(done)
        self.assertIn("installing system packages: python3-first-fiction python3-second-fiction\n", done.stderr)
        self.assertFalse((self.root / ".venv").exists())

    def test_python_packages_that_are_too_old_come_from_pip(self) -> None:
        (self.modules / "rich-99.0.dist-info").rename(self.folder / "old")
        self.module(self.modules, "rich", "1.0")
        self.simulate_venv()
        done = self.run_script("bench", "a b")
        self.assert_started(done)
        self.assertIn("installing into .venv: rich>=12", done.stderr)
        self.assertIn("pip install -q --disable-pip-version-check --retries 2 --timeout 20 rich>=12", self.noted())
        self.assertNotIn("continuing without", done.stderr)

    def test_only_test_installs_what_checks_the_sources(self) -> None:
        self.simulate_venv()
        style = "clang-format==20.1.8 ruff==0.17.6 mypy==2.4.1"
        self.assert_started(self.run_script("bench", "a b"))
        self.assertEqual(self.noted(), "")
        for noted in (1, 1):  # once
            self.assert_started(self.run_script("test"), "['test']")
            self.assertEqual(self.noted().count(style), noted)

    def test_where_nothing_checks_the_sources_the_tests_start_all_the_same(self) -> None:
        self.simulate_venv(pip_works=False)
        for _ in range(2):
            done = self.run_script("test")
            self.assert_started(done, "['test']")
            self.assertIn("the suite 'style' will be skipped", done.stderr)

    def simulate_venv(self, pip_works: bool = True) -> None:
        """An environment in .venv whose pip records its arguments and installs nothing but their names."""
        python = self.root / ".venv/bin/python3"
        python.parent.mkdir(parents=True)
        real = self.bin / "python3" if (self.bin / "python3").exists() else Path("/usr/bin/python3")
        outcome = f": >'{self.root}/.venv/new'" if pip_works else "echo 'ERROR: no network'; exit 1"
        python.write_text(
            f"""#!/bin/sh
case "$*" in
  "-m pip"*) echo "$*" | sed 's/^-m //' >>"$NOTES"; {outcome} ;;
  *) [ ! -e '{self.root}/.venv/new' ] || export PYTHONPATH='{self.folder}/newer'
     exec '{real}' "$@" ;;
esac
"""
        )
        python.chmod(0o755)
        for name in MODULES:
            self.module(self.folder / "newer", name, "99.0")
        (self.folder / "newer/pip.py").touch()

    def test_sudo_is_used_never_asks_and_keeps_the_proxy(self) -> None:
        self.command("apt-get", APT + 'echo "proxy ${http_proxy-none}" >>"$NOTES"\n')
        self.command("id", "#!/bin/sh\necho 1000\n")
        # As sudo does by default: the caller's variables do not pass, assignments on its command line do.
        self.command(
            "sudo",
            '#!/bin/sh\necho "sudo $*" >>"$NOTES"\n[ "$1" = -n ] && shift\n'
            'exec env -i PATH="$PATH" NOTES="$NOTES" LACKS="$LACKS" "$@"\n',
        )
        self.lacks.touch()
        self.assert_started(self.run_script("bench", "a b", http_proxy="http://proxy:1"))
        self.assertIn("sudo -n env ", self.noted())
        self.assertIn("proxy http://proxy:1", self.noted())

    def test_a_sudo_that_wants_a_password_is_not_used(self) -> None:
        self.command("apt-get", APT)
        self.command("id", "#!/bin/sh\necho 1000\n")
        self.command("sudo", '#!/bin/sh\n[ "$1" = -n ] && exit 1\necho asked >>"$NOTES"\n')
        self.lacks.touch()
        self.assert_started(self.run_script("bench", "a b"))
        self.assertNotIn("asked", self.noted())
        self.assertNotIn(" install ", self.noted())

    def test_the_tests_install_what_they_need_once(self) -> None:
        (self.root / "solutions").mkdir()  # the other compiler builds those
        self.command("apt-get", APT)
        self.assert_started(self.run_script("bench", "a b"))
        self.assertEqual(self.noted(), "")
        for _ in range(2):
            self.assert_started(self.run_script("test"), "['test']")
        installed = [line for line in self.noted().splitlines() if line.startswith("apt-get")]
        wanted = "apt-get install -y --no-install-recommends bubblewrap gdb clang"
        self.assertEqual(installed, ["apt-get update", wanted])

    def test_the_debugger_is_installed_when_it_is_used(self) -> None:
        self.command("apt-get", APT)
        for _ in range(2):
            self.assert_started(self.run_script("debug", "1"), "['debug', '1']")
        installed = [line for line in self.noted().splitlines() if " install " in line]
        self.assertEqual(installed, ["apt-get install -y --no-install-recommends gdb"])

    def test_a_failed_installation_names_the_packages(self) -> None:
        self.command("apt-get", '#!/bin/sh\necho "E: no network"\nexit 100\n')
        (self.bin / "g++").unlink()
        done = self.run_script("bench")
        self.assertEqual(done.returncode, 1)
        self.assertIn("E: no network", done.stderr)
        self.assertIn("Then run this command again", done.stderr)

    def test_help_and_doctor_need_only_python(self) -> None:
        for tool in ("g++", "ninja", "meson"):
            (self.bin / tool).unlink()
        self.command("apt-get", APT)
        for words in (("--help",), ("doctor",), ("bench", "-h"), ()):
            self.assert_started(self.run_script(*words), str(list(words)))
        self.assertEqual(self.noted(), "")


class Suite(unittest.TestCase):
    def test_every_file_of_tests_is_run(self) -> None:
        """Meson lists the files when it configures; a file added since must not be left out silently."""
        folder = Path(os.environ.get("WORKBOOK_TEST_BUILD", BUILD))
        listed = {test["name"] for test in json.loads((folder / "meson-info/intro-tests.json").read_text())}
        names = {"workbook-" + path.stem[len("test_") :] for path in (ROOT / "tests/workbook").glob("test_*.py")}
        self.assertEqual(names - listed, set(), "run meson setup --reconfigure")
