"""A class of submissions for lab 01, and the grade that each must get: correct, partly filled, lazy, hostile."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from attacks import FOLDER, REFUSED
from lazy import COMPILING, COUNTS_EXCHANGES, FULL, LAB, LAZY, NONE, PART, ROOT, Lazy
from no_work import NO_WORK, READING

FILES = ("00_exchange.cu", "01_global.cu", "02_halo.cu", "03_rows.cu")  # by the step's number

# Of the attacks that inspection refuses, one of each kind; tests/workbook/test_inspection.py makes all of them.
HOSTILE = (
    "forks",
    "fills_the_disk",
    "reaches_the_network",
    "reads_the_judges_memory",
    "writes_to_the_judge",
    "sets_its_own_clock",
    "patches_the_observers",
    "runs_before_others",
    "calls_the_system",
    "starts_a_thread",
)

ALL: dict[tuple[int | None, str], str] = {
    (step, name): FULL for step in range(len(FILES)) for name in ("correct", "check", "budgets")
}
REPORT = (None, "report")  # of the lab as a whole
IN_TUTORIALS = "as in tutorials"  # its code uses much that could be refused, and is not


@dataclass(frozen=True)
class Student:
    """What a student hands in, and what the grade must be. Criteria that are not named must have no points."""

    files: Mapping[str, str | bytes]  # below the folder of the submission; of an archive: its name and content
    points: Mapping[tuple[int | None, str], str] = field(default_factory=dict)
    words: str = ""  # in the criteria, their failures, the refusals or the remarks
    refused: bool = False
    kind: str = "correct"  # what the student is an example of: correct, partly, lazy, hostile


def solution(name: str) -> str:
    """The text of a solution."""
    return (ROOT / "solutions" / LAB / name).read_text(encoding="utf-8")


def starter(name: str) -> str:
    """The text of a starter."""
    return (ROOT / "labs" / LAB / name).read_text(encoding="utf-8")


def folder(texts: Mapping[str, str | bytes], prefix: str = f"labs/{LAB}/") -> dict[str, str | bytes]:
    """Files by their paths."""
    return {prefix + name: text for name, text in texts.items()}


def of_step_1(lazy: Lazy, kind: str) -> Student:
    """A submission of step 01 alone."""
    return Student(
        folder({"01_global.cu": lazy.source}),
        {(1, name): share for name, share in lazy.points.items() if share != NONE},
        lazy.words,
        lazy.refused,
        kind,
    )


def attacking(name: str) -> Student:
    """The solution of step 01 with an attack in it, which is refused, and those of the other steps, which are not."""
    attack = (FOLDER / f"{name}.cu").read_text(encoding="utf-8")
    text = solution("01_global.cu").replace(
        "  if (keys.n < 2) return;\n",
        "  if (keys.n < 2) return;\n  attack(reinterpret_cast<unsigned*>(keys.data), keys.n);\n",
    )
    others = {file: solution(file) for file in FILES if file != "01_global.cu"}
    points = {key: share for key, share in ALL.items() if key[0] != 1}
    words = f"{REFUSED[name]} | this is assembly code"  # which is refused before the object is inspected
    return Student(folder({**others, "01_global.cu": attack + text}), points, words, True, "hostile")


def as_in_tutorials(text: str) -> str:
    """A solution with what harmless programs do: they end on errors, read a clock, and have global objects."""
    head = """#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#define CHECK(call)                                                                    \\
  if (const cudaError_t code = (call); code != cudaSuccess) {                          \\
    fprintf(stderr, "%s at %s:%d\\n", cudaGetErrorString(code), __FILE__, __LINE__); \\
    exit(1);                                                                           \\
  }

std::vector<int> sizes = {1, 2, 3};
static const std::map<std::string, int> names = {{"odd", 1}, {"even", 0}};
static const auto begun = std::chrono::steady_clock::now();
"""
    first = "  if (keys.n < 2) return;\n"
    more = """  if (sizes.size() < 3 || names.at("odd") != 1 || begun > std::chrono::steady_clock::now()) return;
  sizes.push_back(int(keys.n));
  std::cout << "sorting " << keys.n << " keys" << std::endl;
"""
    return head + text.replace(first, first + more).replace("CUDA_CHECK(", "CHECK(")


def zipped(texts: Mapping[str, str]) -> bytes:
    """An archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return stream.getvalue()


