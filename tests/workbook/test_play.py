"""The player: values from touch to touch, the moments of findings, pages, and clear errors."""

import argparse
import gzip
import json
import os
import re
import sys
import unittest
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any
from unittest import mock

import traces
from in_folder import InFolder, run_cli
from svg_faults import GRAPHICS, TEXT, contrast

from workbook.core import build
from workbook.core.console import Usage
from workbook.core.course import BUILD, find_step
from workbook.core.judge_types import Case, Outcome, Picture
from workbook.pictures import trace
from workbook.player import names, page, replay
from workbook.player.replay import Replay
from workbook.player.verdict import verdict, wrong_result
from workbook.verbs import play

HERE = Path(os.environ.get("WORKBOOK_TEST_BUILD", BUILD))
TILE = traces.array(0, "shared", "tile", 256)
KEYS = traces.array(1, "global", "keys", 256, allocation=1)
BLOCK = (traces.VERSION, traces.launch(), {"block": 0}, TILE, KEYS)


def run_of(*records: dict[str, Any]) -> trace.Trace:
    """A run of one block."""
    return trace.read(traces.text(*BLOCK, *records))


def replayed(*records: dict[str, Any]) -> Replay:
    return Replay(run_of(*records), "u32", 4)


def origins(made: Replay) -> list[int]:
    return list(made.values.origins)


class Values(unittest.TestCase):
    """Where values came from."""

    def test_a_value_is_followed_from_memory_to_memory(self) -> None:
        made = replayed(
            traces.load(1, 0, 1, 8, 7),
            traces.store(0, 0, 2, 0, 7),
            traces.load(0, 0, 3, 0, 7),
            traces.store(1, 0, 4, 0, 8),
        )
        self.assertEqual(origins(made), [-1, 0, 1, -1])  # 8 is computed

    def test_a_value_is_followed_through_a_shuffle(self) -> None:
        made = replayed(
            *(traces.load(1, t, 1, 4 * t, 5 + t) for t in range(2)),
            traces.shuffle(0, [5, 6], [1, 0]),
            *(traces.store(0, t, 2, 4 * t, 6 - t) for t in range(2)),
        )
        self.assertEqual(origins(made), [-1, -1, 0, 1, 3, 2])

    def test_what_the_host_put_there_is_known_from_the_beginning(self) -> None:
        made = replayed(traces.load(1, 0, 1, 8, 7), traces.load(1, 1, 1, 8, 7))
        self.assertEqual(made.about["patches"], [[0, made.cells[1].numbers[2], 0]])
        self.assertEqual(origins(made), [-1, 0])

    def test_a_copy_of_the_host_between_launches_shows(self) -> None:
        made = replayed(traces.store(1, 0, 1, 8, 7), traces.launch(), {"block": 0}, traces.load(1, 0, 2, 8, 9))
        self.assertEqual(made.about["patches"], [[1, made.cells[1].numbers[2], 1]])

    def test_shared_memory_is_empty_in_the_next_block(self) -> None:
        made = replayed(traces.store(0, 0, 1, 0, 7), {"block": 1}, traces.load(0, 0, 2, 0, 7))
        self.assertEqual((origins(made), made.about["patches"]), ([-1, -1], []))

    def test_an_atomic_has_two_values(self) -> None:
        made = replayed(traces.atomic(1, 0, 1, 0, 3, 4))
        self.assertEqual(bytes(made.heap), bytes([4, 0, 0, 0, 3, 0, 0, 0]))

    def test_a_vector_touches_several_elements(self) -> None:
        made = replayed(traces.load(1, 0, 1, 16, 2 << 32 | 1, size=8), traces.store(1, 0, 2, 0, 2))
        self.assertEqual(list(made.columns["touches"])[-2:], [2, 1])
        self.assertEqual(origins(made), [-1, -1, 1])

    def test_arrays_of_one_name_have_their_kernels_names(self) -> None:
        other = traces.array(2, "shared", "tile", 256)
        launch = (traces.launch("k<int>"), {"block": 0}, other)
        made = replayed(traces.store(0, 0, 1, 0, 1), *launch, traces.store(2, 0, 1, 0, 1), traces.load(1, 0, 1, 0, 1))
        names = [(array["name"], array["launches"]) for array in made.about["arrays"]]
        self.assertEqual(names, [("tile of turn", [0]), ("tile of k", [1]), ("keys", [1])])

    def test_vectors_alone_are_of_keys(self) -> None:
        counts, vectors = traces.load(1, 0, 1, 8, 7, size=8), traces.load(0, 0, 2, 16, 7, size=16)
        sizes = {array["name"]: array["size"] for array in Replay(run_of(counts, vectors), "u8", 1).about["arrays"]}
        self.assertEqual(sizes, {"keys": 8, "tile": 1})

    def test_elements_far_apart_are_separate_parts(self) -> None:
        made = replayed(traces.load(1, 0, 1, 0, 0), traces.load(1, 0, 1, 12, 0), traces.load(1, 0, 1, 252, 0))
        self.assertEqual(made.about["arrays"][0]["ranges"], [[0, 3], [63, 63]])

    def test_outside_of_its_array_an_access_touches_nothing(self) -> None:
        made = replayed(
            {"access": [1, 0, 1, "store", 256, 4]}, {"fault": [0, 1]}, traces.finding("out-of-bounds", "a.cu:7", 1, 1)
        )
        self.assertEqual(made.columns["flags"][-1], replay.OUTSIDE | replay.FAULTY)
        self.assertEqual(made.about["findings"][0]["events"], [len(made) - 1])

    def test_beyond_what_a_column_holds(self) -> None:
        far = traces.array(2, "global", "far", 1 << 33)
        with self.assertRaisesRegex(Usage, "more than 2 GiB"):
            replayed(far, traces.load(2, 0, 1, 1 << 32, 0))

    def test_too_many_elements(self) -> None:
        with mock.patch.object(replay, "MOST_CELLS", 3), self.assertRaisesRegex(Usage, "choose a smaller --n"):
            replayed(*(traces.load(1, t, 1, 4 * t, 0) for t in range(4)))


