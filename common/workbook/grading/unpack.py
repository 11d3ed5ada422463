"""Lists an archive and reads the files in it that are wanted. Nothing is written to the disk.

    python3 unpack.py NAME SUFFIX ... <ARCHIVE

This program runs in the sandbox, which limits its time and its memory: an archive may be made to exhaust a reader. So
it needs nothing but Python's own library. NAME ends as the archive's does. Prints one JSON object per line, for each
member {"name", "kind", "text"?}; "kind" is "file", "link", "large", "encrypted" or "other", and "text", in base64, is
there for files whose path ends with one of the suffixes. Or {"error"} in the last line, with a sentence on why the
archive is refused.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Optional, TypeVar

MOST_MEMBERS = 20_000
MOST_BYTES = 512 << 20  # of all members, unpacked
MOST_TEXT = 1 << 20  # of a file that is taken
ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")

Info = TypeVar("Info")
Member = tuple[str, str, Optional[bytes]]  # path, kind, content


_AGAIN = re.compile(r"(?: ?\((\d+)\)|-(\d+)| - (?:copy|kopie)| copy)(?=(?:\.[a-z]+)+$)")
_STEP = re.compile(r"(?:step)?[ _-]*0?(\d{1,2})[ _-]+([a-z][a-z _-]*)(\.cu)")
RESPELLED = -1  # in place of a number: a file whose name is right comes before one whose name is not


def canonical(name: str) -> tuple[str, int]:
    """A path as the course spells it, and the number that a platform or a browser gave the file.

    Labs/03-Bitonic/02_Shared (2).cu is labs/03-bitonic/02_shared.cu, number 2; Canvas writes 02_shared-2.cu. A step's
    file is known by its number and the words of its name: "Step2-shared.cu.txt" is 02_shared.cu, too.
    """
    path = name.replace("\\", "/").lower()
    numbers = [int(number) for match in _AGAIN.finditer(path) for number in match.groups() if number]
    once = _AGAIN.sub("", path)
    folder, slash, file = re.sub(r"(\.(?:cu|md))\.txt$", r"\1", once).rpartition("/")
    if step := _STEP.fullmatch(file):
        file = f"{int(step[1]):02}_{re.sub('[ _-]+', '_', step[2])}{step[3]}"
    path = f"{folder}{slash}{file}"
    return path, max(numbers, default=0 if path == once else RESPELLED)


def is_wanted(name: str, suffixes: Sequence[str]) -> bool:
    """Whether a path ends with one of the suffixes."""
    return canonical(name)[0].endswith(tuple(suffixes))


class Refused(Exception):
    """The archive is not read any further; the text is a sentence."""


def check_name(name: str) -> None:
    """Raises Refused for a path that leads out of the folder that an archive is unpacked into."""
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or name.startswith(("/", "\\")) or (len(name) > 1 and name[1] == ":"):
        raise Refused(f"the archive has a member whose path leads out of it: {name[:200]!r}")


def checked(members: Iterable[tuple[Info, str, int]]) -> Iterator[Info]:
    """The members, which come with their names and sizes. Raises Refused if they are too many or too large."""
    total = 0
    for number, (info, name, size) in enumerate(members, 1):
        total += max(size, 0)
        if number > MOST_MEMBERS:
            raise Refused(f"the archive has more than {MOST_MEMBERS:,} members")
        if total > MOST_BYTES:
            raise Refused(f"the archive holds more than {MOST_BYTES >> 20} MiB")
        check_name(name)
        yield info


def member(name: str, file: IO[bytes] | None) -> Member:
    """A file that is wanted."""
    content = file.read(MOST_TEXT + 1) if file else b""
    return (name, "large", None) if len(content) > MOST_TEXT else (name, "file", content)


def members_of_zip(stream: IO[bytes], suffixes: Sequence[str]) -> Iterator[Member]:
    """The members of a zip archive."""
    with zipfile.ZipFile(stream) as archive:
        for info in checked((info, info.filename, info.file_size) for info in archive.infolist()):
            unix = info.external_attr >> 16 & 0o170000
            if info.is_dir():
                continue
            kind = "link" if unix == 0o120000 else "file" if unix in (0, 0o100000) else "other"
            if kind != "file" or not is_wanted(info.filename, suffixes):
                yield info.filename, kind, None
            elif info.flag_bits & 1:
                yield info.filename, "encrypted", None
            else:
                with archive.open(info) as file:
                    yield member(info.filename, file)


def members_of_tar(stream: IO[bytes], suffixes: Sequence[str]) -> Iterator[Member]:
    """The members of a tar archive, compressed or not. Read from its beginning to its end: sizes are known before."""
    with tarfile.open(fileobj=stream, mode="r|*") as archive:
        for info in checked((info, info.name, info.size) for info in archive):
            if info.isdir():
                continue
            kind = "file" if info.isreg() else "link" if info.issym() or info.islnk() else "other"
            if kind == "file" and is_wanted(info.name, suffixes):
                yield member(info.name, archive.extractfile(info))
            else:
                yield info.name, kind, None


def members(name: str, stream: IO[bytes], suffixes: Sequence[str]) -> Iterator[Member]:
    """The members of an archive. Raises Refused."""
    read = members_of_zip if name.lower().endswith(".zip") else members_of_tar
    try:
        yield from read(stream, suffixes)
    except Refused:
        raise
    except MemoryError as error:
        raise Refused("the archive needs too much memory") from error
    except Exception as error:  # whatever its fault, it cannot be used
        raise Refused(f"the archive cannot be read: {str(error)[:200] or type(error).__name__}") from error


def main() -> int:
    """Prints the members of the archive on standard input."""
    try:
        for name, kind, content in members(sys.argv[1], sys.stdin.buffer, sys.argv[2:]):
            text = {} if content is None else {"text": base64.b64encode(content).decode()}
            print(json.dumps({"name": name, "kind": kind, **text}))
    except Refused as refused:
        print(json.dumps({"error": str(refused)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
