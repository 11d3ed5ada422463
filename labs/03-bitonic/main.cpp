// The runner of lab 03: this lab's steps, driven by the judge.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps("03-bitonic", bitonic::steps, argc, argv); }
