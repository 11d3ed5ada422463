// libcusort as a runner, for `./workbook bench --peer`.
#include "libcusort.h"
#include "runner/runner.h"

int main(int argc, char** argv) { return lab::run_steps("libcusort", libcusort::table(), argc, argv); }
