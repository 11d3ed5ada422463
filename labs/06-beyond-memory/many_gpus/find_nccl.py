"""Prints the folder of NCCL's Python wheel, with include/ and lib/ in it; nothing if there is none.

The wheel may belong to this Python, or to the one that a virtual environment was made from.
"""

from __future__ import annotations

import glob
import os
import site
import sys


def main() -> int:
    """Looks in all places where packages are installed."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    places = [*sys.path, *site.getsitepackages(), *site.getsitepackages([sys.base_prefix, "/usr", "/usr/local"])]
    places += [f"{prefix}/lib/{version}/{name}" for prefix in ("/usr", "/usr/local") for name in ("dist-packages", "site-packages")]
    for place in dict.fromkeys(places):
        folder = os.path.join(place, "nvidia", "nccl")
        if os.path.isfile(os.path.join(folder, "include", "nccl.h")) and glob.glob(os.path.join(folder, "lib", "libnccl.so*")):
            print(folder)
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
