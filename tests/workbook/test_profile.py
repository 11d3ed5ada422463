"""The profile of a GPU: what Nsight Compute prints, read; and when copies and kernels ran."""

import csv
import io
import os
import re
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from in_folder import InFolder, run_cli
from report_data import report_of, step

from workbook.core import build, profiles, timelines
from workbook.core.console import Problem, Usage
from workbook.core.course import BUILD, find_one
from workbook.core.judge_client import JudgeClient
from workbook.core.judge_types import Case, Outcome, Timeline, TimelineSpan
from workbook.core.timelines import COPY_IN, COPY_OUT, KERNEL, Recorded
from workbook.reporting import parts, plot, timeline
from workbook.verbs import picture, profile

# One launch as ncu 2025.3 reported it on an H200: counts with their instances, some of which name instructions.
REPORTED = {
    "ID": "0",
    "Process ID": "1037",
    "Kernel Name": "histogram_kernel",
    "Block Size": "(512, 1, 1)",
    "Grid Size": "(2, 1, 1)",
    "smsp__inst_executed_op_shared_ld.sum": "16",
    "smsp__inst_executed_op_shared_st.sum": "16",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "16",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "16",
    "smsp__inst_executed_op_shared_atom.sum": "2,048",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "128",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "2,048",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "0",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "0",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum": "12",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum": "4",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum": "96",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum": "32",
    "gpu__time_duration.sum": "6,720",
    "launch__registers_per_thread": "26",
    "launch__shared_mem_per_block_static": "0",
    "launch__shared_mem_per_block_dynamic": "1,024",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "24.95",
    "memory_l1_wavefronts_shared_ideal": "2,080 (100000: 16; 100001: 2,064)",
    "memory_l2_theoretical_sectors_global_ideal": "2,176 (100002: 2,176)",
    "sass__inst_executed_per_opcode": "9,000 (ISETP: 5,000; BRA: 3,904; BAR: 96)",
}


