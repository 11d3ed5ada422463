"""The part of Markdown that reports are written in, as HTML and as LaTeX."""

import html
import re
from dataclasses import dataclass, field


@dataclass
class Block:
    """heading, paragraph, list, table, code, quote, image or rule."""

    kind: str
    text: str = ""  # heading, paragraph, code; an image's caption
    level: int = 0  # of a heading; 1 for a numbered list
    items: list = field(default_factory=list)  # a list's blocks for each item; a quote's blocks; a table's rows
    left: list = field(default_factory=list)  # a table: which columns are flush left
    path: str = ""  # an image


_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,3}[.)])\s+(.*)")
_IMAGE = re.compile(r"!\[([^\]]*)\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
_LINE = re.compile(r" {0,3}([-*_])( *\1){2,} *")
_UNDERLINE = re.compile(r"(=+|-{2,}) *")
_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?")


def parse(text):
    """The blocks of a text. Comments are left out, except in code."""
    fences = re.split(r"(?m)(^```.*?^```[ \t]*$)", text, flags=re.DOTALL)
    return _blocks("".join(part if part.startswith("```") else _COMMENT.sub("", part) for part in fences).splitlines())


def stray_images(blocks):
    """Paths of pictures that stand within a line of text, where they are not shown."""
    return [match[2] for block in blocks if block.kind == "paragraph" for match in _IMAGE.finditer(block.text)]


def _cells(line):
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|") if line.strip() != "|" else "")
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _blocks(lines):
    blocks, i = [], 0
    while i < len(lines):
        line = lines[i]
        if not line.strip():
            i += 1
        elif line.startswith("```"):
            end = next((j for j in range(i + 1, len(lines)) if lines[j].startswith("```")), len(lines))
            blocks.append(Block("code", "\n".join(lines[i + 1 : end])))
            i = end + 1
        elif match := _HEADING.fullmatch(line):
            blocks.append(Block("heading", match[2], len(match[1])))
            i += 1
        elif _LINE.fullmatch(line):
            blocks.append(Block("rule"))
            i += 1
        elif match := _IMAGE.fullmatch(line.strip()):
            blocks.append(Block("image", match[1], path=match[2]))
            i += 1
        elif "|" in line and i + 1 < len(lines) and "-" in lines[i + 1] and _RULE.fullmatch(lines[i + 1].strip()):
            end = next((j for j in range(i + 2, len(lines)) if "|" not in lines[j]), len(lines))
            marks = _cells(lines[i + 1])
            blocks.append(
                Block(
                    "table",
                    items=[_cells(row) for row in [line, *lines[i + 2 : end]]],
                    left=[not mark.endswith(":") for mark in marks],
                )
            )
            i = end
        elif line.startswith(">"):
            end = next((j for j in range(i, len(lines)) if not lines[j].startswith(">")), len(lines))
            blocks.append(Block("quote", items=_blocks([re.sub(r"^> ?", "", one) for one in lines[i:end]])))
            i = end
        elif match := _ITEM.fullmatch(line):
            block, i = _list(lines, i, match)
            blocks.append(block)
        else:
            end = i + 1
            while end < len(lines) and lines[end].strip() and not _starts_block(lines[end]):
                end += 1
            text = " ".join(one.strip() for one in lines[i:end])
            if end < len(lines) and _UNDERLINE.fullmatch(lines[end]):
                blocks.append(Block("heading", text, 1 if lines[end][0] == "=" else 2))
                end += 1
            else:
                blocks.append(Block("paragraph", text))
            i = end
    return blocks


def _starts_block(line):
    item = _ITEM.fullmatch(line)
    return (
        line.startswith(("```", ">"))
        or _HEADING.fullmatch(line)
        or _IMAGE.fullmatch(line.strip())
        or _UNDERLINE.fullmatch(line)
        or _LINE.fullmatch(line)
        or item
        and item[2] in ("-", "*", "+", "1.", "1)")
    )


def _list(lines, i, match):
    ordered, indent = match[2][0].isdigit(), len(match[1])
    items = []
    while i < len(lines):
        match = None if _LINE.fullmatch(lines[i]) else _ITEM.fullmatch(lines[i])
        if not match or len(match[1]) != indent or match[2][0].isdigit() != ordered:
            break
        inside = len(match[1]) + len(match[2]) + 1
        own, i = [match[3]], i + 1
        while i < len(lines):
            line = lines[i]
            spaces = len(line) - len(line.lstrip())
            if not line.strip():
                following = next((one for one in lines[i:] if one.strip()), "")
                if len(following) - len(following.lstrip()) < min(inside, indent + 2):
                    break
                own.append("")
            elif spaces > indent:
                own.append(line[min(spaces, inside) :])
            elif _ITEM.fullmatch(line) or _starts_block(line):
                break
            elif own[-1]:
                own.append(line)  # a paragraph goes on without being set in
            else:
                break
            i += 1
        items.append(_blocks(own))
        while i < len(lines) and not lines[i].strip() and i + 1 < len(lines) and _ITEM.fullmatch(lines[i + 1]):
            i += 1
    return Block("list", level=int(ordered), items=items), i


# --- what stands in a line ---

_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<bold>.+?)\*\*|(?<![\w*])[*_](?P<italic>[^*_\s](?:[^*]*?[^*_\s])?)[*_](?![\w*])"
    r"|(?<!!)\[(?P<words>[^\]]+)\]\((?P<link>[^)\s]+)\)|<(?P<url>https?://[^>\s]+)>"
    r"|<sup>(?P<up>.*?)</sup>|<sub>(?P<down>.*?)</sub>|(?P<break><br\s*/?>)|\$(?P<math>[^$\s](?:[^$]*[^$\s])?)\$(?!\d)"
    r"|\\(?P<plain>[\\`*_{}\[\]()#+.!|<>-])|&(?P<entity>lt|gt|amp|nbsp);"
)


