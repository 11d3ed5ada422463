"""Similar submissions: copies are found, also with other names; what everybody has does not count."""

import random
import re
import unittest

from workbook.core import starters
from workbook.core.course import ROOT, has_solutions
from workbook.grading import class_page, similarity

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

GIVEN = similarity.names_in(
    ["int tile_count(std::int64_t n); // tile\n", "if while for const struct Span { Key* keys; };"]
)


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
        return self.found(students).pairs

    def found(self, students: dict[str, dict[str, str]], **earlier: dict[str, str]) -> similarity.Found:
        """What students have in common, also with those of earlier years."""
        return similarity.similar(students, {"03-bitonic/02_shared.cu": STARTER}, GIVEN, earlier)

    def students(self, number: int = 12) -> dict[str, dict[str, str]]:
        """Students who have written on their own."""
        return {f"student {seed:02}": submission(written(seed)) for seed in range(number)}

    def test_on_their_own(self) -> None:
        self.assertEqual(self.pairs(self.students()), [])

    def test_copies(self) -> None:
        """A copy stays one with other names, other comments, another layout, and some lines of one's own."""
        own = written(3)
        # Also what the starter names.
        renamed = {path: text.replace("mine", "a1").replace("tile", "b2") for path, text in submission(own).items()}
        laid_out = "\n\n".join(f"  {line}  // step {i}" for i, line in enumerate(own.split("\n"))).replace(
            " = ", "\n=\n"
        )
        for name, copy in {"same": submission(own), "renamed": renamed, "laid out": submission(laid_out)}.items():
            with self.subTest(copy=name):
                found = self.found({**self.students(), "copy": copy})
                (group,) = found.groups
                self.assertEqual((group.students, group.files), (("copy", "student 03"), ("03-bitonic/02_shared.cu",)))
                self.assertEqual(group.verbatim, name != "renamed")
                self.assertGreater(group.own, 100)
                self.assertEqual(found.pairs, [])
        self.assertNotIn("tile", GIVEN)
        longer = {path: f"{text}\n{written(100, 8)}" for path, text in renamed.items()}
        (pair,) = self.pairs({**self.students(), "copy": longer})
        self.assertGreaterEqual(pair.share, 0.7)
        found = self.found({**self.students(), "copy": submission(f"{own}\n{written(100, 8)}")})
        self.assertEqual([(pair.first, pair.second) for pair in found.pairs], [("copy", "student 03")])
        self.assertGreaterEqual(found.pairs[0].share, 0.7)
        self.assertEqual(found.pairs[0].files, ("03-bitonic/02_shared.cu",))

    def test_a_class_that_copies(self) -> None:
        """13 of 22 with the same file are one group, also if that is more than what is usual."""
        students = {**self.students(9), **{f"copy {number:02}": submission(written(77)) for number in range(13)}}
        found = self.found(students)
        self.assertEqual([group.students for group in found.groups], [tuple(f"copy {n:02}" for n in range(13))])
        self.assertEqual(found.pairs, [])
        changed = {name: submission(f"{written(77)}\n{written(200 + at, 3)}") for at, name in enumerate(students)}
        pairs = self.pairs({**students, **{name: changed[name] for name in students if name.startswith("copy")}})
        self.assertEqual(len(pairs), similarity.MOST_PAIRS)
        self.assertTrue(all(pair.first.startswith("copy") and pair.second.startswith("copy") for pair in pairs))

    def test_groups_by_file(self) -> None:
        """Each file has its own groups; those of the same students are together."""
        files = {
            "ana": {"a/01.cu": written(1), "a/02.cu": written(2), "a/03.cu": written(3)},
            "ben": {"a/01.cu": written(1), "a/02.cu": written(2), "a/03.cu": written(4)},
            "cem": {"a/01.cu": written(5), "a/02.cu": written(6), "a/03.cu": written(4)},
        }
        groups = {(group.students, group.files) for group in self.found(files).groups}
        self.assertEqual(groups, {(("ana", "ben"), ("a/01.cu", "a/02.cu")), (("ben", "cem"), ("a/03.cu",))})

    def test_earlier_years(self) -> None:
        """A copy of an earlier year's work is found; what earlier students share among themselves is not listed."""
        old = {"2025/x": submission(written(3)), "2025/y": submission(written(500)), "2025/z": submission(written(500))}
        found = self.found(self.students(), **old)
        self.assertEqual([group.students for group in found.groups], [("2025/x", "student 03")])
        self.assertEqual(found.pairs, [])
        changed = {**self.students(), "student 03": submission(f"{written(3)}\n{written(100, 8)}")}
        self.assertEqual(
            [(pair.first, pair.second) for pair in self.found(changed, **old).pairs], [("2025/x", "student 03")]
        )

    def test_copied_into_another_file(self) -> None:
        moved = {"03-bitonic/03_hybrid.cu": submission(written(3))["03-bitonic/02_shared.cu"]}
        (pair,) = self.pairs({**self.students(), "copy": moved})
        self.assertEqual(pair.files, ("03-bitonic/03_hybrid.cu and 03-bitonic/02_shared.cu",))

    def test_the_files_are_those_of_both(self) -> None:
        """What the first student has in two files is named once, where the other one has it."""
        twice = {path: submission(written(3))["03-bitonic/02_shared.cu"] for path in ("a/01.cu", "a/02.cu")}
        other = {"a/01.cu": submission(written(70))["03-bitonic/02_shared.cu"], "a/02.cu": twice["a/02.cu"]}
        (pair,) = self.pairs({"ana": twice, "ben": other, "cem": submission(written(5))})
        self.assertEqual((pair.first, pair.second, pair.files), ("ana", "ben", ("a/02.cu",)))

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
        found = self.found({"a": nothing, "b": nothing, "c": little, "d": little, "e": {}})
        self.assertEqual(found.pairs, [])
        self.assertEqual([(group.students, group.own < 10) for group in found.groups], [(("c", "d"), True)])

    def test_what_many_have(self) -> None:
        """What more than a quarter of the class has is listed after what few have."""
        usual = written(1000)
        students = {f"student {seed:02}": submission(f"{usual}\n{written(seed)}") for seed in range(20)}
        copied = f"{usual}\n{written(7)}\n{written(3000, 3)}"
        found = self.found({**students, "copy": submission(copied)})
        self.assertEqual((found.pairs[0].first, found.pairs[0].second), ("copy", "student 07"))
        self.assertGreater(found.pairs[0].rare, 0.3)
        self.assertLess(max(pair.rare for pair in found.pairs[1:]), 0.1)
        self.assertGreater(found.more, 0)

    def test_order_does_not_matter(self) -> None:
        students = {**self.students(), "copy": submission(written(3)), "also": submission(written(5))}
        self.assertEqual(self.found(students), self.found(dict(reversed(students.items()))))

    def test_tokens(self) -> None:
        given = frozenset({"tile"})
        text = "tile[mine] = \"a // b\" + 0x1Fu; /* x */ // y\n'c' \\ #if"
        expected = ["tile", "[", "name", "]", "=", "text", "+", "number", ";", "text", "\\", "#", "name"]
        self.assertEqual(similarity.tokens(text, given), expected)

    def test_names_are_numbered(self) -> None:
        self.assertEqual(similarity.numbered("a = b + a; // c"), ["#0", "=", "#1", "+", "#0", ";"])
        self.assertNotEqual(similarity.numbered("a = a"), similarity.numbered("a = b"))

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
            (group,) = similarity.similar({"a": of_lab, "b": of_lab, "c": {}}, given, GIVEN).groups
            self.assertEqual((group.students, group.files), (("a", "b"), tuple(sorted(of_lab))))
            extended = {path: text + "\n" + written(9, 3) for path, text in of_lab.items()}
            pairs = similarity.similar({"a": of_lab, "b": extended, "c": {}}, given, GIVEN).pairs
            self.assertEqual([(pair.first, pair.second, pair.share > 0.9) for pair in pairs], [("a", "b", True)], lab)

    @unittest.skipUnless(has_solutions(), "this copy of the workbook has no solutions/")
    def test_disguised_solutions(self) -> None:
        """A copy is found with other names, in another order, and with a statement after each line; another step of
        the course is no copy."""
        starters_ = {path.as_posix(): text for path, text in starters.all_starters().items()}
        given = class_page.given_names()
        sources = {path: (ROOT / "solutions" / path).read_text() for path in starters_}
        for path in ("01-odd-even/02_halo.cu", "03-bitonic/02_shared.cu", "05-radix/02_split.cu"):
            for disguise in (renamed, reordered, padded, lambda text: padded(reordered(renamed(text)))):
                both = {"a": {path: sources[path]}, "b": {path: disguise(sources[path])}}
                found = similarity.similar(both, starters_, given)
                self.assertTrue(found.pairs or found.groups, (path, disguise))
        different = {path: {path: text} for path, text in sources.items()}
        self.assertEqual(similarity.similar(different, starters_, given), similarity.Found([], []))


def renamed(text: str) -> str:
    """Every name changed that a student can change."""
    code = re.sub("//[^\n]*", "", text)
    own = set(re.findall(r"[^\W\d]\w+", code)) - class_page.given_names() - {"std", "lab", "template", "typename"}
    return re.sub(r"[^\W\d]\w+", lambda match: f"{match[0]}_2" if match[0] in own else match[0], code)


def reordered(text: str) -> str:
    """The definitions in the opposite order."""
    head, *rest = re.split(r"\n(?=template|__global__|__device__|static|namespace|void|inline)", text)
    return "\n".join([head, *reversed(rest)])


def padded(text: str) -> str:
    """A statement that does nothing after each line that ends one."""
    return re.sub(r"(?m)^(  .*;)$", r"\1\n  (void)sizeof(int);", text)


if __name__ == "__main__":
    unittest.main()
