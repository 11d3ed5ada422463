"""Runs reports/notebook.ipynb, as far as this machine can: without a GPU, the cells that need one say so.

    run_notebook.py BUILD

Exits with 77, which Meson counts as "not run", where nbclient or ipykernel is missing, and where BUILD is not build/ of
the workbook, which the notebook's commands use.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "reports/notebook.ipynb"
SKIPPED = 77
SECONDS = 900  # a cell that hangs ends after these


def executed() -> Any:
    """The notebook with the outputs of its cells."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, 4)
    client = NotebookClient(
        notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOK.parent)}}
    )
    return client.execute()


def printed(cell: Any) -> str:
    """What a cell has printed."""
    return "".join(output.get("text", "") for output in cell["outputs"])


class Notebook(unittest.TestCase):
    """All cells, one after another."""

    def test_all_cells_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):
                os.environ[name] = folder  # so that nothing is left in the home directory
            cells = [cell for cell in executed()["cells"] if cell["cell_type"] == "code"]
        text = "\n".join(printed(cell) for cell in cells)
        kinds = {output["output_type"] for cell in cells for output in cell["outputs"]}
        self.assertNotIn("error", kinds)
        for step in ("1", "2"):
            self.assertIn(f"$ ./workbook check 03-bitonic {step}", text)
        self.assertEqual(text.count("Passed all public tests"), 2, text)
        if not shutil.which("nvidia-smi"):
            self.assertIn("No GPU answers.", text)
            self.assertEqual(text.count("not run: this needs a GPU"), 2, text)
        self.assertIn("2^28:" if not shutil.which("nvidia-smi") else "2^24:", text)
        pictures = [output for cell in cells for output in cell["outputs"] if "image/png" in output.get("data", {})]
        self.assertEqual(len(pictures) == 1, bool(importlib.util.find_spec("matplotlib")))


if __name__ == "__main__":
    missing = [name for name in ("nbclient", "nbformat", "ipykernel") if not importlib.util.find_spec(name)]
    if missing:
        print(f"not run: {', '.join(missing)} not found; ./workbook test installs what it can")
        sys.exit(SKIPPED)
    if Path(sys.argv.pop(1)).resolve() != (ROOT / "build").resolve():
        print("not run: the notebook's commands use build/, and this is another folder")
        sys.exit(SKIPPED)
    unittest.main()
