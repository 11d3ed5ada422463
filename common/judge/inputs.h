// The inputs that everything is tested and timed with: named distributions, and files.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "step/keys.h"

namespace lab {

struct InputFacts {
  const char* name;
  const char* what;  ///< a few words for lists
};

/// The distributions: random ones from the most entropy to the least, then others. Besides them, "range:LOW:HIGH" means
/// whole numbers from LOW to HIGH, all equally likely, and "file:PATH" for a file's bytes as keys.
std::span<const InputFacts> inputs();

/// Throws lab::Error unless `input` is a distribution's name, a range of the key type, or a file of at least n keys, whose
/// size is a multiple of the key's. Touches nothing.
void check_input(const std::string& input, KeyType type, std::int64_t n);

/// Keys in the file of "file:PATH", of which all bytes are keys; 0 for a distribution, which has any number. Errors as
/// check_input, and for a file that is empty or ends within a key.
std::int64_t file_keys(const std::string& input, KeyType type);

/// Writes n keys of `type` to `keys` (host memory). The same input, type, n and seed always give the same keys; another
/// seed gives other keys, whichever the distribution. Errors as check_input.
void make_keys(const std::string& input, KeyType type, std::uint64_t seed, std::int64_t n, void* keys);

/// Writes n values: 0 to n - 1, each once, in an order that depends on the seed. n is at most 2^32.
void make_values(std::uint64_t seed, std::int64_t n, std::uint32_t* values);

}  // namespace lab
