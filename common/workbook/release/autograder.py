"""The archive that Gradescope makes an autograder of: two scripts, the whole workbook, and the secret seeds.

https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from ..core import files
from ..core.console import Usage
from ..core.course import ROOT
from ..grading import class_run, rubric
from ..grading.grades import Run, from_json, run_file, write_run
from . import contents

SCRIPTS = ("setup.sh", "run_autograder")  # at the root of the archive
COURSE, SEEDS = "course", "seeds"  # folders in the archive


def seeds_in(archive: Path) -> dict[str, int]:
    """The seeds of an archive that was written before. Raises Usage if it has none."""
    try:
        with zipfile.ZipFile(archive) as packed:
            seeds = from_json(Run, packed.read(run_file(Path(SEEDS)).as_posix()).decode()).seeds
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise Usage(f"{archive} is not an archive with seeds: name one that ./workbook gradescope wrote") from error
    if set(seeds) != set(class_run.SEEDS):
        raise Usage(f"{archive} has the seeds of another version of the workbook: leave out --seeds-of")
    return seeds


def write(path: Path, labs: Sequence[str], rubric_file: Path, seeds: dict[str, int]) -> int:
    """Writes the archive, with these seeds for all submissions; returns the number of its files."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        marks = rubric.read(rubric_file)
        contents.copy({f"{COURSE}/{name}": name for name in contents.tracked()}, folder)
        files.write_whole(folder / COURSE / class_run.RUBRIC.relative_to(ROOT), marks.text)
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
