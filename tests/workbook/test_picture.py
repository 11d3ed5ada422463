"""Access pictures: what is read from a trace, what is drawn of real runs, and what is refused."""

import io
import os
import re
import stat
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from workbook import cli
from workbook.core import build
from workbook.pictures import access_picture, trace
from workbook.verbs import picture
from workbook.core.course import BUILD, Step

HERE = Path(os.environ.get("WORKBOOK_TEST_BUILD", BUILD))
SVG = "{http://www.w3.org/2000/svg}"


def mirrored_comparators(n):
    """The comparators of step 2's network, stage by stage: (lower place, higher place)."""
    stages, run = [], 2
    while run // 2 < n:
        stages.append({(i, i ^ (run - 1)) for i in range(n) if i < i ^ (run - 1) < n})
        stride = run // 4
        while stride:
            stages.append({(i, i + stride) for i in range(n) if not i & stride and i + stride < n})
            stride //= 2
        run *= 2
    return stages


def groups(svg, kind):
    """The hover texts of the groups of this class."""
    root = ElementTree.fromstring(svg)
    return [group.find(f"{SVG}title").text for group in root.iter(f"{SVG}g") if group.get("class") == kind]


def places(hover):
    """(reads, writes) that a hover text tells of."""
    return tuple({int(place) for place in re.findall(rf"{word} (\d+):", hover)} for word in ("reads", "writes"))


def drawn(lab, step, *options, n=16, **choices):
    """A run of the solution, drawn."""
    runner = HERE / "solutions" / f"{lab}-check"
    judge = HERE / "labs/judge"
    if not runner.is_file() or not judge.is_file():
        raise unittest.SkipTest("the solution's check build is not there")
    with mock.patch.object(build, "judge", lambda: judge):
        run, findings, said, right = picture.record(lab, step, runner, ["--n", str(n), "--seed", "1", *options])
    assert right, said
    return access_picture.draw(run, findings, said.splitlines()[0], n, **choices), run


class OfRealRuns(unittest.TestCase):
    def test_the_tile_sort_is_its_network(self):
        for n in (16, 13):
            svg, _ = drawn("03-bitonic", Step("03-bitonic", 2, "shared"), n=n)
            found = [tuple(sorted(places(hover)[0])) for hover in groups(svg, "exchange")]
            asked = [pair for stage in mirrored_comparators(n) for pair in stage]
            self.assertEqual(sorted(found), sorted(asked))
        self.assertEqual(sum(map(len, mirrored_comparators(16))), 80)

    def test_values_go_where_their_keys_go(self):
        svg, _ = drawn("03-bitonic", Step("03-bitonic", 2, "shared"), "--type", "pairs", "--order", "descending")
        self.assertEqual(len(groups(svg, "exchange")), 2 * 80)
        self.assertNotIn("#1f5fa8", svg)  # none points down

    def test_every_launch_is_a_stage(self):
        svg, run = drawn("03-bitonic", Step("03-bitonic", 1, "global"))
        self.assertEqual((len(run.launches), len(groups(svg, "exchange"))), (10, 80))

    def test_the_scan_is_its_tree(self):
        svg, _ = drawn("04-counting", Step("04-counting", 3, "parallel"), "--task", "scan")
        flows = [places(hover) for hover in groups(svg, "flow")]
        # Places below 16 only: node k of a level ends at `right` and adds its left child; on the way down both change.
        for half in (1, 2, 4, 8):
            for right in range(2 * half - 1, 16, 2 * half):
                self.assertEqual(flows.count(({right - half, right}, {right})), 1, (half, right))
                self.assertEqual(flows.count(({right - half, right}, {right - half, right})), 1, (half, right))
        self.assertEqual(groups(svg, "exchange"), [])

    def test_two_buffers_share_their_wires(self):
        svg, _ = drawn("04-counting", Step("04-counting", 2, "shared"), "--task", "scan")
        self.assertIn("places 0 to 15 and 1024 to 1039 take turns", svg)
        self.assertEqual(len(groups(svg, "flow")), 4 * 16)

    def test_places_and_arrays_are_chosen(self):
        step = Step("04-counting", 3, "parallel")
        svg, _ = drawn("04-counting", step, "--task", "scan", window=range(32, 40), which="all")
        self.assertIn(">39</text>", svg)
        self.assertIn("keys, in global memory", drawn("04-counting", step, "--task", "scan", which="global")[0])


