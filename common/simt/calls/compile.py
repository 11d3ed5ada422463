#!/usr/bin/env python3
"""Runs a part of g++ (g++ -wrapper python3,compile.py): if that is the C++ compiler itself, calls of host functions in
device code become errors, as under nvcc. With --relaxed-constexpr before the command, constexpr functions are allowed.

The compiler writes which function calls which anyway, so this costs no second pass over the source.
"""

import os
import subprocess
import sys
import tempfile

# Run by its path, this file is not part of a package.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def standard(command: list[str]) -> int:
    """The year of the C++ standard."""
    names = [word[-2:] for word in command if word.startswith("-std=")]
    return int(names[-1]) if names and names[-1].isdigit() else 17


def main() -> int:
    is_relaxed = sys.argv[1] == "--relaxed-constexpr"
    command = sys.argv[2 if is_relaxed else 1 :]
    if os.path.basename(command[0]) != "cc1plus" or "-fsyntax-only" in command or "-E" in command:
        os.execvp(command[0], command)
    from calls.call_graph import read  # the assembler, which runs next, does not wait for these
    from calls.host_calls import HostCalls

    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "calls")
        status = subprocess.run([*command, f"-fdump-tree-lower-lineno-asmname-uid={dump}"], check=False).returncode
        if status or not os.path.exists(dump):
            return status
        with open(dump, encoding="utf-8", errors="replace") as lines:
            messages = HostCalls(read(lines), standard(command) if is_relaxed else None).messages()
    for message in messages:
        print(message, file=sys.stderr)
    return 1 if any(message.severity == "error" for message in messages) else 0


if __name__ == "__main__":
    sys.exit(main())
