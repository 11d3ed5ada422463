"""Writes the course for students into a new folder: no solutions, and nothing that is made from them."""

import argparse
from pathlib import Path

from ..core.console import Problem, note
from ..core.course import labs, require_solutions
from ..release import contents, leaks, links, site

SHOWN = 10  # faults


def check(folder: Path, files: list[str]) -> None:
    """Raises Problem if the files hold a part of a solution, or have links that lead nowhere."""
    faults = [*map(str, leaks.find(folder, files)), *links.dead(folder, files)]
    if faults:
        more = [f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
        raise Problem("nothing was written:\n" + "\n".join([*faults[:SHOWN], *more]))


def write(folder: Path, pages: "Path | None" = None) -> list[str]:
    """Writes the release, and the course as pages into another folder; the release's files."""
    contents.require_free(folder)
    given = contents.for_students(contents.tracked())

    def fill(temporary: Path) -> None:
        contents.copy(given, temporary)
        check(temporary, list(given))
        if pages:
            written: list[str] = []
            contents.fill(pages, lambda out: written.extend(site.write(temporary, out)))
            print_site(pages, written)

    if pages:
        contents.require_free(pages)
        if {folder.resolve()} & {pages.resolve(), *pages.resolve().parents}:
            raise Problem(f"{pages} is in {folder}, which students get: name a folder elsewhere")
    contents.fill(folder, fill)
    return sorted(given)


def print_site(folder: Path, written: list[str]) -> None:
    """Prints what the folder of pages holds."""
    players = sum(file.startswith("players/") for file in written)
    print(f"wrote {len(written)} files to {folder}: begin with index.html; {players} steps have a player")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    parser.add_argument("folder", metavar="FOLDER", help="a folder that does not exist yet, outside the workbook")
    what = "also write the course as static pages, as ./workbook site does, into another new folder"
    parser.add_argument("--site", metavar="PAGES", type=Path, help=what)


def main(arguments: argparse.Namespace) -> int:
    """The release."""
    require_solutions()
    folder = Path(arguments.folder)
    files = write(folder, arguments.site)
    print(f"wrote {len(files)} files to {folder}: {len(labs())} labs, without solutions")
    print("checked: no file holds a part of a solution, and no link is broken")
    note("Try it before you hand it out: ./workbook demo and ./workbook test in that folder")
    return 0
