"""A small copy of the workbook to open: one lab, and a command that stands for ./workbook."""

import shutil
import sys
from pathlib import Path

from workbook.browser.work import Work
from workbook.core.course import ROOT

LAB = "01-odd-even"
COMMAND = [sys.executable, str(Path(__file__).parent / "fake_command.py")]


def small_course(root: Path) -> Path:
    """Copies what is shown into a folder."""
    shutil.copytree(ROOT / "labs" / LAB, root / "labs" / LAB)
    shutil.copytree(ROOT / "labs/figures", root / "labs/figures")
    for name in ("README.md", "labs/README.md"):
        shutil.copyfile(ROOT / name, root / name)
    return root


def work_in(root: Path) -> Work:
    """The work in such a copy. The caller closes it."""
    return Work(root, root / ".workbook", COMMAND)
