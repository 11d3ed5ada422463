"""Plain tables, and numbers as people read them."""


def render(headings, rows, left=()):
    """Lines of a table. Columns whose heading is in `left` are set flush left, the others flush right."""
    cells = [[str(cell) for cell in row] for row in [headings, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]

    def line(row):
        placed = (
            cell.ljust(width) if heading in left else cell.rjust(width)
            for cell, width, heading in zip(row, widths, headings)
        )
        return "  ".join(placed).rstrip()

    return [line(cells[0]), "  ".join("-" * width for width in widths), *map(line, cells[1:])]


def significant(value, digits=3):
    """A number in plain notation: at least `digits` digits that mean something, no more than needed."""
    if value == 0:
        return "0"
    decimals = 0
    while decimals < 6 and abs(value) * 10**decimals < 10 ** (digits - 1):
        decimals += 1
    return f"{value:.{decimals}f}"


def grouped(value):
    """The same with its thousands apart: 12,345."""
    text = significant(value)
    return f"{int(text):,}" if text.isdigit() else text


def count(n):
    """A number of keys: 2^18 where it is such a power and large, else its digits."""
    n = int(n)
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else str(n)
