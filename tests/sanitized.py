#!/usr/bin/env python3
"""Runs the tests of the emulation with UndefinedBehaviorSanitizer: sanitized.py BUILD.

BUILD is Meson's build folder, below which another one is made. AddressSanitizer is left out, because the emulation's
threads are fibers: it knows one stack for each thread of the system. Kernels of the tests are compiled without the
sanitizer, because they do what it forbids, and the emulation must report that.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "common"))

from workbook.core.build import environment, meson  # noqa: E402

TESTS = ("simt-order-0", "simt-order-77")


def main(build: Path) -> int:
    """Builds and tests; the exit status."""
    folder = build / "sanitized"
    variables = {**environment(), "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1"}
    if not (folder / "build.ninja").exists():
        options = ["-Dcuda=disabled", "-Db_sanitize=undefined", "-Doptimization=1"]
        subprocess.run([*meson(), "setup", str(folder), str(ROOT), *options], env=variables, check=True)
    subprocess.run([*meson(), "compile", "-C", str(folder), "simt-tests"], env=variables, check=True)
    command = [*meson(), "test", "-C", str(folder), "--no-rebuild", "--print-errorlogs", "-t", "5", *TESTS]
    return subprocess.run(command, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
