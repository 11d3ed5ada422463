"""Tests with a folder of their own."""

import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock


class InFolder(unittest.TestCase):
    """A test that has a temporary folder, and whose replacements are undone when it ends."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def replace(self, owner: object, name: str, value: object = mock.DEFAULT) -> Any:
        """Replaces a member of a module, class or object by the value, or by a mock; returns what is there now."""
        patch = mock.patch.object(owner, name, value)
        self.addCleanup(patch.stop)
        return patch.start()
