// A loop over all the machine's cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace lab {

inline int core_count() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/// Cuts [0, n) into at most `parts` pieces of equal length and calls f(piece, begin, end), each in a separate thread.
template <class F>
void parallel_pieces(std::int64_t n, int parts, F&& f) {
  const std::int64_t length = (n + parts - 1) / parts;
  std::vector<std::jthread> threads;
  for (int piece = 1; piece < parts && piece * length < n; ++piece) {
    threads.emplace_back([&f, piece, length, n] { f(piece, piece * length, std::min(n, (piece + 1) * length)); });
  }
  f(0, std::int64_t{0}, std::min(n, length));
}

/// Calls f(begin, end) for pieces of [0, n) on all cores; a short loop stays on this one, since starting a thread costs
/// as much as some 10^5 iterations.
template <class F>
void parallel_for(std::int64_t n, F&& f) {
  const std::int64_t worth_a_thread = 1 << 17;
  const int parts = static_cast<int>(std::clamp<std::int64_t>(n / worth_a_thread, 1, core_count()));
  parallel_pieces(n, parts, [&f](int, std::int64_t begin, std::int64_t end) { f(begin, end); });
}

}  // namespace lab
