// The table of steps of lab 04: one line per step, followed by its parts, which are tested and timed
// by themselves.
#pragma once

#include "counting.h"
#include "step/table.h"

namespace counting {

inline constexpr lab::LabTraits traits = {
    .name = "04-counting", .default_type = lab::KeyType::u8, .max_counted_keys = 537'000'000};

// clang-format off: one fact per line reads better than filled lines.
inline constexpr lab::Step steps[] = {
    {.number = 1, .name = "global", .idea = "counters in global memory", .lines = {.own = 23, .given = 45},
     .picture = {.input = "range:0:15"},
     .budget = {.n = 16384, .span = 300},
     .function = lab::Sort{.u8 = sort_global}},
    {.number = 2, .name = "shared", .idea = "counters in shared memory", .lines = {.own = 63, .given = 75},
     .picture = {.input = "range:0:15"},
     .budget = {.n = 16384, .span = 100},
     .function = lab::Sort{.u8 = sort_shared}},
    {.number = 2, .name = "histogram", .idea = "one histogram per block",
     .picture = {.input = "range:0:15"},
     .budget = {.n = 16384, .conflicts = 1.1, .sectors = 1.05, .bytes = 1.1, .barriers = 4, .span = 20},
     .function = lab::Histogram{histogram}},
    {.number = 2, .name = "hillis-steele", .idea = "scan in log n stages",
     .budget = {.n = 16384, .conflicts = 1.05, .sectors = 1.05, .bytes = 33, .barriers = 3, .span = 20},
     .function = lab::Scan{scan_hillis_steele}},
    {.number = 3, .name = "parallel", .idea = "every position finds its value", .lines = {.own = 48, .given = 52},
     .picture = {.input = "range:0:15", .arrays = "all", .launches = {2, 2}},
     .uses = {"histogram"},
     .budget = {.n = 16384, .conflicts = 1.1, .sectors = 1.05, .bytes = 3, .barriers = 6, .span = 100},
     .function = lab::Sort{.u8 = sort_parallel}},
    {.number = 3, .name = "blelloch", .idea = "scan with n additions",
     .picture = {.is_in_report = true},
     .budget = {.n = 16384, .conflicts = 1.02, .sectors = 1.05, .bytes = 33, .barriers = 6, .span = 50},
     .function = lab::Scan{scan_blelloch}},
    {.number = 4, .name = "range", .idea = "counters for the range only", .lines = {.own = 38, .given = 72},
     .picture = {.input = "range:0:15", .arrays = "all", .launches = {0, 1}},
     .uses = {"blelloch"}, .stable = true, .max_range = max_range,
     .budget = {.n = 16384, .conflicts = 1.1, .sectors = 1.1, .bytes = 8.5, .barriers = 6, .span = 50},
     .function = lab::Sort{.u8 = sort_range<std::uint8_t>, .u32 = sort_range<std::uint32_t>,
                           .i32 = sort_range<std::int32_t>}},
    {.number = 4, .name = "reduce", .idea = "smallest and largest key",
     .budget = {.n = 16384, .conflicts = 1.05, .sectors = 1.05, .bytes = 4.1, .barriers = 11, .span = 20},
     .function = lab::Reduce{reduce}},
    {.number = 5, .name = "stable", .idea = "values travel with their keys", .lines = {.own = 38, .given = 65},
     .picture = {.input = "range:0:15", .arrays = "global", .launches = {3, 3}},
     .uses = {"blelloch", "reduce"}, .stable = true, .max_range = max_range,
     .budget = {.n = 16384, .conflicts = 1.5, .sectors = 2.65, .bytes = 176, .barriers = 6.2, .span = 200, .work = 300},
     .function = lab::Sort{.pairs = sort_stable<std::uint32_t, std::uint32_t>}},
    {.number = 6, .name = "record", .idea = "as fast as the memory", .lines = {.own = 43, .given = 133},
     .picture = {.input = "range:0:15"},
     .record = true,
     .budget = {.n = 16384, .conflicts = 1.3, .sectors = 1.05, .bytes = 2.8, .barriers = 3, .span = 50},
     .function = lab::Sort{.u8 = sort_record}},
};
// clang-format on

}  // namespace counting
