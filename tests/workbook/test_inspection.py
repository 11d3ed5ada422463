"""What a submission may use, judged on compiled objects.

The attacks of tests/wrong/submissions are compiled as plain C++, which takes a fraction of a second each. A few of the
innocent submissions, drawn by the date, are compiled like a step. INSPECT=all compiles all of them, for each build, and
the attacks with each compiler.
"""

import datetime
import os
import platform
import random
import shutil
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/grading"), str(ROOT / "tests/wrong/submissions")]

import attacks  # noqa: E402
from compiling import command_of, compile_file  # noqa: E402
from in_folder import InFolder  # noqa: E402

from workbook.core import build  # noqa: E402
from workbook.core.console import Problem  # noqa: E402
from workbook.core.course import StepFile  # noqa: E402
from workbook.inspection import inspector, look  # noqa: E402
from workbook.inspection.inspector import INITIALISERS, Inspection, inspect  # noqa: E402
from workbook.inspection.objects import Object, Symbol, demangled  # noqa: E402
from workbook.inspection.refusals import refusal_of  # noqa: E402

INNOCENT = sorted((ROOT / "tests/grading/innocent").glob("*.cu"))
EVERYTHING = os.environ.get("INSPECT") == "all"
BY_CHANCE = "within another instruction"
CALL = "\nvoid called(unsigned* keys, long long n) { attack(keys, n); }\n"


def setUpModule() -> None:
    """The folder whose runners submissions are compared with."""
    if "WORKBOOK_TEST_BUILD" not in os.environ:
        raise unittest.SkipTest("WORKBOOK_TEST_BUILD is not set")
    build.use_folder(Path(os.environ["WORKBOOK_TEST_BUILD"]))


