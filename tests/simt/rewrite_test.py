"""What common/simt/rewrite promises about its output and its errors; launches.cu tests what the output does."""

import os
import unittest

from rewriting import REWRITE, Rewriting


class RewriteTest(Rewriting):
    # --- launches ---

    def test_launch_becomes_one_call(self) -> None:
        self.assertEqual(
            self.rewritten("void f() { k<int><<<1, n>>>(a, b); }"),
            "void f() { ::simt::launch([&](auto&... simt_args) { k<int>(simt_args...); }, "
            '"k<int>", __FILE__, __LINE__, '
            "::simt::LaunchConfig(1, n), a, b); }",
        )

    def test_a_variable_is_shown_as_the_kernel_that_it_holds(self) -> None:
        kernels = "template <bool up> __global__ void k(int n) {}\n__global__ void other(int n) {}\n"
        for before, shown in (
            ("const auto kernel = up ? &k<true> : &k<false>;", "k"),
            ("auto* kernel = k<true>; if (!up) kernel = k<false>;", "k"),
            ("auto kernel = other; if (!up) kernel = k<false>;", "kernel"),
            ("{ auto kernel = other; } const auto kernel = k<true>;", "k"),
            ("auto kernel = chosen(up);", "kernel"),
            ("k<true><<<1, 2>>>(3); auto go = [](auto kernel) {", "kernel"),  # or the other one
        ):
            text = self.rewritten(f"{kernels}void f(bool up) {{ {before} kernel<<<1, 2>>>(3); }}\n")
            self.assertIn(f', "{shown}", __FILE__', text, before)
        text = self.rewritten("__global__ void k() {}\nvoid f() { [](auto p) { p<<<1, 2>>>(); }(k); }\n")
        self.assertIn(', "k", __FILE__', text)

    def test_a_kernel_that_may_take_objects_can_be_chosen_without_a_call(self) -> None:
        chosen = ", [&](auto simt_choose) -> decltype(simt_choose(%s)) { return simt_choose(%s); })"
        for kernel, launched, is_chosen in (
            ("__global__ void k(S s) {}", "k", True),
            ("__global__ void k(int n, const n::S<int*> s);", "k", True),
            ("template <class T> __global__ void k(T t) {}", "n::k<int, 2>", True),
            ("void (*p)(S);", "p", True),
            ("__global__ void k(unsigned n, const std::size_t m, int* a, const S& s, S* t);", "k", False),
            ("__global__ void k(void);", "k", False),
            ("__global__ void k(S s);", "other", False),
        ):
            text = self.rewritten(f"{kernel}\nvoid f() {{ {launched}<<<1, 2>>>(a); }}\n")
            self.assertEqual("::simt::selectable(" in text, is_chosen, kernel)
            self.assertEqual(chosen % (launched, launched) in text, is_chosen, kernel)

    def test_a_lambda_passes_a_constant_that_it_does_not_capture_by_its_value(self) -> None:
        read = "static_cast<::std::decay_t<decltype(n)>>(n)"
        for declaration, captures, argument, is_read in (
            ("const int n = 7;", "[]", "n", True),
            ("static constexpr unsigned long n{7};", "[p]", "n", True),
            ("const int n = 7;", "[n, p]", "n", False),
            ("const int n = 7;", "[&]", "n", False),
            ("const int n = 7;", "[=, &p]", "n", False),
            ("const int n = 7;", "[&p]", "n", True),
            ("const int n = 7;", "[]", "n + 1", False),
            ("int n = 7;", "[n]", "n", False),
            ("const int n = 7; { float n = 1;", "[]", "n", False),
        ):
            text = self.rewritten(
                f"void f() {{ {declaration} auto g = {captures}(int* p) {{ k<<<1, 2>>>(p, {argument}); }}; }}"
            )
            self.assertEqual(read in text, is_read, (declaration, captures, argument))
        self.assertNotIn("static_cast", self.rewritten("void f() { const int n = 7; k<<<1, 2>>>(n); }"))

    def test_launch_without_arguments_has_no_comma_at_its_end(self) -> None:
        self.assertTrue(self.rewritten("k<<<g, b>>>( );").endswith("::simt::LaunchConfig(g, b) );"))

    def test_name_is_passed_on_one_line_without_comments(self) -> None:
        self.assertIn(', "ns::k<A, 2>", ', self.rewritten("ns::k<A, // first\n   2><<<1, 1>>>();"))

    def test_a_kernel_as_an_argument_loses_its_cast_and_gets_its_name(self) -> None:
        for argument in (
            "k<int, (2 > 1)>",
            "(void*)k<int, (2 > 1)>",
            "(const void *) k<int, (2 > 1)>",
            "reinterpret_cast<void*>(k<int, (2 > 1)>)",
            "(void*)(k<int, (2 > 1)>)",
        ):
            self.assertEqual(
                self.rewritten(f"auto e = cudaLaunchCooperativeKernel({argument}, 1, n, a, 0, s);"),
                'auto e = cudaLaunchCooperativeKernel(::simt::named_kernel("k<int, (2 > 1)>", '
                "k<int, (2 > 1)>), 1, n, a, 0, s);",
            )
        self.assertIn(
            'cudaLaunchCooperativeKernel(::simt::named_kernel("k", &k), g)',
            self.rewritten("#define GO(g) cudaLaunchCooperativeKernel((void*)&k, g)\n"),
        )

        self.assertEqual(
            self.rewritten("int e = cudaLaunchKernelEx(&c, k<int, 2>, f(a, b), 3);"),
            'int e = cudaLaunchKernelEx(&c, ::simt::named_kernel("k<int, 2>", k<int, 2>), f(a, b), 3);',
        )

    def test_a_kernel_that_is_cast_to_a_pointer_to_void_is_remembered(self) -> None:
        kernel = "__global__ void k(int* a);\ntemplate <class T> __global__ void t(T a);\n"
        for cast, begin, end in (
            ("(void*)k", 'kernel_pointer("k", k', ")"),
            ("(const void*)&n::k", 'kernel_pointer("n::k", &n::k', ")"),
            ("(void *)t<int>", 'kernel_pointer("t<int>", t<int>', ")"),
            ("reinterpret_cast<const void*>(&k)", 'kernel_pointer("k", &k', ")"),
        ):
            self.assertEqual(
                self.rewritten(f"{kernel}void f() {{ params.func = {cast}; g(1, {cast}); }}\n"),
                f"{kernel}void f() {{ params.func = ::simt::{begin}{end}; g(1, ::simt::{begin}{end}); }}\n",
            )
        self.unchanged(
            f"{kernel}void f(int* x) {{ g((void*)x, (void*)k(x), (void*)k->a, (char*)k);\n"
            "cudaFuncSetAttribute((const void*)k, a, 1);\n"
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (void*)k, 1, 0); }\n"
        )

    def test_every_token_keeps_its_line(self) -> None:
        text = "k\n<<<\n g,\n b\n>>>\n(\n x,\n y\n)\n;\nint last;\n"
        lines = self.rewritten(text).split("\n")
        for number, what in ((1, "k"), (3, "g"), (4, "b"), (7, "x"), (8, "y"), (11, "int last;")):
            self.assertIn(what, lines[number - 1])

    def test_returns_of_kernels_are_marked(self) -> None:
        self.assertEqual(
            self.rewritten("template <int N> __global__ void k(int n) { if (n) return; [&]() { return; }(); }"),
            "template <int N> __global__ void k(int n) { if (n) return simt::returned(); [&]() { return; }(); }",
        )
        self.unchanged("__global__ void k(int n);\n__device__ void f() { return; }\nvoid g() { if (1) { return; } }\n")

    def test_returns_of_functions_before_a_barrier_are_marked(self) -> None:
        body = (
            "{\n if (a) RETURN x;\n else RETURN {};\n __syncthreads();\n auto f = [] { return 1; };\n return f();\n}\n"
        )
        for head in ("__device__ int f(int x) ", "template <class T> __host__ __device__ T f(T x) "):
            self.assertEqual(
                self.rewritten(head + body.replace("RETURN", "return")),
                head + body.replace("RETURN", "switch (simt::returned_before(4), 0) default: return"),
            )
        self.unchanged("__device__ int f() { return __syncthreads_or(1); }\nint g() { return 1; __syncthreads(); }\n")

    def test_arrays_of_a_thread_are_watched(self) -> None:
        guard = ' [[maybe_unused]] simt::LocalArray simt_local_a(a, "a");'
        for function in (
            "__global__ void k()",
            "template <class T> __device__ T f()",
            "__device__ auto operator()(int)",
        ):
            for array in ("int a[N];", "const int n = 2; if (n) { n::T<int, 2> a[4][n]; }", "for (;;) { int *a[64];}"):
                text = f"{function} {{ {array} }}\n"
                self.assertEqual(self.rewritten(text), text.replace("];", "];" + guard))
        for body in (
            "__shared__ int a[4];",
            "static int a[4]; extern int b[4]; constexpr int c[4] = {};",
            "int a[4] = {1}; int b[] = {2}; int c, d[3] = {};",
            "a[3]; x.a[3]; x->a[3]; return a[3]; b = a[3]; int n = a[3];",
            "struct S { int a[4]; };",
            "switch (n) { int a[4]; case 1: a[0] = 1; }",
            "goto end; int a[4]; end: ;",
            "if (n) int a[4];",
            "for (int i = 0; i < a[n]; ++i) { }",
        ):
            self.unchanged("__device__ void f(int n) { " + body + " }\n")
        self.unchanged("void f() { int a[4]; }\n__host__ __device__ constexpr int g() { int a[4]; return 1; }\n")

    def test_arguments_for_references_are_not_copied(self) -> None:
        def launched(kernel: str, arguments: str = "a, f<1, 2>(b)") -> str:
            text = self.rewritten(kernel + "\nvoid host() { k<<<1, 2>>>(" + arguments + "); }\n")
            return text[text.index("LaunchConfig(1, 2)") + 18 : text.rindex(");")]

        both = ", ::simt::referred(a), ::simt::referred(f<1, 2>(b))"
        self.assertEqual(launched("__global__ void k(const T& a, U<V, W&> &&b);"), both)
        self.assertEqual(launched("template <class T> __global__ void k(T (&a)[4], const T &b) {}"), both)
        self.assertEqual(launched("__global__ void k(A a, T& b);"), ", a, ::simt::referred(f<1, 2>(b))")
        for kernel in (
            "__global__ void k(T a, U<V&, W> b, int (*f)(int&));",
            "__global__ void k(T& a, int b = 1);",
            "template <class... T> __global__ void k(T&... a);",
            "__global__ void k(T& a);",
            "__global__ void k(T& a, U& b); __global__ void k(V a, W b);",
            "__global__ void k(T& a, U& b); auto k = other;",
        ):
            self.assertEqual(launched(kernel), ", a, f<1, 2>(b)")
        self.assertEqual(launched("__global__ void k(T& a, int* b);", "a, NULL"), ", ::simt::referred(a), nullptr")

    def test_copies_by_builtins_are_calls(self) -> None:
        self.assertEqual(
            self.rewritten("__device__ int n;\n#define C __builtin_memset\nvoid f() { __builtin_memcpy(a, b, 4); }\n"),
            "__device__ int n;\n#define C  ::memset\nvoid f() {  ::memcpy(a, b, 4); }\n",
        )
        self.unchanged("#if __has_builtin(__builtin_memcpy)\n#endif\nvoid f() { memcpy(a, b, 4); __builtin_clz(a); }\n")

    def test_a_launch_may_follow_a_label(self) -> None:
        self.assertIn("case 1: ::simt::launch(", self.rewritten("switch (n) { case 1:k<<<1, 2>>>(); }\n"))

    def test_text_that_only_looks_like_a_launch_is_left_alone(self) -> None:
        self.unchanged('// k<<<1, 1>>>(x);\nconst char* s = "k<<<1, 1>>>(x)";\n')
        self.unchanged('auto s = R"(k<<<1, 1>>>(x) " )" u8"<<<";  /* <<<\n */ char c = \'"\'; int n = 1\'000;\n')
        self.unchanged("int a = b << 2 >> 1; A<B<C<int>>> x; f<(1 << 2)>(); operator<<<int>(s, x);\n")
        self.unchanged("#if 0\nk<<< not code\n#endif\n#error it's <<< here\n// a \\\n k<<<\n")

    def test_line_ends_of_other_systems_are_kept(self) -> None:
        self.assertEqual(self.rewritten("int a;\r\nk<<<1, 1>>>();\r\n").count("\r\n"), 2)

    def test_launches_in_macros(self) -> None:
        text = self.rewritten(
            "#define RUN(k, ...) k<<<1, 1>>>(__VA_ARGS__)\n#define OTHER(k) \\\n  k##_x<<<1, 1>>>()\n"
        )
        self.assertIn("RUN(k, ...) ::simt::launch(", text)
        self.assertIn("__VA_OPT__(,) __VA_ARGS__)", text)
        self.assertIn("{ k##_x(simt_args...); }", text)

    def test_macros_that_stand_for_a_configuration(self) -> None:
        text = self.rewritten("#define ARGS(g, b) <<< g, b >>>\nvoid f() { n::k<int> ARGS(1, 32)(a, NULL); }\n")
        self.assertEqual(
            text,
            "#define ARGS(g, b) ( g, b )\n"
            "void f() { ::simt::launch([&](auto&... simt_args) { n::k<int>(simt_args...); } "
            ', "n::k<int>", __FILE__, __LINE__, ::simt::LaunchConfig ARGS(1, 32), a, nullptr); }\n',
        )

    def test_launches_as_editors_space_them(self) -> None:
        expected = self.rewritten("void f() { k<int><<<g, 32>>>(a); }").split()
        for text in ("k<int> << <g, 32 >> > (a)", "k<int> <<< g, 32 >>> (a)", "k<int>< < <g, 32> > >(a)"):
            found = self.rewritten("void f() { " + text + "; }").split()
            self.assertEqual("".join(found), "".join(expected))
        self.assertIn("LaunchConfig(f<A<B<C<int> > > >(), 1 )", self.rewritten("k<<<f<A<B<C<int> > > >(), 1 >>>();"))
        self.unchanged("ostream& operator<< <int>(ostream&); bool b = operator< <A<B<int> > >(x, y);\n")

    def test_a_stray_backslash_is_dropped(self) -> None:
        text = self.rewritten("int n = 1 + \\ // more\n  2; \\ \nint m = 3 \\/* . */;\nint \\u00e9;\n")
        self.assertEqual(text, "int n = 1 +   // more\n  2;   \nint m = 3  /* . */;\nint \\u00e9;\n")
        self.unchanged("#define F(a) \\\n  a\nint b = \\\n  1;\n")

    # --- shared memory ---

    def test_dynamic_shared_memory_in_a_kernel(self) -> None:
        self.assertEqual(
            " ".join(self.rewritten("void k() { extern __shared__ unsigned int s[]; }").split()),
            "void k() { unsigned int (&s)[] = *reinterpret_cast<unsigned int (*)[]>(::simt::dynamic_shared()); }",
        )

    def test_dynamic_shared_memory_at_file_scope(self) -> None:
        for around in ("%s", "namespace a::b {\n%s\n}", 'extern "C" { %s }', "namespace { inline namespace c { %s } }"):
            text = self.rewritten(around % "extern __shared__ __align__(16) T s[];")
            self.assertIn("static const ::simt::DynamicShared<T> s{};", text)

    def test_branches_of_an_if_do_not_confuse_scopes(self) -> None:
        text = self.rewritten("#ifdef A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nextern __shared__ int s[];\n")
        self.assertIn("DynamicShared<int> s{};", text)

    def test_order_and_alignment_of_specifiers_do_not_matter(self) -> None:
        for text in (
            "__shared__ extern volatile float s[];",
            "extern __shared__ alignas(16) volatile float s[];",
            "extern __shared__ volatile float __attribute__((aligned(16))) s[];",
        ):
            self.assertIn("volatile float (*)[]>(::simt::dynamic_shared())", self.rewritten("void k() {" + text + "}"))

    def test_the_type_may_precede_shared(self) -> None:
        for text, expected in (
            (
                "extern float __shared__ s[];",
                "float (&s)[] = *reinterpret_cast<float (*)[]>(::simt::dynamic_shared());",
            ),
            ("extern A<int, 2> volatile __shared__ s[];", "A<int, 2> volatile (&s)[] ="),
            ("int __shared__ a[4];", "__shared__ int a[4];"),
            ("unsigned int __shared__ a, b[2];", "__shared__ unsigned int a; __shared__ unsigned int b[2];"),
            ("static const n::T __shared__ a;", "__shared__ const n::T a;"),
        ):
            self.assertIn(expected, " ".join(self.rewritten("void k() { int n; " + text + " }").split()))
        self.assertIn("DynamicShared<float> s{};", self.rewritten("extern float __shared__ s[];"))

    # --- arrays of the device ---

    def test_arrays_of_the_device_get_gaps(self) -> None:
        zeroed, filled = (f"SIMT_{kind}_GAP SIMT_{kind}_ARRAY %s SIMT_{kind}_GAP" for kind in ("ZEROED", "FILLED"))
        for form, text in (
            (zeroed, "__device__ int t[256];"),
            (zeroed, "static __device__ float x, y[4];"),
            (zeroed, "__constant__ __align__(16) unsigned char w[4][2];"),
            (filled, "__constant__ int t[] = {1, 2, (3)};"),
            (filled, "__device__ Pair pairs[2];"),
        ):
            self.assertIn(form % text, self.rewritten(f"void f() {{}}\nnamespace n {{ {text} }}"))

    def test_other_declarations_for_the_device_keep_their_form(self) -> None:
        for text in (
            "__device__ int f(int a[4]) { int b = 2; return a[0]; }",
            "template <class T> __device__ T t[4];",
            "extern __device__ int e[3];",
            "__device__ const int c[2] = {1, 2};",
            "__device__ int scalar = 1;",
            "__device__ void (*table[2])(int);",
            "struct S { static __device__ int member[2]; };",
            "struct { int x; } __device__ points[2];",
        ):
            self.assertIn(text, self.rewritten(text))

    # --- constant memory ---

    def test_inline_ptx_becomes_cpp_in_device_code_only(self) -> None:
        text = '__device__ void f(int& x) {\n  asm("mov.u32 %0, %%laneid;"\n      : "=r"(x));\n}\n'
        self.assertEqual(
            self.rewritten(text),
            "__device__ void f(int& x) {\n  do { simt::ptx::put((x), [](std::uint32_t a) { "
            "return a; }(simt::ptx::get<std::uint32_t>(simt::ptx::laneid()))); } while (false)\n;\n}\n",
        )
        self.unchanged('void host() { asm volatile("rdtsc" ::: "eax", "edx"); }\n__global__ void k();\n')

    def test_inline_ptx_keeps_a_condition_in_it(self) -> None:
        text = (
            '__device__ void f(int& x) {\n  asm(\n#if A \\\n  && B\n      "bar.sync 0;"\n'
            '#else\n      "membar.gl;"\n#endif\n      ::);\n}\n'
        )
        self.assertRegex(
            self.rewritten(text),
            r"do \{ \n#if A \\\n  && B\n__syncthreads\(\);\n#else\n__threadfence\(\);\n#endif\n \} while",
        )

    def test_inline_ptx_that_is_not_known_is_an_error_if_it_is_compiled(self) -> None:
        for text in (
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];",
            "mov.u32 %0, %%gridid;",
            "addc.u32 %0, %0, 1;",
            "bar.arrive 1;",
            "add.u32 %0, %1, 1; mma.sync %0;",
            "add %0, %0, 1;",
        ):
            made = self.rewritten(f'__device__ void f(int& x) {{ asm volatile("{text}" : "+r"(x)); }}\n')
            self.assertRegex(made, r"_Pragma\(.*does not know the inline PTX '.*': write C\+\+ for it")

    def test_constants_are_registered_by_their_names(self) -> None:
        for text, names in (
            ("__constant__ int a, b[3] = {1, 2, 3}, *c = nullptr, d{4};", "abcd"),
            ("static __constant__ __align__(16) std::array<int, 3> a, b;", "ab"),
            ("__constant__ struct P { int x, y; } a, b = {1, 2};", "ab"),
            ("float __constant__ a[2][n] = {};", "a"),
            ("__constant__ const n::T a = n::f(1, 2), b = [] { int c; return c; }();", "ab"),
            ("__constant__ int a = f<1, 2>(), b = 2;", "a"),  # where the first value ends is not clear
            ("extern __constant__ int e[];", ""),
            ("__constant__ int A::m = 3;", ""),
            ("template <class T> __constant__ T t = T(1);", ""),
            ("void f() { static __constant__ int a; }", ""),
            ("struct S { static __constant__ int a; };", ""),
            ("__constant__ int (*call)(int);", ""),
            ("#define C __constant__ int a;\n", ""),
        ):
            registered = [part[0] for part in self.rewritten(text).split("SIMT_CONSTANT(")[1:]]
            self.assertEqual("".join(registered), names, text)

    # --- headers ---

    def test_headers_with_launches_are_copied_and_others_are_not(self) -> None:
        self.file("plain.h", "int plain;\n")
        self.file("deep.h", "inline void f() { k<<<1, 1>>>(); }\n")
        self.file("folder/middle.h", '#pragma once\n#include "../deep.h"\n')
        text = self.rewritten('#include "plain.h"\n#include <middle.h>\n#include <vector>\n', "-I", "folder")
        self.assertIn(f'#include "{os.path.join(os.path.realpath(self.folder), "plain.h")}"', text)
        self.assertIn("#include <vector>", text)
        copies = [name for name in os.listdir(self.path("out")) if name != "k.cpp"]
        self.assertEqual(sorted(name.split(".", 3)[3] for name in copies), ["deep.h", "middle.h"])
        for copy in copies:
            self.assertTrue(copy.startswith("k.cpp."))
            with open(self.path("out", copy)) as file:
                content = file.read()
            if copy.endswith("deep.h"):
                self.assertTrue(content.startswith('#line 1 "deep.h"\ninline void f() { ::simt::launch('))
            else:
                self.assertIn([name for name in copies if name.endswith("deep.h")][0], content)

    def test_headers_that_include_each_other(self) -> None:
        self.file("a.h", '#pragma once\n#include "b.h"\n')
        self.file("b.h", '#pragma once\n#include "a.h"\ninline void f() { k<<<1, 1>>>(); }\n')
        self.rewritten('#include "a.h"\n')
        self.assertEqual(len(os.listdir(self.path("out"))), 3)

    def test_messages_may_name_files_relative_to_a_root(self) -> None:
        self.file("labs/k.cu", '#include "h.h"\nk<<<1, 1>>>();\n')
        self.file("labs/h.h", "\n<<<\n")
        done = self.rewrite("../labs/k.cu", "-o", "k.cpp", "--root", "..", within="out")
        self.assertEqual(done.stderr, "labs/h.h:2: error: kernel launch: the kernel's name is missing before '<<<'\n")

    def test_dependencies_name_every_header_that_was_read_and_the_rewriter(self) -> None:
        self.file("a b.h", "")
        self.file("folder/c.h", "")
        self.rewritten('#include "a b.h"\n#include "c.h"\n#include "missing.h"\n', "-I", "folder", "--depfile", "out/d")
        with open(self.path("out", "d")) as file:
            words = file.read().replace("\\ ", "\\_").split()
        self.assertEqual(words[:4], ["out/k.cpp:", "k.cu", "a\\_b.h", "folder/c.h"])
        folder = os.path.dirname(REWRITE)
        rewriter = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".py")]
        self.assertEqual(words[4:], [path.replace(" ", "\\_") for path in rewriter])

    # --- messages ---

    def test_errors_name_the_line_and_write_nothing(self) -> None:
        for text, line, what in (
            ("\n\nk<<<1, 1;\n", 3, "never closed by '>>>'"),
            ("f(k<<<1, 1);\n", 1, "never closed by '>>>'"),
            ("\n<<<1, 1>>>();", 2, "name is missing before"),
            ("return <<<1, 1>>>();", 1, "name is missing before"),
            ("k<<<1, 1>>>;", 1, "launch of k: no '(arguments)'"),
            ("k<<<1, 1>>>(a;", 1, "launch of k: this '(' is never closed"),
            ("k<<<>>>();", 1, "needs a grid and a block"),
            ("int a;\n<<<<<<< HEAD\n", 2, "left over from a merge"),
            ("k<<<1, 1>>>();\n/* open", 2, "comment is never closed"),
            ('k<<<1, 1>>>();\nauto s = R"(open', 2, "raw string is never closed"),
            ("void k() {\n  extern __shared__ int a, b[];\n}", 2, "expected one array"),
            ("void k() {\n  extern __shared__ int a;\n}", 2, "expected one array"),
            ("void k() {\n  __shared__ int a =\n 0;\n}", 2, "cannot have an initial value"),
        ):
            message = self.error(text)
            self.assertTrue(message.startswith(f"k.cu:{line}: error: "), message)
            self.assertIn(what, message)

    def test_a_function_is_not_launched(self) -> None:
        host = "void f() {\n  k<<<1, 32>>>(p);\n}\n"
        for before in ("", "static ", "__device__ ", "template <class T> ", "int n;\n", "void g() {}\n"):
            message = self.error(before + "void k(int* p) {}\n" + host)
            self.assertIn("error: k is launched with <<<>>>, so it must be a kernel: __global__ void k(", message)
        self.assertIn(
            "must be a kernel", self.error("template <class T>\nvoid k(T* p) {}\nvoid f() { k<T><<<1, 2>>>(p); }")
        )
        self.rewritten("template <class F>\nvoid go(F k, int n) { k<<<1, 2>>>(n); }\nvoid k(int n) {}\n")
        for right in (
            "KERNEL void k(int* p) {}\n",
            "void k(int*);\n__global__ void k(int* p) {}\n",
            "void (*k)(int*);\n",
        ):
            self.rewritten(right + host)

    def test_a_kernel_returns_nothing(self) -> None:
        for kernel in ("__global__ int k(", "template <class T> __global__ unsigned long __launch_bounds__(64) k("):
            message = self.error("int n;\n" + kernel + "int* p) {}\n")
            self.assertTrue(message.startswith("k.cu:2: error: the kernel k cannot return anything"), message)
        self.rewritten("void __global__ k(int* p) {}\n__global__ void __launch_bounds__(64) l(long* p) {}\n")

    def test_a_kernel_is_not_called_like_a_function(self) -> None:
        kernel = "template <class T>\n__global__ void __launch_bounds__(256) k(T* p) {}\n"
        for call in ("k(p)", "ns::k<int>(p)", "if (n) k<T>(p, 1)", "return k(p)", "else k(p)"):
            message = self.error(kernel + "void f() {\n  a();\n  " + call + ";\n}\n")
            self.assertTrue(message.startswith("k.cu:5: error: the kernel "), message)
            self.assertIn("called like a function", message)
        for launch in ("k<<1, 32>>(p)", "k<1, 32>>>(p)", "k<<1, 32>>>(p)", "k<T><<1, 32>>(p)"):
            message = self.error(kernel + "void f() {\n  a();\n  " + launch + ";\n}\n")
            self.assertTrue(message.startswith("k.cu:5: error: a launch has three angle brackets"), message)
        self.file("k.cuh", "#pragma once\n" + kernel)
        self.assertIn("k.cu:3: error: the kernel k", self.error('#include "k.cuh"\nvoid f() {\n k(0);\n}\n'))
        for call in ("std::k(p)", "::std::k(p, p + 1)", "std::ranges::k<T>(p)"):
            self.rewritten(kernel + "void f() {\n  " + call + ";\n}\n")

    def test_a_braced_argument_needs_its_type(self) -> None:
        for arguments in ("({p, 3}, 4)", "(4, {p})", "(f({p}), {p})"):
            self.assertIn(
                "k.cu:2: error: launch of k: CUDA on the CPU needs this argument's type",
                self.error("void f() {\n k<<<1, 2>>>" + arguments + ";\n}\n"),
            )
        self.rewritten("void f() { k<<<1, 2>>>(S{p, 3}, g({p}), [] { return 1; }()); }\n")

    def test_a_byte_order_mark_is_skipped(self) -> None:
        self.assertNotIn("\ufeff", self.rewritten("\ufeff#include <stdio.h>\r\nint n;\r\n"))

    def test_shared_variables_of_one_declaration_are_separated(self) -> None:
        for text, apart in (
            (
                "__shared__ T a[N], b[N / 2];",
                "SHARED T a[N]; SHARED T b[N / 2];".replace(
                    "SHARED", "SIMT_SHARED_GAP alignas(16) alignas(T) SIMT_SHARED"
                ),
            ),
            ("static __shared__ int x, *y;", " __shared__ int x; __shared__ int *y;"),
            (
                "__shared__ alignas(8) P<int, 2> p, q[2];",
                "SHARED  P<int, 2> p; SHARED P<int, 2> q[2];".replace(
                    "SHARED", "SIMT_SHARED_GAP alignas(8) alignas(16) alignas(P<int, 2>) SIMT_SHARED"
                ),
            ),
            ("alignas(8) __shared__ int a[4];", " SIMT_SHARED_GAP alignas(8) SIMT_SHARED int a[4];"),
            ("__align__(8) __shared__ int a[4];", " SIMT_SHARED_GAP __align__(8) SIMT_SHARED int a[4];"),
        ):
            self.assertEqual(self.rewritten("void k() { " + text + " }\n"), "void k() { " + apart + " }\n")
        self.unchanged("void k() { __shared__ struct { int n; } a, b; }\n")
        self.unchanged("void k() { __shared__ int (*f)(int), (*g)(int); }\n")

    def test_what_only_looks_like_a_call_of_a_kernel_is_accepted(self) -> None:
        kernel = "__global__ void k(int* p);\n__global__ void k(int* p) { }\n"
        for text in (
            "void f() { k<<<1, 1>>>(p); }",
            "void f() { x.k(p); y->k(p); cudaFuncSetAttribute(k, a, 1); }",
            "void k(float*);\nvoid f() { k(p); }",
            "void f() { auto k = [](int*) {};\n k(p); }",
            "template <class F>\nvoid f(F&& k) { k(p); }",
            "template <> __global__ void k<int>(int*);",
            "struct S { S() : k(1) {} int k; };",
        ):
            self.rewritten(kernel + text + "\n")

    def test_a_macro_comes_before_the_first_line(self) -> None:
        self.assertEqual(self.run_on("int f();\n", "--define", "PART").returncode, 0)
        with open(self.path("out", "k.cpp"), encoding="utf-8") as file:
            self.assertEqual(file.read(), '#define PART\n#line 1 "k.cu"\nint f();\n')

    def test_operands_of_casts_to_integers_saturate(self) -> None:
        for text, expected in (
            ("(int)f;", "(int)@(f);"),
            ("a = (unsigned int)-f[1] * 2;", "a = (unsigned int)@(-f[1]) * 2;"),
            ("(int)s->x.y(1, 2)[3] + 1;", "(int)@(s->x.y(1, 2)[3]) + 1;"),
            ("(int)(float)f / 2;", "(int)@((float)f) / 2;"),
            ("(long long)(int)f;", "(long long)@((int)@(f));"),
            ("return std::size_t(f * 2);", "return std::size_t(@(f * 2));"),
            ("i < int(f);", "i < int(@(f));"),
            ("static_cast<uint32_t>(f);", "static_cast<uint32_t>(@(f));"),
            ("(int)max<float>(a, b) >> 1;", "(int)@(max<float>(a, b)) >> 1;"),
            ("(int)f++ - 1;", "(int)@(f++) - 1;"),
            ("(int)ns::f - (a < b);", "(int)@(ns::f) - (a < b);"),
        ):
            kernel = "__global__ void k() { " + text + " }\n"
            done = self.rewritten(kernel, "--saturate")
            self.assertEqual(done.partition("{ ")[2], expected.replace("@(", "simt::saturating(") + " }\n")
            self.unchanged(kernel)
        for text in (
            "sizeof(int) * n;",
            "sizeof(int) * (n + 1);",
            "f(int);",
            "int (*g)(int);",
            "int(a);",
            "(float)i;",
            "(int*)p;",
            "x = (int)sizeof(a);",
            "std::function<int(float)> f;",
        ):
            kernel = "__global__ void k() { " + text + " }\n"
            self.assertEqual(self.rewritten(kernel, "--saturate"), kernel)
        self.assertEqual(self.rewritten("void f() { (int)g; }\n", "--saturate"), "void f() { (int)g; }\n")

    def test_distances_of_shifts_are_enclosed(self) -> None:
        for text, expected in (
            ("a << n;", "a << @(n);"),
            ("a >> n + 2 * m < b;", "a >> @(n + 2 * m) < b;"),
            ("1ull << 40;", "1ull << @(40);"),
            ("a <<= b ? 1 : n;", "a <<= @(b ? 1 : n);"),
            ("f(x[1] >> s->y(2, 3), 4);", "f(x[1] >> @(s->y(2, 3)), 4);"),
            ("a << n << m;", "a << @(n) << @(m);"),
            ("if (a < b && c >> n > 3) f();", "if (a < b && c >> @(n) > 3) f();"),
            ("for (int i = 0; i < n; i += s >> n) f();", "for (int i = 0; i < n; i += s >> @(n)) f();"),
        ):
            kernel = "__global__ void k() { " + text + " }\n"
            done = self.rewritten(kernel, "--saturate")
            self.assertEqual(done.partition("{ ")[2], expected.replace("@(", "simt::distance(") + " }\n")
            self.unchanged(kernel)
        macro = "#define HIGH(x, n) ((x) >> (n) | 1 >> three)\n"
        self.assertIn("(x) >> simt::distance((n)) |", self.rewritten(f"__device__ int d;\n{macro}", "--saturate"))
        for text in (
            "__global__ void k() { a << 3; b >> 31u; }\n",
            "__global__ void k() { A<B<int>> c; A<B<int, 3>>::T d(n); f<A<B>>(n); }\n",
            "struct S { __device__ int operator<<(int n); };\n",
            "void f() { a << n; }\n",
            '__device__ void f();\n#define SHOW(x) (out << "x: " << x)\n#define SIZE (1 << LOG)\n',
        ):
            self.assertEqual(self.rewritten(text, "--saturate"), text)

    def test_a_missing_input_is_an_error(self) -> None:
        done = self.rewrite("no.cu", "-o", "out/k.cpp")
        self.assertEqual((done.returncode, done.stderr), (1, "error: no.cu: No such file or directory\n"))


if __name__ == "__main__":
    unittest.main()
