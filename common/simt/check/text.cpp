#include "text.h"

#include "../src/execution/failure.h"

namespace simt::check {
namespace {

std::string place_in(dim3 shape, std::uint64_t linear) {
  return coordinates(
      {unsigned(linear % shape.x), unsigned(linear / shape.x % shape.y), unsigned(linear / shape.x / shape.y)});
}

/// "a " or "an ", before a number of bytes that is a power of two.
const char* article(unsigned bytes) { return bytes == 8 ? "an " : "a "; }

std::string position(std::size_t offset, unsigned bytes, std::size_t array_bytes) {
  return std::string(" (") + article(bytes) + std::to_string(bytes) + "-byte access at byte " + std::to_string(offset) +
         " of " + std::to_string(array_bytes) + ")";
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += c == '\n' ? "\\n" : static_cast<unsigned char>(c) < ' ' ? "?" : std::string(1, c);
  }
  return json + '"';
}

std::string counted(std::uint64_t count, const std::string& unit) {
  return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
}

std::string element(const std::string& array, std::size_t offset, unsigned bytes, std::size_t array_bytes) {
  return array + "[" + std::to_string(offset / bytes) + "]" + position(offset, bytes, array_bytes);
}

std::string element_of(const std::string& array, std::size_t offset, unsigned bytes, std::size_t array_bytes) {
  return "element " + std::to_string(offset / bytes) + " of " + array + position(offset, bytes, array_bytes);
}

std::string advice_on_rows(const std::string& what, const std::string& index) {
  return "these " + what + " differ in " + index +
         ".y or .z only: is that in the index? If one dimension is enough, launch " +
         "with a number in place of a dim3";
}

std::string thread_name(const Launch& launch, unsigned linear) { return place_in(launch.config.block, linear); }

std::string block_name(const Launch& launch, std::uint64_t linear) { return place_in(launch.config.grid, linear); }

}  // namespace simt::check
