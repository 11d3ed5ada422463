"""__CUDA_ARCH__: defined in device code only. nvcc compiles a file once for the host and once for the device; here one
pass serves both, so that conditions are rewritten where they are read as device code. A function for both whose
conditions differ gets both versions of its body."""

from __future__ import annotations

from .conditions import evaluate
from .functions import BOTH, DECLARATIONS, DEVICE, HOST, Places, qualifying_macros
from .source import Directive, RewriteError, Source, Twin
from .tokens import Token, is_mark, spelling

NAME = "__CUDA_ARCH__"
# What common/simt/include/simt/keywords.h and common/simt/meson.build define.
KNOWN = {
    "__SIMT__": 1,
    "__CUDACC__": 1,
    "__NVCC__": 1,
    "CUDART_VERSION": 13000,
    "CUDA_VERSION": 13000,
    "__CUDACC_VER_MAJOR__": 13,
}
ON_DEVICE = ("__device__", "__global__", "__constant__", "__shared__", "__managed__")
REMEDY = (
    "CUDA on the CPU compiles host and device code in one pass: write a __host__ and a __device__ function, or add "
    f"&& !defined(__SIMT__) to each condition that tests {NAME}, so that both take the host's branch"
)


def rewrite_architecture(sources: list[Source], value: int) -> None:
    """Gives __CUDA_ARCH__ its value in device code, and refuses what would need two values."""
    sources = [source for source in sources if source.code or source.macros or source.directives]
    if not any(NAME in source.text for source in sources):
        return
    names = _macros_that_use({NAME}, sources)
    qualifying = qualifying_macros(sources)
    places = [Places(source, qualifying) for source in sources]
    bodies = {macro.name: macro.tokens for source in sources for macro in source.macros if macro.name in names}
    rewriter = _Rewriter(sources, places, {**bodies, NAME: []}, value)
    for source, of_source in zip(sources, places):
        rewriter.rewrite_functions(source, of_source)
        rewriter.rewrite_declarations(source, of_source)


def _macros_that_use(names: set[str], sources: list[Source]) -> set[str]:
    """`names`, and the macros whose text has one of them, directly or through other macros."""
    result = set(names)
    size = 0
    while size != len(result):
        size = len(result)
        for source in sources:
            for macro in source.macros:
                if any(token.text in result for token in macro.tokens):
                    result.add(macro.name)
    return result


