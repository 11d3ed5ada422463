"""report.html and report.tex, made from Markdown: tables, code, mathematics, links, pictures, and escaped HTML."""

from __future__ import annotations

import re
import shutil
import subprocess
import unittest
from html.parser import HTMLParser
from pathlib import Path

from in_folder import InFolder
from markdown_it import MarkdownIt

from workbook.reporting import article, markdown, mathematics
from workbook.reporting.page import to_page

TEXT = """# Title

A *word*, **two**, `a_b < c`, 2<sup>10</sup>, [a link](https://x.org/a_b#c), 100 % & <b>no</b>. snake_case_name $a < b$

1. one
   and more
2. two

   a second paragraph
- x

| step | n = 2<sup>4</sup> |
|---|---:|
| 01 \\| a | 1.5 |

```
<!-- kept --> {x} & y
```
> said

<!-- not
shown -->
![A plot](plots/a.svg)

<script>alert("x")</script> It takes $O(n \\log^2 n)$ steps and $\\frac{n}{2}$ lanes, not $5 or $6.
"""


class Balanced(HTMLParser):
    """Checks that every tag is closed in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("br", "img", "meta", "path", "rect", "use", "image"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def body_of(text: str, folder: Path = Path(), remarks: list[str] | None = None) -> str:
    """The page's body without its script."""
    page = to_page(text, "T", folder, [] if remarks is None else remarks)
    return page.split("<body>")[1].split("<script>\n//")[0].strip()


def tex_of(text: str, folder: Path = Path()) -> str:
    """The article's body."""
    tex, _ = article.to_article(text, "T", folder)
    return tex.split("\\maketitle\n")[1].split("\\end{document}")[0].strip()