def printed(*launches: dict[str, str]) -> str:
    """As ncu prints them: its own lines and the program's, the names, the units, and a line per launch."""
    text = io.StringIO()
    text.write("==PROF== Connected to process 1037\nverified; 12 ms\n")
    writer = csv.DictWriter(text, list(REPORTED), quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerow({name: "ns" if "time" in name else "" for name in REPORTED})
    for launch in launches:
        writer.writerow(launch)
    return text.getvalue() + "==PROF== Disconnected from process 1037\n"


class Judged(unittest.TestCase):
    """What the judge refuses."""

    def test_what_a_step_cannot_do(self) -> None:
        for status, message, words in (
            ("unsupported", "n is 9; step 1 would take too long beyond 8", "^unsupported: n is 9; step 1 .* beyond 8$"),
            ("not-written", "labs/a.cu:9: step 01 is not written yet", "^labs/a.cu:9: step 01 is not written yet$"),
        ):
            with self.assertRaisesRegex(Usage, words):
                profiles._check_outcome(Outcome(status, False, Case("a", 1, 9), message))


class Ncu(unittest.TestCase):
    """What becomes of ncu's output."""

    def test_a_launch_is_read(self) -> None:
        (launch,) = profiles.read_ncu(printed(REPORTED))
        self.assertEqual(
            (launch["kernel"], launch["grid"], launch["block"]), ("histogram_kernel", [2, 1, 1], [512, 1, 1])
        )
        self.assertEqual((launch["time_ns"], launch["registers"], launch["dynamic_shared_bytes"]), (6720, 26, 1024))
        self.assertEqual((launch["global_atomic_requests"], launch["global_atomic_sectors"]), (16, 128))
        self.assertEqual(launch["barriers"], 96)
        self.assertEqual(launch["shared_ideal_wavefronts"], 32)  # without the atomic ones, as the check build counts

    def test_missing_metrics_are_left_out(self) -> None:
        (launch,) = profiles.read_ncu(
            printed(
                {
                    **REPORTED,
                    "sass__inst_executed_per_opcode": "9,000 (0: 5,000; 1: 4,000)",
                    "memory_l1_wavefronts_shared_ideal": "n/a",
                }
            )
        )
        self.assertNotIn("barriers", launch)
        self.assertNotIn("shared_ideal_wavefronts", launch)
        self.assertIn("  barriers        not reported by this ncu", profile.lines_of([launch], "ncu"))
        self.assertEqual(profiles.read_ncu("==ERROR== ERR_NVGPUCTRPERM\n"), [])

    def test_the_table_adds_launches_and_fits_80_columns(self) -> None:
        lines = profile.lines_of(profiles.read_ncu(printed(REPORTED, {**REPORTED, "ID": "1"})), "ncu")
        self.assertEqual(lines[0], "histogram_kernel   2 launches of <<<2, 512>>>")
        self.assertIn("  barriers        3 per block", lines)
        self.assertIn("  shared atomics  4,096 requests", lines)
        self.assertIn("  global atomics  32 requests, 256 sectors: 8.00 each, 8 KiB", lines)
        self.assertIn("    ideal         4,352 sectors, 136 KiB: 100 % of the bytes moved are used", lines)
        self.assertEqual([line for line in lines if len(line) > 80], [])

    def test_the_driver_and_the_configuration_share_the_shared_memory(self) -> None:
        (launch,) = profiles.read_ncu(printed(REPORTED))
        self.assertNotIn("  driver", "\n".join(profile.lines_of([launch], "ncu")))  # an ncu that does not report it
        launch.update(driver_shared_bytes=1024.0, configured_shared_bytes=65536.0)
        lines = profile.lines_of([launch], "ncu")
        self.assertIn("    driver        1 KiB per block", lines)
        self.assertIn("    configured    64 KiB per multiprocessor", lines)
        for metric in ("launch__shared_mem_per_block_driver", "launch__shared_mem_config_size"):
            self.assertIn(metric, profiles.FACTS.values())


HERE = Path(os.environ.get("WORKBOOK_TEST_BUILD", BUILD))
# Two pieces in two streams. The second copy in is requested at once, and waits for the first one.
SPANS = (
    TimelineSpan(0, COPY_IN, 1, 11, 4000),
    TimelineSpan(1, COPY_IN, 1, 21, 4000),
    TimelineSpan(0, "count_digits", 11, 13),
    TimelineSpan(0, "sweep", 13.01, 17),
    TimelineSpan(0, COPY_OUT, 17, 27, 4000),
    TimelineSpan(1, "count_digits", 21, 26),
    TimelineSpan(1, COPY_OUT, 27, 51, 4000),
)


def recorded(spans: tuple[TimelineSpan, ...] = SPANS, kind: str = "cuda", left_out: int = 0) -> Recorded:
    """A recorded timeline."""
    what = ("06-beyond-memory", 2, "overlap", "u32", 2000, "uniform", 1 << 20, False, kind, "a machine", "abc")
    return Recorded(*what, "2026-01-02T03:04:05Z", 80.0, Timeline(spans, left_out))


class Shares(unittest.TestCase):
    """For which part of the time each kind of work runs."""

    def test_overlap_counts_once(self) -> None:
        found = timelines.shares(SPANS)
        self.assertAlmostEqual(found.whole_ms, 50)
        self.assertAlmostEqual(found.of[COPY_IN], 2 * 20)  # both copies at the same time count once
        self.assertAlmostEqual(found.of[KERNEL], 2 * (2 + 3.99 + 5))
        self.assertAlmostEqual(found.of[COPY_OUT], 2 * (10 + 24))
        # In and kernels: 11 to 13 and 13.01 to 17; in and out: 17 to 21; kernels and out: 21 to 26.
        self.assertAlmostEqual(found.overlap, 2 * (2 + 3.99 + 4 + 5))

    def test_nothing_overlaps_in_one_stream(self) -> None:
        one = [replace(span, stream=0, begin_ms=2.0 * i, end_ms=2.0 * i + 2) for i, span in enumerate(SPANS)]
        found = timelines.shares(one)
        self.assertEqual(found.overlap, 0)
        self.assertAlmostEqual(sum(found.of.values()), 100)
        self.assertEqual(timelines.shares([TimelineSpan(0, "k", 3, 3)]).overlap, 0)  # nothing took any time

    def test_a_copy_waits_for_those_in_its_direction(self) -> None:
        waits = {(span.stream, span.what): until for span, until in timelines.waits(SPANS)}
        self.assertEqual(waits.pop((1, COPY_IN)), 11)
        self.assertEqual(set(waits.values()), {None})

    def test_sentences(self) -> None:
        on_gpu = " ".join(timelines.sentences(recorded()))
        self.assertIn("Of the 50.0 ms", on_gpu)
        self.assertIn("a copy in ran 40 %, kernels ran 22 %, a copy out ran 68 %", on_gpu)
        self.assertIn("at the same time 30 %", on_gpu)
        self.assertNotIn("CPU", on_gpu)
        on_cpu = " ".join(timelines.sentences(recorded(kind="cpu", left_out=3)))
        self.assertIn("On the CPU the streams are executed in sequence", on_cpu)
        self.assertIn("3 more copies and kernels followed", on_cpu)


class Files(InFolder):
    """A timeline in a file."""

    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "06-timeline-2.json"

    def test_what_is_written_is_read(self) -> None:
        timelines.write(self.path, recorded(left_out=2))
        self.assertEqual(timelines.read(self.path), recorded(left_out=2))
        self.assertEqual(len(self.path.read_text().splitlines()), 3 + len(SPANS))

    def test_other_files_are_refused(self) -> None:
        with self.assertRaisesRegex(Problem, "cannot be read"):
            timelines.read(self.path)
        for content in ("", "{}", "[]", "[1, 2]", '[{"lab": "x", "timeline": {}}]'):
            self.path.write_text(content)
            with self.assertRaisesRegex(Problem, "is not a recorded timeline"):
                timelines.read(self.path)


class Drawn(InFolder):
    """The drawing, and the part of a report."""

    def setUp(self) -> None:
        if not plot.available():
            self.skipTest("matplotlib is not here")
        super().setUp()
        (self.folder / "plots").mkdir()

    def test_bars_are_where_the_spans_are(self) -> None:
        bars = timeline.bars_of(SPANS, 50)
        self.assertEqual(bars[0, COPY_IN], [(1, 10)])
        self.assertEqual(bars[1, COPY_IN], [(11, 10)])  # without the time for which it waited
        self.assertEqual(bars[0, KERNEL], [(11, 6)])  # one bar for kernels that follow each other
        self.assertEqual(bars[1, COPY_OUT], [(27, 24)])
        apart = (TimelineSpan(0, "a", 0, 10), TimelineSpan(0, "b", 20, 30))
        self.assertEqual(timeline.bars_of(apart, 30), {(0, KERNEL): [(0, 10), (20, 10)]})

    def test_the_picture_names_streams_kinds_and_shares(self) -> None:
        timeline.draw(recorded(), self.folder / "x", ("svg",))
        svg = (self.folder / "x.svg").read_text(encoding="utf-8")
        for words in ("stream 0", "stream 1", "copy in 40 %", "kernels 22 %", "copy out 68 %", "at once 30 %"):
            self.assertIn(f">{words}" if words.startswith("stream") else words, svg)
        self.assertIn("2,000 u32 keys, 1M of device memory", svg)
        self.assertGreaterEqual(svg.count("<pattern"), 2)  # two kinds of three are hatched

    def test_a_part_of_a_report_for_each_step(self) -> None:
        report = report_of([], self.folder, plots=True, timelines=[recorded(), replace(recorded(), step=3)])
        text = parts.PARTS["timeline"](report)
        self.assertEqual(re.findall(r"\(plots/(.*?)\)", text), ["timeline-2.svg", "timeline-3.svg"])
        self.assertEqual(text.count("at the same time 30 %"), 2)
        self.assertTrue((self.folder / "plots/timeline-3.pdf").is_file())
        self.assertEqual(parts.PARTS["timeline"](report_of([], self.folder, plots=True)), "")


class OfRealRuns(InFolder):
    """A run of the solution."""

    def setUp(self) -> None:
        super().setUp()
        self.runner = HERE / "labs/06-beyond-memory-cpu-solution"
        if not self.runner.is_file() or not (HERE / "labs/judge").is_file():
            self.skipTest("the solution's cpu build is missing")

    def test_step_2_copies_everything_in_and_out_in_three_streams(self) -> None:
        case = Case("06-beyond-memory", 2, 40_000, seed=1, memory=256 << 10)
        with JudgeClient(HERE / "labs/judge") as judge, mock.patch.object(build, "runner", lambda *_: self.runner):
            line = judge.lab(case.lab).lines(2)[0]
            found = timelines.record(judge, case, line, "cpu", True, None)
            with self.assertRaisesRegex(Usage, "256"):
                timelines.record(judge, replace(case, memory=1000), line, "cpu", True, None)
        spans = found.timeline.spans
        for what in (COPY_IN, COPY_OUT):
            self.assertEqual(sum(span.bytes for span in spans if span.what == what), 4 * 40_000)
        self.assertEqual({span.stream for span in spans}, {0, 1, 2})
        self.assertLess(timelines.shares(spans).overlap, 1)  # on the CPU
        self.assertGreaterEqual(found.step_ms, timelines.shares(spans).whole_ms)

    def test_the_command(self) -> None:
        replaced: dict[str, Any] = {"runnable": lambda: ["cpu"], "runner": lambda *_: self.runner}
        with (
            mock.patch.multiple(build, ensure=mock.DEFAULT, compile_targets=mock.DEFAULT, **replaced),
            mock.patch.object(picture, "JudgeClient", lambda: JudgeClient(HERE / "labs/judge")),
        ):
            files = ("--json", f"{self.folder}/x.json", "-o", f"{self.folder}/x.svg")
            status, printed = run_cli("picture", "6", "2", "--n", "20000", "--memory", "256K", *files)
        self.assertEqual(status, 0, printed)
        self.assertEqual(timelines.read(self.folder / "x.json").n, 20_000)
        self.assertEqual((self.folder / "x.svg").is_file(), plot.available())
        self.assertIn("nothing can overlap", re.sub(r"\s+", " ", printed))

    def test_profile_adds_sentences_for_steps_that_sort_host_memory(self) -> None:
        judge_client = JudgeClient(HERE / "labs/judge")
        with (
            judge_client as judge,
            mock.patch.object(build, "compile_targets"),
            mock.patch.object(build, "runner", lambda *_: self.runner),
        ):
            lab, other = judge.lab("06-beyond-memory"), judge.lab("03-bitonic")
            case = Case(lab.name, 2, 20_000, seed=1, memory=256 << 10)
            text = " ".join(profile._overlap(judge, case, lab, find_one("6", "2")[1], "check", True))
            self.assertIn("nothing can overlap", text)
            self.assertEqual(profile._overlap(judge, case, other, find_one("3", "2")[1], "check", True), [])

    def test_usual_numbers_of_keys(self) -> None:
        line = step(1, affordable=1 << 16, memory="host")
        usual = timelines.usual_case(Case("06-beyond-memory", 1, 0), line, "cpu")
        self.assertEqual((usual.n, usual.memory), (1 << 16, 1 << 20))
        chosen = timelines.usual_case(Case("06-beyond-memory", 1, 100, memory=5), line, "cpu")
        self.assertEqual((chosen.n, chosen.memory), (100, 5))
