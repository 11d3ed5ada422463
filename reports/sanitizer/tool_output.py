"""What compute-sanitizer's tools print: their reports, and whether one of them names an expected fault."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/wrong/kernels"))

from check_test import Fault  # noqa: E402

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
_INVALID = r"Invalid __\w+__ (?!.*misaligned)|illegal memory access"
_INVALID_CALL = r"cudaErrorInvalidValue|invalid argument|Invalid (pointer|memory|free)|Double free|Malloc/Free"
_WRONG_BARRIER = r"Barrier error|Divergent thread"
_HOST_READ = r"Host API memory access error"  # a copy reads what nothing has written
_TRAP = r"Trace/breakpoint trap"  # nvcc makes traps of stores to constants, and of grid.sync() in an ordinary launch
# How the tools name each kind of fault, as a pattern for the heading of a report.
_HEADINGS = {
    "race": r"Race reported",
    "out-of-bounds": f"{_INVALID}|{_INVALID_CALL}",
    "use-after-free": f"{_INVALID}|{_INVALID_CALL}",
    "invalid-free": _INVALID_CALL,
    "invalid-copy": _INVALID_CALL,
    "host-pointer": _INVALID,
    "misaligned": r"misaligned",
    "uninitialized": f"Uninitialized|{_HOST_READ}",
    "divergent-barrier": _WRONG_BARRIER,
    "deadlock": _WRONG_BARRIER,
    "invalid-warp-mask": _WRONG_BARRIER,
    "invalid-launch": r"invalid configuration|cudaErrorInvalidConfiguration|cudaErrorInvalidValue|invalid argument|"
    + _TRAP,
    "invalid-texture": f"{_INVALID}|{_INVALID_CALL}",
    "constant-write": f"{_INVALID}|{_TRAP}",
    "device-variable": f"{_INVALID}|{_INVALID_CALL}",
    # No tool has a report for these.
    "forward-progress": r"$^",
    "host-call": r"$^",
    "stream-race": r"$^",
    "time-limit": r"$^",
}
_REPEATED_ACCESS = "Program hit"  # the heading of a report that repeats an invalid access


def _reports(text: str) -> list[str]:
    """The reports in a tool's output. The first line of a report is not indented, the others are."""
    reports: list[str] = []
    for line in text.splitlines():
        if not line.startswith("========="):
            continue
        line = line[9:]
        if re.match(r" {1,2}\S", line):
            reports.append(line)
        elif reports:
            reports[-1] += "\n" + line
    return [report for report in reports if not re.match(r" (COMPUTE-SANITIZER|[A-Z ]*SUMMARY)", report)]


def _heading(report: str) -> str:
    """What a report states, without places and names, which may contain any word."""
    first, *rest = report.splitlines()
    details = [line.strip() for line in rest if re.match(r"\s+(Access to|Address) ", line)]
    return " ".join([first.strip().split(" at ")[0], *details])


def complete(text: str) -> bool:
    """Whether the run came to its end: all tools print a summary last."""
    return bool(re.search(r"^========= [A-Z ]*SUMMARY", text, re.M))


def verdict(fault: Fault, text: str, file_name: str) -> str:
    """How a tool reports a fault: with kind and "line", with the "kind" only, or not at all ("no")."""
    result = "no"
    lines = "|".join(str(line) for line in sorted(fault.lines))
    for report in _reports(text):
        if not any(re.search(_HEADINGS[kind], _heading(report)) for kind in fault.kinds):
            continue
        # The line of a host frame is that of a call: it counts only where the launch or another call is the fault.
        if "invalid-launch" not in fault.kinds and not re.search(f"{_INVALID_CALL}|{_HOST_READ}", _heading(report)):
            report = re.split(r"\n\s+(?:Saved )?[Hh]ost (?:backtrace|Frame)", report)[0]
        if re.search(rf"{re.escape(file_name)}:({lines})\b", report):
            return "line"
        result = "kind"
    return result


def other_headings(fault: Fault, text: str) -> set[str]:
    """The headings of the reports that do not name the fault."""
    expected = [*(_HEADINGS[kind] for kind in fault.kinds), _REPEATED_ACCESS]
    headings = (_heading(report) for report in _reports(text))
    others = (heading for heading in headings if not any(re.search(pattern, heading) for pattern in expected))
    return {re.sub(r" (Access to|Address) .*", "", heading) for heading in others}
