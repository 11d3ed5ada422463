"""Access pictures: reading traces, drawing real runs, and refusing what cannot be drawn."""

import functools
import json
import os
import re
import stat
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import fake_judge
import traces
from in_folder import run_cli
from svg_faults import faults_of

from workbook.core import build
from workbook.core.console import Problem
from workbook.core.course import BUILD
from workbook.core.judge_client import JudgeClient
from workbook.core.judge_types import Case, Finding
from workbook.pictures import access_picture, trace
from workbook.pictures.accesses import lay_wires, panels_of
from workbook.pictures.marks import fill
from workbook.pictures.recorded import draw_run, observe, pictured
from workbook.pictures.theme import BLUE, OTHER_WARP, RED, WARPS
from workbook.reporting import gather
from workbook.verbs import picture

HERE = Path(os.environ.get("WORKBOOK_TEST_BUILD", BUILD))
SVG = "{http://www.w3.org/2000/svg}"


def mirrored_comparators(n: int) -> list[set[tuple[int, int]]]:
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


def groups(svg: str, kind: str) -> list[str]:
    """The hover texts of the groups of this class."""
    root = ElementTree.fromstring(svg)
    return [group.findtext(f"{SVG}title", "") for group in root.iter(f"{SVG}g") if group.get("class") == kind]


def places(hover: str) -> tuple[set[int], set[int]]:
    """The places that a hover text says are read and written."""
    reads, writes = ({int(place) for place in re.findall(rf"{word} (\d+):", hover)} for word in ("reads", "writes"))
    return reads, writes


def programs(lab: str) -> tuple[Path, Path]:
    """The judge, and the check build of a lab's solution. Skips the test where they are missing, as in the release."""
    judge, runner = HERE / "labs/judge", HERE / "labs" / f"{lab}-check-solution"
    for path in (judge, runner):
        if not path.is_file():
            raise unittest.SkipTest(f"{path.name} is missing")
    return judge, runner


def drawn(case: Case, **choices: Any) -> tuple[str, trace.Trace]:
    """A run of the solution, drawn."""
    program, runner = programs(case.lab)
    with JudgeClient(program) as judge:
        run, outcome = observe(judge, runner, case, launches=choices.get("launches"))
    assert outcome.passed, outcome.message
    svg = access_picture.draw(run, outcome.findings, outcome.title, case.n, outcome.case.type or "", **choices)
    assert not faults_of(svg), faults_of(svg)
    return svg, run


def bitonic(step: int, n: int = 16, **values: Any) -> Case:
    """A case of lab 03."""
    return Case("03-bitonic", step, n, seed=1, **values)


def scan(step: int) -> Case:
    """A case of the scans of lab 04."""
    return Case("04-counting", step, 16, task="scan", seed=1)


