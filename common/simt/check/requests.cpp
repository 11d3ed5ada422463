// Groups what lanes do one after another into the requests that a warp makes at once, and counts what each costs.
#include <algorithm>
#include <bit>
#include <memory>
#include <unordered_map>

#include "requests.h"

namespace simt::check {

unsigned wavefronts(const Request& request, unsigned bytes) {
  if (bytes <= 4) {
    if (request.lanes == ~0u) {  // neighbours, as most often: the banks all differ
      std::uint32_t others = 0;
      for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        others |= (request.address[lane] / 4) ^ (request.address[0] / 4 + lane);
      }
      if (others == 0) return 1;
    }
    unsigned banks = 0, lanes = request.lanes;
    for (; lanes != 0; lanes &= lanes - 1) {
      const unsigned bank = 1u << request.address[std::countr_zero(lanes)] / 4 % 32;
      if ((banks & bank) != 0) break;
      banks |= bank;
    }
    if (lanes == 0) return 1;
  }
  const unsigned words = bytes > 4 ? bytes / 4 : 1;
  const auto pass = [&](unsigned lanes) {
    std::uint32_t taken[32] = {};     // by bank: the lanes whose words it serves, each word once
    std::uint8_t served_by[32] = {};  // how many those are
    unsigned most = 0;
    for (unsigned w = 0; w < words; ++w) {
      for (unsigned left = lanes; left != 0; left &= left - 1) {
        const unsigned lane = unsigned(std::countr_zero(left));
        const std::uint32_t first =
            request.address[lane] / 4;  // aligned: of an access, word w lies in certain banks only
        std::uint32_t& others = taken[(first + w) % 32];
        bool served = false;
        for (unsigned o = others; o != 0 && !served; o &= o - 1) {
          served = request.address[std::countr_zero(o)] / 4 == first;
        }
        if (served) continue;
        others |= 1u << lane;
        most = std::max(most, unsigned(++served_by[(first + w) % 32]));
      }
    }
    return most;
  };
  const auto pairs = [&](unsigned lanes, unsigned distance) {
    for (unsigned left = lanes; left != 0; left &= left - 1) {
      const unsigned lane = unsigned(std::countr_zero(left)), other = lane ^ distance;
      if ((lanes >> other & 1) != 0 && request.address[lane] != request.address[other]) return false;
    }
    return true;
  };
  const auto join = [&](unsigned lanes) { return pairs(lanes, 1) || pairs(lanes, 2); };
  if (words == 1) return pass(request.lanes);
  if (words == 2) {
    if (join(request.lanes)) return pass(request.lanes);
    return pass(request.lanes & 0xffff) + pass(request.lanes & 0xffff0000);
  }
  unsigned total = 0;
  for (unsigned half : {request.lanes & 0xffffu, request.lanes & 0xffff0000u}) {
    total += join(half) ? pass(half) : pass(half & 0x00ff00ff) + pass(half & 0xff00ff00);
  }
  return total;
}

unsigned sectors(const Request& request, unsigned bytes) {
  std::uint32_t seen[2 * lanes_per_warp];
  unsigned n = 0;
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    if ((request.lanes >> lane & 1) == 0) continue;
    for (std::uint32_t s = request.address[lane] / 32; s <= (request.address[lane] + bytes - 1) / 32; ++s) {
      if (n != 0 && seen[n - 1] == s) continue;
      if (std::find(seen, seen + n, s) == seen + n) seen[n++] = s;
    }
  }
  return n;
}

unsigned most_at_one_address(const Request& request) {
  unsigned most = 0;
  for (unsigned left = request.lanes; left != 0;) {
    const std::uint32_t address = request.address[std::countr_zero(left)];
    unsigned same = 0;
    for (unsigned lanes = left; lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      if (request.address[lane] != address) continue;
      ++same;
      left &= ~(1u << lane);
    }
    most = std::max(most, same);
  }
  return most;
}