class Compiling(InFolder):
    """Tests that compile in a temporary folder."""

    def compiled(self, text: str, name: str = "01_global.cu", cxx: str = "c++", *options: str) -> Path:
        """The object of a source."""
        source, made = self.folder / f"{name}.{cxx}.cpp", self.folder / f"{name}.{cxx}.o"
        source.write_text(text)
        command = [cxx, "-std=c++20", "-O1", "-w", *options, "-c", str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        return made

    def judged(self, text: str, *options: str) -> Inspection:
        """The judgement on a source."""
        return inspect([self.compiled(text, "01_global.cu", "c++", *options)], INITIALISERS)


class Attacks(Compiling):
    """Each attack is refused, in its own words, and the message names the file."""

    def test_table_is_complete(self) -> None:
        self.assertEqual(sorted(attacks.REFUSED), sorted(path.stem for path in attacks.FOLDER.glob("*.cu")))

    def refused(self, cxx: str) -> int:
        """How many attacks are refused for the right reason."""

        def judged(name: str) -> Inspection:
            source = (attacks.FOLDER / f"{name}.cu").read_text() + CALL
            return inspect([self.compiled(source, f"01_{name}.cu", cxx)], INITIALISERS)

        with ThreadPoolExecutor(2) as pool:
            found = dict(zip(attacks.REFUSED, pool.map(judged, attacks.REFUSED)))
        for name, words in attacks.REFUSED.items():
            with self.subTest(attack=name, compiler=cxx):
                self.assertTrue(any(words in text for text in found[name].sentences), found[name])
                self.assertTrue(all(text.startswith(f"01_{name}.cu") for text in found[name].sentences), found[name])
                self.assertEqual([f"01_{name}.cu"], list(found[name].refused))
        return sum(any(words in text for text in found[name].sentences) for name, words in attacks.REFUSED.items())

    def test_all_are_refused(self) -> None:
        for cxx in ("g++", "clang++") if EVERYTHING else ("c++",):
            if shutil.which(cxx):
                caught = self.refused(cxx)
                print(f"caught: {caught} of {len(attacks.REFUSED)} attacks, refused for the right reason ({cxx})")


class Sentences(Compiling):
    """What is refused, what is listed, and what is allowed."""

    def test_ordinary_code_is_allowed(self) -> None:
        source = """
            #include <cstdio>
            #include <iostream>
            #include <vector>
            int counter;
            int add(std::vector<int>& keys, int key) {
              static std::vector<int> kept(3);
              keys.push_back(key);
              std::cout << keys.at(3) << std::endl;
              std::printf("%d", counter);
              if (key < 0) throw kept;
              return 0;
            }"""
        self.assertEqual(Inspection(), self.judged(source))
        self.assertEqual(Inspection(), self.judged(source, "-O2"))

    def test_unknown_is_listed_with_its_demangled_name(self) -> None:
        found = self.judged("namespace other { int f(int); } int g() { return other::f(3); }")
        self.assertEqual((), found.sentences)
        self.assertEqual(
            ("01_global.cu uses other::f(int), which is not on the list of what steps need",), found.unknown
        )

    def test_what_can_do_no_harm_is_allowed(self) -> None:
        """Whoever ends the process fails the case, and the judge has a clock of its own."""
        source = """
            #include <chrono>
            #include <cstdio>
            #include <cstdlib>
            #include <map>
            #include <vector>
            std::vector<int> kept;
            std::map<int, int> made_at_the_start = {{1, 2}};
            struct Own { Own() { std::puts("made"); } ~Own() { std::puts("removed"); } } own;
            void check(int error) {
              if (error) { std::fprintf(stderr, "error %d\\n", error); std::exit(1); }
              kept.push_back(int(std::chrono::steady_clock::now().time_since_epoch().count()));
              std::atexit([] { std::puts("the end"); });
            }"""
        self.assertEqual(Inspection(), self.judged(source))
        made = self.compiled(source)
        self.assertIn("runs code before or after main", str(inspect([made]).refused))  # unless it is renamed
        subprocess.run(["objcopy", f"--rename-section=.init_array={inspector.RENAMED}", made], check=True)
        self.assertEqual(Inspection(), inspect([made]))

    def test_each_file_by_itself(self) -> None:
        bad = self.compiled('extern "C" int fork(); int f() { return fork(); }', "01_a.cu")
        good = self.compiled("int g() { return 3; }", "02_b.cu")
        found = inspect([bad, good])
        self.assertEqual(["01_a.cu"], list(found.refused))
        self.assertEqual(found.sentences, found.refused["01_a.cu"])

    def test_names_are_shown_as_they_are_written(self) -> None:
        source = '#include <fstream>\nvoid f() { std::ofstream("log") << 3; }'
        sentence = self.judged(source).sentences[0]
        self.assertRegex(sentence, r"^01_global\.cu uses std::basic_ofstream(::\w+)?, [^<>()]*: it accesses files")
        self.assertEqual("01_global.cu:2", inspector.place_of(sentence, "01_global.cu", source))

    def test_places(self) -> None:
        text = "// fork\nint a;\nstd::ofstream file;\nint f() { return fork(); }\n"
        for sentence, place in (
            ("01_a.cu uses fork: it controls processes", "01_a.cu:4"),
            ("01_a.cu uses std::basic_ofstream<char>::open(char const*), fork: it accesses files", "01_a.cu:3"),
            ("01_a.cu defines a, which the workbook defines", "01_a.cu:2"),
            ("01_a.cu makes the stack executable", "01_a.cu"),
            ("01_a.cu uses getpid: it controls processes", "01_a.cu"),
            ("undefined reference to `void std::f<int, std::a<int> >(int, a)'", "01_a.cu:4"),
            ("undefined reference to `std::g(int)'", "01_a.cu"),
            ("01_a.cu does not define std::f for keys of type int or float", "01_a.cu:4"),
        ):
            self.assertEqual(place, inspector.place_of(sentence, "01_a.cu", text))

    def test_what_another_file_of_the_submission_defines(self) -> None:
        caller = self.compiled("int f(int); int g() { return f(3); }", "01_a.cu")
        callee = self.compiled("int f(int x) { return x; }", "02_b.cu")
        self.assertEqual(Inspection(), inspect([caller, callee]))
        self.assertNotEqual(Inspection(), inspect([caller]))
        self.assertEqual(Inspection(), inspect([caller], given=Object(callee).defined))

    def test_what_a_file_lacks(self) -> None:
        text = (
            "struct A {}; namespace s { void h() {} template <class> void f() {} template <class, class> void f(int) {}"
        )
        starter = self.compiled(
            text + " template void f<A>(); template void f<int>(); template void f<int, int>(int); }"
        )
        own = self.compiled(text.replace("void h() {}", "") + " template void f<A>(); }", "02_own.cu")
        wanted = Object(starter).defined
        self.assertEqual({"s::f": ["int", "int, int"], "s::h": []}, inspector.lacking(Object(own), wanted))
        self.assertEqual({}, inspector.lacking(Object(starter), wanted))
        none = Object(self.compiled("int g() { return 3; }", "03_none.cu"))
        self.assertEqual({"s::f": [], "s::h": []}, inspector.lacking(none, wanted))

    @unittest.skipIf(platform.machine() == "aarch64", "an instruction is a word there, and holds no other")
    def test_bytes_of_a_system_call_in_a_number(self) -> None:
        found = self.judged("unsigned f(unsigned x) { return x * 0x1050f11u; }")
        self.assertEqual((), found.sentences)
        self.assertIn("bytes of a system call in f(unsigned int)", found.unknown[0])

    def test_names_that_would_confuse_a_reader(self) -> None:
        for name in ("a b", "x U 0 0\\\\nfork", ""):
            found = self.judged(f"""asm(".globl \\"{name}q\\"\\n.set \\"{name}q\\", 3");""")
            self.assertNotIn("fork", str(found.unknown))
        call = "bl" if platform.machine() == "aarch64" else "call"
        found = self.judged(f"""asm(".text\\n {call} \\"fork\\"");""")
        self.assertIn("uses fork", found.sentences[0])

    def test_not_an_object(self) -> None:
        path = self.folder / "02_text.cu.o"
        for content in (b"", b"text", b"\x7fELF" + bytes(60)):
            path.write_bytes(content)
            found = inspect([path])
            self.assertEqual(1, len(found.sentences))
            self.assertIn("02_text.cu: its object cannot be read", found.sentences[0])

    def test_names_of_other_versions(self) -> None:
        """What GCC 13 and later, and the C library 2.38 and later, call functions that every version has."""
        for name in ("_ZSt21ios_base_library_initv", "__cxa_call_terminate", "__isoc23_strtol", "__memcpy_chk"):
            self.assertTrue(inspector.is_allowed(name), name)
        for name in ("_Z1fv", "_ZN5other1fEi", "getauxval", "fork", "__isoc23_fork"):
            self.assertFalse(inspector.is_allowed(name), name)

    def test_copies_that_compilers_make(self) -> None:
        names = frozenset({"_ZN3lab4swapEv", "DW.ref.__gxx_personality_v0", "__clang_call_terminate", "checked"})
        with mock.patch.object(inspector, "ours", return_value=inspector._Ours(frozenset(), names)):
            taken = {
                (name, binding): inspector._Inspector._takes_a_place(Symbol(name, 0, 8, "FUNC", binding, "1"))
                for name in names
                for binding in ("WEAK", "GLOBAL")
            }
        self.assertEqual([], [name for (name, bound), is_ours in taken.items() if bound == "GLOBAL" and not is_ours])
        self.assertEqual(["checked"], [name for (name, bound), is_ours in taken.items() if bound == "WEAK" and is_ours])

    def test_a_step_calls_no_other_one(self) -> None:
        one = self.compiled("void sort_one() {} template <class T> void sort() {} template void sort<int>();")
        text = "void sort_one(); template <class T> void sort(); void two() { sort_one(); sort<int>(); }"
        two = self.compiled(text, "02_two.cu")
        steps = {"01_one.cu": Object(one), "02_two.cu": Object(two)}
        (sentence,) = inspector.calls_of_others("02_two.cu", steps, ())
        self.assertRegex(sentence, r"uses .*sort.*, .*sort_one.* of 01_one.cu")
        self.assertEqual([], inspector.calls_of_others("02_two.cu", steps, {1}))
        self.assertEqual([], inspector.calls_of_others("01_one.cu", steps, ()))

    def test_nothing_allowed_is_refused_by_name(self) -> None:
        listed = inspector.allowed()
        self.assertGreater(len(listed), 200)
        shown = demangled(listed)
        self.assertEqual([], sorted(n for n in listed if refusal_of(n, shown.get(n, n))))


class Looked(Compiling):
    """What `check` prints about the object that it has just compiled."""

    def notes(self, made: "Path | None") -> list[str]:
        """The notes on an object that takes the place of a step's."""
        self.replace(build, "object_of", lambda *_: made and str(made))
        return [str(note) for note in look.notes(StepFile("01-odd-even", 1, "global"), "cpu", ())]

    def test_what_grading_refuses(self) -> None:
        (note,) = self.notes(self.compiled('extern "C" int fork(); int f() { return fork(); }'))
        begin = "labs/01-odd-even/01_global.cu:1: note: grading: this file would get no points: "
        self.assertTrue(note.startswith(f"{begin}01_global.cu uses fork: "), note)
        self.assertEqual([], self.notes(self.compiled("#include <vector>\nstd::vector<int> kept = {1};")))
        self.assertEqual([], self.notes(None))

    def test_a_machine_that_lacks_what_it_needs(self) -> None:
        made = self.compiled("int f() { return 3; }")
        self.replace(inspector, "inspect", mock.Mock(side_effect=Problem("no list")))
        (note,) = self.notes(made)
        self.assertTrue(note.endswith(": note: grading: cannot tell what would be refused: no list"), note)


class Solutions(unittest.TestCase):
    """The solutions that are compiled are accepted, which fails if a list is older than what they call."""

    def test_they_are_accepted(self) -> None:
        for kind in ("cpu", "check", "cuda"):
            for folder in sorted(build.folder().glob(f"labs/*-{kind}-solution.p")):
                objects = sorted(folder.glob("*.cu*.o"))
                with self.subTest(folder=folder.name):
                    found = inspect(objects, INITIALISERS) if objects else Inspection()
                    self.assertEqual((), found.sentences)
                    self.assertEqual([], [words for words in found.unknown if "not on the list" in words])


class Innocent(Compiling):
    """Submissions of students that must not be refused."""

    def test_they_exist(self) -> None:
        self.assertEqual(48, len(INNOCENT))

    def test_they_are_accepted(self) -> None:
        today = datetime.date.today().toordinal()
        drawn = INNOCENT if EVERYTHING else random.Random(today).sample(INNOCENT, 3)
        kinds = [kind for kind in ("cpu", "check", "cuda") if command_of("01-odd-even", kind)]
        kinds = kinds if EVERYTHING else kinds[:1]
        with ThreadPoolExecutor(2) as pool:
            jobs = {
                (source, kind): pool.submit(compile_file, source, kind, self.folder, "01-odd-even")
                for source in drawn
                for kind in kinds
            }
            for (source, kind), job in jobs.items():
                with self.subTest(source=source.name, kind=kind):
                    found = inspect([job.result()], INITIALISERS)
                    self.assertEqual({}, found.refused)
                    # By chance, an instruction's numbers hold the two bytes of a system call.
                    self.assertEqual([], [words for words in found.unknown if BY_CHANCE not in words])