class Page(unittest.TestCase):
    """HTML."""

    def test_all_kinds_of_text(self) -> None:
        text = body_of(TEXT)
        for part in (
            '<h1 id="title">Title</h1>',
            "<em>word</em>",
            "<strong>two</strong>",
            "<code>a_b &lt; c</code>",
            "2<sup>10</sup>",
            '<a href="https://x.org/a_b#c">a link</a>',
            "&lt;b&gt;no&lt;/b&gt;",
            "snake_case_name",
            "<ol>\n<li>\n<p>one\nand more</p>\n</li>\n<li>\n<p>two</p>",
            "<ul>\n<li>x</li>\n</ul>",
            '<td class="left short">01 | a</td>',
            '<td class="right">1.5</td>',
            "&lt;!-- kept --&gt; {x} &amp; y",
            "<blockquote>",
            "<figcaption>A plot</figcaption></figure>",
        ):
            self.assertIn(part, text)
        self.assertNotIn("shown", text)
        parser = Balanced()
        parser.feed(text)
        self.assertEqual((parser.open, parser.wrong), ([], []))

    def test_it_is_markdown_its_html(self) -> None:
        plain = MarkdownIt("commonmark", {"xhtmlOut": False})
        for text in (
            "- a\n  - b\n    more\n  - c\n- d\n\n---\n\nWords\n- e\n* * *\nit is 5\n2. of all",
            "> quoted *words*\n> and `code`\n\n3. three\n4. four\n\n   more",
            "```cpp\nif (a < b && c) {}\n```\n\n    indented\n\nhard  \nbreak and <https://x.org/?a=b&c>",
            "[link](https://x.org 'title') and ![no](",
        ):
            with self.subTest(text=text):
                self.assertEqual(body_of(text), plain.render(text).strip())

    def test_tables_have_classes_and_scroll(self) -> None:
        table = "| a | b | c |\n|---|---:|---|\n| x | 1 | " + 30 * "w" + " |\n| `y|` |"
        plain = MarkdownIt("commonmark", {"xhtmlOut": False}).enable("table").render(table).strip()
        text = body_of(table)
        self.assertTrue(text.startswith('<div class="table" tabindex="0"><table>') and text.endswith("</table></div>"))
        self.assertEqual(re.findall(r'<td class="([^"]+)">', text)[:3], ["left short", "right", "left"])
        without = re.sub(r'</?div[^>]*>| (class|style)="[^"]*"', "", text)
        self.assertEqual(without, re.sub(r' style="[^"]*"', "", plain))
        wide = "|" + " heading of a column |" * 8 + "\n|" + "---|" * 8
        self.assertIn('<table class="wide">', body_of(wide))

    def test_what_a_student_writes_runs_no_code(self) -> None:
        text = body_of(TEXT)
        self.assertIn("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;", text)
        for attack in (
            "[x](javascript:alert(1))",
            "<img src=x onerror=alert(1)>",
            "<div onclick='x'>\n\n*y*\n\n</div>",
            "![<script>x</script>](a.png)",
            "| <script> |\n|---|\n| <b onclick=x> |",
            "# <script>x</script>",
            "$<script>$",
        ):
            with self.subTest(attack=attack):
                self.assertNotRegex(body_of(attack), r"<(script|img|div onclick|b )|href")
        page = to_page("x", "<script>title</script>", Path(), [])
        self.assertIn("<title>&lt;script&gt;title&lt;/script&gt;</title>", page)

    def test_comments_are_left_out(self) -> None:
        self.assertEqual(body_of("a <!-- b --> c\n\n<!-- d\n\ne -->\nf"), "<p>a  c</p>\n<p>f</p>")
        self.assertEqual(body_of("`<!-- a -->`"), "<p><code>&lt;!-- a --&gt;</code></p>")
        self.assertEqual(body_of("<!-- never closed"), "<p>&lt;!-- never closed</p>")

    def test_contents_come_before_the_first_section(self) -> None:
        text = body_of("# T\n\nAda\n\n## A & b\n\n### c\n\n#### d")
        self.assertEqual(
            re.findall(r'<li class="(h\d)"><a href="#([\w-]+)">([^<]+)</a>', text),
            [("h2", "a--b", "A &amp; b"), ("h3", "c", "c")],
        )
        self.assertLess(text.index("<p>Ada</p>"), text.index("<nav>"))
        self.assertLess(text.index("</nav>"), text.index('<h2 id="a--b">'))
        self.assertNotIn("<nav>", body_of("# T\n\nwords"))
        self.assertIn("\\tableofcontents", article.to_article("# T", "T", Path())[0])

    def test_folds(self) -> None:
        text = "<details>\n<summary>A *b*</summary>\n\n| x |\n|---|\n| 1 |\n\n</details>\n\nafter"
        html, tex = body_of(text), tex_of(text)
        self.assertTrue(html.startswith("<details>\n<summary>A <em>b</em></summary>"))
        self.assertIn("</table></div>\n</details>", html)
        self.assertTrue(html.endswith("<p>after</p>"))
        self.assertIn("\\paragraph{A \\emph{b}}", tex)
        self.assertTrue(tex.endswith("after"))
        self.assertEqual(body_of("<details>\nnever closed"), "<p>&lt;details&gt;\nnever closed</p>")
        self.assertIn("beforeprint", to_page(text, "T", Path(), []))

    def test_headings_have_unique_names(self) -> None:
        text = body_of("# A b\n\n## A b\n\n## *C*")
        self.assertEqual(re.findall(r'\bid="([^"]+)"', text), ["a-b", "a-b-1", "c"])


