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
/// both active have the same address. Found by counting on GPUs: reports/agreement/README.md.
unsigned wavefronts(const Request& request, unsigned bytes);
/// The 32-byte sectors that the lanes' accesses of so many bytes touch.
unsigned sectors(const Request& request, unsigned bytes);
/// Atomics on one address go one after another.
unsigned most_at_one_address(const Request& request);

/// The first request, since the last barrier, of the warp that has executed an instruction last.
struct LastRequest {
  std::uint64_t key;
  Request* first;
};
inline constexpr std::size_t last_count = 4096;
extern LastRequest last_requests[last_count];

inline std::uint64_t key_of(Code code, unsigned bytes, Space space, Way way, unsigned warp) {
  return (std::uint64_t(code) << 8 | bytes << 3 | unsigned(space) << 2 | unsigned(way)) << 5 | warp;
}
inline std::size_t place_of(Code code, unsigned bytes, Space space) {
  return (code ^ bytes << 8 ^ unsigned(space) << 4) % last_count;
}
/// The same as add_to_request, in all cases.
void add_seldom(Code code, unsigned thread, std::uint32_t address, unsigned bytes, Space space, Way way);

/// One lane's part in a warp's request: lanes belong together that execute the same instruction (by its code address)
/// for the same time since the last barrier.
[[gnu::always_inline]] inline void add_to_request(Code code, unsigned thread, std::uintptr_t address, unsigned bytes,
                                                  Space space, Way way) {
  // Most often others of its warp have been here, and the lane itself has not.
  const LastRequest& last = last_requests[place_of(code, bytes, space)];
  if (last.key == key_of(code, bytes, space, way, thread / lanes_per_warp)) [[likely]] {
    Request& first = *last.first;
    const unsigned lane = thread % lanes_per_warp, lanes = first.lanes;
    if (lanes != 0 && (lanes >> lane & 1) == 0) [[likely]] {
      first.lanes = lanes | 1u << lane;
      first.address[lane] = std::uint32_t(address);
      return;
    }
  }
  add_seldom(code, thread, std::uint32_t(address), bytes, space, way);
}
/// Counts what has been put together, in totals() and add_cost(), and begins anew.
void finish_requests();

#pragma GCC visibility pop
}  // namespace simt::check
