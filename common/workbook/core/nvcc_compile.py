"""nvcc compiles a step while its tests run on the CPU, which accepts some of what nvcc refuses."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from pathlib import Path

from . import build, diagnostics, files
from .console import Problem
from .course import StepFile


def _target(step: StepFile, solution: bool) -> str | None:
    """What Ninja makes to learn whether nvcc compiles a step: where no GPU can be, not a whole object."""
    for_errors = f"{step.lab}-{Path(step.file).stem}-nvcc{'-solution' if solution else ''}"
    return f"labs/{for_errors}.ii" if for_errors in build.targets() else build.object_of(step, "cuda", solution)


def is_set_up(step: StepFile, solution: bool = False) -> bool:
    """Whether nvcc can compile a step."""
    return _target(step, solution) is not None


class NvccCompile:
    """The compilation of one step's file, and of nothing else of its lab. It begins at once, and costs nothing if the
    file has not changed. It yields a little to the compilers that the tests wait for, because these often end last."""

    def __init__(self, step: StepFile, solution: bool = False, is_needed: bool = True) -> None:
        """`is_needed`: where a GPU runs the tests, nvcc has compiled the file for them."""
        self._held = contextlib.ExitStack()
        self._output = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        self._process: subprocess.Popen[str] | None = None
        self.waited = 0.0  # seconds for which errors() was not ready
        self._target = _target(step, solution) if is_needed else None
        if self._target:
            with contextlib.suppress(Problem):  # another check compiles: this one begins when its tests have passed
                self._begin(self._target, "another check is waiting for nvcc")

    def _begin(self, target: str, busy: str = "") -> None:
        self._held.enter_context(files.locked("nvcc", busy=busy))
        # With a log of its own, this Ninja can work in the folder at the same time as another one.
        files.write_whole(build.folder() / "nvcc.ninja", "builddir = nvcc\ninclude build.ninja\n")
        (build.folder() / "nvcc").mkdir(exist_ok=True)
        ninja = [*build.ninja(), "-C", str(build.folder()), "-f", "nvcc.ninja", target]
        self._process = subprocess.Popen(
            ["nice", "-n", "2", *ninja],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            env=build.environment(),
            text=True,
        )

    @property
    def is_possible(self) -> bool:
        """Whether nvcc is set up."""
        return self._target is not None

    def errors(self) -> str:
        """What nvcc refuses, the first error first; "" if it compiles. Waits for nvcc."""
        if not self._target:
            return ""
        start = time.monotonic()
        if not self._process:
            self._begin(self._target)
        assert self._process
        status = self._process.wait()
        self.waited = time.monotonic() - start
        self._held.close()
        self._output.seek(0)
        return diagnostics.summary(self._output.read()) if status else ""

    def cancel(self) -> None:
        """Ends the compilation, and with it what nvcc has started: the step has failed."""
        if self._process and self._process.poll() is None:
            self._process.terminate()  # Ninja ends its children
            self._process.wait()
        self._held.close()
        self._output.close()
