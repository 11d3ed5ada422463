// The tests of common/judge. Usage: common-tests FAKE_RUNNER [doctest's options].
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

const char* fake_runner = nullptr;

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("usage: common-tests FAKE_RUNNER [options]\n", stderr), 2;
  fake_runner = argv[1];
  return doctest::Context(argc - 1, argv + 1).run();
}
