"""The student's work as all windows see it: verdicts, hints, and what the command prints about the file saved last.

The verdict is that of `./workbook check`, which runs as a process of its own at every save. A later save ends it and
starts it again, so a file that was saved half is never judged for long.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.console import Problem
from ..core.course import ROOT, STATE, StepFile, ideas, labs, steps
from ..core.progress import BAD, ProgressFile
from ..verbs.hint import hints_for
from ..verbs.play import FOLDER, page_name
from ..verbs.watch import POLL, Snapshot, changed, snapshot, steps_to_check
from .documents import Course, page_of

MOST_TEXT = 200_000  # characters of what a command prints
PATIENCE = 10.0  # seconds in which a command ends what it has started


@dataclass
class Job:
    """A command that runs, waits for its turn, or has ended."""

    number: int
    verb: str  # check or play
    lab: str
    steps: Sequence[StepFile]  # none: all steps of the lab
    options: Sequence[str] = ()  # of play, and the variables before them
    variables: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    status: int | None = None
    is_stopped: bool = False
    process: subprocess.Popen[str] | None = None
    ended: threading.Event = field(default_factory=threading.Event)  # the process

    @property
    def title(self) -> str:
        """What it does: "Check of step 02 shared"."""
        what = "Check" if self.verb == "check" else "Run"
        return f"{what} of {', '.join(map(str, self.steps)) or 'all steps'}"

    def commands(self) -> list[list[str]]:
        """What to run, one after another, up to the first that fails: the words after ./workbook."""
        if self.options:
            return [list(self.options)]
        return [[self.verb, self.lab, str(step.number)] for step in self.steps] or [[self.verb, self.lab]]


class Work:
    """The work in one copy of the workbook. Its threads end with close()."""

    def __init__(self, root: Path = ROOT, state: Path = STATE, command: Sequence[str] = ()) -> None:
        """`command`: starts the workbook's command."""
        self.root, self.state_folder = root, state
        self.course = Course(root, live=True)
        self.command = list(command) or [str(root / "workbook")]
        self.version = 0  # of the state
        self._changes = threading.Condition()
        self._queue: list[Job] = []
        self._last: dict[str, Job] = {}  # lab -> the job that its windows show
        self._numbers = itertools.count(1)
        self._closing = threading.Event()
        self._checked = self._snapshots()  # what is saved from now on is checked
        self._known = _time_of(ProgressFile(state, root).path)  # of the verdicts; later ones are shown
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._run_jobs, self._watch)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Ends the command that runs, and the threads."""
        self._closing.set()
        with self._changes:
            self._queue.clear()
            for job in self._last.values():
                self._end(job)
            self._changes.notify_all()
        for thread in self._threads:
            thread.join()

    # --- what windows ask for ---

    def check(self, lab: str, wanted: Sequence[StepFile] = ()) -> int:
        """Checks steps, or all of a lab, and those whose check has not ended yet. Returns the job's number."""
        with self._changes:
            replaced = [job for job in (*self._queue, *self._last.values()) if job.verb == "check" and job.lab == lab]
            replaced = [job for job in replaced if job.status is None and not job.is_stopped]
            for job in replaced:
                self._end(job)
            all_wanted = [wanted, *(job.steps for job in replaced)]
            together = {step.number: step for some in all_wanted for step in some} if all(all_wanted) else {}
            return self._add("check", lab, [together[number] for number in sorted(together)])

    def play(self, step: StepFile, failed: bool = False) -> int:
        """Records a run of a step, or the case that failed. Returns the job's number."""
        words = shlex.split(ProgressFile(self.state_folder, self.root).playing(step)) if failed else []
        before = words.index("./workbook") if "./workbook" in words else 0
        variables = dict(word.split("=", 1) for word in words[:before] if "=" in word)
        options = [*words[before + 1 :], "-o", str(self.player_file(step))] if words else []
        self.player_file(step).parent.mkdir(parents=True, exist_ok=True)
        with self._changes:
            same = [job.number for job in self._queue if (job.verb, job.steps) == ("play", [step])]
            return same[0] if same else self._add("play", step.lab, [step], options, variables)

    def hint(self, step: StepFile) -> None:
        """Shows the next hint, as the verb `hint` does."""
        progress = ProgressFile(self.state_folder, self.root)
        shown, there = progress.hints_shown(step), len(hints_for(step, self.root))
        if shown < there:
            progress.save_hints_shown(step, shown + 1)
        with self._changes:
            self._notify()

    def stop(self, lab: str) -> None:
        """Ends what runs for a lab."""
        with self._changes:
            for job in (*self._queue, *self._last.values()):
                if job.lab == lab and job.status is None:
                    self._end(job)
            self._notify()

    def wait(self, version: int, seconds: float) -> int:
        """The version of the state, as soon as it is another one, or after some seconds."""
        with self._changes:
            self._changes.wait_for(lambda: self.version != version or self._closing.is_set(), seconds)
            return self.version

    def pause(self, seconds: float) -> None:
        """Waits, unless windows should go."""
        self._closing.wait(seconds)

    @property
    def is_closing(self) -> bool:
        """Whether windows should go."""
        return self._closing.is_set()

    # --- the state ---

    def state(self, lab: str) -> dict[str, Any]:
        """What the windows of a lab show, or those of all labs if it is ""."""
        progress = ProgressFile(self.state_folder, self.root)
        if not lab:
            return {"labs": [self._of_lab(name, progress) for name in labs(self.root)]}
        with self._changes:
            job = self._last.get(lab)
            shown = job and self._of_job(job, progress)
            following = [waiting.title for waiting in self._queue]
        idea = ideas(lab, self.root)
        return {
            "steps": [self._of_step(step, idea, progress) for step in steps(lab, self.root)],
            "job": shown,
            "next": following,
        }

    def _of_lab(self, lab: str, progress: ProgressFile) -> dict[str, Any]:
        verdicts = [progress.verdict(step) for step in steps(lab, self.root)]
        passed = sum(verdict.word == "passed" for verdict in verdicts)
        return {"name": lab, "address": page_of(f"labs/{lab}/README.md"), "passed": passed, "steps": len(verdicts)}

    def _of_step(self, step: StepFile, idea: Mapping[str, str], progress: ProgressFile) -> dict[str, Any]:
        hints: list[str] = []
        with contextlib.suppress(Problem):
            hints = hints_for(step, self.root)
        shown = hints[: progress.hints_shown(step)]
        return {
            "number": step.number,
            "name": f"{step.number:02} {step.name}",
            "idea": idea.get(step.name, ""),
            "verdict": str(progress.verdict(step)),
            "failed": bool(progress.playing(step)),
            "hints": [self.course.fragment(hint, f"labs/{step.lab}/REFERENCE.md") for hint in shown],
            "of": len(hints),
            "player": self._player(step),
        }

    def _of_job(self, job: Job, progress: ProgressFile) -> dict[str, Any]:
        tried = (list(job.steps) or steps(job.lab, self.root)) if job.verb == "check" and job.status else []
        return {
            "number": job.number,
            "title": job.title,
            "text": job.text,
            "running": job.status is None,
            "stopped": job.is_stopped,
            "ok": job.status == 0,
            "result": self._result(job, progress),
            "player": self._player(job.steps[0]) if job.verb == "play" else "",
            "failed": next((step.number for step in tried if progress.playing(step)), None),
        }

    def _result(self, job: Job, progress: ProgressFile) -> str:
        if job.is_stopped:
            return "stopped"
        if job.verb == "play":
            return "the player is ready" if job.status == 0 else "the run could not be recorded"
        if job.status == 0:
            return "passed"
        tried = list(job.steps) or steps(job.lab, self.root)
        for step in tried:
            if (verdict := progress.verdict(step)).word in BAD:
                return str(verdict) if len(tried) == 1 else f"{step}: {verdict}"
        return "it does not compile, or could not be run"

    def player_file(self, step: StepFile) -> Path:
        """Where `play` writes the page of a step."""
        return self.root / FOLDER.relative_to(ROOT) / page_name(step)

    def _player(self, step: StepFile) -> str:
        """The address of the last run's page; "" if there is none. It changes with the page."""
        written = _time_of(self.player_file(step))
        return f"player/{page_name(step)}?{written}" if written else ""

    # --- commands ---

    def _notify(self) -> None:
        self.version += 1
        self._changes.notify_all()

    def _add(
        self,
        verb: str,
        lab: str,
        wanted: Sequence[StepFile],
        options: Sequence[str] = (),
        variables: Mapping[str, str] = {},
    ) -> int:
        job = Job(next(self._numbers), verb, lab, wanted, options, variables)
        self._queue.append(job)
        self._notify()
        return job.number

    def _run_jobs(self) -> None:
        while not self._closing.is_set():
            with self._changes:
                self._changes.wait_for(lambda: self._queue or self._closing.is_set())
                if self._closing.is_set():
                    return
                job = self._queue.pop(0)
                if job.is_stopped:
                    continue
                self._last[job.lab] = job
                self._notify()
            status = 0
            for words in job.commands():
                status = status or self._run(job, words)
            with self._changes:
                job.status = status
                self._notify()

    def _run(self, job: Job, words: Sequence[str]) -> int:
        """Runs a command and keeps what it prints; its status."""
        variables = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        variables.update(NO_COLOR="1", PYTHONUNBUFFERED="1", **job.variables)
        with self._changes:
            if job.is_stopped:
                return 130
            try:
                # A session of its own: Ctrl-C in the terminal must not reach it before it is asked to end.
                job.process = subprocess.Popen(
                    [*self.command, *words],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    cwd=self.root,
                    env=variables,
                    text=True,
                    errors="replace",
                    start_new_session=True,
                )
            except OSError as error:
                job.text += f"{self.command[0]} cannot be started: {error.strerror}\n"
                return 1
        job.ended.clear()
        threading.Thread(target=_end_session, args=(job.process,), daemon=True).start()
        with job.process as process:
            for line in process.stdout or ():
                with self._changes:
                    job.text += line if len(job.text) < MOST_TEXT else ""
                    self._notify()
        job.ended.set()
        return process.returncode

    def _end(self, job: Job) -> None:
        """Asks a job to end, which it does together with what it has started; kills it if it does not."""
        if job.status is not None:
            return
        job.is_stopped = True
        if job in self._queue:
            self._queue.remove(job)
        if job.process:
            job.process.terminate()
            threading.Thread(target=_kill_unless_ended, args=(job,), daemon=True).start()

    # --- saves ---

    def _watch(self) -> None:
        """Checks what was saved, as soon as it has not changed for a moment: an editor may write in several goes."""
        before = dict(self._checked)
        progress = ProgressFile(self.state_folder, self.root).path
        while not self._closing.wait(POLL):
            if (written := _time_of(progress)) != self._known:  # perhaps by a command in a terminal
                self._known = written
                with self._changes:
                    self._notify()
            now = self._snapshots()
            for lab, files in now.items():
                if files != before.get(lab) or files == self._checked.get(lab):
                    continue
                every = steps(lab, self.root)
                saved = steps_to_check(every, changed(self._checked.get(lab, {}), files))
                self._checked[lab] = files
                self.check(lab, [] if len(saved) == len(every) else saved)
            before = now

    def _snapshots(self) -> dict[str, Snapshot]:
        found: dict[str, Snapshot] = {}
        for lab in labs(self.root):
            with contextlib.suppress(OSError):
                found[lab] = snapshot(lab, self.root)
        return found


def _time_of(path: Path) -> int:
    """When a file was written; 0 if it does not exist."""
    with contextlib.suppress(OSError):
        return path.stat().st_mtime_ns
    return 0


def _kill(process: subprocess.Popen[str]) -> None:
    """Kills all processes of a command's session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end_session(process: subprocess.Popen[str]) -> None:
    """Kills what a command has left behind when it ends, which would keep its output open."""
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    _kill(process)


def _kill_unless_ended(job: Job) -> None:
    if not job.ended.wait(PATIENCE) and job.process:
        _kill(job.process)
