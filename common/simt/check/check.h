// What the observers of the check build share. Nothing here is part of a plain cpu build.
//
// The program is compiled with -fsanitize=thread and linked with accesses.cpp in place of the sanitizer's runtime, which
// therefore is called before every access. It asks ownership.h whose memory that is, whether it lies within bounds and
// has been written, races.h whether others' accesses may come before as well as after it (order.h tells), and puts it
// into its warp's request (requests.h). What was found is kept in findings.cpp, and traced for pictures in trace.cpp.
// Each can be used by itself: tests/simt/check does.
//
// A checked program runs all its blocks on one OS thread: its numbers are the same in every run, and no locks are needed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../src/emulation.h"
#include "../src/execution/launch_state.h"

namespace simt::check {

// --- findings.cpp ---

/// Where an access stands: a code address, resolved to a line only when the program ends.
using Code = std::uintptr_t;

/// An error; the same kind at the same code is counted, not repeated. `other` is the other end of a race, or 0, and
/// its line takes the place of "{other}" in the text.
void add_finding(const char* kind, Code code, Code other, const std::string& text);
/// The same where the line is known already.
void add_finding(const char* kind, Site site, const std::string& text);
void drop_finding(const char* kind, Code code);
bool is_known(const char* kind, Code code, Code other);

enum class Space : std::uint8_t { shared, global };
enum class Way : std::uint8_t { load, store, atomic };

/// What one instruction has cost over the whole program.
void add_cost(Code code, Space space, Way way, unsigned lanes, unsigned transactions, unsigned ideal);

/// Tells what has been found, as at the program's end, and ends it if there were errors.
void end_program();
/// Writes what has been found so far to the file that CHECK_JSON names: for a runner, which may be killed at any time.
void write_findings();

/// The lines of code addresses, "file:line" as the compiler was given the file; those that have none are left out.
/// `callers`: where the line is a function's that was inlined into another file, the line there that calls it.
std::map<Code, std::string> resolve(const std::set<Code>& codes, std::map<Code, std::string>* callers = nullptr);

/// Writes a file that is there whole or not at all: a runner may be killed meanwhile. A line on stderr if it cannot be.
void write_whole(const char* path, const std::string& text);

/// What a launch has cost, by Way. Counted as Nsight Compute does: a request is one warp's instruction, a barrier too.
struct Totals {
  std::string kernel;
  dim3 grid, block;
  std::uint64_t shared_requests[3] = {}, shared_wavefronts[3] = {}, shared_ideal[3] = {};
  std::uint64_t global_requests[3] = {}, global_sectors[3] = {}, global_ideal[3] = {};
  std::uint64_t barriers = 0;
  std::size_t static_shared = 0, dynamic_shared = 0;  ///< bytes a block
  std::uint64_t nanoseconds = 0;                      ///< of this run, on the CPU
};
Totals& totals();  ///< of the running launch

// --- time.cpp: a launch may take so long, by the processor's time ---

enum class Time { left, up, told };
extern std::atomic<Time> out_of_time;  ///< up: the next access or barrier ends the running launch
void begin_time();
void ask_to_end();    ///< the program is to end: for the running launch, time is up
void end_if_asked();  ///< behind a launch: writes the findings and ends the program
/// Called again and again while a launch runs on that thread. True: interrupt it, as it has no more accesses.
bool look_at_time(pthread_t thread);
struct TimeIsUp {
  const char* kind;
  std::string text;
};
TimeIsUp time_is_up();  ///< the finding of a launch that is ended
void look_closely();    ///< the running launch is out of time: each access has to see that

// --- trace.cpp ---

/// Whether the environment names a file for the trace (CHECK_TRACE).
extern bool tracing;

/// Memory that has a name: a __shared__ array, a variable, an allocation (by its number).
struct Owner {
  const void* identity;  ///< the same for all accesses of it
  const char* name;
  int number;  ///< of an allocation, else 0
  std::size_t bytes;
};
void trace_launch(const Launch& launch);
void trace_block(std::uint64_t block);
void trace_barrier();
void trace_block_end();
void trace_access(const Owner& owner, Code code, unsigned thread, const void* at, std::size_t offset, unsigned bytes,
                  Space space, Way way);  ///< called before the access happens
/// The access that was traced last races with an earlier one, of this block, or of another one of the launch.
void trace_race(std::uint64_t other_block, unsigned other_thread, Code other);
/// A request of the interval that now ends took more turns than its lanes need: the `time`-th of this instruction.
void trace_conflict(Code code, unsigned bytes, Way way, unsigned warp, unsigned time, unsigned actual, unsigned ideal);
/// Writes the file, with what was traced so far; a line that says so where it cannot.
void write_trace();

// --- events, from the emulation ---

void begin_launch(const Launch& launch);
void begin_block(const Launch& launch, std::uint64_t block, void* dynamic_shared);
void barrier_opened(Site site, int arrived);
void end_block();
void stop_observing();  ///< the block is about to be abandoned
Code done_for();  ///< the program's last atomic or copy: where a fault belongs that comes in an observer or a library
void new_totals(const Launch& launch);
void end_launch();
void lanes_synchronized(unsigned warp, unsigned lanes);
void allocated(const void* begin, std::size_t bytes, bool of_host);  ///< of_host: the host may use it as well
void freed(const void* begin, std::size_t bytes);
void written(const void* begin, std::size_t bytes);

/// Bytes behind a block's dynamic shared memory that take what is written past its end.
inline constexpr std::size_t past_dynamic_shared = 65536;

}  // namespace simt::check