class Findings(unittest.TestCase):
    """The moments of findings."""

    def test_a_race_has_both_accesses(self) -> None:
        made = replayed(
            traces.store(0, 0, 1, 0, 5), traces.load(0, 1, 2, 0, 5), {"race": [1, 2, 0, 0, 1]},
            traces.finding("race", "a.cu:7", 2, 2, 1),
        )  # fmt: skip
        (found,) = made.about["findings"]
        self.assertEqual((found["race"], found["events"]), (True, [3, 2]))
        self.assertEqual(list(made.columns["flags"]), [0, 0, replay.RACES, replay.RACES])

    def test_another_finding_is_at_what_was_done_before(self) -> None:
        made = replayed(traces.store(0, 0, 1, 0, 5), {"waits": [3, "a.cu:9"]}, traces.finding("deadlock", "a.cu:9", 1))
        self.assertEqual(made.about["findings"][0]["events"], [2])
        self.assertEqual(made.about["waits"], {"3": "a.cu:9"})

    def test_outside_the_window_a_finding_has_no_moment(self) -> None:
        made = replayed(traces.store(0, 0, 1, 0, 5), traces.finding("race", "a.cu:7", -1, 8, 9))
        self.assertEqual(made.about["findings"][0]["events"], [])

    def test_a_loop_without_end_is_at_the_last_access_that_is_recorded(self) -> None:
        stores = [traces.store(0, 0, 1, 0, value) for value in range(3)]
        made = run_of(*stores, {"cut": 3}, traces.finding("time-limit", "labs/a.cu:7", -1, 1))
        (found,) = Replay(made, "u32", 4).about["findings"]
        self.assertEqual(found["events"], [4])
        self.assertIn("does not end: a.cu:7 was still running", verdict(made, None))
        self.assertIn("Only its first accesses", verdict(made, None))

    def test_a_wrong_result_is_at_the_last_write(self) -> None:
        stores = (traces.store(1, 0, 1, 8, 5), traces.store(1, 1, 1, 8, 6), traces.store(1, 0, 2, 12, 9))
        made = replayed(*stores, traces.line(1, "a.cu:7"), traces.finding("race", "a.cu:7", -1))
        message = "wrong key at index 2 of 64: 6 instead of 5"
        outcome = Outcome("wrong", False, Case("03-bitonic", 2, 64), message, first_wrong=2)
        self.assertEqual(verdict(run_of(), outcome), "The result is wrong, first at keys[2].")
        elsewhere = replaced(outcome, message="is a store missing?\n  wrong key", first_wrong=None)
        self.assertEqual(verdict(run_of(), elsewhere), "The result is wrong: is a store missing? wrong key.")
        text, array, index = wrong_result(outcome) or ("", "", -1)
        made.add_wrong_result(text, array, index)
        _, found = made.about["findings"]
        self.assertEqual((found["kind"], found["place"], found["events"]), ("wrong result", "a.cu:7", [3]))

    def test_a_wrong_result_may_be_a_copy(self) -> None:
        made = replayed(
            traces.load(1, 0, 1, 8, 5), traces.array(2, "global", "sorted", 256, 7), traces.store(2, 0, 1, 8, 5)
        )
        made.add_wrong_result("wrong", "keys", 2)
        self.assertEqual(made.about["findings"][0]["events"], [3])
        self.assertIn("no kernel writes keys[2]. It may be a copy", made.about["findings"][0]["text"])
        made = replayed(traces.load(1, 0, 1, 8, 5))
        made.add_wrong_result("wrong", "keys", 2)
        self.assertEqual(made.about["findings"][0]["events"], [])


