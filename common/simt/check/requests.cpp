#include "requests.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "state.h"

namespace simt::check {
namespace {

/// A loop that goes on without a barrier is not counted beyond this.
constexpr std::uint32_t max_requests = 1u << 18;

/// Whether all lanes take part in both requests, at the same distances and in the same banks.
bool have_same_banks(const Request& a, const Request& b) {
  const std::uint32_t distance = a.address[0] - b.address[0];
  if ((a.lanes & b.lanes) != ~0u || distance % 128 != 0) return false;
  std::uint32_t differences = 0;
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) differences |= a.address[lane] - b.address[lane] - distance;
  return differences == 0;
}

}  // namespace

inline Requests::Instruction& Requests::instruction_of(Code code, unsigned bytes, Space space, Way way) {
  const std::uint64_t key = key_of(code, bytes, space, way, 0);
  Instruction*& cached = cache_[(code ^ key >> 25 ^ unsigned(space)) % slots];
  if (cached != nullptr && cached->key == key) [[likely]]
    return *cached;
  Instruction& instruction = instructions_[key];
  instruction.key = key;
  instruction.code = code;
  instruction.space = space;
  instruction.way = way;
  instruction.bytes = bytes;
  cached = &instruction;
  return instruction;
}

[[gnu::cold, gnu::noinline]] void Requests::OfWarp::grow() {
  capacity = std::max(2u, capacity * 2);
  std::unique_ptr<Request[]> larger(new Request[capacity]);
  std::copy_n(later.get(), size, larger.get());
  later = std::move(larger);
}

unsigned Requests::Instruction::count_wavefronts(const Request& request) {
  if (!have_same_banks(request, counted)) {
    counted = request;
    wavefronts_of_counted = wavefronts(request, bytes);
  }
  return wavefronts_of_counted;
}

void Requests::finish(Instruction& instruction, const Request& request, unsigned warp, unsigned time) {
  CheckState& all = state();
  LaunchCounts& launch = all.counts.launch();
  const unsigned lanes = unsigned(std::popcount(request.lanes)), way = unsigned(instruction.way);
  const bool is_atomic = instruction.way == Way::atomic;
  Cost cost{.requests = 1, .lanes = lanes};
  if (instruction.space == Space::global) {
    cost.actual = sectors(request, instruction.bytes);
    cost.ideal = std::min<std::uint64_t>(cost.actual, (lanes * instruction.bytes + 31) / 32);
    ++launch.global_requests[way];
    launch.global_sectors[way] += cost.actual;
    launch.global_ideal[way] += cost.ideal;
    launch.global_bytes[way] += used_bytes(request, instruction.bytes);
  } else {
    ++launch.shared_requests[way];
    if (!is_atomic) {
      const unsigned ideal = (lanes * std::max(4u, instruction.bytes) + 127) / 128;
      cost.actual = instruction.count_wavefronts(request);
      cost.ideal = std::min<std::uint64_t>(cost.actual, ideal);
      launch.shared_wavefronts[way] += cost.actual;
      launch.shared_ideal[way] += cost.ideal;
      if (cost.actual > ideal && all.trace.is_on()) {
        all.trace.conflict({.code = instruction.code,
                            .bytes = instruction.bytes,
                            .way = instruction.way,
                            .warp = warp,
                            .time = time,
                            .actual = unsigned(cost.actual),
                            .ideal = ideal});
      }
    }
  }
  if (is_atomic) {
    cost.actual = turns_of_atomics(request);
    cost.ideal = 1;
  }
  all.counts.add({instruction.code, instruction.space, instruction.way}, cost);
}

void Requests::add_in_general(Code code, std::uintptr_t address, unsigned thread, unsigned bytes, Space space,
                              Way way) {
  const unsigned warp = thread / lanes_per_warp, lane = thread % lanes_per_warp;
  Instruction& instruction = instruction_of(code, bytes, space, way);
  OfWarp& of_warp = instruction.warps[warp];
  of_warp.instruction = &instruction;
  latest_[slot_of(code, bytes, space)] = {key_of(code, bytes, space, way, warp), &of_warp};
  Request* request = &of_warp.first;
  if (request->lanes == 0) {
    active_.push_back(&of_warp);
  } else if ((request->lanes >> lane & 1) != 0) {
    const std::uint32_t time = of_warp.times[lane];
    if (time == of_warp.size) {
      if (time == max_requests) return;
      if (of_warp.size == of_warp.capacity) of_warp.grow();
      of_warp.later[of_warp.size++].lanes = 0;
    }
    of_warp.times[lane] = time + 1;
    request = &of_warp.later[time];
  }
  request->lanes |= 1u << lane;
  request->address[lane] = std::uint32_t(address);
}

std::vector<Requests::Execution> Requests::executions_at(std::uintptr_t address, Space space, unsigned thread) const {
  const unsigned warp = thread / lanes_per_warp, lane = thread % lanes_per_warp;
  const auto has_address = [&](const Request& request) {
    return (request.lanes >> lane & 1) != 0 && request.address[lane] == std::uint32_t(address);
  };
  std::vector<Execution> found;
  for (const OfWarp* const of_warp : active_) {
    const Instruction& instruction = *of_warp->instruction;
    if (of_warp != &instruction.warps[warp] || instruction.space != space) continue;
    if (instruction.way == Way::atomic) continue;  // threads may have one element
    std::uint32_t round = of_warp->size;
    while (round > 0 && !has_address(of_warp->later[round - 1])) --round;
    if (round > 0 || has_address(of_warp->first)) found.push_back({instruction.code, round});
  }
  return found;
}

void Requests::finish() {
  std::uint64_t requests[max_warps] = {}, most = 0;
  for (OfWarp* of_warp : active_) {
    Instruction& instruction = *of_warp->instruction;
    const unsigned warp = unsigned(of_warp - instruction.warps);
    most = std::max(most, requests[warp] += 1 + of_warp->size);
    finish(instruction, of_warp->first, warp, 0);
    of_warp->first.lanes = 0;
    if (of_warp->size == 0) continue;
    for (std::uint32_t i = 0; i < of_warp->size; ++i) finish(instruction, of_warp->later[i], warp, i + 1);
    of_warp->size = 0;
    std::fill(std::begin(of_warp->times), std::end(of_warp->times), 0);
  }
  active_.clear();
  span_ += most;
}

void Requests::begin_block() {
  finish();
  span_ = 0;
}

void Requests::end_block() {
  finish();
  std::uint64_t& span = state().counts.launch().span;
  span = std::max(span, span_);
}

}  // namespace simt::check
