#include "words.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <utility>

#include "../src/execution/failure.h"

namespace simt::check {
namespace {

struct Sentence {
  std::string_view why, text;
};

// In braces: a detail of the finding, or what slot() makes of its facts. What is in brackets is left out if a slot in
// it is empty. "; " separates clauses.
constexpr Sentence sentences[] = {
    // --- out-of-bounds, use-after-free, misaligned, constant-write ---
    {"index", "{access}; compare the index with the size"},
    {"index-below-zero", "{access}; check for an index below 0"},
    {"dynamic-size",
     "{access}; the launch asks for {asked} of it, the third argument between <<< and >>>, and this access needs at "
     "least {needed}; ask for more, or compare the index with the size"},
    {"sizeof", "{access}; the array has as many bytes as there are keys: is sizeof missing in its size?"},
    {"other-thread", "{verb}a variable of another thread; share it in __shared__ or global memory"},
    {"wild-pointer", "{verb}address {address}, which is in no allocation; check how the pointer is computed"},
    {"copy-past-end", "accesses {bytes} bytes of {array}; it has {size}: copy no more than that, and count in bytes"},
    {"copy-freed", "accesses {bytes} bytes of {array}, which has been freed[ at {freed}]; free it later"},
    {"freed", "{access}, which has been freed[ at {freed}]; free it after its last use"},
    {"alignment", "{access}, at an address that is not a multiple of the access's size; align it"},
    {"constant",
     "{access}; kernels can only read __constant__ memory: make it a __device__ variable, or let the host write it "
     "with "
     "cudaMemcpyToSymbol() before the launch"},
    // --- uninitialized ---
    {"never-written",
     "reads {element}, and nothing has been stored in this array at all; is the store into it missing, or is it the "
     "wrong "
     "array?"},
    {"one-pointer",
     "reads {element}, which nothing has written; write it before it is read; {name} is one value of 8 bytes: if it "
     "should be "
     "an array, declare its size, as in __shared__ int name[256]"},
    {"some-bytes",
     "reads {element}, of which only some bytes have been written; is sizeof missing in the number of bytes of a "
     "copy?"},
    {"unwritten",
     "reads {element}, which nothing has written[; {written}]; write it before it is read, or check the index"},
    {"own-array",
     "reads {element}, which this thread has not written; each thread has its own array {name}, declared at "
     "{declared}; if the "
     "threads of a block are to share it, declare it __shared__"},
    {"copied",
     "copies {copied} of {array}, but nothing has written {unwritten} of them from byte {from} on[; {read}]; write "
     "them "
     "in a kernel or by a copy, or copy less"},
    {"copied-unread",
     "copies {copied} of {array}, but nothing has written {unwritten} of them from byte {from} on; the host was not "
     "seen to read that: copy less, if it is never needed"},
    // --- memory of the host, and of the device ---
    {"host-memory",
     "{verb}host memory through a pointer that is itself in memory; copy what it points to into memory from "
     "cudaMalloc(), and store that address instead"},
    {"written-by-kernel",
     "reads {element}, which a kernel has written; on a GPU, the host does not see that; copy it with "
     "cudaMemcpyFromSymbol()"},
    {"shared-by-host",
     "accesses {element}, which is shared memory of a block; have the kernel write it to device memory, and copy "
     "that with cudaMemcpy"},
    {"device-memory", "{access}, which is device memory; copy it with cudaMemcpy"},
    {"shared-size",
     "its __shared__ arrays take more than 48 KiB per block, which nvcc refuses; use dynamic shared memory"},
    {"free-other",
     "frees {array}, which is not from new or malloc(); use the function that belongs to its allocation, in "
     "host code"},
    {"free-inside",
     "frees a pointer into the device's heap that neither new nor malloc() has returned; pass the one that they "
     "returned"},
    {"free-twice", "frees the memory allocated at {made}, which has been freed at {freed}; free it once"},
    {"free-by-host", "frees the memory that a kernel has allocated at {made}; only device code can free it"},
    {"free-foreign",
     "frees what is not of the device's heap; pass a pointer from cudaMalloc() or malloc() in a kernel"},
    {"error-unread",
     "no error is read after this launch, so a failure goes unnoticed; write CUDA_CHECK(cudaGetLastError()) after it"},
    // --- race: threads of two blocks ---
    {"block-scope",
     "{race}; an atomic of block scope is one only for the threads of its own block: use atomicAdd() instead of "
     "atomicAdd_block() and the like, or cuda::thread_scope_device"},
    {"no-fence",
     "{race}; a flag or counter says that the other block has written it, but no fence comes between that write and "
     "the "
     "flag: put __threadfence() before the flag is written"},
    {"threads-of-any-block",
     "{race}; threads of different blocks do the same, and no barrier orders them: check which thread has which "
     "element, or {ways}"},
    {"rows-of-blocks",
     "{race}; these blocks differ in blockIdx.y or .z only: is that in the index? If one dimension is enough, launch "
     "with a number in place of a dim3"},
    {"same-thread-index",
     "{race}; two blocks access one element with the same threadIdx: is blockIdx in the index, times the number of "
     "elements per block? In a loop over the grid, is the step gridDim.x times that number? {or_all_blocks}"},
    {"blocks", "{race}; nothing orders these blocks: check which thread has which element, or {ways}[; {on_blocks}]"},
    {"in-place",
     "{race}; one block reads what another one writes, and nothing orders blocks: let the kernel write into another "
     "array than it reads, or use two launches"},
    // --- race: threads of one block ---
    {"rows-of-threads",
     "{race}; these threads differ in threadIdx.y or .z only: is that in the index? If one dimension is enough, launch "
     "with a number in place of a dim3"},
    {"same-element",
     "{race}; two threads work on the same element: check which thread has which element{or_atomic}; if a loop leads "
     "to "
     "it, check the loop's start and step, too; a barrier orders only threads of one block"},
    {"volatile-lanes",
     "{race}; lanes do not run in step, and volatile does not order them: put {barrier} between the two accesses"},
    {"lanes",
     "{race}; nothing orders these lanes{exchanges}: put __syncthreads() between the two accesses, or __syncwarp() if "
     "no "
     "other warp uses the data{or_atomic}"},
    {"threads", "{race}; no barrier orders these threads: put {barrier} between the two accesses{or_atomic}"},
    {"same-lines",
     "{race}; both threads execute the same lines for this element: check which thread has which element; if the lines "
     "are in a loop, its rounds may need __syncthreads() between them"},
    {"next-round",
     "{race}; line {first_line} comes after line {last_line} in the next round of a loop, and no barrier orders the "
     "two: "
     "put {barrier} at the end of the round, below line {last_line}"},
    {"same-line-in-callers",
     "{race}; the same line leads both threads to this element: put __syncthreads() between the two rounds of its loop "
     "if one must come after the other; otherwise check which thread has which element: the index, and the step of the "
     "loop"},
    // --- race: both on one line, or with an atomic ---
    {"changed-by-several",
     "{race}; use atomicAdd() or another atomic, which returns the old value: before a thread writes what it computes "
     "from this element, another reads the same value; or check the index if each should have its own "
     "element{is_block_in_it}"},
    {"changed-on-line",
     "{race}; several threads change the same element at once: use atomicAdd() or another atomic, or check the index "
     "if "
     "each should have its own element"},
    {"written-on-line", "{race}; threads that execute this line write the same element: check the index[; {rounds}]"},
    {"read-by-other-block",
     "{race}; a block reads here what another block writes here: write into another array, or use two launches"},
    {"read-on-line",
     "{race}; a thread reads here what another thread writes here: read into a variable, put {barrier} after that, and "
     "then write[; {rounds}]"},
    {"lost-in-exchange",
     "{race}; what an exchange stores depends on that plain read, so that what other threads store in between is lost: "
     "use atomicMax() or the like, or a loop with atomicCAS()"},
    {"tested-before-atomic",
     "{race}; the plain read tests an element before an atomic changes it, which works as long as the atomic decides; "
     "in "
     "CUDA's memory model it is a race: read it by a volatile or relaxed atomic access"},
    {"before-shuffle",
     "{access}; {who} reads it[ at {other}], before a shuffle or vote in which both lanes take part; today's GPUs read "
     "first, but in CUDA's memory model a shuffle or vote orders no accesses: put __syncwarp() between the two"},
    {"equal-values",
     "{access}; {who} writes the same value[ at {other}], and nothing orders the two; the result does not depend on "
     "the "
     "order as long as all values are equal"},
    // --- stream-race ---
    {"streams",
     "{access}; {operation}; nothing orders the two streams: use one for both operations, or record an event after the "
     "first one, and let the other stream wait for it with cudaStreamWaitEvent()"},
    {"without-stream",
     "{access}; {operation}; the default stream and the other one do not wait for each other: use {call}(..., stream)"},
    {"stream-event",
     "{access}; {operation}; the event for which this stream waits was recorded before that: record it after what it "
     "is "
     "to cover"},
    {"host",
     "{access}; {operation}; the host does not wait for it: call cudaStreamSynchronize() or cudaDeviceSynchronize() "
     "first"},
    {"host-event",
     "{access}; {operation}; the event for which the host waits was recorded before that: record it after what it is "
     "to "
     "cover"},
    {"host-target",
     "{access}; {operation}; CUDA leaves open whether such a copy has ended when the call returns: call "
     "cudaStreamSynchronize() first"},
    // --- threads that leave, and lanes that do not meet ---
    {"return-before-barrier",
     "{count} of {threads} threads return here, before the __syncthreads() at {barrier_at}; what they should have "
     "written is read, but nothing has written it; every thread must do its part of that work and reach the barrier, "
     "even one that has nothing else to do"},
    {"exit-before-barrier",
     "{count} of {threads} threads have exited before this __syncthreads(); what they should have written is read, but "
     "nothing has written it; every thread must do its part of that work and reach the barrier, even one that has "
     "nothing else to do"},
    {"barrier-without-all",
     "{count} of {threads} threads have exited, and this __syncthreads() does not wait for them; CUDA asks for a "
     "barrier "
     "that all threads of the block reach: let every thread reach it, and put only the work around it into an if"},
    {"lanes-exited",
     "lanes {lanes} of the mask have exited, and this {primitive}() does not wait for them; more portable: let all "
     "lanes "
     "of the mask reach it, or take the mask from __ballot_sync() before any lane exits"},
    {"two-places",
     "lanes of one mask reach this {primitive}() and the one at {other}; a GPU of today lets them meet, and the result "
     "mixes the values of both places; if that is not intended, or for older GPUs: let all lanes of the mask reach the "
     "same call"},
    {"lane-exited",
     "{primitive}() takes the value of lane {source}, which has exited, so it is undefined, and thread {stores} stores "
     "what follows from it; keep every lane until after the shuffle, and put only its loads and stores into an if"},
    {"lane-not-in-mask",
     "{primitive}() takes the value of lane {source}, which is not in the mask {mask}, so it is undefined, and thread "
     "{stores} stores what follows from it; use a mask with all lanes whose values are needed"},
    // --- a kernel that does not end ---
    {"later-block",
     "waits for {element}, which block {block} {writes}, but that block may not have started; CUDA starts blocks in "
     "any "
     "order, so the wait may never end: give each block a number from a counter with atomicAdd(), and wait only for "
     "smaller numbers, or use two launches"},
    {"waits-for-host", "waits for {element}, which nothing in this launch writes; {wait_for_host}"},
    {"memory-used-up",
     "this machine's memory is used up: the check build keeps 3 to 9 bytes about each byte of device memory that the "
     "program accesses; run it on less data, or without the check build"},
    {"asked-to-end", "was still running when the program was asked to end"},
    {"signal", "was running here when {signal} interrupted the program; what has not run yet has not been checked"},
    {"no-access",
     "has made no access to memory in {seconds} s of processor time; look for a loop that never ends, or allow more "
     "time "
     "with SIMT_SECONDS={longer}"},
    {"time",
     "has not ended after {seconds} s of processor time; look for a loop that never ends, or allow more time with "
     "SIMT_SECONDS={longer}"},
    {"time-with-later-blocks",
     "has not ended after {seconds} s of processor time; look for a loop that never ends or waits for a later block, "
     "which runs only after this one, or allow more time with SIMT_SECONDS={longer}"},
};

const Fact& fact_of(const Finding& f, std::size_t index) {
  static const Fact none;
  return index < f.facts.size() ? f.facts[index] : none;
}

const char* verb_of(const Fact& fact) { return fact.way == Way::load ? "reads " : "writes "; }

std::string line_of(const Place& place) { return place.line + (place.header.empty() ? "" : ", in " + place.header); }

std::string threads_of(const Fact& fact) {
  return (fact.block ? "block " + coordinates(*fact.block) : "") +
         (fact.thread ? ", thread " + coordinates(*fact.thread) : "");
}

/// The first words of a finding: who does it.
std::string subject(const Fact& fact) {
  if (fact.kernel.empty()) return fact.call.empty() ? "host code " : fact.call + " ";
  const std::string threads = threads_of(fact), header = fact.place.header;
  return "kernel " + fact.kernel + (threads.empty() ? "" : ", " + threads) + (header.empty() ? "" : ", in " + header) +
         ": ";
}

/// "kernel sort, launched at FILE:LINE, writes it at FILE:LINE", "cudaMemcpyAsync() at FILE:LINE may still write it".
std::string operation(const Finding& f) {
  const Fact& other = fact_of(f, 1);
  const std::string line = line_of(other.place), at = line.empty() ? "" : " at " + line;
  const bool is_sure = !fact_of(f, 0).kernel.empty() || !fact_of(f, 0).call.empty();
  const std::string may = other.way == Way::load ? "may still read it" : "may still write it";
  const std::string does = is_sure ? verb_of(other) + std::string("it") : may;
  if (other.kernel.empty()) return other.call + at + " " + does;
  return "kernel " + other.kernel + ", launched at " + other.launch.line + ", " + does + at;
}

/// That all threads seen were of one warp may only be due to few keys.
const char* text_of(Remedy barrier) {
  return barrier == Remedy::warp_barrier ? "__syncthreads() (or __syncwarp(), if only this warp uses the data)"
                                         : "__syncthreads()";
}

bool is_with_atomic(const Finding& f) { return fact_of(f, 0).is_atomic || fact_of(f, 1).is_atomic; }

std::string or_atomic(const Finding& f) { return is_with_atomic(f) ? ", or use an atomic" : ""; }

/// What orders two blocks, or does without an order.
std::string ways(const Finding& f) {
  if (f.details.number("cooperative") != 0) {
    return "put this_grid().sync() between the two accesses" + or_atomic(f);
  }
  return is_with_atomic(f) ? "use an atomic, or two launches" : "use two launches";
}

std::string or_all_blocks(const Finding& f) {
  const bool are_alike = fact_of(f, 0).way == fact_of(f, 1).way;
  if (are_alike && !is_with_atomic(f)) return "If all blocks should add to this element, use atomicAdd()";
  return "If all blocks should access this element, " + ways(f) +
         (are_alike ? "" : "; or let the kernel write into another array than it reads");
}

/// What orders blocks instead of what the kernel has.
std::string on_blocks(const Finding& f) {
  if (f.details.number("barriers") != 0) {
    return f.details.number("cooperative") != 0 ? "" : "__syncthreads() orders only threads of one block";
  }
  const auto is_plain = [](const Fact& fact) { return !fact.is_atomic && !fact.is_volatile; };
  if (!is_plain(fact_of(f, 0)) || !is_plain(fact_of(f, 1))) return "";
  return "blockIdx.x * blockDim.x + threadIdx.x is another number in each thread of the grid";
}

/// What has been written of the array.
std::string written(const Finding& f) {
  if (f.details.find("elements") == nullptr) return "";
  const std::uint64_t count = f.details.number("written"), first = f.details.number("first_written"),
                      last = f.details.number("last_written");
  if (count == 0) return "this block has stored nothing in this array so far";
  const bool is_whole = last - first + 1 == count;
  return "of its " + counted(f.details.number("elements"), "element") + ", " +
         (is_whole ? "only " : std::to_string(count) + ", such as ") + std::to_string(first) + " to " +
         std::to_string(last) + (count == 1 ? " has" : " have") + " been written";
}

std::string access(const Finding& f) { return verb_of(fact_of(f, 0)) + text_of(fact_of(f, 0).element); }

std::string race(const Finding& f) {
  const Fact& other = fact_of(f, 1);
  const std::string line = line_of(other.place);
  return access(f) + "; " + threads_of(other) + " " + verb_of(other) + "it" + (line.empty() ? "" : " at " + line);
}

std::string text_of(const Detail& detail) {
  struct Text {
    std::string operator()(std::uint64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const {
      char text[32];
      std::snprintf(text, sizeof text, "%g", number);
      return text;
    }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(uint3 index) const { return coordinates(index); }
    std::string operator()(const Place& place) const { return line_of(place); }
  };
  return std::visit(Text(), detail);
}

using Slot = std::pair<std::string_view, std::function<std::string(const Finding&)>>;

/// What stands for a name in braces, unless a detail has that name and no other form is wanted.
const Slot slots[] = {
    {"access", access},
    {"race", race},
    {"operation", operation},
    {"ways", ways},
    {"or_atomic", or_atomic},
    {"or_all_blocks", or_all_blocks},
    {"on_blocks", on_blocks},
    {"written", written},
    {"verb", [](const Finding& f) { return verb_of(fact_of(f, 0)); }},
    {"who", [](const Finding& f) { return threads_of(fact_of(f, 1)); }},
    {"other", [](const Finding& f) { return line_of(fact_of(f, 1).place); }},
    {"element", [](const Finding& f) { return text_of(fact_of(f, 0).element); }},
    {"array", [](const Finding& f) { return name_of(fact_of(f, 0).element.array); }},
    {"name", [](const Finding& f) { return fact_of(f, 0).element.array.name; }},
    {"made", [](const Finding& f) { return fact_of(f, 0).element.array.allocated.line; }},
    {"size", [](const Finding& f) { return std::to_string(fact_of(f, 0).element.array.bytes); }},
    {"asked", [](const Finding& f) { return counted(fact_of(f, 0).element.array.bytes, "byte"); }},
    {"needed",
     [](const Finding& f) { return std::to_string(fact_of(f, 0).element.offset + fact_of(f, 0).element.bytes); }},
    {"barrier", [](const Finding& f) { return text_of(f.barrier); }},
    {"exchanges",
     [](const Finding& f) { return f.details.number("exchanges") != 0 ? ", and shuffles and votes do not" : ""; }},
    {"rounds",
     [](const Finding& f) {
       return f.barrier == Remedy::none ? "" : "if the line is in a loop, its rounds may need a barrier between them";
     }},
    {"is_block_in_it", [](const Finding& f) { return f.is_same_index ? ": is blockIdx in it?" : ""; }},
    {"writes", [](const Finding& f) { return f.details.number("has_not_run") != 0 ? "would write" : "writes"; }},
    {"wait_for_host", [](const Finding&) { return wait_for_host; }},
    {"copied", [](const Finding& f) { return counted(f.details.number("bytes"), "byte"); }},
    {"unwritten", [](const Finding& f) { return counted(f.details.number("unwritten"), "byte"); }},
    {"read",
     [](const Finding& f) {
       const Detail* const read = f.details.find("read");
       if (read == nullptr) return std::string();
       const std::string& line = std::get<Place>(*read).line;  // not of a header, whose code copies and compares
       return "host code reads that" + (is_in_source(line) ? " at " + line : "");
     }},
    {"lanes", [](const Finding& f) { return hex(unsigned(f.details.number("lanes"))); }},
    {"mask", [](const Finding& f) { return hex(unsigned(f.details.number("mask"))); }},
};

std::string slot(std::string_view name, const Finding& f) {
  for (const auto& [known, make] : slots) {
    if (known == name) return make(f);
  }
  const Detail* const detail = f.details.find(name);
  return detail == nullptr ? "" : text_of(*detail);
}

/// The text with its slots filled. `has_empty`: set if one of them is.
std::string filled(std::string_view text, const Finding& f, bool& has_empty) {
  std::string result;
  for (std::size_t begin; (begin = text.find('{')) != text.npos; text.remove_prefix(text.find('}') + 1)) {
    const std::string value = slot(text.substr(begin + 1, text.find('}') - begin - 1), f);
    has_empty |= value.empty();
    (result += text.substr(0, begin)) += value;
  }
  return result += text;
}

std::string sentence(std::string_view text, const Finding& f) {
  std::string result;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find('['), text.size());
    const std::size_t end = text.find(']', begin);
    bool has_empty = false;
    result += filled(text.substr(0, begin), f, has_empty);
    if (end == text.npos) break;
    has_empty = false;
    const std::string_view inside = text.substr(begin + 1, end - begin - 1);
    const std::string optional = filled(inside, f, has_empty);
    const bool has_slots = inside.find('{') != inside.npos;
    if (!has_slots) (result += '[') += optional + ']';
    if (has_slots && !has_empty) result += optional;
    text.remove_prefix(end + 1);
  }
  return result;
}

std::string_view template_of(std::string_view why) {
  for (const Sentence& known : sentences) {
    if (known.why == why) return known.text;
  }
  return why.empty() ? "{access}" : why;
}

/// The text, unless SIMT_WORDS puts another one in place of every sentence, so that tests can show that no program
/// reads them.
std::string shown(std::string text) {
  static const char* const instead = std::getenv("SIMT_WORDS");
  return instead != nullptr && *instead != '\0' ? instead : std::move(text);
}

std::string by_clause(const std::string& text) {
  std::string lines;
  for (std::size_t from = 0;;) {
    const std::size_t end = text.find("; ", from);
    lines += text.substr(from, end - from);
    if (end == std::string::npos) return lines;
    lines += "\n    ";
    from = end + 2;
  }
}

/// Why requests move more sectors than their bytes need.
std::string cause_of_sectors(const Cost& cost) {
  const std::uint64_t most_lanes = cost.requests * lanes_per_warp;
  const std::uint64_t apart = (cost.actual + cost.ideal / 2) / cost.ideal;
  const std::string used = std::to_string(100 * cost.ideal / cost.actual) + " % of what is moved is used: ";
  if (cost.lanes * 4 < most_lanes * 3) {
    return "only " + std::to_string((cost.lanes + cost.requests / 2) / cost.requests) +
           " of 32 lanes take part on average, and " + used +
           "let all lanes of a warp take part, and neighbours access neighbouring elements";
  }
  if (cost.ideal >= 2 * cost.requests && cost.actual - cost.ideal <= cost.requests) {
    return used + "check whether the first address of each request is a multiple of 32 bytes";
  }
  if (apart < 2) return used + "some of the requests have gaps between the elements of their lanes";
  return used + "neighbouring lanes access elements that are " + (apart < 8 ? std::to_string(apart) : "8 or more") +
         " apart: let them access neighbouring elements";
}

}  // namespace

