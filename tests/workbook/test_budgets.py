"""The tables of budgets in the handouts agree with the labs' tables of steps."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

LABS = Path(__file__).resolve().parents[2] / "labs"
COSTS = ("conflicts", "sectors", "bytes", "barriers")
HEADER = "| step | n | conflicts | sectors | bytes per key | barriers per block |"


Budgets = dict[str, tuple[float, ...]]  # {"2 shared": (n, conflicts, sectors, bytes, barriers)}; 0: not checked


def in_steps(lab: str) -> Budgets:
    """The budgets in a lab's table of steps."""
    budgets = {}
    for line in re.split(r"(?=\.number = )", (LABS / lab / "steps.h").read_text())[1:]:
        budget = re.search(r"\.budget = \{(.*?)\}", line, re.S)
        if budget:
            values = {name: float(value) for name, value in re.findall(r"\.(\w+) = ([\d.]+)", budget[1])}
            name = re.match(r'\.number = (\d+),\s*\.name = "([^"]+)"', line)
            assert name, line
            budgets[f"{name[1]} {name[2]}"] = tuple(values.get(cost, 0) for cost in ("n", *COSTS))
    return budgets


def in_handout(lab: str) -> Budgets:
    """The budgets in a lab's handout."""
    lines = (LABS / lab / "README.md").read_text().split("\n## Check budgets\n")[1].split("\n## ")[0].splitlines()
    rows = {}
    for line in lines[lines.index(HEADER) + 2 :]:
        if not line.startswith("|"):
            break
        step, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[step] = tuple(float(cell.replace(",", "") or 0) for cell in cells)
    return rows


class Handouts(unittest.TestCase):
    """Each handout's table of budgets."""

    def test_tables_are_those_of_the_steps(self) -> None:
        labs = sorted(path.parent.name for path in LABS.glob("*/steps.h"))
        self.assertEqual(6, len(labs))
        for lab in labs:
            with self.subTest(lab):
                self.assertTrue(in_steps(lab))
                self.assertEqual(in_steps(lab), in_handout(lab))


if __name__ == "__main__":
    unittest.main()
