// The table of steps of lab 01: one line per step. Every tool reads it.
#pragma once

#include "odd_even.h"
#include "step/table.h"

namespace odd_even {

inline constexpr lab::LabTraits traits = {.name = "01-odd-even"};

// clang-format off: one fact per line reads better than filled lines.
inline constexpr lab::Step steps[] = {
    {.number = 0, .name = "exchange", .idea = "one launch, one phase", .lines = {.own = 4, .given = 42},
     .stable = true,
     .budget = {.n = 16384, .sectors = 2.5, .bytes = 16, .span = 10},
     .function = lab::Exchange{{.u32 = exchange<std::uint32_t>, .u64 = exchange<std::uint64_t>,
                                .i32 = exchange<std::int32_t>, .f32 = exchange<float>}}},
    {.number = 1, .name = "global", .idea = "one launch per phase", .lines = {.own = 14, .given = 38},
     .stable = true, .max_n = max_n, .growth = lab::Growth::quadratic,
     .budget = {.n = 1024, .sectors = 2.5, .span = 10000, .work = 14000},
     .function = lab::Sort{.u32 = sort_global<std::uint32_t>, .u64 = sort_global<std::uint64_t>,
                           .i32 = sort_global<std::int32_t>, .f32 = sort_global<float>}},
    {.number = 2, .name = "halo", .idea = "many phases per launch", .lines = {.own = 19, .given = 64},
     .picture = {.is_in_report = true},
     .stable = true, .max_n = max_n, .growth = lab::Growth::quadratic,
     .budget = {.n = 1024, .conflicts = 2, .sectors = 1.1, .bytes = 44, .barriers = 264, .span = 10000, .work = 24000},
     .function = lab::Sort{.u32 = sort_halo<std::uint32_t>, .u64 = sort_halo<std::uint64_t>,
                           .i32 = sort_halo<std::int32_t>, .f32 = sort_halo<float>}},
    {.number = 3, .name = "rows", .idea = "a row in a warp's registers", .lines = {.own = 25, .given = 61},
     .record = true, .stable = true, .tile = row_keys,
     .budget = {.n = 16384, .sectors = 4.1, .bytes = 33, .span = 10},
     .function = lab::Sort{.u32 = sort_rows<std::uint32_t>, .u64 = sort_rows<std::uint64_t>,
                           .i32 = sort_rows<std::int32_t>, .f32 = sort_rows<float>}},
};
// clang-format on

}  // namespace odd_even
