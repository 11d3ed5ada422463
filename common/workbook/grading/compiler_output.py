"""What a submission may learn from a compiler: lines about its own files, the workbook's headers and the system's.

A submission can have any file included that can be read in the sandbox, and errors in it quote it.
"""

from __future__ import annotations

import os.path
import re
from pathlib import Path

FOREIGN = "an error in a file that belongs neither to the submission nor to the workbook"
# PATH:LINE..., PATH(LINE)..., PATH: In function ..., "In file included from PATH:LINE", "    from PATH:LINE"
_PLACE = re.compile(r"^(?:In file included from |\s+from )?([^\s:()<>‘'\"]*/[^\s:()]*|[^\s:()/]+\.\w+)(?::|\(\d+\))")


def _is_public(path: str, scratch: Path) -> bool:
    place = os.path.normpath(path)
    if not os.path.isabs(place):
        return "/" not in place or place.startswith(("labs/", "common/"))
    return Path(place).is_relative_to("/usr") or Path(place).is_relative_to(scratch)


def own_lines(said: str, tree: Path, scratch: Path) -> str:
    """The output without what is about other files, and without what is quoted of them. Paths below `tree` become
    relative to it; `scratch` is where the compiler writes."""
    kept: list[str] = []
    is_foreign = False  # the line that the next indented ones belong to
    for line in said.replace(f"{tree}/", "").splitlines():
        place = _PLACE.match(line)
        if place:
            is_foreign = not _is_public(place[1], scratch)
        elif not line.startswith((" ", "\t")):
            is_foreign = False
        if not is_foreign:
            kept.append(line)
        elif place and "error" in line.lower():
            kept.append(FOREIGN)
    return "\n".join(dict.fromkeys(kept)) if FOREIGN in kept else "\n".join(kept)
