"""The profile of a report: gathered once, combined, and shown in tables."""

from __future__ import annotations

import json
import shutil
import unittest
from collections.abc import Sequence
from typing import Any, cast
from unittest import mock

from in_folder import InFolder
from report_data import MANY, lab_of, row

from workbook.core import build, profiles, resuming
from workbook.core.console import Problem
from workbook.core.judge_types import Case
from workbook.core.profiles import Launch
from workbook.reporting import gather
from workbook.reporting.parts_time import launch_table, memory_table

LAUNCH: Launch = {
    "kernel": "move",
    "grid": [2, 1, 1],
    "block": [64, 1, 1],
    "time_ns": 2e6,
    "barriers": 12,
    "static_shared_bytes": 0,
    "dynamic_shared_bytes": 2048,
    "shared_ld_requests": 10,
    "shared_ld_wavefronts": 20,
    "shared_st_requests": 5,
    "shared_st_wavefronts": 5,
    "shared_ld_ideal_wavefronts": 10,
    "shared_st_ideal_wavefronts": 5,
    "shared_atomic_requests": 3,
    "global_ld_requests": 8,
    "global_ld_sectors": 64,
    "global_st_requests": 8,
    "global_st_sectors": 192,
    "global_ld_ideal_sectors": 64,
    "global_st_ideal_sectors": 64,
}


class Gathered(InFolder):
    """What is profiled, and what is taken from the folder."""

    def setUp(self) -> None:
        super().setUp()
        (self.folder / "csv").mkdir()
        self.profiled: list[tuple[int, str]] = []
        self.mark = "one"
        for place, name, replacement in (
            (profiles, "launches_of", self.launches_of),
            (build, "compile_targets", lambda *_: None),
            (resuming, "digest", lambda _, words: f"{self.mark}, {words[0]}"),
            (shutil, "which", lambda _: self.ncu),
        ):
            self.replace(place, name, replacement)
        self.ncu: str | None = "/bin/ncu"
        self.refuse: Sequence[tuple[int, str]] = ()
        self.notes: list[str] = []
        self.replace(gather, "note", self.notes.append)

    def launches_of(self, _judge: object, case: Case, source: str, _solution: bool) -> list[Launch]:
        self.profiled.append((case.step, source))
        if (case.step, source) in self.refuse:
            raise Problem("ncu profiled nothing (status 1):\n==ERROR== ERR_NVGPUCTRPERM: no permission\nmore")
        return [dict(LAUNCH), dict(LAUNCH)]

    def gather(
        self, kind: str = "cpu", steps: Sequence[int] = (1, 2), fresh: bool = False, most: int = MANY
    ) -> dict[str, Any] | None:
        """What is gathered of a lab with four steps."""
        self.profiled.clear()
        lab = lab_of(most, MANY, MANY, 100)
        return gather.profile(gather.Job(cast(Any, None), lab, kind, steps, self.folder, fresh, True, seconds=40))

    def gathered(self, kind: str = "cpu") -> dict[str, Any]:
        """The same, where there is a profile."""
        found = self.gather(kind)
        assert found
        return found

    def test_a_second_report_does_not_profile_again(self) -> None:
        first = self.gathered()
        self.assertEqual((first["source"], first["n"], sorted(first["steps"])), ("check", 1 << 14, ["1", "2"]))
        self.assertEqual(self.profiled, [(1, "check"), (2, "check")])
        self.assertEqual(json.loads((self.folder / "csv/profile.json").read_text()), first)
        self.assertEqual((self.gather(), self.profiled), (first, []))
        self.gather(steps=(1, 2, 3))
        self.assertEqual(self.profiled, [(3, "check")])
        self.gather(fresh=True)
        self.assertEqual(len(self.profiled), 2)
        self.mark = "another program"
        self.gather()
        self.assertEqual(len(self.profiled), 2)

    def test_all_steps_sort_as_many_keys_as_each_affords(self) -> None:
        found = self.gather(most=5000)
        assert found
        self.assertEqual(found["n"], 4096)
        self.assertEqual(self.gathered("cuda")["n"], 1 << 20)

    def test_a_damaged_file_is_replaced(self) -> None:
        for content in ("", "[]", '{"mark": "one, check"}', '{"mark": "one, check", "steps": 3}'):
            with self.subTest(content=content):
                (self.folder / "csv/profile.json").write_text(content)
                self.assertEqual(sorted(self.gathered()["steps"]), ["1", "2"])

    def test_where_nsight_compute_refuses_the_check_build_counts(self) -> None:
        self.refuse = ((1, "cuda"),)
        found = self.gathered("cuda")
        self.assertEqual((found["source"], found["n"]), ("check", 1 << 14))
        self.assertIn("ERR_NVGPUCTRPERM", found["why"])
        self.assertEqual(self.notes, ["no profile by Nsight Compute: ERR_NVGPUCTRPERM: no permission"])
        self.ncu = None
        self.assertIn("ncu is not installed", self.gathered("cuda")["why"])
        self.ncu, self.refuse = "/bin/ncu", ()
        self.assertEqual(self.gathered("cuda")["source"], "cuda")

    def test_a_step_that_fails_is_one_line_and_the_others_stay(self) -> None:
        self.refuse = ((1, "check"),)
        self.assertEqual(list(self.gathered()["steps"]), ["2"])
        self.assertEqual(len(self.notes), 1)
        self.assertNotIn("\n", self.notes[0])
        self.refuse = ((1, "check"), (2, "check"))
        self.assertIsNone(self.gather(fresh=True))

    def test_a_check_build_that_does_not_compile(self) -> None:
        with mock.patch.object(build, "compile_targets", side_effect=build.CompileFailed("a.cu:1:2: error: no")):
            self.assertIsNone(self.gather())
        self.assertEqual(self.notes, ["no profile by the check build: the check build does not compile"])


