// Settings from environment variables.
#pragma once

#include <cstdint>

namespace simt {

/// The whole number in the environment variable `name`; `otherwise` if it is unset or empty. Any other text ends the
/// program with an error message.
std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise);

/// Seeds the order in which threads run (SIMT_SEED); 0 keeps CUDA's numbering.
std::uint64_t order_seed();

/// Whether the last block of a grid starts first, and at most two run at a time (SIMT_REVERSE_BLOCKS=1). On a GPU the
/// order of blocks is not defined: a program that needs one must not pass its tests.
bool reverse_blocks();

/// Properties of a smaller GPU, so that programs that ask the device can be tried as on one: how many multiprocessors it
/// has (SIMT_MULTIPROCESSORS), and up to how many bytes of shared memory a block may have (SIMT_SHARED_BYTES).
int multiprocessors(int otherwise);
int shared_bytes_per_block(int otherwise);

}  // namespace simt