std::string words_of(const Finding& f) {
  const Fact& first = fact_of(f, 0);
  std::string text = f.said.empty()      ? subject(first) + sentence(template_of(f.why), f)
                     : first.is_access() ? sentence(f.said, f)
                                         : f.said;
  if (f.is_at_launch) text = "the kernel that is launched here may still be running when this happens; " + text;
  if (const std::uint64_t pairs = f.details.number("more_pairs"); pairs != 0) {
    text += "; " + counted(pairs, "more pair") + " of lines race for this array for the same reason";
  }
  return shown(by_clause(text));
}

std::string words_of(const Note& note) {
  const bool is_of_sectors = note.kind == std::string_view("uncoalesced");
  return is_of_sectors ? shown(cause_of_sectors(note.line->cost)) : "";
}

std::string words_on_unchanged(const Array* written) {
  if (written == nullptr) {
    return shown(
        "its kernels store nothing in the keys; perhaps no thread reaches a store, no comparison leads to one, or the "
        "result is stored in another array");
  }
  return shown("its kernels wrote to " + name_of(*written) +
               ", and not to the keys; the last launch must write the keys");
}

std::string words_on_long_run(const Fact& fact, double seconds, double limit) {
  char text[160];
  std::snprintf(text, sizeof text,
                "its block has run for %.0f s of processor time; if you do not expect that, look for a loop that never "
                "ends (after %g s it is an error)",
                seconds, limit);
  return shown(subject(fact) + text);
}

