"""Finds the workbook's repositories on this machine: what a submission must not read, wherever it is."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from ..core import machine
from ..core.course import ROOT, labs

MOST_FOLDERS = 20_000  # looked at: a clone is seldom deep below others, and folders are taken by their depth
# Folders of the system, of which a few are large.
_SYSTEM = ("bin", "boot", "dev", "lib", "lib32", "lib64", "libx32", "lost+found", "proc", "sbin", "snap", "sys", "usr")
_LARGE = ("node_modules", "__pycache__", "site-packages", "objects")
_OF_KERNEL = ("proc", "sys")  # file systems that another system's root has, too


def _folders_in(folder: Path, skipped: Sequence[str]) -> list[Path]:
    """Folders in this one."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return [
            Path(entry.path)
            for entry in entries
            if entry.name not in skipped
            and entry.is_dir(follow_symlinks=False)
            and not (entry.name in _OF_KERNEL and os.path.ismount(entry.path))
        ]
    return []


def _holds_course(folder: Path, first_commit: str | None) -> bool:
    """Whether this is a checkout of the workbook, a copy with its solutions, or a repository without a checkout.

    Not, if we may not enter the folder. Methods of Path would raise PermissionError then.
    """
    lab, is_folder = labs()[0], os.path.isdir
    if is_folder(folder / "solutions" / lab) or (os.path.exists(folder / ".git") and is_folder(folder / "labs" / lab)):
        return True
    is_bare = os.path.isfile(folder / "HEAD") and is_folder(folder / "objects") and is_folder(folder / "refs")
    return bool(
        is_bare
        and first_commit
        and machine.answer("git", "--git-dir", str(folder), "cat-file", "-t", first_commit) is not None
    )


def checkouts(top: Path = Path("/")) -> list[Path]:
    """Folders with the workbook or its history: this one, its repository, and others below `top`."""
    git = ["git", "-C", str(ROOT)]
    repository = machine.answer(*git, "rev-parse", "--path-format=absolute", "--git-common-dir")
    first = machine.answer(*git, "rev-list", "--max-parents=0", "HEAD")
    first_commit = first.split()[0] if first and first.split() else None
    found = [ROOT, *([Path(repository.strip())] if repository else [])]
    left = deque([top, top / "usr/local", top / "usr/src"])
    for _ in range(MOST_FOLDERS):
        if not left:
            break
        folder = left.popleft()
        if _holds_course(folder, first_commit):
            found.append(folder)
        else:
            left.extend(_folders_in(folder, _SYSTEM if folder == top else _LARGE))
    return outermost(found)


def secrets(top: Path = Path("/")) -> list[Path]:
    """What submissions must not read of these: solutions, what is made from them, tests and the history."""
    found: list[Path] = []
    for folder in checkouts(top):
        inside = [folder / name for name in ("solutions", "tests", "build", ".git")]
        found += [path for path in inside if path.is_dir()] or [folder]  # of a worktree, .git is a file
    return found


def outermost(paths: list[Path]) -> list[Path]:
    """Those of the paths that are in no other."""
    found: list[Path] = []
    for path in sorted({path.resolve() for path in paths}):
        if not any(path.is_relative_to(other) for other in found):
            found.append(path)
    return found
