// The runner of lab 05: the judge drives this lab's steps through it.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps<radix::steps>(radix::traits.name, argc, argv); }
