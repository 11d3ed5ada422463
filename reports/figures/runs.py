"""The access pictures of the handouts: recorded runs of the solutions, drawn as ./workbook picture draws them."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "common"))

from workbook.core import build  # noqa: E402
from workbook.pictures import access_picture, trace  # noqa: E402
from workbook.verbs import picture  # noqa: E402
from workbook.core.course import find_step  # noqa: E402

# figure -> lab, step, options of the judge
RUNS = {
    "run-tile": ("03-bitonic", 2, ["--n", "16", "--seed", "1"]),
    "run-scan": ("04-counting", 2, ["--n", "16", "--seed", "1", "--task", "scan"]),
}


def _renumbered(text):
    """The trace with small numbers for code addresses, which are others in every build."""
    lines = [line.split("\t") for line in text.splitlines()]
    codes = {}
    for fields in lines:
        if fields[0] == "access":
            fields[3] = codes.setdefault(fields[3], f"c{len(codes)}")
    for fields in lines:
        if fields[0] == "code":
            fields[1] = codes.get(fields[1], fields[1])
            fields[2] = fields[2].rpartition("solutions/")[2].rpartition("labs/")[2]
    return "".join("\t".join(fields) + "\n" for fields in lines)


def record():
    """Writes runs/NAME.trace: the judge's line about the run, then its trace. Problem: the check build says no."""
    for name, (lab, number, options) in RUNS.items():
        runner = build.runner(lab, "check", solution=True)
        build.compile_targets([build.judge(), runner], f"building {lab}, observed")
        run, findings, said, right = picture.record(lab, find_step(lab, str(number)), runner, options)
        if findings or not right:
            sys.exit(f"{name}: {said} {findings}")
        (HERE / "runs").mkdir(exist_ok=True)
        (HERE / "runs" / f"{name}.trace").write_text(f"title\t{said.splitlines()[0]}\n{_renumbered(run.text)}")


def figures(lab):
    """The SVG texts of a lab, by the names of their files."""
    drawn = {}
    for name, (of_lab, _, options) in RUNS.items():
        if of_lab == lab:
            text = (HERE / "runs" / f"{name}.trace").read_text()
            title = text.partition("\n")[0].partition("\t")[2]
            n = int(options[options.index("--n") + 1])
            drawn[f"{name}.svg"] = access_picture.draw(trace.read(text), [], title, n)
    return drawn
