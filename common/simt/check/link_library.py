#!/usr/bin/env python3
"""Makes one object of the library with the check build's observers, so that nothing that the library does is observed.

Its own calls of malloc() and the like get other names: a program is linked with --wrap for those functions. Its copies
of the standard library's functions become local: otherwise the linker would give it the program's copies, which are
instrumented, and an observer would observe itself.

link_library.py LIBRARY OUTPUT ACCESSES ALLOCATIONS
  OUTPUT       an archive with that object
  ACCESSES     functions that access memory, separated by commas: the library calls the original ones
  ALLOCATIONS  functions that allocate or free memory: the library calls simt_own_ and the name
"""

import re
import subprocess
import sys
from pathlib import Path

STANDARD = re.compile(r"^[0-9a-f]+ W (_ZNK?(?:S|9__gnu_cxx)\S*|_ZS\S*)$", re.MULTILINE)


def main() -> None:
    """Links, renames and packs."""
    library, output = Path(sys.argv[1]), Path(sys.argv[2])
    accesses, allocations = (argument.split(",") for argument in sys.argv[3:])
    whole = output.with_suffix(".o")
    # A group of sections would be exchanged for the program's group of the same name.
    flags = ["-r", "--force-group-allocation", "--whole-archive"]
    subprocess.run(["ld", *flags, str(library), "-o", str(whole)], check=True)
    symbols = subprocess.run(["nm", str(whole)], capture_output=True, text=True, check=True).stdout
    names = [f"{name}=__real_{name}" for name in accesses] + [f"{name}=simt_own_{name}" for name in allocations]
    renamed = [word for name in names for word in ("--redefine-sym", name)]
    local = [f"--localize-symbol={name}" for name in STANDARD.findall(symbols)]
    subprocess.run(["objcopy", *renamed, *local, str(whole)], check=True)
    output.unlink(missing_ok=True)
    subprocess.run(["ar", "rcs", str(output), str(whole)], check=True)
    whole.unlink()


if __name__ == "__main__":
    main()