namespace {

struct Instruction;

/// The requests since the last barrier: most often one.
struct OfWarp {
  Request first{};  ///< of no lanes: there is none yet
  Instruction* instruction = nullptr;
  std::unique_ptr<Request[]> later;
  std::uint32_t size = 0, capacity = 0;      ///< of `later`
  std::uint32_t times[lanes_per_warp] = {};  ///< a lane is among the first so many of `later`
};

struct Instruction {
  Code code = 0;
  Space space;
  Way way;
  unsigned bytes;
  std::uint64_t key = 0;
  OfWarp warps[max_warps];
  Request counted{};  ///< the last one that was counted
  unsigned its_wavefronts = 0;
};

/// Of a loop that goes on and on without a barrier, so many requests are counted.
constexpr std::uint32_t most_requests = 1u << 18;

constexpr std::size_t cache_size = 4096;
Instruction* cache[cache_size];
std::unordered_map<std::uint64_t, Instruction> instructions;
std::vector<OfWarp*> active;  // with requests since the last barrier

Instruction& instruction_of(Code code, unsigned bytes, Space space, Way way) {
  // The same instruction may reach shared memory through one pointer and global memory through another.
  const std::uint64_t key = key_of(code, bytes, space, way, 0);
  Instruction*& cached = cache[(code ^ key >> 25 ^ unsigned(space)) % cache_size];
  if (cached != nullptr && cached->key == key) [[likely]]
    return *cached;
  Instruction& found = instructions[key];
  found.key = key;
  found.code = code;
  found.space = space;
  found.way = way;
  found.bytes = bytes;
  cached = &found;
  return found;
}

[[gnu::cold, gnu::noinline]] void grow(OfWarp& of_warp) {
  const std::uint32_t capacity = std::max(2u, of_warp.capacity * 2);
  std::unique_ptr<Request[]> larger(new Request[capacity]);
  std::copy_n(of_warp.later.get(), of_warp.size, larger.get());
  of_warp.later = std::move(larger);
  of_warp.capacity = capacity;
}

/// Whether all lanes take part in both, at the same distances and in the same banks.
bool same_banks(const Request& a, const Request& b) {
  const std::uint32_t apart = a.address[0] - b.address[0];
  if ((a.lanes & b.lanes) != ~0u || apart % 128 != 0) return false;
  std::uint32_t others = 0;
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) others |= a.address[lane] - b.address[lane] - apart;
  return others == 0;
}

void finish(Instruction& instruction, const Request& request, unsigned warp, unsigned time) {
  const unsigned lanes = unsigned(std::popcount(request.lanes)), way = unsigned(instruction.way);
  if (instruction.way == Way::atomic) {
    if (instruction.space == Space::shared) {
      ++totals().shared_requests[way];
    } else {
      const unsigned actual = sectors(request, instruction.bytes);
      ++totals().global_requests[way];
      totals().global_sectors[way] += actual;
      totals().global_ideal[way] += std::min(actual, (lanes * instruction.bytes + 31) / 32);
    }
    add_cost(instruction.code, instruction.space, instruction.way, lanes, most_at_one_address(request), 1);
  } else if (instruction.space == Space::shared) {
    if (!same_banks(request, instruction.counted)) {
      instruction.counted = request;
      instruction.its_wavefronts = wavefronts(request, instruction.bytes);
    }
    const unsigned actual = instruction.its_wavefronts;
    const unsigned ideal = (lanes * std::max(4u, instruction.bytes) + 127) / 128;
    ++totals().shared_requests[way];
    totals().shared_wavefronts[way] += actual;
    totals().shared_ideal[way] += std::min(ideal, actual);
    add_cost(instruction.code, Space::shared, instruction.way, lanes, actual, std::min(ideal, actual));
    if (actual > ideal && tracing) {
      trace_conflict(instruction.code, instruction.bytes, instruction.way, warp, time, actual, ideal);
    }
  } else {
    const unsigned actual = sectors(request, instruction.bytes);
    const unsigned ideal = (lanes * instruction.bytes + 31) / 32;
    ++totals().global_requests[way];
    totals().global_sectors[way] += actual;
    totals().global_ideal[way] += std::min(ideal, actual);
    add_cost(instruction.code, Space::global, instruction.way, lanes, actual, std::min(ideal, actual));
  }
}

}  // namespace

LastRequest last_requests[last_count];

void add_seldom(Code code, unsigned thread, std::uint32_t address, unsigned bytes, Space space, Way way) {
  const unsigned warp = thread / lanes_per_warp, lane = thread % lanes_per_warp;
  Instruction& instruction = instruction_of(code, bytes, space, way);
  OfWarp& of_warp = instruction.warps[warp];
  of_warp.instruction = &instruction;
  last_requests[place_of(code, bytes, space)] = {key_of(code, bytes, space, way, warp), &of_warp.first};
  Request* request = &of_warp.first;
  if (request->lanes == 0) {
    active.push_back(&of_warp);
  } else if ((request->lanes >> lane & 1) != 0) {
    const std::uint32_t time = of_warp.times[lane];
    if (time == of_warp.size) {
      if (time == most_requests) return;
      if (of_warp.size == of_warp.capacity) grow(of_warp);
      of_warp.later[of_warp.size++].lanes = 0;
    }
    of_warp.times[lane] = time + 1;
    request = &of_warp.later[time];
  }
  request->lanes |= 1u << lane;
  request->address[lane] = address;
}

void finish_requests() {
  for (OfWarp* of_warp : active) {
    const unsigned warp = unsigned(of_warp - of_warp->instruction->warps);
    finish(*of_warp->instruction, of_warp->first, warp, 0);
    of_warp->first.lanes = 0;
    if (of_warp->size == 0) continue;
    for (std::uint32_t i = 0; i < of_warp->size; ++i) finish(*of_warp->instruction, of_warp->later[i], warp, i + 1);
    of_warp->size = 0;
    std::fill(std::begin(of_warp->times), std::end(of_warp->times), 0);
  }
  active.clear();
}

}  // namespace simt::check
