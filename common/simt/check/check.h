// What the emulation reports to the check build's observers. Nothing here is part of a plain CPU build.
//
// The program is compiled with -fsanitize=thread and linked with callbacks.cpp in place of the sanitizer's runtime, so
// that the observers are called before every access. accesses.cpp finds out which memory it is (ownership.h), whether
// the access lies within bounds and reads what has been written, and whether its order with other accesses is left open
// (races.h, with order.h); then it adds the access to its warp's request (requests.h). What is found is kept as facts
// (facts.h) in findings.h and counts.h, and reported when the program ends (report.h, json.h), with sentences for people
// (words.h). trace.h records accesses for pictures.
// All of that is one CheckState (state.h).
//
// A checked program runs all its blocks on one OS thread: its numbers are the same in every run, and no locks are
// needed.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <cuda_runtime.h>

#include "../src/execution/failure.h"
#include "../src/execution/launch_state.h"
#include "access.h"
#include "time_limit.h"

namespace simt::check {

// --- launches ---

void begin_launch(const Launch& launch);
void end_launch(const Launch& launch);
void error_read();  ///< by cudaGetLastError() or cudaPeekAtLastError()
void begin_block(const Launch& launch, std::uint64_t block, void* dynamic_shared);
void barrier_opened(Site site, int arrived);
void end_block();
/// All threads of the running block are at the barrier of the grid; all threads of the grid are.
void reached_grid_barrier(Site site, int arrived);
void grid_barrier_opened();
void stop_observing();  ///< the block is about to be abandoned
void lanes_synchronized(unsigned warp, unsigned lanes, Site site);
/// The running block is about to fail, while this thread waits there.
void thread_waits(unsigned thread, Site site);
/// Where the thread has returned from a function before it came to this barrier of the function, since the last barrier.
/// Line 0: nowhere.
Site left_before(unsigned thread, Site barrier);
/// Lanes have met at a primitive whose mask names these lanes, too, which have exited.
void met_without_exited(Site site, const char* name, unsigned exited);
/// A lane meets others at a primitive that is not in the same place.
void met_at_two_places(Site site, Site others, const char* name);

/// Lanes have met at a shuffle, a vote or the like, and have their results.
struct Exchange {
  Site site;
  const char* name;
  unsigned warp;
  unsigned mask, lanes;          ///< as passed, and those of its lanes that take part
  const std::uint64_t* values;   ///< by lane: what it offers
  const std::uint64_t* results;  ///< by lane
};
void exchanged(const Exchange& exchange);
/// The same for a shuffle.
struct Shuffle : Exchange {
  const int* sources;       ///< by lane; a lane that keeps its value is its own source
  std::uint64_t undefined;  ///< what a lane gets from a source that does not take part
};
void shuffled(const Shuffle& shuffle);

// --- memory ---

void allocated(const void* begin, std::size_t bytes, bool is_host_accessible);
void share_device_memory();
/// Starts or stops the search for writes that are not observed (images.h).
void watch_device_memory(bool is_watched);
void look_at_device_memory();
/// `code`: the call's return address.
void freed(const void* begin, const void* code);
/// A kernel calls a function of the runtime, which stores a result there. `code`: the call's return address.
void kernel_gets(void* result, std::size_t bytes, const void* code);
/// A kernel calls cudaMalloc() or cudaFree(), which use the device's own heap.
void* allocated_by_kernel(std::size_t bytes, const void* code);
void freed_by_kernel(void* pointer, const void* code);
/// A copy from device memory to device memory, which moves as many bytes twice.
void copied_on_device(std::size_t bytes);
/// The host copies this memory to `to`. `code`: the copy's return address.
void read_by_host(const void* begin, std::size_t bytes, const void* to, const void* code);

// --- what the host hands to streams, and what it waits for ---

/// A call that copies or fills memory.
struct Transfer {
  const char* name;
  cudaStream_t stream;
  bool host_waits;                    ///< it returns when the copy has ended
  const void* code;                   ///< its return address
  bool is_target_registered = false;  ///< by cudaHostRegister()
};
/// Whether these bytes are not of the device's own heap, or all in one block of it, which is not freed; reported if not.
/// `name`: of the function that a kernel calls there.
bool is_in_heap_block(const void* begin, std::size_t bytes, const char* name, const void* code);
void begin_transfer(const Transfer& transfer);
void transfer_reads(const void* begin, std::size_t bytes);
/// `from`: what was copied; null for a fill.
void transfer_writes(const void* begin, std::size_t bytes, const void* from);
void end_transfer();
/// Host code that runs as an operation of a stream.
void begin_host_function(const Transfer& call);
void end_host_function();

/// cudaFreeAsync: like a kernel that writes the memory.
void freed_in_stream(const void* begin, const Transfer& call);

void stream_created(cudaStream_t stream, bool is_blocking);
void event_recorded(cudaEvent_t event, cudaStream_t stream);
void stream_waits(cudaStream_t stream, cudaEvent_t event);
void host_waits_for(cudaStream_t stream);
void host_waits_for(cudaEvent_t event);
void host_waits_for_all();

/// Bytes after a block's dynamic shared memory that catch what is written past its end.
inline constexpr std::size_t past_dynamic_shared = 65536;

// --- findings ---

/// A finding of the emulation, which knows the source line and makes the text.
void add_finding(const char* kind, Site site, const std::string& text, const FailureFacts& facts);
/// The program's last atomic or copy: the origin of a fault that happens in an observer or in a library.
Code last_call();

// --- blocks that wait for other blocks (progress.h) ---

/// After a block, whether or not it has ended. True: the next one runs in any case.
bool continues_search(const Launch& launch, std::uint64_t block);
/// After the launch's last block.
void end_search();
/// A kernel reads a clock, so that what it does next may change without a change of memory.
void clock_read();

// --- time, and the program's end ---

/// To be called repeatedly while a launch runs on that thread. True: interrupt it, because its time is up and it has no
/// more accesses.
bool must_interrupt(pthread_t thread);
/// Ends the launch whose time is up, and reports why. Without a thread: all of its block are there.
[[noreturn]] void end_for_time(Site site, std::optional<uint3> thread = {});
/// A signal asks the program to end: the time of the running launch is up.
void ask_to_end(int signal);
bool is_asked_to_end();
/// Whether a judge receives the findings.
bool is_judged();
/// Reports what has been found, and lets that signal end the program.
[[noreturn]] void end_by_signal();
/// Reports what has been found, and ends the program with exit code 3 if there were errors.
void end_program();

}  // namespace simt::check
