"""Tests with a folder of their own, and the command in this process."""

import io
import shutil
import tempfile
import unittest
from contextlib import AbstractContextManager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

from workbook import cli
from workbook.core.course import ROOT

T = TypeVar("T")
needs_git = unittest.skipUnless(shutil.which("git"), "git is not installed")
# A release is made of the files that git tracks.
needs_clone = unittest.skipUnless(
    shutil.which("git") and (ROOT / ".git").exists(), "git is not installed, or this copy is not a clone"
)


def run_cli(*words: str) -> tuple[int, str]:
    """The command's status, and what it printed."""
    with redirect_stdout(io.StringIO()) as printed, redirect_stderr(printed):
        return cli.main(words), printed.getvalue()


class InFolder(unittest.TestCase):
    """A test that has a temporary folder, and whose replacements are undone when it ends."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def replace(self, owner: object, name: str, value: object = mock.DEFAULT) -> Any:
        """Replaces a member of a module, class or object by the value, or by a mock; returns what is there now."""
        return self.enter(mock.patch.object(owner, name, value))

    def enter(self, context: "AbstractContextManager[T]") -> T:
        """Enters a context, which is left when the test ends."""
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()
