"""Functions are short: at most fifty lines (a kernel sixty) and six parameters.

test_functions.py           the tests
test_functions.py --list    what exceeds the limits, exceptions included
"""

from __future__ import annotations

import sys
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common/simt"))

from rewrite.functions import NOT_DECLARATORS, Places, qualifying_macros  # noqa: E402
from rewrite.source import Source, tokenize  # noqa: E402
from rewrite.tokens import Token, closing, is_mark  # noqa: E402

LINES, KERNEL_LINES, PARAMETERS = 50, 60, 6
FOLDERS = ("common", "labs", "solutions")
SUFFIXES = (".cpp", ".h", ".cu", ".cuh")
CUB = ROOT / "common/simt/include/cub"
# "file: function" -> why it may exceed a limit.
EXCEPTIONS: dict[str, str] = {}


@dataclass(frozen=True)
class Function:
    """A function's definition."""

    name: str
    first: int  # line, that of a template's parameters not counted
    last: int
    parameters: int
    kernel: bool

    @property
    def lines(self) -> int:
        return self.last - self.first + 1

    def excess(self) -> str:
        """What exceeds a limit; "" if nothing does."""
        found = []
        if self.lines > (KERNEL_LINES if self.kernel else LINES):
            found.append(f"{self.lines} lines")
        if self.parameters > PARAMETERS:
            found.append(f"{self.parameters} parameters")
        return " and ".join(found)


def _closing_angle(tokens: list[Token], index: int) -> int:
    depth = 0
    for i in range(index, len(tokens)):
        depth += is_mark(tokens[i], "<") - is_mark(tokens[i], ">")
        if depth == 0:
            return i
    return index


def _parameters(tokens: list[Token], begin: int) -> int:
    """How many parameters there are in the parentheses that begin at an index."""
    end = closing(tokens, begin) or begin
    inside = [token.text for token in tokens[begin + 1 : end]]
    if inside in ([], ["void"]):
        return 0
    depth = commas = 0
    for text in inside:
        depth += (text in "([{<") - (text in ")]}>")
        commas += text == "," and depth == 0
    return commas + 1


class _Bodies(Places):
    """Also where the declaration of each function begins."""

    def __init__(self, source: Source) -> None:
        self.heads: dict[int, int] = {}  # index of the brace -> of the declaration's first token
        super().__init__(source, qualifying_macros([source]))

    def _opened(self, index: int, around: str) -> str:
        self.heads[index] = self._head
        return super()._opened(index, around)


def _name(tokens: list[Token], begin: int, brace: int) -> int | None:
    """The index of a function's name; None if there is none, as of a lambda."""
    for i in range(begin, brace):
        named = tokens[i].kind == "word" and tokens[i].text not in (
            *NOT_DECLARATORS,
            "operator",
            "explicit",
            "requires",
        )
        if is_mark(tokens[i + 1], "(") and (
            named or tokens[i - 1].text == "operator" or tokens[i - 2].text == "operator"
        ):
            return i
    return None


def functions(text: str) -> Iterator[Function]:
    """The functions that a text defines; lambdas belong to the functions around them."""
    source = Source("", "", text)
    tokenize(source)
    tokens, bodies = source.code, _Bodies(source)
    for brace, _ in bodies.bodies:
        begin = bodies.heads[brace]
        while tokens[begin].text == "template":
            begin = _closing_angle(tokens, begin + 1) + 1
        while tokens[begin].text in ("public", "private", "protected") and is_mark(tokens[begin + 1], ":"):
            begin += 2
        name = _name(tokens, begin, brace)
        if name is None:
            continue
        yield Function(
            name=tokens[name].text,
            first=source.line(tokens[begin].start),
            last=source.line(tokens[closing(tokens, brace) or brace].start),
            parameters=_parameters(tokens, name + 1),
            kernel=any(token.text == "__global__" for token in tokens[begin:brace]),
        )


