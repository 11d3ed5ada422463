// A warp: which of its threads can run, and the warp primitives at which its lanes meet.
#pragma once

#include <bit>
#include <cstdint>

#include "../emulation.h"
#include "simt/device.h"

namespace simt {

/// Lanes that meet at one primitive with one mask.
struct Rendezvous {
  unsigned mask;     ///< as the lanes passed it
  unsigned arrived;  ///< lanes; 0: unused
  WarpOp op;
  int width;
  Site site;
};

struct Warp {
  // Positions are bits in the scheduler's order; lanes are CUDA's.
  std::uint32_t runnable;                 ///< positions that can run now
  std::uint32_t unstarted;                ///< positions that have not begun
  std::uint32_t yielded;                  ///< positions that run again when nothing else can
  std::uint32_t alive;                    ///< positions that have not exited
  unsigned existing;                      ///< lanes that the block has
  unsigned exited;                        ///< lanes
  std::uint8_t position[lanes_per_warp];  ///< by lane
  std::uint64_t value[lanes_per_warp];    ///< operands, by lane
  int argument[lanes_per_warp];
  std::uint64_t result[lanes_per_warp];
  Rendezvous groups[lanes_per_warp];
  int group_count;

  /// The lanes that a primitive with this mask waits for: those that have exited do not count.
  unsigned expected(unsigned mask) const { return mask & existing & ~exited; }
};

/// Calls `visit(lane)` for each lane of a mask, lowest first.
template <class Visit>
void for_each_lane(unsigned mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

/// All lanes of the group have arrived: computes every lane's result in one pass, so that no result depends on which
/// lane continues first.
void complete(Warp& warp, const Rendezvous& group);

/// As CUDA writes it: "__shfl_sync".
const char* name_of(WarpOp op);

}  // namespace simt
