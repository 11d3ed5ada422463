// The runner of lab 01: the judge drives this lab's steps through it.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps<odd_even::steps>(odd_even::traits.name, argc, argv); }
