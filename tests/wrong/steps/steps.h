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
Sort crashes, leaves_a_vector, throws_what_nobody_catches, waits_forever, exits, exits_at_the_end_of_a_thread,
    prints_verified, writes_to_every_descriptor, answers_in_the_runners_place, changes_the_input,
    keeps_the_first_output, works_only_when_tested, works_after_it_returned, slows_the_clock, closes_the_channel,
    waits_for_a_value, meets_forever, forges_findings;

// host.cu: the host does the kernels' work.
Sort sorts_on_the_host, copies_from_the_host, has_a_kernel_copy_what_the_host_sorted,
    sorts_in_shared_memory_of_the_host;

/// A line of the table that promises nothing special.
constexpr lab::Step sort(int number, const char* name, const char* idea, lab::Sort function) {
  return {.number = number, .name = name, .idea = idea, .function = function};
}

inline constexpr lab::Step steps[] = {
    sort(1, "right", "control", {.u32 = right}),
    sort(2, "tail", "off by one at the tail", {.u32 = leaves_out_the_last}),
    sort(3, "loses", "one key overwritten by its neighbour", {.u32 = loses_a_key}),
    sort(4, "power", "only the largest power of two", {.u32 = sorts_a_power_of_two}),
    sort(5, "order", "always ascending", {.u32 = ignores_the_order}),
    sort(6, "signed", "compares as signed", {.u32 = compares_as_signed}),
    sort(7, "copies", "does nothing", {.u32 = copies_the_input}),
    sort(8, "equal", "all keys equal", {.u32 = makes_all_equal}),
    sort(9, "counts", "0, 1, 2, ..", {.u32 = counts_up}),
    sort(10, "behind", "writes behind the end", {.u32 = writes_behind_the_end}),
    sort(11, "before", "writes before the begin", {.u32 = writes_before_the_begin}),
    sort(12, "halves", "two sorted halves", {.u32 = sorts_the_tail_by_itself}),
    sort(13, "null", "null pointer in a kernel", {.u32 = follows_a_null_pointer}),
    sort(14, "stale", "memory nobody wrote", {.u32 = returns_scratch_never_written}),
    sort(15, "late", "refuses after writing", {.u32 = refuses_too_late}),
    {.number = 16,
     .name = "unstable",
     .idea = "promises to be stable",
     .stable = true,
     .function = lab::Sort{.pairs = is_not_stable}},
    sort(17, "values", "values stay where they were", {.pairs = leaves_the_values}),
    sort(18, "repeats", "one value twice", {.pairs = repeats_a_value}),
    sort(19, "crashes", "null pointer on the host", {.u32 = crashes}),
    sort(20, "throws", "an exception of no kind", {.u32 = throws_what_nobody_catches}),
    sort(21, "waits", "never returns", {.u32 = waits_forever}),
    sort(22, "exits", "_exit(0)", {.u32 = exits}),
    sort(23, "thread", "exit(0) in a thread", {.u32 = exits_at_the_end_of_a_thread}),
    sort(24, "prints", "prints that it is right", {.u32 = prints_verified}),
    sort(25, "noise", "writes to every descriptor", {.u32 = writes_to_every_descriptor}),
    sort(26, "forges", "a reply of its own", {.u32 = answers_in_the_runners_place}),
    sort(27, "input", "clears the judge's input", {.u32 = changes_the_input}),
    sort(28, "keeps", "the first output again", {.u32 = keeps_the_first_output}),
    sort(29, "tested", "right twice, then idle", {.u32 = works_only_when_tested}),
    sort(30, "after", "sorts after it returned", {.u32 = works_after_it_returned}),
    sort(31, "clock", "a clock that is slow", {.u32 = slows_the_clock}),
    sort(32, "closes", "closes the channel", {.u32 = closes_the_channel}),
    sort(33, "spins", "waits for a value in a kernel", {.u32 = waits_for_a_value}),
    sort(34, "meets", "one barrier after another", {.u32 = meets_forever}),
    sort(35, "findings", "a report of its own", {.u32 = forges_findings}),
    sort(36, "infinity", "the largest key means infinity", {.u32 = takes_the_largest_key_for_infinity}),
    sort(37, "powers", "digits by powers of float", {.u32 = computes_powers_as_floats}),
    sort(38, "scan", "a scan with a thread per key", {.u32 = scans_with_a_thread_per_key}),
    sort(39, "flip", "flips with the mask of unflip", {.f32 = flips_with_the_wrong_mask}),
    sort(40, "host", "sorts on the host", {.u32 = sorts_on_the_host}),
    sort(41, "back", "copies what the host sorted", {.u32 = copies_from_the_host}),
    sort(42, "laundry", "a kernel copies what the host sorted", {.u32 = has_a_kernel_copy_what_the_host_sorted}),
    sort(43, "pinned", "the host sorts in pinned memory", {.u32 = sorts_in_shared_memory_of_the_host}),
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
    {.number = 46,
     .name = "pairs",
     .idea = "sorts where pairs are to be exchanged",
     .function = lab::Exchange{{.u32 = right}}},
    sort(47, "vector", "an index outside of a vector", {.u32 = leaves_a_vector}),
};

}  // namespace wrong
