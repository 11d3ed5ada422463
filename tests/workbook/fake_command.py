"""Stands for ./workbook in tests of `open`: its verdict is what the step's file says.

The file may hold WRONG (a case fails), FOREVER (it never ends, and neither does a process that it starts) or CRASH.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))

from workbook.core.course import find_step, steps
from workbook.core.progress import ProgressFile
from workbook.verbs.play import page_name

ROOT = Path.cwd()
verb, lab, *rest = sys.argv[1:]
print(f"{verb} {lab} {' '.join(rest)}", flush=True)
for step in [find_step(lab, rest[0], ROOT)] if rest else steps(lab, ROOT):
    text = (ROOT / "labs" / step.file).read_text()
    if verb == "play":
        given = rest.index("-o") if "-o" in rest else None  # a case has a page of its own, unless a page is named
        page = ROOT / "build/pictures" / page_name(step) if given is None else Path(rest[given + 1])
        page.parent.mkdir(parents=True, exist_ok=True)
        rest = rest[:given]
        page.write_text(f"<!DOCTYPE html><title>{' '.join(rest)}</title><p>{os.environ.get('SIMT_SEED', 'no seed')}")
        continue
    if "FOREVER" in text:
        child = subprocess.Popen(["sleep", "1000"])
        print(f"child {child.pid}", flush=True)
        time.sleep(1000)
    if "CRASH" in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    progress = ProgressFile(ROOT / ".workbook", ROOT)
    progress.save_verdict(step, "cpu", "failed" if "WRONG" in text else "passed")
    if "WRONG" in text:
        print(f"labs/{step.file}:7: error: wrong key at 3", flush=True)
        progress.save_playing(step, "cpu", f"SIMT_SEED=7 ./workbook play {lab} {step.number} --n 5")
        sys.exit(1)
    print(f"ok      {step}", flush=True)
