"""Writes a lab's report: measures what is missing, and makes Markdown, HTML and LaTeX with tables and plots.

report.md is the student's: only what stands between its comments "made" and "end of made" is written anew. The other
two are made of it.
"""

import html
import json
import os
import re
import time
from pathlib import Path

from . import bench, build, files, judge, markdown, measurements, plot, report_profile
from .paths import BUILD, ROOT, find_lab, shown
from .report_parts import NARROW, Report
from .run import prepare
from .terminal import Problem, Usage, note

TEMPLATES = ROOT / "reports/templates"
RESULTS = ROOT / "reports/results"
SEED_SHAPES = ("0x0", "1x32", "1x256", "4x256", "16x16", "64x64", "256x256", "1024x1024")
SIZES = ("1000", "10000", "100000")
RANGES = tuple(f"range:0:{2**bits - 1}" for bits in (4, 8, 12, 16, 20, 24))
# How much is measured. n: the sweep; one: keys where something else is swept; grid: keys for the map of launch shapes.
SCOPE = {
    "cpu": {"n": [10, 12, 14, 16, 18], "one": 14, "grid": 12, "seconds": 40},
    "cuda": {"n": [10, 12, 14, 16, 18, 20, 22, 24, 26], "one": 22, "grid": 20, "seconds": 60},
}
PROFILED = {"check": 14, "cuda": 20}  # keys of a profile, as powers of two


def add_arguments(parser):
    """The verb's options."""
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("--out", metavar="FOLDER", help="where it goes; else build/reports/LAB")
    parser.add_argument("--with", dest="others", nargs="+", action="extend", metavar="PATH",
                        help="measurements of other machines to compare with: CSV files, or folders of them")
    parser.add_argument("--solution", action="store_true", help="the solution, not what stands in labs/")
    parser.add_argument("--build", choices=("cpu", "cuda"), help="else cuda where a GPU answers")
    parser.add_argument("--machine", metavar="NAME", help="a short name of this machine; else its own")
    parser.add_argument("--fresh", action="store_true", help="measure again what was measured before")


# --- measuring ---


