// The machine's memory, which what the observers keep may use up.
#pragma once

namespace simt::check {

/// Whether there is enough memory to go on. It asks the system at every 16th call only.
bool has_memory_left();

}  // namespace simt::check
