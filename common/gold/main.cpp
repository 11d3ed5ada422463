// The gold standard as a runner, which the judge drives like those of the labs.
#include "gold/table.h"
#include "runner/runner.h"

int main(int argc, char** argv) { return lab::run_steps("gold", gold::table(), argc, argv); }