class OfRealRuns(unittest.TestCase):
    """Runs of the solutions."""

    def test_an_exchange_is_one_phase(self) -> None:
        svg, _ = drawn(Case("01-odd-even", 0, 9, task="exchange", seed=5))
        compared = [tuple(sorted(places(hover)[0])) for hover in groups(svg, "exchange")]
        self.assertEqual(sorted(compared), [(0, 1), (2, 3), (4, 5), (6, 7)])

    def test_the_tile_sort_is_its_network(self) -> None:
        for n in (16, 13):
            svg, _ = drawn(bitonic(2, n))
            compared = [tuple(sorted(places(hover)[0])) for hover in groups(svg, "exchange")]
            expected = [pair for stage in mirrored_comparators(n) for pair in stage]
            self.assertEqual(sorted(compared), sorted(expected))
        self.assertEqual(sum(map(len, mirrored_comparators(16))), 80)

    def test_values_go_where_their_keys_go(self) -> None:
        svg, _ = drawn(bitonic(2, type="pairs", order="descending"))
        self.assertEqual(len(groups(svg, "exchange")), 2 * 80)
        self.assertNotIn(BLUE, svg)  # none points down

    def test_every_launch_is_a_stage(self) -> None:
        svg, run = drawn(bitonic(1))
        self.assertEqual((len(run.launches), len(groups(svg, "exchange"))), (10, 80))

    def test_the_scan_is_its_tree(self) -> None:
        svg, _ = drawn(scan(3))
        flows = [places(hover) for hover in groups(svg, "flow")]
        # Places below 16 only: node k of a level ends at `right` and adds its left child; on the way down both change.
        for half in (1, 2, 4, 8):
            for right in range(2 * half - 1, 16, 2 * half):
                self.assertEqual(flows.count(({right - half, right}, {right})), 1, (half, right))
                self.assertEqual(flows.count(({right - half, right}, {right - half, right})), 1, (half, right))
        self.assertEqual(groups(svg, "exchange"), [])

    def test_every_line_has_a_picture_of_its_idea(self) -> None:
        program, _ = programs("01-odd-even")
        with JudgeClient(program) as judge:
            for lab in judge.labs():
                _, runner = programs(lab.name)
                for line in lab.steps:
                    if lab.name == "05-radix" and line.number == 0:  # without a kernel
                        continue
                    if line.memory == "host" and not line.picture.is_in_report:  # drawn as a timeline
                        continue
                    case = pictured(lab.usual_case(line, line.picture.n), line.picture)
                    svg, run, outcome = draw_run(judge, runner, case, line.picture)
                    name = f"{lab.name} {line.name}"
                    self.assertTrue(outcome.passed and not outcome.findings, f"{name}: {outcome.message}")
                    self.assertEqual(faults_of(svg), [], name)
                    self.assertFalse(run.truncated, name)
                    arrays = {access.array.name for access in run.accesses}  # without a name, a line of the solution
                    self.assertEqual([each for each in arrays if re.match(r"allocation|.*common/", each)], [], name)
                    if line.picture.is_in_report:
                        self.assertLess(float(re.search(r' width="([\d.]+)', svg)[1]), gather.WIDEST, name)  # type: ignore[index]
                        self.assertTrue(any(access.interval > 0 for access in run.accesses), name)
                self.assertEqual(sum(line.picture.is_in_report for line in lab.steps), 1, lab.name)

    def test_stages_between_tiles(self) -> None:
        program, runner = programs("03-bitonic")
        with JudgeClient(program) as judge:
            line = judge.lab("03-bitonic").own_line(3)
            case = pictured(bitonic(3), line.picture)
            svg, _, _ = draw_run(judge, runner, case, line.picture)
        compared = {tuple(sorted(places(hover)[0])) for hover in groups(svg, "exchange")}
        mirrored = {(i, 4095 - i) for i in (*range(4), *range(1024, 1028))}
        strided = {(i, i + 1024) for i in (*range(4), *range(3068, 3072))}
        self.assertEqual(compared, mirrored | strided)

    def test_two_buffers_share_their_wires(self) -> None:
        svg, _ = drawn(scan(2))
        self.assertIn("places 0 to 15 and 1024 to 1039 take turns", svg)
        self.assertEqual(len(groups(svg, "flow")), 4 * 16)

    def test_places_and_arrays_are_chosen(self) -> None:
        svg, _ = drawn(scan(3), window=range(32, 40), which="all")
        self.assertIn(">39</text>", svg)
        self.assertIn("values, in global memory", drawn(scan(3), which="global")[0])

    def test_a_histogram_shows_its_counts(self) -> None:
        svg, run = drawn(Case("04-counting", 1, 16, input="range:0:15", seed=1), which="global")
        keys = [access.value for access in run.accesses if access.launch == 0 and access.way == "load"]
        shown = re.findall(r'font-size="10.5" fill="#24292f" text-anchor="start"[^>]*>(\d+)</text>', svg)
        self.assertEqual(sorted(map(int, shown)), sorted(Counter(keys).values()))

    def test_a_serial_scan_passes_its_sum_on(self) -> None:
        _, run = drawn(Case("04-counting", 1, 16, input="range:0:15", seed=1))
        accesses = [access for access in run.accesses if access.launch == 1]
        (panel,), _ = panels_of(run, accesses, None)
        lay_wires(panel, 16, None)
        fill(accesses, [panel], "u8")
        array = next(iter(panel.arrays))
        for mark in (m for own in panel.marks.values() for m in own):
            (place,) = mark.writes
            before = (array, place[1] - 1)
            self.assertEqual([edge[0] for edge in mark.edges], [before] * (place[1] > 0), place)
            self.assertEqual(mark.carry, before if place[1] else None)

    def test_a_reduction_draws_both_inputs(self) -> None:
        case = Case("04-counting", 4, 16, task="reduce", seed=1)
        _, run = drawn(case)
        for name in ("smallest", "largest"):
            accesses = [access for access in run.accesses if access.array.name == name]
            (panel,), _ = panels_of(run, accesses, "all")
            lay_wires(panel, 16, None)
            fill(accesses, [panel], "")
            edges = {(edge[0][1], edge[2][1]) for own in panel.marks.values() for m in own for edge in m.edges}
            for half in (1, 2, 4, 8):
                self.assertLessEqual({(i, i) for i in range(half)} | {(i + half, i) for i in range(half)}, edges)

    def test_a_split_keeps_the_order_of_each_side(self) -> None:
        # Launches that only read one of the buffers do not keep them from sharing their wires.
        case = Case("05-radix", 2, 16, input="range:0:15", seed=1)
        svg, run = drawn(case, launches=range(6), which="global")
        self.assertRegex(svg, r"keys and the array allocated at 02_split.cu:\d+ take turns")
        self.assertEqual(len(groups(svg, "flow")), 2 * 16)
        alike = re.findall(r"the array allocated at 02_split.cu:(\d+) \(allocation \d+\)", svg)
        self.assertEqual(len(set(alike)), 1)  # one line has allocated several

    def test_a_window_into_a_larger_run(self) -> None:
        # The tile's two buffers take turns, and the window shows both.
        svg, run = drawn(Case("02-merge", 2, 2100, seed=1), launches=range(1), window=range(16))
        self.assertIn("places 0 to 2047 and 2048 to 4095 take turns", svg)
        self.assertIn("16 of 2048 touched places", svg)
        self.assertEqual(len(run.launches), 2)
        self.assertEqual({access.launch for access in run.accesses}, {0})
        # A merge of two tiles: the halves of its array take turns, although it does not touch all of the second.
        svg, _ = drawn(Case("02-merge", 2, 4096, seed=1), launches=range(1, 2), window=range(16))
        self.assertIn("places 0 to 2047 and 2048 to 4095 take turns", svg)
        self.assertTrue(groups(svg, "flow"))
        # Between the tiles, in global memory.
        svg, _ = drawn(Case("02-merge", 1, 4100, seed=1), launches=range(11, 13), window=range(4090, 4100))
        self.assertIn("take turns: one wire for both", svg)
        self.assertIn("launches 11 to 12 of 13", svg)
        self.assertEqual(
            {(reads | writes) >= {4095} for reads, writes in map(places, groups(svg, "flow"))}, {True, False}
        )


