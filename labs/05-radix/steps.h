// The table of steps of lab 05: one line per step. Every tool reads it.
#pragma once

#include "radix.h"
#include "step/table.h"

namespace radix {

inline constexpr lab::LabTraits traits = {.name = "05-radix"};

// clang-format off: one fact per line reads better than filled lines.
inline constexpr lab::Step steps[] = {
    {.number = 0, .name = "cpu", .idea = "the reference, on the host", .lines = {.own = 27, .given = 120},
     .stable = true, .on_host = true, .growth = lab::Growth::serial,
     .function = lab::Sort{.u8 = sort_reference<std::uint8_t>, .u16 = sort_reference<std::uint16_t>,
                           .u32 = sort_reference<std::uint32_t>, .u64 = sort_reference<std::uint64_t>,
                           .i32 = sort_reference<std::int32_t>, .i64 = sort_reference<std::int64_t>,
                           .f32 = sort_reference<float>, .f64 = sort_reference<double>,
                           .pairs = sort_reference<std::uint32_t, std::uint32_t>}},
    {.number = 0, .name = "strings", .idea = "strings by their letters, on the host",
     .on_host = true, .growth = lab::Growth::serial,
     .function = lab::Strings{sort_strings}},
    {.number = 1, .name = "host_move", .idea = "count there, move here", .lines = {.own = 42, .given = 80},
     .picture = {.input = "range:0:15", .arrays = "all", .launches = {0, 1}},
     .stable = true, .on_host = true, .growth = lab::Growth::serial,
     .budget = {.n = 16384, .conflicts = 1.1, .sectors = 1.3, .bytes = 22, .barriers = 3, .span = 60, .work = 100},
     .function = lab::Sort{.u8 = sort_host_move<std::uint8_t>, .u16 = sort_host_move<std::uint16_t>,
                           .u32 = sort_host_move<std::uint32_t>, .u64 = sort_host_move<std::uint64_t>,
                           .i32 = sort_host_move<std::int32_t>, .i64 = sort_host_move<std::int64_t>,
                           .f32 = sort_host_move<float>, .f64 = sort_host_move<double>,
                           .pairs = sort_host_move<std::uint32_t, std::uint32_t>}},
    {.number = 1, .name = "flip", .idea = "floats as integers of the same order",
     .budget = {.n = 16384, .sectors = 1.05, .bytes = 8.2, .span = 10}, .function = lab::Flip{flip}},
    {.number = 1, .name = "unflip", .idea = "and back",
     .budget = {.n = 16384, .sectors = 1.05, .bytes = 8.2, .span = 10}, .function = lab::Unflip{unflip}},
    {.number = 2, .name = "split", .idea = "one bit per pass", .lines = {.own = 26, .given = 61},
     .picture = {.input = "range:0:15", .arrays = "global", .launches = {0, 5}, .is_in_report = true},
     .stable = true, .growth = lab::Growth::passes,
     .budget = {.n = 16384, .conflicts = 1.1, .sectors = 1.2, .bytes = 620, .barriers = 13, .span = 800, .work = 3400},
     .function = lab::Sort{.u8 = sort_split<std::uint8_t>, .u16 = sort_split<std::uint16_t>,
                           .u32 = sort_split<std::uint32_t>, .u64 = sort_split<std::uint64_t>,
                           .i32 = sort_split<std::int32_t>, .i64 = sort_split<std::int64_t>,
                           .f32 = sort_split<float>, .f64 = sort_split<double>,
                           .pairs = sort_split<std::uint32_t, std::uint32_t>}},
    {.number = 3, .name = "digits", .idea = "four bits, tile sorted first", .lines = {.own = 93, .given = 75},
     .picture = {.arrays = "all", .launches = {2, 2}},
     .stable = true, .threads = 256,
     .budget = {.n = 16384, .conflicts = 1.3, .sectors = 1.25, .bytes = 122, .barriers = 10, .span = 500, .work = 1900},
     .function = lab::Sort{.u8 = sort_digits<std::uint8_t>, .u16 = sort_digits<std::uint16_t>,
                           .u32 = sort_digits<std::uint32_t>, .u64 = sort_digits<std::uint64_t>,
                           .i32 = sort_digits<std::int32_t>, .i64 = sort_digits<std::int64_t>,
                           .f32 = sort_digits<float>, .f64 = sort_digits<double>,
                           .pairs = sort_digits<std::uint32_t, std::uint32_t>}},
    {.number = 4, .name = "onesweep", .idea = "eight bits, one sweep", .lines = {.own = 83, .given = 253},
     .picture = {.arrays = "global", .launches = {2, 3}},
     .stable = true, .threads = 384,
     .budget = {.n = 16384, .conflicts = 1.9, .sectors = 1.35, .bytes = 53, .barriers = 9, .span = 600, .work = 480},
     .function = lab::Sort{.u8 = sort_onesweep<std::uint8_t>, .u16 = sort_onesweep<std::uint16_t>,
                           .u32 = sort_onesweep<std::uint32_t>, .u64 = sort_onesweep<std::uint64_t>,
                           .i32 = sort_onesweep<std::int32_t>, .i64 = sort_onesweep<std::int64_t>,
                           .f32 = sort_onesweep<float>, .f64 = sort_onesweep<double>,
                           .pairs = sort_onesweep<std::uint32_t, std::uint32_t>}},
    {.number = 5, .name = "pipeline", .idea = "every wait overlaps with work", .lines = {.own = 79, .given = 186},
     .stable = true, .threads = 512,
     .budget = {.n = 65536, .conflicts = 1.35, .sectors = 1.35, .bytes = 62, .barriers = 26, .span = 400, .work = 530},
     .function = lab::Sort{.u8 = sort_pipeline<std::uint8_t>, .u16 = sort_pipeline<std::uint16_t>,
                           .u32 = sort_pipeline<std::uint32_t>, .u64 = sort_pipeline<std::uint64_t>,
                           .i32 = sort_pipeline<std::int32_t>, .i64 = sort_pipeline<std::int64_t>,
                           .f32 = sort_pipeline<float>, .f64 = sort_pipeline<double>,
                           .pairs = sort_pipeline<std::uint32_t, std::uint32_t>}},
    {.number = 6, .name = "record", .idea = "the highest digit first (MSD)", .lines = {.own = 92, .given = 145},
     .picture = {.n = 16384, .input = "uniform", .arrays = "global", .launches = {3, 3}, .places = {{{0, 15}}}},
     .record = true, .uses = {"pipeline"}, .stable = true, .threads = 512,
     .budget = {.n = 65536, .conflicts = 1.5, .sectors = 1.25, .bytes = 44, .barriers = 7.2, .span = 20, .work = 1100},
     .function = lab::Sort{.u8 = sort_record<std::uint8_t>, .u16 = sort_record<std::uint16_t>,
                           .u32 = sort_record<std::uint32_t>, .u64 = sort_record<std::uint64_t>,
                           .i32 = sort_record<std::int32_t>, .i64 = sort_record<std::int64_t>,
                           .f32 = sort_record<float>, .f64 = sort_record<double>,
                           .pairs = sort_record<std::uint32_t, std::uint32_t>}},
};
// clang-format on

}  // namespace radix
