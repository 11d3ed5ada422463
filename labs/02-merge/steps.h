// The table of steps of lab 02: one line per step. Every tool reads it.
#pragma once

#include "merge_sort.h"
#include "step/table.h"

namespace merge_sort {

inline constexpr lab::LabTraits traits = {.name = "02-merge"};

// clang-format off: one fact per line reads better than filled lines.
inline constexpr lab::Step steps[] = {
    {.number = 1, .name = "thread", .idea = "one thread per merge", .lines = {.own = 23, .given = 57},
     .stable = true, .max_n = 1 << 24,
     .growth = lab::Growth::serial,
     .budget = {.n = 16384, .sectors = 4.5, .bytes = 1650, .span = 20000, .work = 2200},
     .function = lab::Sort{.u32 = sort_thread<std::uint32_t>, .u64 = sort_thread<std::uint64_t>,
                           .i32 = sort_thread<std::int32_t>, .f32 = sort_thread<float>,
                           .pairs = sort_thread<std::uint32_t, std::uint32_t>}},
    {.number = 2, .name = "block", .idea = "ranks, one block per merge", .lines = {.own = 23, .given = 115},
     .picture = {.is_in_report = true},
     .stable = true,
     .budget = {.n = 16384, .conflicts = 1.4, .sectors = 1.2, .bytes = 38, .barriers = 12, .span = 400, .work = 1300},
     .function = lab::Sort{.u32 = sort_block<std::uint32_t>, .u64 = sort_block<std::uint64_t>,
                           .i32 = sort_block<std::int32_t>, .f32 = sort_block<float>,
                           .pairs = sort_block<std::uint32_t, std::uint32_t>}},
    {.number = 3, .name = "splitters", .idea = "many blocks per merge", .lines = {.own = 32, .given = 77},
     .picture = {.n = 4096, .arrays = "global", .launches = {1, 2},
                 .places = {{{0, 3}, {254, 257}, {510, 513}, {766, 769}}}},
     .uses = {"block"}, .stable = true,
     .budget = {.n = 16384, .conflicts = 1.4, .sectors = 1.25, .bytes = 50, .barriers = 3, .span = 150, .work = 1200},
     .function = lab::Sort{.u32 = sort_splitters<std::uint32_t>, .u64 = sort_splitters<std::uint64_t>,
                           .i32 = sort_splitters<std::int32_t>, .f32 = sort_splitters<float>,
                           .pairs = sort_splitters<std::uint32_t, std::uint32_t>}},
    {.number = 4, .name = "path", .idea = "merge path", .lines = {.own = 64, .given = 134},
     .picture = {.n = 34},
     .stable = true, .threads = 256,
     .budget = {.n = 16384, .conflicts = 2.2, .sectors = 1.15, .bytes = 28, .barriers = 8.5, .span = 200, .work = 400},
     .function = lab::Sort{.u32 = sort_path<std::uint32_t>, .u64 = sort_path<std::uint64_t>,
                           .i32 = sort_path<std::int32_t>, .f32 = sort_path<float>,
                           .pairs = sort_path<std::uint32_t, std::uint32_t>}},
    {.number = 5, .name = "record", .idea = "four-way merges", .lines = {.own = 74, .given = 162},
     .record = true, .stable = true, .threads = 256,
     .budget = {.n = 65536, .blocks = 4, .conflicts = 2.1, .sectors = 1.12, .bytes = 18.5, .barriers = 8,
                .span = 100, .work = 380},
     .function = lab::Sort{.u32 = sort_record<std::uint32_t>, .u64 = sort_record<std::uint64_t>,
                           .i32 = sort_record<std::int32_t>, .f32 = sort_record<float>,
                           .pairs = sort_record<std::uint32_t, std::uint32_t>}},
};
// clang-format on

}  // namespace merge_sort
