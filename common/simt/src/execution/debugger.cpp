// What a debugger looks at first. This file alone is compiled with debug information, which describes the types that are
// reached from here: ./workbook debug reads them (common/workbook/debugger), in every program, and programs grow little.
#include "worker.h"

namespace simt {

constinit thread_local WorkerOfThread worker_of_thread;

}  // namespace simt
