"""How Meson sets up the build: without the distribution's headers, from the releases that subprojects/ names; and
without the cpu build.

No network is used: Meson finds the archives, packed here from the installed headers, in subprojects/packagecache.
"""

from __future__ import annotations

import configparser
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from workbook.core import build, machine
from workbook.core.course import ROOT

# Wrap: a header, and where the release has its headers.
HEADERS = {
    "doctest": ("doctest/doctest.h", "."),
    "CLI11": ("CLI/CLI.hpp", "include"),
    "fmt": ("fmt/format.h", "include"),
    "nlohmann_json": ("nlohmann/json.hpp", "include"),
}


def wrap(name: str, root: Path = ROOT) -> configparser.SectionProxy:
    """What subprojects/NAME.wrap says."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(root / f"subprojects/{name}.wrap")
    return parser["wrap-file"]


def header_folder(header: str) -> Path | None:
    """The folder of a header's package, where the compiler finds it; None where it does not."""
    command = [*(machine.compiler() or ["c++"]), machine.UNPACKED, "-E", "-x", "c++", "-std=c++20", "-"]
    text = machine.answer(*command, given=f"#include <{header}>\n") or ""
    found = re.search(rf'"([^"\n]*){re.escape("/" + header)}"', text)
    return Path(found[1]) / Path(header).parts[0] if found else None


class Wraps(unittest.TestCase):
    def test_each_wrap_names_a_release_of_the_project_and_its_hash(self) -> None:
        self.assertEqual({path.stem for path in (ROOT / "subprojects").glob("*.wrap")}, set(HEADERS))
        for name in HEADERS:
            with self.subTest(name=name):
                self.assertRegex(
                    wrap(name)["source_url"],
                    r"^https://github\.com/(doctest/doctest|CLIUtils/CLI11|fmtlib/fmt|nlohmann/json)/(archive|releases)/",
                )
                self.assertRegex(wrap(name)["source_hash"], r"^[0-9a-f]{64}$")

    def test_the_build_is_set_up_from_archives_alone(self) -> None:
        if not all(header_folder(header) for header, _ in HEADERS.values()):
            self.skipTest("this machine has no headers to pack archives from")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name) / "workbook"
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns("build*", ".*", "__pycache__", "subprojects"))
        shutil.copytree(ROOT / "subprojects/packagefiles", root / "subprojects/packagefiles")
        for name in HEADERS:
            self.pack(name, root)
        done = subprocess.run(
            [*build.meson(), "setup", "build", "-Dcuda=disabled", "-Dwrap_mode=forcefallback"],
            cwd=root,
            env=build.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        commands = json.loads((root / "build/compile_commands.json").read_text())
        users = {"judge-lib-unity0.cpp": ("fmt", "nlohmann_json"), "graded/graded.cpp": ("CLI11", "doctest")}
        for source, libraries in users.items():
            command = next(entry["command"] for entry in commands if entry["file"].endswith(source))
            for name in libraries:
                self.assertIn(f"subprojects/{wrap(name)['directory']}", command)

    @unittest.skipUnless(shutil.which("nvcc"), "nvcc is not installed")
    def test_one_build_can_be_set_up_without_the_other(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [*build.meson(), "setup", folder, str(ROOT), "-Dcpu=disabled"],
                env=build.environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            targets = json.loads((Path(folder) / "meson-info/intro-targets.json").read_text())
            names = {target["name"] for target in targets}
            self.assertIn("05-radix-cuda", names)
            self.assertNotIn("05-radix-cpu", names)

    def pack(self, name: str, root: Path) -> None:
        """Puts an archive of the installed headers into packagecache, and a wrap whose hash fits it."""
        settings = wrap(name)
        header, place = HEADERS[name]
        release = root / settings["directory"]
        source = header_folder(header)
        assert source
        shutil.copytree(source, release / place / source.name)
        cache = root / "subprojects/packagecache"
        cache.mkdir(exist_ok=True)
        filename = settings["source_filename"]
        form, top = ("zip", release) if filename.endswith(".zip") else ("gztar", root)
        base = str(cache / re.sub(r"\.(zip|tar\.gz)$", "", filename))
        shutil.make_archive(base, form, top, "." if form == "zip" else release.name)
        shutil.rmtree(release)
        text = (ROOT / f"subprojects/{name}.wrap").read_text()
        digest = hashlib.sha256((cache / filename).read_bytes()).hexdigest()
        (root / f"subprojects/{name}.wrap").write_text(text.replace(settings["source_hash"], digest))
