"""The page that compares compute-sanitizer with the check build, from the table that sanitizer.py writes."""

from __future__ import annotations

import collections
from collections.abc import Collection, Mapping, Sequence

from tool_output import TOOLS

Row = dict[str, str]  # one fault, by column of the table

# Faults that tools like these are known to miss, with the cases here that contain them.
_COMMONLY_MISSED: list[tuple[str, Mapping[str, Collection[int]]]] = [
    ("a race between blocks on global memory", {"race_global.cu": (2, 3, *range(5, 14))}),
    ("out of bounds, into the next `__shared__` array", {"bounds_shared.cu": (1, 2, 3, 9, 15)}),
    (
        "shared memory that was never initialized",
        {"uninitialized.cu": (1, 2, 3, 4, 5, 12, 14), "bounds_global.cu": (7,)},
    ),
    ("a warp primitive with lanes missing", {"warp.cu": (4, 5)}),
]


def _outcome(row: Row) -> str:
    """The best verdict of the four tools; "not run" if a missing run could still be better."""
    verdicts = [row[tool] for tool in TOOLS]
    return next(verdict for verdict in ("line", "not run", "kind", "no") if verdict in verdicts)


def _was_run(row: Row) -> bool:
    return _outcome(row) != "not run"


def _percent(count: int, total: int) -> str:
    return f"{count} ({100 * count / total:.0f} %)" if total else ""


def summary(rows: Sequence[Row]) -> str:
    """A table of the outcomes, by kind of fault."""
    head = ["kind", "faults", "run", "kind and line", "kind only", "not at all", "hung", "`cc --check`"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for kind in [*sorted({row["fault"] for row in rows}), "all"]:
        of_kind = [row for row in rows if kind in (row["fault"], "all")]
        run = [row for row in of_kind if _was_run(row)]
        outcomes = collections.Counter(_outcome(row) for row in run)
        checked = [row["check_build"] for row in of_kind if row["check_build"]]
        cells = [
            kind,
            str(len(of_kind)),
            str(len(run)),
            *(_percent(outcomes[verdict], len(run)) for verdict in ("line", "kind", "no")),
            str(sum(bool(row["hung"]) for row in run)) if run else "",
            f"{checked.count('line')} of {len(checked)}" if checked else "",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _by_tool(rows: Sequence[Row]) -> str:
    """How each tool reported these faults, in words."""
    words = {"line": "named with its line", "kind": "named", "no": "silent", "hung": "hung"}
    texts = []
    for tool in TOOLS:
        counts = collections.Counter("hung" if tool in row["hung"].split() else row[tool] for row in rows)
        texts.append(", ".join(f"{words[verdict]} for {counts[verdict]}" for verdict in words if counts[verdict]))
    if len(set(texts)) == 1:
        return f"all four tools: {texts[0]}"
    return "; ".join(f"{tool}: {text or 'not run'}" for tool, text in zip(TOOLS, texts))


def _introduction(rows: Sequence[Row], command: str, seconds: int) -> list[str]:
    runs = sum(row[tool] != "not run" for row in _cases(rows) for tool in TOOLS)
    planned = len(_cases(rows)) * len(TOOLS)
    hung = len({(row["file"], row["case"], tool) for row in rows for tool in row["hung"].split()})
    recorded = rows[0]
    lines = [
        "# The check build's faulty kernels under compute-sanitizer",
        "",
        f"{recorded['machine']}, {recorded['date']}, commit {recorded['commit']}. `{command}` writes this page.",
        "",
        "Each case of `tests/wrong/kernels/` ran by itself under memcheck, racecheck, initcheck and synccheck. "
        "A fault counts as named if one of the four tools named it. The line counts if it is in a frame on the device, "
        "or, for an invalid launch or another call of the CUDA runtime, on the host. A trap counts as the kind of a "
        f"store to constant memory, because nvcc makes one of it. Of {planned} runs, {runs} were made. {hung} of those "
        f"hung and were ended after {seconds} s. The output of a tool that was ended lacks the closing summary.",
    ]
    if runs < planned:
        files = sorted({row["file"] for row in rows if not _was_run(row)})
        lines.append(
            f"There was no time for the other {planned - runs}. Their faults count only in the column `faults`, and "
            "the percentages refer to the faults in the column `run`. These are not a random sample, because whole "
            f"files, or their last cases, are missing: {', '.join(files)}."
        )
    return lines


def _cases(rows: Sequence[Row]) -> list[Row]:
    """One row of each case: the faults of a case share their runs."""
    return list({(row["file"], row["case"]): row for row in rows}.values())


def _missed(row: Row) -> str:
    """A line of the list of faults that no tool named."""
    hung = row["hung"].split()
    notes = [f"hung under {'all' if len(hung) == len(TOOLS) else ' '.join(hung)}"] if hung else []
    notes += [row["other_reports"]] if row["other_reports"] else []
    lines = row["line"].replace(" ", ", ")
    return f"- {row['file']}:{lines}, {row['fault']}: " + "; ".join([f"`{row['code']}`", *notes])


def page(rows: Sequence[Row], command: str, seconds: int, newer: int, refused: int) -> str:
    """The page as Markdown.

    `command` makes the page, and `seconds` is the time limit of a run. `newer` counts the faults that are not in the
    table, `refused` those that are in none because nvcc refuses them.
    """
    lines = _introduction(rows, command, seconds)
    lines += [
        "",
        f"The {refused} faults in `refused_by_nvcc.cu` are not in the table, because nvcc does not compile them.",
    ]
    if newer > 0:
        lines += ["", f"{newer} faults in `tests/wrong/kernels/` are newer than these runs."]
    lines += [
        "",
        summary(rows),
        "",
        "`cc --check` must name kind and line in each of three orders of threads, which "
        "`tests/wrong/kernels/check_test.py` tests. The kernels were written for that test, which favours the check "
        "build. Moreover, the first invalid access on a GPU ends a kernel, so that a second fault after it never "
        "happens.",
        "",
        "## Four kinds that such tools miss",
        "",
    ]
    for name, cases in _COMMONLY_MISSED:
        listed = [row for row in rows if int(row["case"]) in cases.get(row["file"], ())]
        run = [row for row in listed if _was_run(row)]
        files = ", ".join(f"`{file}`" for file in cases)
        result = _by_tool(run) if run else "not run, so not known"
        lines.append(f"- {name[0].upper()}{name[1:]} ({files}; {len(listed)} faults, {len(run)} run): {result}.")
    lines += ["", "## What all four tools missed", "", "Line numbers are those of the commit above.", ""]
    lines += [_missed(row) for row in rows if _outcome(row) == "no"]
    return "\n".join(lines) + "\n"
