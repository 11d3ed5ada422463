"""Files made from report.md. Each ends with a signature, so that changes by hand are noticed and not overwritten."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..core import files


def _signature(text: str, comment: str) -> str:
    """The last line: a comment with a checksum of the text above it."""
    return comment.format(hashlib.sha256(text.encode()).hexdigest()[:16]) + "\n"


def _is_ours(path: Path, comment: str) -> bool:
    """Whether a file is as we wrote it."""
    body, _, last = path.read_text(encoding="utf-8", errors="replace").rstrip("\n").rpartition("\n")
    return last + "\n" == _signature(body + "\n", comment)


def write(path: Path, content: str, comment: str, remarks: list[str]) -> Path:
    """Writes the content and returns the path; under another name if somebody has changed the file by hand.

    `comment`: a comment in the file's language, with {} for the checksum.
    """
    names = [path.name, f"{path.stem}-new{path.suffix}"]
    changed: list[str] = []
    while path.with_name(names[0]).exists() and not _is_ours(path.with_name(names[0]), comment):
        changed.append(names.pop(0))
        names = names or [f"{path.stem}-new-{len(changed)}{path.suffix}"]
    if changed:
        remarks.append(
            f"{names[0]}: a new name, because you have changed {' and '.join(changed)} by hand; your changes are kept"
        )
    path = path.with_name(names[0])
    files.write_whole(path, content + _signature(content, comment))
    return path
