"""Pairs of submissions that share much of what their students have written.

Winnowing, after S. Schleimer, D. S. Wilkerson and A. Aiken, "Winnowing: Local Algorithms for Document Fingerprinting",
SIGMOD 2003.

Every run of GRAM tokens has a hash; of each WINDOW hashes in a row the smallest becomes a fingerprint. Two files that
share GRAM + WINDOW - 1 tokens in a row therefore share a fingerprint.
"""

import itertools
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

GRAM, WINDOW = 14, 8
FEWEST = 8  # fingerprints of a student that can be compared: about 50 tokens
LEAST_SHARE = 0.5  # of the fingerprints of the one who has fewer
USUAL = 0.25  # what more than this share of the class has written, and at least 5 students, is no sign of copying
USUAL_STUDENTS = 4
MOST_PAIRS = 30

_TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+') | (?P<name>[^\W\d]\w*)
      | (?P<number>\.?\d[\w.']*) | (?P<mark>[^\s\w])""",
    re.VERBOSE | re.DOTALL,
)

Sources = Mapping[str, str]  # the path of a file -> its text


@dataclass(frozen=True)
class Pair:
    """Two students, and what they share."""

    first: str
    second: str
    share: float  # of the fingerprints of the one who has fewer
    files: tuple[str, ...]  # of the first student, where it is


def tokens(text: str, given: frozenset[str]) -> list[str]:
    """The tokens of a source text, without comments. All names that are not in `given` are the same: a copy with other
    names is a copy."""
    found = []
    for match in _TOKEN.finditer(text):
        if match["name"]:
            found.append(match["name"] if match["name"] in given else "name")
        elif match["number"] or match["text"]:
            found.append("number" if match["number"] else "text")
        elif match["mark"]:
            found.append(match["mark"])
    return found


def hashes(words: list[str]) -> list[int]:
    """The hash of each run of GRAM tokens. It is the same on every machine and in every run."""
    return [zlib.crc32(" ".join(words[i : i + GRAM]).encode()) for i in range(len(words) - GRAM + 1)]


def fingerprints(words: list[str]) -> set[int]:
    """The smallest of each WINDOW hashes in a row; of fewer, the smallest."""
    all_hashes = hashes(words)
    return {min(all_hashes[i : i + WINDOW]) for i in range(max(1, len(all_hashes) - WINDOW + 1)) if all_hashes}


def similar(students: Mapping[str, Sources], starters: Sources) -> list[Pair]:
    """The pairs of students that share at least LEAST_SHARE, the most similar first."""
    given = frozenset(re.findall(r"[^\W\d]\w*", "\n".join(starters.values())))
    from_starter = {hash_ for text in starters.values() for hash_ in hashes(tokens(text, given))}
    files = {
        student: {path: fingerprints(tokens(text, given)) - from_starter for path, text in sources.items()}
        for student, sources in students.items()
    }
    prints = {student: set().union(*of_files.values()) for student, of_files in files.items()}
    common = _in_many(prints.values())
    own = {student: found - common for student, found in sorted(prints.items()) if len(found - common) >= FEWEST}
    pairs = []
    for (first, second), shared in _shared(own).items():
        share = shared / min(len(own[first]), len(own[second]))
        if share >= LEAST_SHARE:
            common = own[first] & own[second]
            where = tuple(sorted(path for path, found in files[first].items() if found & common))
            pairs.append(Pair(first, second, share, where))
    return sorted(pairs, key=lambda pair: (-pair.share, pair.first, pair.second))[:MOST_PAIRS]


def _in_many(prints: Iterable[set[int]]) -> set[int]:
    """The fingerprints of so many students that they show only how one writes such a kernel."""
    students = list(prints)
    most = max(USUAL_STUDENTS, int(USUAL * len(students)))
    return {hash_ for hash_, times in Counter(itertools.chain(*students)).items() if times > most}


def _shared(own: Mapping[str, set[int]]) -> Counter[tuple[str, str]]:
    """For each pair of students that share any fingerprint, how many."""
    holders: dict[int, list[str]] = {}
    for student, found in own.items():
        for hash_ in found:
            holders.setdefault(hash_, []).append(student)
    return Counter(pair for students in holders.values() for pair in itertools.combinations(students, 2))