def tarred(texts: Mapping[str, str]) -> bytes:
    """The same as a tar archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return stream.getvalue()


def correct() -> dict[str, Student]:
    """All steps are right."""
    all_files = {name: solution(name) for name in FILES}
    report = "\n".join(f"Sentence {i} of a report that says what was found." for i in range(40))
    renamed = {name: text.replace("pairs", "couples").replace("stride", "leap") for name, text in all_files.items()}
    named = {f"my work/labs/{LAB}/{name}": text for name, text in all_files.items()}
    return {
        "all": Student(folder(all_files), ALL),
        "with a report": Student(folder({**all_files, "report/report.md": report}), {**ALL, REPORT: FULL}),
        "Zoë Ångström": Student(folder({**renamed, "notes.txt": "mine"}), ALL),
        "without labs": Student(folder(all_files, f"{LAB}/"), ALL),
        "zipped.zip": Student({"": zipped(named)}, ALL),
        "packed.tar.gz": Student({"": tarred(named)}, ALL),
        "all again": Student(folder(all_files), ALL),
        IN_TUTORIALS: Student(
            folder({FILES[1]: as_in_tutorials(all_files[FILES[1]])}),
            {key: share for key, share in ALL.items() if key[0] == 1},
        ),
        "with a byte-order mark": Student(folder({name: "\ufeff" + text for name, text in all_files.items()}), ALL),
        "counts exchanges": of_step_1(COUNTS_EXCHANGES, "correct"),
        "with a main": Student(
            folder({**all_files, "main.cpp": "int main() { return 0; }\n", "steps.h": "#error\n"}), ALL
        ),
    }


def partly() -> dict[str, Student]:
    """Some steps are right."""
    texts = {name: solution(name) for name in FILES}
    starters = {name: starter(name) for name in FILES}
    of_step = [{key: share for key, share in ALL.items() if key[0] == step} for step in range(len(FILES))]
    broken = texts["02_halo.cu"] + "\nthis is not C++\n"
    for_u32 = "".join(
        line
        for line in texts[FILES[1]].splitlines(keepends=True)
        if not line.startswith("template void") or "uint32" in line
    )
    return {
        "starters": Student(folder(starters), {}, "is not written yet", kind="partly"),
        "step 1": Student(folder({**starters, FILES[1]: texts[FILES[1]]}), of_step[1], kind="partly"),
        "steps 1 and 2": Student(
            folder({**starters, **{name: texts[name] for name in FILES[1:3]}}),
            {**of_step[1], **of_step[2]},
            kind="partly",
        ),
        "step 3 alone": Student(folder({FILES[3]: texts[FILES[3]]}), of_step[3], "was not handed in", kind="partly"),
        "step 2 broken": Student(
            folder({**texts, FILES[2]: broken}),
            {**of_step[0], **of_step[1], **of_step[3]},
            "does not compile",
            kind="partly",
        ),
        "step 2 in UTF-16": Student(
            folder({**texts, FILES[2]: texts[FILES[2]].encode("utf-16")}),
            {**of_step[0], **of_step[1], **of_step[3]},
            "is not UTF-8 text",
            kind="partly",
        ),
        "step 2 too large": Student(
            folder({**texts, FILES[2]: texts[FILES[2]] + "// more\n" * 140_000}),
            {**of_step[0], **of_step[1], **of_step[3]},
            "is larger than 1 MiB",
            kind="partly",
        ),
        "step 2 too large, packed.zip": Student(
            {"": zipped({**texts, FILES[2]: texts[FILES[2]] + "// more\n" * 140_000})},
            {**of_step[0], **of_step[1], **of_step[3]},
            "is larger than 1 MiB",
            kind="partly",
        ),
        "step 2 empty": Student(
            folder({**texts, FILES[2]: "\n"}),
            {**of_step[0], **of_step[1], **of_step[3]},
            "is empty",
            kind="partly",
        ),
        "step 1 for one type": Student(
            folder({FILES[1]: for_u32}),
            {**of_step[1], (1, "correct"): PART},
            "does not define odd_even::sort_global for keys of type float or int32_t or uint64_t",
            kind="partly",
        ),
        "step 1 by another name": Student(
            folder({FILES[1]: texts[FILES[1]].replace("sort_global", "sort_everything")}),
            {},
            "01_global.cu does not define odd_even::sort_global",
            kind="partly",
        ),
        "nothing": Student({"README.txt": "sorry"}, {}, "was not handed in", kind="partly"),
    }


def everyone(where: Path) -> dict[str, Student]:
    """The class, by name. `where`: its folder, for those who look at others' files."""
    found = {**correct(), **partly()}
    found |= {name: of_step_1(lazy, "lazy") for name, lazy in LAZY.items()}
    found |= {name: of_step_1(lazy, "hostile") for name, lazy in NO_WORK.items()}
    found |= {name: of_step_1(lazy.at(where), "hostile") for name, lazy in {**COMPILING, **READING}.items()}
    return found | {name: attacking(name) for name in HOSTILE}


def write(where: Path, students: Mapping[str, Student]) -> None:
    """Writes the folder of submissions."""
    for name, student in students.items():
        for path, content in student.files.items():
            target = where / name / path if path else where / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
