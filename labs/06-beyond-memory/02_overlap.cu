// Step 02: overlap.
//
// Idea: a GPU copies in, computes and copies out at the same time, if different streams ask for it and the host memory
// is pinned. Three slots share the device memory. Each has a stream, in which every third piece is copied in, sorted
// and copied out. Streams do not wait for each other, so the three phases of different pieces overlap, and the
// throughput of the bus alone decides how long they take.
// New since step 01: pieces as large as the slots allow, sorted by step 04 of lab 05, so that the host merges few runs
// instead of one for each tile.
// Limits: 384 threads per block, as in lab 05.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "slots.h"
#include "step/launch_shape.h"

namespace beyond {

void sort_overlap(Keys keys, Keys scratch, lab::Order order, std::int64_t device_bytes, lab::LaunchShape shape,
                  cudaStream_t stream) {
  if (lab::threads_or(shape, onesweep_threads) != onesweep_threads) {
    throw lab::Unsupported("this step has 384 threads per block: choose --threads 384 or leave it out");
  }
  lab::blocks_or(shape, keys.n, 1);  // refuses impossible numbers
  const std::int64_t piece = std::min(keys_per_slot(usable_bytes(device_bytes)), keys.n);
  if (keys.n < 2) return;
  Slots slots(piece);
  CUDA_CHECK(cudaStreamSynchronize(stream));  // earlier work in it may still write the keys
  // Your code: each piece takes the next slot, and is copied in, sorted and copied out in that slot's stream, with
  // copy_in(), sort_piece() and copy_out(). Wait for all slots, and merge the runs, one per piece.
  (void)scratch, (void)order;
  NOT_WRITTEN("step 02");
}

}  // namespace beyond
