// The table of steps of lab 06: one line per step. Every tool reads it.
#pragma once

#include "beyond.h"
#include "step/table.h"

namespace beyond {

inline constexpr lab::LabTraits traits = {.name = "06-beyond-memory"};

// clang-format off: one fact per line reads better than filled lines.
inline constexpr lab::Step steps[] = {
    {.number = 1, .name = "runs", .idea = "blocks sort tiles, the host merges them", .lines = {.own = 51, .given = 89},
     .picture = {.n = 12, .is_in_report = true},
     .min_device_bytes = fewest_device_bytes, .round_trips = 1, .threads = 64, .growth = lab::Growth::serial,
     .budget = {.n = 16384, .conflicts = 1.02, .sectors = 1.05, .bytes = 8.2, .barriers = 2060, .span = 2500,
                .work = 3000},
     .function = lab::SortHostMemory{sort_runs}},
    {.number = 2, .name = "overlap", .idea = "copies while other pieces are sorted", .lines = {.own = 12, .given = 31},
     .uses = {"runs"},
     .min_device_bytes = fewest_device_bytes, .round_trips = 1, .threads = 384, .growth = lab::Growth::serial,
     .budget = {.n = 16384, .span = 1000, .work = 700},
     .function = lab::SortHostMemory{sort_overlap}},
    {.number = 3, .name = "partition", .idea = "buckets that fit, nothing to merge", .lines = {.own = 69, .given = 210},
     .picture = {.launches = {0, 2}},
     .record = true, .min_device_bytes = fewest_device_bytes, .round_trips = 2,
     .budget = {.n = 65536, .conflicts = 1.6, .sectors = 1.04, .bytes = 58, .barriers = 5.4, .span = 900, .work = 800},
     .function = lab::SortHostMemory{sort_partition}},
    {.number = 4, .name = "many_gpus", .idea = "splitters, one exchange, sorted runs",
     .lines = {.own = 31, .given = 183},
     .min_device_bytes = fewest_device_bytes,
     .budget = {.n = 65536, .conflicts = 2.1, .sectors = 1.25, .bytes = 70, .barriers = 5, .span = 600, .work = 700},
     .function = lab::SortHostMemory{sort_many}},
};
// clang-format on

}  // namespace beyond
