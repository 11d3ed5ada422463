// The runner of the wrong steps.
#include "runner/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps("wrong", wrong::steps, argc, argv); }