class Tables(unittest.TestCase):
    """Numbers of launches as a reader wants them."""

    def found(self, launches: Sequence[Launch], source: str = "check") -> dict[str, Any]:
        return {"source": source, "n": 1024, "why": "", "steps": {"2": gather.launches_in_short(launches)}}

    def test_two_launches_of_one_shape(self) -> None:
        found = self.found([LAUNCH, LAUNCH])
        headings, (cells,) = launch_table(
            found, {2: "02 shared"}, {(2, "move"): row(step=2, kernel="move", registers=17)}
        )
        self.assertEqual(len(headings), len(cells))
        self.assertEqual(
            cells,
            [
                "02 shared",
                "`move`",
                "2",
                "&lt;&lt;&lt;2, 64&gt;&gt;&gt;",
                "4.00",
                "17",
                "0",
                "2,048",
                "1,024",
                "-",
                "3",
                "100",
            ],
        )
        headings, (cells,) = memory_table(found, {})
        self.assertEqual(len(headings), len(cells))
        self.assertEqual(cells, ["02", "`move`", "30", "50", "30", "6", "32", "512", "16.0", "8.00", "50"])

    def test_many_shapes_of_a_kernel_are_one_line(self) -> None:
        launches = [dict(LAUNCH, grid=[blocks, 1, 1], barriers=6 * blocks) for blocks in (1, 2, 4, 8, 16)]
        _, rows = launch_table(self.found(launches[:3]), {}, {})
        self.assertEqual(len(rows), 3)
        _, (cells,) = launch_table(self.found(launches), {}, {})
        self.assertEqual(cells[2:4], ["5", "&lt;&lt;&lt;16, 64&gt;&gt;&gt; and 4 others"])
        self.assertEqual(cells[10], "3")

    def test_the_counters_of_a_gpu(self) -> None:
        launch = dict(LAUNCH, registers=32.0, occupancy_percent=61.5, static_shared_bytes=1024.0, barriers=None)
        for name in [name for name in launch if "ideal" in name]:
            del launch[name]
        found = self.found([dict(launch, global_ideal_sectors=128.0)], "cuda")
        _, (cells,) = launch_table(found, {}, {})
        self.assertEqual(cells[5:], ["32", "1,024", "2,048", "-", "-", "-", "62"])
        launch.update(driver_shared_bytes=1024.0, configured_shared_bytes=65536.0)
        headings, (cells,) = launch_table(self.found([launch], "cuda"), {}, {})
        self.assertEqual(
            dict(zip(headings, cells)),
            {**dict(zip(headings, cells)), "driver, B": "1,024", "configured, KiB": "64.0", "dynamic, B": "2,048"},
        )
        _, (cells,) = memory_table(found, {})
        self.assertEqual(cells[-2:], ["4.00", "50"])
