// The runner of the wrong steps.
#include "lab/runner.h"
#include "steps.h"

int main(int argc, char** argv) { return lab::run_steps("wrong", wrong::steps, argc, argv); }
