"""Serves the course to browsers on this machine until Ctrl-C: handouts, hints, and the verdict on each file as you save
it."""

import argparse
import os
import sys
import webbrowser

from ..core.console import note
from ..core.course import find_lab
from ..core.options import add, whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    add(parser, "lab", nargs="?", help="the lab to begin with: 04-counting, 4, counting (default: all labs)")
    parser.add_argument(
        "--port", metavar="P", type=whole("--port", 1, 65535), default=0, help="the port to use (default: a free one)"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


def _show(address: str) -> None:
    """Opens the browser where there is one with windows. A browser in text mode would take the terminal."""
    if sys.stdout.isatty() and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        webbrowser.open(address)


def main(arguments: argparse.Namespace) -> int:
    """Serves the pages until interrupted."""
    # Late: --help must work where markdown-it and Jinja2 are missing.
    from ..browser.documents import page_of
    from ..browser.server import Server
    from ..browser.work import Work

    lab = find_lab(arguments.lab) if arguments.lab else ""
    work = Work()
    try:
        with Server(work, arguments.port) as server:
            address = server.address + page_of(f"labs/{lab}/README.md" if lab else "labs/README.md")
            print(address, flush=True)
            note("Open this address in a browser on this machine. Keep it secret: with it, anyone can run your code.")
            port = server.server_port
            note(f"On another machine, first forward the port: ssh -L {port}:127.0.0.1:{port} HOST")
            note("Ctrl-C stops the server.")
            if not arguments.no_browser:
                _show(address)
            server.serve_forever()
    finally:
        work.close()
    return 0
