#!/usr/bin/env python3
"""A judge that answers JSON lines with fixed results, or misbehaves in the way that the variable FAKE_JUDGE names.

It appends each request to the file FAKE_JUDGE_LOG. FAKE_JUDGE: "dies" (ends without an answer), "signal" (ends by a
signal), "half" (ends within an answer), "no-json", "incomplete" (an answer that lacks members), "usage", "machine"
(error answers), "slow" (answers after 30 s), or a JSON object whose members replace those of every answer.
"""

import json
import os
import signal
import sys
import time
from typing import Any

STEP = {
    "number": 1,
    "name": "global",
    "file": "01_global.cu",
    "idea": "one launch per stage",
    "task": "sort",
    "stable": False,
    "tile": 0,
    "max_n": None,
    "max_range": None,
    "types": ["u32", "u64"],
    "budget": None,
    "affordable": {"check": 1 << 17, "cpu": 1 << 20, "cuda": 1 << 28},
}
GOLD = {**STEP, "name": "stable-sort", "file": "01_stable-sort.cu"}
LAB = {"name": "03-bitonic", "default_type": "u32", "max_counted_keys": None, "steps": [STEP]}
RACE = {"file": "a.cu", "line": 9, "kind": "race", "text": "kernel k", "times": 3}
CONFLICT = {
    "file": "a.cu",
    "line": 7,
    "kind": "bank-conflict",
    "ideal": 10,
    "actual": 3000,
    "unit": "wavefronts",
    "requests": 10,
    "space": "shared",
    "access": "load",
}
TIMES = {"median_ms": 2.0, "q1_ms": 1.9, "q3_ms": 2.1}


def outcome(case: dict[str, Any]) -> dict[str, Any]:
    """A verified outcome of a case."""
    return {
        "status": "verified",
        "passed": True,
        "message": "",
        "first_wrong": None,
        "replay": f"./workbook run {case['lab']} {case['step']} --n {case['n']}",
        "title": f"{case['lab']} step {case['step']} global: {case['n']} u32 keys, uniform, ascending",
        "file": "labs/03-bitonic/01_global.cu",
        "line": None,
        "printed": "",
        "times": {"events_ms": 1, "wall_ms": 2, "to_device_ms": 0, "to_host_ms": 0},
        "kernels": [],
        "findings": [],
        "remarks": [],
        "notes": [],
        "launches": [],
        "case": case,
    }


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The fixed answer to a request."""
    what = request["ask"]
    if what == "labs":
        return {"labs": [LAB]}
    if what == "inputs":
        return {"inputs": [{"name": "uniform", "what": "any key as likely as any other"}]}
    if what == "machine":
        return {"machine": "AMD EPYC, 2 cores", "machine_id": "epyc", "copy_bytes_per_second": 3e10}
    if what == "runner":
        gold = {"steps": [GOLD]} if "gold" in request["runner"] else {"steps": []}
        facts = {"device": "", "device_id": "", "on_gpu": False, "copy_bytes_per_second": 0, "facts": [["cores", "2"]]}
        return {**facts, **gold}
    if what == "cases":
        cases = [{"lab": request["lab"], "step": request["step"], "n": n, "seed": 1} for n in (1, 1000)]
        return {"groups": [{"what": "any n", "cases": cases}]}
    if what == "run":
        return outcome(request["case"])
    verified = {"status": "verified", "message": "", "printed": "", "repeats": 5, "failed_seed": None, **TIMES}
    copies = {"to_device": TIMES, "to_host": TIMES, "kernels": []}
    return {**verified, **copies, "minimum_bytes": 8 * request["case"]["n"], "changed_share": 1}


def misbehave(mode: str) -> None:
    """Ends this process, or sends an invalid answer."""
    if mode == "dies":
        sys.exit(7)
    if mode == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "half":
        print('{"labs": [', end="", flush=True)
        sys.exit(0)
    if mode == "slow":
        time.sleep(3600)
    broken = {"no-json": "verified", "incomplete": '{"labs": [{"name": "x"}], "status": "verified"}'}
    error = json.dumps({"error": "the fake judge refuses", "kind": mode})
    print(broken.get(mode, error), flush=True)


def main() -> None:
    """Serves requests."""
    mode = os.environ.get("FAKE_JUDGE", "")
    for line in sys.stdin:
        if "FAKE_JUDGE_LOG" in os.environ:
            with open(os.environ["FAKE_JUDGE_LOG"], "a", encoding="utf-8") as log:
                log.write(line)
        if mode and not mode.startswith("{"):
            misbehave(mode)
            continue
        replaced = json.loads(mode) if mode else {}
        request = json.loads(line)
        given = answer(request)
        if request["ask"] in ("run", "measure"):
            given.update(replaced)
        print(json.dumps(given), flush=True)


if __name__ == "__main__":
    main()
