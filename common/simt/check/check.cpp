#include "check.h"

#include <execinfo.h>
#include <simt/observed.h>

#include <unistd.h>

#include <algorithm>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "../src/execution/failure.h"
#include "../src/execution/worker.h"
#include "accesses.h"
#include "faults.h"
#include "files.h"
#include "json.h"
#include "report.h"
#include "words.h"

namespace simt::check {
namespace {

void (*receiver)(const std::string& document) = nullptr;

/// A finding about what the running block does there.
void add(const char* kind, const char* why, Fact fact, Details details, Severity severity = Severity::error) {
  state().findings.add(
      {.kind = kind, .why = why, .facts = {std::move(fact)}, .details = std::move(details), .severity = severity});
}

void end_interval(CheckState& all, Site barrier) {
  all.pending.settle_all();
  all.shuffles.forget();
  all.requests.finish();
  all.order.begin_interval();
  if (all.trace.is_on()) all.trace.barrier(barrier);
}

[[gnu::constructor(102)]] void prepare_for_host() { state().ownership.make_table_early(); }

// Registered before the program's own handlers, and therefore called after them. A program that gives up, as a failed
// assertion of its host code does, needs the report most.
[[gnu::constructor(102)]] void register_end() {
  std::atexit(end_program);
  std::at_quick_exit(end_program);
  std::signal(SIGABRT, [](int) {
    std::signal(SIGABRT, SIG_DFL);
    end_program();
  });
}

}  // namespace

void begin_launch(const Launch& launch) {
  CheckState& all = state();
  all.images.look(nullptr);
  all.time.begin_launch();
  // Without streams, kernels follow one another, whether or not the host has waited for them.
  const StreamOrder& streams = all.order.streams;
  if (!streams.may_run() || !streams.has_streams()) all.ownership.forget_events(!streams.may_run());
  all.counts.begin_launch(launch);
  // A function that launches a kernel returns the error, unlike <<<>>>. Of launches from kernels, the host knows nothing.
  if (!launch.config.returns_error && launch.depth == 0) all.unread_launch = {launch.kernel.name, launch.kernel.site};
  all.ownership.begin_launch(launch.config.dynamic_shared);
  all.watch.program = all.ownership.program;
  all.order.begin_launch(launch.blocks);
  all.progress.begin_launch(launch);
  all.order.submit(handle_of(launch.config.stream), {.name = launch.kernel.name, .site = launch.kernel.site});
  all.running.has_exchanges = false;
  all.watch.array = nullptr;  // so that the next access of each array counts it as used by this launch
  if (all.trace.is_on()) all.trace.launch(launch);
}

void end_launch(const Launch& launch) {
  CheckState& all = state();
  all.images.look(&launch);
  if (all.images.are_kept()) all.ownership.clear_shared_arrays();
  all.counts.end_launch();
  all.results.launched(Worker::current().points());
  if (is_asked_to_end()) end_by_signal();
}

void error_read() { state().unread_launch.reset(); }

void report_unread_launch() {
  const auto& launch = state().unread_launch;
  if (!launch) return;
  const Place place = Place::of(launch->site);
  add("unchecked-launch", "error-unread", {.place = place, .kernel = launch->kernel, .launch = place}, {});
}

void begin_block(const Launch& launch, std::uint64_t block, void* dynamic_shared) {
  CheckState& all = state();
  all.running.launch = &launch;
  all.running.block = block;
  all.watch.mode = all.trace.is_on() ? Mode::observe_and_trace : Mode::observe;
  all.running.last_barrier = {};
  all.exits.begin_block();
  all.local_arrays.clear();
  all.ownership.dynamic_begin = static_cast<char*>(dynamic_shared);
  all.requests.begin_block();
  all.order.begin_block(block);
  all.progress.begin_block(block);
  if (all.trace.is_on()) all.trace.block(block);
}

void barrier_opened(Site site, int arrived) {
  CheckState& all = state();
  const Running& running = all.running;
  all.counts.launch().barriers += unsigned(arrived + lanes_per_warp - 1) / lanes_per_warp;
  if (all.time.is_up()) [[unlikely]] {
    end_for_time(site);
  }
  if (arrived != running.launch->threads) [[unlikely]] {
    all.exits.miss(site, running.launch->threads - arrived);
  }
  if (arrived != running.launch->threads && all.findings.remember_exit_at(site)) [[unlikely]] {
    add("early-exit", "barrier-without-all", running.here(site),
        {.all = {{"count", std::uint64_t(running.launch->threads - arrived)},
                 {"threads", std::uint64_t(running.launch->threads)}}},
        Severity::remark);
  }
  all.exits.begin_interval();
  end_interval(all, site);
  all.running.last_barrier = site;
}

void reached_grid_barrier(Site site, int arrived) {
  CheckState& all = state();
  all.counts.launch().barriers += unsigned(arrived + lanes_per_warp - 1) / lanes_per_warp;
  if (all.time.is_up()) [[unlikely]] {
    end_for_time(site);
  }
  all.exits.begin_interval();
  end_interval(all, site);
  all.running.last_barrier = site;
}

void grid_barrier_opened() { state().order.begin_phase(); }

Site left_before(unsigned thread, Site barrier) { return state().exits.left_before(thread, barrier); }

void stop_observing() {
  CheckState& all = state();
  if (all.running.launch != nullptr) all.pending.settle_all();
  all.shuffles.forget();
  if (all.trace.is_on()) all.trace.end_block();
  all.running.launch = nullptr;
  all.watch.mode = Mode::off;
  all.look_closely();
}

void end_block() {
  state().progress.end_trial();
  state().time.block_ended();
  state().pending.settle_all();
  state().requests.end_block();
  stop_observing();
}

void lanes_synchronized(unsigned warp, unsigned lanes, Site site) {
  CheckState& all = state();
  all.order.synchronize_lanes(warp, lanes);
  if (all.trace.is_on()) all.trace.lanes_synchronized(warp, lanes, site);
}

void thread_waits(unsigned thread, Site site) {
  if (Trace& trace = state().trace; trace.is_on()) trace.waits(thread, site);
}

void met_without_exited(Site site, const char* name, unsigned exited) {
  CheckState& all = state();
  if (!all.findings.remember_exit_at(site)) return;
  add("early-exit", "lanes-exited", all.running.here(site),
      {.all = {{"lanes", std::uint64_t(exited)}, {"primitive", name}}}, Severity::remark);
}

void met_at_two_places(Site site, Site others, const char* name) {
  CheckState& all = state();
  if (!all.findings.remember_meeting_at(site, others)) return;
  if (others.line < site.line) std::swap(site, others);
  Finding finding{.kind = "split-primitive",
                  .why = "two-places",
                  .facts = {all.running.here(site), all.running.here(others)},
                  .details = {.all = {{"primitive", name}}},
                  .severity = Severity::remark};
  all.findings.add(std::move(finding));
}

void shuffled(const Shuffle& shuffle) {
  CheckState& all = state();
  all.running.has_exchanges = true;
  all.shuffles.meet(shuffle);
  all.order.lanes_met(shuffle.warp, shuffle.lanes);
  if (all.trace.is_on()) all.trace.exchange(shuffle, shuffle.sources);
}

void exchanged(const Exchange& exchange) {
  CheckState& all = state();
  all.running.has_exchanges = true;
  all.order.lanes_met(exchange.warp, exchange.lanes);
  if (all.trace.is_on()) all.trace.exchange(exchange, nullptr);
}

void allocated(const void* begin, std::size_t bytes, bool is_host_accessible) {
  constexpr int max_frames = 12;
  void* frames[max_frames];
  const int count = backtrace(frames, max_frames);
  std::vector<Code> made_by;
  for (int i = 0; i < count; ++i) made_by.push_back(Code(frames[i]) - 1);
  if (state().ownership.allocated(begin, bytes, is_host_accessible, std::move(made_by))) return;
  end_program();
  std::fprintf(stderr,
               "error: out-of-memory: no room for what the check build keeps about an allocation of %zu bytes; run the "
               "program on less data, without the check build, or without a limit on its memory (ulimit -v)\n",
               bytes);
  _exit(3);
}
void kernel_gets(void* result, std::size_t bytes, const void* code) {
  observe_range(result, bytes, Way::store, Code(code) - 1);
}
void share_device_memory() { state().ownership.is_shared = true; }
void watch_device_memory(bool is_watched) {
  is_watched ? state().images.begin() : state().images.end();
  state().find_hosts_own();
}
void look_at_device_memory() { state().images.look(nullptr); }
void freed(const void* begin, const void* code) { state().ownership.freed(begin, Code(code) - 1); }
void copied_on_device(std::size_t bytes) { state().counts.add_copy(2 * bytes); }
void read_by_host(const void* begin, std::size_t bytes, const void* to, const void* code) {
  look_at_copy(begin, bytes, to, Code(code) - 1);
  state().results.copied(begin, bytes, Code(code) - 1);
  if (state().images.are_kept()) state().counts.bytes_to_host += bytes;
}

void stream_created(cudaStream_t stream, bool is_blocking) {
  state().order.streams.add_stream(handle_of(stream), is_blocking);
}
void event_recorded(cudaEvent_t event, cudaStream_t stream) {
  state().order.streams.record(Handle(event), handle_of(stream));
}
void stream_waits(cudaStream_t stream, cudaEvent_t event) {
  state().order.streams.wait_for_event(handle_of(stream), Handle(event));
}
void host_waits_for(cudaStream_t stream) { state().order.streams.host_waits_for_stream(handle_of(stream)); }
void host_waits_for(cudaEvent_t event) { state().order.streams.host_waits_for_event(Handle(event)); }
void host_waits_for_all() { state().order.streams.host_waits_for_all(); }

void narrow(const void* begin, std::size_t bytes, const char* name) { state().ownership.narrow(begin, bytes, name); }

std::size_t first_not_by_device(const void* begin, std::size_t bytes, const void* before) {
  return state().ownership.first_not_by_device(begin, bytes, before);
}

std::string why_unchanged(const void* begin, std::size_t bytes) {
  CheckState& all = state();
  if (all.ownership.is_written_by_device(begin, bytes)) return "";
  if (all.counts.launches().empty()) return "it launches no kernel";
  const Region* const scratch = all.ownership.left_behind();
  if (scratch == nullptr) return words_on_unchanged(nullptr);
  Array written = Ownership::array_of(*scratch);
  std::set<Code> codes;
  written.collect(codes);
  written.resolve(Places(codes));
  return words_on_unchanged(&written);
}

void add_finding(const char* kind, Site site, const std::string& text, const FailureFacts& facts) {
  Fact fact{.place = Place::of(site),
            .kernel = facts.kernel,
            .call = facts.call,
            .launch = Place::of(facts.launch),
            .block = facts.block,
            .thread = facts.thread};
  Finding finding{.kind = kind, .facts = {fact}, .said = text};
  for (const auto& [thread, at] : facts.others) {
    fact.place = Place::of(at);
    fact.thread = thread;
    finding.facts.push_back(fact);
  }
  const Ownership& own = state().ownership;
  if (const std::uintptr_t memory = std::uintptr_t(facts.memory); memory != 0 && own.has_regions()) {
    const Region* const region = state().ownership.region_at(memory);
    Element& element = finding.facts[0].element;
    element = {.array = region == nullptr ? Array{.memory = Memory::allocation} : Ownership::array_of(*region),
               .offset = facts.offset,
               .bytes = facts.bytes};
    if (region != nullptr && region->freed_by != 0) finding.details.set("freed", Place{region->freed_by});
  }
  for (const auto& [name, number] : facts.numbers) finding.details.set(name, number);
  for (const auto& [name, shape] : facts.shapes) finding.details.set(name, shape);
  state().findings.add(std::move(finding));
}

bool continues_search(const Launch& launch, std::uint64_t block) {
  CheckState& all = state();
  if (!all.progress.continues_search(launch, block)) return false;
  all.time.begin_search();
  return true;
}

void end_search() {
  if (!state().progress.is_searching()) return;
  state().progress.end_search();
  set_sticky(cudaErrorLaunchTimeout);
}

void clock_read() { state().progress.end_trial(); }

Code last_call() { return state().watch.last_call; }

bool must_interrupt(pthread_t thread) {
  CheckState& all = state();
  const Verdict verdict = all.time.look(thread);
  if (verdict == Verdict::in_time) return false;
  all.watch.look_closely();
  return verdict == Verdict::interrupt;
}

void end_for_time(Site site, std::optional<uint3> thread) {
  CheckState& all = state();
  if (all.progress.is_searching()) Worker::running()->abandon();
  Finding finding = all.time.take(all.running.has_later_blocks());
  finding.facts = {all.running.here(site)};
  finding.facts[0].thread = thread;
  all.findings.add(std::move(finding));
  stop(cudaErrorLaunchTimeout);
}

// A judge ends only programs that have not answered in time.
void ask_to_end(int signal) { state().time.ask_to_end(signal, is_judged()); }

bool is_judged() { return receiver != nullptr; }

bool is_asked_to_end() { return state().time.is_asked_to_end(); }

void end_by_signal() {
  const int signal = state().time.signal();
  end_program();
  std::signal(signal, SIG_DFL);
  kill(getpid(), signal);
  for (;;) pause();
}

void end_program() {
  CheckState& all = state();
  std::fflush(nullptr);
  all.results.end();
  all.unwritten_copies.end();
  const Report report = make_report(all);
  if (all.trace.is_on()) all.trace.write(report);
  print(report);
  const char* const path = std::getenv("CHECK_JSON");
  const bool has_path = path != nullptr && *path != '\0';
  if (has_path || receiver != nullptr) {
    const std::string document = json_of(report, all.counts);
    if (has_path) write_whole(path, document);
    if (receiver != nullptr) receiver(document);
  }
  std::fflush(nullptr);
  if (!report.findings.empty()) _exit(3);
  const auto waits_for_host = [](const Finding& remark) { return remark.kind == "waits-for-host"; };
  if (std::any_of(report.remarks.begin(), report.remarks.end(), waits_for_host)) _exit(1);  // not run to its end
}

std::string findings_json() {
  CheckState& all = state();
  const Report report = make_report(all);
  if (all.trace.is_on()) all.trace.write(report);
  return json_of(report, all.counts);
}

void send_findings_to(void (*new_receiver)(const std::string& document)) { receiver = new_receiver; }

}  // namespace simt::check

void simt::returned(Site site) { check::state().exits.leave(site); }
void simt::returned_before(int last, Site site) {
  check::CheckState& all = check::state();
  if (all.running.launch != nullptr) all.exits.leave_function(all.running.thread(), {site, last});
}
