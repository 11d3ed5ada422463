"""Tries, in a sandbox, everything that the sandbox must prevent, and prints as JSON what it did not prevent.

    python3 probe.py '{"hidden": [PATH], "own": PATH, "port": N, "pid": N, "memory": N, "processes": N, "disk": N}'

The limits that are tried are those of the sandbox's trial, which are small. Needs nothing but Python's own library.
"""

import contextlib
import json
import mmap
import os
import socket
import sys
import time
from collections.abc import Iterable
from typing import Any

_STEP = 1 << 20
_OTHER_PLACES = ("/", "/usr", "/etc", "/dev", "/dev/shm", "/var/tmp", "/run/lock", "/tmp")


def readable(paths: Iterable[str]) -> list[str]:
    """Those of the paths that can be read here."""
    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            if os.path.isdir(path):
                os.listdir(path)
            else:
                os.close(os.open(path, os.O_RDONLY))
            found.append(path)
    return found


def writable(places: Iterable[str]) -> list[str]:
    """Those of the folders in which files can be made."""
    found = []
    for place in places:
        path = os.path.join(place, f"probe-{os.getpid()}")
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            os.unlink(path)
            found.append(place)
    return found


def reaches_network(port: int) -> bool:
    """Whether a server on this machine answers."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 2):
        return True
    return False


def can_signal(pid: int) -> bool:
    """Whether the process of this number, which is the grader's outside, can be signalled."""
    with contextlib.suppress(OSError):
        os.kill(pid, 0)
        return True
    return False


def exceeds_disk(folder: str, limit: int) -> bool:
    """Whether more than `limit` bytes can be written, in several files."""
    written, files = 0, []
    try:
        for number in range(8):
            files.append(os.path.join(folder, f"probe-{number}"))
            with contextlib.suppress(OSError), open(files[-1], "wb", buffering=0) as file:
                while written <= limit + 8 * _STEP:
                    written += file.write(bytes(_STEP))
    finally:
        for path in files:
            with contextlib.suppress(OSError):
                os.unlink(path)
    return written > limit + 4 * _STEP


def exceeds_memory(limit: int) -> bool:
    """Whether a process can use more than `limit` bytes."""
    child = os.fork()
    if child == 0:
        held = []
        try:
            for _ in range(limit // _STEP + 64):
                block = mmap.mmap(-1, _STEP, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
                block.write(b"\1" * _STEP)
                held.append(block)
        except (OSError, MemoryError):
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def exceeds_processes(limit: int) -> bool:
    """Whether more than `limit` processes can run."""
    children = []
    try:
        for _ in range(limit + 8):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            children.append(child)
    except OSError:
        return False
    finally:
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)
    return True


def main(given: dict[str, Any]) -> None:
    """Prints what was possible."""
    scratch = os.environ["TMPDIR"]
    inside = [place for place in (*_OTHER_PLACES, given["own"]) if os.path.realpath(place) != os.path.realpath(scratch)]
    report = {
        "readable": readable(given["hidden"]),
        "own": bool(readable([given["own"]])),
        "scratch": bool(writable([scratch])),
        "writable": writable(inside),
        "signals": can_signal(given["pid"]),
        "network": reaches_network(given["port"]),
        "disk": exceeds_disk(scratch, given["disk"]),
        "processes": exceeds_processes(given["processes"]),
        "memory": exceeds_memory(given["memory"]),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
