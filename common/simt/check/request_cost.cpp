#include "request_cost.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace simt::check {
namespace {

/// Whether all lanes take part and access neighbouring words, as is usual: then the banks all differ.
bool accesses_neighbours(const Request& request) {
  if (request.lanes != ~0u) return false;
  std::uint32_t differences = 0;
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    differences |= (request.address[lane] / 4) ^ (request.address[0] / 4 + lane);
  }
  return differences == 0;
}

/// Whether no two lanes access different words of one bank.
bool have_no_conflict(const Request& request) {
  std::uint32_t words[32];
  unsigned banks = 0;
  for (unsigned lanes = request.lanes; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t word = request.address[std::countr_zero(lanes)] / 4;
    const unsigned bank = 1u << word % 32;
    if ((banks & bank) != 0 && words[word % 32] != word) return false;
    banks |= bank;
    words[word % 32] = word;
  }
  return true;
}

/// The passes for these lanes, each of which accesses this many words.
unsigned passes(const Request& request, unsigned words, unsigned lanes) {
  std::uint32_t served_in[32] = {};  // by bank: the lanes whose words it serves, each word once
  std::uint8_t served_by[32] = {};   // how many those are
  unsigned most = 0;
  for (unsigned w = 0; w < words; ++w) {
    for (unsigned left = lanes; left != 0; left &= left - 1) {
      const unsigned lane = unsigned(std::countr_zero(left));
      const std::uint32_t first = request.address[lane] / 4;  // aligned: word w of an access lies in certain banks only
      std::uint32_t& others = served_in[(first + w) % 32];
      bool is_served = false;
      for (unsigned o = others; o != 0 && !is_served; o &= o - 1) {
        is_served = request.address[std::countr_zero(o)] / 4 == first;
      }
      if (is_served) continue;
      others |= 1u << lane;
      most = std::max(most, unsigned(++served_by[(first + w) % 32]));
    }
  }
  return most;
}

/// Whether lanes at this distance have the same address wherever both are active.
bool pairs_agree(const Request& request, unsigned lanes, unsigned distance) {
  for (unsigned left = lanes; left != 0; left &= left - 1) {
    const unsigned lane = unsigned(std::countr_zero(left)), other = lane ^ distance;
    if ((lanes >> other & 1) != 0 && request.address[lane] != request.address[other]) return false;
  }
  return true;
}

bool are_served_together(const Request& request, unsigned lanes) {
  return pairs_agree(request, lanes, 1) || pairs_agree(request, lanes, 2);
}

/// A request of all lanes that touches the same memory.
Request of_all_lanes(Request request) {
  close_gaps(request);
  request.lanes = ~0u;
  return request;
}

/// How many different numbers there are, if none is smaller than the one before it; otherwise 0.
template <class Number>
unsigned count_increasing(const std::uint32_t (&addresses)[lanes_per_warp], Number&& number) {
  unsigned changes = 0, decreases = 0;
  for (unsigned lane = 1; lane < lanes_per_warp; ++lane) {
    changes += number(addresses[lane]) != number(addresses[lane - 1]);
    decreases += addresses[lane] < addresses[lane - 1];
  }
  return decreases == 0 ? changes + 1 : 0;
}

}  // namespace

void close_gaps(Request& request) {
  if (request.lanes == ~0u) return;
  std::uint32_t address = request.address[std::countr_zero(request.lanes)];
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    if ((request.lanes >> lane & 1) != 0) address = request.address[lane];
    request.address[lane] = address;
  }
}

unsigned wavefronts(const Request& request, unsigned bytes) {
  if (bytes <= 4 && (accesses_neighbours(request) || have_no_conflict(request))) return 1;
  const unsigned words = bytes > 4 ? bytes / 4 : 1;
  const auto passes_of = [&](unsigned lanes) { return passes(request, words, request.lanes & lanes); };
  if (words == 1) return passes_of(~0u);
  if (words == 2) {
    return are_served_together(request, request.lanes) ? passes_of(~0u) : passes_of(0xffff) + passes_of(0xffff0000);
  }
  unsigned total = 0;
  for (unsigned half : {0xffffu, 0xffff0000u}) {
    total += are_served_together(request, request.lanes & half)
                 ? passes_of(half)
                 : passes_of(half & 0x00ff00ff) + passes_of(half & 0xff00ff00);
  }
  return total;
}

unsigned sectors(const Request& request, unsigned bytes) {
  if (request.lanes != ~0u) return sectors(of_all_lanes(request), bytes);
  std::uint32_t misaligned = 0;
  for (const std::uint32_t address : request.address) misaligned |= address & (bytes - 1);
  if (misaligned == 0) {  // as is usual: each access is in one sector
    const unsigned count = count_increasing(request.address, [](std::uint32_t address) { return address / 32; });
    if (count != 0) return count;
  }
  std::uint32_t seen[2 * lanes_per_warp];
  std::uint32_t highest = 0;
  unsigned n = 0;
  for (unsigned lanes = request.lanes; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t address = request.address[std::countr_zero(lanes)];
    for (std::uint32_t s = address / 32; s <= (address + bytes - 1) / 32; ++s) {
      // They usually increase: then it is the last one, or a new one.
      if (n != 0 && s <= highest && (seen[n - 1] == s || std::find(seen, seen + n, s) != seen + n)) continue;
      seen[n++] = s;
      highest = std::max(highest, s);
    }
  }
  return n;
}

unsigned used_bytes(const Request& request, unsigned bytes) {
  if (request.lanes != ~0u) return used_bytes(of_all_lanes(request), bytes);
  const unsigned count = count_increasing(request.address, [](std::uint32_t address) { return address; });
  if (count != 0) return count * bytes;  // as is usual
  std::uint32_t addresses[lanes_per_warp];
  std::copy_n(request.address, lanes_per_warp, addresses);
  const auto [lowest, highest] = std::ranges::minmax(addresses);
  if (highest - lowest < 256 && bytes % 4 == 0) {
    std::uint64_t words = 0;  // aligned ones
    for (const std::uint32_t address : addresses) words |= std::uint64_t(1) << (address - lowest) / 4;
    return unsigned(std::popcount(words)) * bytes;
  }
  std::sort(std::begin(addresses), std::end(addresses));
  return unsigned(std::unique(std::begin(addresses), std::end(addresses)) - addresses) * bytes;
}

unsigned turns_of_atomics(const Request& request) {
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

}  // namespace simt::check
