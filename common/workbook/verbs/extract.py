"""A step with all that it includes as one file, which nvcc compiles without the workbook."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from ..core import course, files
from ..core.console import Problem
from ..core.course import ROOT, StepFile, find_one, require_solutions
from ..core.options import add

_INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
# What a file defines in a line that is not indented, as clang-format leaves it: functions, types and constants.
_DEFINING = re.compile(r"^(?!template|using|namespace|static_assert|\s|#|//|}).+", re.MULTILINE)
_DEFINED = re.compile(r"\b([a-z]\w+)(?=\(| = | \{| : )")
_FUNCTION = re.compile(r"lab::(Sort|Exchange|Segments)\{+(?:\.(u32|u8|pairs) = )?([\w:]+(?:<[^>]*>)?)")
_TYPES = {"u32": "std::uint32_t", "u8": "std::uint8_t", "pairs": "std::uint32_t", None: "std::uint32_t"}

_HEAD = """// {title}, with all that it includes. Written by ./workbook extract.
//
//     nvcc -std=c++20 -O3 -o step {name} && ./step 1000000
"""
_MAIN = """
// Sorts random keys, 1,000,000 unless the first argument is another number, and compares them with what the standard
// library makes of them.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

int main(int argc, char** argv) {{
  using Key = {key};
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  std::mt19937 random(1);
  std::vector<Key> keys(n), result(n);
  for (Key& key : keys) key = Key(random(){range});
  std::vector<Key> expected = keys;
{expect}
  lab::DeviceArray<Key> device(n, nullptr);
  CUDA_CHECK(cudaMemcpy(device.data(), keys.data(), n * sizeof(Key), cudaMemcpyHostToDevice));
{before}  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  CUDA_CHECK(cudaEventRecord(start));
  {call}
  CUDA_CHECK(cudaEventRecord(stop));
  CUDA_CHECK(cudaDeviceSynchronize());
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CUDA_CHECK(cudaMemcpy(result.data(), {result}.data(), n * sizeof(Key), cudaMemcpyDeviceToHost));
  const bool is_right = result == expected{and_values};
  std::printf("%lld keys, %.3f ms (with the first launch's preparations), %s\\n", static_cast<long long>(n),
              milliseconds, is_right ? "right" : "WRONG");
  return is_right ? 0 : 1;
}}
"""
_WHOLE = "  std::sort(expected.begin(), expected.end());"
_TILES = """  const std::int64_t tile = {space}::{tile};  // the step sorts each by itself
  for (std::int64_t first = 0; first < n; first += tile) {{
    std::sort(expected.begin() + first, expected.begin() + std::min(first + tile, n));
  }}"""
_PLAIN = {"range": "", "expect": _WHOLE, "before": "", "result": "device", "and_values": ""}
_SPAN = "{device.data(), n}"
_OF_TASK = {
    "Sort": {"call": f"{{function}}({_SPAN}, lab::Order::ascending, {{}}, nullptr);"},
    "Exchange": {
        "expect": "  for (std::int64_t i = 0; i + 1 < n; i += 2) {\n"
        "    if (expected[i + 1] < expected[i]) std::swap(expected[i], expected[i + 1]);\n  }",
        "call": f"{{function}}({_SPAN}, lab::Order::ascending, {{}}, nullptr);",
    },
    "pairs": {
        "range": " % 256",
        "expect": "  std::vector<std::uint32_t> positions(n), moved(n);\n"
        "  for (std::int64_t i = 0; i < n; ++i) positions[i] = std::uint32_t(i);\n"
        "  std::vector<std::uint32_t> order = positions;\n"
        "  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });\n" + _WHOLE,
        "before": "  lab::DeviceArray<std::uint32_t> values(n, nullptr);\n"
        "  const std::size_t bytes = n * sizeof(std::uint32_t);\n"
        "  CUDA_CHECK(cudaMemcpy(values.data(), positions.data(), bytes, cudaMemcpyHostToDevice));\n",
        "call": f"{{function}}({_SPAN}, {{values.data(), n}}, lab::Order::ascending, {{}}, nullptr);\n"
        "  CUDA_CHECK(cudaMemcpy(moved.data(), values.data(), bytes, cudaMemcpyDeviceToHost));",
        "and_values": " && moved == order",
    },
    "Segments": {
        "expect": "  std::vector<int> begins = {0};\n"
        "  while (begins.back() < n) {\n"
        "    begins.push_back(int(std::min<std::int64_t>(n, begins.back() + random() % 1000)));\n  }\n"
        "  for (std::size_t i = 1; i < begins.size(); ++i) {\n"
        "    std::sort(expected.begin() + begins[i - 1], expected.begin() + begins[i]);\n  }",
        "before": "  lab::DeviceArray<Key> sorted(n, nullptr);\n"
        "  lab::DeviceArray<int> places(std::int64_t(begins.size()), nullptr);\n"
        "  const std::size_t bytes = begins.size() * sizeof(int);\n"
        "  CUDA_CHECK(cudaMemcpy(places.data(), begins.data(), bytes, cudaMemcpyHostToDevice));\n",
        "call": f"{{function}}({_SPAN}, {{sorted.data(), n}}, {{places.data(), places.size()}}, {{}}, nullptr);",
        "result": "sorted",
    },
}


def _defined(text: str) -> set[str]:
    """The names of what a text defines outside all brackets."""
    return {name for line in _DEFINING.findall(text) for name in _DEFINED.findall(line.partition("//")[0])}


def _used(step: StepFile, root: Path) -> list[StepFile]:
    """The steps whose functions a step calls, first those that are called by others; then the step itself."""
    found: list[StepFile] = []
    for uses in re.findall(r"\.uses = {([^}]*)}", course.lines_of(step, root)):
        for name in re.findall(r"[\w-]+", uses):
            found += [one for one in _used(course.find_step(step.lab, name, root), root) if one not in found]
    return [*found, StepFile(step.lab, step.number, step.name)]


class _Expansion:
    """Our headers in place of #include lines, each header once."""

    def __init__(self, lab: str, root: Path) -> None:
        self.folders = (root / "labs" / lab, root / "labs", root / "common")
        self.seen: set[Path] = set()
        self.sources: list[Path] = []  # that belong to headers, and are not of steps

    def lines(self, path: Path) -> Iterator[str]:
        """The lines of a file."""
        for line in path.read_text(encoding="utf-8").splitlines():
            if include := _INCLUDE.match(line):
                yield from self.header(include[1], path)
            elif not re.match(r"\s*#\s*pragma\s+once", line):
                yield line

    def header(self, name: str, by: Path) -> Iterator[str]:
        """The lines of a header that a file includes, unless they have been there. Raises Problem."""
        path = next((each / name for each in (by.parent, *self.folders) if (each / name).is_file()), None)
        if path is None:
            raise Problem(f"{course.shown(by)} includes {name}, which is not in the workbook")
        if path.resolve() not in self.seen:
            self.seen.add(path.resolve())
            if path.with_suffix(".cu").is_file():
                self.sources.append(path.with_suffix(".cu"))
            yield from self.lines(path)


