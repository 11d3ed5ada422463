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
    std::uint32_t taken[32] = {};  // by bank: the lanes whose words it serves, each word once
    std::uint8_t served_by[32] = {};  // how many those are
    unsigned most = 0;
    for (unsigned w = 0; w < words; ++w) {
      for (unsigned left = lanes; left != 0; left &= left - 1) {
        const unsigned lane = unsigned(std::countr_zero(left));
        const std::uint32_t first = request.address[lane] / 4;  // aligned: of an access, word w lies in certain banks only
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

struct OfWarp {
  std::unique_ptr<Request[]> requests;
  std::uint32_t size = 0, capacity = 0;
  std::uint32_t count[lanes_per_warp] = {};
  const Instruction* instruction = nullptr;
};

struct Instruction {
  Code code = 0;
  Space space;
  Way way;
  unsigned bytes;
  std::uint64_t key = 0;
  OfWarp warps[max_warps];
};

/// Of a loop that goes on and on without a barrier, so many requests are counted.
constexpr std::uint32_t most_requests = 1u << 18;

/// Where the last warp that executed an instruction keeps its requests.
struct Last {
  std::uint64_t key = 0;  ///< the instruction's, and the warp
  OfWarp* of_warp = nullptr;
};

constexpr std::size_t cache_size = 4096;
Last last[cache_size];
Instruction* cache[cache_size];
std::unordered_map<std::uint64_t, Instruction> instructions;
std::vector<OfWarp*> active;  // with requests since the last barrier

Instruction& instruction_of(Code code, unsigned bytes, Space space, Way way) {
  // The same instruction may reach shared memory through one pointer and global memory through another.
  const std::uint64_t key = std::uint64_t(code) << 8 | bytes << 3 | unsigned(space) << 2 | unsigned(way);
  Instruction*& cached = cache[(code ^ key >> 20 ^ unsigned(space)) % cache_size];
  if (cached != nullptr && cached->key == key) [[likely]] return *cached;
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
  std::copy_n(of_warp.requests.get(), of_warp.size, larger.get());
  of_warp.requests = std::move(larger);
  of_warp.capacity = capacity;
}

void finish(const Instruction& instruction, const Request& request, unsigned warp, unsigned time) {
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
    const unsigned actual = wavefronts(request, instruction.bytes);
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

[[gnu::noinline]] void look_up(Last& hot, std::uint64_t key, Code code, unsigned bytes, Space space, Way way) {
  Instruction& instruction = instruction_of(code, bytes, space, way);
  hot = {key, &instruction.warps[key % max_warps]};
  hot.of_warp->instruction = &instruction;
}

[[gnu::noinline]] void begin_request(OfWarp& of_warp) {
  if (of_warp.size == 0) active.push_back(&of_warp);
  if (of_warp.size == of_warp.capacity) grow(of_warp);
  of_warp.requests[of_warp.size++].lanes = 0;
}

}  // namespace

void add_to_request(Code code, unsigned thread, std::uintptr_t address, unsigned bytes, Space space, Way way) {
  const unsigned warp = thread / lanes_per_warp, lane = thread % lanes_per_warp;
  const std::uint64_t key = (std::uint64_t(code) << 8 | bytes << 3 | unsigned(space) << 2 | unsigned(way)) << 5 | warp;
  Last& hot = last[(code ^ bytes << 8 ^ unsigned(space) << 4) % cache_size];
  if (hot.key != key) [[unlikely]] look_up(hot, key, code, bytes, space, way);
  OfWarp& of_warp = *hot.of_warp;
  const std::uint32_t time = of_warp.count[lane];
  if (time == of_warp.size) [[unlikely]] {
    if (time == most_requests) return;
    begin_request(of_warp);
  }
  of_warp.count[lane] = time + 1;
  Request& request = of_warp.requests[time];
  request.lanes |= 1u << lane;
  request.address[lane] = std::uint32_t(address);
}

void finish_requests() {
  for (OfWarp* of_warp : active) {
    const unsigned warp = unsigned(of_warp - of_warp->instruction->warps);
    for (std::uint32_t i = 0; i < of_warp->size; ++i) finish(*of_warp->instruction, of_warp->requests[i], warp, i);
    of_warp->size = 0;
    std::fill(std::begin(of_warp->count), std::end(of_warp->count), 0);
  }
  active.clear();
}

}  // namespace simt::check
