// Signals that arrive while device code runs: faults, interruptions by the watchdog, and the request to end.
#pragma once

namespace simt {

/// Turns faults in device code into findings, and has SIGTERM report where a kernel is that does not end. A later call
/// does nothing.
void catch_faults();

}  // namespace simt