class Mathematics(unittest.TestCase):
    """`$..$` in both forms."""

    def test_html(self) -> None:
        text = body_of(TEXT)
        self.assertIn('<span class="math">a &lt; b</span>', text)
        self.assertIn('<span class="math">O(n <span class="upright">log</span><sup>2</sup> n)</span>', text)
        self.assertIn('<span class="math">n/2</span>', text)
        self.assertIn("not $5 or $6.", text)

    def test_tex_as_html(self) -> None:
        for tex, expected in (
            ("x_{i+1}", "x<sub>i+1</sub>"),
            ("2^10", "2<sup>1</sup>0"),
            ("2^{10}", "2<sup>10</sup>"),
            (r"\frac{n+1}{2}", "(n+1)/2"),
            (r"\lceil n / 2 \rceil \le k", "⌈ n / 2 ⌉ ≤ k"),
            (r"\sqrt{n}", "√n"),
            (r"\unknown{x}", r"\unknown{x}"),
            (r"\unknown \cdot 2^{n}", r"\unknown · 2<sup>n</sup>"),
            (r"\mathcal{O}(n \log_2 n)", 'O(n <span class="upright">log</span><sub>2</sub> n)'),
            (r"a < b \implies b \gt a", "a &lt; b ⇒ b &gt; a"),
            ("a_{b", "a_{b"),
            ("a}b", "a}b"),
        ):
            with self.subTest(tex=tex):
                self.assertEqual(mathematics.to_html(tex), expected)

    def test_all_ways_to_write_it(self) -> None:
        log = '<span class="upright">log</span>'
        for text, expected in (
            (r"$n \log n$", f'<span class="math">n {log} n</span>'),
            (r"$ n \log n $", f'<span class="math">n {log} n</span>'),
            (r"\(n \log n\)", f'<span class="math">n {log} n</span>'),
            ("$$\nn \\log n\n$$", f'<span class="math displayed">n {log} n</span>'),
            (r"\[n \log n\]", f'<span class="math displayed">n {log} n</span>'),
        ):
            with self.subTest(text=text):
                self.assertEqual(body_of(text), f"<p>{expected}</p>")
        self.assertIn(r"\[n \log n\]", tex_of("$$n \\log n$$"))

    def test_latex(self) -> None:
        self.assertIn(r"It takes $O(n \log^2 n)$ steps and $\frac{n}{2}$ lanes, not \$5 or \$6.", tex_of(TEXT))

    def test_code_and_prices_are_not_mathematics(self) -> None:
        self.assertNotIn("math", body_of("`$a$`, $ a $, $5 and $6"))


class Article(InFolder):
    """LaTeX."""

    def test_all_kinds_of_text(self) -> None:
        text = tex_of(TEXT)
        for part in (
            r"\emph{word}",
            r"\texttt{a\_",
            r"2\textsuperscript{10}",
            r"\href{https://x.org/a\_b\#c}{a link}",
            r"100 \% \&",
            r"snake\_case\_name",
            "$a < b$",
            r"\begin{enumerate}",
            r"01 \textbar{} a & 1.5 \\",
            "{x} & y",
            r"\emph{(picture: A plot)}",
        ):
            self.assertIn(part, text)
        self.assertEqual(sorted(re.findall(r"\\begin\{(\w+)\}", text)), sorted(re.findall(r"\\end\{(\w+)\}", text)))

    def test_a_wide_table_is_made_smaller_even_if_a_cell_is_long(self) -> None:
        long = "| " + 50 * "w" + " |"
        narrow = tex_of(f"| a | b |\n|---|---:|\n{long} 1 |")
        self.assertIn(r"\linewidth}r@", narrow)
        self.assertNotIn("resizebox", narrow)
        wide = tex_of(f"| a |{' a heading of a column |' * 5}\n|---|{'---:|' * 5}\n{long}{' 1 |' * 5}")
        self.assertIn(r"\resizebox{\linewidth}", wide)
        self.assertIn("{@{}lrrrrr@{}}", wide)

    def test_lists_in_lists_rules_and_underlined_headings(self) -> None:
        text = "- a\n  - b\n    more\n  - c\n- d\n\n---\n\nWords\n- e\n* * *\nTitle\n-----\nit is 5\n2. of all"
        tex = tex_of(text)
        self.assertEqual((tex.count(r"\begin{itemize}"), tex.count(r"\hrulefill")), (3, 2))
        self.assertTrue(tex.endswith("\\section{Title}\n\nit is 5\n2. of all"))
        self.assertIn('<h2 id="title">Title</h2>\n<p>it is 5\n2. of all</p>', body_of(text))

    def test_a_plot_is_its_pdf(self) -> None:
        (self.folder / "a b.pdf").write_bytes(b"")
        tex = tex_of("![*It* grows](a%20b.svg)", self.folder)
        self.assertIn("{a b.pdf}\n\\caption{\\emph{It} grows}", tex)

    def test_letters_that_pdflatex_lacks_do_not_stop_it(self) -> None:
        text, letters = article.to_article("# T\n\n\u0416\u2083 \u00e9 \u00d7 2\u00b9\u2070", "T & t", Path())
        self.assertEqual(letters, ["\u0416"])
        self.assertIn(r"\DeclareUnicodeCharacter{0416}{?}", text)
        self.assertIn("\u00e9", text)
        self.assertNotIn("00E9", text)
        self.assertIn(r"\title{T \& t}", text)
        self.assertNotIn("Declare", article.to_article("x", "T", Path())[0])

    def test_long_and_wide_tables(self) -> None:
        heading = "| a | b |\n|---|---:|\n"
        self.assertEqual(tex_of(heading + 40 * "| x | 1 |\n").count("longtable"), 2)
        wide = "|" + " heading of a column |" * 8 + "\n|" + "---|" * 8 + "\n" + ("|" + "x|" * 8 + "\n") * 40
        self.assertEqual(tex_of(wide).count(r"\resizebox"), 2)
        self.assertIn(r"p{0.85\linewidth}r", tex_of(heading + f"| {60 * 'w'} | 1 |"))
        self.assertIn("{[}x{]} & 1", tex_of(heading + "| [x] | 1 |"))


