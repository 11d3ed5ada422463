"""Writes the files that VS Code needs for the workbook, and a dev container for VS Code and GitHub Codespaces."""

import argparse
import os

from ..core import files
from ..core.course import ROOT

SOURCES = ROOT / "common/workbook/editor"
# Where each file of SOURCES goes, below the workbook's folder.
PLACES = {
    "tasks.json": ".vscode",
    "launch.json": ".vscode",
    "c_cpp_properties.json": ".vscode",
    "extensions.json": ".vscode",
    "devcontainer.json": ".devcontainer",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb has no options."""


def main(_arguments: argparse.Namespace) -> int:
    """Writes those that are not there, and says what it did with each."""
    for name, folder in PLACES.items():
        target = ROOT / folder / name
        if os.path.lexists(target):
            print(f"left as it is  {folder}/{name}")
        else:
            files.write_whole(target, (SOURCES / name).read_text(encoding="utf-8"))
            print(f"written        {folder}/{name}")
    return 0
