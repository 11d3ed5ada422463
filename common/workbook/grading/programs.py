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
from ..core.recipe import commands
from ..inspection.inspector import INITIALISERS, RENAMED
from ..inspection.objects import Object
from . import compiler_output
from .sandbox import Box, Sandbox, python

COMPILE_SECONDS = 60  # of a processor; the longest of the solutions takes 20
PATIENCE = 600.0  # seconds that a busy machine may take for that
HEADERS = ("*.h", "*.cuh")
_ENDLESS = "look for templates, constexpr functions or macros that expand without end"
_TOO_LONG = f"compiling it took more than {COMPILE_SECONDS} s of a processor's time, which is the limit: {_ENDLESS}"
_TOO_LARGE = f"the compiler was killed without a message, as happens when it needs too much memory: {_ENDLESS}"
# What the shell's `times` prints last: its own user and system time, and then that of its children.
_TIMES = re.compile(r"\S+m\S+s \S+m\S+s\n(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*\Z")
_REPLACED = ("-o", "-c", "-MF", "-MQ", "-MT")  # options with an argument: files that are elsewhere in the sandbox
_DEPENDENCIES = ("-MD", "-fpch-deps")  # options that ask for a list of what is read


@dataclass(frozen=True)
class Compiled:
    """The outcome of a compilation."""

    item: Path | None  # the object or the program
    words: str = ""  # why there is none
    refused: tuple[str, ...] = ()  # sentences: the source contains what no step may
    fault: bool = False  # the compiler reported no error in the source, so the machine may be at fault


def step_files(lab: str) -> list[str]:
    """The names of the files that students fill in: "02_shared.cu"."""
    return [step.file.partition("/")[2] for step in steps(lab)]


def starter_texts(labs: Iterable[str]) -> dict[str, str]:
    """The text of each file before anybody has worked on it: {"03-bitonic/02_shared.cu": text}."""
    paths = [step.file for lab in labs for step in steps(lab)]
    if has_solutions():
        made = {path.as_posix(): text for path, text in starters.all_starters().items()}
        return {path: made[path] for path in paths}
    return {path: (ROOT / "labs" / path).read_text(encoding="utf-8", errors="replace") for path in paths}


def _without_launcher(words: list[str]) -> list[str]:
    """A compiler's command without ccache, and with the path of the compiler: other variables hold in the sandbox."""
    program, *rest = words[1:] if Path(words[0]).name in ("ccache", "sccache") else words
    return [shutil.which(program) or program, *rest]


def _without_files(words: Sequence[str]) -> list[str]:
    """A compiler's command without the files that it reads and writes."""
    before = ("", *words)
    left_out = {*_REPLACED, *_DEPENDENCIES}
    return [word for last, word in zip(before, words) if word not in left_out and last not in _REPLACED]


class LabCommands:
    """The commands that make a lab's runner of one build, as they are in the build folder."""

    def __init__(self, lab: str, kind: str) -> None:
        self.lab, self.kind = lab, kind
        self.target = build.target(lab, kind)
        self.compile: dict[str, list[str]] = {}  # by the name of the file, without what is read and written
        self.objects: dict[str, str] = {}  # by the name of the file, relative to the build folder
        for entry in build.compile_commands():
            output = entry.get("output", "")
            name = Path(entry["file"]).name.removesuffix(".cpp")
            if output.startswith(f"{self.target}.p/") and name in step_files(lab):
                self.compile[name] = _without_files(_without_launcher(shlex.split(entry["command"])))
                self.objects[name] = output
        self.link = _link_command(self.target)
        if not self.link or set(self.compile) != set(step_files(lab)):
            raise Problem(f"the build folder has no commands for {self.target}: remove build/ and run this again")
        if has_solutions():
            self._call_solutions()

    def _call_solutions(self) -> None:
        """Links the solution of a step of another lab that this one calls: each lab is graded by itself."""
        of_other_lab = re.compile(rf"labs/(?!{self.lab}-)[^/]*-{self.kind}(-solution)?\.p/.*\.o")
        starters_ = [word for word in self.link if of_other_lab.fullmatch(word)]
        if not starters_:
            return
        solutions = [
            word
            for word in _link_command(build.target(self.lab, self.kind, solution=True))
            if of_other_lab.fullmatch(word)
        ]
        # A starter's step can be compiled in two parts, and a solution is in one.
        first = self.link.index(starters_[0])
        kept = [word for word in self.link if word not in starters_]
        self.link = [*kept[:first], *solutions, *kept[first:]]

    def inputs(self) -> list[str]:
        """What is linked besides the objects of the student's files, relative to the build folder."""
        own = {*self.objects.values(), self.target}
        words = [word for word in self.link[1:] if not word.startswith("-") and word not in own]
        return [word for word in words if word.endswith((".o", ".a", ".so")) and not os.path.isabs(word)]

    def of_runner(self) -> list[str]:
        """The runner's main program and our libraries, which are linked as one object. Parts of steps are not among
        them: a submission's definitions take their place."""
        return [word for word in self.inputs() if word.endswith("_main.cpp.o") or word.startswith("common/")]


