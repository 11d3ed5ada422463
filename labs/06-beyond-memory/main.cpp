// The runner of lab 06: the judge drives this lab's steps through it.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps<beyond::steps>(beyond::traits.name, argc, argv); }
