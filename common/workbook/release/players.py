"""The pages of `play` for the course's web pages: a correct run of every step.

The run is that of the solution: what it reads and writes, and when, as the handouts' pictures show it, too. The source
beside it is the starter, so none of the lines that students write is in the page: while one of those runs, the player
marks the place where they go. With `solution`, which is for a page of your own, the source is the solution.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

from .. import cli
from ..core.console import Problem
from ..core.course import ROOT, StepFile
from ..core.starters import line_in_starter
from ..core.sweeps import key_bytes
from ..pictures import trace
from ..player.page import page
from ..player.replay import Replay
from ..verbs import play

SEED = 1  # of the keys: the same pages each time
WHICH = "A correct run of this step."
HIDDEN = f"{WHICH} While the lines that students write run, the source shows where they go."
_PLACE = re.compile(r"\bsolutions/([\w./-]+):(\d+)")


@functools.cache
def _line(file: str, line: int, root: Path) -> int:
    return line_in_starter((root / "solutions" / file).read_text(encoding="utf-8"), line, file)


def without_solutions(text: str, root: Path = ROOT) -> str:
    """A trace whose places in solutions are places in their starters."""
    return _PLACE.sub(lambda found: f"labs/{found[1]}:{_line(found[1], int(found[2]), root)}", text)


def player(step: StepFile, starters: Path, solution: bool, about: Mapping[str, object]) -> str:
    """The page of a step. `starters`: a root with starters in labs/; `about`: more that the page says. Raises Problem
    if there is nothing to show."""
    parser = cli.Parser()
    play.add_arguments(parser)
    arguments = parser.parse_args([step.lab, str(step.number), "--solution", "--seed", str(SEED)])
    run, known, key_type = play.of_step(arguments, play.Window(None, None))
    if not run.accesses:
        raise Problem("no kernel accesses memory")
    if not solution:
        run = trace.read(without_solutions(run.text))
    shown = {
        **known,
        "title": known["title"].replace(" (solution)", "" if not solution else " (solution)"),
        "command": known["command"].replace(" --solution", "" if not solution else " --solution"),
        "window": f"{WHICH if solution else HIDDEN} {known['window']}",
        **about,
    }
    replay = Replay(run, key_type, key_bytes(key_type) if key_type else 0)
    return page(replay, str(shown["title"]), shown, [ROOT] if solution else [starters])
