// The runner of lab 02: the judge drives this lab's steps through it.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps<merge_sort::steps>(merge_sort::traits.name, argc, argv); }
