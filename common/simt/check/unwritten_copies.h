// What the host has copied although nothing had written it. It is an error once the host reads it, and a note otherwise:
// many programs copy a whole buffer, of which they use a part.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "access.h"
#include "findings.h"

namespace simt::check {

class UnwrittenCopies {
 public:
  /// Of the host's memory.
  struct Range {
    std::uintptr_t begin, end;
  };
  /// `finding`: the error, up to what reads it. `ranges`: where the bytes are now.
  void add(const Finding& finding, const std::vector<Range>& ranges);
  bool exist() const { return !ranges_.empty(); }
  /// The host reads or writes memory. `frame`: that of a function that is called by the one that does so.
  void observe(std::uintptr_t begin, std::size_t bytes, Way way, Code code, const void* frame);
  /// The host's memory gets other contents, or another owner.
  void forget(std::uintptr_t begin, std::size_t bytes);
  /// At the end of the program.
  void end();

 private:
  struct Part {
    std::uintptr_t end;
    unsigned copy;
  };
  void cut(std::uintptr_t begin, std::uintptr_t end);
  void report(unsigned copy, Code code);

  std::mutex mutex_;
  std::map<std::uintptr_t, Part> ranges_;  // by where they begin
  std::vector<Finding> copies_;            // without a fact: it has been reported
};

/// The host copies this memory to `to`, and something of it may be unwritten. A judge's program gets the error at once.
void look_at_copy(const void* begin, std::size_t bytes, const void* to, Code code);

}  // namespace simt::check