def _inline(text, plain, form):
    out, at = [], 0
    for match in _INLINE.finditer(text):
        out.append(plain(text[at : match.start()]))
        out.append(form(match.lastgroup if match.lastgroup != "link" else "words", match))
        at = match.end()
    return "".join(out) + plain(text[at:])


def inline_html(text):
    """A line's text as HTML."""

    def form(kind, match):
        if kind == "code":
            return f"<code>{html.escape(match['code'])}</code>"
        if kind == "bold":
            return f"<strong>{inline_html(match['bold'])}</strong>"
        if kind == "italic":
            return f"<em>{inline_html(match['italic'])}</em>"
        if kind == "words":
            if not re.match(r"(https?:|mailto:|#|[\w./-]+$)", match["link"]):
                return inline_html(match["words"])
            return f'<a href="{html.escape(match["link"])}">{inline_html(match["words"])}</a>'
        if kind == "url":
            return f'<a href="{html.escape(match["url"])}">{html.escape(match["url"])}</a>'
        if kind in ("up", "down"):
            tag = {"up": "sup", "down": "sub"}[kind]
            return f"<{tag}>{inline_html(match[kind])}</{tag}>"
        if kind == "break":
            return "<br>"
        if kind == "math":
            return f'<span class="math">{html.escape(match["math"])}</span>'
        if kind == "plain":
            return html.escape(match["plain"])
        return match[0]

    return _inline(text, lambda words: html.escape(words, quote=False), form)


