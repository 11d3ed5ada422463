"""Files that are either whole or not there, and commands that do not get in each other's way."""

import contextlib
import fcntl
import itertools
import os
import tempfile
from pathlib import Path

from .course import STATE


def write_whole(path, content):
    """Writes `content` (str or bytes) to a temporary file beside `path` and renames it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def writable(path):
    """Why write_whole could not write `path`; None if it can. Devices, pipes and directories are not replaced."""
    path = Path(path)
    if path.exists() and not path.is_file():
        return "it is no regular file"
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        return error.strerror
    os.close(handle)
    os.unlink(temporary)
    return None


def move_to_free_name(path, target):
    """Renames `path` to `target`, where that is taken to `target` with -2, -3, .. before its suffix; gives the name.

    Two commands that do this at once never get the same name.
    """
    path, target = Path(path), Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        free = target if number == 1 else target.with_name(f"{target.stem}-{number}{target.suffix}")
        try:
            free.open("x").close()  # from now on the name is ours
        except FileExistsError:
            continue
        os.replace(path, free)
        return free


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def locked(name, state=None):
    """Holds the lock of this name: a `watch` and a `check` may run at once, two builds in one folder may not."""
    folder = Path(state or STATE)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
