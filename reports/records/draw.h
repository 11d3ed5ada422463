// Drawn inputs: a seed decides the number of keys, their type and order, and a family of generators with their
// parameters. A record that is fast on the inputs of a table may have been made for these. Nobody has chosen the drawn
// ones. The device makes and compares the keys, because a host would take far longer than the sorts.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "step/keys.h"
#include "step/step.h"

namespace draw {

/// One family of generators. A key is an integer of the type's size first.
enum class Family {
  range,        ///< 2^bits neighbouring values, all equally likely
  power,        ///< u^exponent of the largest value, where u is uniform between 0 and 1
  normal,       ///< nearly normal, with a standard deviation of about 2^bits
  permutation,  ///< the numbers below n, each once, times 2^bits
  runs,         ///< `count` sorted runs, some of them descending, of neighbouring numbers times 2^bits
  duplicates,   ///< `count` random values
  holes,        ///< only some of the bits are random
  constant      ///< one value
};

struct Generator {
  Family family;
  std::uint64_t seed, count, mask;
  int bits;
  double exponent;
};

/// Two generators, one of which makes each key.
struct Input {
  Generator first, second;
  std::uint64_t second_share = 0;  ///< in 2^-64: how likely a key is to be made by `second`
  bool in_parts = false;           ///< `first` makes the first keys, and `second` the others
  bool as_numbers = false;         ///< a float has the value of the integer, scaled, instead of its bits
  std::uint64_t zero_share = 0;    ///< in 2^-64: how likely a float is to be -0 or +0
};

/// What is sorted in one cell of the table that is drawn.
struct Cell {
  lab::KeyType type;
  lab::Order order;
  std::int64_t n;
  std::uint64_t seed;
  Input input;
};

/// `count` cells: n is between `least` and `most`, its logarithm uniform. Types are drawn from `types`.
std::vector<Cell> cells(std::uint64_t seed, int count, const std::vector<lab::KeyType>& types, std::int64_t least,
                        std::int64_t most);

/// The input in a few words, without commas.
std::string describe(const Cell& cell);

/// Queues kernels that write the cell's keys and, if `values` is not null, the values 0 to n - 1. Both are in device
/// memory. Errors: lab::CudaError.
void make_keys(const Cell& cell, void* keys, std::uint32_t* values, cudaStream_t stream);

/// Two sorted arrays in device memory, with their values or null.
struct Sorted {
  const void* keys;
  const std::uint32_t* values;
};

/// Whether two outputs must have the same bits, or -0 may stand for +0.
enum class Zeros { differ, are_equal };

/// How many keys of two outputs differ, and values, unless they are null. Waits for the stream. Errors: lab::CudaError.
std::int64_t differences(const Cell& cell, Sorted expected, Sorted actual, Zeros zeros, cudaStream_t stream);

}  // namespace draw
