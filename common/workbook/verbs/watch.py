"""`check` again at every save."""

import time

from . import check
from ..core.course import ROOT, shown
from ..core.terminal import Problem, note, paint

POLL = 0.2  # seconds; a look at a dozen files costs next to nothing, and needs no library


def snapshot(lab, root=ROOT):
    """Path -> time and size of the lab's sources."""
    found = {}
    for path in (root / "labs" / lab).iterdir():
        if path.suffix in (".cu", ".cuh", ".h", ".cpp") and not path.name.startswith("."):
            try:
                stat = path.stat()
            except OSError:  # an editor is just replacing it
                continue
            found[path] = (stat.st_mtime_ns, stat.st_size)
    return found


def difference(before, now):
    """What happened to the first file that is not as it was."""
    saved = [path for path in now if now[path] != before.get(path)]
    return f"{shown(saved[0])} saved" if saved else f"{shown(next(path for path in before if path not in now))} is gone"


def add_arguments(parser):
    """The verb's options."""
    check.add_arguments(parser)


def main(arguments):
    """Checks now and at every save, until interrupted."""
    lab, asked = check.asked_steps(arguments)
    while True:
        before = snapshot(lab)  # before the check: what is saved while it runs is checked next
        try:
            check.check(lab, asked, arguments.timeout)
        except Problem as problem:
            print(f"{paint('error:', 'red')} {problem}", flush=True)
        note(f"watching labs/{lab}; Ctrl-C ends it")
        while (now := snapshot(lab)) == before:
            time.sleep(POLL)
        time.sleep(POLL / 2)  # an editor may write in several goes
        note(f"\n--- {difference(before, now)}, {time.strftime('%H:%M:%S')}")
