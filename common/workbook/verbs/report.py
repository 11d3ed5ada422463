"""Writes a lab's report: measures what is missing, and makes Markdown, HTML and LaTeX with tables and plots.

report.md is the student's: only what stands between its comments "made" and "end of made" is written anew. The other
two are made of it.
"""

import base64
import html
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from ..core import build, files, judge_client as judge, measurements
from ..reporting import markdown, plot, profile_tables as report_profile
from . import bench
from ..core.course import BUILD, ROOT, find_lab, shown
from ..reporting.parts import NARROW, RECORDED, Report, failures
from .run import prepare
from ..core.terminal import Problem, Usage, note

TEMPLATES = ROOT / "reports/templates"
RESULTS = ROOT / "reports/results"
SEED_SHAPES = ("0x0", "1x32", "1x256", "4x256", "16x16", "64x64", "256x256", "1024x1024")
SIZES = ("1000", "10000", "100000")
RANGES = tuple(f"range:0:{2**bits - 1}" for bits in (4, 8, 12, 16, 20, 24))
# How much is measured. n: the sweep; one: keys where something else is swept; grid: keys for the map of launch shapes.
SCOPE = {
    "cpu": {"n": [10, 12, 14, 16, 18], "one": 14, "grid": 12, "seconds": 20, "time-limit": "1.5"},
    "cuda": {"n": [10, 12, 14, 16, 18, 20, 22, 24, 26], "one": 22, "grid": 20, "seconds": 60, "time-limit": "3"},
}
UNLIMITED = 1 << 40  # a step whose largest n is smaller takes too long beyond it
EMULATED_THREADS, MANY_LAUNCHES = 8192, 1 << 20  # of a launch, for a step whose largest n is smaller than that
PROFILED = {"check": 14, "cuda": 20}  # keys of a profile, as powers of two


def add_arguments(parser):
    """The verb's options."""
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("--out", metavar="FOLDER", help="where it goes; else build/reports/LAB")
    parser.add_argument(
        "--with",
        dest="others",
        nargs="+",
        action="extend",
        metavar="PATH",
        help="measurements of other machines to compare with: CSV files, or folders of them",
    )
    parser.add_argument("--solution", action="store_true", help="the solution, not what stands in labs/")
    parser.add_argument("--build", choices=("cpu", "cuda"), help="else cuda where a GPU answers")
    parser.add_argument("--machine", metavar="NAME", help="a short name of this machine; else its own")
    parser.add_argument("--fresh", action="store_true", help="measure again what was measured before")


# --- measuring ---


@dataclass
class Sweep:
    """What one call of the judge measures: every step at every n, launch shape, input and type."""

    name: str
    words: str
    steps: list
    sizes: list
    shapes: list  # empty: each step's own choice
    inputs: list
    types: list  # empty: the lab's own
    seconds: float
    flags: list  # of the judge

    def options(self, facts):
        """For the judge."""
        steps = [] if {number for number, _ in facts} == set(self.steps) else self.steps
        return [
            *judge.option("step", steps),
            *judge.option("n", self.sizes),
            *judge.option("shapes", self.shapes),
            *judge.option("input", self.inputs),
            *judge.option("type", self.types),
            *self.flags,
            "--budget",
            f"{self.seconds:g}",
        ]

    def left_out(self, lab, facts, rows):
        """A sentence on what there was no time for; "" where nothing is missing."""
        columns = ("step", "task", "n", "blocks", "threads", "input")
        there = {
            tuple(row[name] for name in columns) + (row["type"] if self.types else "",)
            for row in rows
            if row["lab"] == lab and not row["kernel"]
        }
        asked = {
            (str(number), task, str(n), *shape.split("x"), kind, type_)
            for (number, task), fact in facts.items()
            if number in self.steps
            for n in self.sizes
            if int(n) <= fact["largest_n"]
            for shape in self.shapes or ["0x0"]
            for kind in self.inputs or ["uniform"]
            for type_ in ([type_ for type_ in self.types if type_ in fact["types"]] if self.types else [""])
        }
        missing = asked - there
        if not missing:
            return ""
        sizes = ", ".join(f"{n:,}" for n in sorted({int(case[2]) for case in missing}))
        steps = ", ".join(f"{number:02}" for number in sorted({int(case[0]) for case in missing}))
        return (
            f"Left out for lack of time ({self.seconds:g} s): {len(missing)} of {len(asked)} measurements over "
            f"{self.words}, at n = {sizes}, of step{'s' * (',' in steps)} {steps}."
        )


