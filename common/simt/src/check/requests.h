// What lanes do one after another, put together into the requests that a warp makes at once; and what each costs.
#pragma once

#include <cstdint>

#include "check.h"

namespace simt::check {
#pragma GCC visibility push(hidden)

/// One warp's instruction: the lanes that take part, and their addresses.
struct Request {
  unsigned lanes;
  std::uint32_t address[lanes_per_warp];
};

/// The passes over the banks: as many as the busiest bank has different words. 8-byte accesses go by half warps, 16-byte
/// ones by quarters; two of these go together if the lanes of each pair (of neighbours, or of every other one) that are
/// both active have the same address. Found by counting on GPUs: reports/agreement.md.
unsigned wavefronts(const Request& request, unsigned bytes);
/// The 32-byte sectors that the lanes' accesses of so many bytes touch.
unsigned sectors(const Request& request, unsigned bytes);
/// Atomics on one address go one after another.
unsigned most_at_one_address(const Request& request);

/// One lane's part in a warp's request: lanes belong together that execute the same instruction (by its code address)
/// for the same time since the last barrier.
void add_to_request(Code code, unsigned thread, std::uintptr_t address, unsigned bytes, Space space, Way way);
/// Counts what has been put together, in totals() and add_cost(), and begins anew.
void finish_requests();

#pragma GCC visibility pop
}  // namespace simt::check