class Names(InFolder):
    """Arrays are named as in the source."""

    def test_the_variable_of_an_allocation(self) -> None:
        for line, name in {
            "  const lab::DeviceArray<Key> sorted = scratch<Key>(n, stream);": "sorted",
            "  lab::DeviceArray<Key> other(n, stream);  // more": "other",
            "  CUDA_CHECK(cudaMalloc((void**)&d_keys, n));": "d_keys",
            "  cudaMallocAsync(&keys, n, stream);": "keys",
            "  sums = lab::DeviceArray<int>(n);": "sums",
            "  cudaMalloc(&a, 4); cudaMalloc(&b, 4);": "",
            "  return scratch<int>(n);": "",
            "  scan_all(values, sums, shape);": "",
            "  // Your code: x = y": "",
        }.items():
            self.assertEqual(names.variable_of(line), name, line)

    def test_arrays_of_a_run(self) -> None:
        source = "\n".join((
            "__global__ void turn(int* x) {", "  extern __shared__ int both[];", "}",
            "int main() { int* x;", "  cudaMalloc(&x, 4);", "  cudaMalloc(&y, 4);", "}",
        ))  # fmt: skip
        (self.folder / "a.cu").write_text(source)
        allocated = [(2, 5), (3, 6), (4, 5), (5, 7)]
        arrays = [traces.array(k, "global", f"x{k}", 256, k, f"a.cu:{line}") for k, line in allocated]
        loads = [traces.load(k, 0, 1, 0, 5) for k in range(1, 7)]
        made = replayed(traces.array(6, "shared", "dynamic", 256), *arrays, *loads, traces.line(1, "a.cu:2"))
        sources = [cells.source for cells in made.cells.values()]
        found = [array["name"] for array in names.named(sources, made.about, [self.folder])]
        self.assertEqual(
            found,
            ["keys", "x (allocation 2)", "y", "x (allocation 4)", "x5", "both"],
        )

    def test_the_page_of_a_step_is_named_after_what_was_asked_for(self) -> None:
        step = find_step("03-bitonic", "2")
        given = argparse.Namespace(n="1000", input="range:0:99", seed=5, type=None, solution=True)
        self.assertEqual(play.page_name(step), "03-bitonic-02.html")
        self.assertEqual(play.page_name(step, given), "03-bitonic-02-n1000-range_0_99-seed5-solution.html")


