#include "requests.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "state.h"

namespace simt::check {
namespace {

/// A loop that goes on without a barrier is not counted beyond this.
constexpr std::uint32_t max_requests = 1u << 18;

/// Whether one request is the other, moved by a multiple of this many bytes. Both are without gaps.
bool is_moved(const Request& a, const Request& b, unsigned bytes) {
  const std::uint32_t distance = a.address[0] - b.address[0];
  if (a.lanes != b.lanes || distance % bytes != 0) return false;
  std::uint32_t differences = 0;
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) differences |= a.address[lane] - b.address[lane] - distance;
  return differences == 0;
}

}  // namespace

inline Requests::Instruction& Requests::instruction_of(Code code, unsigned bytes, Space space, Way way) {
  const std::uint64_t key = key_of(code, bytes, space, way);
  Instruction*& cached = cache_[(code ^ bytes << 8 ^ unsigned(space) << 4 ^ unsigned(way)) % slots];
  if (cached != nullptr && cached->key == key) [[likely]]
    return *cached;
  Instruction& instruction = instructions_[key];
  instruction.key = key;
  instruction.code = code;
  instruction.space = space;
  instruction.way = way;
  instruction.bytes = bytes;
  instruction.cost = &state().counts.cost_of({code, space, way});
  cached = &instruction;
  return instruction;
}

/// Not to multiples of a page: the lanes' parts would have places in few of the cache's sets.
[[gnu::cold, gnu::noinline]] void Requests::OfWarp::grow() {
  const std::uint32_t room = (room_ + 4) * 2;
  std::unique_ptr<std::uint32_t[]> larger(new std::uint32_t[lanes_per_warp * room]);
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    std::copy_n(later_.get() + lane * room_, times_[lane], larger.get() + lane * room);
  }
  later_ = std::move(larger);
  room_ = room;
}

/// How many requests there are after the first.
std::uint32_t Requests::OfWarp::count_later() const {
  return room_ == 0 ? 0 : *std::max_element(std::begin(times_), std::end(times_));
}

Request Requests::OfWarp::first() const {
  Request request{};
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) request.address[lane] = first_[lane] - 1;
  unsigned missing = 0;
  for (const std::uint32_t address : first_) missing += address == none;
  if (missing == 0) {  // as is usual
    request.lanes = ~0u;
  } else {
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) request.lanes |= unsigned(first_[lane] != none) << lane;
  }
  return request;
}

/// The request after the first with this number. `in_all`: how many of these all lanes take part in.
Request Requests::OfWarp::later(std::uint32_t time, std::uint32_t in_all) const {
  Request request{};
  if (time < in_all) {
    request.lanes = ~0u;
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane) request.address[lane] = later_[lane * room_ + time];
    return request;
  }
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
    const bool takes_part = time < times_[lane];
    request.lanes |= unsigned(takes_part) << lane;
    if (takes_part) request.address[lane] = later_[lane * room_ + time];
  }
  return request;
}

/// `later`: how many requests there were after the first.
void Requests::OfWarp::clear(std::uint32_t later) {
  is_active_ = false;
  forget();
  std::fill(std::begin(first_), std::end(first_), none);
  if (later != 0) std::fill(std::begin(times_), std::end(times_), 0);
}

const RequestCost& Requests::Instruction::count(const Request& request) {
  constexpr unsigned bank_bytes = 4, sector_bytes = 32;  // moved by whole banks, words that share one still do
  if (is_moved(request, counted, space == Space::shared ? bank_bytes : sector_bytes)) return cost_of_counted;
  counted = request;
  if (space == Space::global) {
    cost_of_counted.sectors = sectors(request, bytes);
    cost_of_counted.used_bytes = used_bytes(request, bytes);
  } else if (way != Way::atomic) {
    cost_of_counted.wavefronts = wavefronts(request, bytes);
  }
  if (way == Way::atomic) cost_of_counted.turns = turns_of_atomics(request);
  return cost_of_counted;
}

