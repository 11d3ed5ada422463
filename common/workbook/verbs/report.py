"""Writes a lab's report: measures what is missing, and makes Markdown, HTML and LaTeX with tables and plots."""

import argparse
import time
from pathlib import Path

from ..core import bench_tables, build, files, report_sweeps
from ..core import rows as row_files
from ..core.console import Problem, Usage, note
from ..core.course import find_lab, shown
from ..core.judge_client import JudgeClient
from ..core.judge_types import Lab
from ..core.measuring import Programs
from ..core.options import add, prepare
from ..reporting import compose, gather, measure, place
from ..reporting.context import Context, failures
from ..reporting.measure import other_labs, other_machines

PROFILE_SECONDS = {"cpu": 20.0, "cuda": 60.0}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("lab", metavar="LAB", help="04-counting, 4, counting, or a path in its folder")
    parser.add_argument("--out", metavar="FOLDER", help="write the report to this folder (default: labs/LAB/report)")
    parser.add_argument(
        "--with",
        dest="others",
        nargs="+",
        action="extend",
        default=[],
        metavar="PATH",
        help="measurements of other machines to compare with: CSV files, or folders of them",
    )
    parser.add_argument(
        "--all-questions", action="store_true", help="ask every question of the handout, not only the core ones"
    )
    parser.add_argument(
        "--predictions",
        action="store_true",
        help="only write a sheet to print, with what the handout asks to predict and room to write: measures nothing",
    )
    add(parser, "--solution", "--build")
    parser.add_argument(
        "--machine", metavar="NAME", default="", help="a short name for this machine (default: its own)"
    )
    parser.add_argument("--fresh", action="store_true", help="measure everything again")


def measured(
    judge: JudgeClient, lab: Lab, kind: str, runner: Path, arguments: argparse.Namespace, folder: Path
) -> Context:
    """Everything that the report is made from, except the measurements of other machines."""
    plan = report_sweeps.plan(lab, kind, [info.name for info in judge.inputs()], arguments.machine)
    rows = measure.measure(Programs(judge, kind, runner, build.gold(kind)), plan, folder, arguments.fresh)
    rows += measure.processor(judge, lab.name, kind, folder, arguments.fresh)
    measure.forget(folder, [*(sweep.name for sweep in plan), "processor"])
    own_lines = {(lab.name, line.name, kind) for line in lab.steps if not line.part}
    steps = sorted({row.step for row in row_files.verified(rows) if (row.lab, row.name, row.build) in own_lines})
    job = gather.Job(judge, lab, kind, steps, folder, arguments.fresh, arguments.solution, PROFILE_SECONDS[kind])
    profiled = gather.profile(job) if steps else None
    return Context(
        lab.name,
        folder,
        row_files.distinct(rows),
        kind,
        lab.steps,
        judge.runner(runner).facts,
        solution=arguments.solution,
        profiled=profiled,
        verdicts=gather.verdicts(job),
        picture=gather.picture(job),
        timelines=gather.timelines_of(job),
        left_out=measure.left_out(lab, kind, plan, rows),
    )


def write(report: Context, all_questions: bool) -> list[str]:
    """Writes report.md, report.html and report.tex; returns lines about them."""
    from ..reporting import article, page, parts

    path = report.folder / "report.md"
    title = compose.lab_title(report.lab)
    made = parts.make(report)
    try:
        # Read now: somebody may have written in it during the measurements.
        text = compose.compose(report.lab, title, made, compose.written_in(path, report.lab))
    except (Problem, Usage):
        note("the measurements are kept: repair report.md and run the same command again")
        raise
    if all_questions:
        text = compose.with_all_questions(text, report.lab)
    files.write_whole(path, text)
    tables = parts.appendix(report)
    files.write_whole(report.folder / "appendix.md", tables)
    remarks: list[str] = []
    whole = f"{compose.marked(text, report.lab)}\n{tables}"
    html = page.to_page(whole, f"Report: {title}", report.folder, remarks)
    html_path = place.write_signed(report.folder / "report.html", html, "<!-- made of report.md: {} -->", remarks)
    tex, letters = article.to_article(whole, f"Report: {title}", report.folder)
    tex_path = place.write_signed(report.folder / "report.tex", tex, "% made of report.md: {}", remarks)
    lines = [
        f"{shown(path)}: write in this file, then run the same command again to update the other two",
        f"{shown(html_path)}: a single file for any browser",
        f"{shown(tex_path)}: run {'lualatex' if letters else 'pdflatex'} {tex_path.name} in that folder",
    ]
    if letters:
        some = " ".join(letters[:12]) + " ..." * (len(letters) > 12)
        lines.append(
            f'{tex_path.name}: pdflatex has no glyphs for {some} and prints "?"; lualatex prints them if a font '
            "has them (on Debian: texlive-luatex, fonts-dejavu)"
        )
    empty = compose.summary(compose.answers(text, report.lab))
    lines += [f"{empty} (./workbook report {report.lab} counts again)"] if empty else []
    more = compose.missing(text, report.lab)
    lines += [f"the handout has {more} more question{'s' * (more != 1)}: --all-questions asks them"] if more else []
    if not report.plots:
        lines.append("no plots: matplotlib is not installed (./workbook doctor)")
    return lines + remarks


def write_predictions(lab: str, folder: Path) -> int:
    """Writes the sheet of predictions."""
    from ..reporting import page

    text = compose.sheet_of_predictions(lab)
    path = folder / "predictions.html"
    files.write_whole(path, page.to_sheet(text, text.partition("\n")[0].lstrip("# ")))
    print(f"{shown(path)}: print it from a browser, and write on it before you measure")
    return 0


def main(arguments: argparse.Namespace) -> int:
    """A folder with the report."""
    started = time.monotonic()
    lab = find_lab(arguments.lab)
    folder = Path(arguments.out) if arguments.out else place.report_folder(lab, arguments.solution)
    place.prepare(folder)
    if arguments.predictions:
        return write_predictions(lab, folder)
    # Problems with files of the student's are reported before the measurements, which take minutes.
    compose.written_in(folder / "report.md", lab)
    if arguments.others:
        other_machines(lab, arguments.others, [])
    kind, runner = prepare(arguments, lab, lambda kind: [build.gold(kind)])
    try:
        with JudgeClient() as judge:
            report = measured(judge, judge.lab(lab), kind, runner, arguments, folder)
    except KeyboardInterrupt as stop:
        note("interrupted; the measurements are kept, and the same command continues from there")
        return getattr(stop, "status", 130)
    report.others = other_machines(lab, arguments.others, report.rows)
    report.labs = other_labs(lab, arguments.solution, report.rows)
    note("making tables and plots ...")
    for line in write(report, arguments.all_questions):
        print(line)
    own = [row for row in row_files.whole(report.rows) if row.lab == lab and row.status == "verified"]
    print(f"{len(own)} measurement{'s' * (len(own) != 1)} verified, {time.monotonic() - started:.0f} s")
    failed, _ = failures(report.rows, lab)
    for line in bench_tables.failed_lines(failed):
        print(line)
    return 0 if own and not failed else 1
