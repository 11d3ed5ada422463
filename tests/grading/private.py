"""Keeps other users out of the workbook while a test grades: as another user, submissions must not read solutions."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def private(*folders: Path) -> Iterator[None]:
    """Makes folders of ours unreadable to others, and readable again in the end if they were."""
    with contextlib.ExitStack() as held:
        for folder in dict.fromkeys(path.resolve() for path in folders):
            mode = stat.S_IMODE(folder.stat().st_mode)
            if mode & stat.S_IRWXO:
                held.callback(folder.chmod, mode)
                folder.chmod(mode & ~stat.S_IRWXO)
        yield