void Requests::finish(Instruction& instruction, Request& request, unsigned warp, unsigned time) {
  CheckState& all = state();
  LaunchCounts& launch = all.counts.launch();
  close_gaps(request);
  const RequestCost& counted = instruction.count(request);
  const unsigned lanes = unsigned(std::popcount(request.lanes)), way = unsigned(instruction.way);
  const bool is_atomic = instruction.way == Way::atomic;
  Cost cost{.requests = 1, .lanes = lanes};
  if (instruction.space == Space::global) {
    cost.actual = counted.sectors;
    cost.ideal = std::min<std::uint64_t>(cost.actual, (lanes * instruction.bytes + 31) / 32);
    ++launch.global_requests[way];
    launch.global_sectors[way] += cost.actual;
    launch.global_ideal[way] += cost.ideal;
    launch.global_bytes[way] += counted.used_bytes;
  } else {
    ++launch.shared_requests[way];
    if (!is_atomic) {
      const unsigned ideal = (lanes * std::max(4u, instruction.bytes) + 127) / 128;
      cost.actual = counted.wavefronts;
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
    cost.actual = counted.turns;
    cost.ideal = 1;
  }
  *instruction.cost += cost;
}

Requests::OfWarp& Requests::add(Code code, std::uintptr_t address, unsigned thread, unsigned bytes, Space space,
                                Way way) {
  const unsigned warp = thread / lanes_per_warp, lane = thread % lanes_per_warp;
  Instruction& instruction = instruction_of(code, bytes, space, way);
  OfWarp& of_warp = instruction.warps[warp];
  if (!of_warp.is_active_) {
    of_warp.is_active_ = true;
    of_warp.instruction_ = &instruction;
    active_.push_back(&of_warp);
  }
  const auto add = [&] { return bytes == 1 ? of_warp.add<1>(lane, address) : of_warp.add<4>(lane, address); };
  if (!add() && of_warp.times_[lane] < max_requests) {
    of_warp.grow();
    add();
  }
  return of_warp;
}

std::vector<Requests::Execution> Requests::executions_at(std::uintptr_t address, Space space, unsigned thread) const {
  const unsigned warp = thread / lanes_per_warp, lane = thread % lanes_per_warp;
  std::vector<Execution> found;
  for (const OfWarp* const of_warp : active_) {
    const Instruction& instruction = *of_warp->instruction_;
    if (of_warp != &instruction.warps[warp] || instruction.space != space) continue;
    if (instruction.way == Way::atomic) continue;  // threads may have one element
    std::uint32_t round = of_warp->times_[lane];
    while (round > 0 && of_warp->later_[lane * of_warp->room_ + round - 1] != std::uint32_t(address)) --round;
    if (round > 0 || of_warp->has_first(lane, address)) found.push_back({instruction.code, round});
  }
  return found;
}

void Requests::finish() {
  forget_uncounted();
  std::uint64_t requests[max_warps] = {}, most = 0;
  for (OfWarp* const of_warp : active_) {
    Instruction& instruction = *of_warp->instruction_;
    const unsigned warp = unsigned(of_warp - instruction.warps);
    const std::uint32_t count = of_warp->count_later();
    most = std::max(most, requests[warp] += 1 + count);
    Request first = of_warp->first();
    finish(instruction, first, warp, 0);
    const std::uint32_t in_all = count == 0 ? 0 : *std::ranges::min_element(of_warp->times_);
    for (std::uint32_t time = 0; time < count; ++time) {
      Request request = of_warp->later(time, in_all);
      finish(instruction, request, warp, time + 1);
    }
    of_warp->clear(count);
  }
  active_.clear();
  span_ += most;
}

void Requests::OfWarp::drop(unsigned lane) {
  constexpr std::uint32_t room = 32;
  if (room_ == 0) {
    room_ = room;
    later_ = std::make_unique<std::uint32_t[]>(lanes_per_warp * room);
  }
  first_[lane] = ~none;
  times_[lane] = 0;
}

Requests::OfWarp& Requests::uncounted(std::uint64_t& key, unsigned lane) {
  if (key == 0 || keys_of_uncounted_.empty() || keys_of_uncounted_.back() != &key) keys_of_uncounted_.push_back(&key);
  uncounted_.drop(lane);
  return uncounted_;
}

void Requests::forget_uncounted() {
  for (std::uint64_t* const key : keys_of_uncounted_) *key = 0;
  keys_of_uncounted_.clear();
}

void Requests::forget() {
  forget_uncounted();
  for (OfWarp* const of_warp : active_) of_warp->forget();
}

void Requests::forget(unsigned warp) {
  forget_uncounted();
  for (OfWarp* const of_warp : active_) {
    if (of_warp == &of_warp->instruction_->warps[warp]) of_warp->forget();
  }
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
