// A warp's request of memory, and what it costs.
#pragma once

#include <cstdint>

#include "../src/emulation.h"

namespace simt::check {

/// One instruction of a warp: the lanes that take part, and their addresses.
struct Request {
  unsigned lanes;
  std::uint32_t address[lanes_per_warp];
};

/// What a request costs, in the numbers below that its instruction has.
struct RequestCost {
  unsigned wavefronts, sectors, used_bytes, turns;
};

/// Gives lanes that take no part the address of a neighbour that does, which then costs nothing more. At least one lane
/// takes part.
void close_gaps(Request& request);

/// The passes over the banks: as many as there are different words in the busiest bank. Accesses of 8 bytes are served
/// by half warps, those of 16 bytes by quarters. Two of these are served together if, in each pair of lanes
/// (neighbours, or every other lane) of which both are active, both have the same address. Determined by counting on
/// GPUs: reports/agreement/README.md.
unsigned wavefronts(const Request& request, unsigned bytes);
/// The 32-byte sectors that the lanes' accesses, of this many bytes each, touch.
unsigned sectors(const Request& request, unsigned bytes);
/// The bytes that the lanes' accesses touch. What several lanes access counts once.
unsigned used_bytes(const Request& request, unsigned bytes);
/// The turns that atomics take: those on one address are serialized.
unsigned turns_of_atomics(const Request& request);

}  // namespace simt::check
