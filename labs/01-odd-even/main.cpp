// The runner of lab 01: this lab's steps, driven by the judge.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps("01-odd-even", odd_even::steps, argc, argv); }
