#!/usr/bin/env python3
"""Turns CUDA C++ into C++ that any compiler reads: the few things of CUDA's that macros and headers cannot give.

    python3 rewrite.py IN.cu -o OUT.cpp [--depfile FILE] [-I DIR ...] [--root DIR]

A kernel launch becomes a call of simt::launch, `extern __shared__ T name[]` a name for the running block's dynamic
shared memory. Nothing moves to another line, and `#line` names the file as it was given, so that a compiler's message
points at the line its reader wrote. Comments, literals and everything else stay as they are.

A header that needs the same, or that includes one that does, is rewritten too, into a copy beside OUT which the
`#include` then names. Only headers found beside their includer or in a DIR are looked at.

Errors go to standard error as `path:line: error: text`, the exit status is 1, and nothing is written.
"""

import argparse
import hashlib
import os
import re
import sys
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""
    (?P<comment> //(?:[^\n\\]|\\(?:\r?\n|.))* | /\*.*?\*/ )
  | (?P<raw>     (?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)" )
  | (?P<string>  (?:u8|[uUL])?"(?:[^"\\\n]|\\(?:\r?\n|.))*" )
  | (?P<char>    (?:u8|[uUL])?'(?:[^'\\\n]|\\.)+' )
  | (?P<number>  \.?\d(?:[eEpP][+-]|'?[\w.])* )
  | (?P<word>    [A-Za-z_]\w* )
  | (?P<newline> \n )
  | (?P<space>   \\\r?\n | [^\S\n]+ )
  | (?P<mark>    :: | -> | \#\# | . )
    """,
    re.VERBOSE | re.DOTALL,
)
DIRECTIVE = re.compile(r"#[^\S\n]*(\w*)[^\S\n]*")
INCLUDE = re.compile(r"""#[^\S\n]*include[^\S\n]*(?:"(?P<quoted>[^"\n]*)"|<(?P<angled>[^>\n]*)>)""")
MACRO_HEAD = re.compile(r"#[^\S\n]*define[^\S\n]+\w+(?:\([^)]*\))?")
UNTERMINATED = re.compile(r'(?P<comment>/\*)|(?:u8|[uUL])?R"')
INTERESTING = re.compile(r"<<<|__shared__|__global__")
# Words that end the search for a kernel's name to the left: what stands before them is not part of it.
NOT_NAMES = set("return else do case goto throw if while for switch and or not sizeof co_return co_yield".split())
SPECIFIERS = set("extern static const volatile __device__ __shared__".split())
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}


class RewriteError(Exception):
    """Text that is not CUDA C++, at a place in a file."""

    def __init__(self, source, offset, text):
        super().__init__(f"{source.shown}:{source.line(offset)}: error: {text}")


@dataclass
class Token:
    kind: str
    text: str
    start: int

    @property
    def end(self):
        return self.start + len(self.text)


@dataclass
class Include:
    start: int  # of the quotation mark or bracket
    end: int
    name: str
    quoted: bool
    target: "Source" = None
    beside: bool = False  # found in its includer's folder, and not in a DIR


@dataclass
class Source:
    """A file, its tokens, and what has to change in it."""

    path: str  # as it was found
    shown: str  # as messages name it
    text: str
    includes: list = field(default_factory=list)
    code: list = field(default_factory=list)  # tokens outside directives
    macros: list = field(default_factory=list)  # a list of tokens for each macro's body
    conditions: list = field(default_factory=list)  # (index into code, "if" | "else" | "endif")
    edits: list = field(default_factory=list)  # (start, end, replacement), no two overlapping
    rewritten: bool = False

    def line(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def replace(self, start, end, text):
        """Line breaks that the replaced text has are kept."""
        self.edits.append((start, end, text + "\n" * (self.text.count("\n", start, end) - text.count("\n"))))

    def insert(self, offset, text):
        self.edits.append((offset, offset, text))


# --- reading ---


def tokenize(source):
    """Fills in includes, code, macros and conditions. Text under `#if 0` is passed over."""
    text, position, at_line_start = source.text, 0, True
    alive = [True]  # one entry for each #if around
    target = source.code
    in_directive = False
    while position < len(text):
        match = TOKEN.match(text, position)
        kind, token = match.lastgroup, match.group()
        if kind == "delimiter":
            kind = "raw"
        if kind in ("mark", "word") and all(alive):
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
            target, position = read_directive(source, match.start(), alive)
        else:
            at_line_start = False
            if target is not None and all(alive):
                target.append(Token(kind, token, match.start()))


def read_directive(source, start, alive):
    """Returns the list that takes the rest of the directive's tokens (None: nobody), and where that rest begins."""
    text = source.text
    match = DIRECTIVE.match(text, start)
    name = match.group(1)
    if name in ("if", "ifdef", "ifndef"):
        alive.append(not (name == "if" and re.match(r"0\s*(?:\n|//|/\*|$)", text[match.end() : match.end() + 80])))
        source.conditions.append((len(source.code), "if"))
    elif name.startswith("el") and len(alive) > 1:
        alive[-1] = True
        source.conditions.append((len(source.code), "else"))
    elif name == "endif" and len(alive) > 1:
        alive.pop()
        source.conditions.append((len(source.code), "endif"))
    elif name == "include" and all(alive):
        include = INCLUDE.match(text, start)
        if include:
            kind = "quoted" if include.group("quoted") is not None else "angled"
            source.includes.append(
                Include(include.start(kind) - 1, include.end(kind) + 1, include.group(kind), kind == "quoted")
            )
            return None, include.end()
    elif name == "define" and all(alive):
        source.macros.append([])
        head = MACRO_HEAD.match(text, start)
        return source.macros[-1], head.end() if head else match.end()
    return None, match.end()


class Reader:
    """Reads a file and, recursively, the headers that it includes and that can be found; each file once."""

    def __init__(self, folders, root):
        self.folders = folders
        self.root = root
        self.sources = {}  # by real path

    def read(self, path):
        real = os.path.realpath(path)
        if real in self.sources:
            return self.sources[real]
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:  # a mark may come first
            source = Source(path, os.path.relpath(path, self.root) if self.root else path, file.read())
        self.sources[real] = source
        if (
            INTERESTING.search(source.text) or len(self.sources) == 1
        ):  # a kernel may be called in the file that is given
            tokenize(source)
        else:
            for match in re.finditer(r"^[^\S\n]*(?=#)", source.text, re.MULTILINE):
                read_directive(source, match.end(), [True])
        for include in source.includes:
            self.resolve(include, path)
        return source

    def resolve(self, include, path):
        in_folders = next(
            (
                os.path.join(folder, include.name)
                for folder in self.folders
                if os.path.isfile(os.path.join(folder, include.name))
            ),
            None,
        )
        beside = os.path.normpath(os.path.join(os.path.dirname(path), include.name))
        if include.quoted and os.path.isfile(beside):
            include.target = self.read(beside)
            include.beside = in_folders is None or not os.path.samefile(in_folders, beside)
        elif in_folders:
            include.target = self.read(in_folders)


# --- finding one's way among tokens ---


def closing(tokens, index):
    """The index of the bracket that closes the one at `index`; None if there is none."""
    depth = []
    for i in range(index, len(tokens)):
        text = tokens[i].text
        if tokens[i].kind != "mark":
            continue
        if text in OPEN:
            depth.append(text)
        elif text in CLOSE:
            if not depth or depth.pop() != CLOSE[text]:
                return None
            if not depth:
                return i
    return None


def opening(tokens, index):
    """The index of the bracket that the one at `index` closes; None if there is none."""
    depth = 0
    for i in range(index, -1, -1):
        if tokens[i].kind != "mark":
            continue
        depth += (tokens[i].text in CLOSE) - (tokens[i].text in OPEN)
        if depth == 0:
            return i
    return None


def run_length(tokens, index, text):
    """How many tokens `text` stand at `index` with nothing between them."""
    length = 0
    while (
        index + length < len(tokens)
        and tokens[index + length].text == text
        and tokens[index + length].start == tokens[index].start + length
    ):
        length += 1
    return length


def opening_angle(tokens, index):
    """The index of the `<` of the template arguments that the `>` at `index` ends; None if there is none."""
    depth, i = 0, index
    while i is not None and i >= 0:
        text = tokens[i].text
        if tokens[i].kind == "mark":
            if text in CLOSE and text != "}":
                i = opening(tokens, i)
                if i is None:
                    return None
            elif text in (";", "{", "}", "(", "["):
                return None
            elif text == ">":
                depth += 1
            elif text == "<":
                if i > 0 and run_length(tokens, i - 1, "<") == 2:
                    i -= 1  # a shift
                else:
                    depth -= 1
                    if depth == 0:
                        return i
        i -= 1
    return None


def is_name(token):
    return token.kind == "word" and token.text not in NOT_NAMES


def name_start(tokens, end):
    """The index at which the kernel's name (or expression) that ends before `end` begins; None if there is none."""
    i, start = end - 1, None
    while i is not None and i >= 0:
        token = tokens[i]
        if token.text == ">" and token.kind == "mark":
            i = opening_angle(tokens, i)
            if i is None or i == 0 or not is_name(tokens[i - 1]):
                return None
            i -= 1
        elif token.text == "]" and token.kind == "mark":
            i = opening(tokens, i)
            i = None if i is None else i - 1
        elif token.text == ")" and token.kind == "mark":
            i = opening(tokens, i)
            if i is None:
                return None
            called = i > 0 and (is_name(tokens[i - 1]) or tokens[i - 1].text in (">", "]"))
            if not called:
                return i
            i -= 1
        elif is_name(token):
            start = i
            before = i - 1
            if before >= 0 and tokens[before].text == "template":
                start, before = before, before - 1
            separator = tokens[before].text if before >= 0 else ""
            if separator == "::":
                qualified = before > 0 and (is_name(tokens[before - 1]) or tokens[before - 1].text in (">", ")"))
                if not qualified:
                    return before
                i = before - 1
            elif separator in (".", "->", "##"):
                i = before - 1
            else:
                return start
        else:
            return None
    return start


def spelling(tokens):
    """The tokens as one line of text, with a space where there was something between them."""
    text = ""
    for previous, token in zip([None] + tokens, tokens):
        text += (" " if previous and previous.end != token.start else "") + token.text
    return text


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


# --- launches ---


def configuration_end(source, tokens, index):
    """The index of the first `>` of the `>>>` that closes the `<<<` before `index`."""
    i = index
    while i is not None and i < len(tokens):
        text = tokens[i].text if tokens[i].kind == "mark" else ""
        if text in OPEN:
            i = closing(tokens, i)
            if i is None:
                break
        elif text in CLOSE or text == ";" or run_length(tokens, i, "<") >= 3:
            break
        elif text == ">":
            length = run_length(tokens, i, ">")
            if length >= 3:  # what is more than three ends template arguments
                return i + length - 3
            i += length - 1
        i += 1
    raise RewriteError(source, tokens[index - 3].start, "kernel launch: this '<<<' is never closed by '>>>'")


def rewrite_launches(source, tokens, in_macro):
    for i in range(len(tokens)):
        if tokens[i].text != "<" or (i > 0 and run_length(tokens, i - 1, "<") > 1):
            continue
        length = run_length(tokens, i, "<")
        if length < 3 or (i > 0 and tokens[i - 1].text == "operator"):
            continue
        here = tokens[i].start
        if length > 3:
            raise RewriteError(source, here, f"'{'<' * length}' is not CUDA C++ (is it left over from a merge?)")
        first = name_start(tokens, i)
        if first is None or i == 0:
            raise RewriteError(source, here, "kernel launch: no kernel's name before '<<<'")
        name = spelling(tokens[first:i])
        end = configuration_end(source, tokens, i + 3)
        if end == i + 3:
            raise RewriteError(source, here, f"launch of {name}: '<<<>>>' needs a grid and a block")
        if end + 3 >= len(tokens) or tokens[end + 3].text != "(":
            raise RewriteError(source, tokens[end].start, f"launch of {name}: no '(arguments)' after '>>>'")
        last = closing(tokens, end + 3)
        if last is None:
            raise RewriteError(source, tokens[end + 3].start, f"launch of {name}: this '(' is never closed")
        arguments = tokens[end + 4 : last]
        k = end + 4
        while k < last:
            if tokens[k].text == "{" and tokens[k - 1].text in ("(", ","):
                raise RewriteError(
                    source,
                    tokens[k].start,
                    f"launch of {name}: CUDA on the CPU needs this argument's type, as in T{{..}}",
                )
            k = (closing(tokens, k) if tokens[k].kind == "mark" and tokens[k].text in OPEN else k) + 1

        source.insert(tokens[first].start, "::simt::launch([&](auto&... simt_args) { ")
        source.insert(tokens[i - 1].end, "(simt_args...); }")
        source.replace(here, tokens[i + 2].end, f", {quoted(name)}, __FILE__, __LINE__, ::simt::LaunchConfig(")
        source.replace(tokens[end].start, tokens[end + 2].end, ")")
        comma = ", " if arguments else ""
        if in_macro and [token.text for token in arguments] == ["__VA_ARGS__"]:
            comma = " __VA_OPT__(,) "
        source.replace(tokens[end + 3].start, tokens[end + 3].end, comma)
        replace_null_arguments(source, arguments)


def global_names(tokens):
    """Of each function declared __global__ in `tokens`, the index of its name."""
    found = set()
    for i, token in enumerate(tokens):
        if token.text != "__global__":
            continue
        at = i + 1
        while at is not None and at < len(tokens) and tokens[at].text not in (";", "{", "}"):
            if tokens[at].text == "(":
                end = at  # of the name
                if tokens[at - 1].text == ">":
                    end = opening_angle(tokens, at - 1) or at
                if tokens[end - 1].text not in ("__launch_bounds__", "__attribute__", "alignas", "__align__"):
                    found.add(end - 1)
                    break
                at = closing(tokens, at)
                if at is None:
                    break
            at += 1
    return found


def other_names(tokens, names, declared):
    """Those of `names` that stand for something else than a kernel, too: `auto k = ..`, `F&& k`, `void k(int);`."""
    found = set()
    for i, token in enumerate(tokens):
        if token.kind == "word" and token.text in names and i not in declared and i > 0:
            before = tokens[i - 1]
            after = tokens[i + 1].text if i + 1 < len(tokens) else ""
            if (
                is_name(before)
                and before.text not in ("template", "__global__")
                or before.text in ("&", "*", ">")
                and after in (",", ")", "=", ";", "(", "{")
            ):
                found.add(token.text)
    return found


def refuse_calls(source, tokens, names):
    """A statement that calls one of the kernels in `names` like a function is an error, as it is to nvcc."""
    for i, token in enumerate(tokens):
        if token.text != "(" or i == 0:
            continue
        end = i
        if tokens[i - 1].text == ">":
            end = opening_angle(tokens, i - 1) or 0
        if end == 0 or tokens[end - 1].text not in names:
            continue
        first, last = name_start(tokens, i), closing(tokens, i)
        if first is None or last is None or last + 1 >= len(tokens) or tokens[last + 1].text != ";":
            continue
        if end >= 2 and tokens[end - 2].text in (".", "->"):
            continue
        if "std" in (tokens[first].text, tokens[first + 1].text):  # std::sort, beside a kernel `sort`
            continue
        if first > 0 and tokens[first - 1].text not in (";", "{", "}", ")", ":", "else", "do", "return"):
            continue
        name = spelling(tokens[first:i])
        raise RewriteError(
            source,
            tokens[first].start,
            f"the kernel {name} is called like a function: a launch is {name}<<<grid, block>>>(..)",
        )


def refuse_all_calls(sources):
    declared = {source.path: global_names(source.code) for source in sources}
    names = {source.code[i].text for source in sources for i in declared[source.path]}
    if not names:
        return
    for source in sources:
        names -= other_names(source.code, names, declared[source.path])
    for source in sources:
        refuse_calls(source, source.code, names)


def replace_null_arguments(source, arguments):
    """NULL is an integer to a function template; as an argument by itself it becomes nullptr."""
    for i, token in enumerate(arguments):
        alone_left = i == 0 or arguments[i - 1].text == ","
        alone_right = i + 1 == len(arguments) or arguments[i + 1].text == ","
        if token.text == "NULL" and alone_left and alone_right:
            source.replace(token.start, token.end, "nullptr")


# --- shared memory and specifiers ---


def namespace_scopes(source):
    """For each token outside directives: is it at file or namespace scope?"""
    scopes, braces, saved = [], [], []
    conditions = iter(source.conditions + [(len(source.code) + 1, "")])
    place, condition = next(conditions)
    for i, token in enumerate(source.code):
        while place == i:  # branches of an #if each begin with the braces that were open before it
            if condition == "if":
                saved.append(list(braces))
            elif condition == "else" and saved:
                braces = list(saved[-1])
            elif condition == "endif" and saved:
                saved.pop()
            place, condition = next(conditions)
        if token.text == "}" and token.kind == "mark" and braces:
            braces.pop()
        scopes.append(all(braces))
        if token.text == "{" and token.kind == "mark":
            head = i
            while head > 0 and source.code[head - 1].text not in (";", "{", "}"):
                head -= 1
            words = [t.text for t in source.code[head:i] if t.kind == "word"]
            linkage = i >= 2 and source.code[i - 1].kind == "string" and source.code[i - 2].text == "extern"
            braces.append("namespace" in words[:2] or linkage)
    return scopes


def specifier_run(tokens, index):
    """The specifiers around `index`, itself included: first index, index after the last."""
    first, last = index, index + 1
    while first > 0 and tokens[first - 1].text in SPECIFIERS:
        first -= 1
    while last < len(tokens) and tokens[last].text in SPECIFIERS:
        last += 1
    return first, last


def declaration_end(source, tokens, index):
    """The index of the `;` that ends the declaration at `index`."""
    i = index
    while i is not None and i < len(tokens):
        if tokens[i].kind == "mark":
            if tokens[i].text == ";":
                return i
            if tokens[i].text in OPEN:
                i = closing(tokens, i)
                if i is None:
                    break
            elif tokens[i].text in CLOSE:
                break
        i += 1
    raise RewriteError(source, tokens[index].start, "this __shared__ declaration has no ';'")


def without_alignment(source, tokens):
    """Takes alignment specifiers out (dynamic shared memory is aligned for any type); gives back the rest."""
    rest, i = [], 0
    while i < len(tokens):
        if tokens[i].text in ("alignas", "__align__", "__attribute__") and i + 1 < len(tokens):
            end = closing(tokens, i + 1)
            source.replace(tokens[i].start, tokens[end].end, "")
            i = end
        else:
            rest.append(tokens[i])
        i += 1
    return rest


def rewrite_dynamic_shared(source, tokens, first, end, at_file_scope):
    """`extern __shared__ T name[];`, tokens [first, end). Returns the name."""
    here = tokens[first].start
    rest = without_alignment(source, tokens[first:end])
    keywords = [token for token in rest if token.text in ("extern", "__shared__")]
    rest = [token for token in rest if token.text not in ("extern", "__shared__")]
    brackets = len(rest)  # where the [...] at the end begin
    while brackets > 0 and rest[brackets - 1].text == "]":
        brackets = opening(rest, brackets - 1)
    depth, several = 0, False
    for token in rest[:brackets]:
        depth += (token.text == "<") - (token.text == ">")
        several |= token.text == "," and depth == 0
    if brackets < 2 or brackets == len(rest) or rest[brackets - 1].kind != "word" or several:
        raise RewriteError(source, here, "expected one array without a size, as in 'extern __shared__ int name[];'")
    kind, name, extents = spelling(rest[: brackets - 1]), rest[brackets - 1], rest[brackets:]
    for token in keywords:
        source.replace(token.start, token.end, "")
    if at_file_scope:
        inner = spelling(extents[closing(extents, 0) + 1 :])
        for token in rest[: brackets - 1]:
            source.replace(token.start, token.end, "")
        source.insert(name.start, f"static const ::simt::DynamicShared<{kind}{inner}> ")
        source.replace(extents[0].start, extents[-1].end, "{}")
    else:
        source.insert(name.start, "(&")
        source.insert(name.end, ")")
        source.insert(
            tokens[end].start, f" = *reinterpret_cast<{kind} (*){spelling(extents)}>(::simt::dynamic_shared())"
        )
    return name.text


def rewrite_static_shared(source, tokens, index, end):
    """`__shared__ T name;`: __shared__ stands for `static __thread`, which alignas has to precede. Each of several
    names gets a declaration of its own, since __shared__ may stand for more, once for each."""
    first, last = specifier_run(tokens, index)
    specifiers = spelling([token for token in tokens[first:last] if token.text != "static"])
    for token in tokens[first:last]:
        if token.text == "static":
            source.replace(token.start, token.end, "")
    if last < end and tokens[last].text == "alignas":
        close = closing(tokens, last + 1)
        alignment = spelling(tokens[last : close + 1]) + " "
        source.insert(tokens[first].start, alignment)
        source.replace(tokens[last].start, tokens[close].end, "")
        specifiers, last = alignment + specifiers, close + 1
    i, kind, angles = last, None, 0
    while i < end:
        angles += (tokens[i].text == "<") - (tokens[i].text == ">")
        if tokens[i].text in OPEN:
            i = closing(tokens, i)
        elif tokens[i].text == "," and angles == 0:
            if kind is None:
                name = i - 1
                while tokens[name].text == "]":
                    name = opening(tokens, name) - 1
                while tokens[name - 1].text in ("*", "&"):
                    name -= 1
                kind = tokens[last:name]
            # (A type is defined once; and a pointer to a function has its name elsewhere.)
            if tokens[name].kind == "word" and not any(token.text == "{" for token in kind):
                source.replace(tokens[i].start, tokens[i].end, f"; {specifiers} {spelling(kind)}")
        elif tokens[i].text == "=" and tokens[i - 1].text not in "=<>!" and tokens[i + 1].text != "=":
            raise RewriteError(
                source,
                tokens[i].start,
                "a __shared__ variable cannot have an initial value; let one thread assign it, "
                "then call __syncthreads()",
            )
        i += 1


def rewrite_shared(source, tokens, scopes):
    """Returns the names of dynamic arrays at file scope. `scopes` is None in a macro's body."""
    names = set()
    done = -1
    for i, token in enumerate(tokens):
        if token.text != "__shared__" or i < done:
            continue
        first, last = specifier_run(tokens, i)
        if scopes is None and not any(t.text == ";" for t in tokens[i:]):
            continue  # a macro that stands for a specifier
        end = done = declaration_end(source, tokens, last)
        if any(t.text == "extern" for t in tokens[first:last]):
            name = rewrite_dynamic_shared(source, tokens, first, end, scopes is not None and scopes[i])
            if scopes is not None and scopes[i]:
                names.add(name)
        else:
            rewrite_static_shared(source, tokens, i, end)
    return names


def rewrite_casts(source, tokens, names):
    """A dynamic array at file scope is an object that converts to a pointer, which a cast does not ask for; + does."""
    for i, token in enumerate(tokens):
        if token.text not in names or i < 2:
            continue
        before, further = tokens[i - 1], tokens[i - 2]
        in_cast = before.text == "(" and further.text == ">"  # reinterpret_cast<T*>(name
        after_cast = before.text == ")" and further.text == "*"  # (T*)name
        if in_cast or after_cast:
            source.insert(token.start, "(+")
            source.insert(token.end, ")")


# --- all together ---


def rewrite_all(sources):
    refuse_all_calls(sources)
    names = set()
    for source in sources:
        names |= rewrite_shared(source, source.code, namespace_scopes(source))
        for macro in source.macros:
            rewrite_shared(source, macro, None)
    for source in sources:
        for tokens in [source.code] + source.macros:
            rewrite_launches(source, tokens, tokens is not source.code)
            rewrite_casts(source, tokens, names)
        source.rewritten = bool(source.edits)
    changed = True
    while changed:  # who includes a copy has to be one
        changed = False
        for source in sources:
            if not source.rewritten and any(i.target and i.target.rewritten for i in source.includes):
                source.rewritten = changed = True


def copy_name(source, output):
    digest = hashlib.sha256(source.shown.encode(errors="surrogateescape")).hexdigest()[:8]
    return f"{os.path.basename(output)}.{digest}.{os.path.basename(source.path)}"


def result(source, output):
    """The rewritten text. Includes name copies where there are any, else files beside the original by full path."""
    edits = list(source.edits)
    for include in source.includes:
        if include.target and include.target.rewritten:
            edits.append((include.start, include.end, f'"{copy_name(include.target, output)}"'))
        elif include.beside:
            edits.append((include.start, include.end, quoted(os.path.abspath(include.target.path))))
    pieces, position = [], 0
    for start, end, text in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [source.text[position:start], text]
        position = end
    text = "".join(pieces) + source.text[position:]
    assert text.count("\n") == source.text.count("\n"), f"{source.shown}: lines were lost"
    return f"#line 1 {quoted(source.shown)}\n{text}"


def write(path, text):
    """Under a temporary name first, so that no half-written file is ever taken for a whole one."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def dependencies(output, sources):
    def escaped(path):
        return re.sub(r"([ #\\])", r"\\\1", path).replace("$", "$$")

    return f"{escaped(output)}: {' '.join(escaped(source.path) for source in sources)}\n"


def main():
    parser = argparse.ArgumentParser(description="Rewrites CUDA C++ for an ordinary C++ compiler, line by line.")
    parser.add_argument("input", metavar="IN.cu")
    parser.add_argument("-o", dest="output", metavar="OUT.cpp", required=True)
    parser.add_argument("--depfile", help="write the headers that were read, as a Makefile rule")
    parser.add_argument(
        "-I", dest="folders", metavar="DIR", action="append", default=[], help="where the compiler looks for headers"
    )
    parser.add_argument("--root", metavar="DIR", help="name files in messages relative to DIR")
    arguments = parser.parse_args()
    try:
        reader = Reader(arguments.folders, arguments.root)
        main_source = reader.read(arguments.input)
        sources = list(reader.sources.values())
        rewrite_all(sources)
        main_source.rewritten = True
        folder = os.path.dirname(arguments.output)
        texts = [
            (os.path.join(folder, copy_name(source, arguments.output)), result(source, arguments.output))
            for source in sources
            if source.rewritten and source is not main_source
        ]
        texts.append((arguments.output, result(main_source, arguments.output)))  # last, as it names the others
        for path, text in texts:
            write(path, text)
        if arguments.depfile:
            write(arguments.depfile, dependencies(arguments.output, sources))
    except RewriteError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
