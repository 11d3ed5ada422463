"""The client of the judge: typed answers, and what becomes of a judge that fails."""

import json
import os
import signal
import threading
from dataclasses import replace
from pathlib import Path
from unittest import mock

from fake_judge import CONFLICT, RACE
from in_folder import InFolder

from workbook.core.judge_client import JudgeCannot, JudgeClient, JudgeDied, JudgeUsage
from workbook.core.judge_types import Case, Finding, Limits, Note, Outcome, from_json

FAKE = Path(__file__).with_name("fake_judge.py")
CASE = Case("03-bitonic", 1, 1000)


class FakeJudge(InFolder):
    """Tests that talk to the fake judge."""

    def setUp(self) -> None:
        super().setUp()
        self.log = self.folder / "log"

    def client(self, mode: object = "") -> JudgeClient:
        """A client of a fake judge in this mode."""
        text = mode if isinstance(mode, str) else json.dumps(mode)
        self.enter(mock.patch.dict(os.environ, {"FAKE_JUDGE": text, "FAKE_JUDGE_LOG": str(self.log)}))
        return self.enter(JudgeClient(FAKE))

    def requests(self) -> list[dict]:
        """What the judge was asked."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


class Answers(FakeJudge):
    """Answers are dataclasses."""

    def test_a_judge_that_was_ended_for_good_does_not_start_again(self) -> None:
        client = self.client()
        client.labs()
        client.close()
        self.assertEqual(client.inputs(), client.inputs())
        client.close(for_good=True)
        with self.assertRaises(JudgeDied):
            client.inputs()

    def test_labs_are_asked_for_once(self) -> None:
        client = self.client()
        lab = client.lab("03-bitonic")
        self.assertEqual(
            (lab.default_type, lab.steps[0].affordable.cpu, lab.steps[0].types), ("u32", 1 << 20, ("u32", "u64"))
        )
        self.assertIsNone(lab.steps[0].budget)
        self.assertEqual(client.lab("03-bitonic"), lab)
        self.assertEqual(len(self.requests()), 1)
        with self.assertRaisesRegex(JudgeUsage, "unknown lab '99'; choose one of: 03-bitonic"):
            client.lab("99")

    def test_a_run_and_its_request(self) -> None:
        outcome = self.client().run(Path("runner"), CASE, timeout=3, trace=Path("t"), environment={"A": "b"})
        self.assertEqual((outcome.status, outcome.passed, outcome.times.events_ms), ("verified", True, 1.0))
        self.assertEqual(outcome.case.n, 1000)
        (request,) = self.requests()
        self.assertEqual((request["timeout"], request["trace"], request["environment"]), (3, "t", {"A": "b"}))
        self.assertNotIn("seed", request["case"])  # the judge chooses
        self.assertNotIn("keys", request)

    def test_a_measurement(self) -> None:
        measured = self.client().measure(Path("runner"), CASE, Limits(repeats=5), kernels=True)
        self.assertEqual((measured.median_ms, measured.to_host.q1_ms), (2.0, 1.9))
        (request,) = self.requests()
        self.assertEqual(request["limits"]["repeats"], 5)
        self.assertTrue(request["kernels"])

    def test_findings_and_notes(self) -> None:
        outcome = self.client({"findings": [RACE], "notes": [CONFLICT]}).run(Path("r"), CASE)
        self.assertEqual([str(finding) for finding in outcome.findings], ["a.cu:9: error: race: kernel k (3 times)"])
        often = replace(outcome.findings[0], times=38_292_660)
        self.assertEqual(str(often), "a.cu:9: error: race: kernel k (38 million times)")
        self.assertEqual(
            [str(note) for note in outcome.notes],
            ["a.cu:7: note: bank-conflict: ideal 10 and actual 3,000 wavefronts in 10 shared loads"],
        )
        self.assertEqual(str(Finding("a.cu", 1, "race", "k")), "a.cu:1: error: race: k")
        self.assertIn(
            "in 1 shared load", str(Note("a.cu", 1, "x", requests=1, unit="u", space="shared", access="load"))
        )

    def test_a_member_of_another_type_is_refused(self) -> None:
        wrong: list[object] = [{"file": "a", "line": "9", "kind": "k", "text": "t"}, {"file": "a"}, []]
        for values in wrong:
            with self.assertRaises(TypeError):
                from_json(Finding, values)

    def test_where_an_outcome_points(self) -> None:
        outcome = Outcome("wrong", False, CASE, file="labs/a.cu", line=4)
        self.assertEqual(outcome.place, "labs/a.cu:4")
        self.assertEqual(Outcome("wrong", False, CASE, file="labs/a.cu").place, "labs/a.cu")


class Failures(FakeJudge):
    """A judge that fails does not leave the client waiting, or guessing."""

    def assert_died(self, mode: str, words: str) -> None:
        with self.assertRaisesRegex(JudgeDied, words):
            self.client(mode).labs()

    def test_it_ends(self) -> None:
        self.assert_died("dies", "the judge ended with status 7 while it served 'labs'")
        self.assert_died("signal", "the judge was ended by signal 9")
        self.assert_died("half", "the judge ended with status 0")

    def test_malformed_answers(self) -> None:
        self.assert_died("no-json", "the judge's answer to 'labs' is not JSON: verified")
        self.assert_died("incomplete", "the judge's answer to 'labs' is not valid: .*default_type")

    def test_a_judge_that_ended_is_started_again(self) -> None:
        client = self.client("dies")
        with self.assertRaises(JudgeDied):
            client.labs()
        with mock.patch.dict(os.environ, {"FAKE_JUDGE": ""}):
            self.assertEqual(client.lab("03-bitonic").name, "03-bitonic")

    def test_error_answers_leave_it_running(self) -> None:
        client = self.client("usage")
        for _ in range(2):
            with self.assertRaisesRegex(JudgeUsage, "the fake judge refuses") as raised:
                client.labs()
            self.assertEqual(raised.exception.status, 2)
        with self.assertRaisesRegex(JudgeCannot, "the fake judge refuses"):
            self.client("machine").labs()

    def test_a_program_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(JudgeCannot, "the judge cannot be started .*No such file"):
            JudgeClient(self.folder / "none").labs()

    def test_ctrl_c_ends_it(self) -> None:
        client = self.client("slow")
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):  # else the judge, which sleeps for an hour, is waited for
            client.labs()
        self.assertIsNone(client._process)

    def test_a_timeout_of_the_step_is_an_outcome(self) -> None:
        hung = {"status": "hung", "passed": False, "message": "no answer within 1 s"}
        outcome = self.client(hung).run(Path("runner"), CASE, timeout=1)
        self.assertEqual((outcome.status, outcome.passed), ("hung", False))


class Prefix(FakeJudge):
    """A judge under a profiler."""

    def test_lines_of_the_profiler_are_skipped(self) -> None:
        profiler = self.folder / "profiler"
        profiler.write_text('#!/bin/sh\necho "==PROF== connected"\n"$@"\necho done >"$LOG"\n')
        profiler.chmod(0o755)
        with mock.patch.dict(os.environ, {"LOG": str(self.folder / "done"), "FAKE_JUDGE": ""}):
            with JudgeClient(FAKE, prefix=[str(profiler)]) as client:
                self.assertEqual(client.labs()[0].name, "03-bitonic")
                client.finish()
            self.assertEqual((self.folder / "done").read_text(), "done\n")
