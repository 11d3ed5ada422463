// Where the segments begin that tests and benchmarks sort.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "step/task.h"

namespace lab {

/// The most keys that segments can be cut from: their positions are of type int.
inline constexpr std::int64_t max_segmented_keys = std::numeric_limits<int>::max();

/// Task::segments: about 1024 keys in a segment, from 0 to longest_mixed_segment.
inline constexpr int longest_mixed_segment = 2047;

/// The keys in each segment of a task whose segments are equally long, 0 for other tasks.
constexpr int segment_length(Task task) {
  return task == Task::segments_128 ? 128 : task == Task::segments_1024 ? 1024 : 0;
}

/// begins[i] is the position of segment i's first key; the last element is n. n is at most max_segmented_keys.
inline std::vector<int> segment_begins(Task task, std::int64_t n) {
  std::vector<int> begins = {0};
  std::uint64_t state = 0;
  for (std::int64_t at = 0; at < n;) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // D. E. Knuth's MMIX generator
    const int length = segment_length(task);
    at = std::min(n, at + (length ? length : std::int64_t(state >> 33) % (longest_mixed_segment + 1)));
    begins.push_back(int(at));
  }
  return begins;
}

}  // namespace lab
