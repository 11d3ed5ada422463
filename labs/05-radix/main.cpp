// The runner of lab 05: this lab's steps, driven by the judge.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps("05-radix", radix::steps, argc, argv); }
