#!/usr/bin/env python3
"""Shows every fault of a bug hunt (labs/*/bug_hunt.cu) as the notes for the instructor describe it.

    bug_hunts.py [LAB ...] [--compiler g++]

Each fault is shown alone, with all other faults fixed: the result is wrong for the documented arguments, or a build
reports the documented kind at the documented line. With all faults fixed, the program is right and nothing is reported.
Without names of labs, some are drawn (drawn.py).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from drawn import drawn  # noqa: E402

FINDING = re.compile(r"^\S*bug_hunt[^:\s]*:(\d+): (error|note): ([\w-]+): ", re.MULTILINE)
FINDINGS = 3  # the exit status of a program with findings
NOTES = ("same-value",)  # kinds that do not make a program fail


@dataclass(frozen=True)
class Shows:
    """What a run must show: a finding of a kind at a line with this text, or a wrong result without any finding."""

    arguments: str
    build: str = "cpu"
    kind: str | None = None  # None: the result is wrong, and nothing is reported
    lines: tuple[str, ...] = ()  # a finding of the kind at a line that contains each of these


@dataclass(frozen=True)
class Fault:
    """A fault: the changes that fix it (old text, which occurs once: new text), and what it shows alone."""

    fix: dict[str, str]
    shows: list[Shows]


@dataclass(frozen=True)
class BugHunt:
    """A program. `looks_right`: arguments for which it is right with all its faults, on the cpu build."""

    faults: list[Fault]
    looks_right: str
    right: list[str] = field(default_factory=list)  # arguments for which it is right once all faults are fixed


ODD_EVEN = BugHunt(
    faults=[
        Fault(
            {"halo_keys = phases_per_launch - 1;": "halo_keys = phases_per_launch;"},
            [Shows("300"), Shows("300", "check")],
        ),
        Fault({"parity = phase % 2;": "parity = (phase + left) % 2;"}, [Shows("300"), Shows("300", "check")]),
        Fault(
            {"pairs = count / 2 - parity;": "pairs = (count - parity) / 2;"},
            [Shows("3 reversed"), Shows("199"), Shows("3 reversed", "check")],
        ),
        Fault(
            {"i < loaded;": "i < count;", "    const int loaded = end + halo_keys - left;\n": "\n"},
            [
                Shows("1024", "cpu", "out-of-bounds", ("window[i] = from[left + i];",)),
                Shows("300", "cpu", "out-of-bounds", ("window[i] = from[left + i];",)),
                Shows("200", "check", "out-of-bounds", ("window[i] = from[left + i];",)),
                Shows("3", "check", "out-of-bounds", ("window[i] = from[left + i];",)),
            ],
        ),
        Fault(
            {"to[left + i] = window[i];\n": "to[left + i] = window[i];\n    __syncthreads();\n"},
            [Shows("2000"), Shows("2000", "check", "race", ("window[i] = from[left + i];",))],
        ),
    ],
    looks_right="200",
    right=["200", "300", "300 reversed", "3 reversed", "199", "1024 random descending", "2000"],
)

MERGE = BugHunt(
    faults=[
        Fault(
            {"= from[a], next_b = from[b];": "= a < middle ? from[a] : uint2{}, next_b = b < end ? from[b] : uint2{};"},
            [
                Shows("1024", "cpu", "out-of-bounds", ("next_b = from[b]",)),
                Shows("512", "cpu", "out-of-bounds", ("next_b = from[b]",)),
                Shows("1000", "check", "out-of-bounds", ("next_b = from[b]",)),
            ],
        ),
        Fault(
            {
                "b_count, true)] = a[i];": "b_count, false)] = a[i];",
                "a_count, false)] = b[i];": "a_count, true)] = b[i];",
            },
            [Shows("300 few"), Shows("300 few", "check")],
        ),
        Fault(
            {
                "    std::swap(from, to);\n  }\n": (
                    "    std::swap(from, to);\n  }\n"
                    "  if (from != pairs) cudaMemcpy(pairs, from, n * sizeof(uint2), cudaMemcpyDeviceToDevice);\n"
                ),
            },
            [Shows("2"), Shows("300"), Shows("2000"), Shows("2", "check")],
        ),
        Fault(
            {"merges = runs / 2;": "merges = (runs + 1) / 2;"},
            [Shows("700"), Shows("1300"), Shows("700", "check", "race", ("a_count, ",))],
        ),
    ],
    looks_right="1000",
    right=[f"{n}{few}" for n in (1, 2, 3, 512, 700, 1000, 1024, 1300, 2000, 2500, 10000) for few in ("", " few")],
)

_BITONIC_NETWORK = """  for (int k = 2; k < 2 * count; k *= 2) {
    const int half = k / 2;
    const int low = t / half * k + t % half;
    const int high = t / half * k + (k - 1) - t % half;
    if (high < count) compare_exchange(tile[low], tile[high], ascending);
    __syncthreads();
    for (int j = k / 4; j > 0; j /= 2) {
      const int low = 2 * t - t % j;
      const int high = low + j;
      if (high < count) compare_exchange(tile[low], tile[high], ascending);
      __syncthreads();
    }
  }
