"""The build folder: set up by Meson, repaired if damaged, and compiled by Ninja.

A folder that somebody set up by hand, with other options, is used as it is.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import diagnostics, files, machine
from .console import Problem, Progress, ending, note
from .course import BUILD, ROOT, STATE, StepFile, has_solutions, missing_file, shown
from .starters import all_starters


def use_folder(folder: Path) -> None:
    """Uses this build folder instead of build/: for scripts and tests that Meson starts."""
    global BUILD
    BUILD = folder


def folder() -> Path:
    """The build folder in use."""
    return BUILD


KEPT = ("bench", "demo", "pictures", "reports")  # results in build/, which outlive a fresh set-up
SETUP_LOG = STATE / "setup.log"  # of a set-up that failed
_FACTS = BUILD / "workbook-setup.json"
_DAMAGED = re.compile(
    r"coredata|no such build file|loading 'build\.ninja'|generated with Meson version|not readable|is corrupt"
    r"|bad deps log|Couldn't read|build\.ninja:\d+: |not a meson build directory",
    re.IGNORECASE,
)


# What Ninja, or Meson when it sets up again, says of a file that was deleted.
_MISSING = re.compile(
    r"'(?:\.\./)*((?:labs|solutions)/[^']+)', needed by .* missing|ERROR: File (\S+) does not exist"
    r"|No such file or directory: '[^']*?((?:labs|solutions)/[^']+\.cu)'"
)


class CompileFailed(Problem):
    """The compiler reported errors; the text is a summary of `output`."""

    def __init__(self, output: str) -> None:
        super().__init__(f"it does not compile\n\n{diagnostics.summary(output)}")
        self.output = output


def meson() -> list[str]:
    """Meson's command. If possible as a module of this Python: in a .venv that was moved, scripts no longer start."""
    if importlib.util.find_spec("mesonbuild"):
        return [sys.executable, "-m", "mesonbuild.mesonmain"]
    return [shutil.which("meson") or _missing("Meson")]


def ninja() -> list[str]:
    """Ninja's command."""
    return [machine.ninja() or _missing("Ninja")]


def _missing(tool: str) -> NoReturn:
    (STATE / "ready").unlink(missing_ok=True)  # so that the next command installs it
    raise Problem(f"{tool} is missing: run the command again, which installs it")


def environment() -> dict[str, str]:
    """The environment of programs that we start: Meson finds Ninja and python3 through it, those of .venv first."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": path}


def _facts() -> dict[str, str | None]:
    """What a set-up depends on and Meson does not check again."""
    cxx = machine.compiler()
    return {
        "compiler": " ".join([shutil.which(cxx[0]) or cxx[0], *cxx[1:]]) if cxx else None,
        "nvcc": shutil.which("nvcc"),
        "nvidia-smi": shutil.which("nvidia-smi"),
        "root": str(ROOT),
    }


def _why_unusable() -> str | None:
    """Why build/ must be set up again; None if it need not be; "" if it does not exist yet."""
    if not BUILD.is_dir() or not any(entry.name not in KEPT for entry in BUILD.iterdir()):
        return ""
    needed = ("build.ninja", "meson-private/coredata.dat", "meson-private/build.dat", "meson-info/intro-targets.json")
    if not all((BUILD / name).is_file() and (BUILD / name).stat().st_size for name in needed):
        return "its set-up was interrupted"
    try:
        set_up_for = json.loads((BUILD / "meson-info/meson-info.json").read_text())["directories"]["source"]
    except (OSError, ValueError, KeyError):
        return "its set-up was interrupted"
    if os.path.realpath(set_up_for) != os.path.realpath(ROOT):
        return f"it was set up for {set_up_for}"
    with contextlib.suppress(OSError, ValueError):
        if json.loads(_FACTS.read_text()) != _facts():
            return "the compilers of this machine have changed since it was set up"
    return None


def _wipe() -> None:
    for entry in list(BUILD.iterdir()) if BUILD.is_dir() else []:
        if entry.name in KEPT:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _check_sources() -> None:
    """Raises Problem if files that the build needs are missing."""
    if not has_solutions():
        return
    missing = [f"labs/{path}" for path in all_starters() if not (ROOT / "labs" / path).is_file()]
    if missing:
        raise Problem(f"missing: {', '.join(missing)}. ./workbook starters writes them")


def run_tool(command: Sequence[str], on_line: Callable[[str], None]) -> tuple[int, str]:
    """Runs Meson or Ninja; the exit status and the output. Calls `on_line` with each line as soon as it is printed."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env=environment(),
        cwd=ROOT,
        text=True,
        errors="replace",
    )
    output = []
    with ending(process):
        for line in process.stdout or ():
            output.append(line)
            on_line(line)
        return process.wait(), "".join(output)


