"""Files that are written whole or not at all, and locks between commands."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .console import Problem
from .course import STATE


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Writes `content` to a temporary file in the same folder and renames it to `path`."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """An empty file in the same folder, which becomes `path` when the caller has written it."""
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield Path(temporary)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def known_in(path: Path) -> dict[str, Any]:
    """The names and values in a JSON file of ours; none if it is missing or damaged."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def text_of(path: Path) -> str:
    """A file's text; "" if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def writable(path: str | os.PathLike[str]) -> str | None:
    """Why write_whole could not write `path`; None if it can. Devices, pipes and folders are not replaced."""
    path = Path(path)
    if path.exists() and not path.is_file():
        return "it is not a regular file"
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        return error.strerror
    os.close(handle)
    os.unlink(temporary)
    return None


def move_to_free_name(path: str | os.PathLike[str], target: str | os.PathLike[str]) -> Path:
    """Renames `path` to `target`, or if that exists, to `target` with -2, -3, ... before its suffix. Returns the name.

    Two commands that do this at the same time never get the same name.
    """
    path, target = Path(path), Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        free = target if number == 1 else target.with_name(f"{target.stem}-{number}{target.suffix}")
        try:
            free.open("x").close()  # reserves the name
        except FileExistsError:
            continue
        os.replace(path, free)
        return free
    raise AssertionError("unreachable")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def locked(name: str, state: Path | None = None, busy: str = "") -> Iterator[None]:
    """Holds the lock of this name: `watch` and `check` may run at the same time, two builds in one folder may not.
    `busy`: as of held()."""
    folder = Path(state or STATE)
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder / f"{name}.lock", busy):
        yield


@contextlib.contextmanager
def held(path: Path, busy: str = "") -> Iterator[None]:
    """Holds the lock that is this file. Where another command holds it, waits, or raises Problem with `busy`."""
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
        except BlockingIOError:
            raise Problem(busy) from None
        yield
