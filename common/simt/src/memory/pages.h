// The system's pages: 4 KiB on x86-64; on other processors, some systems have pages of 16 or 64 KiB.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace simt {

inline std::size_t page_bytes() {
  static const std::size_t bytes = std::size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace simt
