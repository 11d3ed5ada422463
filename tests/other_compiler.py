#!/usr/bin/env python3
"""Builds a lab with the C++ compiler that has not built the project, clang++ or g++: other_compiler.py BUILD.

BUILD is Meson's build folder, below which another one is made, for the emulation and the lab; the judge is the
project's own. The lab's graded tests must pass on the cpu build, its steps must have no finding on the check build, and
`check` must name a mistake. Exits with 77, which Meson counts as "not run", where the compiler is missing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "common"))

from workbook.core import build  # noqa: E402

SKIPPED = 77
LAB = "01-odd-even"
MISTAKE = "no barrier between the phases"
RUNNERS = [f"{LAB}-{kind}-solution" for kind in ("cpu", "check")]


def main(folder: Path) -> int:
    """Builds and tests; the exit status."""
    build.use_folder(folder)
    cxx = "g++" if build.compiler() == "clang" else "clang++"
    if not shutil.which(cxx):
        print(f"not run: {cxx} is not installed")
        return SKIPPED
    other, variables = folder / f"by-{cxx}", {**build.environment(), "CXX": cxx}
    meson = build.meson()
    commands = [
        [*meson, "compile", "-C", str(other), *RUNNERS],
        ["ln", "-sf", str(build.judge()), str(other / "labs/judge")],
        [str(folder / "tests/graded"), "--lab", LAB, "--runner", str(other / "labs" / RUNNERS[0])],
        [sys.executable, str(ROOT / "tests/graded/checked.py"), str(other), LAB, "solutions"],
        [sys.executable, str(ROOT / "tests/mistakes/steps.py"), str(other), MISTAKE],
    ]
    if not (other / "build.ninja").exists():
        commands.insert(0, [*meson, "setup", str(other), str(ROOT), "-Dcuda=disabled", "-Doptimization=1"])
    for command in commands:
        if status := subprocess.run(command, env=variables, check=False).returncode:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
