"""Submissions that are the same, and pairs that share much of what their students have written.

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

GRAM, WINDOW = 10, 6  # small enough to find a copy with a statement inserted after each of its lines
FEWEST = 8  # fingerprints of a student that can be compared: about 40 tokens
LEAST_SHARE = 0.5  # of the fingerprints of the one who has fewer
LEAST_PLACE = 0.05  # of what two students share: in files with less, they may agree by chance
USUAL = 0.25  # what more than this share of the class has written, and at least 5 students, says little
USUAL_STUDENTS = 4
MOST_PAIRS = 30

_TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+') | (?P<name>[^\W\d]\w*)
      | (?P<number>\.?\d[\w.']*) | (?P<mark>[^\s\w])""",
    re.VERBOSE | re.DOTALL,
)

_NAME = re.compile(r"[^\W\d]\w*")

Sources = Mapping[str, str]  # the path of a file -> its text


@dataclass(frozen=True)
class Group:
    """Students whose files are the same but for comments and layout, and for names if it is not `verbatim`."""

    students: tuple[str, ...]
    files: tuple[str, ...]
    verbatim: bool
    own: int  # tokens that the files have more than their starters


@dataclass(frozen=True)
class Pair:
    """Two students, and what they share."""

    first: str
    second: str
    share: float  # of the fingerprints of the one who has fewer
    rare: float  # the same, without what many have written
    # Where both have it: "FILE", or "FILE and OTHER FILE" of the first and of the second student.
    files: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """What students have in common."""

    groups: list[Group]
    pairs: list[Pair]
    more: int = 0  # pairs that are not listed


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


def names_in(headers: Iterable[str]) -> frozenset[str]:
    """The names in headers, which no student can change: those of the course and of the language. What a starter names
    is not among them, because a copy may have other names for that."""
    return frozenset(name for text in headers for name in _NAME.findall(_letters(text)))


def similar(
    students: Mapping[str, Sources], starters: Sources, given: frozenset[str], earlier: Mapping[str, Sources] = {}
) -> Found:
    """What students share with each other and with those of earlier years, who are not compared among themselves.
    `given`: the names that students cannot change.

    Nothing counts that the starter gave out. Everything else does, also what everybody has written: it is listed last.
    Of submissions that are the same as a whole, one takes part in the pairs.
    """
    everyone = {**earlier, **students}
    read = {who: {path: numbered(text) for path, text in sorted(files.items())} for who, files in everyone.items()}
    groups = _groups(students, everyone, read, {path: numbered(text) for path, text in starters.items()})
    last_first = sorted(everyone, key=lambda who: (who not in students, who), reverse=True)
    first_of = {repr(read[who]): who for who in last_first}  # of those who are the same
    from_starter = {hash_ for text in starters.values() for hash_ in hashes(tokens(text, given))}
    files = {
        who: {path: fingerprints(tokens(text, given)) - from_starter for path, text in everyone[who].items()}
        for who in sorted(first_of.values())
    }
    return _pairs(groups, files, set(students))


def numbered(text: str) -> list[str]:
    """The tokens of a source text with each name replaced by a number, in the order in which they first appear."""
    names = frozenset(_NAME.findall(text))
    numbers: dict[str, str] = {}
    return [numbers.setdefault(word, f"#{len(numbers)}") if word in names else word for word in tokens(text, names)]


def _groups(
    students: Mapping[str, Sources],
    everyone: Mapping[str, Sources],
    read: Mapping[str, Mapping[str, list[str]]],
    given_out: Mapping[str, list[str]],
) -> list[Group]:
    """Those who have the same files. Files that have the same students are listed together."""
    same: dict[tuple[str, str], list[str]] = {}
    for who, files in sorted(read.items()):
        for path, words in files.items():
            if words and words != given_out.get(path):
                same.setdefault((path, " ".join(words)), []).append(who)
    together: dict[tuple[str, ...], list[str]] = {}
    for (path, _), members in same.items():
        if len(members) > 1 and not students.keys().isdisjoint(members):
            together.setdefault(tuple(members), []).append(path)
    groups = []
    for who_have, paths in together.items():
        own = sum(max(0, len(read[who_have[0]][path]) - len(given_out.get(path, ()))) for path in paths)
        verbatim = all(len({_letters(everyone[who][path]) for who in who_have}) == 1 for path in paths)
        groups.append(Group(who_have, tuple(sorted(paths)), verbatim, own))
    return sorted(groups, key=lambda group: (-len(group.students), -group.own, group.students, group.files))


def _letters(text: str) -> str:
    """A text without comments and layout, with its own names."""
    return " ".join(tokens(text, frozenset(_NAME.findall(text))))


def _pairs(groups: list[Group], files: Mapping[str, Mapping[str, set[int]]], students: set[str]) -> Found:
    """The pairs that share at least LEAST_SHARE, beginning with those that share what few others have."""
    prints = {who: set().union(*of_files.values()) for who, of_files in files.items()}
    own = {who: found for who, found in prints.items() if len(found) >= FEWEST}
    common = _in_many(prints.values())
    pairs = []
    for first, second in itertools.combinations(own, 2):
        shared = own[first] & own[second] if {first, second} & students else set()
        fewer = min(len(own[first]), len(own[second]))
        if len(shared) >= LEAST_SHARE * fewer:
            where = _places(files[first], files[second])
            pairs.append(Pair(first, second, len(shared) / fewer, len(shared - common) / fewer, where))
    pairs.sort(key=lambda pair: (-pair.rare, -pair.share, pair.first, pair.second))
    return Found(groups, pairs[:MOST_PAIRS], max(0, len(pairs) - MOST_PAIRS))


def _places(first: Mapping[str, set[int]], second: Mapping[str, set[int]]) -> tuple[str, ...]:
    """Where both students have what they share: the files with most of it, those of the same name first."""
    both = [(path, other, found & its) for path, found in first.items() for other, its in second.items()]
    both.sort(key=lambda one: (-len(one[2]), one[0] != one[1], one[:2]))
    left = set().union(*(shared for *_, shared in both))
    least = LEAST_PLACE * len(left)
    named = []
    for path, other, shared in both:
        if len(shared & left) > least:
            named.append(path if path == other else f"{path} and {other}")
            left -= shared
    return tuple(sorted(named))


def _in_many(prints: Iterable[set[int]]) -> set[int]:
    """The fingerprints that many students share, which show only how such a kernel is written."""
    students = list(prints)
    most = max(USUAL_STUDENTS, int(USUAL * len(students)))
    return {hash_ for hash_, times in Counter(itertools.chain(*students)).items() if times > most}