BEGIN = traces.text(traces.launch("ns::turn<int>"), {"block": 0}, traces.array(0, "shared", "tile", 256))
RACING = traces.text(traces.store(0, 0, 1, 0, 5), traces.load(0, 1, 2, 0, 5))
RACE = traces.text({"race": [1, 2, 0, 0, 1]})
REST = traces.text(
    {"conflict": [2, 4, "load", 0, 0, 2, 1]},
    {"barrier": "labs/x/01_y.cu:8"},
    traces.load(0, 0, 3, 0, 5),
    traces.load(0, 0, 4, 4, 3),
    traces.store(0, 0, 5, 0, 3),
    traces.store(0, 0, 6, 4, 5),
    {"cut": 6},
    traces.line(1, "labs/x/01_y.cu:7"),
)
TRACE = BEGIN + RACING + RACE + REST + '{"acce'


class OfTraces(unittest.TestCase):
    """A small trace, written by hand."""

    def test_reading(self) -> None:
        run = trace.read(TRACE)
        self.assertEqual((len(run.launches), len(run.accesses), run.truncated), (1, 6, True))
        self.assertEqual([a.races for a in run.accesses], [True, True] + [False] * 4)
        self.assertEqual(run.accesses[1].conflict, (2, 1))
        self.assertEqual([a.interval for a in run.accesses], [0, 0, 1, 1, 1, 1])
        self.assertEqual(run.lines, {1: "labs/x/01_y.cu:7"})

    def test_an_incomplete_last_line_is_ignored_and_a_damaged_one_named(self) -> None:
        whole = TRACE.removesuffix('{"acce')
        for line in (
            '{"array":{"id":9',
            '{"access":[0,0,1,"load",0,4,"xyz"]}',
            '{"launch":"k"}',
            '{"block":"1"}',
            '{"access":[0,0,1,"load",0,99,"1"]}',
            '{"access":[0,0,1,"load",0,4,"123456789"]}',
            "[]",
            "7",
        ):
            self.assertEqual(len(trace.read(whole + line).accesses), 6)
            with self.assertRaisesRegex(Problem, "the trace of the run is damaged"):
                trace.read(f"{whole}{line}\n")

    def test_an_exchange_points_to_the_larger_key(self) -> None:
        run = trace.read(TRACE)
        finding = Finding("labs/x/01_y.cu", 7, "race", "a < b")
        svg = access_picture.draw(run, [finding], "x: 2 u32 keys", 2, "u32")
        self.assertEqual(len(groups(svg, "exchange")), 1)
        self.assertIn("swapped", groups(svg, "exchange")[0])
        self.assertIn("01_y.cu:7: race: a &lt; b", svg)
        self.assertIn(">race<", svg)
        self.assertIn(">bank conflict<", svg)
        self.assertIn("truncated", svg)

    def test_the_next_iteration_of_a_loop_is_a_new_group(self) -> None:
        run = trace.read(TRACE)
        self.assertEqual([len(group) for group in trace.groups(run.accesses)], [1, 1, 4])

    def test_a_wrong_access_is_drawn_on_top_and_in_red(self) -> None:
        text = BEGIN + RACING.replace("load", "store") + RACE
        text += traces.text(*(traces.load(0, thread, 2, 0, 5) for thread in range(2, 40)))
        text += traces.text({"access": [0, 0, 7, "store", 256, 4]}, {"fault": [0, 7]})
        run = trace.read(text)
        self.assertEqual([a.number for a in run.accesses if a.races], [0, 1])
        self.assertEqual([(a.number, a.outside) for a in run.accesses if a.faulty], [(40, True)])
        svg = access_picture.draw(run, [], "x: 2 u32 keys", 2, "u32")
        dots = re.findall(r'<circle[^>]*fill="([^"]+)" stroke="([^"]+)"', svg.partition(">read<")[0])
        self.assertEqual([stroke for _, stroke in dots[-7:]].count(RED), 6, dots)
        self.assertIn(">64</text>", svg)
        self.assertIn("block 0, thread 0\nwrites 0: 5; a race\nwrites 64; a fault", groups(svg, "dots"))
        self.assertIn(">fault<", svg)

    def test_a_race_marks_the_accesses_that_race(self) -> None:
        # The race is recorded after another access of its thread.
        text = BEGIN + RACING + traces.text(traces.load(0, 1, 3, 8, 5)) + RACE
        self.assertEqual([a.races for a in trace.read(text).accesses], [True, True, False])

    def test_warps_that_share_a_place_have_a_colour_of_their_own(self) -> None:
        places = ((0, 0), (32, 1), (0, 2), (32, 2), (200, 3))
        text = BEGIN + traces.text(*(traces.store(0, thread, 1, 4 * place, thread) for thread, place in places))
        svg = access_picture.draw(trace.read(text), [], "x", 4, "u32")
        colours = dict(re.findall(r'cy="([\d.]+)" r="3" fill="([^"]+)"', svg))
        drawn_in = [colours[y] for y in sorted(colours, key=float)][:4]
        self.assertEqual(drawn_in, [WARPS[0], WARPS[1], OTHER_WARP, OTHER_WARP])
        self.assertEqual(len({*WARPS, OTHER_WARP}), len(WARPS) + 1)
        self.assertIn(">another warp, or several<", svg)

    def test_keys_compare_as_their_type(self) -> None:
        self.assertLess(trace.key_of(0xFFFFFFFF, 4, "i32"), 0)
        self.assertEqual(trace.key_of(0x3FC00000, 4, "f32"), 1.5)
        self.assertEqual(trace.key_of(0xFFFFFFFF, 4, "u32"), 0xFFFFFFFF)