std::string name_of(const Array& array) {
  switch (array.memory) {
    case Memory::shared:
      return array.name.empty() ? "shared memory, in which this kernel has no array" : "__shared__ " + array.name;
    case Memory::dynamic_shared:
      return "dynamic __shared__ memory";
    case Memory::variable:
      return array.name.empty() ? "a variable" : "__device__ " + array.name;
    case Memory::constant:
      return "__constant__ " + array.name;
    case Memory::heap:
      return array.made_by.empty() ? "the device's heap"
                                   : "the memory that a kernel has allocated at " + array.allocated.line;
    case Memory::host:
      return "the target of " + array.name;
    case Memory::allocation:
      if (!array.name.empty()) return array.name;
      return array.allocated.line.empty() ? "allocation " + std::to_string(array.number)
                                          : "the array allocated at " + array.allocated.line;
    case Memory::local:
      return array.name;
    case Memory::none:
      break;
  }
  return "memory";
}

std::string text_of(const Element& e) {
  const std::string name = name_of(e.array);
  if (e.bytes == 0 || (e.array.bytes == 0 && e.array.name.empty())) return name;
  if (e.offset < 0) return counted(std::uint64_t(-e.offset), "byte") + " before the start of " + name;
  const std::string index = std::to_string(std::size_t(e.offset) / e.bytes);
  const bool is_named = e.array.memory != Memory::heap && e.array.memory != Memory::host && !e.array.name.empty();
  const bool is_dynamic = e.array.memory == Memory::dynamic_shared;
  return (is_named || is_dynamic ? name + "[" + index + "]" : "element " + index + " of " + name) + " (" +
         (e.bytes == 8 ? "an " : "a ") + std::to_string(e.bytes) + "-byte access at byte " + std::to_string(e.offset) +
         " of " + std::to_string(e.array.bytes) + ")";
}

std::string counted(std::uint64_t count, const std::string& unit) {
  return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
}

}  // namespace simt::check