def _link_command(target: str) -> list[str]:
    """The command of the build folder that links a program; empty if there is none."""
    try:
        return _without_launcher(commands(build.folder(), target, "-s")[-1])
    except subprocess.CalledProcessError:
        return []


class Programs:
    """Makes runners for submissions of some labs."""

    def __init__(self, sandbox: Sandbox, labs: Sequence[str], kinds: Sequence[str]) -> None:
        self.sandbox, self.labs, self.kinds = sandbox, list(labs), list(kinds)
        self.recipes = {(lab, kind): LabCommands(lab, kind) for lab in labs for kind in kinds}
        self.starters = starter_texts(labs)
        self._starter_objects: dict[tuple[str, str, str], Path] = {}
        self.tables: dict[str, Lab] = {}
        self._python = python()

    # --- once per run ---

    def prepare(self, more: Sequence[Path] = ()) -> None:
        """Builds what submissions share, and `more` programs of the build folder. Raises Problem."""
        as_made = {path for path, text in self.starters.items() if _same(ROOT / "labs" / path, text)}
        needed: dict[str, None] = {}
        for (lab, _), recipe in self.recipes.items():
            needed.update(dict.fromkeys(recipe.inputs()))
            needed.update({item: None for name, item in recipe.objects.items() if f"{lab}/{name}" in as_made})
        paths = [build.judge(), *more, *(build.folder() / path for path in needed)]
        build.compile_targets(paths, "building what is graded with")
        with JudgeClient() as judge:
            self.tables = {lab: judge.lab(lab) for lab in self.labs}
        self._copy_sources()
        of_runners = {path for recipe in self.recipes.values() for path in recipe.of_runner()}
        for path in needed:
            if path not in of_runners:
                self._copy_built(path)
        for recipe in self.recipes.values():
            self._join_runner(recipe)
        box = self.sandbox.boxes[0] if self.sandbox.boxes else self.sandbox.add_box()
        self._find_tools(box)
        self._compile_starters(box, as_made)

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
        into = self._runner_object(recipe)
        into.parent.mkdir(parents=True, exist_ok=True)
        parts = recipe.of_runner()
        objects, archives = ([part for part in parts if part.endswith(end)] for end in (".o", ".a"))
        options = ["-r", "-nostdlib", "-Wl,--force-group-allocation", "-o", str(into)]
        whole = ["-Wl,--whole-archive", *archives, "-Wl,--no-whole-archive"]
        self._run_here([*(machine.compiler() or ["c++"]), *options, *objects, *whole], recipe)
        with tempfile.NamedTemporaryFile("w") as names:
            copies = [one.name for one in Object(into).symbols if one.binding == "WEAK" and not one.is_undefined]
            names.write("\n".join(copies))
            names.flush()
            self._run_here(["objcopy", f"--localize-symbols={names.name}", str(into)], recipe)
        into.chmod(0o644)

    @staticmethod
    def _run_here(command: Sequence[str], recipe: LabCommands) -> None:
        """Runs a command in the build folder, outside the sandbox. Raises Problem."""
        done = subprocess.run(command, cwd=build.folder(), capture_output=True, text=True, check=False)
        if done.returncode:
            raise Problem(f"the runner {recipe.target} cannot be linked: {done.stderr.strip()[:300]}")

    def _runner_object(self, recipe: LabCommands) -> Path:
        return self.sandbox.shared / "build" / f"{recipe.target}-runner.o"

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

    def _compile_starters(self, box: Box, as_made: set[str]) -> None:
        """Compiles the starters that are not in labs/ as they were given out; the others are copied."""
        for (lab, kind), recipe in self.recipes.items():
            for name, item in recipe.objects.items():
                into = self.sandbox.shared / "build" / item
                if f"{lab}/{name}" not in as_made:
                    self.lay_out(box, lab, {})
                    compiled = self.compile(box, lab, name, kind)
                    if not compiled.item:
                        raise Problem(f"the starter labs/{lab}/{name} does not compile\n\n{compiled.words}")
                    into.parent.mkdir(parents=True, exist_ok=True)
                    shutil.move(compiled.item, into)
                self._starter_objects[lab, name, kind] = into

    def starter_object(self, lab: str, name: str, kind: str) -> Path:
        """The object of an unchanged starter."""
        return self._starter_objects[lab, name, kind]

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

    def link(self, box: Box, lab: str, kind: str, objects: Mapping[str, Path]) -> Compiled:
        """Links a runner. `objects`: by the name of the file."""
        recipe = self.recipes[lab, kind]
        own = {recipe.objects[name]: str(path) for name, path in objects.items()}
        shared = {path: str(self.sandbox.shared / "build" / path) for path in recipe.inputs()}
        first, *others = recipe.of_runner()
        shared[first] = str(self._runner_object(recipe))
        words = [{**own, **shared, recipe.target: "made"}.get(word, word) for word in recipe.link if word not in others]
        made = self._made(box, [words], box.folder / f"{lab}-{kind}")
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
