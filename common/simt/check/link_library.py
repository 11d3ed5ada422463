#!/usr/bin/env python3
"""Makes one object of the library with the check build's observers, whose own calls of malloc() and the like have other
names: a program is linked with --wrap for those functions, and only its own calls are to be observed.

link_library.py LIBRARY OUTPUT (an archive with that object)
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

OBSERVED = ("memcpy", "memmove", "memset", "malloc", "_Znwm", "_Znam")
RELEASING = ("free", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm")


def main() -> None:
    """Links, renames and packs."""
    library, output = Path(sys.argv[1]), Path(sys.argv[2])
    whole = output.with_suffix(".o")
    subprocess.run(["ld", "-r", "--whole-archive", str(library), "-o", str(whole)], check=True)
    names = [f"{name}=__real_{name}" for name in OBSERVED] + [f"{name}=simt_own_{name}" for name in RELEASING]
    renamed = [word for name in names for word in ("--redefine-sym", name)]
    subprocess.run(["objcopy", *renamed, str(whole)], check=True)
    output.unlink(missing_ok=True)
    subprocess.run(["ar", "rcs", str(output), str(whole)], check=True)
    whole.unlink()


if __name__ == "__main__":
    main()
