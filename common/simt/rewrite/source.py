"""Source files: their tokens, the headers that they include, and what is to change in them."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from .tokens import TOKEN, UNTERMINATED, Token

DIRECTIVE = re.compile(r"#[^\S\n]*(\w*)[^\S\n]*")
INCLUDE = re.compile(r"""#[^\S\n]*include[^\S\n]*(?:"(?P<quoted>[^"\n]*)"|<(?P<angled>[^>\n]*)>)""")
MACRO_HEAD = re.compile(r"#[^\S\n]*define[^\S\n]+(\w+)(?:\([^)]*\))?")
DISABLED = re.compile(r"0\s*(?:\n|//|/\*|$)")  # what follows `#if`
STRAY_BACKSLASH = re.compile(r"\\[^\S\n]*(?://|/\*|\r?\n)")
INTERESTING = re.compile(
    r"<\s*<\s*<|__shared__|__global__|__device__|__constant__|__host__|__CUDA_ARCH__|cudaLaunch\w*Kernel"
    r"|cudaKernelNodeParams|cudaGraphNodeParams|__builtin_mem(?:cpy|move|set)"
)
ROLES = {"if": "if", "ifdef": "if", "ifndef": "if", "endif": "endif"}


class RewriteError(Exception):
    """Text that is not CUDA C++, at a place in a file."""

    def __init__(self, source: Source, offset: int, text: str) -> None:
        super().__init__(f"{source.shown}:{source.line(offset)}: error: {text}")


class Include:
    """An #include, and the file that it names if that was found."""

    def __init__(self, start: int, end: int, name: str, quoted: bool) -> None:
        self.start = start  # of the quotation mark or bracket
        self.end = end
        self.name = name
        self.quoted = quoted
        self.target: Source | None = None
        self.next_to_includer = False  # found in its includer's folder, and not in one of the given folders


class Macro(NamedTuple):
    """A macro's definition."""

    name: str
    start: int  # of the directive
    tokens: list[Token]  # of its body


class Directive(NamedTuple):
    """A directive that begins or ends a conditional part."""

    role: str  # "if", "else" (also for #elif) or "endif"
    name: str
    start: int  # of the name
    place: int  # how many tokens of the code precede it
    enabled: bool  # not in a part that `#if 0` disables
    tokens: list[Token]  # of the condition


class Twin(NamedTuple):
    """A function's body that the host and the device read differently."""

    start: int  # of its opening brace
    end: int  # behind its closing brace
    choice: str  # the condition for the device's version
    edits: list[tuple[int, int, str]]  # in the device's version only


