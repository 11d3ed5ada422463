// The exchange in parts: what each GPU gets is divided once more, by more splitters of the same kind. While the runs of
// one part are merged, the next part is on its way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exchange.h"

namespace beyond {

/// n keys of an array, from `first` on.
struct Range {
  std::int64_t first = 0, n = 0;
};

/// Where keys that are sent at the same time are before and after. They are one part of each GPU's result, `result` that
/// of this GPU's. Each other member has an element for each GPU.
struct Part {
  std::vector<Range> sent;      ///< in the share, what that GPU gets
  std::vector<Range> received;  ///< in the memory for received keys, what that GPU sends
  std::vector<Range> runs;      ///< the keys of this part that the GPU has: our own in the share, others in `received`
  Range result;                 ///< in the result
};

/// How many keys all parts of this GPU's result have.
inline std::int64_t received_keys(const std::vector<Part>& parts) {
  std::int64_t n = 0;
  for (const Part& part : parts) n += part.result.n;
  return n;
}

/// NCCL copies 16 bytes at a time where they begin at multiples of 16 bytes at both ends, otherwise 4 bytes, at half the
/// speed. A run begins at any key of a share. Therefore units of this many keys are sent, with up to three keys before
/// and after the run that the receiver does not need, and received at a multiple of a unit.
inline constexpr std::int64_t unit = 4;

/// The units that have keys of a range.
inline Range whole_units(Range range) {
  const std::int64_t first = range.first - range.first % unit, end = range.first + range.n;
  return {first, range.n == 0 ? 0 : (end + unit - 1) / unit * unit - first};
}

/// The most keys that units take up in memory in which `keys` keys are received.
inline std::int64_t room_for(std::int64_t keys, int gpus, int parts) { return keys + 2 * (unit - 1) * gpus * parts; }

/// Into how many parts the exchange of n keys is divided. The merge of the last part is not hidden, which calls for many
/// parts. But NCCL takes 15 to 20 microseconds to begin one, so a GPU gets at least 2^25 keys in each, which takes some
/// 200 microseconds.
inline int parts_for(std::int64_t n, int gpus) {
  return int(std::clamp<std::int64_t>(std::min<std::int64_t>((n / gpus) >> 25, max_gpus / gpus), 1, 8));
}

/// Which part of GPU `to`'s result is sent at the same time as part `turn` of GPU 0's. Each GPU begins with another one.
/// Where a part consists of equal keys, which splitters divide by their index, it comes from one share. If all GPUs had
/// their parts in the same order, one of them would send to all others at that time, while the others wait.
inline int part_of(int turn, int to, int gpus, int parts) {
  return int((turn + std::int64_t(to) * parts / gpus) % parts);
}

/// What GPU `gpu` sends and gets, in the order in which it is sent. counts[(from * gpus + to) * parts + part]: how many
/// keys GPU `from` has for that part of GPU `to`.
inline std::vector<Part> plan_parts(const std::vector<std::int64_t>& counts, int gpus, int parts, int gpu) {
  std::vector<std::int64_t> begins(counts.size());  // in the share of `from`
  for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
    begins[i + 1] = (i + 1) % (gpus * parts) == 0 ? 0 : begins[i] + counts[i];
  }
  std::vector<Part> plan(parts);
  std::int64_t received = 0;
  for (int turn = 0; turn < parts; ++turn) {
    const auto place_of = [&](int from, int to) {
      return (std::int64_t(from) * gpus + to) * parts + part_of(turn, to, gpus, parts);
    };
    std::vector<std::int64_t> of_turn;
    for (int from = 0; from < gpus; ++from) {
      for (int to = 0; to < gpus; ++to) of_turn.push_back(counts[place_of(from, to)]);
    }
    const ExchangePlan exchange = plan_exchange(of_turn, gpus, gpu);
    const auto &sent = exchange.send_begins, &got = exchange.receive_begins;
    Part& p = plan[turn];
    p.result.n = exchange.received();
    for (int other = 0; other < gpus; ++other) {
      const Range run{begins[place_of(other, gpu)], got[other + 1] - got[other]},
          units = other == gpu ? Range{} : whole_units(run);
      p.sent.push_back(other == gpu ? Range{}
                                    : whole_units({begins[place_of(gpu, other)], sent[other + 1] - sent[other]}));
      p.received.push_back({received, units.n});
      p.runs.push_back(other == gpu ? run : Range{received + run.first - units.first, run.n});
      received += units.n;
    }
  }
  std::int64_t joined = 0;
  for (int part = 0; part < parts; ++part) {
    Range& result = plan[(part + parts - part_of(0, gpu, gpus, parts)) % parts].result;
    result.first = joined;
    joined += result.n;
  }
  return plan;
}

}  // namespace beyond
