#!/usr/bin/env python3
"""Runs a part of g++ (g++ -wrapper PYTHON,-I,-S,compile.py): if that is the C++ compiler itself, calls of host
functions in device code become errors, as under nvcc. With --relaxed-constexpr before the command, constexpr functions
are allowed. With --saturate, implicit conversions to integers in device code saturate (conversions.py). A file named
*.others.cpp is the second part of a file, for other types: its definitions become weak, so that the linker takes those
of the first part. With --calls-unseen, only this is done, and calls are not checked.

The compiler writes which function calls which anyway, so this costs no second pass over the source.
"""

import os
import sys

# Run by its path, this file is not part of a package.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def standard(command: list[str]) -> int:
    """The year of the C++ standard."""
    names = [word[-2:] for word in command if word.startswith("-std=")]
    return int(names[-1]) if names and names[-1].isdigit() else 17


def weaken(path: str) -> None:
    """Makes the definitions in an assembler file weak: the functions without template parameters are in both parts."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text.replace("\t.globl\t", "\t.weak\t"))


def main() -> int:
    options = {word for word in sys.argv[1:3] if word in ("--relaxed-constexpr", "--saturate", "--calls-unseen")}
    command = sys.argv[1 + len(options) :]
    is_compiler = os.path.basename(command[0]) == "cc1plus" and not {"-fsyntax-only", "-E"} & set(command)
    is_seen = "--calls-unseen" not in options
    is_second_part = any(word.endswith(".others.cpp") for word in command) and "-o" in command
    if not is_compiler or not (is_seen or is_second_part):
        os.execvp(command[0], command)
    status = compiled(command, options) if is_seen else os.spawnvp(os.P_WAIT, command[0], command)
    output = command[command.index("-o") + 1] if is_second_part else ""
    if os.path.isfile(output) and not status:
        weaken(output)
    return status


def compiled(command: list[str], options: set[str]) -> int:
    """Compiles, and prints the calls of host functions in device code. Returns the exit status."""
    # Not needed for the assembler and the linker, which are also started through this file.
    import subprocess
    import tempfile

    from calls.call_graph import read
    from calls.conversions import saturate
    from calls.host_calls import HostCalls

    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "calls")
        status = subprocess.run([*command, f"-fdump-tree-lower-lineno-asmname-uid={dump}"], check=False).returncode
        if status or not os.path.exists(dump):
            return status
        with open(dump, encoding="utf-8", errors="replace") as text:
            functions = list(read(text.read()))
        is_relaxed = "--relaxed-constexpr" in options
        messages = HostCalls(functions, standard(command) if is_relaxed else None).messages()
    if "--saturate" in options and not messages:
        saturate(command, functions)
    for message in messages:
        print(message, file=sys.stderr)
    return 1 if any(message.severity == "error" for message in messages) else 0


if __name__ == "__main__":
    sys.exit(main())
