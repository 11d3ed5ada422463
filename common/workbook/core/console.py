"""What a person sees: errors, notes, colours, tables, and the progress of long work.

Rich draws progress and tables. It is imported only when something is drawn, so that commands which draw nothing start
without it.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TextIO, TypeVar

MOST_NAMES = 10  # in a sentence
Child = TypeVar("Child", bound="subprocess.Popen[Any]")


class Problem(Exception):
    """What went wrong and what to do about it; ends the command with `status`."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.status = status


class Usage(Problem):
    """An argument is wrong or names something that does not exist; the text names what is possible."""

    def __init__(self, text: str) -> None:
        super().__init__(text, status=2)


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that a mistyped one resembles; "" if none does."""
    return next(iter(difflib.get_close_matches(word, list(known), 1, 0.7)), "")


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: the first ones, and how many more there are."""
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


# --- interruptions ---


class Terminated(KeyboardInterrupt):
    """SIGTERM: like Ctrl-C, it ends the programs that were started and keeps what was measured."""


@contextlib.contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Raises Terminated when SIGTERM arrives."""

    def stop(*_: object) -> None:
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # only the main thread receives signals
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def ending(process: Child) -> Iterator[Child]:
    """Ends a program when the caller stops waiting for it: otherwise it would go on writing into the same files."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


# --- lines ---

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}


def coloured(stream: TextIO | None = None) -> bool:
    """Whether `stream` (standard output by default) shows colours."""
    stream = stream or sys.stdout
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, stream: TextIO | None = None) -> str:
    """`text` in a colour if the stream shows colours."""
    return f"\033[{_COLOURS[colour]}m{text}\033[0m" if coloured(stream) else text


def note(text: str) -> None:
    """Prints a line about the work. It goes to standard error, so that results on standard output stay clean."""
    print(wrapped_message(text, indented=False), file=sys.stderr, flush=True)


def width() -> int | None:
    """How wide lines may be: the width of the terminal, or the variable COLUMNS; None if neither is known."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size().columns
    return None


def wrapped(text: str, indent: str = "", hanging: int = 0) -> str:
    """A paragraph as lines that fit the terminal and are at most 120 characters long.

    All lines begin with `indent`; all but the first are indented by `hanging` more spaces.
    """
    return _filled(text, min(width() or 120, 120), indent, hanging)


def _filled(text: str, limit: int, indent: str, hanging: int) -> str:
    rest = indent + " " * hanging
    return textwrap.TextWrapper(limit, indent, rest, break_long_words=False, break_on_hyphens=False).fill(text)


_LABELS = {"ok": "green", "OVER": "red", "FAILED": "red"}
_HEAD = re.compile(rf"\S+:\d+: (?:error|note): |error: |(?:{'|'.join(_LABELS)}) {{2,}}")
_COMMAND = re.compile(r" *[a-z ()]+: (?:\w+=\S+ )?\./workbook ")
_ROW = re.compile(r".*\S {2,}\S")  # of a table


def tell(text: object) -> None:
    """Prints a message whose lines fit the terminal. The label of a verdict, such as "ok      ", has its colour."""
    line = wrapped_message(str(text))
    label = line.partition("  ")[0]
    print(paint(label, _LABELS[label]) + line[len(label) :] if label in _LABELS else line, flush=True)


def wrapped_message(message: str, indented: bool = True) -> str:
    """A message whose long lines are wrapped, where the width is known. FILE:LINE: error: and labels stay in one piece,
    and so does a command for a shell, to which a backslash at the end of a line says so.

    `indented`: lines that begin with a space are wrapped, too. In a compiler's message they quote the source.
    """
    limit = width()
    if limit is None:
        return message
    lines = message.split("\n")
    return "\n".join(_wrapped_line(line, min(limit, 120)) if indented or line[:1] != " " else line for line in lines)


def error_text(problem: object, stream: TextIO) -> str:
    """ "error: PROBLEM" for a stream."""
    text = wrapped_message(f"error: {problem}", indented=False)
    return paint("error:", "red", stream) + text[len("error:") :]


def _wrapped_line(line: str, limit: int) -> str:
    head = found[0] if (found := _HEAD.match(line)) else ""
    indent = " " * (len(line) - len(line.lstrip()))
    if _COMMAND.match(line):
        return _filled(line.lstrip(), (width() or limit) - 2, indent, 2).replace("\n", " \\\n")
    if len(line) <= limit or (_ROW.match(line) and not head):
        return line
    text = head.replace(" ", "\0") + line[len(head) :].lstrip()
    hanging = 8 if head.endswith("  ") else 6 if head else 2
    return _filled(text, limit, indent, hanging).replace("\0", " ")


# --- progress ---


class Progress:
    """A bar that is kept up to date on a terminal; elsewhere a plain line now and then.

    with Progress("building") as progress:
        progress.update("sort.cu", 3, 12)
    """

    PLAIN_EVERY = 10.0  # seconds between plain lines
    PATIENCE = 0.3  # seconds before the bar appears: short work needs none, and importing Rich takes time

    def __init__(self, what: str, brief: bool = False) -> None:
        """`brief`: where there is no bar, nothing but one line when the work begins."""
        self.what, self.brief = what, brief
        terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.live = terminal and importlib.util.find_spec("rich") is not None
        self._started = self._last = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if self.brief and not self.live:
            note(f"{self.what} ...")
        return self

    def update(self, text: str = "", done: int | None = None, total: int | None = None) -> None:
        """Shows what is being done, and how much of it is finished."""
        now = time.monotonic()
        if self.live:
            if self._bar is None and now - self._started >= self.PATIENCE:
                self._show()
            if self._bar is not None:
                self._bar.update(self._task, text=text, completed=done or 0, total=total)
        elif not self.brief and now - self._last >= self.PLAIN_EVERY:
            self._last = now
            count = f"{done} of {total}: " if total else ""
            note(f"{self.what}: {count}{text}")

    def line(self, text: str) -> None:
        """A line that is always printed where there is no bar, unless the work is to be reported briefly."""
        if self.live:
            self.update(text)
        elif not self.brief:
            note(text)

    def remark(self, text: str) -> None:
        """A line about the work as a whole; not where it is to be reported briefly."""
        if not self.brief:
            note(text)

    def hide(self) -> None:
        """Takes the bar away until there is something to show: another one may come in between."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _show(self) -> None:
        from rich import progress
        from rich.console import Console
        from rich.table import Column

        self._bar = progress.Progress(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=20),
            progress.TimeElapsedColumn(),
            progress.TextColumn(
                "{task.fields[text]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)
            ),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self.what, text="", total=None)
        self._bar.start()

    def __exit__(self, *_: object) -> None:
        self.hide()


