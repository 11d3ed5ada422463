"""The tables of budgets in the handouts: what the labs' tables of steps say."""

import re
import unittest
from pathlib import Path

LABS = Path(__file__).resolve().parents[2] / "labs"
COSTS = ("conflicts", "sectors", "bytes", "barriers")
HEADER = "| step | n | conflicts | sectors | bytes per key | barriers per block |"


def promised(lab):
    """{"2 shared": (n, conflicts, sectors, bytes, barriers)} of the lines of steps.h that have a budget; 0 = none."""
    found = {}
    for line in re.split(r"(?=\.number = )", (LABS / lab / "steps.h").read_text())[1:]:
        budget = re.search(r"\.budget = \{(.*?)\}", line, re.S)
        if budget:
            values = {name: float(value) for name, value in re.findall(r"\.(\w+) = ([\d.]+)", budget[1])}
            name = re.match(r'\.number = (\d+),\s*\.name = "([^"]+)"', line)
            found[f"{name[1]} {name[2]}"] = tuple(values.get(cost, 0) for cost in ("n", *COSTS))
    return found


def told(lab):
    """The same from the handout."""
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

    def test_tables_are_those_of_the_steps(self):
        labs = sorted(path.parent.name for path in LABS.glob("*/steps.h"))
        self.assertEqual(5, len(labs))
        for lab in labs:
            with self.subTest(lab):
                self.assertTrue(promised(lab))
                self.assertEqual(promised(lab), told(lab))


if __name__ == "__main__":
    unittest.main()
