// The table of steps of lab 03: one line per step. Every tool reads it.
#pragma once

#include "bitonic.h"
#include "step/table.h"

namespace bitonic {

inline constexpr lab::LabTraits traits = {.name = "03-bitonic"};

// clang-format off: one fact per line reads better than filled lines.
inline constexpr lab::Step steps[] = {
    {.number = 1, .name = "global", .idea = "one launch per stage", .lines = {.own = 18, .given = 68},
     .budget = {.n = 16384, .sectors = 1.7, .bytes = 1200, .span = 100, .work = 1500},
     .function = lab::Sort{.u32 = sort_global<std::uint32_t>, .u64 = sort_global<std::uint64_t>,
                           .i32 = sort_global<std::int32_t>, .f32 = sort_global<float>}},
    {.number = 2, .name = "shared", .idea = "a tile in shared memory", .lines = {.own = 25, .given = 63},
     .picture = {.is_in_report = true},
     .tile = tile_keys,
     .budget = {.n = 16384, .conflicts = 1.8, .sectors = 1.05, .bytes = 8.2, .barriers = 58, .span = 50, .work = 900},
     .function = lab::Sort{.u32 = sort_tiles<std::uint32_t>, .u64 = sort_tiles<std::uint64_t>,
                           .i32 = sort_tiles<std::int32_t>, .f32 = sort_tiles<float>,
                           .pairs = sort_tiles<std::uint32_t, std::uint32_t>}},
    {.number = 3, .name = "hybrid", .idea = "tiles, then global stages", .lines = {.own = 31, .given = 75},
     .picture = {.n = 4096, .arrays = "global", .launches = {3, 5},
                 .places = {{{0, 3}, {1024, 1027}, {3068, 3071}, {4092, 4095}}}},
     .uses = {"shared"},
     .budget = {.n = 16384, .conflicts = 1.7, .sectors = 1.05, .bytes = 123, .barriers = 8, .span = 100, .work = 1800},
     .function = lab::Sort{.u32 = sort_hybrid<std::uint32_t>, .u64 = sort_hybrid<std::uint64_t>,
                           .i32 = sort_hybrid<std::int32_t>, .f32 = sort_hybrid<float>,
                           .pairs = sort_hybrid<std::uint32_t, std::uint32_t>}},
    {.number = 4, .name = "record", .idea = "registers, shuffles, strided passes", .lines = {.own = 37, .given = 118},
     .picture = {.n = 32768, .arrays = "global", .launches = {3, 3},
                 .places = {{{0, 1}, {4096, 4097}, {8192, 8193}, {12288, 12289},
                             {20478, 20479}, {24574, 24575}, {28670, 28671}, {32766, 32767}}}},
     .record = true, .threads = record_threads,
     .budget = {.n = 65536, .conflicts = 1.1, .sectors = 1.05, .bytes = 58, .barriers = 2, .span = 100, .work = 400},
     .function = lab::Sort{.u32 = sort_record<std::uint32_t>, .u64 = sort_record<std::uint64_t>,
                           .i32 = sort_record<std::int32_t>, .f32 = sort_record<float>,
                           .pairs = sort_record<std::uint32_t, std::uint32_t>}},
    {.number = 5, .name = "segments", .idea = "a group of lanes per segment", .lines = {.own = 51, .given = 122},
     .picture = {.n = 64, .arrays = "global", .launches = {3, 3}, .places = {{{0, 15}}}},
     .record = true, .max_n = max_segmented_keys, .threads = 128,
     .budget = {.n = 16384, .conflicts = 1.1, .sectors = 1.3, .bytes = 12, .barriers = 2, .span = 200, .work = 300},
     .function = lab::Segments{sort_segments}},
    {.number = 5, .name = "segments-128", .idea = "four lanes per segment",
     .picture = {.n = 256, .places = {{{0, 15}, {128, 143}}}},
     .max_n = max_segmented_keys, .threads = 128,
     .budget = {.n = 16384, .conflicts = 1.1, .sectors = 1.05, .bytes = 8.2, .barriers = 2, .span = 50},
     .function = lab::EqualSegments<128>{sort_equal_segments}},
    {.number = 5, .name = "segments-1024", .idea = "a warp per segment", .max_n = max_segmented_keys, .threads = 128,
     .budget = {.n = 16384, .conflicts = 1.1, .sectors = 1.05, .bytes = 8.2, .barriers = 2, .span = 150, .work = 200},
     .function = lab::EqualSegments<1024>{sort_equal_segments}},
};
// clang-format on

}  // namespace bitonic
