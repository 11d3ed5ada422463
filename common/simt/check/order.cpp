#include "order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

#include "running.h"

namespace simt::check {

std::uint32_t interval = 1, first_of_block = 1, first_of_launch = 1;
bool clocks_used[max_warps], fenced_now;

namespace {

/// A __threadfence: what the thread did before, and whatever all did before the last barrier, is seen by those who see
/// what the thread writes later.
struct Fence {
  std::uint32_t interval;
  std::uint16_t thread;
  bool joined;  ///< lanes of its warp have met in this interval: it may stand for them as well
  std::uint32_t clock;
};

std::uint64_t blocks;                          // of the running launch
std::vector<std::uint32_t> block_of_interval;  // of the running launch
bool untracked_fences;                         // of the launch: blocks are taken to be in order
constexpr std::uint64_t most_tracked_blocks = 8192;
constexpr std::size_t most_fences = 65536;         // of a block
std::vector<std::vector<Fence>> fences;            // by block, in order
std::vector<std::vector<std::uint32_t>> acquired;  // by block: how many of another one's fences it relies on
/// By warp: what lane a knows of lane b. Not among the program's variables: what is done to those is looked at, if a
/// compiler makes a call of memset of it, whoever does it.
using Clocks = std::uint32_t[lanes_per_warp][lanes_per_warp];
Clocks* const clocks = new Clocks[max_warps];
bool lanes_joined[max_warps];

/// What is known of the lanes of each warp. Of this interval, by thread: at its last fence, and of other warps from the
/// flags that it has read; by flag: what those learn who read it. (Not among the program's variables either.)
using Known = std::map<unsigned, std::array<std::uint32_t, lanes_per_warp>>;
using KnownByThread = std::unordered_map<unsigned, Known>;
KnownByThread &at_fence = *new KnownByThread, &from_flags = *new KnownByThread;
auto& by_flag = *new std::unordered_map<const void*, Known>;

void learn(std::uint32_t* own, const std::uint32_t* more) {
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) own[lane] = std::max(own[lane], more[lane]);
}
void learn(Known& own, const Known& more) {
  for (const auto& [warp, lanes] : more) learn(own[warp].data(), lanes.data());
}

/// Lanes that have met know what each of them has been told; a fence of one stands for all.
void join(KnownByThread& known, unsigned warp, unsigned lanes) {
  Known all;
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const auto found = known.find(warp * lanes_per_warp + unsigned(std::countr_zero(left)));
    if (found != known.end()) learn(all, found->second);
  }
  if (all.empty()) return;
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    known[warp * lanes_per_warp + unsigned(std::countr_zero(left))] = all;
  }
}

void reset_clocks(unsigned warp) {
  std::memset(clocks[warp], 0, sizeof(Clocks));
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) clocks[warp][lane][lane] = 1;  // what 0 does not know
}

/// Does an access stand before one of the first n fences of its block?
bool published(const std::vector<Fence>& of_block, std::uint32_t n, const Event& access) {
  for (; n > 0 && of_block[n - 1].interval >= access.interval; --n) {
    const Fence& fence = of_block[n - 1];
    if (fence.interval > access.interval || (fence.thread == thread_of(access) && fence.clock > clock_of(access)) ||
        (fence.joined && fence.thread / 32 == thread_of(access) / 32)) {
      return true;
    }
  }
  return false;
}

/// How many of its block's fences stand before a write.
std::uint32_t fences_before(const std::vector<Fence>& of_block, const Event& write) {
  std::uint32_t n = std::uint32_t(of_block.size());
  for (; n > 0; --n) {
    const Fence& fence = of_block[n - 1];
    if (fence.interval < write.interval || (fence.thread == thread_of(write) && fence.clock <= clock_of(write)) ||
        (fence.joined && fence.thread / 32 == thread_of(write) / 32)) {
      break;
    }
  }
  return n;
}

}  // namespace

std::uint32_t clock_of_thread(unsigned thread) {
  const unsigned lane = thread % lanes_per_warp;
  return clocks[thread / lanes_per_warp][lane][lane];
}

std::uint64_t block_of(const Event& event) {
  return event.interval >= first_of_block ? block : block_of_interval[event.interval - first_of_launch];
}

