// How a failure in device code is reported.
#pragma once

#include <bit>
#include <cstdio>
#include <string>

#include "simt/device.h"
#include "simt/error.h"

namespace simt {

/// What to do about a kernel that waits for the host.
inline constexpr const char* wait_for_host =
    "if it waits for the host or for another stream, it never ends here, where a launch runs to its end before the "
    "host "
    "goes on: let the host or a copy set the value before the launch, or leave this kernel out with #ifndef __SIMT__";

struct Failure {
  const char* kind;
  std::string text;
  Site site;
  cudaError_t error;  ///< what CUDA calls return from then on
};

/// Prints the failure on standard error, or hands it to the check build's findings, and makes its error sticky. Does
/// nothing if a block of the running launch has failed before.
void report(const Failure& failure);

/// Prints an error on standard error; in the check build it becomes a finding, which is printed when the program ends.
void report_error(const char* kind, Site site, const std::string& text);

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
