"""Starts a step's program for gdb, which runs this file as its `exec-wrapper`: start.py JUDGE CASE PROGRAM --judged

The judge makes the input and verifies the result as in every run. It starts a runner itself, so it is given a *relay*
to start: this file again, which sends the two descriptors that a runner inherits (common/runner/protocol.h) to the
process that gdb watches. That process becomes the program, and the relay lives as long as it does.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path

# Run by its path, this file is not part of a package.
sys.path[0] = str(Path(__file__).resolve().parents[2])

from workbook.core.console import Problem, error_text, note  # noqa: E402
from workbook.core.judge_client import JudgeClient  # noqa: E402
from workbook.core.judge_types import Case  # noqa: E402

INHERITED = (3, 4)  # the channel and the memory
NO_LIMIT = 1e6  # seconds
ABOVE = 16  # descriptors that are moved first, so that none is overwritten


def relay(address: str) -> None:
    """Sends the descriptors, and waits until the program has ended."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b"."], INHERITED)
        for descriptor in INHERITED:
            os.close(descriptor)
        connection.recv(1)


def judge(program: str, case: Case, runner: str, address: str) -> None:
    """Judges the program that the relay stands for, and prints the outcome."""
    command = [sys.executable, __file__, "--relay", address]
    try:
        with JudgeClient(Path(program), sandbox=command) as client:
            outcome = client.run(Path(runner), case, timeout=NO_LIMIT)
            if outcome.status == "verified":
                note(f"The result is correct: {outcome.title}")
            elif outcome.status != "exited":  # of that, gdb says more
                note(f"{outcome.title}\n{outcome.status}: {outcome.message_and_keys}")
    except Problem as problem:
        note(error_text(problem, sys.stderr))
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as nothing:  # if no relay has been started
        nothing.connect(address)


def become(program: list[str], listening: socket.socket) -> None:
    """This process becomes the program, with the descriptors that the relay sends."""
    connection, _ = listening.accept()
    shutil.rmtree(os.path.dirname(listening.getsockname()))
    descriptors = socket.recv_fds(connection, 1, len(INHERITED))[1]
    if len(descriptors) != len(INHERITED):
        sys.exit(1)
    fcntl.fcntl(connection, fcntl.F_DUPFD, ABOVE)  # stays open as long as the program runs
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, ABOVE) for descriptor in descriptors]
    for descriptor, place in zip(moved, INHERITED):
        os.dup2(descriptor, place)
    os.execv(program[0], program)


def main() -> None:
    """Starts the judge beside the program, and becomes the program."""
    if sys.argv[1] == "--relay":
        relay(sys.argv[2])
        return
    judges, case, *program = sys.argv[1:]
    folder = tempfile.mkdtemp()
    address = f"{folder}/relay"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        if os.fork() == 0:
            os.setsid()  # Ctrl-C is for the program
            judge(judges, Case(**json.loads(case)), program[0], address)
            return
        become(program, listening)


if __name__ == "__main__":
    main()
