"""What a submission may use, judged on compiled objects.

The attacks of tests/wrong/submissions are compiled as plain C++, which takes a fraction of a second each. A few of the
innocent submissions, drawn by the date, are compiled like a step. INSPECT=all compiles all forty, for each build, and
the attacks with each compiler.
"""

import datetime
import os
import random
import shutil
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/grading"), str(ROOT / "tests/wrong/submissions")]

import attacks  # noqa: E402
from compiling import command_of, compile_file, compiler  # noqa: E402
from in_folder import InFolder  # noqa: E402

from workbook.core import build  # noqa: E402
from workbook.grading import inspection  # noqa: E402
from workbook.grading.inspection import Inspection, inspect  # noqa: E402

INNOCENT = sorted((ROOT / "tests/grading/innocent").glob("*.cu"))
EVERYTHING = os.environ.get("INSPECT") == "all"
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
        return inspect([self.compiled(text, "01_global.cu", "c++", *options)], "gcc")


class Attacks(Compiling):
    """Each attack is refused, in its own words, and the message names the file."""

    def test_table_is_complete(self) -> None:
        self.assertEqual(sorted(attacks.REFUSED), sorted(path.stem for path in attacks.FOLDER.glob("*.cu")))

    def refused(self, cxx: str) -> int:
        """How many attacks are refused for the right reason."""

        def judged(name: str) -> Inspection:
            source = (attacks.FOLDER / f"{name}.cu").read_text() + CALL
            return inspect([self.compiled(source, f"01_{name}.cu", cxx)], cxx)

        with ThreadPoolExecutor(2) as pool:
            found = dict(zip(attacks.REFUSED, pool.map(judged, attacks.REFUSED)))
        for name, words in attacks.REFUSED.items():
            with self.subTest(attack=name, compiler=cxx):
                self.assertTrue(any(words in text for text in found[name].refused), found[name])
                self.assertTrue(all(text.startswith(f"01_{name}.cu") for text in found[name].refused), found[name])
        return sum(any(words in text for text in found[name].refused) for name, words in attacks.REFUSED.items())

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
        self.assertEqual((), found.refused)
        self.assertEqual(
            ("01_global.cu uses other::f(int), which is not on the list of what steps need",), found.unknown
        )

    def test_what_nvcc_makes_of_device_functions(self) -> None:
        """In its host code they call exit() and do nothing else. Nobody else may call it."""
        stand_in = "#include <cstdlib>\nvoid device_function(int) { volatile int status = 1; exit(status); }\n"
        made = self.compiled(stand_in)
        self.assertEqual(Inspection(), inspect([made], "nvcc"))
        self.assertIn("exit", " ".join(inspect([made], "gcc").refused))
        more = self.compiled(stand_in + "void leave(void* memory) { free(memory); exit(0); }\n")
        self.assertIn("exit", " ".join(inspect([more], "nvcc").refused))

    def test_what_another_file_of_the_submission_defines(self) -> None:
        caller = self.compiled("int f(int); int g() { return f(3); }", "01_a.cu")
        callee = self.compiled("int f(int x) { return x; }", "02_b.cu")
        self.assertEqual(Inspection(), inspect([caller, callee], "gcc"))
        self.assertNotEqual(Inspection(), inspect([caller], "gcc"))

    def test_global_objects_are_named(self) -> None:
        found = self.judged("#include <map>\nstd::map<int, int> made_at_the_start = {{1, 2}};")
        self.assertEqual(1, len(found.refused), found)
        self.assertIn("made_at_the_start", found.refused[0])
        self.assertIn("move them into the function", found.refused[0])

    def test_bytes_of_a_system_call_in_a_number(self) -> None:
        found = self.judged("unsigned f(unsigned x) { return x * 0x1050f11u; }")
        self.assertEqual((), found.refused)
        self.assertIn("bytes of a system call in f(unsigned int)", found.unknown[0])

    def test_initialiser_that_hides_behind_the_streams(self) -> None:
        found = self.judged(
            """#include <iostream>
            int counter = 3;
            struct Own { Own() { ++counter; } } own;"""
        )
        self.assertTrue(any("before or after main" in text for text in found.refused), found)

    def test_assembler_that_imitates_the_initialiser_of_the_streams(self) -> None:
        found = self.judged(
            """asm(R"(
              .text
              .type _GLOBAL__sub_I_x, @function
              _GLOBAL__sub_I_x: leaq __dso_handle(%rip), %rdx
              jmp hidden
              .size _GLOBAL__sub_I_x, . - _GLOBAL__sub_I_x
              hidden: ret
              .section .init_array,"aw"
              .quad _GLOBAL__sub_I_x
              .text
            )");"""
        )
        self.assertTrue(any("before or after main" in text for text in found.refused), found)

    def test_names_that_would_confuse_a_reader(self) -> None:
        for name in ("a b", "x U 0 0\\\\nfork", ""):
            found = self.judged(f"""asm(".globl \\"{name}q\\"\\n.set \\"{name}q\\", 3");""")
            self.assertNotIn("fork", str(found.unknown))
        found = self.judged("""asm(".text\\n call \\"fork\\"");""")
        self.assertIn("uses fork", found.refused[0])

    def test_not_an_object(self) -> None:
        path = self.folder / "02_text.cu.o"
        for content in (b"", b"text", b"\x7fELF" + bytes(60)):
            path.write_bytes(content)
            found = inspect([path], "gcc")
            self.assertEqual(1, len(found.refused))
            self.assertIn("02_text.cu: its object cannot be read", found.refused[0])

    def test_compilers(self) -> None:
        names = {"g++": "gcc", "/usr/bin/c++": "gcc", "clang++-14": "clang", "/usr/local/cuda/bin/nvcc": "nvcc"}
        self.assertEqual(names, {command: inspection.compiler_name(command) for command in names})


class Lists(unittest.TestCase):
    """The lists of what is allowed, one per compiler."""

    def test_nothing_on_them_is_refused_by_name(self) -> None:
        from workbook.grading.objects import demangled
        from workbook.grading.refusals import refusal_of

        for name in inspection.COMPILERS:
            listed = inspection.allowed(name)
            self.assertGreater(len(listed), 200, name)
            shown = demangled(listed)
            self.assertEqual([], sorted(n for n in listed if refusal_of(n, shown.get(n, n))), name)


class Innocent(Compiling):
    """Submissions of students that must not be refused."""

    def test_forty_exist(self) -> None:
        self.assertEqual(40, len(INNOCENT))

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
                    self.assertEqual(Inspection(), inspect([job.result()], compiler(kind)))
