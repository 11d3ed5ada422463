// The runner of lab 02: this lab's steps, driven by the judge.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps("02-merge", merge_sort::steps, argc, argv); }
