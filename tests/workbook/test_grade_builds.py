"""Files that do not compile, or that are refused: each costs its own step, and the student reads why."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from in_folder import InFolder
from report_data import step

from workbook.core.judge_types import Lab
from workbook.grading import lab_builds
from workbook.grading.lab_builds import LabBuild, LabBuilder
from workbook.grading.lab_commands import step_files
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
        made.starters = {f"{LAB}/{name}": "" for name in step_files(LAB)}
        made.compile.side_effect = lambda box, lab, name, kind: Compiled(self.folder / f"{name}-cpu.o")
        made.link.side_effect = link
        made.starter_object.side_effect = lambda lab, name, kind: Path("starter", name)
        self.linked: list[dict[str, Path]] = []
        self.seen: list[Sequence[str]] = []
        answers = iter(found)

        def inspect(objects: Sequence[Path], given: Collection[str]) -> Inspection:
            self.seen.append([path.name.partition("-")[0] for path in objects])
            return next(answers)

        self.replace(inspector, "inspect", inspect)
        self.replace(lab_builds, "Object", lambda path: SimpleNamespace(defined=set(), undefined=set()))
        self.replace(inspector, "calls_of_others", lambda file, *_: self.calls.get(file, []))
        return LabBuilder(made, mock.Mock(), 1).build(LAB, {"01_global.cu": "fork();\n", "02_shared.cu": "int a;\n"})

    def test_a_file_by_itself(self) -> None:
        """The other one is inspected again, without what the refused one defines, and linked with the starter."""
        refused = {"01_global.cu": ("01_global.cu uses fork: it controls processes",)}
        built = self.build(Inspection(refused, ("02_shared.cu uses x",)), Inspection())
        self.assertEqual([["01_global.cu", "02_shared.cu"], ["02_shared.cu"]], self.seen)
        self.assertEqual("01_global.cu:1", built.refused["01_global.cu"].place)
        self.assertEqual(("02_shared.cu uses x",), built.unknown)
        self.assertEqual({"02_shared.cu": self.folder / "02_shared.cu-cpu.o"}, self.linked[0])

    def test_a_call_of_another_step(self) -> None:
        self.calls = {"02_shared.cu": ["02_shared.cu uses sort of 01_global.cu: this step must do its own work"]}
        built = self.build(Inspection())
        self.assertEqual({"02_shared.cu"}, set(built.refused))
        self.assertNotIn("02_shared.cu", self.linked[0])

    def test_one_after_another(self) -> None:
        """What one file takes from another that is refused is found out then."""
        first = {"01_global.cu": ("01_global.cu defines fork, which a library defines",)}
        second = {"02_shared.cu": ("02_shared.cu uses fork: it controls processes",)}
        built = self.build(Inspection(first), Inspection(second), Inspection())
        self.assertEqual({"01_global.cu", "02_shared.cu"}, set(built.refused))
        self.assertEqual([], self.seen[2])


class StandIns(InFolder):
    """What takes the place of functions that a submission lacks. Objects are made up: what each defines, and needs."""

    def setUp(self) -> None:
        super().setUp()
        self.objects: dict[str, tuple[set[str], set[str]]] = {}
        self.replace(lab_builds, "Object", lambda path: SimpleNamespace(**self.symbols(path)))
        table = Lab(
            LAB, "u32", None, (step(1), step(2, "shared"), step(3, "hybrid", uses=("shared",)), step(4), step(5))
        )
        self.programs = mock.Mock(spec=Programs, kinds=["cpu", "check"], tables={LAB: table}, references={})
        self.programs.link.side_effect = self.link
        self.linked: list[dict[str, str]] = []
        self.does_link = True
        self.made = LabBuild(LAB, programs={kind: Path(kind) for kind in self.programs.kinds})
        for kind in self.programs.kinds:
            for name in ("02_shared.cu", "03_hybrid.cu"):
                (self.folder / f"solution-{name}").write_text(name)
                self.programs.references[LAB, name, kind] = self.folder / f"solution-{name}"
            for name in ("01_global.cu", "03_hybrid.cu"):
                self.made.objects[name, kind] = self.folder / name
        self.builder = LabBuilder(self.programs, Box(self.folder, None, None), 1)

    def symbols(self, path: Path) -> dict[str, set[str]]:
        """What an object defines and needs."""
        defined, undefined = self.objects.get(path.name, (set(), set()))
        return {"defined": set(defined), "undefined": set(undefined)}

    def link(self, box: Box, lab: str, kind: str, objects: Mapping[str, Path], name: str) -> Compiled:
        """Notes what is linked, and that the solutions are readable then."""
        self.linked.append({file: path.read_text() if path.exists() else "mine" for file, path in objects.items()})
        return Compiled(Path(name) if self.does_link else None)

    def with_reference(self, *needed: str, lost: Collection[int] = (1, 2)) -> list[int]:
        """The steps whose solutions step 03 runs with, if it needs these functions."""
        self.objects = {
            "solution-02_shared.cu": ({"tiles", "sort_shared"}, set()),
            "solution-03_hybrid.cu": ({"sort_hybrid"}, {"tiles", "launch"}),
            "03_hybrid.cu": ({"sort_hybrid"}, {*needed}),
        }
        programs, replaced = self.builder.with_reference(self.made, 3, lost)
        ran = {kind: Path(f"{LAB}-{kind}-03") if replaced else Path(kind) for kind in self.programs.kinds}
        self.assertEqual(ran, programs)
        self.assertEqual([], [path.name for path in self.folder.glob("reference-*")])
        return replaced

    def test_a_step_that_another_uses(self) -> None:
        self.assertEqual([2], self.with_reference("tiles", "launch"))
        self.assertEqual([{"03_hybrid.cu": "mine", "02_shared.cu": "02_shared.cu"}] * 2, self.linked)

    def test_the_students_own_is_kept(self) -> None:
        """Also where the solution would do the work of the step, or lacks what the student's file has."""
        self.assertEqual([], self.with_reference("tiles", lost=()))
        self.assertEqual([], self.with_reference("launch"))
        self.assertEqual([], self.with_reference("tiles", "sort_shared"))
        self.assertEqual([], self.linked)
        self.does_link = False
        self.assertEqual([], self.with_reference("tiles"))

    def test_key_types_and_functions_that_a_file_lacks(self) -> None:
        of = {one: f"_ZN1s1fI{one}EEv{one}" for one in "hji"}  # void s::f<unsigned char>(...), and so on
        self.programs.runner_object.return_value = Path("runner")
        self.programs.starter_object.side_effect = lambda lab, name, kind: Path(f"starter-{name}")
        self.builder.texts = dict.fromkeys(("01_global.cu", "03_hybrid.cu"), "unsigned int n;\nvoid f() {}\n")
        self.objects = {
            "runner": (set(), {*of.values(), "_ZN1s1gEv"}),
            "starter-01_global.cu": ({*of.values(), "_ZN1s5innerEv"}, set()),
            "01_global.cu": ({of["j"]}, set()),
            "starter-03_hybrid.cu": ({"_ZN1s1gEv"}, set()),
        }
        self.builder._look_for_gaps(self.made)
        lacking, broken = self.made.lacking["01_global.cu"], self.made.broken["03_hybrid.cu"]
        self.assertRegex(lacking.message, r"^01_global.cu does not define s::f for keys of type uint8_t and int32_t$")
        self.assertEqual("01_global.cu:2", lacking.place)
        self.assertEqual({"u8", "i32"}, self.made.missing_types["01_global.cu"])
        self.assertEqual("03_hybrid.cu does not define s::g", broken.message)
