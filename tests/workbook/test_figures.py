"""Every figure of the repository can be read: by those who do not see it, on a dark page, and whatever colours they
tell apart."""

import itertools
import unittest

from svg_faults import contrast, faults_of, linear

from workbook.core import machine
from workbook.core.course import ROOT
from workbook.pictures import theme
from workbook.pictures.svg import Drawing

# How people without one of the three kinds of cones see red, green and blue light: G. Machado, M. Oliveira and L.
# Fernandes, A physiologically-based model for simulation of color vision deficiency, 2009.
VISION = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
APART = 12  # the least distance in CIELAB; from about 2.3 on, two colours next to each other are seen to differ
DISTINGUISHED = {
    "figures": (theme.BLUE, theme.ORANGE, theme.TEAL, theme.INK),
    "steps": (*theme.STEPS, theme.INK),
    "machines": theme.WORDS[1:5],
    "warps": (*theme.WARPS, theme.OTHER_WARP),
    "comparators": (theme.BLUE, theme.BLUE_PALE, theme.ORANGE, theme.ORANGE_PALE),
}


def seen(colour: str, matrix: tuple[tuple[float, ...], ...]) -> list[float]:
    """A colour in CIELAB, as it is seen."""
    light = linear(colour)
    red, green, blue = (min(1, max(0, sum(a * b for a, b in zip(row, light)))) for row in matrix)
    x, y, z = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883,
    )
    f, g, h = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return [116 * g - 16, 500 * (f - g), 200 * (g - h)]


class Figures(unittest.TestCase):
    """All SVG files that git tracks."""

    def test_every_figure(self) -> None:
        listed = machine.answer("git", "-C", str(ROOT), "ls-files", "*.svg") or ""
        paths = [ROOT / name for name in listed.split()] or sorted(ROOT.glob("*/**/figures/*.svg"))
        self.assertGreater(len(paths), 40)
        for path in paths:
            with self.subTest(path=path.relative_to(ROOT)):
                self.assertEqual(faults_of(path.read_text(encoding="utf-8")), [])

    def test_faults_are_found(self) -> None:
        """A drawing with each fault."""
        words = "words " * 12

        def faults(color: str, title: str = "A drawing", description: str = words) -> str:
            drawing = Drawing(90, 90, title, description)
            drawing.rect(10, 10, 50, 20, theme.BLUE_FILL, theme.BLUE)
            drawing.text(35, 24, "a", 12, color)
            drawing.line(10, 50, 60, 50, color)
            return " ".join(faults_of(drawing.svg()))

        self.assertEqual(faults(theme.BLUE), "")
        self.assertRegex(faults(theme.BLUE_PALE), f"light: text {theme.BLUE_PALE} on {theme.BLUE_FILL}: 2.")
        self.assertRegex(faults("#c0c0c0"), "light: line #c0c0c0 on #ffffff: 1.8.*light: text")
        self.assertRegex(faults("#000000"), f"^dark: line #000000 on {theme.DARK[theme.PAPER]}.*dark: text")
        self.assertIn("title", faults(theme.BLUE, title="A"))
        self.assertIn("description", faults(theme.BLUE, description="A drawing"))
        drawing = Drawing(9, 9, "A drawing", words)
        drawing.parts.append('<image href="https://x.org/a.png"/>')
        self.assertEqual(faults_of(drawing.svg()), ['refers to href="https://x.org/a.png'])
        self.assertIn("no role", faults_of('<svg xmlns="http://www.w3.org/2000/svg"/>')[0])


class Colours(unittest.TestCase):
    """The colours of the theme."""

    def test_contrast(self) -> None:
        """Black on white, and a pair whose contrast is known from the definition's own examples."""
        self.assertAlmostEqual(contrast("#000000", "#ffffff"), 21)
        self.assertAlmostEqual(contrast("#777777", "#ffffff"), 4.48, 2)

    def test_what_colours_distinguish_everybody_can_tell_apart(self) -> None:
        for name, colours in DISTINGUISHED.items():
            for page in (colours, [theme.DARK[colour] for colour in colours]):
                for who, matrix in VISION.items():
                    for one, other in itertools.combinations(page, 2):
                        pairs = zip(seen(one, matrix), seen(other, matrix))
                        distance = sum((a - b) ** 2 for a, b in pairs) ** 0.5
                        self.assertGreater(distance, APART, (name, who, one, other))


if __name__ == "__main__":
    unittest.main()
