// The words that findings share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../src/execution/launch_state.h"
#include "access.h"

namespace simt::check {

/// The text as a string of JSON. Control characters become question marks.
std::string quoted(const std::string& text);

/// "1 byte", "2 bytes".
std::string counted(std::uint64_t count, const std::string& unit);

/// An element of an array: "keys[3] (a 4-byte access at byte 12 of 400)".
std::string element(const std::string& array, std::size_t offset, unsigned bytes, std::size_t array_bytes);
/// The same for an array without a name: "element 3 of the array allocated at ... (a 4-byte access ...)".
std::string element_of(const std::string& array, std::size_t offset, unsigned bytes, std::size_t array_bytes);

/// For a race of "blocks" or "threads" that "blockIdx" or "threadIdx" distinguishes in .y or .z only.
std::string advice_on_rows(const std::string& what, const std::string& index);

std::string thread_name(const Launch& launch, unsigned linear);      ///< "(1,2,0)"
std::string block_name(const Launch& launch, std::uint64_t linear);  ///< the same

constexpr const char* verb_of(Way way) { return way == Way::load ? "reads " : "writes "; }

}  // namespace simt::check
