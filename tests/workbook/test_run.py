"""The case that `run` and `profile` make from their options; and step 4 of lab 06 on many GPUs, and simulated."""

import argparse
import json
import os
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import fake_judge
from in_folder import InFolder

from workbook.core import machine, many_gpus, nccl
from workbook.core.console import Problem, Usage
from workbook.core.course import StepFile
from workbook.core.judge_types import Case, Lab, from_json
from workbook.verbs import profile, run

STEP = StepFile("03-bitonic", 1, "global")


def lab(**members: Any) -> Lab:
    """A lab whose only step has these members."""
    return from_json(Lab, {**fake_judge.LAB, "steps": [{**fake_judge.STEP, **members}]})


class Cases(unittest.TestCase):
    def case(self, table: Lab, *words: str, verb: Any = run) -> Case:
        """The case that the words after the step describe."""
        parser = argparse.ArgumentParser()
        verb.add_arguments(parser)
        case: Case = verb._case(parser.parse_args(["3", "1", *words]), table, STEP, "check")
        return case

    def test_the_default_is_keys_that_the_step_sorts(self) -> None:
        for verb in (run, profile):
            with self.subTest(verb=verb.__name__):
                self.assertEqual(self.case(lab(), verb=verb).input, "uniform")
                self.assertEqual(self.case(lab(max_range=256), verb=verb).input, "range:5000000:5000255")
                self.assertEqual(
                    self.case(lab(max_range=256, types=["u8"]), "--type", "u8", verb=verb).input, "uniform"
                )
                self.assertEqual(self.case(lab(max_range=256), "--input", "sorted", verb=verb).input, "sorted")

    def test_as_many_keys_as_take_about_a_second(self) -> None:
        slow = lab(affordable={"check": 1500, "cpu": 4200, "cuda": 65536})
        self.assertEqual(self.case(slow).n, 1500)
        self.assertEqual(self.case(slow, "--n", "65536").n, 65536)

    def test_arrays_that_begin_at_any_address(self) -> None:
        self.assertEqual(self.case(lab(), "--offset", "3").offset, 3)
        self.assertEqual(self.case(lab()).offset, 0)

    def test_device_memory_for_keys_in_host_memory(self) -> None:
        for verb in (run, profile):
            case = self.case(lab(memory="host"), "--memory", "256K", "--pageable", verb=verb)
            self.assertEqual((case.memory, case.pageable), (256 << 10, True))
            case = self.case(lab(), verb=verb)
            self.assertEqual((case.memory, case.pageable), (0, False))


RATES = many_gpus.Rates(sort=100, memory=4000, link=400, network=50, host=8)


def line(gpus: int, **members: Any) -> many_gpus.Line:
    """What the simulation prints for shares that are all equal, of which nothing stays where it is."""
    usual = {"keys_per_gpu": 1000, "most_keys": 1000, "most_sent": 1000, "most_received": 1000}
    return {"gpus": gpus, "input": "uniform", "samples": 0, "splitters_ms": 0.5, **usual, **members}


def arguments(*words: str) -> argparse.Namespace:
    """The options of `run` after the lab and the step."""
    parser = argparse.ArgumentParser()
    run.add_arguments(parser)
    return parser.parse_args(["06-beyond-memory", "4", *words])


