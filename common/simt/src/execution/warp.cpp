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

void complete(Warp& warp, const Rendezvous& group) {
  const unsigned lanes = group.arrived;
  const auto all_lanes = [&](auto value_of) {
    for_each_lane(lanes, [&](int lane) { warp.result[lane] = value_of(lane); });
  };
  const auto reduce = [&](auto combine) {
    std::uint32_t total = std::uint32_t(warp.value[std::countr_zero(lanes)]);
    for_each_lane(lanes & (lanes - 1), [&](int lane) { total = combine(total, std::uint32_t(warp.value[lane])); });
    all_lanes([&](int) { return total; });
  };
  const auto lanes_where = [&](auto holds) {
    unsigned held = 0;
    for_each_lane(lanes, [&](int lane) { held |= unsigned(holds(lane)) << lane; });
    return held;
  };
  const int width = group.width;
  // Reading a lane that does not take part gives an undefined value: a pattern makes the mistake visible.
  constexpr std::uint64_t undefined = 0xdeadbeefdeadbeefu;
  const auto shuffle = [&](auto source_of) {
    int sources[lanes_per_warp];
    all_lanes([&](int lane) {
      const int source = sources[lane] = source_of(lane);
      return (lanes >> source & 1) ? warp.value[source] : undefined;
    });
    SIMT_OBSERVE(check::shuffled({group.site, name_of(group.op), running_warp(), group.mask, lanes, sources, warp.value,
                                  undefined});)
  };
  switch (group.op) {
    case WarpOp::sync:
      SIMT_OBSERVE(check::lanes_synchronized(running_warp(), lanes);)
      return;
    case WarpOp::shuffle:
      return shuffle([&](int lane) { return (lane & ~(width - 1)) | (warp.argument[lane] & (width - 1)); });
    case WarpOp::shuffle_up:
      return shuffle([&](int lane) {
        const unsigned delta = unsigned(warp.argument[lane]), in_segment = unsigned(lane & (width - 1));
        return delta > in_segment ? lane : lane - int(delta);
      });
    case WarpOp::shuffle_down:
      return shuffle([&](int lane) {
        const unsigned delta = unsigned(warp.argument[lane]), in_segment = unsigned(lane & (width - 1));
        return delta >= unsigned(width) - in_segment ? lane : lane + int(delta);
      });
    case WarpOp::shuffle_xor:
      return shuffle([&](int lane) {
        const int source = lane ^ warp.argument[lane];
        // CUDA: with a source in a later segment, a lane keeps its value.
        return source < 0 || source > (lane | (width - 1)) ? lane : source;
      });
    case WarpOp::all:
    case WarpOp::any:
    case WarpOp::uniform:
    case WarpOp::ballot: {
      const unsigned yes = lanes_where([&](int lane) { return warp.value[lane] != 0; });
      const std::uint64_t result = group.op == WarpOp::all       ? yes == lanes
                                   : group.op == WarpOp::any     ? yes != 0
                                   : group.op == WarpOp::uniform ? yes == 0 || yes == lanes
                                                                 : yes;
      return all_lanes([&](int) { return result; });
    }
    case WarpOp::match_any:
      return all_lanes(
          [&](int lane) { return lanes_where([&](int other) { return warp.value[other] == warp.value[lane]; }); });
    case WarpOp::match_all: {
      const std::uint64_t first = warp.value[std::countr_zero(lanes)];
      const bool equal = lanes_where([&](int lane) { return warp.value[lane] == first; }) == lanes;
      return all_lanes([&](int) { return equal ? group.mask : 0u; });
    }
    case WarpOp::reduce_add:
      return reduce([](std::uint32_t a, std::uint32_t b) { return a + b; });
    case WarpOp::reduce_min:
      return reduce([](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
    case WarpOp::reduce_max:
      return reduce([](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
    case WarpOp::reduce_min_signed:
      return reduce([](std::uint32_t a, std::uint32_t b) { return std::uint32_t(std::min(int(a), int(b))); });
    case WarpOp::reduce_max_signed:
      return reduce([](std::uint32_t a, std::uint32_t b) { return std::uint32_t(std::max(int(a), int(b))); });
    case WarpOp::reduce_and:
      return reduce([](std::uint32_t a, std::uint32_t b) { return a & b; });
    case WarpOp::reduce_or:
      return reduce([](std::uint32_t a, std::uint32_t b) { return a | b; });
    case WarpOp::reduce_xor:
      return reduce([](std::uint32_t a, std::uint32_t b) { return a ^ b; });
    case WarpOp::active_mask:
      return;  // never a complete group: see Worker::active_mask()
  }
}

}  // namespace simt
