"""What to include for a name that a compiler does not know."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from . import files

_Q = r"['‘\"](?:\w+::)*(\w+)['’\"]"
# g++ and clang++, and then nvcc.
_UNKNOWN = re.compile(
    r"error: (?:no (?:template|type|member) named |use of undeclared identifier |identifier |"
    rf"there are no arguments to )?{_Q}"
    r"(?: is not a (?:\w+ )*member of | was not declared| has not been declared| does not name a |"
    r" in namespace ['‘]\w+['’](?:$|;| does not name a )| is undefined$| that depend on a template parameter|$|;)"
)
_NO_MEMBER = re.compile(rf"error: namespace [^ ]+ has no (?:\w+ )+{_Q}")
_STANDARD = re.compile(r"note: ['‘](std::\w+)['’] is defined in header ['‘](<\w+>)['’]")
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_NOTES = 8  # lines after an error that may belong to it


def hint(lines: Sequence[str], first: int, file: str, root: Path) -> str:
    """A line on what `file` must include, if the error in `lines[first]` is about a name that a header of the course or
    of C++ declares; "" if it is not."""
    for line in lines[first + 1 : first + _NOTES]:
        if standard := _STANDARD.search(line):
            return f"{standard[1]} is declared in {standard[2]}: write #include {standard[2]}"
    unknown = _UNKNOWN.search(lines[first]) or _NO_MEMBER.search(lines[first])
    parts = Path(file).parts
    if not unknown or len(parts) != 3 or parts[0] not in ("labs", "solutions"):
        return ""
    folder = root / "labs" / parts[1]
    included = _included(root / file, folder, root / "common")
    name = unknown[1]
    for header in (*sorted((root / "common/step").glob("*.h")), *sorted(folder.glob("*.h")), *folder.glob("*.cuh")):
        shown = f"step/{header.name}" if header.parent.name == "step" else header.name
        if header not in included and _declares(header, name):
            return f'{name} is declared in "{shown}": write #include "{shown}"'
    return ""


def _included(file: Path, *folders: Path) -> set[Path]:
    """The course's headers that a file includes, and those that they include."""
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        for name in _INCLUDE.findall(files.text_of(waiting.pop())):
            path = next((folder / name for folder in folders if (folder / name).is_file()), None)
            if path and path not in found:
                found.add(path)
                waiting.append(path)
    return found


def _declares(header: Path, name: str) -> bool:
    """Whether a header declares a class, a constant, or a function of this name. Declarations are not indented."""
    kinds = rf"(?:class|struct|enum class|using|concept)\s+{name}\b|#define {name}\b"
    return bool(re.search(rf"^(?:{kinds}|[a-z_][^=;(]*?\b{name}(?:\(| =|;))", files.text_of(header), re.MULTILINE))
