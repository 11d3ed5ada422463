"""The hours of the labs are the same everywhere, and the plans in solutions/course.md add up, in whole hours."""

import re
import unittest

from workbook.core.course import ROOT, labs, steps

WORDS = {"ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18}
Part = tuple[str, str]  # the lab's number; "idea", "4" for a step, "bug hunt" or "questions"


def table(text: str, first: str) -> list[list[str]]:
    """The cells of the lines of the first table whose first heading this is."""
    lines = text[text.index(f"| {first} |") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def named(words: str) -> list[str]:
    """The parts of a lab that a cell names: "idea, steps 1 to 3, bug hunt"."""
    numbers: list[str] = []
    for listed in re.findall(r"steps? (\d+(?:(?:, | and | to )\d+)*)", words):
        ends = [int(number) for number in re.findall(r"\d+", listed)]
        numbers += map(str, range(ends[0], ends[1] + 1) if " to " in listed else ends)
    return numbers + [part for part in ("idea", "bug hunt", "questions") if part in words]


def hours_of_parts() -> dict[Part, float]:
    """As the instructor's notes have them. Steps that share a line share its hours."""
    found = {}
    for lab in labs():
        for words, hours, _ in table((ROOT / "solutions" / lab / "NOTES.md").read_text(encoding="utf-8"), "part"):
            parts = named(words)
            found.update({(lab[:2], part): float(hours) / len(parts) for part in parts})
    return found


def planned(words: str) -> list[Part]:
    """The parts that a line of a plan names: "01: step 3, questions. 02: idea"."""
    pieces = re.split(r"(?:^|\. )(\d\d): ", words)[1:]
    return [(lab, part) for lab, parts in zip(pieces[::2], pieces[1::2]) for part in named(parts)]


class Hours(unittest.TestCase):
    """Of each lab, and of the plans."""

    def setUp(self) -> None:
        self.hours = hours_of_parts()
        self.course = (ROOT / "solutions/course.md").read_text(encoding="utf-8")

    def test_labs(self) -> None:
        """The notes have every part of a lab, and the same sum as the handout and the table of labs."""
        shown = {cells[0][1:3]: int(cells[-1]) for cells in table((ROOT / "labs/README.md").read_text(), "lab")}
        for lab in labs():
            parts = {part: hours for (number, part), hours in self.hours.items() if number == lab[:2]}
            every = {"idea", "bug hunt", "questions", *(str(step.number) for step in steps(lab))}
            self.assertEqual(set(parts), every, lab)
            stated = re.search(r"(\w+)\s+hours", (ROOT / "labs" / lab / "README.md").read_text(encoding="utf-8"))
            assert stated, lab
            self.assertEqual(int(WORDS.get(stated[1], stated[1])), round(sum(parts.values())), lab)
            self.assertEqual(shown[lab[:2]], round(sum(parts.values())), lab)

    def test_plans(self) -> None:
        """Each week's hours, and every part of every lab in exactly one week."""
        for title, weeks in (("### Six weeks", 6), ("### Twelve weeks", 12)):
            text = self.course[self.course.index(title) :].split("\n###")[0]
            lines = table(text, "week")
            self.assertEqual([week for week, _, _ in lines], [str(week) for week in range(1, weeks + 1)])
            for week, work, hours in lines:
                self.assertEqual(round(sum(self.hours[part] for part in planned(work))), int(hours), f"{title}: {week}")
            self.assertEqual(sorted(part for _, work, _ in lines for part in planned(work)), sorted(self.hours), title)
            self.assertIn(f" {sum(self.hours.values()):.0f} hours", text)

    def test_the_short_path(self) -> None:
        """Each lab's hours, what is left out of it, and the sum in the heading."""
        text = self.course[self.course.index("### A short path") :]
        lines = table(text, "work")
        for work, left_out, hours in lines:
            parts = planned(work)
            lab = parts[0][0]
            self.assertEqual(round(sum(self.hours[part] for part in parts)), int(hours), work)
            every = sorted(part for part in self.hours if part[0] == lab)
            self.assertEqual(sorted([*parts, *((lab, part) for part in named(left_out))]), every, work)
        self.assertIn(f"of {sum(int(hours) for _, _, hours in lines)} hours", text.splitlines()[0])


if __name__ == "__main__":
    unittest.main()
