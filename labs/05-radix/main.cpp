// The runner of lab 05: the judge drives this lab's steps through it.
#include "runner/runner.h"
#include "steps.h"

// A first look tries keys of one byte, too: they take one pass by digits, and all others an even number.
int main(int argc, char** argv) {
  return lab::run_steps<radix::steps, lab::FirstTypes::words_and_bytes>(radix::traits.name, argc, argv);
}
