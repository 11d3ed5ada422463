"""Checks the form of the sources with one of the tools that pyproject.toml pins.

    style.py clang-format | ruff-format | ruff | mypy

Exits with 77, which Meson counts as "not run", unless exactly that version of the tool is installed: another version
formats differently. Files that students fill in (labs/NN-name/0*.cu) are not checked.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
FOLDERS = ("common", "labs", "solutions", "tests", "reports")
CXX = {".cpp", ".h", ".cu", ".cuh"}


def pinned(tool: str) -> str:
    """The version of a tool that pyproject.toml names."""
    found = re.search(rf'"{tool}==([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if not found:
        raise SystemExit(f"pyproject.toml pins no version of {tool}")
    return found[1]


def installed(tool: str) -> str | None:
    """The path of the tool in the pinned version; None where there is none."""
    version = re.compile(rf"(?<![\d.]){re.escape(pinned(tool))}(?![\d.])")
    folders = [ROOT / ".venv/bin", Path(sys.executable).parent, *map(Path, os.get_exec_path())]
    for folder in folders:
        path = folder / tool
        if path.is_file():
            done = subprocess.run([str(path), "--version"], capture_output=True, text=True, check=False)
            if version.search(done.stdout):
                return str(path)
    return None


def cxx_sources() -> list[str]:
    """The C++ and CUDA sources, except those that students fill in."""
    found = [path.relative_to(ROOT) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    students = re.compile(r"labs/[^/]+/0[^/]*\.cu")
    return [str(path) for path in found if path.suffix in CXX and not students.fullmatch(path.as_posix())]


def command(check: str, tool: str) -> list[str]:
    """The command line of one check."""
    if check == "clang-format":
        return [tool, "--dry-run", "--Werror", *cxx_sources()]
    if check == "ruff-format":
        return [tool, "format", "--check", "--diff", "--no-cache", "."]
    if check == "ruff":
        return [tool, "check", "--no-cache", "."]
    return [tool, "--cache-dir=/dev/null"]  # its files are those that pyproject.toml names


def main(check: str) -> int:
    """Runs one check; the exit code."""
    name = "ruff" if check == "ruff-format" else check
    tool = installed(name)
    if not tool:
        print(f"not run: {name} {pinned(name)} is not installed; ./workbook test installs it into .venv")
        return SKIPPED
    return 1 if subprocess.run(command(check, tool), cwd=ROOT, check=False).returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
