// How a failure in device code is reported.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simt/device.h"
#include "simt/error.h"

namespace simt {

/// What to do about a kernel that waits for the host.
inline constexpr const char* wait_for_host =
    "if it waits for the host or for another stream, it never ends here, where a launch runs to its end before the "
    "host "
    "goes on: let the host or a copy set the value before the launch, or leave this kernel out with #ifndef __SIMT__";

/// What the text of a failure says, for programs: the check build hands it on with its findings.
struct FailureFacts {
  /// A thread that waits elsewhere, or has left there.
  struct Other {
    uint3 thread;
    Site site;
  };
  std::string kernel = {};
  Site launch = {};
  std::optional<uint3> block = {}, thread = {};
  std::string call = {};  ///< the function that is called at the place, with "()"
  std::vector<Other> others = {};
  const void* memory = nullptr;  ///< an allocation
  std::ptrdiff_t offset = 0;     ///< in it
  std::size_t bytes = 0;         ///< that are accessed from there on
  std::vector<std::pair<const char*, std::uint64_t>> numbers = {};
  std::vector<std::pair<const char*, uint3>> shapes = {};
};

struct Failure {
  const char* kind;
  std::string text;  ///< "{array}" in it stands for the allocation, if the facts name one
  Site site;
  cudaError_t error;  ///< what CUDA calls return from then on
  FailureFacts facts = {};
};

/// Prints the failure on standard error, or hands it to the check build's findings, and makes its error sticky. Does
/// nothing if a block of the running launch has failed before.
void report(const Failure& failure);

/// Prints an error on standard error; in the check build it becomes a finding, which is printed when the program ends.
void report_error(const char* kind, Site site, const std::string& text, const FailureFacts& facts = {});

// Inline, because the observers use them too.

/// 0x0000ffff
inline std::string hex(unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}
/// "lane 31", or "lanes 0x0000ffff"
inline std::string lanes_text(unsigned mask) {
  return std::has_single_bit(mask) ? "lane " + std::to_string(std::countr_zero(mask)) : "lanes " + hex(mask);
}
/// (1,2,3)
inline std::string coordinates(uint3 p) {
  return "(" + std::to_string(p.x) + "," + std::to_string(p.y) + "," + std::to_string(p.z) + ")";
}
/// file.cu:12
inline std::string file_and_line(const Site& site) { return std::string(site.file) + ":" + std::to_string(site.line); }

}  // namespace simt
