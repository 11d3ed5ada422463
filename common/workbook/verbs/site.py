"""Writes the course as static pages into a new folder: handouts, sources with their gaps, figures, results, and a
player on a correct run of every step."""

import argparse
from pathlib import Path

from ..core.console import note
from ..core.course import require_solutions
from ..release import contents, site
from . import release


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    parser.add_argument("folder", metavar="FOLDER", help="a folder that does not exist yet, outside the workbook")
    what = (
        "what the players show: the starter, with the place of the lines that students write (the default), or the "
        "solution, which must not be published; none: write no players"
    )
    parser.add_argument("--players", choices=site.PLAYERS, default=site.PLAYERS[0], help=what)


def main(arguments: argparse.Namespace) -> int:
    """The pages."""
    require_solutions()
    folder = Path(arguments.folder)
    contents.require_free(folder)
    given = contents.for_students(contents.tracked())
    written: list[str] = []
    contents.fill(folder, lambda out: written.extend(site.of_course(given, out, arguments.players, release.check)))
    release.print_site(folder, written)
    if arguments.players == "solution":
        note("The players show the solutions. Do not publish them.")
    return 0
