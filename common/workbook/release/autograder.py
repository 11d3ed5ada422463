"""The archive that Gradescope makes an autograder of: two scripts, the whole workbook, and the secret seeds.

https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from __future__ import annotations

import secrets
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from ..core import files
from ..core.course import ROOT
from ..grading import class_run, rubric
from ..grading.grades import Run, write_run
from . import contents

SCRIPTS = ("setup.sh", "run_autograder")  # at the root of the archive
COURSE, SEEDS = "course", "seeds"  # folders in the archive


def write(path: Path, labs: Sequence[str], rubric_file: Path) -> int:
    """Writes the archive; returns the number of its files. New seeds are drawn, the same for all submissions."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        marks = rubric.read(rubric_file)
        contents.copy({f"{COURSE}/{name}": name for name in contents.tracked()}, folder)
        files.write_whole(folder / COURSE / class_run.RUBRIC.relative_to(ROOT), marks.text)
        seeds = {name: secrets.randbits(48) for name in class_run.SEEDS}
        write_run(folder / SEEDS, Run(tuple(labs), marks.text, seeds))
        for script in SCRIPTS:
            text = (ROOT / "solutions/gradescope" / script).read_text(encoding="utf-8")
            files.write_whole(folder / script, text.replace("@LABS@", " ".join(labs)))
            (folder / script).chmod(0o755)
        return _zip(folder, path)


def _zip(folder: Path, path: Path) -> int:
    """Archives all files of a folder, with their permissions. Only its owner may read the archive, which has seeds."""
    packed = sorted(file for file in folder.rglob("*") if file.is_file())
    with tempfile.NamedTemporaryFile(dir=folder) as temporary:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in packed:
                archive.write(file, file.relative_to(folder))
        path.touch(mode=0o600)
        files.write_whole(path, Path(temporary.name).read_bytes())
    return len(packed)