bool unordered_in_launch(const Event& before, const Event& now, bool shared) {
  if ((bytes_of(before) & bytes_of(now)) == 0) return false;
  if (synchronized(before) && synchronized(now)) return false;
  if (before.interval >= first_of_block) {
    if (before.interval != now.interval || thread_of(before) == thread_of(now)) return false;
    const unsigned a = thread_of(before), b = thread_of(now);
    if (a / 32 == b / 32) return clocks[b / 32][b % 32][a % 32] < clock_of(before);
    if (from_flags.empty()) return true;
    const auto known = from_flags.find(b);
    if (known == from_flags.end()) return true;
    const auto of_warp = known->second.find(a / 32);
    return of_warp == known->second.end() || of_warp->second[a % 32] < clock_of(before);
  }
  if (shared || untracked_fences) return false;
  const std::uint32_t other = block_of_interval[before.interval - first_of_launch];
  return acquired.size() <= block || acquired[block].size() <= other ||
         !published(fences[other], acquired[block][other], before);
}

void acquire(const Event& write) {
  const std::uint32_t from = block_of_interval[write.interval - first_of_launch];
  if (fences.size() <= from || fences[from].empty()) return;
  const std::uint32_t n = fences_before(fences[from], write);
  std::vector<std::uint32_t>& own = acquired[block];
  own.resize(blocks);
  if (own[from] >= n) return;
  own[from] = n;
  for (std::size_t b = 0; b < acquired[from].size(); ++b) own[b] = std::max(own[b], acquired[from][b]);
}

void order_launch(std::uint64_t count) {
  static const bool once = [] {
    for (unsigned warp = 0; warp < max_warps; ++warp) reset_clocks(warp);
    return true;
  }();
  (void)once;
  first_of_launch = interval + 1;
  blocks = count;
  block_of_interval.clear();
  fences.clear();
  acquired.clear();
  untracked_fences = false;
}

void order_block() {
  first_of_block = interval + 1;
  order_interval();
}

void order_interval() {
  ++interval;
  block_of_interval.push_back(std::uint32_t(block));
  for (unsigned warp = 0; warp < max_warps; ++warp) {
    if (!clocks_used[warp]) continue;
    clocks_used[warp] = lanes_joined[warp] = false;
    reset_clocks(warp);
  }
  if (!fenced_now) return;
  fenced_now = false;
  at_fence.clear();
  from_flags.clear();
  by_flag.clear();
}

void lanes_synchronized(unsigned warp, unsigned lanes) {
  clocks_used[warp] = lanes_joined[warp] = true;
  std::uint32_t known[lanes_per_warp] = {};
  for (unsigned a = 0; a < lanes_per_warp; ++a) {
    if ((lanes >> a & 1) == 0) continue;
    learn(known, clocks[warp][a]);
  }
  for (unsigned a = 0; a < lanes_per_warp; ++a) {
    if ((lanes >> a & 1) == 0) continue;
    std::memcpy(clocks[warp][a], known, sizeof known);
    ++clocks[warp][a][a];
  }
  if (!fenced_now) return;
  join(at_fence, warp, lanes);
  join(from_flags, warp, lanes);
}

void hand_on(const void* flag, unsigned thread, bool atomic) {
  const auto known = at_fence.find(thread);
  if (!atomic) by_flag.erase(flag);
  if (known != at_fence.end()) learn(by_flag[flag], known->second);
}

void take_over(const void* flag, unsigned thread) {
  const auto known = by_flag.find(flag);
  if (known == by_flag.end()) return;
  for (const auto& [warp, lanes] : known->second) {
    if (warp == thread / lanes_per_warp) {
      learn(clocks[warp][thread % lanes_per_warp], lanes.data());
    } else {
      learn(from_flags[thread][warp].data(), lanes.data());
    }
  }
}

void order_fence_in_block(unsigned thread) {
  const unsigned warp = thread / lanes_per_warp, lane = thread % lanes_per_warp;
  clocks_used[warp] = fenced_now = true;
  Known& known = at_fence[thread];
  if (const auto told = from_flags.find(thread); told != from_flags.end()) learn(known, told->second);
  learn(known[warp].data(), clocks[warp][lane]);
  ++clocks[warp][lane][lane];
}

void order_fence(unsigned thread) {
  order_fence_in_block(thread);
  if (blocks > most_tracked_blocks || (block < fences.size() && fences[block].size() >= most_fences)) {
    untracked_fences = true;
    return;
  }
  fences.resize(blocks);
  acquired.resize(blocks);
  const unsigned warp = thread / lanes_per_warp;
  fences[block].push_back({interval, std::uint16_t(thread), lanes_joined[warp], clock_of_thread(thread)});
}

}  // namespace simt::check
