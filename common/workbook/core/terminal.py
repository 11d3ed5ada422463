"""What is said to a person: errors, colours, and the progress of long work."""

import contextlib
import os
import signal
import sys
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
