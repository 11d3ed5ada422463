// The runner of lab 04: the judge drives this lab's steps through it.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps<counting::steps>(counting::traits.name, argc, argv); }
