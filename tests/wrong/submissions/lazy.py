"""Submissions that do less than they should, or break their process: changes to the solution of lab 01's step 01.

What must stop each: the judge's comparison, the limits on time, memory and output, the check build, or the watch over
what the host does. A few attacks are here, too, that use nothing which inspection could refuse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LAB, FILE = "01-odd-even", "01_global.cu"

# Of a criterion's points. Some: fewer than all. Part: neither none nor all. Any: the criterion is about something that
# this step does well.
NONE, SOME, PART, FULL, ANY = "none", "some", "part", "full", "any"


@dataclass(frozen=True)
class Lazy:
    """A changed solution, and what its grade must be."""

    changes: Sequence[tuple[str, str]]  # each text occurs once in the file
    words: str  # in the criteria's sentences or in their failures; "A | B" where either is right
    points: Mapping[str, str] = field(default_factory=lambda: {"correct": NONE, "check": NONE})
    head: str = ""  # before everything else in the file
    alone: bool = False  # the head is all of the file
    refused: bool = False  # the file is, before it runs

    def at(self, folder: Path) -> Lazy:
        """The same for a class in this folder."""
        return replace(self, head=self.head.replace("{class}", str(folder)))

    @property
    def source(self) -> str:
        """The file that is handed in."""
        if self.alone:
            return self.head
        text = (ROOT / "solutions" / LAB / FILE).read_text(encoding="utf-8")
        for old, new in self.changes:
            if text.count(old) != 1:
                raise ValueError(f"{FILE} has {text.count(old)} times: {old}")
            text = text.replace(old, new)
        return self.head + text


_FIRST = "  if (keys.n < 2) return;\n"  # the host function begins to work after this
_ALL = "for (std::int64_t phase = 0; phase < keys.n; ++phase) {"
_SWAP = "    if (lab::before(b, a, order)) {\n"
_PAIRS = "  const std::int64_t pairs = (n - parity) / 2;"
_SOME = {"correct": SOME, "check": NONE}
_RARELY_WRONG = {"correct": SOME, "check": ANY, "budgets": ANY}  # the few cases of the check build need not show it


def _first(
    code: str, words: str, points: Mapping[str, str] | None = None, head: str = "", refused: bool = False
) -> Lazy:
    """The solution with other code before its own."""
    made = "".join(f"  {line}\n" for line in code.strip().splitlines())
    points = {"correct": NONE, "check": NONE} if points is None else points
    return Lazy([(_FIRST, _FIRST + made)], words, points, head, refused=refused)


def _compiling(head: str, alone: bool = False, words: str = "does not compile", refused: bool = False) -> Lazy:
    """A file that begins with something for the compiler, or is nothing else."""
    return Lazy([], words, {}, head, alone, refused)


def _assembling(head: str) -> Lazy:
    """A file that begins with assembly code."""
    return _compiling(f'__asm__("{head}");\n', words="this is assembly code", refused=True)


LAZY = {
    # --- wrong results: the judge compares every key ---
    "copies_the_input": _first("if (blocks > 0) return;", "in the original order"),
    "sorts_powers_of_two": _first("if ((keys.n & (keys.n - 1)) != 0) return;", "in the original order", _SOME),
    "sorts_with_the_first_block": Lazy(
        [("blockIdx.x) * blockDim.x + threadIdx.x; t < pairs;", "blockIdx.x) * pairs + threadIdx.x; t < pairs;")],
        "in the wrong order",
        _SOME,
    ),
    "loses_duplicates": Lazy(
        [(_SWAP, "    if (a == b && i > 0) keys[i + 1] = keys[i - 1];\n" + _SWAP)], "keys were lost or made up", _SOME
    ),
    "exchanges_equal_keys": Lazy([("lab::before(b, a, order)", "!lab::before(a, b, order)")], "wrong", _RARELY_WRONG),
    "forgets_the_last_after_a_power_of_two": Lazy(
        [(_PAIRS, "  if (n > 2 && ((n - 1) & (n - 2)) == 0) --n;\n" + _PAIRS)], "in the wrong order", _SOME
    ),
    "ignores_the_order": Lazy([("lab::before(b, a, order)", "b < a")], "wrong key at index", _RARELY_WRONG),
    "does_a_phase_too_few": Lazy([("phase < keys.n;", "phase < keys.n - 1;")], "in the wrong order", _SOME),
    "sorts_small_arrays": _first("if (keys.n > 64) return;", "in the original order", _SOME),
    "refuses_everything": _first('throw lab::Unsupported("n is not to my taste");', "n is not to my taste"),
    "keeps_the_last_output": _first(
        """