def sweeps(lab, kind, facts, machine_name):
    """(name, what is swept, the judge's options) for each sweep of a report."""
    scope = SCOPE[kind]
    sorts = [fact for (_, task), fact in facts.items() if task == "sort"]
    slow = [fact["largest_n"] for fact in sorts if fact["largest_n"] < 1 << 40]
    sizes = [1 << e for e in scope["n"] if not slow or 1 << e <= min(slow) // 4]
    one = min([1 << scope["one"], *(n // 4 for n in slow)])
    grid = min([1 << scope["grid"], *slow])
    few = ["--repeats", "5", "--time-limit", "1"]
    found = [
        ("n", "n", ["--n", *map(str, sizes), "--kernels", "--transfers", "--repeats", "15", "--time-limit", "3"]),
        ("sizes", "launch shapes and sizes", ["--n", *SIZES, "--shapes", *SEED_SHAPES, "--kernels", *few]),
        ("shapes", "launch shapes", ["--n", str(grid), "--shapes", *bench.shapes(["grid"]), *few[:1], "3", *few[2:]]),
        ("inputs", "inputs", ["--n", str(one), "--input", *(name for name, _ in judge.inputs()), *few]),
    ]
    types = list(dict.fromkeys(kind for fact in sorts for kind in fact["types"]))
    if len(types) > 1:
        found.append(("types", "types of keys", ["--n", str(one), "--type", *types, *(["--input", NARROW] if "counting" in lab else []),
                                                   *few]))
    if "counting" in lab and "u32" in types:
        found += [("ranges", "value ranges", ["--n", str(one), "--type", "u32", "--input", *RANGES, *few]),
                  ("range-sizes", "value ranges and sizes", ["--n", *SIZES, "--type", "u32", "--input", RANGES[0], RANGES[3],
                                                             RANGES[5], *few])]
    machine_id = judge.option("machine-id", machine_name)
    # The tables of kernels need each size and shape; of the others a part says what there is to say.
    seconds = {"sizes": 2 * scope["seconds"]}
    return [(name, words, [*options, "--budget", str(seconds.get(name, scope["seconds"])), *machine_id])
            for name, words, options in found]


def measure(lab, kind, runner, plan, folder, fresh):
    """The rows of all sweeps. What the same programs have measured before is taken from folder/csv."""
    known_path = folder / "csv/sweeps.json"
    try:
        known = json.loads(known_path.read_text())
    except (OSError, ValueError):
        known = {}
    rows = []
    for place, (name, words, options) in enumerate(plan, 1):
        path = folder / "csv" / f"{name}.csv"
        mark = bench.digest([runner, build.gold(kind), build.judge()], options)
        if not fresh and known.get(name) == mark and path.is_file():
            try:
                rows += measurements.read(path)
                continue
            except Problem as problem:
                note(f"{problem}. It is measured again")
        found, _, measured_at = bench.sweep(f"{lab}, {place} of {len(plan)}: {words}", lab, kind, runner, options, fresh)
        measurements.write(path, found)
        measured_at.unlink(missing_ok=True)
        rows += found
        known[name] = mark
        files.write_whole(known_path, json.dumps(known, indent=1) + "\n")
    return rows


def profiles(lab, kind, facts, rows, folder, fresh, solution):
    """What report_profile gathers of the steps that run to their end."""
    steps = sorted({int(row["step"]) for row in measurements.verified(rows)
                    if row["lab"] == lab and row["task"] == "sort" and row["build"] == kind})
    slow = [facts[number, "sort"]["largest_n"] // 16 for number in steps if facts[number, "sort"]["largest_n"] < 1 << 40]
    sizes = {source: min([1 << exponent, *slow]) for source, exponent in PROFILED.items()}
    return report_profile.gather(lab, kind, steps, folder, fresh, solution, sizes, SCOPE[kind]["seconds"]) if steps else None


def cpu_golds(lab, kind, folder, fresh):
    """On a machine with a GPU: the processor's best as well, without the emulation."""
    if kind != "cuda" or "cpu" not in build.runnable():
        return []
    runner = build.runner(lab, "cpu", True) if (ROOT / "solutions").is_dir() else build.runner(lab, "cpu")
    build.compile_targets([build.gold("cpu"), runner], f"building {lab}")
    options = ["--only-gold", "--n", *(str(1 << e) for e in range(10, 27, 2)), "--repeats", "5", "--time-limit", "2",
               "--budget", "60"]
    return measure(lab, "cpu", runner, [("processor", "the processor's best", options)], folder, fresh)


def other_machines(lab, paths, own):
    """[(name, rows)] of the machines to compare with: those asked for, and those recorded with the workbook."""
    found = []
    for text in paths or []:
        path = Path(text)
        if path.is_dir():
            csvs = sorted(path.glob("*.csv")) or sorted(path.glob("csv/*.csv"))
            if not csvs:
                raise Problem(f"there are no CSV files in {text}", 2)
        elif path.is_file():
            csvs = [path]
        else:
            raise Problem(f"there is no {text}", 2)
        rows = [row for csv in csvs for row in measurements.read(csv)]
        rows = [row for row in rows if row["lab"] in (lab, "gold")]
        if not any(row["lab"] == lab for row in rows):
            raise Problem(f"{text} has no measurements of {lab}", 2)
        found.append((path.stem if path.is_file() else path.name, rows))
    for csv in sorted(RESULTS.glob(f"*/{lab}.csv")):
        try:
            rows = measurements.read(csv)
        except Problem as problem:
            note(f"left out: {problem}")
            continue
        ids = {row["machine_id"] for _, some in [("", own), *found] for row in some}
        if not ids & {row["machine_id"] for row in rows}:
            found.append((f"{csv.parent.name}, recorded", rows))
    measurements.check_machines([row for _, rows in [("", own), *found] for row in rows])
    return found


# --- report.md ---


def template():
    """[(part, its text)] of reports/templates/report.md."""
    text = (TEMPLATES / "report.md").read_text(encoding="utf-8")
    pieces = re.split(r"(?m)^= (\w+)\n", text)[1:]
    return list(zip(pieces[::2], (piece.rstrip("\n") for piece in pieces[1::2])))


def questions(lab):
    """The handout's questions, each with a place for the answer."""
    try:
        text = (ROOT / "labs" / lab / "README.md").read_text(encoding="utf-8")
    except OSError:
        return ""
    section = re.search(r"(?ms)^## Questions\s*\n(.*?)(?=^## |\Z)", text)
    if not section:
        return ""
    out = []
    for number, question in re.findall(r"(?ms)^(\d+)\. (.*?)(?=^\d+\. |\Z)", section[1]):
        words = " ".join(question.split())
        words = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", words)
        out.append(f"**{number}.** {words}\n\n*Your answer:*")
    return "\n\n".join(out)


_MADE = re.compile(r"<!-- made: (\w+) -->\n?(.*?)<!-- end of made -->", re.DOTALL)


def fill(text, parts):
    """The text with what was made between its comments. Problem: a comment is missing."""
    if len(re.findall(r"<!-- made: \w+ -->", text)) != text.count("<!-- end of made -->") or any(
            "<!-- made:" in inside for _, inside in _MADE.findall(text)):
        raise Problem("report.md: a comment <!-- made: .. --> or <!-- end of made --> is missing. Put it back, or move "
                      "report.md away; nothing was changed", 2)
    return _MADE.sub(lambda match: f"<!-- made: {match[1]} -->\n\n{parts[match[1]]}\n\n<!-- end of made -->"
                     if parts.get(match[1]) else match[0], text)


def _known_parts(text):
    told = re.search(r"<!-- parts of [\w-]+: ([\w ]*) -->", text)
    return set(told[1].split()) if told else set()


def whose(text):
    """The lab that a report is about; None if it does not say."""
    told = re.search(r"<!-- parts of ([\w-]+):", text)
    return told[1] if told else None


def compose(lab, title, parts, old):
    """report.md: a new one, or the old one with what was made anew, and with sections that it never had."""
    def section(name, text):
        text = text.replace("{lab}", lab).replace("{title}", title)
        return text.replace("{questions}", questions(lab)) if name == "questions" else text

    pieces = template()
    wanted = [(name, text) for name, text in pieces if parts.get(name) or "<!-- made:" not in text]
    if not questions(lab):
        wanted = [(name, text) for name, text in wanted if name != "questions"]
    made = [name for name, _ in wanted if parts.get(name)]
    if old is None:
        body = "\n\n".join(section(name, text) for name, text in wanted)
        return fill(body, parts) + f"\n\n<!-- parts of {lab}: {' '.join(made)} -->\n"
    known = _known_parts(old)
    text = old
    order = [name for name, _ in pieces]
    for name, stub in wanted:
        if parts.get(name) and name not in known and f"<!-- made: {name} -->" not in text:
            text = _insert(text, section(name, stub), order[order.index(name) + 1 :])
    text = fill(text, parts)
    told = f"<!-- parts of {lab}: {' '.join(name for name in order if name in known | set(made))} -->"
    return re.sub(r"<!-- parts of [\w-]+: [\w ]* -->", told, text) if known else text.rstrip("\n") + f"\n\n{told}\n"


def _insert(text, section, later):
    """The section before the first of the later ones that is there, else at the end."""
    for name in later:
        heading = re.match(r"#+ [^\n]*", dict(template())[name])
        place = re.search(rf"(?m)^{re.escape(heading[0])}[ \t]*$", text) if heading else None
        if place:
            return text[: place.start()] + section + "\n\n" + text[place.start() :]
    at = text.find("<!-- parts of ")
    at = len(text) if at < 0 else at
    return text[:at].rstrip("\n") + "\n\n" + section + "\n\n" + text[at:]


# --- report.html, report.tex ---

_VARIABLES = {plot.INK: "ink", plot.MUTED: "muted", plot.GREY: "grey", plot.FAINT: "faint", plot.PAPER: "paper",
              **{colour: f"step-{number}" for number, colour in plot.STEPS.items()},
              **{colour: f"words-{number}" for number, colour in plot.WORDS.items()}}


def inline_svg(path, caption, folder):
    """A plot as a figure of the page itself, in the page's colours."""
    file = folder / path
    words = markdown.inline_html(caption)
    if file.suffix != ".svg" or not file.is_file():
        return f'<figure><img src="{html.escape(path)}" alt="{html.escape(caption)}"><figcaption>{words}</figcaption></figure>'
    svg = file.read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    name = re.sub(r"\W+", "-", file.stem)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
    for colour, variable in _VARIABLES.items():
        svg = re.sub(re.escape(colour), f"var(--{variable})", svg, flags=re.IGNORECASE)
    width = float(re.search(r'width="([\d.]+)pt"', svg)[1]) * 4 / 3
    svg = re.sub(r'^<svg ([^>]*?)width="[\d.]+pt" ', r"<svg \1", svg, count=1)
    svg = re.sub(r'^<svg ([^>]*?)height="[\d.]+pt" ', r"<svg \1", svg, count=1)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{html.escape(caption)}" style="max-width: {width:.0f}px; '
                      f'min-width: {0.6 * width:.0f}px" ', 1)
    return f"<figure>{svg.strip()}<figcaption>{words}</figcaption></figure>"


def to_page(text, title, folder):
    """report.html."""
    body = markdown.to_html(markdown.parse(text), lambda path, caption: inline_svg(path, caption, folder))
    page = (TEMPLATES / "page.html").read_text(encoding="utf-8")
    return page.replace("@title@", html.escape(title)).replace("@body@", body)


def to_article(text, title, folder):
    """report.tex."""
    def image(path, caption):
        pdf = Path(path).with_suffix(".pdf")
        if path.endswith(".svg") and (folder / pdf).is_file():
            path = str(pdf)
        elif not (folder / path).is_file() or path.endswith(".svg"):
            return rf"\emph{{(picture: {markdown.inline_tex(caption)})}}"
        return ("\\begin{figure}[htbp]\n\\centering\n" rf"\includegraphics[width=\linewidth,height=0.8\textheight,keepaspectratio]{{{path}}}"
                "\n" rf"\caption{{{markdown.inline_tex(caption)}}}" "\n\\end{figure}")

    body = markdown.to_tex(markdown.parse(text), image)
    characters = "\n".join(rf"  \DeclareUnicodeCharacter{{{ord(character):04X}}}{{?}}" for character in markdown.foreign(body))
    if characters:
        characters = "  % pdfLaTeX has no letters for these; LuaLaTeX has: lualatex report.tex\n" + characters
    frame = (TEMPLATES / "article.tex").read_text(encoding="utf-8")
    return frame.replace("@characters@", characters).replace("@title@", markdown.inline_tex(title)).replace("@body@", body)


def write_derived(path, content, comment):
    """Writes what is made of report.md; where somebody has changed the old one by hand, beside it. Gives the path."""
    def signed(text):
        return comment.format(bench.hashlib.sha256(text.encode()).hexdigest()[:16]) + "\n"

    if path.is_file():
        old = path.read_text(encoding="utf-8", errors="replace")
        body, _, last = old.rstrip("\n").rpartition("\n")
        if last + "\n" != signed(body + "\n"):
            path = path.with_name(f"{path.stem}-new{path.suffix}")
    files.write_whole(path, content + signed(content))
    return path


# --- the verb ---


def _prepare_folder(folder):
    try:
        for name in ("csv", "plots"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        if not all(os.access(place, os.W_OK) for place in (folder, folder / "csv", folder / "plots")):
            raise PermissionError
    except OSError as error:
        raise Usage(f"{folder} cannot be written: choose another folder with --out") from error


def lab_title(lab):
    """The title of the handout."""
    try:
        first = (ROOT / "labs" / lab / "README.md").read_text(encoding="utf-8").splitlines()[0]
    except (OSError, IndexError):
        return lab
    return first.lstrip("# ").strip()


def main(arguments):
    """A folder with the report."""
    started = time.monotonic()
    lab = find_lab(arguments.lab)
    folder = Path(arguments.out) if arguments.out else BUILD / "reports" / lab
    _prepare_folder(folder)
    old_path = folder / "report.md"
    old = old_path.read_text(encoding="utf-8") if old_path.is_file() else None
    if old is not None:
        fill(old, {})  # is it whole? Better to know before measuring
        if whose(old) not in (None, lab):
            raise Usage(f"{folder} holds the report on {whose(old)}: choose another folder with --out")
    if arguments.others:
        other_machines(lab, arguments.others, [])  # can they be read? Better to know before measuring
    kind, runner = prepare(arguments, lab, lambda kind: [build.gold(kind)])
    facts = judge.table(lab)
    try:
        rows = measure(lab, kind, runner, sweeps(lab, kind, facts, arguments.machine), folder, arguments.fresh)
        rows += cpu_golds(lab, kind, folder, arguments.fresh)
        profiled = profiles(lab, kind, facts, rows, folder, arguments.fresh, arguments.solution)
    except KeyboardInterrupt:
        note("interrupted; what was measured is kept, and the same command goes on from there")
        return 130
    rows = measurements.distinct(rows)
    others = other_machines(lab, arguments.others, rows)
    note("making tables and plots ..")
    made = Report(lab, folder, rows, kind, facts, judge.device(runner), others, arguments.solution, profiled)
    parts = {name: getattr(made, name)() for name, text in template() if f"<!-- made: {name} -->" in text}
    title = lab_title(lab)
    text = compose(lab, title, parts, old)
    files.write_whole(old_path, text)
    page = write_derived(folder / "report.html", to_page(text, f"Report: {title}", folder), "<!-- made of report.md: {} -->")
    article = write_derived(folder / "report.tex", to_article(text, f"Report: {title}", folder), "% made of report.md: {}")
    measured = measurements.whole(rows)
    print(f"{shown(old_path)}: yours to write in; run the same command again after that, and the other two follow")
    print(f"{shown(page)}: to read, in any browser, one file")
    print(f"{shown(article)}: pdflatex {article.name} in that folder")
    for path in (page, article):
        if "-new" in path.stem:
            print(f"{path.name}: since you have changed {path.name.replace('-new', '')} by hand, which stays as it is")
    if not made.plots:
        print("no plots: matplotlib is not here (./workbook doctor)")
    own = [row for row in measured if row["lab"] == lab and row["status"] == "verified"]
    print(f"{len(own)} measurements verified, {time.monotonic() - started:.0f} s")
    bad = {}
    for row in measured:
        if row["lab"] == lab and row["status"] not in ("verified", "unsupported"):
            bad.setdefault((row["step"], row["status"]), row["message"])
    for (step, status), message in bad.items():
        print(f"step {step}: {status}: {message}")
    return 0 if own and not bad else 1