class _Rewriter:
    def __init__(self, sources: list[Source], places: list[Places], bodies: dict[str, list[Token]], value: int) -> None:
        self.sources = sources
        self.places = places
        self.bodies = bodies  # of __CUDA_ARCH__ (empty) and of each macro that uses it
        self.value = value

    def rewrite_functions(self, source: Source, places: Places) -> None:
        """In functions for the device, the name gets its value. In those for both it must not matter."""
        for directive, place in zip(source.directives, places.of_directives):
            if not directive.enabled or not self._mentions(directive.tokens):
                continue
            if place == DEVICE:
                self._rewrite_condition(source, directive)
        for token, place in zip(source.code, places.of_tokens):
            if token.text in self.bodies and place == DEVICE:
                source.replace(token.start, token.end, self._text([token]))
        for begin, kind in places.bodies:
            if kind == BOTH:
                self._rewrite_for_both(source, places, begin)

    def _rewrite_for_both(self, source: Source, places: Places, begin: int) -> None:
        """Where host and device read a body differently, it gets two versions."""
        group = [
            directive
            for directive, body in zip(source.directives, places.body_of_directives)
            if body == begin and directive.enabled and self._mentions(directive.tokens)
        ]
        different = [directive for directive in group if not self._is_same(directive)]
        end = places.ends.get(begin)
        inside = range(begin, begin if end is None else end)
        uses = [source.code[i] for i in inside if places.of_tokens[i] == BOTH and source.code[i].text in self.bodies]
        if not different:
            for token in uses:
                if token.text == NAME:
                    raise RewriteError(source, token.start, f"{NAME} has no value in the host's version. {REMEDY}")
            return
        first, last = source.code[begin].start, source.code[end].end if end is not None else 0
        if not self._is_whole(source, first, last) or "goto" in (source.code[i].text for i in inside):
            text = f"this condition differs between the host's and the device's version of the function. {REMEDY}"
            raise RewriteError(source, different[0].start, text)
        kept, source.edits = source.edits, []
        for directive in group:
            self._rewrite_condition(source, directive)
        for token in uses:
            source.replace(token.start, token.end, self._text([token]))
        edits, source.edits = source.edits, kept
        source.twins.append(Twin(first, last, self._choice(source, places, begin), edits))

    def _is_whole(self, source: Source, first: int, last: int) -> bool:
        """Whether the text has all directives of each conditional part that it has directives of."""
        depth = 0
        for directive in source.directives:
            if first < directive.start < last:
                depth += (directive.role == "if") - (directive.role == "endif")
                if depth < 0 or (depth == 0 and directive.role == "else"):
                    return False
        return last > 0 and depth == 0

    def _choice(self, source: Source, places: Places, begin: int) -> str:
        """The condition for the device's version. What a constant has depends on who may use the function."""
        head = source.code[places.heads[begin] : begin]
        if not any(token.text in ("constexpr", "consteval") for token in head):
            return "simt::is_in_kernel()"
        name = next((a.text for a, b in zip(head, head[1:]) if a.kind == "word" and is_mark(b, "(")), "")
        own = range(places.heads[begin], places.ends[begin])
        users = {BOTH} if not name or "operator" in (token.text for token in head) else set()
        for other, of_other in zip(self.sources, self.places):
            for i, token in enumerate(other.code):
                if token.text == name and not (other is source and i in own):
                    users.add(of_other.of_tokens[i])
            if any(token.text == name for macro in other.macros for token in macro.tokens):
                users.add(BOTH)
        sides = {DEVICE: "device", HOST: "host"}
        side = sides.get(next(iter(users)), "either") if len(users) == 1 else "either"
        return f"simt::is_on_device<simt::Side::{side}>()"

    def rewrite_declarations(self, source: Source, places: Places) -> None:
        """Conditions between functions: they are read as device code if what they choose is device code."""
        open_groups: list[list[tuple[Directive, str]]] = []
        for directive, place in zip(source.directives, places.of_directives):
            if directive.role == "if":
                open_groups.append([])
            open_groups[-1].append((directive, place))
            if directive.role != "endif":
                continue
            group = open_groups.pop()
            branches = [member for member, _ in group[:-1]]
            is_about = any(member.enabled and self._mentions(member.tokens) for member in branches)
            if not is_about or group[0][1] not in DECLARATIONS or self._choose_same(branches):
                continue
            if self._is_for_device(source, places, group[0][0], directive):
                for member in branches:
                    if self._mentions(member.tokens):
                        self._rewrite_condition(source, member)

    def _mentions(self, tokens: list[Token]) -> bool:
        return any(token.text in self.bodies for token in tokens)

    def _text(self, tokens: list[Token]) -> str:
        """The tokens as device code sees them."""
        text, i = "", 0
        while i < len(tokens):
            token = tokens[i]
            if token.text == "defined":
                in_parentheses = i + 1 < len(tokens) and is_mark(tokens[i + 1], "(")
                last = min(i + (3 if in_parentheses else 1), len(tokens) - 1)
                is_name = any(member.text == NAME for member in tokens[i : last + 1])
                text += " 1" if is_name else " " + spelling(tokens[i : last + 1])
                i = last
            elif token.text == NAME:
                text += f" {self.value}"
            elif token.text in self.bodies:
                text += f" ({self._text(self.bodies[token.text])})"
            else:
                close = i > 0 and tokens[i - 1].end == token.start
                text += ("" if close else " ") + token.text
            i += 1
        return text.strip()

    def _rewrite_condition(self, source: Source, directive: Directive) -> None:
        """Writes the condition as device code sees it."""
        tokens = directive.tokens
        if directive.name in ("if", "elif"):
            source.replace(tokens[0].start, tokens[-1].end, self._text(tokens))
        elif tokens and tokens[0].text == NAME:  # ifdef, ifndef, elifdef, elifndef
            keyword = "elif" if directive.name.startswith("el") else "if"
            is_taken = 0 if directive.name.endswith("ndef") else 1
            source.replace(directive.start, tokens[0].end, f"{keyword} {is_taken}")

    def _values(self, directive: Directive) -> tuple[int | None, int | None]:
        """The condition's value for the host and for the device; None: unknown."""
        if not directive.tokens:  # else
            return 1, 1
        if directive.name in ("if", "elif"):
            host, device = spelling(directive.tokens), self._text(directive.tokens)
            for name in self.bodies:
                if name != NAME and name in host:
                    return None, evaluate(device, {**KNOWN, NAME: self.value})
        else:
            negation = "!" if directive.name.endswith("ndef") else ""
            host = device = f"{negation}defined({directive.tokens[0].text})"
        values = evaluate(host, {**KNOWN, NAME: None}), evaluate(device, {**KNOWN, NAME: self.value})
        host_value, device_value = (None if value is None else int(value != 0) for value in values)
        return host_value, device_value

    def _is_same(self, directive: Directive) -> bool:
        host, device = self._values(directive)
        return host is not None and host == device

    def _choose_same(self, branches: list[Directive]) -> bool:
        """Do host and device certainly take the same branch?"""
        for directive in branches:
            host, device = self._values(directive)
            if not self._mentions(directive.tokens) and host is None:
                continue  # what it depends on is the same for both
            if host is None or device is None or host != device:
                return False
            if host:
                return True
        return True

    def _is_for_device(self, source: Source, places: Places, first: Directive, last: Directive) -> bool:
        """Is what these directives enclose device code? An error if it is both."""
        users = {kind for index, kind in places.bodies if first.place <= index < last.place}
        outside = [i for i in range(first.place, last.place) if places.of_tokens[i] in DECLARATIONS]
        words = [source.code[i].text for i in outside]
        qualifiers = places.qualifiers(words)
        if not users and any(word in ON_DEVICE for word in [*words, *qualifiers]):
            users.add(BOTH if "__host__" in qualifiers else DEVICE)
        elif not users and words:
            users.add(HOST)
        defined = {macro.name for macro in source.macros if first.start < macro.start < last.start}
        users |= self._users(defined)
        if BOTH in users or len(users) > 1:
            text = f"what this condition chooses is used by host and device code, and differs between them. {REMEDY}"
            raise RewriteError(source, first.start, text)
        return HOST not in users

    def _users(self, macros: set[str]) -> set[str]:
        """The kinds of functions that use the macros."""
        if not macros:
            return set()
        names = _macros_that_use(macros, self.sources)
        users: set[str] = set()
        for source, places in zip(self.sources, self.places):
            uses = [place for token, place in zip(source.code, places.of_tokens) if token.text in names]
            for directive, place in zip(source.directives, places.of_directives):
                if any(token.text in names for token in directive.tokens) and place not in DECLARATIONS:
                    uses.append(place)
            users.update(place if place in (DEVICE, BOTH) else HOST for place in uses)
        return users
