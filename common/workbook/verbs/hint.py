"""The hints of a step, one at a time, from the lab's handout or the reference beside it."""

import argparse
import re
import textwrap
from pathlib import Path

from ..core.console import Problem, wrapped
from ..core.course import ROOT, StepFile, find_one
from ..core.options import add
from ..core.progress import ProgressFile


def hints_of(handout: str, number: int, part: str = "") -> list[str]:
    """What the folded texts below the heading `### Hints for step NN` say. Of a part, those titled "Hint 3, PART"."""
    section = re.search(rf"(?ms)^### Hints for step 0*{number}$((?:\s*^<details>.*?^</details>$)*)", handout)
    pattern = r"(?ms)^<details><summary>([^\n]*)</summary>\s*(.*?)\s*^</details>$"
    found = re.findall(pattern, section[1]) if section else []
    return [text for title, text in found if not part or title.endswith(f", {part}")]


def hints_for(step: StepFile, root: Path = ROOT) -> list[str]:
    """The hints for a step, or for a part of it, in order. Raises Problem if the handout cannot be read."""
    folder = root / "labs" / step.lab
    try:
        pages = [path.read_text(encoding="utf-8") for path in (folder / "README.md", *folder.glob("REFERENCE.md"))]
    except OSError as error:
        raise Problem(f"labs/{step.lab}/README.md cannot be read: {error.strerror}") from error
    return hints_of("\n".join(pages), step.number, step.part)


def fitted(hint: str) -> str:
    """A hint, indented, in lines that fit the terminal: paragraphs are wrapped again, code and lists are not."""
    pieces = re.split(r"(?ms)(^```.*?^```$)|\n{2,}", hint)
    pieces = [piece.strip("\n") for piece in pieces if piece and piece.strip()]
    return "\n\n".join(
        textwrap.indent(piece, "  ") if re.search(r"(?m)^(```|[-*|>] |\s)", piece) else wrapped(piece, "  ")
        for piece in pieces
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    add(parser, "lab", "step")
    parser.add_argument("--again", action="store_true", help="repeat all hints shown so far")


def main(arguments: argparse.Namespace) -> int:
    """The next hint."""
    lab, step = find_one(arguments.lab, arguments.step)
    hints = hints_for(step)
    if not hints:
        print(f"{lab}, {step}: the handout has no hints for this {'part' if step.part else 'step'}.")
        return 0
    progress = ProgressFile()
    shown = min(progress.hints_shown(step), len(hints))
    if arguments.again:
        first, last = 0, shown
    elif shown == len(hints):
        print(
            wrapped(
                f"All {len(hints)} hints for {step} have been shown. Here is the last one again (--again shows all)."
            )
            + "\n"
        )
        first, last = shown - 1, shown
    else:
        first, last = shown, shown + 1
    if last > shown:
        progress.save_hints_shown(step, last)
    for i in range(first, last):
        print(f"Hint {i + 1} of {len(hints)} for {lab}, {step}:\n\n{fitted(hints[i])}\n")
    if arguments.again and not shown:
        command = f"./workbook hint {lab} {step.part or step.number}"
        print(f"No hint for {step} has been shown yet. {command} shows the first.")
    return 0
