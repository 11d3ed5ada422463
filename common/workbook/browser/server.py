"""Serves the course and the student's work to browsers on this machine.

Python's own http.server does this: a handful of pages for one reader, each from a thread of its own, and events that
the server sends. aiohttp, Starlette with uvicorn, or Flask with waitress would add several packages, which every
student would have to install, and what they offer (load, routing, sessions, TLS) is not needed here. The documentation
of http.server warns against using it in production because it checks little. What is to be checked is in this file:

* It listens on the loopback address only, and each address begins with a random token, which no other user knows.
* A page of another site could have its own name resolved to this address ("DNS rebinding"). Its requests then carry
  that name as Host, and are refused. What changes something must also have the Origin of our own pages.
* No path is turned into a file name but those of the course: see documents.is_shown.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import json
import secrets
import sys
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ..core.console import Problem, Usage
from ..core.course import StepFile, labs, steps
from . import documents
from .work import Work

ADDRESS = "127.0.0.1"
NAMES = (ADDRESS, "localhost")
BEAT = 15.0  # seconds between signs of life, by which a window that has gone is noticed
PAUSE = 0.05  # seconds between two states: a command may print many lines at once
MOST_BYTES = 1000  # of a request
KINDS = {".svg": "image/svg+xml", ".png": "image/png", ".ipynb": "application/x-ipynb+json", ".js": "text/javascript"}
POLICY = (
    "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; script-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Refused(Exception):
    """A request that is not answered, with the status that says why."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


class Server(ThreadingHTTPServer):
    """The server. Its threads end with the process, and work.close() ends what windows wait for."""

    def __init__(self, work: Work, port: int = 0) -> None:
        """`port`: 0 takes a free one. Raises Usage if it cannot be used."""
        self.work = work
        self.token = secrets.token_urlsafe(18)
        try:
            super().__init__((ADDRESS, port), Handler)
        except OSError as error:
            why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
            raise Usage(f"port {port} {why}: choose another one, or leave out --port to get a free one") from error

    @property
    def address(self) -> str:
        """The address of all pages, which ends with a slash."""
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A window that has gone is no error."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server
    timeout = 60  # seconds without a byte

    def log_message(self, format: str, *arguments: Any) -> None:
        """Prints nothing: the terminal is for the address."""

    def do_GET(self) -> None:
        """A page, a picture, or the events."""
        with self._refusing():
            path = self._own_path()
            if path == "events":
                self._send_events()
            elif path == "work.js":
                self._send((Path(__file__).parent / path).read_bytes(), KINDS[".js"])
            elif path.startswith("player/"):
                self._send_player(path[len("player/") :])
            else:
                self._send_page(path)

    def do_POST(self) -> None:
        """What a button does."""
        with self._refusing():
            if self._own_path() != "do":
                raise Refused(HTTPStatus.NOT_FOUND)
            if self.headers["Origin"] not in self._origins():
                raise Refused(HTTPStatus.FORBIDDEN)
            length = self.headers["Content-Length"] or ""
            if not length.isdigit() or int(length) > MOST_BYTES:
                raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            try:
                wanted = json.loads(self.rfile.read(int(length)))
                number = self._do(wanted["what"], str(wanted["lab"]), wanted["step"])
            except (ValueError, KeyError, TypeError, Problem) as error:
                raise Refused(HTTPStatus.BAD_REQUEST) from error
            self._send(json.dumps({"job": number}).encode(), "application/json")

    # --- who asks ---

    def _origins(self) -> list[str]:
        return [f"http://{name}:{self.server.server_port}" for name in NAMES]

    def _own_path(self) -> str:
        """The path after the token. Raises Refused for a request that is not from our own address."""
        if f"http://{self.headers['Host']}" not in self._origins():
            raise Refused(HTTPStatus.FORBIDDEN)
        token, _, path = unquote(urlsplit(self.path).path).removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(HTTPStatus.NOT_FOUND)
        return path

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except Refused as refused:
            self.send_error(refused.status)

    # --- answers ---

    def _begin(self, kind: str, policy: str = POLICY) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", policy)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")  # the address holds the token
        self.send_header("X-Content-Type-Options", "nosniff")

    def _send(self, content: bytes, kind: str, policy: str = POLICY) -> None:
        self._begin(kind if kind.startswith("image/png") else f"{kind}; charset=utf-8", policy)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _send_page(self, path: str) -> None:
        course = self.server.work.course
        place = documents.place_of(path or "labs/index.html", course.root)
        if not place:
            raise Refused(HTTPStatus.NOT_FOUND)
        try:
            if place == path:
                self._send((course.root / place).read_bytes(), KINDS[Path(place).suffix])
            else:
                self._send(course.page(place).encode(), "text/html")
        except FileNotFoundError as error:
            raise Refused(HTTPStatus.NOT_FOUND) from error

    def _send_player(self, name: str) -> None:
        files = (self.server.work.player_file(step) for lab in labs(self.server.work.root) for step in self._steps(lab))
        file = next((file for file in files if file.name == name and file.is_file()), None)
        if file is None:
            raise Refused(HTTPStatus.NOT_FOUND)
        self._send(file.read_bytes(), "text/html", "frame-ancestors 'none'")  # the page has a policy of its own

    def _send_events(self) -> None:
        """The state, and again whenever it has changed."""
        work = self.server.work
        (lab,) = parse_qs(urlsplit(self.path).query).get("lab") or [""]
        if lab and lab not in labs(work.root):
            raise Refused(HTTPStatus.NOT_FOUND)
        self._begin("text/event-stream; charset=utf-8")
        self.end_headers()
        version = -1
        while not work.is_closing:
            now = work.wait(version, BEAT)
            text = f"data: {json.dumps(work.state(lab))}\n\n" if now != version else ": still here\n\n"
            self.wfile.write(text.encode())
            self.wfile.flush()
            if now != version and not work.is_closing:
                work.pause(PAUSE)
            version = now

    # --- buttons ---

    def _steps(self, lab: str) -> list[StepFile]:
        return steps(lab, self.server.work.root)

    def _do(self, what: str, lab: str, number: int | None) -> int:
        """Does it; the number of the job that was started, or 0. Raises KeyError for what does not exist."""
        work = self.server.work
        if lab not in labs(work.root):
            raise KeyError(lab)
        if what == "stop":
            work.stop(lab)
            return 0
        if number is None:
            if what != "check":
                raise KeyError(what)
            return work.check(lab)
        step = {step.number: step for step in self._steps(lab)}[number]
        if what == "hint":
            work.hint(step)
            return 0
        return {
            "check": lambda: work.check(lab, [step]),
            "play": lambda: work.play(step),
            "play-case": lambda: work.play(step, failed=True),
        }[what]()