class Refused(unittest.TestCase):
    """What cannot be drawn."""

    def refused(self, *words: str) -> str:
        with mock.patch.multiple(build, ensure=mock.DEFAULT, compile_targets=mock.DEFAULT, kinds=lambda: ["cpu"]):
            status, printed = run_cli("picture", *words)
        self.assertEqual(len(printed.splitlines()), 1, printed)
        self.assertEqual(status, 2)
        return printed

    def test_before_anything_runs(self) -> None:
        self.assertIn("at most 64", self.refused("3", "2", "--places", "0-64"))
        self.assertIn("at most 64", self.refused("3", "2", "--places", "0-39,100-124"))
        self.assertIn("--places 4-5-6 is not a range", self.refused("3", "2", "--places", "1-2,4-5-6"))
        self.assertIn("--n many is not a whole number", self.refused("3", "2", "--n", "many"))
        self.assertIn("has no step '9'", self.refused("3", "9"))
        self.assertIn("not a range", self.refused("3", "2", "--places", "9-3"))
        self.assertIn("no such directory", self.refused("3", "2", "-o", "/nowhere/at/all.svg"))
        self.assertIn("cannot be written", self.refused("3", "2", "-o", "/proc/x.svg"))
        self.assertIn("is a directory", self.refused("3", "2", "-o", "/tmp"))

    def judged(self, answer: dict[str, Any], *words: str, memory: str = "device") -> str:
        """What is printed where the judge gives this answer."""
        with tempfile.TemporaryDirectory() as folder:
            judge = Path(folder) / "judge"
            chosen = {"input": "range:0:15", "launches": [1, 2], "places": [[0, 3], [8, 9]]}
            step = {**fake_judge.STEP, "number": 2, "max_range": 256, "memory": memory, "picture": chosen}
            labs = {"labs": [{**fake_judge.LAB, "steps": [step]}]}
            judge.write_text(
                f"#!/bin/sh\nread request\ncat <<'END'\n{json.dumps(labs)}\nEND\n"
                f"read request\nprintf '%s' \"$request\" >{folder}/request\ncat <<'END'\n{json.dumps(answer)}\nEND\n"
            )
            judge.chmod(judge.stat().st_mode | stat.S_IXUSR)
            with mock.patch.object(picture, "JudgeClient", functools.partial(JudgeClient, judge)):
                printed = self.refused("3", "2", "-o", f"{folder}/x.svg", *words)
            self.assertFalse((Path(folder) / "x.svg").exists())
            if not words:
                # The table chooses the run.
                self.assertIn('"input": "range:0:15"', (Path(folder) / "request").read_text())
            return printed

    def test_options_that_do_not_suit_the_step(self) -> None:
        self.assertIn("65,536 keys at most", self.judged({}, "--n", "2^20"))
        self.assertIn("65,536 keys at most", self.judged({}, "--n", "2^20", "--arrays", "all", memory="host"))
        self.assertIn("--json and --build are for timelines", self.judged({}, "--json", "x.json"))

    def outcome(self, **values: Any) -> dict[str, Any]:
        """An outcome as the judge sends it."""
        case = {"lab": "03-bitonic", "step": 2, "n": 16}
        return {"status": "verified", "passed": True, "case": case, "title": "title", **values}

    def test_a_step_that_is_not_written(self) -> None:
        line = "labs/03-bitonic/02_shared.cu:86: step 02 is not written yet"
        printed = self.judged(self.outcome(status="not-written", passed=False, message=line))
        self.assertEqual(printed, f"error: {line}\n")

    def test_what_the_judge_refuses(self) -> None:
        printed = self.judged({"error": "no key type is called u3", "kind": "usage"})
        self.assertEqual(printed, "error: no key type is called u3\n")

    def test_a_run_without_a_kernel(self) -> None:
        self.assertIn("nothing to draw", self.judged(self.outcome()))

    def test_a_run_that_ends_before_it_accesses_memory(self) -> None:
        finding = {"file": "labs/x/01_y.cu", "line": 7, "kind": "bounds", "text": "past the end"}
        crashed = self.outcome(status="crashed", passed=False, message="signal 11\nmore")
        self.assertIn("step 2: signal 11\n", self.judged(crashed))
        self.assertIn("01_y.cu:7: error: bounds: past the end\n", self.judged({**crashed, "findings": [finding]}))