def time_left(seconds: float) -> str:
    """ "about 20 s left" """
    return f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left"


# --- tables and numbers ---


def table(
    headings: Sequence[str], rows: Sequence[Sequence[object]], left: Collection[str] = (), less: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """The lines of a table that fits `width()` where possible, and the columns left out for that.

    Columns whose heading is in `left` are flush left, the others flush right. `less`: columns that can be left out,
    the first one first.
    """

    def lines_without(dropped: Collection[str]) -> list[str]:
        kept = [i for i, heading in enumerate(headings) if heading not in dropped]
        return _rendered([headings[i] for i in kept], [[str(row[i]) for i in kept] for row in rows], left)

    def fits(dropped: Collection[str]) -> bool:
        return limit is None or max(map(len, lines_without(dropped))) <= limit

    limit = width()
    dropped: list[str] = []
    for heading in less:
        if not fits(dropped):
            dropped.append(heading)
    for heading in reversed(dropped[:]):  # dropping a wide column may have made room for an earlier one
        rest = [other for other in dropped if other != heading]
        if fits(rest):
            dropped = rest
    return lines_without(dropped), dropped


def _rendered(headings: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str]) -> list[str]:
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    ruled = Box("    \n    \n -  \n    \n    \n    \n    \n    \n", ascii=True)
    drawn = Table(box=ruled, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        drawn.add_column(Text(heading), justify="left" if heading in left else "right", no_wrap=True)
    for row in rows:
        drawn.add_row(*map(Text, row))
    console = Console(width=10_000, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(drawn)
    return [line.rstrip() for line in capture.get().splitlines()]


def significant(value: float, digits: int = 3) -> str:
    """A number in plain notation with at least `digits` significant digits, and no more decimals than they need."""
    if value == 0:
        return "0"
    decimals = 0
    while decimals < 6 and abs(value) * 10**decimals < 10 ** (digits - 1):
        decimals += 1
    return f"{value:.{decimals}f}"


def grouped(value: float) -> str:
    """The same with its thousands separated: 12,345."""
    text = significant(value)
    return f"{int(text):,}" if text.isdigit() else text


def count(n: int) -> str:
    """A number of keys: as 2^18 if it is a large power of two, else its digits."""
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else str(n)
