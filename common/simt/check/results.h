// What the host gets from kernels, written to the file that SIMT_RESULTS names, so that runs in different orders
// (schedule.h) can be compared: what it copies, and what it reads of memory that it shares with the device. The file is
// a series of records; common/workbook/core/schedules.py reads it:
//
//     launch POINTS              a launch has ended, after so many points (schedule.h)
//     copy CODE BYTES KEPT HASH  the host has copied BYTES; KEPT bytes follow: all or none
//     read CODE BYTES KEPT HASH  the host has read them, by one instruction, one after the other
//     place CODE FILE:LINE       of a code address; at the end
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>

#include "access.h"

namespace simt::check {

class Results {
 public:
  Results();
  bool is_on() const { return file_ != nullptr; }

  void launched(std::uint64_t points);
  void copied(const void* begin, std::size_t bytes, Code code);
  void read(const Access& access);
  void end();

 private:
  void write(const char* kind, const void* begin, std::size_t bytes, Code code);
  void write_reads();

  FILE* file_ = nullptr;
  std::size_t room_;
  std::string reads_ = {};  ///< by one instruction, not yet written
  Code reading_ = 0;
  std::set<Code> codes_ = {};
};

}  // namespace simt::check
