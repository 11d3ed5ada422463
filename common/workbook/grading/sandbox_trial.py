"""Finds out which sandbox works on this machine, and what it cannot limit, by trying all that it must prevent."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..core.console import Problem
from .cgroups import PREFIX
from .cgroups import remove_abandoned as remove_abandoned_groups
from .checkouts import outermost
from .sandbox import BUBBLEWRAP, NONE, SECOND_USER, Box, Limits, Sandbox, python

FORCED = "WORKBOOK_SANDBOX"  # a variable for tests: the only kind of sandbox to try
_TRIAL = Limits(memory=256 << 20, processes=24, file=64 << 20, disk=32 << 20, seconds=60)
_SECONDS = 600.0

# What a sandbox may fail to limit, which is then stated: the probe's word, and a sentence.
_LIMITED = {
    "network": "a submission can reach the network",
    "memory": "a submission can use all memory of this machine",
    "processes": "a submission can start any number of processes",
    "disk": "a submission can fill the disk",
}


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """A folder that every user may pass through but only its owner may list, removed at the end."""
    _remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    folder.chmod(0o711)
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned() -> None:
    """Removes what graders that were killed have left."""
    remove_abandoned_groups()
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        owner = folder.name[len(PREFIX) :].partition("-")[0]
        with contextlib.suppress(OSError):
            if owner.isdigit() and not Path("/proc", owner).exists() and folder.stat().st_uid == os.geteuid():
                shutil.rmtree(folder)


def _kinds(unsafe: bool) -> list[tuple[str, bool]]:
    """The kinds to try, and whether another user runs in them, the best first."""
    root = os.geteuid() == 0
    forced = os.environ.get(FORCED)
    if forced == NONE or (unsafe and not forced):
        return [(NONE, False)]
    kinds = [(BUBBLEWRAP, True), (BUBBLEWRAP, False), (SECOND_USER, True)] if root else [(BUBBLEWRAP, False)]
    return [kind for kind in kinds if forced in (None, kind[0])]


def _missing(kind: str) -> str:
    if kind == BUBBLEWRAP and not shutil.which("bwrap"):
        return "it is not installed: apt-get install bubblewrap"
    if kind == SECOND_USER and not (shutil.which("setpriv") and shutil.which("prlimit")):
        return "setpriv and prlimit are not installed: apt-get install util-linux"
    return ""


def _probe(sandbox: Sandbox, box: Box, hidden: Sequence[Path]) -> dict[str, Any]:
    """What the probe found possible. Raises Problem if it cannot even run."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as server:
        question = {
            "hidden": [str(path) for path in hidden],
            "own": str(box.folder),
            "port": server.getsockname()[1],
            "pid": os.getpid(),
            "memory": sandbox.limits.memory,
            "processes": sandbox.limits.processes,
            "disk": sandbox.limits.disk,
        }
        program = [python(), "-I", str(sandbox.shared / "probe.py"), json.dumps(question)]
        done = sandbox.run(box, program, _SECONDS)
    try:
        found: dict[str, Any] = json.loads(done.output)
        return found
    except ValueError as error:
        words = done.errors.strip().splitlines() or [f"the trial ended with status {done.status}"]
        raise Problem(words[-1]) from error


def _why_unsafe(found: dict[str, Any]) -> str:
    """Why code must not run in this sandbox; "" if it may."""
    if not found["own"] or not found["scratch"]:
        return "its own files cannot be used in it"
    if found["signals"]:
        return "a submission could end the grader"
    if found["readable"]:
        paths = " ".join(found["readable"])
        return f"a submission could read {paths}. Make it unreadable to other users: chmod o-rwx {paths}"
    return ""


def _describe(sandbox: Sandbox, found: dict[str, Any]) -> str:
    limits = sandbox.limits
    words = {
        "network": "no network",
        "memory": f"{limits.memory >> 20} MiB of memory" + ("" if sandbox.with_groups else " per process"),
        "processes": f"{limits.processes} processes",
        "disk": f"{limits.disk >> 20} MiB of files",
    }
    kept = ["own files only", *(text for name, text in words.items() if not found[name]), "time and output"]
    name = f"{sandbox.kind}, as another user" if sandbox.kind == BUBBLEWRAP and sandbox.drops_user else sandbox.kind
    cannot = [sentence for word, sentence in _LIMITED.items() if found[word]]
    cannot += [f"files may be left in {', '.join(found['writable'])}"] if found["writable"] else []
    return f"{name}: {', '.join(kept)}" + (f"; not limited: {'; '.join(cannot)}" if cannot else "")


def _tried(kind: str, drops_user: bool, folder: Path, hidden: Sequence[Path], limits: Limits) -> Sandbox:
    """A sandbox that has passed its trial. Raises Problem, with the reason, if it does not."""
    if missing := _missing(kind):
        raise Problem(missing)
    trial = Sandbox(kind, folder, _TRIAL, drops_user)
    trial.hide(outermost([path for path in hidden if path.is_dir() and not folder.is_relative_to(path.resolve())]))
    try:
        found = _probe(trial, trial.add_box(), hidden)
    except OSError as error:
        raise Problem(str(error)) from error
    finally:
        trial.close()
    if why := _why_unsafe(found):
        raise Problem(why)
    sandbox = Sandbox(kind, folder, limits, drops_user)
    sandbox.with_groups = trial.with_groups
    if found["writable"]:
        found["disk"] = True
    sandbox.description = _describe(sandbox, found)
    return sandbox


def choose(folder: Path, hidden: Sequence[Path], unsafe: bool = False, limits: Limits | None = None) -> Sandbox:
    """The best sandbox that works here, for boxes in `folder`. `hidden`: paths that must not be readable in it.

    Raises Problem if there is none, unless `unsafe`: then submissions run as the user who grades.
    """
    limits = limits or Limits()
    shutil.copy(Path(__file__).with_name("probe.py"), folder / "shared")
    reasons = []
    for kind, drops_user in _kinds(unsafe):
        if kind == NONE:
            sandbox = Sandbox(NONE, folder, limits, False)
            sandbox.with_groups = False
            sandbox.description = "none (--unsafe): a submission can do whatever the user who grades can do"
            return sandbox
        try:
            return _tried(kind, drops_user, folder, hidden, limits)
        except Problem as problem:
            reason = f"  {kind}: {problem}"
            reasons += [reason] if reason not in reasons else []
    if os.geteuid() != 0:
        reasons.append("  second user: only root can run programs as another user")
    raise Problem(
        "submissions are untrusted programs, and no sandbox works on this machine:\n"
        + "\n".join(reasons)
        + "\n--unsafe grades without a sandbox: a submission can then do whatever you can do"
    )