def sources() -> list[Path]:
    """The files to look at. A starter has the functions of its solution."""
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES]
    starters = {ROOT / "labs" / path.relative_to(ROOT / "solutions") for path in found if "solutions" in path.parts}
    return [path for path in found if path not in starters]


def is_of_cuda(path: Path, name: str) -> bool:
    """Whether CUDA itself, or CUB, decides about the parameters of a function."""
    return name.removeprefix("__wrap_").startswith(("cuda", "__nv_")) or (CUB in path.parents and name[0].isupper())


def offenders() -> dict[str, str]:
    """ "file: function" -> what exceeds a limit."""
    return {
        f"{path.relative_to(ROOT).as_posix()}: {function.name}": function.excess()
        for path in sources()
        for function in functions(path.read_text(encoding="utf-8"))
        if function.excess() and not is_of_cuda(path, function.name)
    }


BODY = "  f();\n"


class Finding(unittest.TestCase):
    """Functions in a text."""

    def one(self, text: str) -> Function:
        (found,) = functions(text)
        return found

    def test_lines_and_parameters(self) -> None:
        found = self.one(
            f"template <class A, class B>\nvoid f(int a,\n  std::map<A, B> b, int (*c)(int, int)) {{\n{BODY}}}\n"
        )
        self.assertEqual((found.name, found.first, found.last, found.parameters), ("f", 2, 5, 3))
        self.assertEqual(self.one("int f() { return 0; }").parameters, 0)
        self.assertEqual(self.one("int f(void) { return 0; }").parameters, 0)

    def test_members(self) -> None:
        constructor = "S(int a, int b)\n      : a_{a}, b_(b) {\n  }\n"
        text = f"struct S {{\n public:\n  {constructor}  bool operator()(int) const {{\n  }}\n}};\n"
        found = [(each.name, each.lines, each.parameters) for each in functions(text)]
        self.assertEqual(found, [("S", 3, 2), (")", 2, 1)])

    def test_a_kernel_may_be_longer(self) -> None:
        for words, lines, excess in (
            ("void f()", LINES, ""),
            ("void f()", LINES + 1, "51 lines"),
            ("__global__ void __launch_bounds__(64) f()", KERNEL_LINES, ""),
            ("__global__ void __launch_bounds__(64) f()", KERNEL_LINES + 1, "61 lines"),
        ):
            with self.subTest(words=words, lines=lines):
                self.assertEqual(self.one(f"{words} {{\n{BODY * (lines - 2)}}}\n").excess(), excess)

    def test_a_lambda_belongs_to_its_function(self) -> None:
        found = self.one("void f(int a) {\n  const auto g = [&](int b, int c) {\n  };\n}\n")
        self.assertEqual((found.name, found.lines, found.parameters), ("f", 4, 1))

    def test_seven_parameters_are_too_many(self) -> None:
        self.assertEqual(
            self.one("void f(int a, int b, int c, int d, int e, int g, int h) {}").excess(), "7 parameters"
        )

    def test_cub_decides_about_the_parameters_of_its_functions(self) -> None:
        header = CUB / "device/device_scan.cuh"
        self.assertTrue(is_of_cuda(header, "ExclusiveScan"))
        self.assertFalse(is_of_cuda(header, "merge_runs"))
        self.assertFalse(is_of_cuda(ROOT / "labs/x.h", "ExclusiveScan"))
        self.assertTrue(is_of_cuda(ROOT / "common/x.cpp", "__wrap_cudaMemcpyAsync"))


class Repository(unittest.TestCase):
    """The functions of this workbook."""

    def test_functions_are_short(self) -> None:
        found = offenders()
        self.assertEqual({where: excess for where, excess in found.items() if where not in EXCEPTIONS}, {})
        self.assertEqual([where for where in EXCEPTIONS if where not in found], [], "these need no exception any more")


if __name__ == "__main__":
    if "--list" in sys.argv:
        print("\n".join(f"{where}: {excess}" for where, excess in offenders().items()))
    else:
        unittest.main()
