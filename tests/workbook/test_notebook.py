"""The notebook's form, and how it finds the workbook. run_notebook.py runs all of it."""

import contextlib
import io
import json
import os
import re
import subprocess
import unittest
from pathlib import Path
from typing import Any

from in_folder import InFolder, needs_git

from workbook import cli
from workbook.core.course import ROOT, find_step, labs

CELLS = json.loads((ROOT / "reports/notebook.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]


class Form(unittest.TestCase):
    """What git keeps."""

    def test_no_output_is_kept(self) -> None:
        for cell in CELLS:
            self.assertFalse(cell.get("outputs") or cell.get("execution_count"), cell["id"])
        self.assertEqual(len({cell["id"] for cell in CELLS}), len(CELLS))

    def test_what_it_names_exists(self) -> None:
        names: dict[str, Any] = {}
        exec(CODE[0], names)
        self.assertIn(names["LAB"], labs())
        for step in names["STEPS"]:
            find_step(names["LAB"], step)
        verbs = re.findall(r'workbook\("(\w+)"|words = \["(\w+)"', "\n".join(CODE))
        self.assertGreater(len(verbs), 3)
        for found in verbs:
            self.assertIn("".join(found), cli.VERBS)


class Clone(InFolder):
    """The second cell: in a clone, beside one, and without any."""

    def root(self, folder: Path, repository: str = "") -> Path:
        """What the cell takes for the workbook, if the notebook is in a folder."""
        names: dict[str, Any] = {"REPOSITORY": repository}
        before = Path.cwd()
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(CODE[1], names)
        finally:
            os.chdir(before)
        return Path(names["root"])

    def test_in_a_clone_it_is_used(self) -> None:
        self.assertEqual(self.root(ROOT / "reports"), ROOT)

    @needs_git
    def test_elsewhere_it_is_cloned_once(self) -> None:
        with self.assertRaisesRegex(ValueError, "set REPOSITORY in the first cell"):
            self.root(self.folder)
        source = self.folder / "source"
        (source / "labs").mkdir(parents=True)
        (source / "workbook").touch()
        (source / "labs/README.md").touch()
        git = ["git", "-C", str(source), "-c", "user.name=x", "-c", "user.email=x"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
            subprocess.run([*git, *words], check=True)
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        for _ in range(2):
            self.assertEqual(self.root(elsewhere, source.as_uri()), elsewhere / "sorting-workbook")


if __name__ == "__main__":
    unittest.main()