static std::vector<char> output;
const std::size_t bytes = std::size_t(keys.n) * sizeof(Key);
if (output.size() == bytes) {
  CUDA_CHECK(cudaMemcpyAsync(keys.data, output.data(), bytes, cudaMemcpyHostToDevice, stream));
  return;
}
output.resize(bytes);
CUDA_CHECK(cudaMemcpyAsync(output.data(), keys.data, bytes, cudaMemcpyDeviceToHost, stream));
CUDA_CHECK(cudaStreamSynchronize(stream));
""",
        "copies results from the host",
        _SOME,
        "#include <vector>\n",
    ),
    "forgets_the_last_pair": Lazy(  # the commonest of beginners' mistakes: right for every other n
        [(_PAIRS, "  const std::int64_t pairs = n / 2;")],
        "out-of-bounds",
        {"correct": PART, "check": NONE, "budgets": NONE},
    ),
    # --- lesser faults: right results ---
    "reads_no_error_of_its_launch": Lazy(
        [("    CUDA_CHECK(cudaGetLastError());\n", "")],
        "the check build reports: unchecked-launch, and nothing worse",
        {"correct": FULL, "check": PART, "budgets": FULL},
    ),
    # --- wrong accesses: the guards around the keys, and the check build ---
    "writes_past_the_end": _first(
        "CUDA_CHECK(cudaMemsetAsync(keys.data + keys.n, 0, 1, stream));", "wrote past the end of the keys", _SOME
    ),
    "compares_a_pair_too_many": Lazy([("t < pairs;", "t <= pairs;")], "out-of-bounds", _SOME),
    "reads_past_the_end": Lazy(
        [(_SWAP, "    if (i + 2 == n && keys[n] == Key(12345)) keys[i] = b;\n" + _SWAP)],
        "out-of-bounds",
        {"correct": FULL, "check": NONE, "budgets": NONE},
    ),
    "follows_a_null_pointer": _first("keys.data = nullptr;", "cudaErrorIllegalAddress"),
    # --- the process breaks: it costs the case ---
    "segfaults": _first("*static_cast<volatile int*>(nullptr) = 0;", "host code writes through a null pointer"),
    "throws": _first("throw 42;", "was thrown and not caught"),
    "uses_up_its_stack": _first(
        "descend(int(keys.n));",
        "Segmentation fault",
        None,
        """static int descend(int n) {
  volatile char room[4096];
  room[n % 4096] = char(n);
  const int below = descend(n + 1);
  return below + room[n % 4096];
}
""",
    ),
    "ends_the_process": _first("_exit(0);", "ended by itself with exit code 0", None, "#include <unistd.h>\n"),
    "ends_the_process_politely": _first(
        "std::exit(int(keys.n % 2));", "ended by itself with exit code", None, "#include <cstdlib>\n"
    ),
    "ends_the_process_now_and_then": _first(
        "static int calls = 0;\nif (++calls > 2) std::exit(0);",
        "ended by itself with exit code 0",
        _RARELY_WRONG,
        "#include <cstdlib>\n",
    ),
    "leaves_something_for_later": _first(
        "std::atexit([] { std::abort(); });\nif (blocks > 0) return;",
        "in the original order",
        None,
        "#include <cstdlib>\n",
    ),
    "does_its_work_before_main": _first(
        "if (before.is_done) return;",
        "in the original order",
        None,
        """#include <cstdio>
static struct Before {
  Before() : is_done(true) { std::puts("verified"); }
  bool is_done;
} before;
""",
    ),
    # --- limits: time, memory, output ---
    "never_ends": _first("for (volatile int i = 0;; i = i + 1) {\n}", "did not end"),
    "never_ends_in_a_kernel": Lazy(
        [(_PAIRS, "  while (((volatile Key*)keys)[0] == keys[0]) {\n  }\n" + _PAIRS)], "did not end"
    ),
    "allocates_all_memory": _first(
        "std::vector<char> much(std::size_t(1) << 40, 1);", "bad_alloc", None, "#include <vector>\n"
    ),
    "allocates_ten_times_too_much": _first(
        "void* much;\nCUDA_CHECK(cudaMalloc(&much, std::size_t(1) << 44));", "cudaErrorMemoryAllocation"
    ),
    "leaks": _first(
        "void* lost;\nCUDA_CHECK(cudaMalloc(&lost, std::size_t(3) << 28));",
        "cudaErrorMemoryAllocation | Killed | cases of this step have taken",
        _RARELY_WRONG,
    ),
    "prints_without_end": _first(
        'for (;;) std::printf("%lld keys, and more and more and more\\n", static_cast<long long>(keys.n));',
        "did not end",
        None,
        "#include <cstdio>\n",
    ),
    # --- the host does the kernels' work ---
    "sorts_on_the_host": _first(
        "std::sort(keys.data, keys.data + keys.n);\nreturn;",
        "host code reads device memory",
        None,
        "#include <algorithm>\n",
    ),
    "copies_what_the_host_sorted": _first(
        """
