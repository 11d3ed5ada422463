// The runner of lab 03: the judge drives this lab's steps through it.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps<bitonic::steps>(bitonic::traits.name, argc, argv); }