class Pictures(InFolder):
    """report.html is one file, whatever pictures the student adds."""

    def test_they_are_embedded(self) -> None:
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10"/>'
        for file in ("a.png", "b b.jpg", "c.gif"):
            (self.folder / file).write_bytes(b"\x89")
        (self.folder / "d.svg").write_text(svg)
        remarks: list[str] = []
        page = body_of(
            "![a](a.png)\n![b](b%20b.jpg)\n![c](c.gif)\n![d](d.svg)\n![e](e.png)\n![f](https://x.org/f.png)",
            self.folder,
            remarks,
        )
        for kind in ("png", "jpeg", "gif", "svg+xml"):
            self.assertEqual(page.count(f'src="data:image/{kind};base64,'), 1)
        self.assertNotRegex(page, r'src="(?!data:)')
        self.assertEqual(page.count("<figure>"), 6)
        self.assertEqual(len(remarks), 2)
        self.assertRegex(remarks[0], "the picture e.png is not in")
        self.assertRegex(remarks[1], "f.png is on the web")

    def test_a_picture_within_text_is_reported(self) -> None:
        remarks: list[str] = []
        text = body_of("see ![a](a.png) there\n\n```\n![b](b.png)\n```\n", Path(), remarks)
        self.assertEqual(remarks, ["the picture a.png is within a line of text: put it on a separate line"])
        self.assertIn("see ![a](a.png) there", text)

    def test_the_width_of_a_cell_is_that_of_its_text(self) -> None:
        tokens = markdown.parse("| a |\n|---|\n| `xy` **z** 2<sup>10</sup> &lt; |").tokens
        table, _ = markdown.table_at(tokens, 0)
        self.assertEqual(table.widths, [len("xy z 210 <")])


# How far the widest table goes beyond the column, how many tables scroll, and by how much the page is too wide.
MEASURE = """<script>addEventListener("load", () => {
  const style = getComputedStyle(document.body), tables = [...document.querySelectorAll(".table")];
  const column = document.body.getBoundingClientRect().right - parseFloat(style.paddingRight);
  const beyond = Math.max(...tables.map(table => table.getBoundingClientRect().right)) - column;
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  parent.document.title = [beyond, document.querySelectorAll(".scrolls").length, wide].map(Math.round).join(" ");
})</script>"""


class InABrowser(InFolder):
    """What only a browser knows."""

    def measured(self, page: str, width: int) -> list[int]:
        """The results of MEASURE in a frame of this width: a window cannot be so narrow."""
        browser = shutil.which("chromium")
        if not browser:
            self.skipTest("chromium is not installed")
        (self.folder / "page.html").write_text(page.replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
        frame = self.folder / "frame.html"
        frame.write_text(f'<iframe src="page.html" style="width: {width}px; height: 900px"></iframe>')
        options = "--headless --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=5000"
        command = [browser, *options.split(), f"--user-data-dir={self.folder}/browser", "--dump-dom", frame.as_uri()]
        shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
        found = re.search(r"<title>([-\d ]+)</title>", shown)
        assert found, shown[:500]
        return [int(number) for number in found[1].split()]

    def test_tables_stay_in_the_column(self) -> None:
        cells = [f"{'column':>{width}} of {width}" for width in range(20, 40)]
        table = "\n".join(f"| {' | '.join(row)} |" for row in (cells, ["---"] * len(cells), cells))
        page = to_page(f"# Title\n\n## Wide\n\n{table}\n\n| a | b |\n|---|---|\n| c | d |\n", "Title", self.folder, [])
        for width in (400, 1200):
            self.assertEqual(self.measured(page, width), [0, 1, 0], width)
