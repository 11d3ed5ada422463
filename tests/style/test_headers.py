"""What a step makes one read is limited: the headers of a lab are short, and so is all that a step reaches.

test_headers.py           the tests
test_headers.py --list    each step's lines and the headers and lines that it reaches through its includes
"""

from __future__ import annotations

import re
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from workbook.core import course  # noqa: E402

HEADER = 300  # lines of one header below labs/
REACHED, REACHED_BY_A_RECORD = 900, 1600  # lines below labs/ that a step reaches, its own among them
REASON = "// Longer"  # begins a line of a step's header comment that says why it exceeds a limit
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def headers_of(step: Path, root: Path) -> set[Path]:
    """The headers below labs/ that a step's file includes, and those that these include."""
    found: set[Path] = set()
    to_read = [step]
    while to_read:
        path = to_read.pop()
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            folders = (path.parent, root / "labs" / step.parent.name, root / "labs")
            header = next((folder / name for folder in folders if (folder / name).is_file()), None)
            if header and header.resolve() not in found:
                found.add(header.resolve())
                to_read.append(header.resolve())
    return found


@dataclass(frozen=True)
class Reach:
    """What a step makes one read."""

    own: int  # lines
    headers: dict[str, int]  # name -> lines
    record: bool
    explained: bool  # its header comment gives a reason

    @property
    def all(self) -> int:
        return self.own + sum(self.headers.values())

    def excess(self) -> str:
        """What exceeds a limit; "" if nothing does, or if the step says why."""
        most = REACHED_BY_A_RECORD if self.record else REACHED
        found = [f"{name} has {count} lines" for name, count in self.headers.items() if count > HEADER]
        found += [f"it reaches {self.all} lines"] * (self.all > most)
        return "" if self.explained else ", ".join(found)


def reach(step: Path, root: Path, record: bool = False) -> Reach:
    comment = re.match(r"(//.*\n)*", step.read_text(encoding="utf-8"))
    explained = comment is not None and f"\n{REASON}" in comment[0]
    return Reach(lines(step), {path.name: lines(path) for path in sorted(headers_of(step, root))}, record, explained)


def steps() -> dict[str, Reach]:
    """The steps of all labs; their solutions where there are any, which are longer than the starters."""
    folder = "solutions" if course.has_solutions() else "labs"
    return {
        step.file: reach(ROOT / folder / step.file, ROOT, step in course.records(lab))
        for lab in course.labs()
        for step in course.steps(lab)
    }


class Limits(unittest.TestCase):
    """A lab of our own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.step = self.root / "solutions/01-a/01_x.cu"
        for path in (self.step, self.root / "labs/01-a/a.h", self.root / "labs/shared.h"):
            path.parent.mkdir(parents=True, exist_ok=True)
        self.write(60, 60)

    def write(self, first: int, second: int, comment: str = "// Step 01.\n") -> None:
        self.step.write_text(f'{comment}#include "a.h"\n' + "x\n" * 50)
        (self.root / "labs/01-a/a.h").write_text('#include "shared.h"\n#include <b.h>\n' + "x\n" * (first - 2))
        (self.root / "labs/shared.h").write_text('#include "a.h"\n' + "x\n" * (second - 1))

    def test_headers_are_counted_once(self) -> None:
        found = reach(self.step, self.root)
        self.assertEqual((found.own, found.headers, found.excess()), (52, {"a.h": 60, "shared.h": 60}, ""))

    def test_excess_and_its_reason(self) -> None:
        self.write(301, 900)
        excess = "a.h has 301 lines, shared.h has 900 lines, it reaches 1253 lines"
        self.assertEqual(reach(self.step, self.root).excess(), excess)
        self.write(300, 300)
        self.assertEqual(reach(self.step, self.root).excess(), "")
        self.write(900, 100)
        self.assertEqual(reach(self.step, self.root, record=True).excess(), "a.h has 900 lines")
        self.write(900, 900, "// Step 01.\n// Longer than others because it must be.\n")
        self.assertEqual(reach(self.step, self.root).excess(), "")


class Repository(unittest.TestCase):
    """The steps of this workbook."""

    def test_what_steps_reach(self) -> None:
        found = {file: reached.excess() for file, reached in steps().items() if reached.excess()}
        self.assertEqual(found, {})


if __name__ == "__main__":
    if "--list" in sys.argv:
        for file, found in steps().items():
            headers = sorted(found.headers.values(), reverse=True)
            print(
                f"{file:32} {found.own:4} lines, {len(headers):2} headers, {found.all:5} lines in all  {found.excess()}"
            )
    else:
        unittest.main()
