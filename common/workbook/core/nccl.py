"""Where NCCL's Python wheel (nvidia-nccl-cu12 or nvidia-nccl-cu13) is installed. As a program, it prints the folder."""

import glob
import os
import site
import sys


def wheel() -> str:
    """The wheel's folder, with include/ and lib/ in it; "" if there is none.

    It may belong to this Python, or to the one that a virtual environment was made from.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    prefixes = [sys.base_prefix, "/usr", "/usr/local"]
    places = [*sys.path, *site.getsitepackages(), *site.getsitepackages(prefixes), site.getusersitepackages()]
    places += [f"{prefix}/lib/{version}/{name}" for prefix in prefixes for name in ("dist-packages", "site-packages")]
    for place in dict.fromkeys(places):
        folder = os.path.join(place, "nvidia", "nccl")
        header = os.path.join(folder, "include", "nccl.h")
        if os.path.isfile(header) and glob.glob(os.path.join(folder, "lib", "libnccl.so*")):
            return folder
    return ""


if __name__ == "__main__":
    print(wheel())