class Source:
    """A file, its tokens, and the changes to make."""

    def __init__(self, path: str, shown: str, text: str) -> None:
        self.path = path  # as it was found
        self.shown = shown  # as messages name it
        self.text = text
        self.includes: list[Include] = []
        self.code: list[Token] = []  # outside directives
        self.macros: list[Macro] = []
        self.directives: list[Directive] = []
        self.edits: list[tuple[int, int, str]] = []  # (start, end, replacement), no two overlapping
        self.twins: list[Twin] = []
        self.rewritten = False

    def line(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def replace(self, start: int, end: int, text: str) -> None:
        """Replaces text, and all changes to it so far, but keeps its line breaks."""
        self.edits = [edit for edit in self.edits if edit[1] <= start or edit[0] >= end]
        self.edits.append((start, end, text + "\n" * (self.text.count("\n", start, end) - text.count("\n"))))

    def insert(self, offset: int, text: str) -> None:
        self.edits.append((offset, offset, text))

    def edited(self, start: int, end: int) -> str:
        """A part of the text after the changes to it so far."""
        pieces, position = [], start
        for first, last, text in sorted(self.edits, key=lambda edit: edit[:2]):
            if start <= first and last <= end:
                pieces += [self.text[position:first], text]
                position = last
        return "".join(pieces) + self.text[position:end]


def tokenize(source: Source) -> None:
    """Fills in includes, code, macros and directives. Skips what `#if 0` disables."""
    text, position, at_line_start = source.text, 0, True
    enabled = [True]  # one entry for each #if around
    target: list[Token] | None = source.code
    in_directive = False
    while position < len(text):
        match = TOKEN.match(text, position)
        assert match is not None and match.lastgroup is not None
        kind, token = match.lastgroup, match.group()
        if kind == "delimiter":
            kind = "raw"
        if kind in ("mark", "word") and all(enabled):
            broken = UNTERMINATED.match(text, position)
            if broken:
                what = "comment" if broken.group("comment") else "raw string"
                raise RewriteError(source, position, f"this {what} is never closed")
        position = match.end()
        if kind == "newline":
            if in_directive:
                target, in_directive = source.code, False
            at_line_start = True
        elif kind in ("comment", "space"):
            continue
        elif token == "#" and at_line_start and not in_directive:
            in_directive, at_line_start = True, False
            target, position = read_directive(source, match.start(), enabled)
        else:
            at_line_start = False
            if token == "\\" and not in_directive and STRAY_BACKSLASH.match(text, match.start()):
                source.replace(match.start(), match.end(), " ")  # nvcc ignores it
            elif target is not None and (target is not source.code or all(enabled)):
                target.append(Token(kind, token, match.start()))


def read_directive(source: Source, start: int, enabled: list[bool]) -> tuple[list[Token] | None, int]:
    """The list that takes the rest of the directive's tokens (None: they are dropped), and where that rest begins."""
    text = source.text
    match = DIRECTIVE.match(text, start)
    assert match is not None
    name = match.group(1)
    role = ROLES.get(name, "else" if name.startswith("el") else "")
    if role == "if" or (role and len(enabled) > 1):
        condition: list[Token] = []
        is_enabled = all(enabled if role == "if" else enabled[:-1])
        source.directives.append(Directive(role, name, match.start(1), len(source.code), is_enabled, condition))
        if role == "if":
            enabled.append(not (name == "if" and DISABLED.match(text[match.end() : match.end() + 80])))
        elif role == "else":
            enabled[-1] = True
        else:
            enabled.pop()
        return condition, match.end()
    if name == "include" and all(enabled):
        include = INCLUDE.match(text, start)
        if include:
            kind = "quoted" if include.group("quoted") is not None else "angled"
            first, last = include.start(kind) - 1, include.end(kind) + 1
            source.includes.append(Include(first, last, include.group(kind), kind == "quoted"))
            return None, include.end()
    elif name == "define" and all(enabled):
        head = MACRO_HEAD.match(text, start)
        source.macros.append(Macro(head.group(1) if head else "", start, []))
        return source.macros[-1].tokens, head.end() if head else match.end()
    return None, match.end()


class Reader:
    """Reads a file and, recursively, the headers that it includes and that can be found; each file once."""

    def __init__(self, folders: list[str], root: str | None) -> None:
        self.folders = folders
        self.root = root
        self.sources: dict[str, Source] = {}  # by real path

    def read(self, path: str) -> Source:
        real = os.path.realpath(path)
        if real in self.sources:
            return self.sources[real]
        # "-sig": the file may begin with a byte-order mark.
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            source = Source(path, os.path.relpath(path, self.root) if self.root else path, file.read())
        is_first = not self.sources
        self.sources[real] = source
        if is_first or INTERESTING.search(source.text):  # the first file may call a kernel of a header
            tokenize(source)
        else:
            for match in re.finditer(r"^[^\S\n]*(?=#)", source.text, re.MULTILINE):
                read_directive(source, match.end(), [True])
        for include in source.includes:
            self.resolve(include, path)
        return source

    def resolve(self, include: Include, path: str) -> None:
        """Finds the file that an #include in `path` names."""
        candidates = (os.path.join(folder, include.name) for folder in self.folders)
        in_folders = next((candidate for candidate in candidates if os.path.isfile(candidate)), None)
        neighbour = os.path.normpath(os.path.join(os.path.dirname(path), include.name))
        if include.quoted and os.path.isfile(neighbour):
            include.target = self.read(neighbour)
            include.next_to_includer = in_folders is None or not os.path.samefile(in_folders, neighbour)
        elif in_folders:
            include.target = self.read(in_folders)
