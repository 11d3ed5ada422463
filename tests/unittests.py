"""Runs the tests of a module, and names those that are not run: unittests.py MODULE

Exits with 77, which Meson counts as "not run", where that is all of them.
"""

import sys
import unittest


def main() -> int:
    """Runs the tests; the exit status."""
    result = unittest.main(module=None, argv=sys.argv, exit=False).result
    for test, reason in result.skipped:
        print(f"not run: {test.id()}: {reason}")
    # A class that is skipped as a whole, or a part of a test, is not among those counted in testsRun.
    skipped = sum(isinstance(test, unittest.TestCase) and not hasattr(test, "test_case") for test, _ in result.skipped)
    if result.skipped and result.testsRun == skipped:
        return 77
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