"""
BITONIC = BugHunt(
    faults=[
        Fault(
            {"blocks = n / tile_keys;": "blocks = (n + tile_keys - 1) / tile_keys;"},
            [Shows("1500"), Shows("500", "check", "invalid-launch", ("sort_tile<<<",)), Shows("1500", "check")],
        ),
        Fault(
            {
                "tile[i] = pairs[i];": "tile[i - begin] = pairs[i];",
                "pairs[i] = tile[i];": "pairs[i] = tile[i - begin];",
            },
            [
                Shows("2048", "cpu", "out-of-bounds"),
                Shows("2048", "check", "out-of-bounds", ("tile[i] = pairs[i];", "pairs[i] = tile[i];")),
            ],
        ),
        Fault(
            {"end = begin + tile_keys;": "end = min(begin + tile_keys, n);"},
            [
                Shows("512", "cpu", "out-of-bounds", ("= pairs[i];",)),
                Shows("1000", "check", "out-of-bounds", ("= pairs[i];", "pairs[i] = tile")),
            ],
        ),
        Fault(
            {r"re:  for \(int k = 2; k < count;.*?(?=  for \(int i = begin[^\n]*pairs\[i\] =)": _BITONIC_NETWORK},
            [Shows("5"), Shows("3 descending"), Shows("5", "check")],
        ),
    ],
    looks_right="1024",
    right=["1", "5", "512", "1000", "1024", "1025", "1500 descending", "2048", "3 descending"],
)

COUNTING = BugHunt(
    faults=[
        Fault(
            {"values = 255;": "values = 256;"},
            [
                Shows("1000 255 256"),
                Shows("1000 255 256", "check", "uninitialized", ("atomicAdd(&counts[v], block_counts[v]);",)),
            ],
        ),
        Fault(
            {
                "largest * sizeof(unsigned)>>>(keys": "(largest + 1) * sizeof(unsigned)>>>(keys",
                "n, counts, largest)": "n, counts, largest + 1)",
            },
            [
                Shows("1000 99 100"),
                Shows("1000 99 100", "check", "out-of-bounds", ("atomicAdd(&block_counts[keys[i]], 1u);",)),
                Shows("1000 0 1", "check", "out-of-bounds", ("atomicAdd(&block_counts[keys[i]], 1u);",)),
            ],
        ),
        Fault(
            {
                "__shared__ unsigned sums[values];": "__shared__ unsigned sums[values], next[values];",
                "if (v >= distance) sums[v] += sums[v - distance];\n    }\n    __syncthreads();\n": (
                    "next[v] = sums[v] + (v >= distance ? sums[v - distance] : 0);\n    }\n    __syncthreads();\n"
                    "    for (int v = threadIdx.x; v < values; v += blockDim.x) sums[v] = next[v];\n"
                    "    __syncthreads();\n"
                ),
            },
            [Shows("1000 255 10"), Shows("1000 255 2", "check", "race", ("sums[v] += sums[v - distance];",))],
        ),
        Fault(
            {
                "  int v = 0;\n  for (int i = 0; i < n; ++i) {\n": (
                    "  const int threads = gridDim.x * blockDim.x, chunk = (n + threads - 1) / threads;\n"
                    "  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;\n"
                    "  int v = 0;\n  for (int i = first; i < min(n, first + chunk); ++i) {\n"
                ),
            },
            [Shows("1000 255 2", "check", "same-value", ("keys[i] = (unsigned char)v;",))],
        ),
    ],
    looks_right="1000 255 2",
    right=["1000 255 2", "1000 255 10", "1000 99 100", "1000 0 1", "1000 255 256", "5000 255 2 4 64"],
)

RADIX = BugHunt(
    faults=[
        Fault(
            {"return tile * digits + digit;": "return digit * tiles + tile;"},
            [Shows("1025"), Shows("3000 -5 5"), Shows("1025", "check")],
        ),
        Fault(
            {"bits & 0x7fffffffu : bits | 0x80000000u": "bits & 0x7fffffffu : ~bits"},
            [Shows("1000 -1 1"), Shows("1000 -2 -1"), Shows("1 -1 -1"), Shows("1000 -1 1", "check")],
        ),
        Fault(
            {
                "shift += 8, std::swap(keys, other)) {": "shift += 8) {",
                "check(cudaGetLastError());\n  }": "check(cudaGetLastError());\n    std::swap(keys, other);\n  }",
            },
            [Shows("1000 1 2"), Shows("1000 -2 -1"), Shows("1000 1 2", "check")],
        ),
        Fault(
            {"next[digit] += equal;\n    }\n": "next[digit] += equal;\n    }\n    __syncthreads();\n"},
            [
                Shows("10000"),
                Shows("5000", "check", "race", ("next[threadIdx.x] = firsts[",)),
            ],
        ),
    ],
    looks_right="1000",
    right=["0", "1", "1000", "1000 -1 1", "1000 -2 -1", "1000 1 2", "3000 -5 5", "10000", "10000 -1 1"],
)

BEYOND = BugHunt(
    faults=[
        Fault(
            {
                "    if (mine == smallest) {\n": (
                    "    const unsigned ties = __ballot_sync(0xffffffffu, mine == smallest);\n"
                    "    if (t == __ffs(ties) - 1) {\n"
                ),
            },
            [Shows("4096 0 100"), Shows("256 7 7"), Shows("4096 0 100", "check")],
        ),
        Fault(
            {"round = 0;; ++round": "round = 0; round < count; ++round", "    if (smallest == infinity) break;": ""},
            [
                Shows("4096 4294967290 4294967295"),
                Shows("256 4294967295 4294967295"),
                Shows("256 4294967290 4294967295", "check", "uninitialized", ("keys[first + i] = sorted[i];",)),
            ],
        ),
        Fault(
            {"count = n < tile_keys ? n : tile_keys,": "count = min(tile_keys, n - first),"},
            [Shows("300"), Shows("5000"), Shows("300", "check", "uninitialized")],
        ),
        Fault(
            {"check(cudaStreamSynchronize(streams[slot]));": "check(cudaDeviceSynchronize());"},
            [Shows("4096", "check", "stream-race", ("heads.push({keys[first], first});",))],
        ),
    ],
    looks_right="4096",
    right=[*"01", "100", "256", "300", "1024", "4096", "5000", "4096 0 100", "5000 7 7", "5000 4294967290 4294967295"],
)

BUG_HUNTS = {
    "01-odd-even": ODD_EVEN,
    "02-merge": MERGE,
    "03-bitonic": BITONIC,
    "04-counting": COUNTING,
    "05-radix": RADIX,
    "06-beyond-memory": BEYOND,
}


def fixed(text: str, faults: list[Fault]) -> str:
    """The source with these faults fixed."""
    for old, new in (change for fault in faults for change in fault.fix.items()):
        pattern = re.compile(old[3:] if old.startswith("re:") else re.escape(old), re.DOTALL)
        text, count = pattern.subn(new.replace("\\", r"\\"), text)
        if count != 1:
            raise SystemExit(f"bug_hunt.cu contains {count} times what a fix replaces, not once: {old}")
    return text


class Programs:
    """The variants of one bug hunt, each compiled once for each build that needs it."""

    def __init__(self, source: Path, hunt: BugHunt, folder: Path, compiler: str) -> None:
        self._text, self._hunt, self._folder, self._compiler = source.read_text(), hunt, folder, compiler

    def text(self, fault: int) -> str:
        """The source with only this fault (from 1), with none (0) or with all (-1)."""
        others = [other for i, other in enumerate(self._hunt.faults, 1) if i != fault]
        return fixed(self._text, [] if fault < 0 else others)

    def path(self, fault: int, build: str) -> Path:
        """The program."""
        return self._folder / f"{fault}-{build}"

    def compile(self, fault: int, build: str) -> str:
        """Compiles it; the compiler's messages if it cannot be compiled."""
        source = self._folder / f"bug_hunt_{fault}_{build}.cu"
        source.write_text(self.text(fault))
        command = [str(ROOT / "workbook"), "cc", str(source), "-o", str(self.path(fault, build))]
        command += ["--cxx", self._compiler] + (["--check"] if build == "check" else [])
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        return f"{done.stdout}{done.stderr}" if done.returncode else ""

    def run(self, fault: int, build: str, arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs it."""
        return subprocess.run(
            [str(self.path(fault, build)), *arguments.split()],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            env={**os.environ, "SIMT_SEED": "1", "SIMT_SECONDS": "10"},
        )


def missing(programs: Programs, fault: int, shows: Shows) -> str:
    """What a run does not show as it should, or nothing."""
    done = programs.run(fault, shows.build, shows.arguments)
    lines = programs.text(fault).splitlines()
    severity = "note" if shows.kind in NOTES else "error"
    findings = [
        (lines[int(line) - 1].strip(), kind) for line, is_, kind in FINDING.findall(done.stderr) if is_ == severity
    ]
    where = f"fault {fault}, {shows.build} build, arguments {shows.arguments}"
    report = f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    if shows.kind is None:
        is_wrong = done.returncode == 1 and "wrong at" in done.stdout and not findings
        return "" if is_wrong else f"{where}: expected a wrong result and no finding: {report}"
    kinds = [line for line, kind in findings if kind == shows.kind]
    # A note does not make a program fail, but a wrong result may.
    as_expected = done.returncode != FINDINGS if severity == "note" else done.returncode != 0
    if not kinds or not as_expected:
        return f"{where}: expected {shows.kind}: {report}"
    absent = [text for text in shows.lines if not any(text in line for line in kinds)]
    return f"{where}: no {shows.kind} at {absent}: {report}" if absent else ""


def not_right(programs: Programs, fault: int, build: str, arguments: str) -> str:
    """What is wrong with a run that must be right, or nothing."""
    done = programs.run(fault, build, arguments)
    if done.returncode == 0 and ": error: " not in done.stderr:
        return ""
    variant = "with all faults" if fault < 0 else "with all faults fixed"
    return f"{variant}, {build} build, arguments {arguments}: expected the right result: {done.stdout}{done.stderr}"


def is_as_documented(lab: str, compiler: str) -> bool:
    """Whether everything in a lab's bug hunt is; prints what is not."""
    hunt = BUG_HUNTS[lab]
    shown = [(number, shows) for number, fault in enumerate(hunt.faults, 1) for shows in fault.shows]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        programs = Programs(ROOT / "labs" / lab / "bug_hunt.cu", hunt, Path(folder), compiler)
        variants = {(number, shows.build) for number, shows in shown} | {(0, "cpu"), (0, "check"), (-1, "cpu")}
        wrong = [text for text in pool.map(lambda variant: programs.compile(*variant), sorted(variants)) if text]
        if not wrong:
            wrong = [text for text in (missing(programs, *case) for case in shown) if text]
            right = [(-1, "cpu", hunt.looks_right)]
            right += [(0, build, words) for build in ("cpu", "check") for words in hunt.right]
            wrong += [text for text in (not_right(programs, *case) for case in right) if text]
    print("\n".join(wrong))
    print(f"{lab}: {len(hunt.faults)} faults, {len(shown)} ways to see them, {len(wrong)} not as documented")
    return not wrong


def main() -> int:
    """Exit status 1 if something is not as documented."""
    parser = argparse.ArgumentParser()
    parser.add_argument("labs", nargs="*", metavar="LAB", help=", ".join(BUG_HUNTS))
    parser.add_argument("--compiler", default="g++")
    arguments = parser.parse_args()
    if unknown := [lab for lab in arguments.labs if lab not in BUG_HUNTS]:
        parser.error(f"unknown lab {unknown[0]}; choose from {', '.join(BUG_HUNTS)}")
    results = [is_as_documented(lab, arguments.compiler) for lab in arguments.labs or drawn(list(BUG_HUNTS), 2)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
