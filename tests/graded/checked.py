"""Holds a lab's steps to the check build: no finding in any order of lanes, and no cost over its budget.

checked.py BUILD LAB labs|solutions [STEP ..]; BUILD is the folder that Meson made.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))

from workbook.core import build, checked, judge_client as judge  # noqa: E402


def main(folder, lab, whose, *steps):
    build.BUILD = Path(folder)
    runner = build.runner(lab, "check", whose == "solutions")
    failed = 0
    for number in map(int, steps or dict.fromkeys(number for number, _ in judge.table(lab))):
        verdict = checked.check_step(lab, number, runner)
        failed += not verdict.passed
        print(f"step {number:02}: {verdict.cases} cases  {'ok' if verdict.passed else 'FAILED'}")
        print("".join(f"{line}\n" for line in [*verdict.findings, verdict.failed, *verdict.over] if line), end="")
        for name, costs in verdict.costs:
            print(
                f"  {name}: "
                + ", ".join(f"{cost} {value:.4g} of {allowed:g}" for cost, (value, allowed) in costs.items())
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
