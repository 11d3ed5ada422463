#!/usr/bin/env python3
"""`./workbook debug` with the gdb of this machine: a step, programs of `cc`, and what gdb itself must then do.

debugger_test.py [--compiler g++]

Exits with 77, which Meson counts as "not run", where gdb is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from programs import COMPILER, ROOT, Programs, main

SKIPPED = 77
HANDOUT = ROOT / "labs/README.md"
STEP = "01-odd-even/02_halo.cu"
REVERSE = """#include <cstdio>

__device__ int waited(int value) {
  __syncthreads();  // in a function
  return value;
}

__global__ void reverse_tiles(int* keys) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  const int own = keys[64 * blockIdx.x + t];
  tile[t] = own;
  __syncthreads();  // the tile is full
  const int other = tile[63 - t];  // opposite
  const int next = __shfl_xor_sync(0xffffffffu, other, 1);  // of the neighbour
  keys[64 * blockIdx.x + t] = waited(next);  // the store
}

int main() {
  int host[256], *keys;
  for (int i = 0; i < 256; ++i) host[i] = i;
  cudaMalloc(&keys, sizeof host);
  cudaMemcpy(keys, host, sizeof host, cudaMemcpyHostToDevice);
  reverse_tiles<<<dim3(2, 2), dim3(16, 4)>>>(keys);
  cudaMemcpy(host, keys, sizeof host, cudaMemcpyDeviceToHost);
  long sum = 0;
  for (int i = 0; i < 256; ++i) sum += (i + 1L) * host[i];
  std::printf("sum %ld\\n", sum);
  return 0;
}
"""
ONE_ROW = REVERSE.replace("dim3(2, 2), dim3(16, 4)", "4, 64")
# A thread that computes for long is interrupted, so that the one that it waits for can run.
SPIN = """#include <cstdio>
__global__ void wait(volatile int* flag) {
  if (threadIdx.x == 1) *flag = 1;
  while (*flag == 0) {
  }
  flag[1 + threadIdx.x] = 7;  // after the loop
}
int main() {
  int *flags, host[3];
  cudaMalloc(&flags, sizeof host);
  cudaMemset(flags, 0, sizeof host);
  wait<<<1, 2>>>(flags);
  cudaMemcpy(host, flags, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("flags %d %d %d\\n", host[0], host[1], host[2]);
}
"""


# The program interrupts itself, as Ctrl-C does, while its kernel waits in a loop.
INTERRUPTED = """#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>
#include <unistd.h>
__global__ void wait(int* flags) {
  atomicAdd(&flags[1], 1);
  while (atomicAdd(&flags[0], 0) == 0) {  // the loop
  }
  atomicAdd(&flags[2], 1);
}
int main() {
  int* flags;
  cudaMallocManaged(&flags, 3 * sizeof *flags);
  for (int i = 0; i < 3; ++i) flags[i] = 0;
  std::thread other([flags] {
    while (std::atomic_ref(flags[1]).load() < 64) {
    }
    kill(getpid(), SIGINT);
  });
  wait<<<1, 64>>>(flags);
  cudaDeviceSynchronize();
  std::printf("ended: %d\\n", flags[2]);
  other.join();
}
"""


# Threads at two barriers; and a shuffle whose lanes will never come.
STUCK = """#include <cstdio>
__global__ void parts(int* out) {
  const int t = threadIdx.x;
  if (t < 32) {
    __syncthreads();  // the first
  } else {
    __syncthreads();  // the second
  }
  out[t] = t;
}
__global__ void lost(int* out) {
  const int t = threadIdx.x;
  int v = t;
  if (t < 8) {
    v = __shfl_sync(0xffffffffu, v, 1);  // the shuffle
  } else {
    __syncthreads();  // the barrier
  }
  out[t] = v;
}
int main(int argc, char**) {
  int* out;
  cudaMalloc(&out, 256);
  if (argc > 1) lost<<<1, 64>>>(out);
  else parts<<<1, 64>>>(out);
  std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
"""


# Saved stacks as other processors have them: common/simt/src/execution/context.h.
ELSEWHERE = """#include <cstdio>
struct OnArm { void* stack; };
struct WithBoost { void* place; };
unsigned long saved[20];
OnArm on_arm{saved};
WithBoost with_boost{saved};
__global__ void none() {}
int main() {
  for (unsigned long i = 0; i < 20; ++i) saved[i] = 1000 + i;
  none<<<1, 1>>>();
  std::printf("%p %p\\n", on_arm.stack, with_boost.place);  // here
}
"""


def line_of(text: str, words: str) -> int:
    """The number of the first line that has these words."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


def session(words: list[str], commands: list[str], folder: Path, **variables: str) -> str:
    """What `./workbook debug` prints, on both streams, when it is given these commands."""
    done = subprocess.run(
        [str(ROOT / "workbook"), "debug", *words],
        input="".join(f"{command}\n" for command in ("set width 0", *commands)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        cwd=folder,
        timeout=200,
        env={**os.environ, **variables},
    )
    return done.stdout


class Debugged(Programs):
    """Programs that `cc` has compiled, and what gdb says of them."""

    def built(self, text: str = ONE_ROW, *options: str) -> None:
        """Compiles a program as ./program."""
        self.file("program.cu", text)
        self.compiled("program.cu", "-o", "program", *(options or ("-G",)))

    def session(self, *commands: str, options: tuple[str, ...] = ()) -> str:
        """What gdb says of ./program."""
        return session(["./program", *options], list(commands), self.folder)

    def assert_printed(self, printed: str, *expected: str) -> None:
        """The texts appear in this order."""
        at = 0
        for text in expected:
            found = printed.find(text, at)
            self.assertGreaterEqual(found, 0, f"not printed after character {at}: {text}\n{printed}")
            at = found + len(text)

    def test_a_thread_that_runs_and_one_that_waits(self) -> None:
        self.built()
        opposite = line_of(ONE_ROW, "// opposite")
        printed = self.session(
            f"break {opposite} if threadIdx.x == 37 && blockIdx.x == 2",
            "run",
            *("print own", "print threadIdx", "print tile[3]", "backtrace", "cuda thread 50", "print own", "print t"),
            *("print threadIdx.x + 1000 * blockIdx.x", "print blockDim", "print gridDim.x", "backtrace"),
            *("cuda block warp lane thread kernel", "info cuda threads", "print own", "info cuda kernels"),
            *("delete", "continue"),
        )
        full = opposite - 1
        self.assert_printed(
            printed,
            "[Switching focus to CUDA kernel 0, grid 1, block (2,0,0), thread (37,0,0), warp 1, lane 5]",
            *("= 165", "{x = 37, y = 0, z = 0}", "= 131"),
            "#0  reverse_tiles (keys=0x",
            f"program.cu:{opposite}\n(gdb) ",  # and no other frame
            "[Switching focus to CUDA kernel 0, grid 1, block (2,0,0), thread (50,0,0), warp 1, lane 18]",
            f"program.cu:{full}\n{full}\t  __syncthreads();  // the tile is full",
            *("= 178", "= 50", "= 2050", "{x = 64, y = 1, z = 1}", "= 4"),
            "reverse_tiles (keys=0x",
            f"program.cu:{full}\n(gdb) block (2,0,0), warp 1, lane 18, thread (50,0,0), kernel 0\n",
            "(0,0,0)    (31,0,0)",  # one warp has come to its shuffle, the threads up to 37 to this line
            "running",
            f"(38,0,0)   (63,0,0)        26           program.cu    {full}  waiting",
            "= 178",
            "(4,1,1)      (64,1,1)     reverse_tiles",
        )
        self.assertIn(subprocess.run([self.folder / "program"], capture_output=True, text=True).stdout, printed)
        self.assertIn("exited normally", printed)

    def test_steps_are_those_of_one_thread(self) -> None:
        self.built()
        full = line_of(ONE_ROW, "// the tile is full")
        printed = self.session(
            f"break {full} if threadIdx.x == 37 && blockIdx.x == 1",
            "run",
            "delete",
            *("next", "print t", "next", "print t", "next", "print t"),  # past a barrier and a shuffle
            *("step", "next", "finish", "print t", "print other + next", "continue"),
        )
        shown = re.findall(r"^(?:\(gdb\) )*(?:\S.* at \S+:\d+\n)?(\d+)\t", printed, re.MULTILINE)
        store = line_of(ONE_ROW, "// the store")
        function = line_of(ONE_ROW, "// in a function")
        expected = [full, full + 1, full + 2, store, function, function + 1, store]
        self.assertEqual([int(line) for line in shown][: len(expected)], expected, printed)
        self.assert_printed(printed, "= 37", "= 37", "= 37", "Run till exit", "= 37", "= 181", "exited normally")

    def test_the_focus_steps_and_finishes_too(self) -> None:
        self.built()
        store, full = line_of(ONE_ROW, "// the store"), line_of(ONE_ROW, "// the tile is full")
        printed = self.session(
            *(f"break {full + 1} if threadIdx.x == 0 && blockIdx.x == 0", "run", "delete"),
            *("cuda thread 40", "next", "print t", f"break {store} if threadIdx.x == 63", "continue", "delete"),
            *("cuda thread 5", "up", "print t", "down", "finish", "print t", "print own", "continue"),
        )
        self.assert_printed(printed, f"\n{full + 1}\t", "= 40", "= 5", "Run till exit", "= 5", "= 5", "exited normally")
        self.assertIn(subprocess.run([self.folder / "program"], capture_output=True, text=True).stdout, printed)

    def test_a_thread_of_several_dimensions(self) -> None:
        self.built(REVERSE)
        printed = self.session(
            *("next", "cuda thread (3,1,0)", "print threadIdx", "print blockIdx", "cuda lane 31", "cuda thread"),
            *("cuda warp 1", "cuda block 1"),
            options=("--block", "1,1", "--thread", "7,2"),
        )
        self.assert_printed(
            printed,
            "block (1,1,0), thread (7,2,0), warp 1, lane 7]",
            *("thread (3,1,0), warp 0, lane 19]", "{x = 3, y = 1, z = 0}", "{x = 1, y = 1, z = 0}"),
            *(
                "thread (15,1,0)",
                "thread (15,1,0)\n",
                "thread (0,2,0), warp 1, lane 0]",
                "Block (1,0,0) is not running",
            ),
        )

    def test_what_does_not_exist_is_named(self) -> None:
        self.built()
        printed = self.session(
            *("cuda thread", "break waited", "run", "cuda thread 64", "cuda block 4", "cuda block 1", "cuda kernel 1"),
            *("cuda warp 2", "cuda lane 32", "cuda", "cuda flower", "cuda thread (1", "print own", "continue"),
        )
        for text in (
            "No kernel is running: set a breakpoint in one, then run or continue.",
            "There is no thread (64,0,0): blocks have (64,1,1) threads. CUDA focus unchanged.",
            "There is no block (4,0,0): the grid has (4,1,1) blocks. CUDA focus unchanged.",
            "Block (1,0,0) is not running. On the CPU, blocks run one at a time, now (0,0,0): break LINE if "
            "blockIdx.x == 1 stops in the other. CUDA focus unchanged.",
            "Only kernel 0 is running. CUDA focus unchanged.",
            "There is no lane 0 in warp 2: blocks have 64 threads. CUDA focus unchanged.",
            "There is no lane 32 in warp 0: blocks have 64 threads. CUDA focus unchanged.",
        ):
            self.assertIn(text, printed)
        self.assertEqual(printed.count("Usage: cuda [kernel [N]] [block [N]]"), 3, printed)
        self.assertNotIn("Traceback", printed)
        printed = self.session(options=("--block", "4", "--thread", "2"))
        self.assertIn(
            "No launch has thread (2,0,0) in block (4,0,0). Launched: reverse_tiles, with a grid of (4,1,1) blocks of "
            "(64,1,1) threads.",
            printed,
        )

    def test_threads_that_have_not_started_or_have_ended(self) -> None:
        self.built()
        printed = self.session(
            *(
                "info cuda threads",
                "cuda thread 63",
                f"break {line_of(ONE_ROW, '// the store') + 1} if threadIdx.x == 9",
            ),
            *("continue", "cuda thread 8", "info cuda threads"),
            options=("--thread", "9"),
        )
        self.assert_printed(
            printed,
            "(10,0,0)   (63,0,0)        54                             not started",
            "Thread (63,0,0) has not started, so it has no variables. CUDA focus unchanged.",
            "Thread (8,0,0) has ended, so it has no variables. CUDA focus unchanged.",
        )
        # On a busy machine, others of the nine may have been interrupted before their end.
        self.assertRegex(printed, r"\(0,0,0\) +\(\d,0,0\) +\(8,0,0\) +\d +ended\n")

    def test_an_optimized_and_a_checked_program(self) -> None:
        for options in (("-O", "2"), ("--check",)):
            with self.subTest(options):
                self.built(ONE_ROW, *options)
                printed = self.session(
                    "info cuda threads", "cuda thread 5", "print threadIdx.x", "continue", options=("--thread", "9")
                )
                self.assert_printed(printed, "thread (5,0,0), warp 0, lane 5]", "= 5", "sum ")
                if "clang" not in COMPILER:  # whose programs do not say how they were compiled
                    self.assertIn("This program is optimized", printed)

    def test_a_loop_that_waits_for_another_thread_ends(self) -> None:
        self.built(SPIN)
        after = line_of(SPIN, "// after the loop")
        printed = self.session(
            f"break {after} if threadIdx.x == 0", "run", "print flag[0]", "info cuda threads", "continue"
        )
        self.assert_printed(printed, f"{after}\t", "= 1", "flags 1 7 7", "exited normally")
        self.assertNotIn("SIGURG", printed)

    def test_an_interruption_inside_the_emulation(self) -> None:
        self.built(INTERRUPTED, "-G", "-std=c++20")
        loop = line_of(INTERRUPTED, "// the loop")
        printed = self.session(
            *("run", "info cuda threads", "print flags[1]", "set var flags[0] = 1", "next", "print flags[1]"),
            "continue",
        )
        self.assert_printed(
            *(printed, "SIGINT", f"program.cu:{loop}\n", f"program.cu {loop:>5}  ", "= 64", f"{loop + 2}\t", "= 64"),
            "ended: 64",
        )

    def test_it_stops_where_a_block_fails(self) -> None:
        self.built(STUCK)
        first, second, shuffle, barrier = (
            line_of(STUCK, f"// the {name}") for name in ("first", "second", "shuffle", "barrier")
        )
        printed = self.session("run", "print t", "cuda thread 5", "print t", "continue")
        self.assertNotIn("No symbol table", printed)
        self.assert_printed(
            printed,
            f"program.cu:{second}: error: divergent-barrier: ",
            "[The block has failed, as the error says.",
            f"program.cu:{second}\n",
            f"(31,0,0)        32           program.cu {first:>5}  waiting",
            f"* (0,0,0)    (32,0,0)   (32,0,0)         1           program.cu {second:>5}  waiting",
            "(63,0,0)        31                             not started",
            *("= 32", "= 5", "unspecified launch failure"),
        )
        printed = self.session("run more", "print t", "cuda thread 5", "print v", "continue")
        self.assert_printed(
            printed,
            "error: deadlock: ",
            f"(7,0,0)          8           program.cu {shuffle:>5}  waiting",
            f"(8,0,0)    (63,0,0)        56           program.cu {barrier:>5}  waiting",
            *("= 63", "= 5", "unspecified launch failure"),
        )

    def test_the_registers_that_other_processors_save(self) -> None:
        self.built(ELSEWHERE)
        read = (
            "python from workbook.debugger.emulation import saved_registers as read; known = read(gdb.parse_and_eval("
        )
        printed = self.session(
            *(f"break {line_of(ELSEWHERE, '// here')}", "run", f"{read}'on_arm'))", f"{read}'with_boost'))"),
            "python print(known['pc'], known['x19'], known['x29'], known['sp'] - int(gdb.parse_and_eval('&saved')))",
        )
        self.assert_printed(printed, "only the running thread can be shown", "1011 1000 1010 160")

    def test_what_cannot_be_debugged(self) -> None:
        self.built()
        subprocess.run(["strip", "-o", self.folder / "stripped", self.folder / "program"], check=True)
        self.file("text", "words")
        for name, expected in {
            "stripped": "stripped has no symbols, which strip removes: build it again with ./workbook cc -G",
            "/bin/true": "/bin/true does not run CUDA on the CPU: ./workbook cc -G SOURCE.cu -o PROGRAM builds such a",
            "program.cu": "program.cu is a source file: compile it with ./workbook cc -G program.cu -o PROGRAM",
            "text": "text is not a program",
            "nothing": "no such file: nothing",
        }.items():
            word = name if name.startswith("/") else f"./{name}"
            self.assertIn(expected, session([word], [], self.folder).replace("\n", " "))
        self.assertIn("is not a block or a thread", session(["./program", "--block", "a"], [], self.folder))
        no_gdb = self.folder / "bin"
        no_gdb.mkdir()
        for tool in ("sh", "readlink", "dirname", "cat", "cksum", "python3", "id"):
            (no_gdb / tool).symlink_to(str(shutil.which(tool)))
        self.assertIn("install the package gdb", session(["./program"], [], self.folder, PATH=str(no_gdb)))

    def test_the_session_of_the_handout(self) -> None:
        text = HANDOUT.read_text(encoding="utf-8")
        source = re.search(r"```cuda\n(// reverse\.cu\n.*?)```", text, re.DOTALL)
        shown = re.search(
            r"```\n\$ \./workbook cc -G reverse\.cu\n\$ \./workbook debug \./reverse (.*?)\n(.*?)```", text, re.DOTALL
        )
        assert source and shown
        self.file("reverse.cu", source[1])
        self.compiled("-G", "reverse.cu")
        commands = re.findall(r"^\(gdb\) (.+)", shown[2], re.MULTILINE)
        printed = session(["./reverse", *shown[1].split()], commands, self.folder)
        changing = re.compile(r"^\(gdb\)|0x|process")  # commands, addresses
        self.assert_printed(printed, *(line for line in shown[2].splitlines() if not changing.search(line)))


@unittest.skipUnless((ROOT / "solutions").is_dir(), "needs the solutions")
class Step(unittest.TestCase):
    """A step of a lab: the judge makes the input and verifies the result."""

    def test_a_step(self) -> None:
        text = (ROOT / "solutions" / STEP).read_text(encoding="utf-8")
        barrier = line_of(text, "// the first phase compares")  # each thread comes there once per launch
        printed = session(
            ["01-odd-even", "2", "--solution", "--n", "5000", "--threads", "64"],
            [
                *(f"break {barrier} if threadIdx.x == 37 && blockIdx.x == 2", "run", "print left", "print gridDim.x"),
                *("cuda thread 5", "print left", "print count", "delete", "continue", "run"),
            ],
            ROOT,
        )
        for expected in (
            f"{barrier}\t",
            "block (2,0,0), thread (37,0,0), warp 1, lane 5]",
            "block (2,0,0), thread (5,0,0), warp 0, lane 5]",
            f"{STEP}:{barrier}\n{barrier}\t    __syncthreads();",
        ):
            self.assertIn(expected, printed)
        self.assertEqual(printed.count("The result is correct: 01-odd-even step 2 halo: 5000 u32 keys"), 2, printed)
        self.assertEqual(printed.count("exited normally"), 2, printed)

    def test_the_commands_for_an_editor(self) -> None:
        """VS Code starts gdb itself, with its machine interface."""
        done = subprocess.run(
            [ROOT / "workbook", "debug", "01-odd-even", "2", "--solution", "--n", "100", "--script", "build/debug.gdb"],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        self.assertEqual(done.stdout, "build/debug.gdb\n")
        line = line_of((ROOT / "solutions" / STEP).read_text(encoding="utf-8"), "// the next phase, or")
        commands = [f"source {ROOT}/build/debug.gdb", f"-break-insert {ROOT}/solutions/{STEP}:{line}", "-exec-run"]
        with subprocess.Popen(
            ["gdb", "-q", "-nx", "--interpreter=mi"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as gdb:
            assert gdb.stdin and gdb.stdout
            gdb.stdin.write("\n".join(commands) + "\n")
            gdb.stdin.flush()
            stop = next((seen for seen in gdb.stdout if seen.startswith("*stopped")), "")
            gdb.stdin.write("-gdb-exit\n")
            gdb.stdin.flush()
            gdb.stdout.read()
        self.assertIn('reason="breakpoint-hit"', stop)
        self.assertIn(f'line="{line}"', stop)


if __name__ == "__main__":
    if not shutil.which("gdb"):
        print("not run: gdb is not installed")
        sys.exit(SKIPPED)
    main()