def _grouped(limits, *choices):
    """[([what each choice gives for a step's largest n], the steps for which it is the same)]."""
    groups = {}
    for number, limit in limits.items():
        groups.setdefault(json.dumps([choose(limit) for choose in choices]), []).append(number)
    return [(json.loads(chosen), numbers) for chosen, numbers in groups.items()]


def sweeps(lab, kind, facts, machine_name):
    """The sweeps of a report. Steps that take too long beyond some n have sweeps of their own, at fewer keys."""
    scope = SCOPE[kind]
    limits = {}
    for (number, _), fact in facts.items():
        limits[number] = min(limits.get(number, UNLIMITED), fact["largest_n"])

    def within(limit, part):
        # The emulation is so much slower that a quarter of what a GPU can be asked for is plenty.
        return limit if limit >= UNLIMITED else limit // part // (1 if kind == "cuda" else 4)

    def sizes(limit):
        return [1 << e for e in scope["n"] if 1 << e <= within(limit, 1)]

    def one(exponent):
        return lambda limit: [min(1 << exponent, within(limit, 8))]

    def affordable(shapes):
        # Steps that take too long so soon have a launch for each phase; the emulation pays for each thread of each.
        return lambda limit: [
            shape
            for shape in shapes
            if kind == "cuda" or limit >= MANY_LAUNCHES or threads_of(shape) <= EMULATED_THREADS
        ]

    def all_sizes(_):
        return list(SIZES)

    def nothing(_):
        return []

    sorts = [fact for (_, task), fact in facts.items() if task == "sort"]
    types = list(dict.fromkeys(kind for fact in sorts for kind in fact["types"]))
    counting = "counting" in lab
    long, few = ["--repeats", "15", "--time-limit", scope["time-limit"]], ["--repeats", "5", "--time-limit", "1"]
    # A launch shape that takes so long is told as such. (A step that does not end has been found out before, over n.)
    shaped = ["--timeout", "10"] if kind == "cpu" else []
    inputs = [name for name, _ in judge.inputs()]
    wanted = [
        ("n", "n", sizes, nothing, [], [], ["--kernels", "--transfers", *long]),
        (
            "sizes",
            "launch shapes and sizes",
            all_sizes,
            affordable(SEED_SHAPES),
            [],
            [],
            ["--kernels", "--transfers", *few, *shaped],
        ),
        (
            "shapes",
            "launch shapes",
            one(scope["grid"]),
            affordable(bench.shapes(["grid"])),
            [],
            [],
            ["--repeats", "3", *few[2:], *shaped],
        ),
        ("inputs", "inputs", one(scope["one"]), nothing, inputs, [], few),
    ]
    if len(types) > 1:
        wanted.append(("types", "types of keys", one(scope["one"]), nothing, [NARROW] if counting else [], types, few))
    if counting and "u32" in types:
        wanted += [
            ("ranges", "value ranges", one(scope["one"]), nothing, list(RANGES), ["u32"], few),
            (
                "range-sizes",
                "value ranges and sizes",
                all_sizes,
                nothing,
                [RANGES[0], RANGES[3], RANGES[5]],
                ["u32"],
                few,
            ),
        ]
    machine_id = judge.option("machine-id", machine_name)
    found = []
    for name, words, *choices, kinds, some_types, flags in wanted:
        groups = _grouped(limits, *choices)
        # The sweep over n is the report's heart, and the tables of kernels need each size and shape; of the others a
        # part says what there is to say.
        seconds = scope["seconds"] * (2 if name in ("n", "sizes") else 1)
        for (counts, shapes), numbers in groups:
            own = f"{name}-{'-'.join(map(str, numbers))}" if len(groups) > 1 else name
            found.append(
                Sweep(
                    own,
                    words,
                    numbers,
                    [str(n) for n in counts],
                    shapes,
                    kinds,
                    some_types,
                    seconds,
                    [*flags, *machine_id],
                )
            )
    return found