def _run_meson(*options: str) -> tuple[int, str]:
    with Progress("setting up build/") as progress:
        command = [*meson(), "setup", str(BUILD), str(ROOT), *options]
        return run_tool(command, lambda line: progress.update(line.strip()))


def why_set_up_failed() -> str:
    """Meson's errors when it last set up build/, and our own advice in meson.build; "" if it succeeded."""
    if not SETUP_LOG.exists():
        return ""
    lines = SETUP_LOG.read_text().splitlines()
    errors = [line for line in lines if ": ERROR: " in line] or lines[-5:]
    errors += [line.removeprefix("Message: ") for line in lines if line.startswith("Message: ")]
    return "\n  ".join(["Meson could not set up build/ (the whole log is .workbook/setup.log):", *errors])


def _set_up() -> None:
    if not machine.compiler():
        raise Problem("no C++ compiler was found: install g++ (./workbook doctor shows how)")
    note("setting up build/ ...")
    _wipe()
    status, output = _run_meson()
    if status and shutil.which("nvcc"):
        # A broken nvcc makes the whole set-up fail, but must not prevent the cpu build.
        _wipe()
        status_cpu, output_cpu = _run_meson("-Dcuda=disabled")
        if status_cpu == 0:
            status, output = 0, output_cpu
    if status:
        files.write_whole(SETUP_LOG, output)
        _wipe()
        raise Problem(why_set_up_failed() + "\n./workbook doctor lists what this machine lacks")
    SETUP_LOG.unlink(missing_ok=True)
    files.write_whole(_FACTS, json.dumps(_facts(), indent=1) + "\n")
    if shutil.which("nvcc") and "cuda" not in kinds():
        note(
            f"nvcc is installed ({shutil.which('nvcc')}) but does not work: only the cpu build is set up. "
            "./workbook doctor explains why."
        )
    # Editors look for it in the root folder.
    database = ROOT / "compile_commands.json"
    if not database.exists():
        with contextlib.suppress(OSError):
            if database.is_symlink():
                database.unlink()
            database.symlink_to("build/compile_commands.json")


def ensure() -> None:
    """Makes build/ ready to compile: sets it up if it is missing, broken or from another machine."""
    if missing := machine.missing_cxx():
        raise Problem(missing)
    with files.locked("build"):
        why = _why_unusable()
        if why is None:
            return
        _check_sources()
        if why:
            note(f"build/ cannot be used ({why}): setting it up again")
        _set_up()


def _of_meson(path: Path) -> Any:
    """A JSON file that Meson has written; None if there is none yet. Raises Problem if it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Problem(f"{shown(path)} cannot be read ({error}): remove {shown(path.parent)}, and try again") from error


def compile_commands() -> list[dict[str, str]]:
    """The entries of Meson's compile_commands.json: "file", "command" and "output", relative to the build folder."""
    entries: list[dict[str, str]] | None = _of_meson(folder() / "compile_commands.json")
    return entries or []


def object_of(step: StepFile, kind: str, solution: bool = False) -> str | None:
    """What Ninja makes of a step's file in a build, relative to the build folder; None where that is not set up."""
    for entry in compile_commands():
        if entry.get("output", "").startswith(f"{target(step.lab, kind, solution)}.p/"):
            name = Path(entry["file"]).name
            if name in (Path(step.file).name, f"{Path(step.file).name}.cpp"):  # for a CPU, the rewriter's output
                return entry["output"]
    return None


def compiler() -> str:
    """The C++ compiler that the build folder was set up for: "gcc" or "clang"."""
    compilers = _of_meson(folder() / "meson-info/intro-compilers.json")
    return str(compilers["host"]["cpp"]["id"]) if compilers else "gcc"


def targets() -> set[str]:
    """The names of all programs in build/."""
    return {target["name"] for target in _of_meson(BUILD / "meson-info/intro-targets.json") or []}


def kinds() -> list[str]:
    """Which of the builds cpu and cuda have been set up."""
    known = targets()
    return [kind for kind in ("cpu", "cuda") if f"gold-{kind}" in known]


def runnable() -> list[str]:
    """The builds that this machine can run: cuda only if a GPU answers."""
    return [kind for kind in kinds() if kind == "cpu" or machine.gpus()]


def target(lab: str, kind: str, solution: bool = False) -> str:
    """What Ninja calls a lab's runner: its path in the build folder."""
    return f"labs/{lab}-{kind}" + "-solution" * solution


def runner(lab: str, kind: str, solution: bool = False) -> Path:
    """The path of a lab's runner."""
    return BUILD / target(lab, kind, solution)


_BASIC_GOLD = {"u8", "u32", "f32"}  # the types of gold-cuda-basic: see common/gold/meson.build


