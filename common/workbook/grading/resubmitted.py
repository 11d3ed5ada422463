"""Whether a student has handed in something else since the submission was graded."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from .handed_in import Handed
from .unpack import MOST_MEMBERS

MOST_BYTES = 64 << 20  # of a file that are read: a student may hand in one without end


def with_contents(handed: Sequence[Handed]) -> list[Handed]:
    """The same with the hashes of what was handed in."""
    return [replace(one, content=content(one)) for one in handed]


def content(handed: Handed) -> str:
    """A hash of the names and contents of all files. Hidden ones are not part of it, such as the history of a clone and
    what a file manager leaves behind. Links count by what they name."""
    digest = hashlib.sha256()
    for name, path in handed.parts:
        for number, (relative, file) in enumerate(_files(path)):
            if number > MOST_MEMBERS:
                break
            digest.update(os.fsencode(f"\0{name}\0{relative}\0"))
            digest.update(_content(file))
    return digest.hexdigest()


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """The files below a folder, in order, or the file itself."""
    if not path.is_dir():
        yield "", path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]  # which are not entered
        for name in sorted([*names, *links]):
            if not name.startswith("."):
                file = Path(folder, name)
                yield str(file.relative_to(path)), file


def _content(file: Path) -> bytes:
    """The hash of a file; of what is not one, or cannot be read, something that says so."""
    try:
        if file.is_symlink():
            return os.fsencode(os.readlink(file))
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as opened:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                return b"not a file"
            return hashlib.sha256(opened.read(MOST_BYTES)).digest() + str(about.st_size).encode()
    except OSError:
        return b"unreadable"
