#include "warp.h"

#include <algorithm>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif

namespace simt {

const char* name_of(WarpOp op) {
  static constexpr const char* names[] = {
      "__syncwarp",        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
      "__all_sync",        "__any_sync",        "__uni_sync",        "__ballot_sync",     "__match_any_sync",
      "__match_all_sync",  "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync",
      "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync", "__activemask"};
  return names[int(op)];
}

#ifdef SIMT_CHECK
/// The number of the warp in its block.
static unsigned running_warp() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / lanes_per_warp;
}
#endif

namespace {

/// Gives each lane that has arrived a result.
template <class ValueOf>
void give(Warp& warp, unsigned lanes, ValueOf value_of) {
  for_each_lane(lanes, [&](int lane) { warp.result[lane] = value_of(lane); });
}

/// The lanes for which `holds` is true.
template <class Holds>
unsigned lanes_where(unsigned lanes, Holds holds) {
  unsigned held = 0;
  for_each_lane(lanes, [&](int lane) { held |= unsigned(holds(lane)) << lane; });
  return held;
}

/// Each lane gets the value of another one.
template <class SourceOf>
void shuffle_from(Warp& warp, const Rendezvous& group, SourceOf source_of) {
  // Reading a lane that does not take part gives an undefined value: a pattern makes the mistake visible.
  constexpr std::uint64_t undefined = 0xdeadbeefdeadbeefu;
  int sources[lanes_per_warp];
  give(warp, group.arrived, [&](int lane) {
    const int source = sources[lane] = source_of(lane);
    return (group.arrived >> source & 1) ? warp.value[source] : undefined;
  });
  SIMT_OBSERVE(check::shuffled(
                   {{group.site, name_of(group.op), running_warp(), group.mask, group.arrived, warp.value, warp.result},
                    sources,
                    undefined});)
}

void shuffle(Warp& warp, const Rendezvous& group) {
  const int width = group.width;
  const auto in_segment = [&](int lane) { return unsigned(lane & (width - 1)); };
  const auto delta = [&](int lane) { return unsigned(warp.argument[lane]); };
  switch (group.op) {
    case WarpOp::shuffle_up:
      return shuffle_from(warp, group,
                          [&](int lane) { return delta(lane) > in_segment(lane) ? lane : lane - int(delta(lane)); });
    case WarpOp::shuffle_down:
      return shuffle_from(warp, group, [&](int lane) {
        return delta(lane) >= unsigned(width) - in_segment(lane) ? lane : lane + int(delta(lane));
      });
    case WarpOp::shuffle_xor:
      return shuffle_from(warp, group, [&](int lane) {
        const int source = lane ^ warp.argument[lane];
        // CUDA: with a source in a later segment, a lane keeps its value.
        return source < 0 || source > (lane | (width - 1)) ? lane : source;
      });
    default:
      return shuffle_from(warp, group,
                          [&](int lane) { return (lane & ~(width - 1)) | (warp.argument[lane] & (width - 1)); });
  }
}

void vote(Warp& warp, const Rendezvous& group) {
  const unsigned lanes = group.arrived;
  const unsigned yes = lanes_where(lanes, [&](int lane) { return warp.value[lane] != 0; });
  const std::uint64_t result = group.op == WarpOp::all       ? yes == lanes
                               : group.op == WarpOp::any     ? yes != 0
                               : group.op == WarpOp::uniform ? yes == 0 || yes == lanes
                                                             : yes;
  give(warp, lanes, [&](int) { return result; });
}

void match_any(Warp& warp, unsigned lanes) {
  give(warp, lanes,
       [&](int lane) { return lanes_where(lanes, [&](int other) { return warp.value[other] == warp.value[lane]; }); });
}

void match_all(Warp& warp, const Rendezvous& group) {
  const std::uint64_t first = warp.value[std::countr_zero(group.arrived)];
  const bool equal = lanes_where(group.arrived, [&](int lane) { return warp.value[lane] == first; }) == group.arrived;
  give(warp, group.arrived, [&](int) { return equal ? group.mask : 0u; });
}

template <class Combine>
void reduce_by(Warp& warp, unsigned lanes, Combine combine) {
  std::uint32_t total = std::uint32_t(warp.value[std::countr_zero(lanes)]);
  for_each_lane(lanes & (lanes - 1), [&](int lane) { total = combine(total, std::uint32_t(warp.value[lane])); });
  give(warp, lanes, [&](int) { return total; });
}

void reduce(Warp& warp, const Rendezvous& group) {
  using Word = std::uint32_t;
  const auto by = [&](auto combine) { reduce_by(warp, group.arrived, combine); };
  switch (group.op) {
    case WarpOp::reduce_add:
      return by([](Word a, Word b) { return a + b; });
    case WarpOp::reduce_min:
      return by([](Word a, Word b) { return std::min(a, b); });
    case WarpOp::reduce_max:
      return by([](Word a, Word b) { return std::max(a, b); });
    case WarpOp::reduce_min_signed:
      return by([](Word a, Word b) { return Word(std::min(int(a), int(b))); });
    case WarpOp::reduce_max_signed:
      return by([](Word a, Word b) { return Word(std::max(int(a), int(b))); });
    case WarpOp::reduce_and:
      return by([](Word a, Word b) { return a & b; });
    case WarpOp::reduce_or:
      return by([](Word a, Word b) { return a | b; });
    default:
      return by([](Word a, Word b) { return a ^ b; });
  }
}

}  // namespace

void complete(Warp& warp, const Rendezvous& group) {
  if (group.op == WarpOp::sync) {
    SIMT_OBSERVE(check::lanes_synchronized(running_warp(), group.arrived, group.site);)
    return;
  }
  if (group.op <= WarpOp::shuffle_xor) return shuffle(warp, group);
  if (group.op <= WarpOp::ballot) {
    vote(warp, group);
  } else if (group.op == WarpOp::match_any) {
    match_any(warp, group.arrived);
  } else if (group.op == WarpOp::match_all) {
    match_all(warp, group);
  } else {  // never an active mask: see Worker::active_mask()
    reduce(warp, group);
  }
  SIMT_OBSERVE(check::exchanged({group.site, name_of(group.op), running_warp(), group.mask, group.arrived, warp.value,
                                 warp.result});)
}

}  // namespace simt