def gold(kind: str, types: Iterable[str] | None = None) -> Path:
    """The path of the gold standard's runner. `types`: those that will be timed, beyond the labs' own; None: all.

    On a GPU it takes minutes to compile for all types, so where few are needed there is a runner with few.
    """
    few = kind == "cuda" and types is not None and _BASIC_GOLD.issuperset(types)
    return BUILD / "common/gold" / f"gold-{kind}{'-basic' if few else ''}"


def judge() -> Path:
    """The path of the judge."""
    return BUILD / "labs/judge"


def _brief(text: str) -> str:
    """What Ninja works on, without its path: "02_split.cu"."""
    name = text.rpartition("/")[2].replace("meson-generated_", "")
    return name.removesuffix(".o").removesuffix(".cpp")


_ONE_FILE = 6  # what Ninja does if one step has changed: it is rewritten, compiled and linked, for two builds


def _run_ninja(names: Sequence[str], progress: Progress, begun: Begun | None = None) -> tuple[int, str]:
    def show(line: str) -> None:
        step = re.match(r"\[(\d+)/(\d+)\]\s*(.*)", line)
        if step:
            progress.update(_brief(step[3]), int(step[1]), int(step[2]))
        if begun and step and int(step[2]) <= _ONE_FILE and step[3].endswith(f" {begun[0].relative_to(BUILD)}"):
            progress.hide()
            begun[1]()

    return run_tool([*ninja(), "-C", str(BUILD), *names], show)


Begun = tuple[Path, Callable[[], None]]  # a program, and what may begin when it has been linked


def compile_targets(
    paths: Iterable[Path], what: str = "building", kept: list[str] | None = None, begun: Begun | None = None
) -> None:
    """Compiles programs, given by their paths in build/; everything if none is given. Prints the warnings about a
    student's files, or adds them to `kept`. `begun`: called while the other programs are still compiled, if nothing but
    one step has changed; otherwise not at all. Raises CompileFailed."""
    ensure()
    names = [str(path.relative_to(BUILD)) for path in paths]
    with files.locked("build"), Progress(what) as progress:
        status, output = _run_ninja(names, progress, begun)
        if status and _DAMAGED.search(output) and not diagnostics_found(output):
            note("build/ is damaged: setting it up again")
            _set_up()
            status, output = _run_ninja(names, progress)
    if status and (missing := _MISSING.search(output)):
        raise missing_file(shown(ROOT / next(filter(None, missing.groups()))))
    if status:
        meson_errors = [line for line in output.splitlines() if re.search(r"meson\.build:\d+:\d+: ERROR", line)]
        if meson_errors:
            raise Problem("\n".join(meson_errors))
        if status < 0 or "interrupted by user" in output:  # a signal has ended Ninja
            raise Problem("the build was interrupted before it had finished: run the command again")
        raise CompileFailed(output)
    for line in diagnostics.warnings(output):
        if kept is None:
            note(line)
        elif line not in kept:
            kept.append(line)


def diagnostics_found(output: str) -> bool:
    """Whether a compiler reported an error: then the sources are at fault, not the folder."""
    return bool(re.search(r"(:\d+:|\(\d+\)\s?:) (fatal )?error\b", output))


ONCE = "this happens only once and takes about a minute on 2 cores"


def first_look(step: StepFile, solution: bool) -> list[Path]:
    """The programs for a first look at a step that takes long to compile, with few types of keys: those of the cpu and
    the check build. Empty if the step has no second part, or if nothing else of its lab has been built yet."""
    second_part = f"{target(step.lab, 'cpu')}.p/meson-generated_{Path(step.file).stem}.others.cpp.o"
    if solution or all(entry.get("output") != second_part for entry in compile_commands()):
        return []
    all_types = [judge(), *(runner(step.lab, kind) for kind in ("cpu", "check"))]
    return [runner(step.lab, f"{kind}-first") for kind in ("cpu", "check") if all(map(Path.exists, all_types))]


def make_programs(
    lab: str, kinds: Sequence[str], solution: bool, kept: list[str] | None = None, with_check: bool = True
) -> list[Path]:
    """Builds what a check runs, side by side. `kept`: as of compile_targets(). `with_check`: whether
    the check build is among them. Returns what it leaves out: the first verdict does not wait until the check build is
    compiled for the first time."""
    programs = [judge(), *(runner(lab, kind, solution) for kind in kinds)]
    if not programs[0].exists():
        note(f"building the judge, CUDA on the CPU, and {lab}:\n{ONCE}")
    elif not all(program.exists() for program in programs):
        note(f"building {lab} for the first time")
    check_program = runner(lab, "check", solution)
    needs_check = with_check and "cpu" in kinds
    later = [check_program] if needs_check and not check_program.exists() else []
    if needs_check and not later:
        programs.append(check_program)
    compile_targets(programs, f"building {lab}", kept)
    return later
