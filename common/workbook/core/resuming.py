"""Sweeps that continue where they were interrupted."""

import contextlib
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from . import build, machine, measuring
from . import rows as row_files
from .console import Problem, Terminated, note
from .course import shown
from .files import held
from .measuring import Programs, Result
from .rows import Row
from .sweeps import Sweep

UNFINISHED = measuring.FOLDER / "unfinished"
KEPT_FOR = 30 * 24 * 3600  # seconds that an interrupted sweep waits to be resumed
IN_USE_FOR = 3600  # a sweep that is still running has written a row within this many seconds


class Interrupted(KeyboardInterrupt):
    """A sweep was interrupted; `rows` were measured before, and are in the file `path`; `status`: the exit status."""

    def __init__(self, rows: Sequence[Row], path: Path, status: int = 130) -> None:
        super().__init__()
        self.rows, self.path, self.status = list(rows), path, status


def digest(programs: Sequence[Path], words: object) -> str:
    """What two runs of one measurement share: the machine, the programs byte for byte, and what is measured."""
    total = hashlib.sha256(json.dumps([machine.identity(), words], default=str).encode())
    for program in programs:
        total.update(Path(program).read_bytes())
    return total.hexdigest()[:16]


def tidy(prefix: str, mark: str) -> None:
    """Removes interrupted sweeps that will not be resumed: old ones, and those of this prefix by other programs."""
    for path in UNFINISHED.iterdir():
        with contextlib.suppress(OSError):
            age = time.time() - path.stat().st_mtime
            other = path.name.startswith(prefix) and not path.name.startswith(prefix + mark)
            if age > KEPT_FOR or (other and age > IN_USE_FOR):
                path.unlink()


def _mend(path: Path) -> None:
    damaged = row_files.mend(path)
    if damaged is None:
        note(f"{shown(path)} has no measurements of this version: everything is measured again")
    elif damaged == 1:
        note(f"1 row of {shown(path)} was damaged and is measured again")
    elif damaged:
        note(f"{damaged} rows of {shown(path)} were damaged and are measured again")


def resume(what: str, programs: Programs, sweep: Sweep, fresh: bool = False, brief: bool = False) -> Result:
    """Carries out a sweep, from where the same sweep of the same programs was interrupted.

    The caller moves or removes the file of the result. Raises Interrupted, with the rows measured before.
    """
    UNFINISHED.mkdir(parents=True, exist_ok=True)
    files = [*programs.all, build.judge()]
    prefix = f"{programs.runner.name}_"  # the runner of a solution has a different name
    mark = digest(files, [])[:8]
    path = UNFINISHED / f"{prefix}{mark}-{digest(files, asdict(sweep))}.csv"
    tidy(prefix, mark)
    # Another command that measures into this file would go on writing after we move it.
    busy = "another bench is already measuring exactly this: wait for it, or end it"
    with held(path.with_suffix(".lock"), busy):
        if fresh:
            path.unlink(missing_ok=True)
        _mend(path)
        try:
            return measuring.run(what, programs, sweep, path, brief=brief)
        except KeyboardInterrupt as stop:
            _mend(path)
            kept = row_files.read(path) if path.exists() and path.stat().st_size else []
            raise Interrupted(kept, path, 143 if isinstance(stop, Terminated) else 130) from None
        except Problem:
            if path.exists() and not row_files.read(path):
                path.unlink()
            raise