TRACE = """\
launch\tns::turn<int>\t1,1,1\t64,1,1
block\t0
array\t0\tshared\ttile\t0\t256
access\t0\t0\ta\tstore\t0\t4\t5
access\t0\t1\tb\tload\t0\t4\t5
race\t0\t0\ta
conflict\tb\t4\tload\t0\t0\t2\t1
barrier
access\t0\t0\tc\tload\t0\t4\t5
access\t0\t0\td\tload\t4\t4\t3
access\t0\t0\te\tstore\t0\t4\t3
access\t0\t0\tf\tstore\t4\t4\t5
cut
code\ta\tlabs/x/01_y.cu:7
acce"""


class OfTraces(unittest.TestCase):
    def test_reading(self):
        run = trace.read(TRACE)
        self.assertEqual((len(run.launches), len(run.accesses), run.cut), (1, 6, True))
        self.assertEqual([a.races for a in run.accesses], [True, True] + [False] * 4)
        self.assertEqual(run.accesses[1].conflict, (2, 1))
        self.assertEqual([a.interval for a in run.accesses], [0, 0, 1, 1, 1, 1])
        self.assertEqual(run.lines, {"a": "labs/x/01_y.cu:7"})

    def test_an_exchange_points_to_the_larger_key(self):
        run = trace.read(TRACE)
        finding = {"file": "labs/x/01_y.cu", "line": 7, "kind": "race", "text": "a < b", "times": 1}
        svg = access_picture.draw(run, [finding], "x: 2 u32 keys", 2)
        self.assertEqual(len(groups(svg, "exchange")), 1)
        self.assertIn("swapped", groups(svg, "exchange")[0])
        self.assertIn("01_y.cu:7: race: a &lt; b", svg)
        self.assertIn(">race<", svg)
        self.assertIn(">bank conflict<", svg)
        self.assertIn("cut off", svg)

    def test_a_loop_begins_anew(self):
        run = trace.read(TRACE)
        self.assertEqual([len(group) for group in trace.groups(run.accesses)], [1, 1, 4])

    def test_keys_compare_as_their_type(self):
        self.assertLess(trace.key_of(0xFFFFFFFF, 4, "i32"), 0)
        self.assertEqual(trace.key_of(0x3FC00000, 4, "f32"), 1.5)
        self.assertEqual(trace.key_of(0xFFFFFFFF, 4, "u32"), 0xFFFFFFFF)


class Refused(unittest.TestCase):
    def refused(self, *words):
        told = io.StringIO()
        with (
            redirect_stderr(told),
            redirect_stdout(told),
            mock.patch.object(build, "ensure"),
            mock.patch.object(build, "compile_targets"),
            mock.patch.object(build, "kinds", lambda: ["cpu"]),
        ):
            status = cli.main(["picture", *words])
        self.assertEqual(len(told.getvalue().splitlines()), 1, told.getvalue())
        self.assertEqual(status, 2)
        return told.getvalue()

    def test_before_anything_runs(self):
        self.assertIn("at most 64", self.refused("3", "2", "--n", "65"))
        self.assertIn("at most 64", self.refused("3", "2", "--n", "2^20"))
        self.assertIn("no count", self.refused("3", "2", "--n", "many"))
        self.assertIn("has no step '9'", self.refused("3", "9"))
        self.assertIn("no range", self.refused("3", "2", "--places", "9-3"))
        self.assertIn("there is no directory", self.refused("3", "2", "-o", "/nowhere/at/all.svg"))
        self.assertIn("cannot be written", self.refused("3", "2", "-o", "/proc/x.svg"))
        self.assertIn("is a directory", self.refused("3", "2", "-o", "/tmp"))

    def judged(self, script):
        """What is told where the judge is this shell script."""
        with tempfile.TemporaryDirectory() as folder:
            judge = Path(folder) / "judge"
            judge.write_text("#!/bin/sh\n" + script)
            judge.chmod(judge.stat().st_mode | stat.S_IXUSR)
            with mock.patch.object(build, "judge", lambda: judge):
                told = self.refused("3", "2", "-o", f"{folder}/x.svg")
            self.assertFalse((Path(folder) / "x.svg").exists())
            return told

    def test_a_step_that_is_not_written(self):
        line = "labs/03-bitonic/02_shared.cu:86: step 02 is not written yet"
        told = self.judged(f"echo title >&2; echo 'not-written: {line}' >&2; exit 1\n")
        self.assertEqual(told, f"error: {line}\n")

    def test_what_the_judge_refuses(self):
        told = self.judged("echo error: no key type is called u3 >&2; exit 2\n")
        self.assertEqual(told, "error: no key type is called u3\n")

    def test_a_run_without_a_kernel(self):
        self.assertIn("nothing to draw", self.judged("echo title >&2\n"))


if __name__ == "__main__":
    unittest.main()
