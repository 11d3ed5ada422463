"""What the tests of common/simt/rewrite share."""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REWRITE = os.path.join(ROOT, "common", "simt", "rewrite", "rewrite.py")


class Rewriting(unittest.TestCase):
    """A folder for files and what becomes of them."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.makedirs(self.path("out"))

    def path(self, *parts: str) -> str:
        """A path in that folder."""
        return os.path.join(self.folder, *parts)

    def file(self, name: str, text: str) -> None:
        """Writes a file."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", newline="") as file:
            file.write(text)

    def rewrite(self, *words: str, within: str = "") -> subprocess.CompletedProcess[str]:
        """Runs the rewriter with these words, in that folder or in one within it."""
        return subprocess.run([sys.executable, REWRITE, *words], cwd=self.path(within), capture_output=True, text=True)

    def run_on(self, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Rewrites `text` as file k.cu into out/k.cpp; everything is relative to the test's folder."""
        self.file("k.cu", text)
        return self.rewrite("k.cu", "-o", "out/k.cpp", *options)

    def rewritten(self, text: str, *options: str) -> str:
        """What `text` is rewritten into, line for line."""
        done = self.run_on(text, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("out", "k.cpp"), newline="") as file:
            line, _, rest = file.read().partition("\n")
        self.assertEqual(line, '#line 1 "k.cu"')
        self.assertEqual(rest.count("\n"), text.count("\n"))
        return rest

    def unchanged(self, text: str) -> None:
        """`text` is left as it is."""
        self.assertEqual(self.rewritten(text), text)

    def error(self, text: str) -> str:
        """The message that refuses `text`; nothing is written."""
        done = self.run_on(text)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(os.listdir(self.path("out")), [])
        return done.stderr.strip()
