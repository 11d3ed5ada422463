"""What is said to a person: errors, colours, and the progress of long work."""

import contextlib
import os
import shutil
import signal
import sys
import textwrap
import threading
import time


class Problem(Exception):
    """What went wrong and what to do about it; ends the command with `status`."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


class Usage(Problem):
    """Something was asked for that does not exist; the text lists what there is."""

    def __init__(self, text):
        super().__init__(text, status=2)


class Terminated(KeyboardInterrupt):
    """SIGTERM, which is to end programs that were started and to keep what there is, as Ctrl-C does."""


@contextlib.contextmanager
def terminated_as_interrupted():
    """Terminated is raised where SIGTERM comes."""

    def stop(*_):
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # where Python hears of no signals
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def ending(process):
    """A program that is ended where we stop waiting for it: it must not go on to write what the next command writes."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}


def coloured(stream=None):
    """Whether `stream` (standard output by default) shows colours."""
    stream = stream or sys.stdout
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text, colour, stream=None):
    """`text` in a colour where the stream shows colours, else as it is."""
    return f"\033[{_COLOURS[colour]}m{text}\033[0m" if coloured(stream) else text


def note(text):
    """A line about what is being done. Standard error, so that the results on standard output stay clean."""
    print(text, file=sys.stderr, flush=True)


class Progress:
    """One line that is kept up to date on a terminal; elsewhere a plain line now and then.

    with Progress("building") as progress:
        progress.update("3 of 12")
    """

    PLAIN_EVERY = 10.0  # seconds between plain lines

    def __init__(self, what):
        self.what = what
        self.live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.last = time.monotonic()

    def __enter__(self):
        self._draw("..")
        return self

    def update(self, text):
        """Shows how far it is."""
        self._draw(text)

    def _draw(self, text):
        if self.live:
            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            sys.stderr.write("\r\033[K" + f"{self.what}: {text}"[: width - 1])
            sys.stderr.flush()
        elif time.monotonic() - self.last >= self.PLAIN_EVERY:
            self.last = time.monotonic()
            note(f"{self.what}: {text}")

    def __exit__(self, *_):
        if self.live:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


# --- tables and numbers ---


def render(headings, rows, left=()):
    """Lines of a table. Columns whose heading is in `left` are set flush left, the others flush right."""
    cells = [[str(cell) for cell in row] for row in [headings, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]

    def line(row):
        placed = (
            cell.ljust(width) if heading in left else cell.rjust(width)
            for cell, width, heading in zip(row, widths, headings)
        )
        return "  ".join(placed).rstrip()

    return [line(cells[0]), "  ".join("-" * width for width in widths), *map(line, cells[1:])]


def width():
    """How wide lines may be: the terminal's width, or what COLUMNS says; None where neither is known."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size().columns
    return None


def wrapped(text, indent=""):
    """A paragraph in lines that fit the terminal, and are no longer than people like to read."""
    return textwrap.fill(
        text,
        min(width() or 120, 120),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def fit(headings, rows, left=(), less=()):
    """(lines of a table that is no wider than `width()` where that can be, the columns that it lacks for that).

    `less`: columns that can be done without, the first one first.
    """

    def lines_without(dropped):
        kept = [i for i, heading in enumerate(headings) if heading not in dropped]
        return render([headings[i] for i in kept], [[row[i] for i in kept] for row in rows], left)

    def fits(dropped):
        return limit is None or max(map(len, lines_without(dropped))) <= limit

    limit, dropped = width(), []
    for heading in less:
        if not fits(dropped):
            dropped.append(heading)
    for heading in reversed(dropped[:]):  # a wide one may have made room for one that was dropped before it
        rest = [other for other in dropped if other != heading]
        if fits(rest):
            dropped = rest
    return lines_without(dropped), dropped


def significant(value, digits=3):
    """A number in plain notation: at least `digits` digits that mean something, no more than needed."""
    if value == 0:
        return "0"
    decimals = 0
    while decimals < 6 and abs(value) * 10**decimals < 10 ** (digits - 1):
        decimals += 1
    return f"{value:.{decimals}f}"


def grouped(value):
    """The same with its thousands apart: 12,345."""
    text = significant(value)
    return f"{int(text):,}" if text.isdigit() else text


def count(n):
    """A number of keys: 2^18 where it is such a power and large, else its digits."""
    n = int(n)
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else str(n)
