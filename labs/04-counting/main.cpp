// The runner of lab 04: this lab's steps, driven by the judge.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps("04-counting", counting::steps, argc, argv); }
