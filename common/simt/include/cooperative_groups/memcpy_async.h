// Copies that a group makes together. They have ended when memcpy_async() returns, but the other threads of the group
// know that only after wait().
#pragma once

#include <cstddef>

#include "cooperative_groups.h"

namespace cooperative_groups {

/// Copies `bytes` bytes.
template <class Group, class T, class Bytes>
void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes) {
  const std::size_t elements = std::size_t(bytes) / sizeof(T), size = group.num_threads();
  for (std::size_t i = group.thread_rank(); i < elements; i += size) to[i] = from[i];
  if (group.thread_rank() != 0) return;
  for (std::size_t b = elements * sizeof(T); b < std::size_t(bytes); ++b) {
    reinterpret_cast<char*>(to)[b] = reinterpret_cast<const char*>(from)[b];
  }
}
template <class Group, class Bytes>
void memcpy_async(const Group& group, void* to, const void* from, const Bytes& bytes) {
  memcpy_async(group, static_cast<char*>(to), static_cast<const char*>(from), bytes);
}
/// Copies as many elements as both have.
template <class Group, class T, class ToLayout, class FromLayout>
void memcpy_async(const Group& group, T* to, const ToLayout& to_count, const T* from, const FromLayout& from_count) {
  const std::size_t count = std::min(std::size_t(to_count), std::size_t(from_count));
  memcpy_async(group, to, from, count * sizeof(T));
}

template <class Group>
void wait(const Group& group, simt::Site site = simt::Site::here()) {
  group.sync(site);
}
/// All but the last `Stages` copies have ended.
template <unsigned Stages, class Group>
void wait_prior(const Group& group, simt::Site site = simt::Site::here()) {
  group.sync(site);
}

}  // namespace cooperative_groups
