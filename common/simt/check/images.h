// Copies of device memory, which reveal writes that the observers have not seen: by code that is hidden from them, or by
// the host outside CUDA calls. They exist while a HostWatch (simt/host_watch.h) does.
#pragma once

#include <cstddef>
#include <map>

#include "../src/execution/launch_state.h"
#include "ownership.h"

namespace simt::check {

class Images {
 public:
  bool are_kept() const { return are_kept_; }
  void begin();  ///< of all allocations
  void end();

  void add(const Region& region);
  void remove(const Region& region);
  /// A copy or fill has written this memory.
  void update(const void* begin, std::size_t bytes);

  /// Compares all memory with its copy, and renews the copy. Changes must come from `launch`, which has ended; null: only
  /// the host has run. Reports all other changes to HostWatch, and how many bytes the host can now read.
  void look(const Launch* launch);

 private:
  /// Pages that nothing can access, except while they are compared: what a step computes must not come from there.
  struct Image {
    char* data;
    std::size_t bytes;
    char* open() const;
    void seal() const;
  };

  bool are_kept_ = false;
  std::map<const Region*, Image> images_;
};

}  // namespace simt::check
