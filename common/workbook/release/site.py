"""The course as static pages: what students get, and a player on a run of every step."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from ..browser import documents
from ..core.console import Problem, Progress, note
from ..core.course import StepFile, labs, steps
from ..verbs.play import page_name
from . import contents, leaks, links, players

SHOWN = 10  # faults
PLAYERS = ("starter", "solution", "none")  # what the players show beside a run


def first_places(root: Path) -> list[str]:
    """The places that the pages are reached from."""
    of_labs = [f"labs/{lab}/{name}" for lab in labs(root) for name in ("README.md", "REFERENCE.md", "bug_hunt.cu")]
    of_steps = [f"labs/{step.file}" for lab in labs(root) for step in steps(lab, root)]
    every = ["README.md", "labs/README.md", "reports/RESULTS.md", *of_labs, *of_steps]
    return [place for place in every if documents.is_shown(place, root)]


def write_pages(root: Path, out: Path, written: Mapping[StepFile, str]) -> None:
    """Writes the pages of all places below `root` that can be reached. `written`: the players."""
    course = documents.Course(root, written)
    waiting, done = first_places(root), set()
    while waiting:
        place = waiting.pop()
        if place in done:
            continue
        done.add(place)
        target = out / documents.page_of(place)
        target.parent.mkdir(parents=True, exist_ok=True)
        if documents.page_of(place) == place:
            shutil.copyfile(root / place, target)
        else:
            target.write_text(course.page(place), encoding="utf-8")
        waiting += course.linked
        course.linked.clear()


def write_players(root: Path, out: Path, shown: str) -> dict[StepFile, str]:
    """Writes the players; the path of each. A step without one is named in a note. `shown`: one of PLAYERS."""
    written: dict[StepFile, str] = {}
    if shown == "none":
        return written
    every = [step for lab in labs(root) for step in steps(lab, root)]
    (out / "players").mkdir()
    with Progress("recording runs") as progress:
        for number, step in enumerate(every):
            progress.update(f"{step.lab} {step}", number, len(every))
            target = f"players/{page_name(step)}"
            handout = documents.relative(documents.page_of(f"labs/{step.lab}/README.md"), target)
            try:
                text = players.player(step, root, shown == "solution", {"back": [handout, f"Handout of {step.lab}"]})
            except Problem as problem:
                note(f"no player for {step.lab}, {step}: {problem}")
                continue
            (out / target).write_text(text, encoding="utf-8")
            written[step] = target
    return written


def write(root: Path, out: Path, shown: str = PLAYERS[0]) -> list[str]:
    """Writes the pages of a release into an empty folder; their paths. Raises Problem if a link leads nowhere, or if a
    page holds a part of a solution."""
    written = write_players(root, out, shown)
    write_pages(root, out, written)
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    check_pages(out, files)
    return files


def check_pages(out: Path, files: Iterable[str]) -> None:
    """Raises Problem if a page among `files` has a link that leads nowhere, or holds a part of a solution."""
    pages = links.pages_in(out, files)
    faults = [*links.dead_in_pages(out, pages), *_leaks(pages)]
    if faults:
        raise Problem("nothing was written:\n" + "\n".join(faults[:SHOWN]))


def _leaks(pages: Mapping[str, links.Page]) -> Iterator[str]:
    """Parts of solutions in the pages. Players have no source but starters."""
    solutions = leaks.Solutions()
    for file, page in pages.items():
        if not file.startswith("players/"):
            yield from map(str, solutions.leaks(file, page.text))


def of_course(given: Mapping[str, str], out: Path, shown: str, check: Callable[[Path, list[str]], None]) -> list[str]:
    """Writes the pages of the course that consists of these files."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        contents.copy(dict(given), root)
        check(root, list(given))
        return write(root, out, shown)
