#!/usr/bin/env python3
"""Runs the project's own C++ with the compiler's sanitizers: sanitized.py BUILD.

BUILD is Meson's build folder, below which others are made. The judge's tests run with AddressSanitizer, and those of
the emulation with UndefinedBehaviorSanitizer. The emulation does without AddressSanitizer, because its threads are
fibers: the sanitizer knows one stack for each thread of the system. Kernels of the tests are compiled without a
sanitizer, because they do what it forbids, and the emulation must report that. The judge does without
UndefinedBehaviorSanitizer, because g++ 12 then refuses the tables of steps, which hold constexpr pointers to functions.
fuzz.py runs it with both, by clang.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "common"))

from workbook.core.build import environment, meson  # noqa: E402

PARTS = {  # by sanitizer: what is built, and the tests that run
    "undefined": (("simt-tests",), ("simt-order-0", "simt-order-77")),
    "address": (("common-tests", "fake-runner"), ("common",)),
}
OPTIONS = {
    "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1",
    # The runner of the tests ends by signals on purpose, which the judge must see.
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:handle_segv=0:handle_sigbus=0:handle_sigfpe=0",
}


def test(build: Path, sanitizer: str) -> bool:
    """Builds a part of the project with a sanitizer, and tests it; whether it passes."""
    folder = build / f"sanitized-{sanitizer}"
    targets, tests = PARTS[sanitizer]
    variables = {**environment(), **OPTIONS}
    if not (folder / "build.ninja").exists():
        options = ["-Dcuda=disabled", f"-Db_sanitize={sanitizer}", "-Doptimization=1"]
        subprocess.run([*meson(), "setup", str(folder), str(ROOT), *options], env=variables, check=True)
    subprocess.run([*meson(), "compile", "-C", str(folder), *targets], env=variables, check=True)
    command = [*meson(), "test", "-C", str(folder), "--no-rebuild", "--print-errorlogs", "-t", "5", *tests]
    return subprocess.run(command, env=variables, check=False).returncode == 0


def main(build: Path) -> int:
    """The exit status."""
    results = [test(build, sanitizer) for sanitizer in PARTS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
