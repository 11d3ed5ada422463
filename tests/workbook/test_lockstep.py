"""What lanes do one after the other, put together to the requests of their warps."""

import os
import random
import unittest
from collections import Counter
from pathlib import Path
from typing import Any

import traces

from workbook.core.course import BUILD
from workbook.core.judge_client import JudgeClient
from workbook.core.judge_types import Case
from workbook.pictures import trace
from workbook.pictures.recorded import observe
from workbook.pictures.trace import Access, Meeting
from workbook.player import lockstep

HERE = Path(os.environ.get("WORKBOOK_TEST_BUILD", BUILD))
BLOCK = (
    traces.VERSION, traces.launch(), {"block": 0}, traces.array(0, "shared", "tile", 256),
    traces.array(1, "global", "keys", 256, allocation=1),
)  # fmt: skip


def run_of(*records: dict[str, Any]) -> trace.Trace:
    """A run of one block."""
    return trace.read(traces.text(*BLOCK, *records))


def requests_of(run: trace.Trace) -> list[list[tuple[int, int]]]:
    """(thread, code) of the accesses of each request; a meeting is (-1, its number of lanes)."""
    found = []
    for request in lockstep.requests(run.events):
        own = [(e.thread, e.code) if isinstance(e, Access) else (-1, len(e.lanes)) for e in request
               if isinstance(e, (Access, Meeting))]  # fmt: skip
        found += [own] if own else []
    return found


class Lockstep(unittest.TestCase):
    """Lanes that ran one after the other."""

    def test_what_lanes_do_one_after_the_other_is_one_request(self) -> None:
        run = run_of(
            *(record for t in range(3) for record in (traces.load(1, t, 1, 4 * t, t), traces.store(0, t, 2, 4 * t, t)))
        )
        self.assertEqual(requests_of(run), [[(0, 1), (1, 1), (2, 1)], [(0, 2), (1, 2), (2, 2)]])

    def test_rounds_of_a_loop_are_different_requests(self) -> None:
        run = run_of(*(traces.load(0, t, 1, 4 * (2 * t + i), 0) for t in range(2) for i in range(2)))
        self.assertEqual(requests_of(run), [[(0, 1), (1, 1)]] * 2)

    def test_a_lane_that_skips_a_branch_waits_for_the_others(self) -> None:
        branch = [traces.load(0, 1, 2, 4, 0)]
        run = run_of(
            traces.load(0, 0, 1, 0, 0),
            traces.load(0, 0, 3, 0, 0),
            traces.load(0, 1, 1, 4, 0),
            *branch,
            traces.load(0, 1, 3, 4, 0),
        )
        self.assertEqual(requests_of(run), [[(0, 1), (1, 1)], [(1, 2)], [(0, 3), (1, 3)]])

    def test_orders_that_contradict_divide_a_request(self) -> None:
        run = run_of(*(traces.load(0, t, code, 4 * t, 0) for t, codes in ((0, (1, 2)), (1, (2, 1))) for code in codes))
        found = requests_of(run)
        self.assertEqual(sorted(sum(found, [])), [(0, 1), (0, 2), (1, 1), (1, 2)])
        self.assertEqual(len(found), 3)

    def test_accesses_of_one_element_stay_in_their_order(self) -> None:
        # Lane 0 counts twice before lane 1 does: the counts must not be shown in another order.
        run = run_of(*(traces.atomic(0, t, 1, 0, 2 * t + i, 2 * t + i + 1) for t in range(2) for i in range(2)))
        self.assertEqual(requests_of(run), [[(0, 1)], [(0, 1)], [(1, 1)], [(1, 1)]])
        one_each = run_of(*(traces.atomic(0, t, 1, 0, t, t + 1) for t in (2, 0, 1)))
        self.assertEqual(requests_of(one_each), [[(2, 1), (0, 1), (1, 1)]])

    def test_lanes_meet_at_a_shuffle(self) -> None:
        run = run_of(
            *(traces.load(1, t, 1, 4 * t, t) for t in range(2)),
            traces.shuffle(0, [0, 1], [1, 0]),
            *(traces.store(0, t, 2, 4 * t, 1 - t) for t in range(2)),
        )
        self.assertEqual(requests_of(run), [[(0, 1), (1, 1)], [(-1, 2)], [(0, 2), (1, 2)]])

    def test_another_warp_and_a_barrier_end_a_request(self) -> None:
        run = run_of(
            traces.load(0, 0, 1, 0, 0), traces.load(0, 32, 1, 0, 0), traces.load(0, 1, 1, 0, 0), {"barrier": "a.cu:2"},
            traces.load(0, 2, 1, 0, 0),
        )  # fmt: skip
        self.assertEqual(requests_of(run), [[(0, 1)], [(32, 1)], [(1, 1)], [(2, 1)]])

    def test_whatever_lanes_do_nothing_is_lost_and_no_order_that_matters_changes(self) -> None:
        drawn = random.Random(5)
        for _ in range(60):
            records = [
                drawn.choice((traces.load, traces.store))(
                    0, drawn.randrange(6), drawn.randrange(4), 4 * drawn.randrange(5), 0
                )
                for _ in range(40)
            ]
            run = run_of(*records)
            done = [e for request in lockstep.requests(run.events) for e in request if isinstance(e, Access)]
            self.assertEqual(sorted(a.number for a in done), list(range(40)))
            place = {a.number: i for i, a in enumerate(done)}
            for a in run.accesses:
                for b in run.accesses[: a.number]:
                    matters = a.thread == b.thread or (a.offset == b.offset and (a.writes or b.writes))
                    self.assertFalse(matters and place[b.number] > place[a.number])


class RealRuns(unittest.TestCase):
    """Runs of the solutions: what the page puts together is what the check build counts."""

    def test_requests_are_those_that_the_check_build_counts(self) -> None:
        for lab, step, task, n in (("03-bitonic", 2, "sort", 100), ("04-counting", 3, "scan", 100)):
            runner, judge = HERE / "labs" / f"{lab}-check-solution", HERE / "labs/judge"
            if not runner.is_file() or not judge.is_file():
                self.skipTest("the solutions' check builds are missing")
            with JudgeClient(judge) as client:
                run, outcome = observe(client, runner, Case(lab, step, n, task, seed=1))
            counted: Counter[str] = Counter()
            for request in lockstep.requests(run.events):
                if isinstance(request[0], Access):
                    way = {"load": "ld", "store": "st", "atomic": "atomic"}[request[0].way]
                    counted[f"{request[0].array.space}_{way}_requests"] += 1
            for name in ("shared_ld", "shared_st", "global_ld", "global_st"):
                known = sum(launch[f"{name}_requests"] for launch in outcome.launches)
                self.assertEqual(counted[f"{name}_requests"], known, (lab, name))