std::vector<Key> host(keys.n);
CUDA_CHECK(cudaMemcpyAsync(host.data(), keys.data, keys.n * sizeof(Key), cudaMemcpyDeviceToHost, stream));
CUDA_CHECK(cudaStreamSynchronize(stream));
std::sort(host.begin(), host.end(), [&](Key a, Key b) { return lab::before(a, b, order); });
CUDA_CHECK(cudaMemcpyAsync(keys.data, host.data(), keys.n * sizeof(Key), cudaMemcpyHostToDevice, stream));
CUDA_CHECK(cudaStreamSynchronize(stream));
return;
""",
        "copies results from the host",
        None,
        "#include <algorithm>\n#include <vector>\n",
    ),
    # --- attacks that use nothing which is refused ---
    "prints_that_it_is_right": _first(
        'std::puts("verified");\nif (blocks > 0) return;', "in the original order", None, "#include <cstdio>\n"
    ),
    "changes_the_judges_input": _first(
        """
void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
if (memory != MAP_FAILED) std::memset(memory, 0, 4096);
CUDA_CHECK(cudaMemsetAsync(keys.data, 0, keys.n * sizeof(Key), stream));
return;
""",
        "keys were lost or made up",
        _SOME,
        "#include <sys/mman.h>\n#include <cstring>\n",
    ),
    "knows_the_number_of_its_call": _first(
        "static int calls = 0;\nif (++calls > 3) return;", "in the original order", _RARELY_WRONG
    ),
    "hides_from_the_observers": Lazy(
        [("__global__ void run_phase", '__attribute__((no_sanitize("thread"))) __global__ void run_phase')],
        "it hides code",
        {},
        refused=True,
    ),
}

# What the compiler is made to do: it runs in the sandbox, too, with limits on time, memory and output. {class} is the
# folder of all submissions, where somebody has handed in all files.
_OTHERS = "{class}/all/labs/01-odd-even/01_global.cu"
COMPILING = {
    "includes_a_file_of_the_system": _compiling('#include "/etc/passwd"\n'),
    "includes_the_solution": _compiling('#include "../../solutions/01-odd-even/01_global.cu"\n', alone=True),
    "includes_another_students_file": _compiling(f'#include "{_OTHERS}"\n', alone=True),
    "embeds_another_students_file": _assembling(f'.incbin \\"{_OTHERS}\\"'),
    "includes_a_device": _compiling('#include "/dev/zero"\n'),
    "never_ends_compiling": _compiling(
        """template <unsigned long n>
struct Endless {
  static constexpr unsigned long value = Endless<n + 1>::value + Endless<n + 2>::value;
};
static constexpr unsigned long endless = Endless<0>::value;
"""
    ),
    "computes_while_compiling": _compiling(
        """template <unsigned long n>
constexpr unsigned long spin() {
  unsigned long sum = 0;
  for (unsigned long i = 0; i < 200000; ++i) sum += i * n;
  if constexpr (n > 0) sum += spin<n - 1>();
  return sum;
}
static constexpr unsigned long spun = spin<800>();
""",
        words="compiling it took more than 60 s | it needs too much memory",
    ),
    "makes_the_compiler_print": _compiling(
        "#define A0 int *a = 1.5;\n"
        + "".join(f"#define A{i + 1} {' '.join([f'A{i}'] * 10)}\n" for i in range(6))
        + "void prints() { A6 }\n"
    ),
    "makes_a_huge_object": _compiling("char huge[1ull << 36] = {1};\n"),
}

# Right, and not lazy: after every other phase, it copies a counter to the host.
COUNTS_EXCHANGES = Lazy(
    [
        ("int parity, lab::Order order) {", "int parity, lab::Order order, int* count) {"),
        (_SWAP, _SWAP + "      atomicAdd(count, 1);\n"),
        ("int(phase % 2), order);", "int(phase % 2), order, count);"),
        (
            "  " + _ALL,
            """
  int* count = nullptr;
  int before = 0, counted = 0;
  CUDA_CHECK(cudaMallocAsync(&count, sizeof(int), stream));
  CUDA_CHECK(cudaMemsetAsync(count, 0, sizeof(int), stream));
  """
            + _ALL,
        ),
        (
            "    CUDA_CHECK(cudaGetLastError());\n  }\n",
            """
    CUDA_CHECK(cudaGetLastError());
    if (phase % 2 == 0) continue;
    before = counted;
    CUDA_CHECK(cudaMemcpyAsync(&counted, count, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    if (counted == before) break;
  }
  CUDA_CHECK(cudaFreeAsync(count, stream));
""",
        ),
    ],
    "",
    {"correct": FULL, "check": FULL, "budgets": ANY},
)
