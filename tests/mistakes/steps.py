#!/usr/bin/env python3
"""Makes beginners' mistakes in the solutions: `check` must find them, and the search must name their place.

    steps.py BUILD [NAME ...]      BUILD is Meson's build folder, with the solutions' runners

Each mistake changes a few words of a solution. The step is then checked as `./workbook check LAB STEP --solution` does
it. Without names, some are drawn (drawn.py). Prints the seconds from the start of the check to the verdict, which are
not part of the test.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests")]

import lab_01  # noqa: E402
import lab_02  # noqa: E402
import lab_03  # noqa: E402
import lab_04  # noqa: E402
import lab_05  # noqa: E402
import lab_06  # noqa: E402
from drawn import drawn  # noqa: E402
from mistake import Mistake, named  # noqa: E402

from workbook.check import explaining, narrowing  # noqa: E402
from workbook.check.checking import Checker  # noqa: E402
from workbook.check.programs import Programs  # noqa: E402
from workbook.check.words import Words  # noqa: E402
from workbook.core import build, diagnostics, files  # noqa: E402
from workbook.core.course import find_step  # noqa: E402
from workbook.core.judge_client import JudgeClient  # noqa: E402
from workbook.core.judge_types import Note  # noqa: E402
from workbook.core.recipe import Recipe  # noqa: E402
from workbook.diagnose import search  # noqa: E402

LABS = (lab_01, lab_02, lab_03, lab_04, lab_05, lab_06)
MISTAKES: Sequence[Mistake] = tuple(item for lab in LABS for item in lab.MISTAKES)
# The search goes on up to the first telling change, however long that takes here.
PATIENT: Mapping[str, object] = {"SECONDS": 600.0, "ENOUGH_SECONDS": 0.0, "CASE_SECONDS": (1.0, 4.0)}
VERDICT = re.compile("FAILED|OVER|ok ")
# Compiles faster than with the solutions' options, and warns as narrowing.Scan does.
OPTIONS = {"cpu": ["-O0", "-Wconversion", "-Wno-sign-conversion", "-Wno-error"], "check": ["-Wno-error"]}


class Scan:
    """What narrowing.Scan finds, without another run of the compiler."""

    def __init__(self, file: str, source: str, warnings: str) -> None:
        self.file, self.source, self.warnings = file, source, warnings

    def notes(self) -> list[Note]:
        """The notes."""
        return [*narrowing.conversions(self.warnings, self.file), *narrowing.products(self.source, self.file)]

    def cancel(self) -> None:
        """Nothing runs."""


def plain(output: str, folder: str) -> str:
    """What a compiler printed, without colours and without the temporary folder."""
    output = re.sub(r"\033\[[\d;]*[mK]", "", output)
    return re.sub(rf"[^\s:]*{Path(folder).name}/(cpu|check)/", "", output)


def make_runners(
    folder: Path, item: Mistake, into: Path, kinds: Sequence[str] = ("cpu", "check")
) -> tuple[dict[str, Path], Scan]:
    """The runners with the mistake, and the search for narrow places in it. CalledProcessError: it does not compile."""
    for kind in kinds:
        (into / kind).mkdir()

    def make(kind: str) -> tuple[Path, str]:
        recipe = Recipe.of(folder, item.lab, item.file, kind)
        warnings = recipe.compiled(item.source, into / kind, OPTIONS[kind])
        return recipe.make_runner(into / kind / "changed.o", [], into / kind / "runner"), warnings

    with ThreadPoolExecutor(len(kinds)) as pool:
        made = dict(zip(kinds, pool.map(make, kinds)))
    return {kind: runner for kind, (runner, _) in made.items()}, Scan(item.file, item.source, made[kinds[0]][1])


def verdict(folder: Path, item: Mistake, limits: Mapping[str, object] = PATIENT) -> tuple[str, float]:
    """What `check` prints about a mistake, and the seconds that it took once everything was compiled. `limits`: of the
    search for a small change."""
    # In the build folder, where a runner finds the source that a line is of, as it does in a lab.
    with tempfile.TemporaryDirectory(dir=folder) as temporary, contextlib.redirect_stdout(io.StringIO()) as printed:
        start = time.monotonic()
        try:
            runners, scan = make_runners(folder, item, Path(temporary))
        except subprocess.CalledProcessError as error:
            return diagnostics.summary(plain(error.stdout + error.stderr, temporary)), time.monotonic() - start
        scan.warnings = plain(scan.warnings, temporary)
        with (
            mock.patch.object(build, "runner", lambda _lab, kind, _solution=False: runners[kind]),
            mock.patch.object(narrowing, "Scan", lambda *_: scan),
            mock.patch.object(files, "text_of", lambda _: item.source),
            mock.patch.object(build, "object_of", lambda *_: None),
            contextlib.ExitStack() as stack,
            JudgeClient() as judge,
        ):
            if item.is_searched:
                for limit, seconds in limits.items():
                    stack.enter_context(mock.patch.object(search, limit, seconds))
            else:
                without = mock.patch.object(explaining, "mutant_search", lambda *_: contextlib.nullcontext())
                stack.enter_context(without)
            start = time.monotonic()
            programs = Programs(judge, item.lab, ["cpu"], solution=True)
            checker = Checker(programs, Words(["cpu"], solution=True, shows_all=True))
            step = find_step(item.lab, item.step or int(item.file[:2]))
            if item.alone:
                with mock.patch.object(checker, "tested", return_value=True):
                    checker.passes(step)
            else:
                checker.passes(step)
            seconds = time.monotonic() - start
    return printed.getvalue(), seconds


def chosen(names: Sequence[str]) -> list[Mistake]:
    """The mistakes that the arguments name."""
    shown = [item for item in MISTAKES if build.compiler() == "gcc" or not item.needs_gcc]
    return [item for item in shown if item.name in names] if names else drawn(shown, 8)


def not_underlined(expected: Sequence[str], printed: str) -> str:
    """The first place that the tasks of ./workbook editor would not find in what is printed; "" if there is none."""
    tasks = json.loads((ROOT / "common/workbook/editor/tasks.json").read_text(encoding="utf-8"))["tasks"]
    (check,) = (task for task in tasks if task["args"][0] == "check")
    matcher = re.compile(check["problemMatcher"][0]["pattern"]["regexp"])
    found = {f"{Path(match[1]).name}:{match[2]}" for match in map(matcher.match, printed.splitlines()) if match}
    places = [text.partition(": error:")[0] for text in expected if text.find(": error:") > 0]
    return next((f"{place}, underlined" for place in places if place not in found), "")


def main(folder: str, *names: str) -> int:
    """Makes the mistakes; the exit status."""
    build.use_folder(Path(folder).resolve())
    os.chdir(ROOT)
    wrong = 0
    items = chosen(names)
    for item in items:
        printed, seconds = verdict(Path(folder).resolve(), item)
        expected = item.expected()
        if build.compiler() == "clang" and not VERDICT.match(printed):
            # Its errors are shown in its own words, and where g++ names the line after, it names the line itself.
            near = named(printed.splitlines()[:1], item.file, item.changed)
            expected = ["error: "] if near else [re.sub(r"(: error: ).*", r"\1", expected[0])]
        text = item.missing(printed, expected) or not_underlined(expected, printed)
        wrong += bool(text)
        result = f"not shown: {text}\n{printed}" if text else "found"
        print(f"{item.lab}, {item.name}: {seconds:.1f} s: {result}", flush=True)
    print(f"as expected: the verdicts on {len(items) - wrong} of {len(items)} beginners' steps")
    return 1 if wrong or not items else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
