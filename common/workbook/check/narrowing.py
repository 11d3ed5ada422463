"""Finds positions that are kept in 32 bits in a step that accepts any n: they overflow beyond 2^31 keys, more than any
test on a CPU sorts. The compiler finds conversions while the tests run; the text shows products of indices.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path

from ..core import build, files
from ..core.course import ROOT, StepFile, source_of
from ..core.diagnostics import relative
from ..core.judge_types import Note

KIND = "narrow"
_WIDE, _NARROW = ("long int", "long", "long long int", "long long"), ("int", "unsigned int", "unsigned")
_TYPE = r"['‘](?P<{0}>[^'’]*)['’](?: [{{(]aka ['‘](?P<{0}_is>[^'’]*)['’][}})])?"
_CONVERSION = re.compile(
    r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: warning: .*?(?:conversion from|precision:) "
    + _TYPE.format("wide")
    + " to "
    + _TYPE.format("narrow")
)
# Neither factor is converted to 64 bits before they are multiplied.
_PRODUCT = re.compile(
    r"(?P<before>[^\s]?)\s*\b(?P<first>blockIdx|gridDim|blockDim)\.x\s*\*\s*(?P<second>blockIdx|gridDim|blockDim)\.x\b"
)
_SHIFT = re.compile(r"(?<![\w)}])1\s*<<\s*\w+\)?\s*<=?\s*(?:\w+\.)?n\b")  # compared with n
_COUNTER = re.compile(r"\bfor \((?P<type>int|unsigned) (?P<name>\w+) =[^;]*;[^;]*\b(?P=name)\b[^;]*<=?\s*keys\.n\b")


def _bare(type_: str) -> str:
    return re.sub(r"\b(?:const|volatile|unsigned) (?=\w)", "", type_).strip()


def conversions(output: str, file: str) -> list[Note]:
    """The conversions of 64-bit numbers to int that a compiler warns about in `file`, one per line."""
    found: dict[int, Note] = {}
    for line in output.splitlines():
        match = _CONVERSION.match(relative(line))
        if not match or match["file"] != file:
            continue
        wide = match["wide_is"] or match["wide"]
        narrow = (match["narrow_is"] or match["narrow"]).removeprefix("const ")
        if _bare(wide) not in _WIDE or narrow not in _NARROW:
            continue
        text = (
            f"{narrow} holds positions below 2^{31 + (narrow != 'int')} only, but this step accepts any n; "
            f"use std::int64_t, or write {'int' if narrow == 'int' else 'unsigned'}(...) if the value always fits"
        )
        found.setdefault(int(match["line"]), Note(file, int(match["line"]), KIND, text=text))
    return list(found.values())


def products(source: str, file: str) -> list[Note]:
    """The products of indices, and other numbers that grow with n, that are computed in 32 bits."""
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        code = line.partition("//")[0]
        if _SHIFT.search(code):
            text = "1 << has 32 bits, but this step accepts any n; write std::int64_t(1) <<"
            found.append(Note(file, number, KIND, text=text))
        if counter := _COUNTER.search(code):
            text = (
                f"{counter['type']} {counter['name']} grows up to n and overflows, because this step accepts any n; "
                "use std::int64_t"
            )
            found.append(Note(file, number, KIND, text=text))
        match = _PRODUCT.search(code)
        if match and match["before"] not in (")", "}", "*"):
            first, second = match["first"] + ".x", match["second"] + ".x"
            text = (
                f"{first} * {second} has 32 bits and wraps at 2^32, but this step accepts any n; "
                f"write std::int64_t({first}) * {second}"
            )
            found.append(Note(file, number, KIND, text=text))
    return found


class Scan:
    """The search in one step's file, which begins at once and runs beside the tests. The source has been compiled."""

    def __init__(self, step: StepFile, solution: bool = False) -> None:
        self.file = source_of(step.file, solution)
        self.generated = f"{build.target(step.lab, 'cpu', solution)}.p/{Path(step.file).name}.cpp"
        self._process: subprocess.Popen[str] | None = None
        self._known = self._remembered()
        commands = [entry["command"] for entry in build.compile_commands() if entry["file"] == self.generated]
        if commands and self._known is None:
            command = shlex.split(commands[0])
            warn = "-Wshorten-64-to-32" if "clang" in Path(command[0]).name else "-Wconversion"
            # Kernels for other types have the same lines.
            options = ["-fsyntax-only", "-DLAB_FIRST_TYPES", "-Wno-error", warn, "-Wno-sign-conversion"]
            options += ["-fdiagnostics-color=never"]
            with contextlib.suppress(OSError):
                self._process = subprocess.Popen(
                    [*command, *options],
                    cwd=build.folder(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="replace",
                    env={**os.environ, "LC_ALL": "C"},
                )

    # --- what is known from an earlier check of the same source ---

    @property
    def _store(self) -> Path:
        return build.folder() / "narrowing.json"

    def _digest(self) -> str:
        try:
            return hashlib.sha256((build.folder() / self.generated).read_bytes()).hexdigest()
        except OSError:
            return ""

    def _remembered(self) -> list[Note] | None:
        known = files.known_in(self._store).get(self.generated)
        if not known or known.get("digest") != self._digest():
            return None
        lines = known.get("lines")
        return [Note(self.file, line, KIND, text=text) for line, text in lines] if isinstance(lines, list) else None

    def _remember(self, notes: Iterable[Note]) -> None:
        lines = [[note.line, note.text] for note in notes]
        content = {**files.known_in(self._store), self.generated: {"digest": self._digest(), "lines": lines}}
        with contextlib.suppress(OSError):
            files.write_whole(self._store, json.dumps(content))

    # --- results ---

    def notes(self) -> list[Note]:
        """What was found, in the order of the lines. Waits for the compiler."""
        found = self._known
        if found is None:
            output = self._process.communicate()[1] if self._process else ""
            found = conversions(output, self.file)
            if self._process and self._process.returncode == 0:
                self._remember(found)
        with contextlib.suppress(OSError):
            found = [*found, *products((ROOT / self.file).read_text(encoding="utf-8"), self.file)]
        return sorted(found, key=lambda note: note.line)

    def cancel(self) -> None:
        """Ends the search: the step has failed."""
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
