"""Similar submissions: copies are found, also with other names; what everybody has does not count."""

import random
import unittest

from workbook.core import starters
from workbook.core.course import ROOT, has_solutions
from workbook.grading import similarity

STARTER = """
// Step 02
__global__ void kernel(lab::Span<Key> keys, Value* values) {
  __shared__ Key tile[tile_keys];
  for (std::int64_t first = blockIdx.x; first < keys.n; first += gridDim.x) {
    const int count = tile_count(first, keys.n);
    // Your code
    (void)tile, (void)count;
  }
}
"""


def written(seed: int, lines: int = 20) -> str:
    """Code that nobody else has written: statements drawn at random."""
    draw = random.Random(seed)
    operators = ["+", "-", "*", "/", "%", "^", "|", "&", "<<", ">>"]
    names = ["tile", "count", "keys", "values", "first", "own", "mine", "x"]
    out = []
    for _ in range(lines):
        terms = [f"{draw.choice(names)} {draw.choice(operators)}" for _ in range(draw.randint(2, 6))]
        form = draw.choice(["{0} = {1} 1;", "if ({1} 2) {0}++;", "while ({0} < {1} 3) --{0};", "{0}[{1} 4] = 0;"])
        out.append(form.format(draw.choice(names), " ".join(terms)))
    return "\n".join(out)


def submission(code: str) -> dict[str, str]:
    """A submission whose gap is filled with this code."""
    return {"03-bitonic/02_shared.cu": STARTER.replace("    (void)tile, (void)count;", code)}


class Similar(unittest.TestCase):
    """Classes of students."""

    def pairs(self, students: dict[str, dict[str, str]]) -> list[similarity.Pair]:
        return similarity.similar(students, {"03-bitonic/02_shared.cu": STARTER})

    def students(self, number: int = 12) -> dict[str, dict[str, str]]:
        """Students who have written on their own."""
        return {f"student {seed:02}": submission(written(seed)) for seed in range(number)}

    def test_on_their_own(self) -> None:
        self.assertEqual(self.pairs(self.students()), [])

    def test_copies(self) -> None:
        """A copy stays one with other names, other comments, another layout, and some lines of one's own."""
        own = written(3)
        renamed = own.replace("mine", "a1").replace("own", "b2")
        laid_out = "\n\n".join(f"  {line}  // step {i}" for i, line in enumerate(own.split("\n"))).replace(
            " = ", "\n=\n"
        )
        extended = f"{own}\n{written(100, 8)}"
        for name, code in {"same": own, "renamed": renamed, "laid out": laid_out, "extended": extended}.items():
            with self.subTest(copy=name):
                found = self.pairs({**self.students(), "copy": submission(code)})
                self.assertEqual([(pair.first, pair.second) for pair in found], [("copy", "student 03")])
                self.assertGreaterEqual(found[0].share, 0.7 if name == "extended" else 0.95)
                self.assertEqual(found[0].files, ("03-bitonic/02_shared.cu",))

    def test_copied_into_another_file(self) -> None:
        moved = {"03-bitonic/03_hybrid.cu": submission(written(3))["03-bitonic/02_shared.cu"]}
        self.assertEqual(len(self.pairs({**self.students(), "copy": moved})), 1)

    def test_a_part(self) -> None:
        """A few lines in common are no copy; half of them are."""
        few = "\n".join(written(3).split("\n")[:5]) + "\n" + written(50, 18)
        many = "\n".join(written(3).split("\n")[:16]) + "\n" + written(50, 8)
        self.assertEqual(self.pairs({**self.students(), "copy": submission(few)}), [])
        self.assertEqual(len(self.pairs({**self.students(), "copy": submission(many)})), 1)

    def test_starters(self) -> None:
        """Two who wrote nothing, or hardly anything, are not similar."""
        nothing = {"03-bitonic/02_shared.cu": STARTER}
        little = submission("count++;\n(void)tile;")
        self.assertEqual(self.pairs({"a": nothing, "b": nothing, "c": little, "d": little, "e": {}}), [])

    def test_what_many_have(self) -> None:
        """A text that more than a quarter of the class has is the usual one; four students with one text are found."""
        usual, copied = written(1000), written(2000)
        students = {f"student {seed:02}": submission(f"{usual}\n{written(seed)}") for seed in range(20)}
        self.assertEqual(self.pairs(students), [])
        students.update({f"copy {number}": submission(copied) for number in range(4)})
        self.assertEqual(len(self.pairs(students)), 6)

    def test_order_does_not_matter(self) -> None:
        students = {**self.students(), "copy": submission(written(3)), "also": submission(written(5))}
        self.assertEqual(self.pairs(students), self.pairs(dict(reversed(students.items()))))

    def test_tokens(self) -> None:
        given = frozenset({"tile"})
        text = "tile[mine] = \"a // b\" + 0x1Fu; /* x */ // y\n'c' \\ #if"
        expected = ["tile", "[", "name", "]", "=", "text", "+", "number", ";", "text", "\\", "#", "name"]
        self.assertEqual(similarity.tokens(text, given), expected)

    def test_any_text(self) -> None:
        draw = random.Random(1)
        texts = ["", '"', "'", "/*", 'R"(', "\0\ud800", "".join(chr(draw.randrange(1, 0x3000)) for _ in range(5000))]
        self.assertEqual(self.pairs({str(i): {"a.cu": text} for i, text in enumerate(texts)}), [])

    @unittest.skipUnless(has_solutions(), "this copy of the workbook has no solutions/")
    def test_the_solutions(self) -> None:
        """Each file of the solutions holds enough of its own to be compared, and a copy of it is found."""
        given = {path.as_posix(): text for path, text in starters.all_starters().items()}
        sources = {path: (ROOT / "solutions" / path).read_text() for path in given}
        for lab in sorted({path.split("/")[0] for path in given}):
            of_lab = {path: text for path, text in sources.items() if path.startswith(lab)}
            found = similarity.similar({"a": of_lab, "b": of_lab, "c": {}}, given)
            self.assertEqual([(pair.first, pair.second, pair.share) for pair in found], [("a", "b", 1.0)], lab)
            self.assertEqual(found[0].files, tuple(sorted(of_lab)))
