"""Compiles and links the runner of a lab with a student's files, in the sandbox.

Everything that students do not write is compiled once, by Ninja: the judge, the libraries, and the starters. What a
submission needs of it is copied to a folder that the sandbox shows. The commands are those of the build folder.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core import build, course, diagnostics, machine, starters
from ..core.console import Problem
from ..core.course import ROOT, has_solutions, steps
from ..core.judge_client import JudgeClient
from ..core.judge_types import Lab
from ..inspection.inspector import INITIALISERS, RENAMED
from ..inspection.objects import Object
from . import compiler_output
from .lab_commands import LabCommands, step_files
from .sandbox import Box, Sandbox, python

COMPILE_SECONDS = 60  # of a processor; the longest of the solutions takes 20
PATIENCE = 600.0  # seconds that a busy machine may take for that
HEADERS = ("*.h", "*.cuh")
_ENDLESS = "look for templates, constexpr functions or macros that expand without end"
_TOO_LONG = f"compiling it took more than {COMPILE_SECONDS} s of a processor's time, which is the limit: {_ENDLESS}"
_TOO_LARGE = f"the compiler was killed without a message, as happens when it needs too much memory: {_ENDLESS}"
# What the shell's `times` prints last: its own user and system time, and then that of its children.
_TIMES = re.compile(r"\S+m\S+s \S+m\S+s\n(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*\Z")
_ALONE = "-Wl,--force-group-allocation"  # its functions do not give way to others of the same name


@dataclass(frozen=True)
class Compiled:
    """The outcome of a compilation."""

    item: Path | None  # the object or the program
    words: str = ""  # why there is none
    refused: tuple[str, ...] = ()  # sentences: the source contains what no step may
    fault: bool = False  # the compiler reported no error in the source, so the machine may be at fault


def starter_texts(labs: Iterable[str]) -> dict[str, str]:
    """The text of each file before anybody has worked on it: {"03-bitonic/02_shared.cu": text}."""
    paths = [step.file for lab in labs for step in steps(lab)]
    if has_solutions():
        made = {path.as_posix(): text for path, text in starters.all_starters().items()}
        return {path: made[path] for path in paths}
    return {path: (ROOT / "labs" / path).read_text(encoding="utf-8", errors="replace") for path in paths}


class Programs:
    """Makes runners for submissions of some labs."""

    def __init__(self, sandbox: Sandbox, labs: Sequence[str], kinds: Sequence[str]) -> None:
        self.sandbox, self.labs, self.kinds = sandbox, list(labs), list(kinds)
        self.recipes = {(lab, kind): LabCommands(lab, kind) for lab in labs for kind in kinds}
        self.starters = starter_texts(labs)
        self.tables: dict[str, Lab] = {}
        self.references: dict[tuple[str, str, str], Path] = {}  # objects of solutions, by lab, file and build
        self._python = python()

    # --- once per run ---

    def prepare(self, more: Sequence[Path] = ()) -> None:
        """Builds what submissions share, and `more` programs of the build folder. Raises Problem."""
        as_made = {path for path, text in self.starters.items() if _same(ROOT / "labs" / path, text)}
        needed: dict[str, None] = {}
        for (lab, _), recipe in self.recipes.items():
            needed.update(dict.fromkeys(recipe.inputs()))
            for name, parts in recipe.objects.items():
                needed.update(dict.fromkeys(parts if f"{lab}/{name}" in as_made else ()))
        paths = [build.judge(), *more, *(build.folder() / path for path in needed)]
        build.compile_targets(paths, "building what is graded with")
        with JudgeClient() as judge:
            self.tables = {lab: judge.lab(lab) for lab in self.labs}
        self._copy_sources()
        for recipe in self.recipes.values():
            for path in {*recipe.inputs()} - {*recipe.of_runner()}:
                self._copy_built(path)
            self._join_runner(recipe)
        box = self.sandbox.boxes[0] if self.sandbox.boxes else self.sandbox.add_box()
        self._find_tools(box)
        for recipe in self.recipes.values():
            self._make_starters(box, recipe, as_made)
        self._build_references()

    def _copy_sources(self) -> None:
        tree = self.sandbox.shared / "tree"
        for folder in ("common/step", "common/simt/include", "common/simt/rewrite", "common/simt/calls"):
            shutil.copytree(ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__"))
        for lab in course.labs():  # all of them: a lab may include headers of another
            (tree / "labs" / lab).mkdir(parents=True)
            for pattern in HEADERS:
                for header in (ROOT / "labs" / lab).glob(pattern):
                    shutil.copy(header, tree / "labs" / lab)
        for path in [tree, *tree.rglob("*")]:  # for another user, whatever our umask is
            path.chmod(0o755 if path.is_dir() else 0o644)

    def _copy_built(self, path: str) -> None:
        """Copies a file of the build folder; of an archive that only names its members, these, too."""
        source, target = build.folder() / path, self.sandbox.shared / "build" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        target.chmod(0o644)
        for folder in target.relative_to(self.sandbox.shared).parents:
            (self.sandbox.shared / folder).chmod(0o755)
        with open(source, "rb") as file:
            is_thin = file.read(8) == b"!<thin>\n"
        if is_thin:
            listed = subprocess.run(["ar", "t", path], cwd=build.folder(), capture_output=True, text=True, check=True)
            for member in listed.stdout.splitlines():
                self._copy_built(member)

    def _join_runner(self, recipe: LabCommands) -> None:
        """Makes one object of a runner and our libraries. In it, copies of inline functions and templates are local, as
        are their data: nothing that a submission defines by such a name takes their place. Raises Problem."""
        parts = recipe.of_runner()
        objects, archives = ([part for part in parts if part.endswith(end)] for end in (".o", ".a"))
        into = self.runner_object(recipe.lab, recipe.kind)
        self._join(recipe, into, [_ALONE, *objects, "-Wl,--whole-archive", *archives, "-Wl,--no-whole-archive"])
        copies = [one.name for one in Object(into).symbols if one.binding == "WEAK" and not one.is_undefined]
        self._change_symbols(recipe, into, "--localize-symbols", copies)

    def _join(self, recipe: LabCommands, into: Path, parts: Sequence[str]) -> None:
        """Makes one object of several. Raises Problem."""
        into.parent.mkdir(parents=True, exist_ok=True)
        command = [*(machine.compiler() or ["c++"]), "-r", "-nostdlib", "-o", str(into), *parts]
        self._run_here(command, recipe)
        into.chmod(0o644)

    def _change_symbols(self, recipe: LabCommands, path: Path, option: str, symbols: Iterable[str]) -> None:
        """Changes an object with an option of objcopy that takes symbols from a file. Raises Problem."""
        with tempfile.NamedTemporaryFile("w") as names:
            names.write("\n".join(symbols))
            names.flush()
            self._run_here(["objcopy", f"{option}={names.name}", str(path)], recipe)

    @staticmethod
    def _run_here(command: Sequence[str], recipe: LabCommands) -> None:
        """Runs a command in the build folder, outside the sandbox. Raises Problem."""
        done = subprocess.run(command, cwd=build.folder(), capture_output=True, text=True, check=False)
        if done.returncode:
            raise Problem(f"the runner {recipe.target} cannot be linked: {done.stderr.strip()[:300]}")

    def _find_tools(self, box: Box) -> None:
        """Shows compilers that are not below /usr in the sandbox. Raises Problem if they do not start there."""
        words = {recipe.link[0] for recipe in self.recipes.values()}
        words |= {command[0] for recipe in self.recipes.values() for command in recipe.compile.values()}
        places = [Path(os.path.realpath(word)) for word in (*words, self._python)]
        self.sandbox.tools = tuple({place.parents[1] for place in places if not place.is_relative_to("/usr")})
        for word in sorted(words):
            done = self.sandbox.run(box, [word, "--version"], PATIENCE)
            if not done.ok:
                raise Problem(f"{word} cannot be started in the sandbox: {done.errors.strip()[:300]}", 2)

    def _make_starters(self, box: Box, recipe: LabCommands, as_made: set[str]) -> None:
        """Makes an archive of the starters, from which the linker takes what a submission lacks. What is in labs/ as it
        was given out has been compiled. Raises Problem."""
        called = Object(self.runner_object(recipe.lab, recipe.kind)).undefined
        for_runner, for_steps = [], []
        for name, parts in recipe.objects.items():
            if f"{recipe.lab}/{name}" not in as_made:
                self.lay_out(box, recipe.lab, {})
                compiled = self.compile(box, recipe.lab, name, recipe.kind)
                if not compiled.item:
                    raise Problem(f"the starter labs/{recipe.lab}/{name} does not compile\n\n{compiled.words}")
                parts = [str(compiled.item)]
            # What the runner calls must call the starter's own functions. Compilers rely on what these do: for example,
            # on that they do not return, because they are not written.
            alone, whole = self._shared(recipe, f"alone-{name}.o"), self.starter_object(recipe.lab, name, recipe.kind)
            self._join(recipe, alone, [_ALONE, *parts])
            self._change_symbols(recipe, alone, "--keep-global-symbols", called)
            self._join(recipe, whole, parts)
            for path in (alone, whole):
                self._run_here(["objcopy", "--weaken", str(path)], recipe)
            for_runner.append(str(alone))
            for_steps.append(str(whole))
        archive = self._shared(recipe, "starters.a")
        self._run_here(["ar", "rcs", str(archive), *for_runner, *for_steps], recipe)
        archive.chmod(0o644)

    def _build_references(self) -> None:
        """Builds the solutions, where there are any, of steps that use others or that others use. No sandbox shows them
        to a compiler. Raises Problem."""
        for lab, kind in self.recipes:
            users = {n: self.tables[lab].may_call(n) - {n} for n in (step.number for step in steps(lab))}
            for step in steps(lab):
                made = build.object_of(step, kind, solution=True)
                if made and (users[step.number] or any(step.number in used for used in users.values())):
                    self.references[lab, Path(step.file).name, kind] = build.folder() / made
        if self.references:
            build.compile_targets(self.references.values(), "building the solutions of steps that others use")

    def _shared(self, recipe: LabCommands, what: str) -> Path:
        return self.sandbox.shared / "build" / f"{recipe.target}-{what}"

    def runner_object(self, lab: str, kind: str) -> Path:
        """The object of a lab's runner, without the steps."""
        return self._shared(self.recipes[lab, kind], "runner.o")

    def starter_object(self, lab: str, name: str, kind: str) -> Path:
        """The object of an unchanged starter."""
        return self._shared(self.recipes[lab, kind], f"starter-{name}.o")

    # --- per submission ---

    def lay_out(self, box: Box, lab: str, texts: Mapping[str, str]) -> None:
        """Writes the lab's folder into a box: our headers, the student's files, and starters in place of the others."""
        self.sandbox.empty(box)
        folder = box.folder / "tree/labs" / lab
        folder.mkdir(parents=True)
        (box.folder / "tree/common").symlink_to(self.sandbox.shared / "tree/common")
        for other in (self.sandbox.shared / "tree/labs").iterdir():
            if other.name != lab:
                (folder.parent / other.name).symlink_to(other)
        for header in (self.sandbox.shared / "tree/labs" / lab).iterdir():
            shutil.copy(header, folder)
        for name in step_files(lab):
            text = texts.get(name, self.starters[f"{lab}/{name}"])
            (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")
        for path in [box.folder / "tree", *(box.folder / "tree").rglob("*")]:
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() else 0o644)

    def _translated(self, words: Iterable[str], box: Box, scratch: str) -> list[str]:
        """Words of a command of the build folder, for the box's own tree."""
        tree = str(box.folder / "tree")
        folder = os.path.abspath(build.folder())
        found = []
        before = ""
        for word in words:
            include = re.match(r"(-I|-isystem)(.+)", word)
            if include:
                place = os.path.normpath(os.path.join(folder, include[2]))
                if Path(place).is_relative_to(folder):
                    continue  # made there, and not for steps
                word = include[1] + place
            elif word.startswith("-ffile-prefix-map="):
                word = f"-ffile-prefix-map={tree}/="
            if before == "-wrapper":  # Meson's own Python, which the sandbox may not show
                word = f"{self._python},{word.partition(',')[2]}"
            before = word
            found.append(word.replace(folder, scratch).replace(os.path.abspath(ROOT), tree))
        return found

    def compile(self, box: Box, lab: str, name: str, kind: str) -> Compiled:
        """Compiles one file of the lab that was laid out. The object is in the box's folder."""
        recipe = self.recipes[lab, kind]
        words = list(recipe.compile[name])
        tree = box.folder / "tree"
        source = str(tree / "labs" / lab / name)
        steps_ = []
        if kind != "cuda":
            rewrite = [self._python, str(self.sandbox.shared / "tree/common/simt/rewrite/rewrite.py"), source]
            rewrite += [
                "-o",
                f"{name}.cpp",
                "--root",
                str(tree),
                *(word for folder in (f"labs/{lab}", "labs", "common") for word in ("-I", str(tree / folder))),
            ]
            # The search for calls of host functions reads the lines that the compiler names: labs/LAB/NAME.
            steps_ += [["ln", "-sfn", str(tree / "labs"), "labs"], rewrite]
            words += ["-fdiagnostics-color=never"]
            look = [self._python, "-I", str(self.sandbox.shared / "own_code.py"), name, source, "preprocessed"]
            source = f"{name}.cpp"
        into = box.folder / f"{name}-{kind}.o"
        compiler = self._translated(words, box, self._scratch(box, into))
        if kind != "cuda":
            steps_ += [[*compiler, "-o", "preprocessed", "-E", source], look]
        steps_.append([*compiler, "-o", "made", "-c", source])
        # What initialises global variables runs with the step, and not before main: see common/runner/call.cpp.
        steps_.append(["objcopy", *(f"--rename-section={name}={RENAMED}" for name in INITIALISERS), "made"])
        return self._made(box, steps_, into)

    def link(self, box: Box, lab: str, kind: str, objects: Mapping[str, Path], name: str = "") -> Compiled:
        """Links a runner. `objects`: by the name of the file; starters take the place of what they lack. `name`: of the
        program, if it is not the lab's only one."""
        recipe = self.recipes[lab, kind]
        first, *others = recipe.of_runner()
        left_out = {*recipe.of_steps(), *others}
        shared = {path: [str(self.sandbox.shared / "build" / path)] for path in recipe.inputs()}
        runner, starters_ = self.runner_object(lab, kind), self._shared(recipe, "starters.a")
        shared |= {first: [*map(str, objects.values()), str(runner), str(starters_)], recipe.target: ["made"]}
        words = [new for word in recipe.link if word not in left_out for new in shared.get(word, [word])]
        made = self._made(box, [words], box.folder / (name or f"{lab}-{kind}"))
        if made.item:
            made.item.chmod(0o755)
        return made

    def _scratch(self, box: Box, into: Path) -> str:
        """Where a file is made: several are made at the same time."""
        return f"{self.sandbox.environment(box)['TMPDIR']}/{into.name}.d"

    def _made(self, box: Box, commands: Sequence[Sequence[str]], into: Path) -> Compiled:
        """Runs commands in the sandbox, the last of which makes the file `made`, which is then copied to `into`."""
        scratch = self._scratch(box, into)
        script = (
            f"mkdir -p {shlex.quote(scratch)} && cd {shlex.quote(scratch)} && ulimit -t {COMPILE_SECONDS} && rm -f made"
        )
        script += "".join(f" && {shlex.join(words)} >&2" for words in commands) + " && exec cat made; times >&2; exit 1"
        done = self.sandbox.run(box, ["/bin/sh", "-c", script], PATIENCE)
        if done.ok and done.output:
            into.write_bytes(done.output)
            into.chmod(0o644)
            return Compiled(into)
        if refused := re.findall(r"^refused: (.+)", done.errors, re.MULTILINE):
            return Compiled(None, refused=tuple(refused))
        errors, seconds = _without_times(done.errors)
        said = errors.replace(str(self.sandbox.shared / "tree") + "/", "")
        said = compiler_output.own_lines(said, box.folder / "tree", Path(scratch))
        words = diagnostics.summary(said, box.folder / "tree", Path(scratch))
        reported = build.diagnostics_found(said) or "undefined reference" in said or "multiple definition" in said
        # What a process that was ended has used may be counted a little too low.
        if not reported and (done.timed_out or seconds >= 0.75 * COMPILE_SECONDS):
            words = _TOO_LONG
        elif not said.strip():
            words = _TOO_LARGE
        for folder in (scratch, box.folder, self.sandbox.shared):
            words = words.replace(f"{folder}/", "")
        return Compiled(None, words, fault=not reported)


def _without_times(errors: str) -> tuple[str, float]:
    """What was printed before the two lines of the shell's `times`, and the seconds of its children; 0: unknown."""
    found = _TIMES.search(errors)
    if not found:
        return errors, 0.0
    minutes, seconds = (sum(float(found[at]) for at in places) for places in ((1, 3), (2, 4)))
    return errors[: found.start()], 60 * minutes + seconds


def _same(path: Path, text: str) -> bool:
    try:
        return path.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False
