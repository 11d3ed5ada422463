// Steps that must be caught: each sorts wrongly, or tries to pass without sorting. u32 keys, floats or pairs.
#pragma once

#include "step/step.h"
#include "step/table.h"

namespace wrong {

using Keys = lab::Span<std::uint32_t>;
using Values = lab::Span<std::uint32_t>;

// The two signatures of step/step.h.
using Order = lab::Order;
using Shape = lab::LaunchShape;
using Stream = cudaStream_t;
using Sort = void(Keys keys, Order order, Shape shape, Stream stream);
using SortWithValues = void(Keys keys, Values values, Order order, Shape shape, Stream stream);

Sort right;  // the control: were it caught too, catching would mean nothing

// results.cu: the kernel is wrong.
Sort leaves_out_the_last, loses_a_key, sorts_a_power_of_two, ignores_the_order, compares_as_signed, copies_the_input,
    makes_all_equal, counts_up, writes_behind_the_end, writes_before_the_begin, sorts_the_tail_by_itself,
    follows_a_null_pointer, returns_scratch_never_written, refuses_too_late;
SortWithValues is_not_stable, leaves_the_values, repeats_a_value;

void uses_too_much_memory(lab::HostSpan<std::uint32_t> keys, lab::HostSpan<std::uint32_t> scratch, Order order,
                          std::int64_t device_bytes, Shape shape, Stream stream);

// published.cu: mistakes of published sorts.
Sort takes_the_largest_key_for_infinity, computes_powers_as_floats, scans_with_a_thread_per_key;
void flips_with_the_wrong_mask(lab::Span<float> keys, Order order, Shape shape, Stream stream);

// attacks.cu: the host function breaks its process, or wants to deceive.
Sort crashes, throws_what_nobody_catches, waits_forever, exits, exits_at_the_end_of_a_thread, prints_verified,
    writes_to_every_descriptor, answers_in_the_runners_place, changes_the_input, keeps_the_first_output,
    works_only_when_tested, works_after_it_returned, slows_the_clock, closes_the_channel, waits_for_a_value,
    meets_forever, forges_findings;

// host.cu: the host does the kernels' work.
Sort sorts_on_the_host, copies_from_the_host, has_a_kernel_copy_what_the_host_sorted,
    sorts_in_shared_memory_of_the_host;

inline constexpr lab::Step steps[] = {
    {.number = 1, .name = "right", .idea = "control", .function = lab::Sort{.u32 = right}},
    {.number = 2, .name = "tail", .idea = "off by one at the tail", .function = lab::Sort{.u32 = leaves_out_the_last}},
    {.number = 3,
     .name = "loses",
     .idea = "one key overwritten by its neighbour",
     .function = lab::Sort{.u32 = loses_a_key}},
    {.number = 4,
     .name = "power",
     .idea = "only the largest power of two",
     .function = lab::Sort{.u32 = sorts_a_power_of_two}},
    {.number = 5, .name = "order", .idea = "always ascending", .function = lab::Sort{.u32 = ignores_the_order}},
    {.number = 6, .name = "signed", .idea = "compares as signed", .function = lab::Sort{.u32 = compares_as_signed}},
    {.number = 7, .name = "copies", .idea = "does nothing", .function = lab::Sort{.u32 = copies_the_input}},
    {.number = 8, .name = "equal", .idea = "all keys equal", .function = lab::Sort{.u32 = makes_all_equal}},
    {.number = 9, .name = "counts", .idea = "0, 1, 2, ..", .function = lab::Sort{.u32 = counts_up}},
    {.number = 10,
     .name = "behind",
     .idea = "writes behind the end",
     .function = lab::Sort{.u32 = writes_behind_the_end}},
    {.number = 11,
     .name = "before",
     .idea = "writes before the begin",
     .function = lab::Sort{.u32 = writes_before_the_begin}},
    {.number = 12,
     .name = "halves",
     .idea = "two sorted halves",
     .function = lab::Sort{.u32 = sorts_the_tail_by_itself}},
    {.number = 13,
     .name = "null",
     .idea = "null pointer in a kernel",
     .function = lab::Sort{.u32 = follows_a_null_pointer}},
    {.number = 14,
     .name = "stale",
     .idea = "memory nobody wrote",
     .function = lab::Sort{.u32 = returns_scratch_never_written}},
    {.number = 15, .name = "late", .idea = "refuses after writing", .function = lab::Sort{.u32 = refuses_too_late}},
    {.number = 16,
     .name = "unstable",
     .idea = "promises to be stable",
     .stable = true,
     .function = lab::Sort{.pairs = is_not_stable}},
    {.number = 17,
     .name = "values",
     .idea = "values stay where they were",
     .function = lab::Sort{.pairs = leaves_the_values}},
    {.number = 18, .name = "repeats", .idea = "one value twice", .function = lab::Sort{.pairs = repeats_a_value}},
    {.number = 19, .name = "crashes", .idea = "null pointer on the host", .function = lab::Sort{.u32 = crashes}},
    {.number = 20,
     .name = "throws",
     .idea = "an exception of no kind",
     .function = lab::Sort{.u32 = throws_what_nobody_catches}},
    {.number = 21, .name = "waits", .idea = "never returns", .function = lab::Sort{.u32 = waits_forever}},
    {.number = 22, .name = "exits", .idea = "_exit(0)", .function = lab::Sort{.u32 = exits}},
    {.number = 23,
     .name = "thread",
     .idea = "exit(0) in a thread",
     .function = lab::Sort{.u32 = exits_at_the_end_of_a_thread}},
    {.number = 24, .name = "prints", .idea = "prints that it is right", .function = lab::Sort{.u32 = prints_verified}},
    {.number = 25,
     .name = "noise",
     .idea = "writes to every descriptor",
     .function = lab::Sort{.u32 = writes_to_every_descriptor}},
    {.number = 26,
     .name = "forges",
     .idea = "a reply of its own",
     .function = lab::Sort{.u32 = answers_in_the_runners_place}},
    {.number = 27,
     .name = "input",
     .idea = "clears the judge's input",
     .function = lab::Sort{.u32 = changes_the_input}},
    {.number = 28,
     .name = "keeps",
     .idea = "the first output again",
     .function = lab::Sort{.u32 = keeps_the_first_output}},
    {.number = 29,
     .name = "tested",
     .idea = "right twice, then idle",
     .function = lab::Sort{.u32 = works_only_when_tested}},
    {.number = 30,
     .name = "after",
     .idea = "sorts after it returned",
     .function = lab::Sort{.u32 = works_after_it_returned}},
    {.number = 31, .name = "clock", .idea = "a clock that is slow", .function = lab::Sort{.u32 = slows_the_clock}},
    {.number = 32, .name = "closes", .idea = "closes the channel", .function = lab::Sort{.u32 = closes_the_channel}},
    {.number = 33,
     .name = "spins",
     .idea = "waits for a value in a kernel",
     .function = lab::Sort{.u32 = waits_for_a_value}},
    {.number = 34, .name = "meets", .idea = "one barrier after another", .function = lab::Sort{.u32 = meets_forever}},
    {.number = 35, .name = "findings", .idea = "a report of its own", .function = lab::Sort{.u32 = forges_findings}},
    {.number = 36,
     .name = "infinity",
     .idea = "the largest key means infinity",
     .function = lab::Sort{.u32 = takes_the_largest_key_for_infinity}},
    {.number = 37,
     .name = "powers",
     .idea = "digits by powers of float",
     .function = lab::Sort{.u32 = computes_powers_as_floats}},
    {.number = 38,
     .name = "scan",
     .idea = "a scan with a thread per key",
     .function = lab::Sort{.u32 = scans_with_a_thread_per_key}},
    {.number = 39,
     .name = "flip",
     .idea = "flips with the mask of unflip",
     .function = lab::Sort{.f32 = flips_with_the_wrong_mask}},
    {.number = 40, .name = "host", .idea = "sorts on the host", .function = lab::Sort{.u32 = sorts_on_the_host}},
    {.number = 41,
     .name = "back",
     .idea = "copies what the host sorted",
     .function = lab::Sort{.u32 = copies_from_the_host}},
    {.number = 42,
     .name = "laundry",
     .idea = "a kernel copies what the host sorted",
     .function = lab::Sort{.u32 = has_a_kernel_copy_what_the_host_sorted}},
    {.number = 43,
     .name = "pinned",
     .idea = "the host sorts in pinned memory",
     .function = lab::Sort{.u32 = sorts_in_shared_memory_of_the_host}},
    {.number = 44,
     .name = "allowed",
     .idea = "the host may sort",
     .on_host = true,
     .function = lab::Sort{.u32 = copies_from_the_host}},
    {.number = 45,
     .name = "memory",
     .idea = "more device memory than allowed",
     .min_device_bytes = 1 << 18,
     .function = lab::SortHostMemory{uses_too_much_memory}},
};

}  // namespace wrong