class Predictions(InFolder):
    def test_the_phases_of_two_gpus(self) -> None:
        p = many_gpus.predict(line(2, most_sent=500, most_received=600, samples=4000), 4e9, RATES)
        self.assertAlmostEqual(p.sort, 40)
        self.assertAlmostEqual(p.splitters, 0.5 + 4000 * 16 / 400e6)
        self.assertAlmostEqual(p.exchange, 24)  # 2.4e9 keys of 4 bytes
        self.assertAlmostEqual(p.join, 1)  # one pass, of which seven of eight parts are merged during the exchange
        self.assertEqual((round(p.sent), round(p.received)), (8e9, 9.6e9))
        self.assertAlmostEqual(p.total, p.sort + p.splitters + p.exchange + p.join)

    def test_more_runs_take_more_passes_and_then_a_sort(self) -> None:
        joins = [many_gpus.predict(line(gpus), 4e9, RATES).join for gpus in (2, 3, 4, 5, 8, 16)]
        for join, right in zip(joins, (8, 16, 16, 24, 24, 40)):
            self.assertAlmostEqual(join, right / 8)
        self.assertAlmostEqual(many_gpus.predict(line(16, most_keys=1100), 4e9, RATES).join, 44 / 8)

    def test_joins_that_take_longer_than_the_exchange_are_hidden_in_part(self) -> None:
        slow = many_gpus.Rates(sort=100, memory=400, link=400)
        p = many_gpus.predict(line(2), 4e9, slow)  # 5 ms for each part of the exchange, then 10 ms for each join
        self.assertAlmostEqual(p.exchange, 40)
        self.assertAlmostEqual(p.exchange + p.join, 5 + 8 * 10)

    def test_few_keys_are_exchanged_at_once(self) -> None:
        for share, parts in ((1000, 1), (1 << 25, 1), (1 << 27, 4), (1 << 40, 8)):
            p = many_gpus.predict(line(2), share, RATES)
            self.assertAlmostEqual(p.join * 1e6, share * 8 / 4000 / parts)
        self.assertAlmostEqual(many_gpus.predict(line(2048), 1 << 40, RATES).join * 1e6, (1 << 40) / 100 / 2)

    def test_what_leaves_a_host_goes_over_the_network(self) -> None:
        self.assertAlmostEqual(many_gpus.predict(line(8), 1e9, RATES).exchange, 10)
        self.assertAlmostEqual(many_gpus.predict(line(17), 1e9, RATES).exchange, 9 / 16 * 80)

    def test_rates(self) -> None:
        given = many_gpus.rates(["link=450", "sort=2.5"])
        self.assertEqual((given.link, given.sort, given.network), (450, 2.5, 50))
        self.assertGreater(many_gpus.rates([]).sort, 10)
        for wrong in ("link", "link=", "link=0", "link=-1", "link=nan", "link=inf", "speed=3", "=3"):
            with self.subTest(wrong), self.assertRaisesRegex(Usage, "is not a rate"):
                many_gpus.rates([wrong])

    def test_measured_runs_are_shown_beside_their_prediction(self) -> None:
        ran = {"n": 8_000_000_000, "gpus": 2, "gpu": "NVIDIA H200", "input": "uniform", "total_ms": 87.5}
        (self.folder / "h200").mkdir()
        rows = [{**ran, "exchange_ms": 43.5}, {**ran, "gpus": 1}, {**ran, "input": "sorted"}]
        (self.folder / "h200/many-gpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
        with mock.patch.object(many_gpus, "RESULTS", self.folder):
            text = "\n".join(many_gpus.simulation_table([line(2)], RATES))
            self.assertIn("2 x NVIDIA H200, 8000000000 keys in all: predicted 81.5 ms (exchange 40.0)", text)
            self.assertIn("measured 87.5 ms (exchange 43.5)", text)
            text = "\n".join(many_gpus.simulation_table([line(4)], RATES))
        self.assertIn("No run on several GPUs", text)


class Options(unittest.TestCase):
    def refused(self, *words: str) -> str:
        """The message about these options."""
        with self.assertRaises(Usage) as caught:
            run.main(arguments(*words))
        return str(caught.exception)

    def test_what_does_not_fit_together(self) -> None:
        self.assertIn("--rates needs --simulate", self.refused("--rates", "link=1"))
        self.assertIn("--memory cannot be used with --gpus", self.refused("--gpus", "2", "--memory", "1M"))
        self.assertIn("--stdin cannot be used with --simulate", self.refused("--simulate", "2", "--stdin"))
        self.assertIn("leave out --order", self.refused("--simulate", "2", "--order", "descending"))
        self.assertIn("1 to 65536 keys", self.refused("--simulate", "2", "--n", "2^20"))
        other = arguments("--gpus", "2")
        other.step = "3"
        with self.assertRaisesRegex(Usage, "--gpus is for step 4 of lab 06-beyond-memory"):
            run.main(other)
        for words in (["--gpus", "0"], ["--gpus", "4097"], ["--simulate", "1"]):
            with self.subTest(words), self.assertRaises(Usage):
                arguments(*words)

    def test_without_nccl_and_mpi(self) -> None:
        with (
            mock.patch("shutil.which", return_value=None),
            mock.patch.object(nccl, "wheel", return_value=""),
            mock.patch.object(machine, "has_header", return_value=False),
            self.assertRaises(Problem) as caught,
        ):
            run.main(arguments("--gpus", "2"))
        for words in ("nccl-cu13", "libopenmpi-dev", "CUDA toolkit"):
            self.assertIn(words, str(caught.exception))

    def test_without_gpus(self) -> None:
        with (
            mock.patch.object(many_gpus, "lacking", return_value=[]),
            mock.patch.object(machine, "gpus", return_value=("H200",)),
            self.assertRaisesRegex(Problem, "--gpus 2: 1 GPU answers"),
        ):
            run.main(arguments("--gpus", "2"))

    def test_mpirun_as_root(self) -> None:
        with mock.patch.object(machine, "answer", return_value="mpirun (Open MPI) 4.1.4"):
            with mock.patch("os.geteuid", return_value=0):
                self.assertIn("--allow-run-as-root", many_gpus._mpirun(2))
            with mock.patch("os.geteuid", return_value=1000):
                self.assertEqual(many_gpus._mpirun(2), ["mpirun", "-n", "2", "--bind-to", "none"])
        with mock.patch.object(machine, "answer", return_value="HYDRA build details"):
            self.assertEqual(many_gpus._mpirun(3), ["mpirun", "-n", "3"])


class Simulation(unittest.TestCase):
    def setUp(self) -> None:
        self.program = (
            Path(os.environ.get("WORKBOOK_TEST_BUILD", "build"))
            / "labs/06-beyond-memory/many_gpus/simulate-gpus-solution"
        )
        if not self.program.is_file():
            self.skipTest("the simulation is not built")

    def lines(self, *words: str) -> list[many_gpus.Line]:
        """What the simulation prints."""
        return list(many_gpus._lines_of([str(self.program.resolve()), *words], 300))

    def test_shares_are_balanced_for_every_input(self) -> None:
        for input_name in ("uniform", "all-equal", "sorted", "skewed", "two-values"):
            lines = self.lines("--gpus", "48", "--per-gpu", "4000", "--input", input_name)
            self.assertEqual([line["gpus"] for line in lines], [2, 4, 8, 16, 32, 48])
            for line in lines:
                with self.subTest(input_name, gpus=line["gpus"]):
                    self.assertGreaterEqual(line["most_keys"], 4000)
                    self.assertLessEqual(line["most_keys"], 4400)
                    self.assertLessEqual(line["most_sent"], 4000)
                    self.assertLessEqual(line["most_received"], line["most_keys"])

    def test_the_table(self) -> None:
        text = many_gpus.simulation_table(self.lines("--gpus", "4"), RATES)
        self.assertIn("2^14 simulated keys per GPU, uniform", text[0])
        self.assertEqual(text[3].split()[:2], ["GPUs", "balance"])
        self.assertEqual([row.split()[0] for row in text[5:7]], ["2", "4"])

    def test_errors_are_those_of_the_program(self) -> None:
        with self.assertRaisesRegex(Problem, "simulate-gpus-solution failed with status 1"):
            self.lines("--input", "nothing")
