"""Compiles a .cu file as a step is compiled: with the command that Meson made for a step of a student."""

import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from workbook.core import build  # noqa: E402
from workbook.core.console import Problem  # noqa: E402

REWRITER = ROOT / "common/simt/rewrite/rewrite.py"


def command_of(lab: str, kind: str) -> list[str]:
    """The command for one of the lab's steps in this build (cpu, check or cuda); [] if it is not set up."""
    for entry in build.compile_commands():
        if entry.get("output", "").startswith(f"labs/{lab}-{kind}.p/") and ".cu" in entry["output"]:
            return shlex.split(entry["command"])
    return []


def compile_file(source: Path, kind: str, folder: Path, lab: str = "03-bitonic", *, check: bool = True) -> Path:
    """The object of a source, in `folder`. Raises Problem with what the compiler printed if it does not compile."""
    command = command_of(lab, kind)
    if not command:
        raise Problem(f"{build.folder()} has no {kind} build")
    object_file = folder / f"{source.name}.{kind}.o"
    translated = source
    if kind != "cuda":
        translated = folder / f"{source.name}.{kind}.cpp"
        rewriting = [sys.executable, str(REWRITER), str(source), "-o", str(translated), "--root", str(ROOT)]
        rewriting += ["-I", str(ROOT / "labs" / lab), "-I", str(ROOT / "common")]
        _run(rewriting)
    output = command.index("-o")
    command[output + 1] = str(object_file)
    command[-1] = str(translated)
    for option in ("-MF", "-MQ"):
        if option in command:
            command[command.index(option) + 1] = f"{object_file}.d"
    _run([*command[:-2], f"-I{source.parent}", *command[-2:]])
    return object_file


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=build.folder())
    if done.returncode:
        raise Problem(f"{command[-1]}:\n{done.stderr}{done.stdout}")
