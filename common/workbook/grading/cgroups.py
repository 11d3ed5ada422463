"""Control groups, where this user may create them: they limit the memory and the processes of a sandbox in sum."""

import contextlib
import os
import signal
import time
from pathlib import Path

# What limits each controller, by the version of control groups.
_FILES = {
    "memory": ("memory.max", "memory.limit_in_bytes"),
    "pids": ("pids.max", "pids.max"),
}
PREFIX = "workbook-grade-"  # of a group's name; the grader's process follows
_SWAP = ("memory.swap.max", "memory.memsw.limit_in_bytes")


def _parents() -> dict[str, Path]:
    """The folder of each controller in which groups are made; a controller that is not mounted is left out."""
    found: dict[str, Path] = {}
    with contextlib.suppress(OSError), open("/proc/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            _, place, kind, options = line.split()[:4]
            if kind == "cgroup":
                found.update({name: Path(place) for name in _FILES if name in options.split(",")})
            elif kind == "cgroup2" and _delegates(Path(place)):
                for name in _FILES:
                    found.setdefault(name, Path(place))
    return found


def _delegates(root: Path) -> bool:
    """Whether groups below this one limit memory and processes."""
    try:
        if not set(_FILES) <= set((root / "cgroup.controllers").read_text().split()):
            return False
        if not set(_FILES) <= set((root / "cgroup.subtree_control").read_text().split()):
            (root / "cgroup.subtree_control").write_text("".join(f"+{name} " for name in _FILES))
        return True
    except OSError:
        return False


class Group:
    """One control group, which limits the memory and the processes of what enters it."""

    def __init__(self, name: str, memory: int, processes: int) -> None:
        """Raises OSError if this user may not create groups, or if there are none."""
        parents = _parents()
        if set(parents) != set(_FILES):
            raise OSError("this system has no control groups for memory and processes")
        self.folders = sorted({parent / name for parent in parents.values()})
        try:
            for folder in self.folders:
                folder.mkdir(exist_ok=True)
            for controller, limit in (("memory", memory), ("pids", processes)):
                self._write(parents[controller] / name, _FILES[controller], limit)
            with contextlib.suppress(OSError):  # there may be no swap
                folder = parents["memory"] / name
                self._write(folder, _SWAP, memory if (folder / _SWAP[1]).exists() else 0)
        except OSError:
            self.remove()
            raise

    @staticmethod
    def _write(folder: Path, names: tuple[str, str], value: int) -> None:
        file = next((folder / name for name in names if (folder / name).exists()), folder / names[0])
        file.write_text(str(value))

    def enter(self) -> list[str]:
        """The beginning of a command that runs in the group; the words of the command follow."""
        enter = " && ".join(f'echo 0 >"${i + 1}/cgroup.procs"' for i in range(len(self.folders)))
        script = f'{enter} && shift {len(self.folders)} && exec "$@"'
        return ["/bin/sh", "-c", script, "sh", *map(str, self.folders)]

    def kill(self) -> None:
        """Ends all that runs in the group."""
        for _ in range(100):
            left = {pid for folder in self.folders for pid in self._processes(folder)}
            if not left:
                return
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    @staticmethod
    def _processes(folder: Path) -> list[int]:
        with contextlib.suppress(OSError):
            return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
        return []

    def remove(self) -> None:
        """Ends what runs in the group, and removes it."""
        self.kill()
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


def remove_abandoned() -> None:
    """Removes the groups of graders that were killed."""
    for parent in set(_parents().values()):
        for folder in parent.glob(f"{PREFIX}*-*"):
            owner = folder.name[len(PREFIX) :].partition("-")[0]
            if owner.isdigit() and not Path("/proc", owner).exists():
                with contextlib.suppress(OSError):
                    folder.rmdir()
