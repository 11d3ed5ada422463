"""Which files are handed out, and how they get into a new folder."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from ..core import starters
from ..core.console import Problem
from ..core.course import ROOT

# What the release for students leaves out: the solutions, everything that is made from them or holds parts of them, and
# what only an instructor uses. A pattern that ends with / is a folder.
LEFT_OUT = (
    r"\.ci/",
    r"\.github/",
    r"CHANGELOG\.md",
    r"CONTRIBUTING\.md",
    r"README\.md",  # the release has its own
    r"solutions/",
    r"labs/[^/]+/report/",
    r"common/workbook/(grading|release)/",
    r"common/workbook/verbs/(grade|gradescope|release|site|starters)\.py",
    r"reports/templates/(class|feedback|lecture)\.md",
    r"tests/(grading|labs|mistakes|mutations)/",
    r"tests/wrong/submissions/",
    r"tests/(rubric\.toml|waiting\.py)",
    r"tests/workbook/(test_inspection|test_plans|test_readme|test_starters|whole_course)\.py",
)
# Tests of what is left out are left out, too.
_TEST = re.compile(r"tests/.*\.py")
_USES_LEFT_OUT = re.compile(r"^ *(from|import) workbook(\.| import .*\b)(grading|release)\b", re.MULTILINE)
_LEFT_OUT = re.compile("|".join(pattern + (".*" if pattern.endswith("/") else "$") for pattern in LEFT_OUT))
# What the release has in other places: its own documents, the workflow that tests each push, and the container in which
# GitHub Codespaces opens it.
OWN = {
    "common/workbook/editor/devcontainer.json": ".devcontainer/devcontainer.json",
    "solutions/release/README.md": "README.md",
    "solutions/release/HANDING_IN.md": "HANDING_IN.md",
    "solutions/release/public-tests.yml": ".github/workflows/public-tests.yml",
}


def tracked(root: Path = ROOT) -> list[str]:
    """The paths of all files that git tracks. Raises Problem if the workbook is not a git repository."""
    try:
        listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Problem(
            f"{root} is not a git repository, or git is not installed. Only the files that git tracks are handed out"
        ) from error
    names = listed.stdout.decode(errors="surrogateescape").split("\0")
    return sorted(name for name in names if name and (root / name).is_file() and not (root / name).is_symlink())


def _tests_what_is_left_out(name: str, root: Path) -> bool:
    return bool(_TEST.fullmatch(name) and _USES_LEFT_OUT.search((root / name).read_text(encoding="utf-8")))


def for_students(names: Iterable[str], root: Path = ROOT) -> dict[str, str]:
    """The files of the release: path in the release -> path here."""
    left = (name for name in names if not _LEFT_OUT.match(name))
    given = {name: name for name in left if not _tests_what_is_left_out(name, root)}
    return {**given, **{place: name for name, place in OWN.items()}}


def copy(given: dict[str, str], folder: Path, root: Path = ROOT) -> None:
    """Copies the files. Starters are made from the solutions: those in labs/ may hold somebody's work."""
    made = {f"labs/{path.as_posix()}": text for path, text in starters.all_starters(root).items()}
    for place, name in given.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, target)
        if name in made:
            target.write_text(made[name], encoding="utf-8")
        shutil.copymode(root / name, target)


# --- the folder ---


def require_free(folder: Path, root: Path = ROOT) -> None:
    """Raises Problem if the folder cannot be the target: it holds something, or it is in the workbook."""
    resolved = folder.resolve()
    if resolved == root or root in resolved.parents:
        raise Problem(f"{folder} is in the workbook itself: name a folder elsewhere")
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise Problem(f"{folder} is not a folder: name one that does not exist yet")
    if folder.is_dir() and any(folder.iterdir()):
        raise Problem(f"{folder} is not empty: name a folder that does not exist yet")
    if not resolved.parent.is_dir():
        raise Problem(f"{resolved.parent} does not exist: create it first")


def fill(folder: Path, write: Callable[[Path], None]) -> None:
    """Lets `write` fill a folder beside the target, and gives it the target's name only if it succeeds."""
    with tempfile.TemporaryDirectory(dir=folder.resolve().parent, prefix=f".{folder.name}.") as temporary:
        filled = Path(temporary) / "release"
        filled.mkdir()
        write(filled)
        if folder.is_dir():
            folder.rmdir()
        filled.rename(folder)