_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\u00b5": r"\ensuremath{\mu}",
    "\u03bc": r"\ensuremath{\mu}",
    "\u00d7": r"\ensuremath{\times}",
    "\u2264": r"\ensuremath{\leq}",
    "\u2265": r"\ensuremath{\geq}",
    "\u2260": r"\ensuremath{\neq}",
    "\u2248": r"\ensuremath{\approx}",
    "\u2192": r"\ensuremath{\rightarrow}",
    "\u2190": r"\ensuremath{\leftarrow}",
    "\u221e": r"\ensuremath{\infty}",
    "\u00b7": r"\ensuremath{\cdot}",
    "\u00b1": r"\ensuremath{\pm}",
    "\u221a": r"\ensuremath{\surd}",
    "\u2211": r"\ensuremath{\Sigma}",
    "\u2212": r"\ensuremath{-}",
    "\u2026": r"\ldots{}",
    "\u00a0": "~",
    "\u202f": "~",
    "\u2009": r"\,",
    "\u200b": "",
    "\u2013": "--",
    "\u2014": "---",
    "\u2018": "`",
    "\u2019": "'",
    "\u201c": "``",
    "\u201d": "''",
    "\u20ac": r"\texteuro{}",
}
_TEX.update(
    {
        character: rf"\textsuperscript{{{digit}}}"
        for digit, character in enumerate("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
    }
)
_TEX.update(
    {character: rf"\textsubscript{{{digit}}}" for digit, character in enumerate(map(chr, range(0x2080, 0x208A)))}
)


def escape_tex(text):
    """Plain words as LaTeX."""
    return "".join(_TEX.get(character, character) for character in text)


def foreign(tex):
    """The characters of a LaTeX text that pdfLaTeX has no letter for (LuaLaTeX has)."""
    return sorted({character for character in tex if ord(character) > 0x17F or 0x7F <= ord(character) < 0xA1})


def inline_tex(text):
    """A line's text as LaTeX."""

    def form(kind, match):
        if kind == "code":
            # A line may break behind these, since code is not hyphenated.
            return r"\texttt{" + re.sub(r"(/|\\_|,)", r"\1\\allowbreak{}", escape_tex(match["code"])) + "}"
        if kind == "bold":
            return rf"\textbf{{{inline_tex(match['bold'])}}}"
        if kind == "italic":
            return rf"\emph{{{inline_tex(match['italic'])}}}"
        if kind == "words":
            target = match["link"]
            if not target.startswith(("http:", "https:")):
                return inline_tex(match["words"])
            target = re.sub(r"([%#&{}$^_~])", r"\\\1", target)
            return rf"\href{{{target}}}{{{inline_tex(match['words'])}}}"
        if kind == "url":
            return rf"\url{{{match['url']}}}"
        if kind in ("up", "down"):
            command = {"up": "textsuperscript", "down": "textsubscript"}[kind]
            return rf"\{command}{{{inline_tex(match[kind])}}}"
        if kind == "break":
            return r"\newline "
        if kind == "math":
            return f"${match['math']}$"
        if kind == "plain":
            return escape_tex(match["plain"])
        return {"lt": r"\textless{}", "gt": r"\textgreater{}", "amp": r"\&", "nbsp": "~"}[match["entity"]]

    return _inline(text, escape_tex, form)


# --- blocks ---


def to_html(blocks, image):
    """Blocks as HTML. `image(path, caption)` gives a figure's HTML."""
    out = []
    for block in blocks:
        if block.kind == "heading":
            name = re.sub(r"[^a-z0-9]+", "-", block.text.lower()).strip("-")
            out.append(f'<h{block.level} id="{name}">{inline_html(block.text)}</h{block.level}>')
        elif block.kind == "paragraph":
            out.append(f"<p>{inline_html(block.text)}</p>")
        elif block.kind == "code":
            out.append(f"<pre><code>{html.escape(block.text, quote=False)}</code></pre>")
        elif block.kind == "quote":
            out.append(f"<blockquote>{to_html(block.items, image)}</blockquote>")
        elif block.kind == "image":
            out.append(image(block.path, block.text))
        elif block.kind == "rule":
            out.append("<hr>")
        elif block.kind == "list":
            tag = "ol" if block.level else "ul"
            items = "".join(f"<li>{_item_html(item, image)}</li>" for item in block.items)
            out.append(f"<{tag}>{items}</{tag}>")
        elif block.kind == "table":
            out.append(_table_html(block))
    return "\n".join(out)


def _item_html(item, image):
    if item and item[0].kind == "paragraph" and all(block.kind == "list" for block in item[1:]):
        return inline_html(item[0].text) + to_html(item[1:], image)
    return to_html(item, image)


def _table_html(block):
    widths = [max(_plain_width(row[i]) if i < len(row) else 0 for row in block.items) for i in range(len(block.left))]

    def line(cells, tag):
        places = [
            "left short" if left and width <= 26 else "left" if left else "right"
            for left, width in zip(block.left, widths)
        ] + ["left"] * len(cells)
        return (
            "<tr>"
            + "".join(f'<{tag} class="{place}">{inline_html(cell)}</{tag}>' for cell, place in zip(cells, places))
            + "</tr>"
        )

    head, *rows = block.items
    wide = ' class="wide"' * (sum(min(width, 26) + 2 for width in widths) > 100)
    return (
        f'<div class="table"><table{wide}><thead>'
        + line(head, "th")
        + "</thead><tbody>"
        + "".join(line(row, "td") for row in rows)
        + "</tbody></table></div>"
    )


def to_tex(blocks, image):
    """Blocks as LaTeX. `image(path, caption)` gives a figure's LaTeX."""
    levels = {2: "section", 3: "subsection", 4: "subsubsection"}
    out = []
    for block in blocks:
        if block.kind == "heading":
            if block.level > 1:
                out.append(rf"\{levels.get(block.level, 'paragraph')}{{{inline_tex(block.text)}}}")
        elif block.kind == "paragraph":
            out.append(inline_tex(block.text))
        elif block.kind == "code":
            safe = block.text.replace("\\end{verbatim}", "\\end {verbatim}").replace("\t", "    ")
            out.append("\\begin{verbatim}\n" + safe + "\n\\end{verbatim}")
        elif block.kind == "quote":
            out.append("\\begin{quote}\n" + to_tex(block.items, image) + "\n\\end{quote}")
        elif block.kind == "image":
            out.append(image(block.path, block.text))
        elif block.kind == "rule":
            out.append(r"\par\noindent\hrulefill\par")
        elif block.kind == "list":
            name = "enumerate" if block.level else "itemize"
            items = "\n".join(r"\item " + to_tex(item, image) for item in block.items)
            out.append(f"\\begin{{{name}}}\n{items}\n\\end{{{name}}}")
        elif block.kind == "table":
            out.append(_table_tex(block))
    return "\n\n".join(out)


def _plain_width(cell):
    return len(html.unescape(re.sub(r"</?su[pb]>|[`*]", "", cell)))


def _table_tex(block):
    """Short tables as they are; too wide ones made smaller, long cells of text broken into lines, long tables cut."""
    columns = len(block.items[0])
    rows = [(row + [""] * columns)[:columns] for row in block.items]
    left = (block.left + [True] * columns)[:columns]
    widths = [max(_plain_width(row[i]) for row in rows) for i in range(columns)]
    long_texts = [i for i in range(columns) if left[i] and widths[i] > 40]
    total = sum(min(width, 40) + 2 for width in widths)
    forms = []
    for i in range(columns):
        share = 0.92 * min(widths[i], 80) / max(1, sum(min(width, 80) + 2 for width in widths))
        forms.append(
            rf">{{\raggedright\arraybackslash}}p{{{share:.2f}\linewidth}}"
            if i in long_texts
            else "l"
            if left[i]
            else "r"
        )
    head, *body = [" & ".join(map(inline_tex, row)) + r" \\" for row in rows]
    if len(body) > 36 and total > 84 and not long_texts:  # too wide for its letters: in parts, each made smaller
        return "\n\n".join(
            _table_tex(Block("table", items=[block.items[0], *block.items[i : i + 36]], left=block.left))
            for i in range(1, len(block.items), 36)
        )
    if len(body) > 36:
        return (
            "{\\small\\setlength{\\tabcolsep}{4pt}\n\\begin{longtable}{@{}"
            + "".join(forms)
            + "@{}}\n\\toprule\n"
            + head
            + "\n\\midrule\\endhead\n"
            + "\n".join(body)
            + "\n\\bottomrule\n\\end{longtable}}"
        )
    table = (
        "\\begin{tabular}{@{}"
        + "".join(forms)
        + "@{}}\n\\toprule\n"
        + head
        + "\n\\midrule\n"
        + "\n".join(body)
        + "\n\\bottomrule\n\\end{tabular}"
    )
    if total > 84 and not long_texts:
        table = "\\resizebox{\\linewidth}{!}{%\n" + table + "}"
    return "\\begin{center}\\small\n" + table + "\n\\end{center}"
