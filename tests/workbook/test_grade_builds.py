"""Files that do not compile, or that are refused: each costs its own step, and the student reads why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest import mock

from in_folder import InFolder

from workbook.grading import lab_builds, programs
from workbook.grading.lab_builds import LabBuilder
from workbook.grading.programs import COMPILE_SECONDS, Compiled, Programs
from workbook.grading.sandbox import Box, Done
from workbook.inspection import inspector
from workbook.inspection.inspector import Inspection

LAB = "03-bitonic"
SOURCE = "#include <vector>\nint nowhere(int);\nint f() { return nowhere(3); }\n"
TIMES = "0m0.010000s 0m0.020000s\n{}m{:.6f}s 0m0.500000s\n"


class Messages(InFolder):
    """What a student reads about an error of the compiler or the linker."""

    def compiled(self, errors: str, timed_out: bool = False) -> Compiled:
        """The outcome of a command that fails in the sandbox and prints this."""
        box = Box(self.folder, None, None)
        (self.folder / "tree").mkdir(exist_ok=True)
        made = mock.Mock(spec=Programs)
        made.sandbox = mock.Mock(shared=Path("/shared"))
        made.sandbox.run.return_value = Done(1, b"", errors.replace("{box}", str(self.folder)), timed_out)
        made._scratch.return_value = str(self.folder / "tmp/02_shared.cu-cpu.o.d")
        return Programs._made(made, box, [["true"]], self.folder / "02_shared.cu-cpu.o")

    def test_a_compiler_that_takes_too_long(self) -> None:
        for errors, timed_out, is_long in (
            (TIMES.format(1, 0.2), False, True),
            (TIMES.format(0, 0.9 * COMPILE_SECONDS), False, True),
            (TIMES.format(0, 2.5), False, False),
            ("", True, True),
            ("labs/03-bitonic/02_shared.cu:3:1: error: no such thing\n" + TIMES.format(1, 2.5), False, False),
        ):
            with self.subTest(errors=errors):
                compiled = self.compiled(errors, timed_out)
                self.assertEqual(is_long, "took more than 60 s" in compiled.words, compiled.words)
                self.assertNotIn("0m0.01", compiled.words)

    def test_no_path_of_the_grader_and_no_line_of_a_library(self) -> None:
        """The linker names objects, what the rewriter made, and headers of the library."""
        said = (
            "/usr/bin/ld: {box}/02_shared.cu-cpu.o: in function `f()':\n"
            "/usr/include/c++/12/bits/stl_algo.h:4853: undefined reference to `nowhere(int)'\n"
            "/usr/bin/ld: /usr/include/c++/12/bits/stl_algo.h:4853: undefined reference to `nowhere(int)'\n"
            "/usr/bin/ld: {box}/02_shared.cu-cpu.o: in function `g()':\n"
            "{box}/tmp/02_shared.cu-cpu.o.d/02_shared.cu.cpp:2729: multiple definition of `f()'; "
            "{box}/01_global.cu-cpu.o:/usr/include/c++/12/bits/basic_string.h:392: first defined here\n"
            "/usr/bin/ld: {box}/02_shared.cu-cpu.o:labs/03-bitonic/02_shared.cu:1: undefined reference to `vtable'\n"
        )
        words = self.compiled(said + TIMES.format(0, 1)).words
        self.assertEqual(
            words.splitlines(),
            [
                "02_shared.cu: undefined reference to `nowhere(int)'",
                "02_shared.cu: multiple definition of `f()', which 01_global.cu defines, too",
                "labs/03-bitonic/02_shared.cu:1: undefined reference to `vtable'",
            ],
        )
        for first, place in ((0, "02_shared.cu:2"), (1, "02_shared.cu:3"), (2, "02_shared.cu:1")):
            failure = lab_builds._failure(LAB, "02_shared.cu", "cpu", words.splitlines()[first], SOURCE)
            self.assertEqual(place, failure.place)

    def test_a_line_that_the_file_does_not_have(self) -> None:
        words = "02_shared.cu.cpp:2: error: x\nlabs/03-bitonic/02_shared.cu:2729: error: x"
        self.assertEqual("02_shared.cu", lab_builds._failure(LAB, "02_shared.cu", "cpu", words, SOURCE).place)


class Refused(InFolder):
    """Files that use what is refused."""

    calls: Mapping[str, list[str]] = {}  # sentences on what files take from other steps

    def build(self, *found: Inspection) -> lab_builds.LabBuild:
        """A lab with two files, of which inspections find this, one after another."""

        def link(box: Box, lab: str, kind: str, objects: dict[str, Path]) -> Compiled:
            self.linked.append(dict(objects))
            return Compiled(Path("x"))

        made = mock.Mock(spec=Programs, kinds=["cpu"], starters={}, tables={LAB: mock.Mock()})
        made.starters = {f"{LAB}/{name}": "" for name in programs.step_files(LAB)}
        made.compile.side_effect = lambda box, lab, name, kind: Compiled(self.folder / f"{name}-cpu.o")
        made.link.side_effect = link
        made.starter_object.side_effect = lambda lab, name, kind: Path("starter", name)
        self.linked: list[dict[str, Path]] = []
        self.seen: list[Sequence[str]] = []
        answers = iter(found)

        def inspect(objects: Sequence[Path]) -> Inspection:
            self.seen.append([path.name.partition("-")[0] for path in objects])
            return next(answers)

        self.replace(inspector, "inspect", inspect)
        self.replace(lab_builds, "Object", mock.Mock(symbols=[]))
        self.replace(inspector, "calls_of_others", lambda file, *_: self.calls.get(file, []))
        return LabBuilder(made, mock.Mock(), 1).build(LAB, {"01_global.cu": "fork();\n", "02_shared.cu": "int a;\n"})

    def test_a_file_by_itself(self) -> None:
        """The other one is inspected again, without what the refused one defines, and linked with the starter."""
        refused = {"01_global.cu": ("01_global.cu uses fork: it controls processes",)}
        built = self.build(Inspection(refused, ("02_shared.cu uses x",)), Inspection())
        self.assertEqual([["01_global.cu", "02_shared.cu"], ["02_shared.cu"]], self.seen)
        self.assertEqual("01_global.cu:1", built.refused["01_global.cu"].place)
        self.assertEqual(("02_shared.cu uses x",), built.unknown)
        self.assertEqual(Path("starter/01_global.cu"), self.linked[0]["01_global.cu"])
        self.assertEqual(self.folder / "02_shared.cu-cpu.o", self.linked[0]["02_shared.cu"])

    def test_a_call_of_another_step(self) -> None:
        self.calls = {"02_shared.cu": ["02_shared.cu uses sort of 01_global.cu: this step must do its own work"]}
        built = self.build(Inspection())
        self.assertEqual({"02_shared.cu"}, set(built.refused))
        self.assertEqual(Path("starter/02_shared.cu"), self.linked[0]["02_shared.cu"])

    def test_one_after_another(self) -> None:
        """What one file takes from another that is refused is found out then."""
        first = {"01_global.cu": ("01_global.cu defines fork, which a library defines",)}
        second = {"02_shared.cu": ("02_shared.cu uses fork: it controls processes",)}
        built = self.build(Inspection(first), Inspection(second), Inspection())
        self.assertEqual({"01_global.cu", "02_shared.cu"}, set(built.refused))
        self.assertEqual([], self.seen[2])
