"""Files that are either whole or not there, and commands that do not get in each other's way."""

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path

from .paths import STATE


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