def extracted(step: StepFile, solution: bool, name: str, root: Path = ROOT) -> str:
    """The text of the file `name`. Raises Problem if the step sorts host memory, or is a part of a step."""
    line = course.lines_of(step, root)
    function = _FUNCTION.search(line)
    if not function or step.part:
        raise Problem(f"{step} does not sort an array on the device, and only such steps can be extracted")
    expansion = _Expansion(step.lab, root)
    texts: dict[int, str] = {}  # by the step's number
    defined: dict[int, set[str]] = {}
    for each in _used(step, root):
        path = root / ("solutions" if solution else "labs") / each.file
        text = "\n".join(expansion.lines(path))
        # What two steps define is in unnamed namespaces, of which a file has only one.
        for number in texts:
            for both in _defined(text) & defined[number]:
                texts[number] = re.sub(rf"\b{both}\b", f"{both}_of_step_{number:02}", texts[number])
        texts[each.number], defined[each.number] = text, _defined(path.read_text(encoding="utf-8"))
    more = [*expansion.header("step/device_array.h", Path())]
    more += [line for source in expansion.sources for line in expansion.lines(source)]
    space = course.namespace_of(step.lab, root)
    task, key, called = function[1], function[2], function[3]
    words = {**_PLAIN, **_OF_TASK["pairs" if key == "pairs" else task]}
    words["call"] = words["call"].replace("{function}", f"{space}::{called}")
    if tile := re.search(r"\.tile = (\w+)", line):
        words["expect"] = _TILES.format(space=space, tile=tile[1])
    head = _HEAD.format(title=f"Step {step.number:02} of lab {step.lab}", name=name)
    return "\n".join([head, *texts.values(), *more, _MAIN.format(key=_TYPES[key], **words)])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    add(parser, "lab", "step", "--solution")
    parser.add_argument("-o", "--output", metavar="FILE", help="the file to write (default: LAB-STEP.cu)")


def main(arguments: argparse.Namespace) -> int:
    """Writes the file."""
    require_solutions(arguments.solution)
    _, step = find_one(arguments.lab, arguments.step)
    output = Path(arguments.output or f"{step.lab}-{step.number:02}-{step.name}.cu")
    files.write_whole(output, extracted(step, arguments.solution, output.name))
    print(f"wrote {output}: nvcc -std=c++20 -O3 -o step {output} && ./step")
    return 0
