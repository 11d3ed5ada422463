"""Where `cc` finds the headers of Thrust."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.core import thrust
from workbook.core.console import Problem

SOURCE = '#include <thrust/sort.h>\n  # include "thrust/device_vector.h"\n// #include <thrust/copy.h>\n'


class Headers(unittest.TestCase):
    def test_they_are_found_in_the_source(self) -> None:
        self.assertEqual(thrust.headers(SOURCE * 2), ["thrust/sort.h", "thrust/device_vector.h"])

    def test_those_of_libcu_are_found_also_by_what_they_define(self) -> None:
        self.assertEqual(thrust.headers("#include <cuda/std/complex>\n"), ["cuda/std/complex"])
        self.assertEqual(thrust.headers("#include <cuda/atomic>\n"), [])
        for name in ("cuda::maximum<>{}", "cuda::std::plus<int>()"):
            self.assertEqual(thrust.headers(f"auto f = {name};\n"), ["cuda/functional"])
        self.assertEqual(thrust.headers("#include <cuda/functional>\nauto f = cuda::maximum<>{};"), ["cuda/functional"])

    def test_a_source_without_them_needs_nothing(self) -> None:
        self.assertEqual(thrust.options("#include <cstdio>\n", []), [])

    def test_a_given_folder_comes_first(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "thrust").mkdir()
            (Path(folder) / "thrust/version.h").touch()
            words = thrust.options(SOURCE, [folder])
        self.assertEqual(words[:2], ["-isystem", folder])
        included = words[3::2]
        self.assertEqual(included[0], "simt/thrust_begin.h")
        self.assertEqual(included[-2:], ["simt/thrust_end.h", "iostream"])

    def test_the_error_says_how_to_get_them(self) -> None:
        nowhere = mock.patch.object(thrust, "_candidates", return_value=iter([Path("/nonexistent")]))
        with nowhere, self.assertRaisesRegex(Problem, "install the CUDA Toolkit.*nvidia-cuda-cccl"):
            thrust.options(SOURCE, [])


if __name__ == "__main__":
    unittest.main()
