// The inputs that steps are tested and timed with: named distributions, ranges and files.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "step/keys.h"

namespace lab {

/// Where an input is used, beside commands that name it. Each use includes the ones before it.
enum class InputUse {
  compared,  ///< in the comparison with other libraries (`bench --preset peers`)
  timed,     ///< in reports and the other presets, too
  graded     ///< in graded cases, too: every input makes them take longer
};

struct InputFacts {
  const char* name;
  const char* what;  ///< a few words for lists
  InputUse use;
};

/// The distributions: random ones from the most entropy to the least, then others. There are three more kinds of input:
/// "values:COUNT" means that many values, from 2 to 65,536, at random; "range:LOW:HIGH" means whole numbers from LOW to
/// HIGH, all equally likely, but LOW and HIGH are always among two or more keys; "file:PATH" means a file's bytes as
/// keys.
std::span<const InputFacts> inputs();

/// Throws lab::Error unless `input` is a distribution's name, a number of values or a range that the key type has, or a
/// file with at least n keys. Changes nothing.
void check_input(const std::string& input, KeyType type, std::int64_t n);

/// The number of keys in the file that "file:PATH" names; 0 for other inputs, which have any number of keys. Errors:
/// those of check_input, and lab::Error for a file that is empty or ends in the middle of a key.
std::int64_t file_keys(const std::string& input, KeyType type);

/// Writes n keys of `type` to `keys` (host memory). The same input, type, n and seed always produce the same keys. With
/// another seed, every distribution produces other keys. Errors: those of check_input.
void make_keys(const std::string& input, KeyType type, std::uint64_t seed, std::int64_t n, void* keys);

/// Writes n values: 0 to n - 1, each once, in an order that depends on the seed. n is at most 2^32.
void make_values(std::uint64_t seed, std::int64_t n, std::uint32_t* values);

}  // namespace lab