def threads_of(shape):
    """Threads of a launch in all: 16384 for "64x256"."""
    blocks, threads = map(int, shape.split("x"))
    return blocks * threads


def left_out(lab, kind, facts, plan, rows):
    """Name of a sweep -> sentences on what of it was not measured."""
    found = {}
    for sweep in plan:
        name = "ranges" if sweep.name.startswith("range") else sweep.name.partition("-")[0]
        found.setdefault(name, []).append(sweep.left_out(lab, facts, rows))
        if sweep.shapes and kind == "cpu" and not any(threads_of(shape) > EMULATED_THREADS for shape in sweep.shapes):
            steps = ", ".join(f"{number:02}" for number in sweep.steps)
            found[name].append(
                f"Left out: launches of more than {EMULATED_THREADS:,} threads in step"
                f"{'s' * (',' in steps)} {steps}, with a launch for each phase: emulated on a "
                "processor, they take too long."
            )
    return {name: [sentence for sentence in dict.fromkeys(sentences) if sentence] for name, sentences in found.items()}


def _known(path):
    """What a file of ours remembers, by name; nothing where it is not there or holds something else."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _refused(row):
    """Whether the clocks of judge and runner differ, as on a busy machine."""
    return row["status"] == "refused"


def _doubtful(row):
    """Whether a measurement failed in a way that may not happen again."""
    return row["status"] in ("refused", "crashed", "wrong") or row["status"] == "hung" and row["blocks"] == "0"


def _again(what, lab, kind, runner, options, path, rows):
    """The rows, which are good, with what is missing of a sweep measured too."""
    kept = path.with_name(f"{path.stem}.part")
    try:
        measurements.write(kept, rows)
        options = ["--gold", str(build.gold(kind)), *options]
        return judge.bench(f"{what}, once more", lab, runner, kind, kept, options)[0]
    finally:
        kept.unlink(missing_ok=True)


def measure(lab, kind, runner, plan, folder, fresh):
    """The rows of all sweeps. plan: [(name, what is swept, the judge's options)]

    What the same programs have measured before is taken from folder/csv, but for what may have failed by chance.
    """
    known_path = folder / "csv/sweeps.json"
    known = _known(known_path)
    rows = []
    for place, (name, words, options) in enumerate(plan, 1):
        path = folder / "csv" / f"{name}.csv"
        mark = bench.digest([runner, build.gold(kind), build.judge()], options)
        what, found = f"{lab}, {place} of {len(plan)}: {words}", None
        doubtful = _doubtful
        if not fresh and known.get(name) == mark and path.is_file():
            try:
                found = measurements.read(path)
            except Problem as problem:
                note(f"{problem}. It is measured again")
        if found is None:
            found, _, measured_at = bench.sweep(what, lab, kind, runner, options, fresh)
            measurements.write(path, found)
            measured_at.unlink(missing_ok=True)
            doubtful = _refused  # all else only at the next run
        # What fails for every n fails again: only what succeeds elsewhere is worth another try.
        well = {row["name"] for row in measurements.verified(found)}
        good = [row for row in found if not (doubtful(row) and row["name"] in well)]
        if len(good) < len(found):
            found = _again(what, lab, kind, runner, options, path, good)
            measurements.write(path, found)
        rows += found
        if known.get(name) != mark:
            known[name] = mark
            files.write_whole(known_path, json.dumps(known, indent=1) + "\n")
    return rows


def forget(folder, names):
    """Takes away what sweeps measured that a report has no more: --with FOLDER is not to find it."""
    path = folder / "csv/sweeps.json"
    known = _known(path)
    gone = [name for name in known if name not in names and re.fullmatch(r"[\w-]+", name)]
    for name in gone:
        (folder / "csv" / f"{name}.csv").unlink(missing_ok=True)
        del known[name]
    if gone:
        files.write_whole(path, json.dumps(known, indent=1) + "\n")


def profiles(lab, kind, facts, rows, folder, fresh, solution):
    """What report_profile gathers of the steps that run to their end."""
    steps = sorted(
        {
            int(row["step"])
            for row in measurements.verified(rows)
            if row["lab"] == lab and row["task"] == "sort" and row["build"] == kind
        }
    )
    limits = [facts[number, "sort"]["largest_n"] for number in steps]
    slow = [limit // 16 for limit in limits if limit < UNLIMITED]
    sizes = {source: min([1 << exponent, *slow]) for source, exponent in PROFILED.items()}
    return (
        report_profile.gather(lab, kind, steps, folder, fresh, solution, sizes, SCOPE[kind]["seconds"])
        if steps
        else None
    )


def cpu_golds(lab, kind, folder, fresh):
    """On a machine with a GPU: the processor's best as well, without the emulation."""
    if kind != "cuda" or "cpu" not in build.runnable():
        return []
    runner = build.runner(lab, "cpu", True) if (ROOT / "solutions").is_dir() else build.runner(lab, "cpu")
    build.compile_targets([build.gold("cpu"), runner], f"building {lab}")
    options = [
        "--only-gold",
        "--n",
        *SIZES,
        *(str(1 << e) for e in range(10, 27, 2)),
        "--repeats",
        "5",
        "--time-limit",
        "2",
        "--budget",
        "60",
    ]
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
            found.append((f"{csv.parent.name}, {RECORDED}", rows))
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
        "<!-- made:" in inside for _, inside in _MADE.findall(text)
    ):
        raise Problem(
            "report.md: a comment <!-- made: .. --> or <!-- end of made --> is missing. Put it back, or move "
            "report.md away; nothing was changed",
            2,
        )
    return _MADE.sub(
        lambda match: (
            f"<!-- made: {match[1]} -->\n\n{parts[match[1]]}\n\n<!-- end of made -->"
            if parts.get(match[1])
            else match[0]
        ),
        text,
    )


def _known_parts(text):
    told = re.search(r"<!-- parts of [\w-]+: ([\w ]*) -->", text)
    return set(told[1].split()) if told else set()


def words_of(path, lab):
    """The text of report.md; None if there is none. Problem, Usage: what the student wrote could not be kept."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise Problem(
            f"{path} is not UTF-8: save it in that encoding (iconv -f latin1 -t utf-8 turns Latin-1 into it)."
            " Nothing was changed",
            2,
        ) from error
    except OSError as error:
        raise Problem(
            f"{path} cannot be read ({error.strerror}): move it away, or choose another folder with --out", 2
        ) from error
    if not text.strip():
        return None  # nothing to keep
    fill(text, {})
    if whose(text) not in (None, lab):
        raise Usage(f"{path.parent} holds the report on {whose(text)}: choose another folder with --out")
    return text


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

_VARIABLES = {
    plot.INK: "ink",
    plot.MUTED: "muted",
    plot.GREY: "grey",
    plot.FAINT: "faint",
    plot.PAPER: "paper",
    **{colour: f"step-{number}" for number, colour in plot.STEPS.items()},
    **{colour: f"words-{number}" for number, colour in plot.WORDS.items()},
}


_PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}


def embedded(path, caption, folder, remarks):
    """A figure of the page itself: a plot of ours in the page's colours, another picture as it is."""
    words = markdown.inline_html(caption)
    file = folder / unquote(path)
    if "://" in path or file.suffix.lower() not in _PICTURES or not file.is_file():
        why = (
            "is on the net; save it beside report.md"
            if "://" in path
            else f"is no picture that browsers show ({', '.join(_PICTURES)})"
            if file.is_file()
            else f"is not in {folder}, where report.md is"
        )
        remarks.append(f"the picture {path} {why}")
        return (
            f"<figure><p><em>(picture missing: {html.escape(path)})</em></p><figcaption>{words}</figcaption></figure>"
        )
    if file.suffix == ".svg" and (ours := inline_svg(file, caption)):
        return f"<figure>{ours}<figcaption>{words}</figcaption></figure>"
    data = base64.b64encode(file.read_bytes()).decode()
    return (
        f'<figure><img src="data:{_PICTURES[file.suffix.lower()]};base64,{data}" alt="{html.escape(caption)}">'
        f"<figcaption>{words}</figcaption></figure>"
    )


def inline_svg(file, caption):
    """A plot as matplotlib writes it, in the page's colours; "" for another SVG."""
    svg = file.read_text(encoding="utf-8", errors="replace")
    width = re.search(r'<svg [^>]*?width="([\d.]+)pt"', svg)
    if not width or 'id="figure_1"' not in svg or "<script" in svg:
        return ""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    name = re.sub(r"\W+", "-", file.stem)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
    for colour, variable in _VARIABLES.items():
        svg = re.sub(re.escape(colour), f"var(--{variable})", svg, flags=re.IGNORECASE)
    width = float(width[1]) * 4 / 3
    svg = re.sub(r'^<svg ([^>]*?)width="[\d.]+pt" ', r"<svg \1", svg, count=1)
    svg = re.sub(r'^<svg ([^>]*?)height="[\d.]+pt" ', r"<svg \1", svg, count=1)
    return svg.replace(
        "<svg ",
        f'<svg role="img" aria-label="{html.escape(caption)}" style="max-width: {width:.0f}px; '
        f'min-width: {0.55 * width:.0f}px" ',
        1,
    ).strip()


def to_page(text, title, folder, remarks):
    """report.html; remarks: what is to be said about it."""
    blocks = markdown.parse(text)
    for path in markdown.stray_images(blocks):
        remarks.append(f"the picture {path} stands within text: give it a line of its own")
    body = markdown.to_html(blocks, lambda path, caption: embedded(path, caption, folder, remarks))
    page = (TEMPLATES / "page.html").read_text(encoding="utf-8")
    return page.replace("@title@", html.escape(title)).replace("@body@", body)


def to_article(text, title, folder):
    """report.tex, and the letters in it that pdfLaTeX lacks."""

    def image(path, caption):
        path = unquote(path)
        pdf = Path(path).with_suffix(".pdf")
        if path.endswith(".svg") and (folder / pdf).is_file():
            path = str(pdf)
        elif not (folder / path).is_file() or Path(path).suffix.lower() not in (".png", ".jpg", ".jpeg", ".pdf"):
            return rf"\emph{{(picture: {markdown.inline_tex(caption)})}}"
        return (
            "\\begin{figure}[htbp]\n\\centering\n"
            rf"\includegraphics[width=\linewidth,height=0.8\textheight,keepaspectratio]{{{path}}}"
            "\n"
            rf"\caption{{{markdown.inline_tex(caption)}}}"
            "\n\\end{figure}"
        )

    body = markdown.to_tex(markdown.parse(text), image)
    letters = markdown.foreign(body)
    characters = "\n".join(rf"  \DeclareUnicodeCharacter{{{ord(character):04X}}}{{?}}" for character in letters)
    if characters:
        characters = "  % pdfLaTeX has no letters for these; LuaLaTeX has: lualatex report.tex\n" + characters
    frame = (TEMPLATES / "article.tex").read_text(encoding="utf-8")
    frame = frame.replace("@characters@", characters).replace("@title@", markdown.inline_tex(title))
    return frame.replace("@body@", body), letters


def write_derived(path, content, comment, remarks):
    """Writes what is made of report.md, beside what somebody has changed by hand: gives the path, and says so."""

    def signed(text):
        return comment.format(bench.hashlib.sha256(text.encode()).hexdigest()[:16]) + "\n"

    def is_ours(place):
        old = place.read_text(encoding="utf-8", errors="replace")
        body, _, last = old.rstrip("\n").rpartition("\n")
        return last + "\n" == signed(body + "\n")

    names = [path.name, f"{path.stem}-new{path.suffix}"]
    changed = []
    while path.with_name(names[0]).exists() and not is_ours(path.with_name(names[0])):
        changed.append(names.pop(0))
        names = names or [f"{path.stem}-new-{len(changed)}{path.suffix}"]
    if changed:
        remarks.append(
            f"{names[0]}: a new name, since you have changed {' and '.join(changed)} by hand; what you changed stays"
        )
    path = path.with_name(names[0])
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
    report_path = folder / "report.md"
    words_of(report_path, lab)  # can they be kept? Better to know before measuring
    if arguments.others:
        other_machines(lab, arguments.others, [])  # can they be read? Better to know before measuring
    kind, runner = prepare(arguments, lab, lambda kind: [build.gold(kind)])
    facts = judge.table(lab)
    try:
        plan = sweeps(lab, kind, facts, arguments.machine)
        rows = measure(
            lab,
            kind,
            runner,
            [(sweep.name, sweep.words, sweep.options(facts)) for sweep in plan],
            folder,
            arguments.fresh,
        )
        rows += cpu_golds(lab, kind, folder, arguments.fresh)
        forget(folder, [*(sweep.name for sweep in plan), "processor"])
        profiled = profiles(lab, kind, facts, rows, folder, arguments.fresh, arguments.solution)
    except KeyboardInterrupt as stop:
        note("interrupted; what was measured is kept, and the same command goes on from there")
        return getattr(stop, "status", 130)
    rows = measurements.distinct(rows)
    others = other_machines(lab, arguments.others, rows)
    note("making tables and plots ..")
    made = Report(
        lab,
        folder,
        rows,
        kind,
        facts,
        judge.device(runner),
        others,
        arguments.solution,
        profiled,
        left_out(lab, kind, facts, plan, rows),
    )
    parts = {name: getattr(made, name)() for name, text in template() if f"<!-- made: {name} -->" in text}
    title = lab_title(lab)
    try:
        text = compose(lab, title, parts, words_of(report_path, lab))  # as it is now: somebody may have written in it
    except (Problem, Usage):
        note("what was measured is kept; when report.md is mended, the same command makes the report at once")
        raise
    files.write_whole(report_path, text)
    remarks = []
    page = write_derived(
        folder / "report.html",
        to_page(text, f"Report: {title}", folder, remarks),
        "<!-- made of report.md: {} -->",
        remarks,
    )
    article, letters = to_article(text, f"Report: {title}", folder)
    article = write_derived(folder / "report.tex", article, "% made of report.md: {}", remarks)
    measured = measurements.whole(rows)
    print(f"{shown(report_path)}: yours to write in; run the same command again after that, and the other two follow")
    print(f"{shown(page)}: to read, in any browser, one file")
    print(f"{shown(article)}: {'lualatex' if letters else 'pdflatex'} {article.name} in that folder")
    if letters:
        some = " ".join(letters[:12]) + " .." * (len(letters) > 12)
        print(
            f"{article.name}: pdflatex has no letters for {some} and "
            'prints "?"; lualatex prints them where a font has them (on Debian: texlive-luatex, fonts-dejavu)'
        )
    for remark in remarks:
        print(remark)
    if not made.plots:
        print("no plots: matplotlib is not here (./workbook doctor)")
    own = [row for row in measured if row["lab"] == lab and row["status"] == "verified"]
    print(f"{len(own)} measurements verified, {time.monotonic() - started:.0f} s")
    failed, _ = failures(measured, lab)
    for line in bench.failed_lines(failed):
        print(line)
    return 0 if own and not failed else 1
