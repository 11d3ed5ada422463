#include "shuffles.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <string>

#include "../src/execution/failure.h"
#include "../src/execution/warp.h"
#include "state.h"

namespace simt::check {
namespace {

/// Whether `value` is the sum of a and b or the like, all taken as of type T.
template <class T, class Bits>
bool is_made_of(Bits value, Bits a, Bits b) {
  const T x = std::bit_cast<T>(a), y = std::bit_cast<T>(b);
  for (const T result : {T(x + y), T(x - y), T(y - x), std::max(x, y), std::min(x, y)}) {
    if (std::bit_cast<Bits>(result) == value) return true;
  }
  return false;
}

template <class Bits, class Float>
bool is_made_of_bits(Bits value, Bits a, Bits b) {
  return value == (a ^ b) || value == (a | b) || is_made_of<Bits>(value, a, b) || is_made_of<Float>(value, a, b);
}

}  // namespace

bool Shuffles::follows(std::uint64_t value, const Taken& taken) {
  const auto follows_as = [&]<class Bits, class Float>(Bits v, Bits own, Bits other, Float) {
    if (v == own) return taken.is_own_undefined;
    if (v == other) return taken.is_other_undefined;
    return is_made_of_bits<Bits, Float>(v, own, other);
  };
  const bool are_words = (value | taken.own) >> 32 == 0;  // what a shuffle of 4 bytes gets has zeros above them
  return are_words ? follows_as(std::uint32_t(value), std::uint32_t(taken.own), std::uint32_t(taken.other), 0.0f)
                   : follows_as(value, taken.own, taken.other, 0.0);
}

void Shuffles::meet(const Shuffle& shuffle) {
  unsigned& holders = lanes_[shuffle.warp];
  const bool are_all = shuffle.lanes == ~0u;
  if (are_all && holders == 0) return;  // as is usual

  unsigned missing = 0;  // lanes whose source does not take part
  for_each_lane(shuffle.lanes,
                [&](int lane) { missing |= unsigned((shuffle.lanes >> shuffle.sources[lane] & 1) == 0) << lane; });
  if (missing == 0 && (holders & shuffle.lanes) == 0) return;
  const OfWarp before = taken_[shuffle.warp];
  unsigned undefined = 0;  // lanes that offer what follows from an undefined value
  for_each_lane(holders & shuffle.lanes, [&](int lane) {
    undefined |= unsigned(follows(shuffle.values[lane], before[std::size_t(lane)])) << lane;
  });
  for_each_lane(shuffle.lanes, [&](int lane) {
    const int source = shuffle.sources[lane];
    const bool is_missing = (missing >> lane & 1) != 0, is_own_undefined = (undefined >> lane & 1) != 0;
    const bool is_other_undefined = is_missing || (undefined >> source & 1) != 0;
    holders &= ~(1u << lane);
    if (!is_own_undefined && !is_other_undefined) return;
    holders |= 1u << lane;
    const Origin here{shuffle.site, shuffle.name, shuffle.mask, lane, source};
    taken_[shuffle.warp][std::size_t(lane)] = {.own = shuffle.values[lane],
                                               .other = is_missing ? shuffle.undefined : shuffle.values[source],
                                               .is_own_undefined = is_own_undefined,
                                               .is_other_undefined = is_other_undefined,
                                               .origin = is_own_undefined ? before[std::size_t(lane)].origin
                                                         : is_missing     ? here
                                                                          : before[std::size_t(source)].origin};
  });
  any_ |= holders != 0;
}

void Shuffles::stored(const Access& access, std::uint64_t value) {
  if (access.bytes < 4 || !has_undefined(access.thread)) return;
  const Taken& taken = taken_[access.thread / lanes_per_warp][access.thread % lanes_per_warp];
  if (follows(value, taken)) report(taken.origin, access.thread);
}

void Shuffles::report(const Origin& origin, unsigned thread) {
  CheckState& all = state();
  const unsigned first = thread / lanes_per_warp * lanes_per_warp;
  const bool has_exited = (origin.mask >> origin.source & 1) != 0;
  Fact fact = all.running.by(first + unsigned(origin.lane));
  fact.place = Place::of(origin.site);
  all.findings.add({.kind = "invalid-warp-mask",
                    .why = has_exited ? "lane-exited" : "lane-not-in-mask",
                    .facts = {std::move(fact)},
                    .details = {.all = {{"primitive", origin.name},
                                        {"source", std::uint64_t(origin.source)},
                                        {"mask", std::uint64_t(origin.mask)},
                                        {"stores", all.running.index_of_thread(thread)}}}});
}

void Shuffles::forget() {
  if (!any_) return;
  any_ = false;
  for (unsigned& lanes : lanes_) lanes = 0;
}

}  // namespace simt::check
