"""What the command reads: names of labs and steps, hints, compilers' messages; and the table of the demo."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import fake_judge
from in_folder import InFolder
from report_data import row

from workbook.core import compiler_words, console, diagnostics
from workbook.core import course as paths
from workbook.core.console import Problem, Usage
from workbook.core.judge_types import Case, Lab, from_json
from workbook.core.progress import ProgressFile
from workbook.core.samples import Sample
from workbook.verbs import demo, status
from workbook.verbs.hint import fitted, hints_of

HANDOUT = """# A lab
### Hints for step 01

<details><summary>Hint 1</summary>

First,
on two lines.

</details>
<details><summary>Hint 2</summary>

Second:

```
# not a heading
```

</details>

### Hints for step 02

<details><summary>Hint 1</summary>

Another step's.

</details>

### Hints for step 03

None yet.

## Measure

<details><summary>Not a hint</summary>

Something else.

</details>
"""


class Folder(InFolder):
    """A test that has a workbook of its own."""

    def setUp(self) -> None:
        super().setUp()
        for name in ("labs/03-bitonic/01_global.cu", "labs/03-bitonic/02_shared.cu", "labs/05-radix/01_count.cu"):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"// {name}\n")
        (self.folder / "labs/03-bitonic/bug_hunt.cu").write_text("")


class Names(Folder):
    """Labs and steps by what people call them."""

    def test_labs(self) -> None:
        self.assertEqual(paths.labs(self.folder), ["03-bitonic", "05-radix"])
        for text in ("03-bitonic", "bitonic", "3", "03", "labs/03-bitonic/"):
            self.assertEqual(paths.find_lab(text, self.folder), "03-bitonic")
        with self.assertRaisesRegex(Usage, "03-bitonic, 05-radix") as raised:
            paths.find_lab("quick", self.folder)
        self.assertEqual(raised.exception.status, 2)

    def test_steps(self) -> None:
        self.assertEqual([step.number for step in paths.steps("03-bitonic", self.folder)], [1, 2])
        for text in ("2", "02", "shared", "02_shared", "labs/03-bitonic/02_shared.cu"):
            self.assertEqual(paths.find_step("03-bitonic", text, self.folder).name, "shared")
        with self.assertRaisesRegex(Usage, "1 global, 2 shared"):
            paths.find_step("03-bitonic", "4", self.folder)

    def test_a_file_that_was_deleted(self) -> None:
        table = '{.number = 3, .name = "hybrid", .idea = "x", .lines = {.own = 1, .given = 2}}'
        (self.folder / "labs/03-bitonic/steps.h").write_text(table)
        for text in ("3", "03", "hybrid"):
            with self.assertRaisesRegex(Problem, "^labs/03-bitonic/03_hybrid.cu is missing: git checkout -- labs/03-"):
                paths.find_step("03-bitonic", text, self.folder)

    def test_parts_of_steps(self) -> None:
        table = '{.number = 2, .name = "shared", .idea = "x"},\n{.number = 2, .name = "merge-up",\n .idea = "y"},\n'
        (self.folder / "labs/03-bitonic/steps.h").write_text(table)
        self.assertEqual(paths.parts("03-bitonic", self.folder), {"merge-up": 2})
        step = paths.find_step("03-bitonic", "merge-up", self.folder)
        self.assertEqual((str(step), step.file), ("step 02 shared, merge-up", "03-bitonic/02_shared.cu"))
        with self.assertRaisesRegex(Usage, "1 global, 2 shared, merge-up$"):
            paths.find_step("03-bitonic", "merge-down", self.folder)

    def test_a_path_names_lab_and_step(self) -> None:
        file = str(self.folder / "labs/03-bitonic/02_shared.cu")
        for text in (file, "labs/03-bitonic/02_shared.cu", "../03-bitonic/02_shared.cu"):
            lab, step = paths.find(text, None, self.folder)
            self.assertEqual((lab, step and step.number), ("03-bitonic", 2))
        self.assertEqual(paths.find("labs/03-bitonic", None, self.folder), ("03-bitonic", None))
        self.assertEqual(paths.find("labs/03-bitonic/scan.cuh", None, self.folder), ("03-bitonic", None))
        self.addCleanup(os.chdir, Path.cwd())
        os.chdir(self.folder / "labs/03-bitonic")
        self.assertEqual(paths.find("02_shared.cu", None, self.folder)[0], "03-bitonic")
        with self.assertRaisesRegex(Usage, "name a step of 03-bitonic: 1 global, 2 shared"):
            paths.find_one("3", None, self.folder)

    def test_the_step_of_a_file(self) -> None:
        for folder in ("labs", "solutions"):
            step = paths.step_of_file(f"{folder}/03-bitonic/02_shared.cu", self.folder)
            self.assertEqual(step and step.number, 2)
        for other in ("labs/03-bitonic/scan.cuh", "common/a.cu", "02_shared.cu", ""):
            self.assertIsNone(paths.step_of_file(other, self.folder))


class Progress(Folder):
    """What is remembered."""

    def test_verdicts_hold_for_the_file_as_it_was(self) -> None:
        progress = ProgressFile(self.folder / ".workbook", self.folder)
        step = paths.find_step("03-bitonic", "1", self.folder)
        self.assertEqual(str(progress.verdict(step)), "not checked yet")
        progress.save_verdict(step, "cpu", "passed")
        progress.save_hints_shown(step, 2)
        self.assertEqual(str(progress.verdict(step)), "passed (cpu build)")
        self.assertEqual(progress.hints_shown(step), 2)
        progress.save_verdict(step, "cuda", "failed")
        self.assertEqual(str(progress.verdict(step)), "failed (cuda build)")
        (self.folder / "labs" / step.file).write_text("// other\n")
        self.assertEqual(str(progress.verdict(step)), "changed since the last check")
        # A check that ends with its first fault has no verdict on the other builds.
        progress.save_verdict(step, "check", "failed")
        self.assertEqual(str(progress.verdict(step)), "failed (check build)")
        progress.save_verdict(step, "check", "passed")
        self.assertEqual(str(progress.verdict(step)), "changed since the last check")

    def test_the_case_that_failed_last_time(self) -> None:
        progress = ProgressFile(self.folder / ".workbook", self.folder)
        step = paths.find_step("03-bitonic", "1", self.folder)
        self.assertIsNone(progress.failed_case(step, "cpu"))
        case = Case("03-bitonic", 1, 33, type="pairs", seed=2**63, reversed_blocks=True, lane_seed=0)
        progress.save_verdict(step, "cpu", "failed", case)
        progress.save_verdict(step, "check", "passed")
        self.assertEqual((progress.failed_case(step, "cpu"), progress.failed_case(step, "check")), (case, None))
        progress.save_verdict(step, "cpu", "passed")
        self.assertIsNone(progress.failed_case(step, "cpu"))
        progress.save_verdict(step, "cpu", "failed", case)
        text = progress.path.read_text()
        progress.path.write_text(text.replace('"n": 33', '"n": {}'))
        self.assertIsNone(progress.failed_case(step, "cpu"))
        progress.path.write_text(text.replace('"n": 33,', ""))
        self.assertIsNone(progress.failed_case(step, "cpu"))

    def test_the_next_step_is_one_of_the_lab_that_the_student_is_in(self) -> None:
        progress = ProgressFile(self.folder / ".workbook", self.folder)
        self.assertEqual(progress.latest_lab(), "")
        for number in (1, 2):
            progress.save_verdict(paths.find_step("03-bitonic", number, self.folder), "cpu", "passed")
        self.assertEqual(progress.latest_lab(), "03-bitonic")
        known = {"03-bitonic": paths.steps("03-bitonic", self.folder), "05-radix": paths.steps("05-radix", self.folder)}
        with (
            mock.patch.object(status, "labs", lambda: list(known)),
            mock.patch.object(status, "steps", known.__getitem__),
            mock.patch.object(status, "ROOT", self.folder),
        ):
            self.assertEqual(status.next_step(progress, "03-bitonic"), known["05-radix"][0])
            self.assertEqual(status.next_step(progress, ""), known["05-radix"][0])
            (self.folder / "labs" / known["03-bitonic"][0].file).write_text("// saved again\n")
            self.assertEqual(status.next_step(progress, "03-bitonic"), known["03-bitonic"][0])
            self.assertEqual(status.next_step(progress, "05-radix"), known["05-radix"][0])
            self.assertEqual(status.lab_of_folder(self.folder / "labs/05-radix"), "05-radix")
            self.assertEqual(status.lab_of_folder(self.folder / "labs"), "")
            self.assertEqual(status.lab_of_folder(self.folder), "")

    def test_a_damaged_file_is_put_aside(self) -> None:
        progress = ProgressFile(self.folder / ".workbook", self.folder)
        progress.state.mkdir()
        progress.path.write_text("{")
        self.assertEqual(progress.read(), {})
        self.assertEqual(progress.path.with_suffix(".damaged").read_text(), "{")


class Texts(unittest.TestCase):
    """Texts that others write."""

    def test_hints(self) -> None:
        self.assertEqual(hints_of(HANDOUT, 1), ["First,\non two lines.", "Second:\n\n```\n# not a heading\n```"])
        self.assertEqual(hints_of(HANDOUT, 2), ["Another step's."])
        self.assertEqual(hints_of(HANDOUT, 3), [])
        self.assertEqual(hints_of(HANDOUT, 4), [])
        parts = HANDOUT.replace("Hint 2", "Hint 2, histogram")
        self.assertEqual(len(hints_of(parts, 1)), 2)
        self.assertEqual(hints_of(parts, 1, "histogram"), ["Second:\n\n```\n# not a heading\n```"])
        self.assertEqual(hints_of(parts, 1, "scan"), [])

    def test_hints_fit_the_terminal(self) -> None:
        hint = "one two three\nfour\n\nfive six seven\n\n```\na line of code\n\nand one more\n```\neight"
        with mock.patch.object(console, "width", return_value=12):
            self.assertEqual(
                fitted(hint),
                "  one two\n  three four\n\n  five six\n  seven\n\n  ```\n"
                "  a line of code\n\n"
                "  and one more\n  ```\n\n  eight",
            )

    def test_compiler_messages(self) -> None:
        root, build = Path("/somewhere"), Path("/somewhere/build")
        output = (
            "[3/9] Compiling\nFAILED: labs/a.o\nc++ -c a.cpp: error: not this\n"
            "In file included from ../common/step/launch_shape.h:1,\n"
            "../common/step/launch_shape.h:20:5: error: no match\n   20 |  f(x)\n"
            "../labs/03-bitonic/02_shared.cu:79:46:   required from here\n"
            "/somewhere/labs/03-bitonic/03_hybrid.cu:7:1: error: again\n"
            "/somewhere/labs/03-bitonic/03_hybrid.cu:7:9: error: again, elsewhere\n"
            "ninja: build stopped: subcommand failed.\n"
        )
        lines = diagnostics.summary(output, root, build).splitlines()
        self.assertEqual(
            lines[:3],
            [
                "labs/03-bitonic/02_shared.cu:79: leads to the error below",
                "common/step/launch_shape.h:20:5: error: no match",
                "   20 |  f(x)",
            ],
        )
        self.assertEqual(lines[3:], ["", "and then:", "  labs/03-bitonic/03_hybrid.cu:7:1: error: again"])
        place = "/somewhere/labs/03-bitonic/02_shared.cu:69:68: error:"
        lines = diagnostics.summary(
            f"{place} no function for ‘f<order>(int)’\n  f<order>(1)\n"
            f"{place} ‘order’ is not a constant expression\n"
            f"{place} no function for ‘f<order>(long)’\n",
            root,
            build,
        ).splitlines()
        self.assertEqual(
            lines[2:],
            ["", "and then:", "  labs/03-bitonic/02_shared.cu:69:68: error: ‘order’ is not a constant expression"],
        )
        given = (
            "../labs/02-merge/rank.cuh: In instantiation of ‘int rank(Before)’:\n"
            "../labs/02-merge/02_block.cu:125:9:   required from here\n"
            "../labs/02-merge/rank.cuh:15:15: error: ‘before’ cannot be used as a function\n"
        )
        lines = diagnostics.summary(given, root, build).splitlines()
        self.assertEqual(lines[0], "labs/02-merge/02_block.cu:125: leads to the error below")
        nvcc = '../labs/03-bitonic/01_global.cu(12): error: identifier "x" is undefined\n'
        self.assertIn("labs/03-bitonic/01_global.cu(12): error", diagnostics.summary(nvcc, root, build))
        self.assertTrue(diagnostics.summary("", root, build))

    def test_a_missing_include_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in (
                ("common/step/device_array.h", "template <class T>\nclass DeviceArray {\n"),
                ("common/step/keys.h", "inline bool before(int a);\nstruct Span {\n"),
                ("labs/01-odd-even/pairs.cuh", '#include "step/keys.h"\n__device__ inline void order_pair(int& a) {\n'),
                ("labs/01-odd-even/02_halo.cu", '#include "pairs.cuh"\n'),
                ("labs/01-odd-even/01_global.cu", "int n;\n"),
            ):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)

            def shown(file: str, error: str, more: str = "") -> str:
                return diagnostics.summary(f"../labs/01-odd-even/{file}:7:1: error: {error}\n{more}", root, root / "b")

            array = 'DeviceArray is declared in "step/device_array.h": write #include "step/device_array.h"'
            pair = 'order_pair is declared in "pairs.cuh": write #include "pairs.cuh"'
            for words, error in (
                (array, "‘DeviceArray’ is not a member of ‘lab’"),
                (array, "‘DeviceArray’ in namespace ‘lab’ does not name a template type"),
                (array, "no template named 'DeviceArray' in namespace 'lab'"),
                (array, "no member named 'DeviceArray' in namespace 'lab'; did you mean 'Array'?"),
                (array, 'namespace "lab" has no member class "DeviceArray"'),
                (pair, "‘order_pair’ was not declared in this scope"),
                (pair, "use of undeclared identifier 'order_pair'"),
                (pair, 'identifier "order_pair" is undefined'),
            ):
                self.assertIn("\n" + words, shown("01_global.cu", error))
            self.assertNotIn(
                "#include", shown("02_halo.cu", "‘before’ was not declared in this scope")
            )  # lab:: is missing
            self.assertNotIn("#include", shown("01_global.cu", "‘order_pair’ has wrong arguments"))
            note = "../labs/a.cu:1:1: note: ‘std::bit_ceil’ is defined in header ‘<bit>’; did you forget to ...\n"
            standard = shown("01_global.cu", "‘bit_ceil’ is not a member of ‘std’", note)
            self.assertIn("\nstd::bit_ceil is declared in <bit>: write #include <bit>", standard)

    def test_what_runs_on_gpus_only_is_named(self) -> None:
        for header in ["cuda/atomic", "thrust/sort.h", "cuda_pipeline.h"]:
            printed = f"k.cu:2:10: fatal error: {header}: No such file or directory\n    2 | #include <{header}>\n"
            self.assertIn(f"has no <{header}>", diagnostics.summary(printed))
        self.assertNotIn("GPUs", diagnostics.summary("k.cu:2:10: fatal error: keys.h: No such file or directory\n"))
        self.assertIn(
            "PTX", diagnostics.summary("k.cu: Assembler messages:\nk.cu:2: Error: no such instruction: `mov'\n")
        )
        full = "/tmp/a.s: Assembler messages:\n/tmp/a.s: Fatal error: can't write 12 bytes: 'No space left on device'\n"
        self.assertNotIn("PTX", diagnostics.summary(full))

    def test_warnings_about_a_students_files_come_once(self) -> None:
        printed = (
            "[1/2] Compiling\nlabs/03-bitonic/01_global.cu:24:7: warning: unused variable 'a'\n"
            "labs/03-bitonic/01_global.cu:24:7: warning: unused variable 'a'\n"
            "../labs/03-bitonic/01_global.cu(30): warning #177-D: never used\n../common/step/step.h:1:1: warning: no\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "labs/03-bitonic/01_global.cu"
            path.parent.mkdir(parents=True)
            path.write_text("// NOT_WRITTEN() was here\n")
            self.assertEqual(
                diagnostics.warnings(printed, Path(folder)),
                [
                    "labs/03-bitonic/01_global.cu:24:7: warning: unused variable 'a'",
                    "labs/03-bitonic/01_global.cu(30): warning #177-D: never used",
                ],
            )
            path.write_text('  NOT_WRITTEN("step 01");\n')
            self.assertEqual(diagnostics.warnings(printed, Path(folder)), [])
            empty = (
                "labs/01-odd-even/00_exchange.cu:9:5: warning: suggest braces around empty body in an ‘if’ statement"
            )
            self.assertIn("the ; directly after this if ends it", diagnostics.warnings(empty, Path(folder))[0])

    def test_what_the_compiler_warns_about_precedence(self) -> None:
        place = "labs/03-bitonic/01_global.cu:28"
        for suggested, words in (
            ("‘-’ in operand of ‘&’", "`-` is done before `&` here"),
            ("comparison in operand of ‘&’", "the comparison is done before `&` here"),
            ("‘&&’ within ‘||’", "`&&` is done before `||` here"),
            ("‘+’ inside ‘<<’", "`+` is done before `<<` here"),
        ):
            with self.subTest(suggested):
                line = f"{place}:35: warning: suggest parentheses around {suggested} [-Wparentheses]"
                self.assertIn(f"{words}: put brackets around what must be done first", compiler_words.warning(line))

    def test_an_argument_of_a_kernel(self) -> None:
        place = "labs/01-odd-even/01_global.cu"
        context = f"common/simt/include/simt/launch.h:71:35:   required from ‘void simt::launch(..)’\n{place}:54:55: "
        call = "error: no matching function for call to ‘run_phase({})’\n"
        kernel = (
            f"{place}:24:17: note: candidate: ‘template<class Key> void run_phase(Key*, std::array<int, 2>, int)’\n"
        )
        for given, note, words in (
            (
                "lab::Span<unsigned int>&, std::array<int, 2>&, int&",
                "mismatched types ‘Key*’ and ‘lab::Span<unsigned int>’",
                "argument 1 of kernel run_phase has the type lab::Span<unsigned int>, but the kernel takes Key*: ",
            ),
            (
                "int*&, std::array<int, 2>&, lab::Order&",
                "cannot convert ‘simt_args#2’ (type ‘lab::Order’) to type ‘int’",
                "argument 3 of kernel run_phase has the type lab::Order, but the kernel takes int: run_phase(Key*, ",
            ),
            (
                "int*&",
                "candidate expects 3 arguments, 1 provided",
                "kernel run_phase takes 3 arguments, and the launch has 1: ",
            ),
        ):
            printed = f"{context}{call.format(given)}{kernel}{place}:54:55: note:   {note}\n"
            summary = diagnostics.summary(printed)
            self.assertTrue(summary.startswith(f"{place}:54: error: {words}"), summary)
        printed = (
            f"{place}:54:9: error: invalid conversion from ‘cudaStream_t’ {{aka ‘CUstream_st*’}} to ‘std::size_t’\n"
            "common/simt/include/simt/launch.h:25:60: note:   initializing argument 3 of "
            "‘simt::LaunchConfig::LaunchConfig(dim3, dim3, std::size_t, cudaStream_t)’\n"
        )
        self.assertIn("number 3 is the bytes of dynamic shared memory, but this", diagnostics.summary(printed))
        made = "lab::Span<unsigned int>", "lab::Span<const unsigned int>"
        printed = f"{context}error: could not convert ‘simt_args#1’ from ‘{made[0]}’ to ‘{made[1]}’\n"
        words = (
            f"argument 2 has the type {made[0]}, but the kernel takes {made[1]}. For a Span s, write {made[1]}{{s.data"
        )
        self.assertIn(f"{place}:54: error: {words}", diagnostics.summary(printed))
        inside = f"{place}: In instantiation of ‘void run_phase(Key*)’:\n{context}"
        self.assertIn(
            f"{place}:54: error: before takes 3 arguments, and this call has 2: before(Key, Key, lab::Order)",
            diagnostics.summary(
                f"{inside}error: no matching function for call to ‘before(int&, int&)’\n"
                "common/step/keys.h:95:29: note: candidate: ‘template<class Key> bool before(Key, Key, lab::Order)’\n"
                f"{place}:54:55: note:   candidate expects 3 arguments, 2 provided\n"
            ),
        )

    def test_a_compilers_words_about_what_is_new_to_a_beginner(self) -> None:
        place = "labs/01-odd-even/02_halo.cu"
        call = f"{place}:41:25: error: no matching function for call to ‘{{}}’\n"
        candidate = "labs/a.cuh:11:24: note: candidate: ‘template<Order order, class Key> void odd::pair(Key&, Key)’\n"
        for printed, words in (
            (
                call.format("pair(int&, int&)") + candidate + f"{place}:41:25: note:   couldn’t deduce template "
                "parameter ‘order’\n",
                "41: error: the template argument order of pair is missing: write pair<order>",
            ),
            (
                call.format("pair<order>(int&, int&)") + candidate + f"{place}:41:25: error: ‘order’ is not a constant "
                "expression\n",
                "41: error: order is known only when the program runs, but a template argument must be known",
            ),
            (
                call.format("pair(int*&, int&)") + candidate + f"{place}:41:25: note:   mismatched types\n",
                "41: error: pair(Key&, Key) cannot take the arguments of this call: pair(int*&, int&)",
            ),
            (
                call.format("pair(int&, long int&)") + candidate.replace("Key&", "Key") + f"{place}:41:25: note: no\n",
                "41: error: arguments 1 and 2 of pair must have the same type, but have the types int and long int",
            ),
            (
                f"{place}:41:44: error: call of overloaded ‘place(int&, int64_t&)’ is ambiguous\n",
                "41: error: the call of place is ambiguous, because its arguments have the types int and int64_t",
            ),
            (
                f"{place}:41:44: error: invalid use of void expression\n   41 |   CUDA_CHECK(k<<<1, 2>>>(a));\n",
                "41: error: a launch has no value, so it cannot be an argument of CUDA_CHECK()",
            ),
            (
                f"{place}:21:17: error: variable or field ‘run’ declared void\n"
                f"{place}:21:27: error: ‘Key’ was not declared in this scope\n",
                "21: error: Key was not declared: write template <class Key> in the line above",
            ),
            (
                f"{place}: In instantiation of ‘void odd::run(Key, int) [with Key = unsigned int*; T = long int]’:\n"
                f"{place}:27:23: error: invalid conversion from ‘unsigned int’ to ‘unsigned int*’ [-fpermissive]\n",
                "27: error: Key is unsigned int* here, because run has a parameter of the type Key for which a pointer",
            ),
            (
                f"{place}:35:35: error: ‘__shfl_up’ was not declared in this scope; did you mean ‘__shfl_sync’?\n",
                "35: error: __shfl_up is no longer part of CUDA: use __shfl_up_sync, with the mask of the lanes first",
            ),
            (
                f"{place}:25:50: error: no match for ‘operator*’ (operand types are ‘int64_t’ and ‘dim3’)\n",
                "25: error: no match for ‘operator*’ (operand types are ‘int64_t’ and ‘dim3’): write .x after the name",
            ),
        ):
            self.assertTrue(diagnostics.summary(printed).startswith(f"{place}:{words}"), diagnostics.summary(printed))

    def test_a_brace_that_is_not_closed(self) -> None:
        source = "namespace a {\nvoid f() {\n  while (b()) {\n    if (c()) {  // }\n      d('}');\n  }\n}\n\n}  // a\n"
        self.assertEqual(compiler_words.unclosed(source), 4)
        self.assertEqual(compiler_words.unclosed("void f() {\n  int a[] = {1,\n             2};\n}\n"), 0)
        self.assertEqual(compiler_words.unclosed("void f() {\n  if (a) {\n  } else {\n    b();\n  }\n"), 1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "labs/01-odd-even/01_global.cu"
            path.parent.mkdir(parents=True)
            path.write_text(source)
            printed = "labs/01-odd-even/01_global.cu:9:2: error: expected ‘}’ at end of input\n"
            self.assertEqual(
                diagnostics.summary(printed, Path(folder)).splitlines()[0],
                "labs/01-odd-even/01_global.cu:4: error: no } closes the { in this line",
            )

    def test_what_clang_says_about_a_call_that_fits_no_function(self) -> None:
        found = diagnostics.summary(
            "labs/01-odd-even/01_global.cu:54:65: error: no matching function for call to 'run_phase'\n"
            "   54 |     ::simt::launch(::simt::selectable([&](auto&... simt_args) { run_phase(simt_args...); }));\n"
            "      |                                                                 ^~~~~~~~~\n"
            "common/simt/include/simt/launch.h:101:40: note: in instantiation of function template specialization\n"
            "labs/01-odd-even/01_global.cu:24:17: note: candidate function not viable: no known conversion from "
            "'lab::Order' to 'int' for 3rd argument\n"
        )
        first, *_, last = found.splitlines()
        self.assertEqual(
            first, "labs/01-odd-even/01_global.cu:54:65: error: no matching function for call to 'run_phase'"
        )
        self.assertRegex(last, r"^  labs/01-odd-even/01_global\.cu:24: candidate .* not viable: .* 3rd argument$")
        self.assertNotIn("simt::", found)

    def test_an_error_without_an_explanation(self) -> None:
        place = "labs/01-odd-even/01_global.cu"
        plain = f"{place}:5:9: error: invalid conversion from ‘int*’ to ‘int’\n"
        self.assertTrue(diagnostics.summary(plain).startswith(plain.strip()))


class Demo(unittest.TestCase):
    """The table of the demo."""

    def test_it_fits_eighty_columns_and_names_what_failed(self) -> None:
        idea = "an idea in more words than its column has room for"
        steps = [
            {**fake_judge.STEP, "idea": idea},
            {**fake_judge.STEP, "name": "sums", "idea": "sums", "task": "scan"},
        ]
        lab = from_json(Lab, {**fake_judge.LAB, "steps": steps})
        rows = [
            ("uniform", row()),
            ("file", row(status="crashed", median_ms=None, keys_per_s=None)),
            ("uniform", row(task="scan")),
        ]
        samples = [
            Sample("uniform", "uniform", 8, None),
            Sample("file", "file:x", 8, None),
            Sample("coords", "y", 8, "f32"),
        ]
        measured = demo.Measured([lab], rows, samples, "")
        lines = demo.table_of(measured)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn("crashed", lines[2])
        self.assertTrue(lines[2].endswith("1/2"))
        self.assertEqual(lines[2][16:44].strip() + " " + lines[3].strip(), idea)
        self.assertTrue(lines[4].endswith("1/1"))
        self.assertEqual((measured.expected(), len(measured.of_steps())), (4, 3))
