"""Makes a case that fails smaller, as long as it fails in the same way, and says what it needs in order to fail."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..core.judge_types import Case, Outcome, Step

TRIES = 48  # cases that are run at most
KEYS = 1 << 17  # that they have together, at most, on the check build, which is slow
SMALL = (2, 3, 4, 5, 8, 16, 32)  # numbers of keys that are tried before the others
LARGEST_FACTOR = 1024  # of which n may, or may not, have to be a multiple
LONGEST_PLAIN = 8  # a fault that needs no more keys than this has nothing to do with their number
_SHRINKABLE = ("wrong", "verified", "crashed", "cuda-error")  # verified: with findings
_ENDLESS = ("hang", "time-limit", "deadlock")
_OF_SHAPE = "launch-shape"  # found where the outcome is known, not by the program
_FLOATS = ("f32", "f64")


@dataclass(frozen=True)
class Need:
    """What a case needs in order to fail, in words. For a need that concerns n: multiples of `multiple` pass (0: there
    is no such rule); `powers`: powers of two pass; `is_above`: only numbers above a limit fail."""

    words: str
    multiple: int = 0
    powers: bool = False
    is_above: bool = False

    def excludes(self, n: int) -> bool:
        """Whether the words sound as if n passed."""
        return (self.multiple > 0 and n % self.multiple == 0) or (self.powers and n & (n - 1) == 0)


class _Enough(Exception):
    """No more cases are tried."""


def _place(outcome: Outcome) -> tuple[object, ...]:
    first = outcome.findings[0] if outcome.findings else None
    return (first.kind, first.file, first.line) if first else (outcome.status,)


class Shrinking:
    """The search for a smaller case. `smallest` is the outcome of the smallest one so far."""

    def __init__(
        self, outcome: Outcome, line: Step, run: Callable[[Case], Outcome], most_keys: int, all_keys: float = math.inf
    ) -> None:
        """`most_keys`: of a case that is tried. `all_keys`: of all of them together."""
        self.smallest = outcome
        self.first = outcome.case
        self.needs: list[Need] = []  # what the smallest case needs in order to fail
        self._line = line
        self._run = run
        self._most_keys = max(most_keys, outcome.case.n)
        self._tries = 0
        self._keys_left = all_keys
        self._fate: dict[Case, bool] = {}  # whether it fails in the same way
        self._passing: set[Case] = set()

    def search(self) -> None:
        """Finds the smallest case, and what it needs in order to fail."""
        case, findings = self.first, self.smallest.findings
        if self.smallest.status not in _SHRINKABLE or case.expect == "refused" or case.input.startswith("file:"):
            return
        if any(finding.kind in (*_ENDLESS, _OF_SHAPE) for finding in findings) or (
            self.smallest.passed and not findings
        ):
            return
        try:
            if self._line.max_range is None and self.first.task == "sort" and self.first.input[:6] != "range:":
                self._worst_order()
            self._simplify()
            passing = self._fewer_keys()
            needs = [Need(words) for change, words in self._changes() if words and self._decides(change)]
            if passing is not None:
                needs += self._about_threads(passing) or self._about_n(passing)
            self.needs = needs
        except _Enough:
            pass

    @property
    def has_shrunk(self) -> bool:
        """Whether there is a smaller case than the first."""
        return self.smallest.case != self.first

    # --- one try ---

    def _fails(self, case: Case) -> bool:
        if case == self.smallest.case:
            return True
        if case not in self._fate:
            if self._tries == TRIES or self._keys_left < case.n:
                raise _Enough
            self._tries += 1
            self._keys_left -= case.n
            outcome = self._run(case)
            if outcome.status == "hung":
                raise _Enough
            passed = outcome.passed and not outcome.findings
            self._passing |= {case} if passed else set()
            self._fate[case] = not passed and _place(outcome) == _place(self.smallest)
            if self._fate[case] and case.n <= self.smallest.case.n:
                self.smallest = outcome
        return self._fate[case]

    def _passes(self, change: dict[str, object]) -> bool:
        """Whether a changed case passes. One that fails in another line does neither."""
        case = replace(self.smallest.case, **change)  # type: ignore[arg-type]
        return not self._fails(case) and case in self._passing

    def add_failing(self, kind: str, n: int) -> None:
        """Says of a fact about larger n that another build fails for this smaller n, too. Drops a fact that
        sounds as if this n passed."""
        if n < self.smallest.case.n:
            also = f"; on the {kind} build, n = {n:,} fails, too"
            self.needs = [replace(need, words=need.words + also * need.is_above) for need in self.needs]
        self.needs = [need for need in self.needs if not need.excludes(n)]

    def _decides(self, change: dict[str, object]) -> bool:
        """Whether a changed case passes, and not only because the few keys are in order already."""
        if not self._passes(change):
            return False
        others: list[dict[str, object]] = [
            {"input": "reversed"},
            {"input": "uniform", "seed": (self.smallest.case.seed or 0) + 1},
        ]
        if change.keys() == {"type"}:  # the fault may depend on both
            others.append({"order": "descending" if self.smallest.case.order == "ascending" else "ascending"})
        can_have_others = self.smallest.case.task == "sort" and self._line.max_range is None and "input" not in change
        return all(self._passes({**change, **other}) for other in others if can_have_others)

    def _keeps_failing(self, change: dict[str, object]) -> bool:
        return self._fails(replace(self.smallest.case, **change))  # type: ignore[arg-type]

    def _fails_at(self, n: int) -> bool:
        return self._fails(replace(self.smallest.case, n=n))

    # --- everything but n ---

    def _changes(self) -> list[tuple[dict[str, object], str]]:
        """What would make the case simpler, and what is true if it then passes."""
        case = self.smallest.case
        plain = "u32" if self._line.takes("u32") else self._line.types[0]
        ones = "range:1:1" if case.task == "scan" else "range:0:9"
        special = case.n > LONGEST_PLAIN and case.input != "uniform"
        shape = f"<<<{case.blocks or '*'}, {case.threads or '*'}>>>"
        possible: list[tuple[bool, dict[str, object], str]] = [
            (case.reversed_blocks, {"reversed_blocks": False}, "fails only if the last block starts first"),
            (case.pageable, {"pageable": False}, "fails only with host memory that is not pinned"),
            (bool(case.memory), {"memory": 0}, "fails only with little device memory"),
            (bool(case.offset), {"offset": 0}, "fails only if the arrays begin past an aligned address"),
            (
                bool(case.blocks or case.threads),
                {"blocks": 0, "threads": 0, "expect": "verified"},
                f"fails with {shape}, and passes for this n with the launch shape that the step chooses",
            ),
            (case.order != "ascending", {"order": "ascending"}, "fails only in descending order"),
            (
                case.type != plain,
                {"type": plain},
                "fails for pairs, not for their keys alone"
                if case.type == "pairs"
                else f"fails for {case.type} keys, not for {plain} keys",
            ),
            (
                not case.input.startswith("range:") and plain not in _FLOATS,
                {"type": plain, "input": ones, "seed": 0},
                f"fails for the input {case.input}, not for small random numbers" if special else "",
            ),
        ]
        return [(change, words) for applies, change, words in possible if applies]

    def _all_changes(self) -> dict[str, object]:
        return {name: value for change, _ in self._changes() for name, value in change.items()}

    def _worst_order(self) -> None:
        """Keys in the opposite order need the most exchanges: a fault that few random inputs show is in these."""
        self._keeps_failing({"order": "ascending", **self._all_changes(), "input": "reversed"})

    def _simplify(self) -> None:
        if self._keeps_failing(self._all_changes()):
            return
        for change, _ in self._changes():
            self._keeps_failing(change)
        if self.smallest.case.blocks or self.smallest.case.threads:
            self._keeps_failing({"blocks": 1, "threads": 32})

    # --- n ---

    def _fewer_keys(self) -> int | None:
        """Looks for the smallest n that fails; the largest one below it that is known to pass. None: there is none."""
        passing = None
        for n in SMALL:
            if n >= self.smallest.case.n:
                break
            if self._fails_at(n):
                return passing
            passing = n
        while passing is not None and passing + 1 < (n := self.smallest.case.n):
            middle = (passing + n) // 2
            alike = middle - middle % 64 + n % 64  # a multiple of what n is a multiple of
            if not self._fails_at(tried := alike if passing < alike < n else middle):
                passing = tried
        return passing

    def _about_threads(self, passing: int) -> list[Need]:
        """Whether the number of threads decides, where the launch shape is fixed."""
        case = self.smallest.case
        threads = case.blocks * case.threads
        if threads == 0 or passing + 1 != case.n:
            return []
        if 2 * threads < case.n <= 2 * threads + 3:
            what = "pairs of keys"
        elif passing == threads:
            what = "keys"
        else:
            return []
        # It may be another limit, such as a tile: half of the threads must fail from half of the keys on.
        shown = self.smallest
        few: list[dict[str, object]] = [{"threads": case.threads // 2, "n": passing // 2 + more} for more in (1, 2, 3)]
        is_of_threads = case.threads % 2 == 0 and any(self._keeps_failing(change) for change in few)
        self.smallest = shown
        if not is_of_threads:
            return []
        words = f"with {threads} threads, it fails for n above {passing}, that is, with fewer threads than {what}"
        return [Need(words, is_above=True)]

    def _about_n(self, passing: int) -> list[Need]:
        """Which numbers of keys fail, judged by one for each power of two that divides it."""
        n = self.smallest.case.n
        if passing + 1 != n:
            return []
        sizes, fates = [], []
        factor = 1
        while factor <= LARGEST_FACTOR:
            tried = (n // factor + 1) * factor
            tried += factor * (tried // factor % 2 == 0)  # not a multiple of 2 * factor
            if tried > self._most_keys:
                break
            sizes.append(tried)
            fates.append(self._fails_at(tried))
            factor *= 2
        failing = fates.index(False) if False in fates else len(fates)
        above = f"above {passing:,}" if n > LONGEST_PLAIN else ""
        which, multiple, has_powers = "", 0, False
        if len(fates) > 2 and failing == len(fates):
            powers = [n for n in (1 << n.bit_length(), 2 << n.bit_length()) if n <= self._most_keys]
            passing_powers = [n for n in powers if not self._fails_at(n)]
            if passing_powers and passing_powers != powers:
                return []
            has_powers = bool(passing_powers)
            which = f"{above} that is not a power of two".strip() if has_powers else above
        elif 0 < failing < len(fates) and not any(fates[failing:]) and self._is_rule(2**failing, passing):
            multiple = 2**failing
            which = f"{above} that is {'odd' if failing == 1 else f'not a multiple of {multiple:,}'}".strip()
        if not which:
            return []
        words = f"fails for every n {which}{self._tried(sizes, sizes[:failing])}"
        return [Need(words, multiple, has_powers, bool(above))]

    def _tried(self, sizes: Sequence[int], failing: Sequence[int]) -> str:
        """What has been tried, the smallest and the largest n that fail also with other keys."""
        case, tried = self.smallest.case, f"{len(sizes)} were tried"
        chosen = sorted({min(failing), max(failing)})
        is_free = case.task == "sort" and self._line.max_range is None and case.type not in _FLOATS
        is_random = case.input == "uniform" or case.input.startswith("range:")
        other: dict[str, object] = {"seed": (case.seed or 0) + 1} if is_random else {}
        if is_free and case.input != "uniform":
            other = {"input": "uniform"}
        if not other or self._tries + len(chosen) > TRIES:
            return f" ({tried}, with the same input)"
        for n in chosen:
            if self._passes({"n": n, **other}):
                ((name, value),) = other.items()
                return f" with this input ({tried}), but n = {n:,} passes with {name} {value}"
        return f" ({tried}, {len(chosen)} of them also with other keys)"

    def _is_rule(self, factor: int, passing: int) -> bool:
        """Whether all but the multiples of `factor` fail, in a few places around multiples."""
        first = (passing // factor + 1) * factor
        places = {first + 1, first + factor // 2, first + factor - 1, first + factor + 1, first + 2 * factor - 1}
        others = {n for n in places if n % factor and n <= self._most_keys}
        multiples = {n for n in (first + factor, first + 2 * factor) if n <= self._most_keys}
        return all(map(self._fails_at, sorted(others))) and not any(map(self._fails_at, sorted(multiples)))