def decoded(events: bytes) -> dict[str, Any]:
    """What the page decodes: the JSON object, with the columns in place of their table."""
    data = gzip.decompress(events)
    length = int.from_bytes(data[:4], "little")
    about: dict[str, Any] = json.loads(data[4 : 4 + length])
    at = 4 + length
    for name, kind, count in about.pop("columns"):
        size = {"Uint8Array": 1, "Uint16Array": 2, "Int32Array": 4}[kind]
        assert at % 8 == 0
        own = data[at : at + size * count]
        about[name] = [int.from_bytes(own[i : i + size], "little", signed=size == 4) for i in range(0, len(own), size)]
        at += -(-len(own) // 8) * 8
    return about


class Pages(InFolder):
    """What is written."""

    def test_the_columns_can_be_read_again(self) -> None:
        made = replayed(traces.load(1, 0, 1, 8, 7), traces.store(0, 0, 2, 0, 7))
        found = decoded(page.packed(made.columns, bytes(made.heap), made.about))
        for name, column in made.columns.items():
            self.assertEqual(found[name], list(column), name)
        self.assertEqual(bytes(found["heap"]), bytes(made.heap))
        self.assertEqual(found["arrays"], made.about["arrays"])

    def test_a_page_refers_to_nothing_outside(self) -> None:
        (self.folder / "a.cu").write_text("</script><b>one\n" * 9)
        text = page.page(
            replayed(traces.load(1, 0, 1, 8, 7), traces.line(1, "a.cu:7")), "<&>", {"title": "t"}, [self.folder]
        )
        self.assertIn("<title>&lt;&amp;&gt;</title>", text)
        self.assertIn("default-src 'none'", text)
        self.assertEqual(re.findall(r'\b(?:src|href|action)="(?!#|data:)|@import|url\(', text), [])
        self.assertNotIn("://", text)
        self.assertEqual(text.count("</script>"), 2)

    def test_a_page_that_is_too_large_is_refused(self) -> None:
        with mock.patch.object(page, "MOST_BYTES", 1000), self.assertRaisesRegex(Usage, "--only-blocks"):
            page.page(replayed(traces.load(1, 0, 1, 8, 7)), "t", {})

    def test_sources_are_shown_whole_and_headers_around_the_lines(self) -> None:
        for name in ("a.cu", "b.h"):
            (self.folder / name).write_text("".join(f"int x{i} = 1 < 2;\n" for i in range(400)))
        found = page.sources(["a.cu:3", "b.h:200", "c.cu:1", ""], [self.folder])
        self.assertEqual((found["a.cu"]["first"], len(found["a.cu"]["lines"])), (1, 400))
        self.assertEqual((found["b.h"]["first"], len(found["b.h"]["lines"])), (140, 121))
        self.assertIn("&lt;", found["a.cu"]["lines"][0])
        self.assertNotIn("c.cu", found)

    def test_without_pygments_the_source_is_plain(self) -> None:
        with mock.patch.dict(sys.modules, {"pygments": None}):
            self.assertEqual(page.highlighted("a < b\n\nc"), ["a &lt; b", "", "c"])

    def test_the_colours_have_the_contrasts_of_wcag(self) -> None:
        style = (Path(page.__file__).parent / "player.css").read_text()
        light, dark = (
            dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in style.split("(prefers-color-scheme: dark)")
        )
        fills: dict[str, tuple[str, ...]] = dict.fromkeys(
            ("paper", "empty", "read-fill", "write-fill", "meet-fill"), ("ink", "muted")
        )
        fills |= {"panel": ("ink",), "wrong-fill": ("ink",), "current": ("ink", "read", "meet")}
        fills |= {"paper": ("ink", "muted", "read", "write", "wrong", "meet"), "read": ("paper",), "wrong": ("paper",)}
        for name, colours in {"light": light, "dark": dark}.items():
            pairs = [(text, fill) for fill, texts in fills.items() for text in texts]
            for text, ground in pairs:
                self.assertGreaterEqual(contrast(colours[text], colours[ground]), TEXT, (name, text, ground))
            self.assertGreaterEqual(contrast(colours["line"], colours["paper"]), GRAPHICS, name)


class Windows(unittest.TestCase):
    """A part of a run is named."""

    def test_in_words(self) -> None:
        run = run_of(traces.load(1, 0, 1, 8, 7))
        self.assertEqual(play.Window(None, None).in_words(run), "The whole run: 1 launch, 1 accesses.")
        text = play.Window((0, 0), (2, 3)).in_words(run)
        self.assertIn("launch 0 of 1 and blocks 2 to 3 of each launch", text)
        self.assertIn("--only-blocks", text)

    def test_a_step_whose_idea_needs_more_keys_gets_them(self) -> None:
        def usual(line: Any, n: Any = None, window: Any = None) -> tuple[int, play.Window]:
            return play._usual(argparse.Namespace(n=n), line, window or play.Window(None, None))

        few = mock.Mock(picture=Picture(launches=(1, 2)))
        many = mock.Mock(picture=Picture(n=4096, launches=(1, 2)))
        self.assertEqual(usual(few), (64, play.Window(None, None)))
        self.assertEqual(usual(many), (4096, play.Window((1, 2), None)))
        self.assertEqual(usual(many, "100"), (100, play.Window(None, None)))
        chosen = play.Window((0, 0), (2, 3))
        self.assertEqual(usual(many, window=chosen), (4096, chosen))

    def test_a_run_that_was_cut_is_never_called_whole(self) -> None:
        text = play.Window(None, None).in_words(run_of(traces.load(1, 0, 1, 8, 7), {"cut": 1}))
        self.assertIn("Not the whole run", text)
        self.assertIn("ends in launch 0, block 0", text)


class Refused(InFolder):
    """Errors that say what to do."""

    def refused(self, *words: str) -> str:
        status, printed = run_cli("play", *words, "-o", str(self.folder / "x.html"))
        self.assertEqual(status, 2, printed)
        self.assertFalse((self.folder / "x.html").exists())
        return printed

    def made(self, name: str, content: bytes) -> str:
        path = self.folder / name
        path.write_bytes(content)
        path.chmod(0o755)
        return str(path)

    def test_files_that_cannot_be_played(self) -> None:
        self.assertIn("no such file", self.refused("./nothing-there"))
        self.assertIn("neither a program", self.refused(self.made("a.txt", b"hello")))
        self.assertIn("neither a program", self.refused(self.made("empty", b"")))
        self.assertIn("cc --check", self.refused(self.made("a.cu", b"int main() {}")))
        self.assertIn("not built with the checks", self.refused(self.made("plain", b"\x7fELF and more")))
        checked = Path(self.made("checked", b"\x7fELF CHECK_TRACE"))
        checked.chmod(0o644)
        self.assertIn("chmod +x", self.refused(str(checked)))

    def test_traces_that_cannot_be_played(self) -> None:
        status, printed = run_cli("play", self.made("old", b'{"trace":0}\n'), "-o", str(self.folder / "x.html"))
        self.assertEqual(status, 1)
        self.assertIn("a trace of version 0, and this workbook reads version 1: record it again", printed)
        status, printed = run_cli(
            "play", self.made("damaged", b'{"trace":1}\n{"block"}\n'), "-o", str(self.folder / "x.html")
        )
        self.assertIn("damaged", printed)
        empty = self.made("without", b'{"trace":1}\n')
        self.assertIn("no kernel accessed memory", self.refused(empty))
        self.assertIn("leave out arguments, --launches and --only-blocks", self.refused(empty, "--launches", "1-2"))

    def test_before_anything_runs(self) -> None:
        self.replace(build, "ensure", lambda: self.fail("the build was set up"))
        self.assertIn("has no step '9'", self.refused("3", "9"))
        self.assertIn("not a range", self.refused("3", "2", "--only-blocks", "3-1"))
        self.assertIn("not a whole number", self.refused("3", "2", "--n", "many"))
        self.assertIn("unexpected argument", self.refused("3", "2", "more"))
        self.assertIn("cannot be written", self.refused("3", "2", "--trace", str(self.folder / "no/trace")))
        for output, why in (("x.svg", "HTML file"), ("no/x.html", "no such directory"), ("", "is a directory")):
            status, printed = run_cli("play", "3", "2", "-o", str(self.folder / output))
            self.assertEqual((status, why in printed), (2, True), printed)

    def test_a_program_that_leaves_no_trace(self) -> None:
        # A script cannot be taken for a program; the check is replaced, so that one can stand for it.
        self.replace(play, "kind_of", lambda _: "program")
        script = self.made("quiet", b"#!/bin/sh\nexit 7\n")
        status, printed = run_cli("play", script, "-o", str(self.folder / "x.html"))
        self.assertEqual(status, 1)
        self.assertIn("ended with status 7 and wrote no trace", printed)

    def test_a_trace_is_played_and_a_program_gets_its_arguments(self) -> None:
        text = traces.text(*BLOCK, traces.load(1, 0, 1, 8, 7))
        status, printed = run_cli("play", self.made("t", text.encode()), "-o", str(self.folder / "x.html"))
        self.assertEqual((status, (self.folder / "x.html").is_file()), (0, True), printed)
        self.replace(play, "kind_of", lambda _: "program")
        script = self.made(
            "p", b'#!/bin/sh\necho "$1 $2 $CHECK_TRACE_BLOCKS" >"$0.said"\ncp "$(dirname "$0")/t" "$CHECK_TRACE"\n'
        )
        out = str(self.folder / "y.html")
        self.assertEqual(run_cli("play", script, "a", "b", "-o", out, "--only-blocks", "1-2")[0], 0)
        self.assertEqual((self.folder / "p.said").read_text(), "a b 1-2\n")


class Commands(unittest.TestCase):
    """The command that plays a case."""

    def test_as_it_is_run(self) -> None:
        run = "SIMT_SEED=7 ./workbook run 03-bitonic 2 --n 5 --seed 1"
        outcome = Outcome("wrong", False, Case("03-bitonic", 2, 5), replay=run)
        self.assertEqual(outcome.playing, "SIMT_SEED=7 ./workbook play 03-bitonic 2 --n 5 --seed 1")
        for case in (Case("03-bitonic", 2, 5000), Case("03-bitonic", 2, 5, expect="refused")):
            self.assertEqual(Outcome("wrong", False, case, replay=run).playing, "")
