#include "faults.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "../src/execution/worker.h"
#include "../src/memory/access.h"
#include "../src/memory/globals.h"
#include "accesses.h"
#include "places.h"
#include "simt/host_pointers.h"
#include "transfers.h"
#include "words.h"

namespace simt::check {
namespace {

/// What may be wrong if an element is outside its array.
const char* why_outside(const Access& access, const Element& element) {
  if (element.array.memory == Memory::dynamic_shared) return "dynamic-size";
  if (state().ownership.has_bytes_for_keys(access)) return "sizeof";
  return element.offset < 0 ? "index-below-zero" : "index";
}

/// A finding at the access. Without a reason: it is outside its array.
void report(const char* kind, const Access& access, const char* why = nullptr, Details details = {}) {
  CheckState& all = state();
  if (all.trace.is_on()) all.trace.fault(access);
  if (all.findings.count_again(kind, access.code)) return;
  const Fact fact = fact_of(access);
  all.findings.add({.kind = kind,
                    .why = why != nullptr ? why : why_outside(access, fact.element),
                    .facts = {fact},
                    .details = std::move(details),
                    .last_barrier = all.running.last_barrier});
}

/// Whether the access is the program's: not part of a copy that the observers make for themselves, in their own code or
/// in code that the program shares with them.
bool is_programs(const Access& access) {
  Ownership& own = state().ownership;
  if (own.region_at(access.address) != nullptr || access.address - std::uintptr_t(own.tls) < own.shared_last ||
      access.address - std::uintptr_t(own.dynamic_begin) < own.dynamic_bytes) {
    return true;
  }
  static auto& others = *new std::set<Code>;
  if (others.count(access.code) != 0) return false;
  const auto places = resolve({access.code});
  const auto is_in = [&](const char* folder) { return places.begin()->second.find(folder) != std::string::npos; };
  if (!places.empty() && !is_in("simt/src/") && !is_in("simt/check/")) return true;
  others.insert(access.code);
  return false;
}

/// Whether a GPU could not access this memory, which has no owner: the host's heap or stack.
bool is_hosts(std::uintptr_t address) {
  const CheckState& all = state();
  void* const pointer = reinterpret_cast<void*>(address);
  const Kernel& kernel = all.running.launch->kernel;
  const bool is_argument = address - std::uintptr_t(kernel.arguments) < kernel.bytes;
  if (is_argument || Worker::running()->stacks().contains(pointer) || all.ownership.is_near_tls(address)) return false;
  return is_host_heap_or_stack(pointer) && !is_device(pointer);
}

/// What is_by_launch() has found, by the place of the access in the code.
auto& known_by_launch = *new std::map<Code, bool>;

/// Whether the launch reads there which kernel it calls: a pointer to it may be in a variable of the host.
bool is_by_launch(const Access& access) {
  const auto [entry, is_new] = known_by_launch.try_emplace(access.code, false);
  if (is_new && access.way == Way::load) {
    const auto places = resolve({access.code});
    const std::string launch = file_and_line(state().running.launch->kernel.site);
    entry->second = !places.empty() && places.begin()->second.ends_with(launch);
  }
  return entry->second;
}

}  // namespace

void stop(cudaError_t error) {
  set_sticky(error);
  Worker::running()->abandon();
}

[[gnu::cold, gnu::noinline]] void report_out_of_bounds(const Access& access) { report("out-of-bounds", access); }

[[gnu::cold, gnu::noinline]] void report_constant_write(const Access& access) {
  report("constant-write", access, "constant");
}

[[gnu::cold, gnu::noinline]] void report_use_after_free(const Access& access, Code freed_by) {
  Details details;
  if (freed_by != 0) details.set("freed", Place{freed_by});
  report("use-after-free", access, "freed", std::move(details));
  stop(cudaErrorIllegalAddress);
}

bool is_in_heap_block(const Access& access) {
  const DeviceHeap::Block* const block = state().heap.near(access.address);
  if (block == nullptr || access.address + access.bytes > block->begin + block->bytes) {
    report_out_of_bounds(access);
    return false;
  }
  if (block->freed_by != 0) report_use_after_free(access, block->freed_by);
  return true;
}

[[gnu::cold, gnu::noinline]] void report_misaligned(const Access& access) {
  report("misaligned", access, "alignment");
  if (access.bytes == 16) stop(cudaErrorMisalignedAddress);  // the processor refuses it, too
}

namespace {

/// Whether nothing has written any whole word of the allocation.
bool is_never_written(const Access& access) {
  Ownership& own = state().ownership;
  if (access.space == Space::shared || state().findings.is_known("uninitialized", access.code)) return false;
  const Region* const region = own.region_at(access.address);
  if (region == nullptr || region->is_heap || region->bytes < 4) return false;
  return own.first_unwritten(*region, 0, region->bytes).bytes == region->bytes / 4 * 4;
}

/// Why something that is read has not been written, and what is known of its array.
std::pair<const char*, Details> why_uninitialized(const Cell& cell, const Event& now, const Access& access) {
  Ownership& own = state().ownership;
  if (is_never_written(access)) return {"never-written", {}};
  if (own.is_lone_pointer(access)) return {"one-pointer", {}};
  if ((cell.content.initialized & now.bytes) != 0) return {"some-bytes", {}};
  const auto& known = state().findings.all();
  // What has been reported counts as written from then on.
  const bool is_first =
      std::none_of(known.begin(), known.end(), [](const Finding& finding) { return finding.kind == "uninitialized"; });
  Details details;
  if (is_first) own.describe_written(access, details);
  return {"unwritten", std::move(details)};
}

}  // namespace

[[gnu::cold, gnu::noinline]] void report_uninitialized(const Cell& cell, const Event& now, const Access& access) {
  state().exits.blame(access);
  // The reason takes long to find.
  const bool is_known = state().findings.is_known("uninitialized", access.code);
  auto [why, details] = is_known ? std::pair("", Details()) : why_uninitialized(cell, now, access);
  report("uninitialized", access, why, std::move(details));
  cell.content.initialized |= now.bytes;  // reported once
  const Order& order = state().order;
  if (access.space == Space::shared && cell.write.interval < order.first_of_block()) {
    // A write of this block that has no bytes: nothing races with it.
    cell.write = now;
    cell.write.interval = order.first_of_block();
    cell.write.clock = 0;
    cell.write.bytes = 0;
    cell.write.is_synchronized = true;
    cell.write.is_atomic = false;
  }
}

namespace {

/// An exchange of what nothing has written.
struct Exchange {
  Access access;
  const char* why;
  Details details;
};

/// By block and thread: the last one. The program uses its result soon, if at all.
auto& exchanges = *new std::map<std::pair<std::uint64_t, unsigned>, Exchange>;
constexpr std::size_t max_exchanges = 4096;

}  // namespace

[[gnu::cold, gnu::noinline]] void await_use(const Cell& cell, const Event& now, const Access& access) {
  if (exchanges.size() >= max_exchanges) exchanges.clear();
  auto [why, details] = why_uninitialized(cell, now, access);
  exchanges[{state().running.block, access.thread}] = {access, why, std::move(details)};
}

[[gnu::cold, gnu::noinline]] void count_array(Symbol& array, Code code) {
  CheckState& all = state();
  array.used_in_launch = all.order.first_of_launch();
  std::size_t& bytes = all.counts.launch().static_shared;
  bytes += array.bytes;
  if (bytes <= max_static_shared) return;
  all.findings.add({.kind = "invalid-launch",
                    .why = "shared-size",
                    .facts = {{.place = {.code = code},
                               .kernel = all.running.launch->kernel.name,
                               .launch = Place::of(all.running.launch->kernel.site)}},
                    .details = {.all = {{"bytes", std::uint64_t(bytes)}}}});
}

namespace {

/// Whether it is a variable of the program that a kernel has written. __managed__ ones belong to both.
bool is_variable_of_kernels(const Access& access) {
  const Ownership& own = state().ownership;
  const std::size_t in_data = access.address - std::uintptr_t(own.program_data.begin);
  if (in_data >= own.program_data.bytes || is_in_state(access.address)) return false;
  if (is_managed_variable(reinterpret_cast<const void*>(access.address))) return false;
  const Cell cell = own.program_data.cells.word(in_data / 4);
  return cell.content.is_split ? own.program_data.cells.byte(in_data / 4, in_data % 4).content.by_device
                               : cell.content.by_device;
}

/// Whether kernels may have written what the host accesses.
bool is_shared_with_device(const Access& access, const Region* region) {
  if (region == nullptr) return is_managed_variable(reinterpret_cast<const void*>(access.address));
  return region->is_host_accessible && !region->is_freed &&
         access.address - std::uintptr_t(region->begin) + access.bytes <= region->bytes;
}

[[gnu::noinline]] void observe_copied(std::uintptr_t begin, std::size_t bytes, Way way, Code code) {
  state().unwritten_copies.observe(begin, bytes, way, code, __builtin_frame_address(0));
}

}  // namespace

[[gnu::noinline]] void observe_host(const Access& access) {
  CheckState& all = state();
  if (all.watch.mode == Mode::recording) return;
  if (all.unwritten_copies.exist()) observe_copied(access.address, access.bytes, access.way, access.code);
  if (reads(access.way) && is_variable_of_kernels(access)) {
    if (all.findings.count_again("device-variable", access.code)) return;
    all.findings.add({.kind = "device-variable", .why = "written-by-kernel", .facts = {fact_by_host(access)}});
    return;
  }
  if (all.images.are_kept() && all.ownership.used_array_at(access.address) != nullptr) {
    if (all.findings.count_again("device-variable", access.code)) return;
    all.findings.add({.kind = "device-variable", .why = "shared-by-host", .facts = {fact_by_host(access)}});
    return;
  }
  if (all.ownership.is_shared) return;
  const Region* const region = all.ownership.has_regions() ? all.ownership.region_at(access.address) : nullptr;
  if (all.results.is_on() && reads(access.way) && is_shared_with_device(access, region)) all.results.read(access);
  if (region == nullptr || region->is_host_accessible || region->is_freed ||
      access.address - std::uintptr_t(region->begin) >= region->bytes) {
    if (all.order.streams.may_run()) observe_host_order(region, access);
    return;
  }
  if (all.findings.count_again("device-pointer", access.code)) return;
  all.findings.add({.kind = "device-pointer", .why = "device-memory", .facts = {fact_by_host(access)}});
}

void observe_host_range(const void* pointer, std::size_t bytes, Way way, Code code) {
  const CheckState& all = state();
  if (all.unwritten_copies.exist()) observe_copied(std::uintptr_t(pointer), bytes, way, code);
  if (!all.ownership.has_regions()) return;
  const Region* const region = state().ownership.region_at(std::uintptr_t(pointer));
  const bool is_array = all.images.are_kept() && all.ownership.used_array_at(std::uintptr_t(pointer)) != nullptr;
  const bool is_devices = region != nullptr && !region->is_host_accessible && !region->is_freed;
  const bool is_variable =
      std::uintptr_t(pointer) - std::uintptr_t(all.ownership.program_data.begin) < all.ownership.program_data.bytes;
  if (!is_devices && !is_variable && !is_array && !all.order.streams.may_run()) return;
  Access access{.address = std::uintptr_t(pointer),
                .bytes = 1,
                .way = way,
                .sync = Sync::plain,
                .space = Space::global,
                .thread = 0,
                .code = code};
  // Until the first finding: one per copy is enough.
  for (const std::size_t known = all.findings.count(); bytes != 0 && all.findings.count() == known;) {
    access.bytes = access.address % 4 == 0 && bytes >= 4 ? 4 : 1;
    observe_host(access);
    access.address += access.bytes;
    bytes -= access.bytes;
  }
}

[[gnu::noinline]] void observe_unowned(const Access& access, const void* frame) {
  if (LocalArrays& arrays = state().local_arrays; arrays.exist() && arrays.observe(access)) return;
  if (access.address - std::uintptr_t(frame) < between_stacks) return;
  CheckState& all = state();
  const auto report_unowned = [&](const char* kind, const char* why, Details details = {}) {
    Fact fact = all.running.by(access.thread, access.code);
    fact.way = access.way;
    all.findings.add({.kind = kind, .why = why, .facts = {std::move(fact)}, .details = std::move(details)});
  };
  if (Worker::running()->stacks().in_another(reinterpret_cast<void*>(access.address), frame)) {
    return report_unowned("out-of-bounds", "other-thread");
  }
  if (all.ownership.is_observers(access.address)) {
    char address[32];
    std::snprintf(address, sizeof address, "%#zx", std::size_t(access.address));
    report_unowned("out-of-bounds", "wild-pointer", {.all = {{"address", std::string(address)}}});
    stop(cudaErrorIllegalAddress);
  }
  // Each thread reads it, and the system takes long to say whose memory it is.
  if (const auto known = known_by_launch.find(access.code); known != known_by_launch.end() && known->second) {
    all.running.choice_of_kernel = {access.code, access.address};
    return;
  }
  if (!is_hosts(access.address) || is_by_launch(access)) return;
  report_unowned("host-pointer", "host-memory");
  stop(cudaErrorIllegalAddress);
}

[[gnu::cold, gnu::noinline]] void trace(Access access) {
  CheckState& all = state();
  Ownership& own = all.ownership;
  const auto record = [&](std::size_t offset, const Owner& owner, Space space) {
    access.space = space;
    all.trace.access(owner, access, offset);
  };
  const std::size_t in_tls = access.address - std::uintptr_t(own.tls);
  if (in_tls < own.shared_last) {
    if (in_tls < own.shared_first) return;
    const Symbol* const array = own.array_near(in_tls, access.code);
    if (array == nullptr || own.is_guard(in_tls)) return;
    return record(in_tls - array->offset, {array, array->name.c_str(), 0, array->bytes}, Space::shared);
  }
  const std::size_t in_dynamic = access.address - std::uintptr_t(own.dynamic_begin);
  if (in_dynamic < own.dynamic_bytes + past_dynamic_shared) {
    return record(in_dynamic, {&own.dynamic_cells, "dynamic", 0, own.dynamic_bytes}, Space::shared);
  }
  if (access.address - std::uintptr_t(own.program_data.begin) < own.program_data.bytes) {
    if (own.symbols.variables.empty() || is_in_state(access.address)) return;
    const std::size_t in_program = access.address - own.program;
    const Symbol* const variable = symbol_at(own.symbols.variables, in_program);
    return record(in_program - variable->offset, {variable, variable->name.c_str(), 0, variable->bytes}, Space::global);
  }
  const Region* const region = own.region_at(access.address);
  if (region == nullptr || region->is_freed) return;
  const std::size_t offset = access.address - std::uintptr_t(region->begin);
  const bool is_outside = offset >= region->bytes || access.bytes > region->bytes - offset;
  if (is_outside && outside(*region, offset, access.bytes) == Outside::elsewhere) return;
  const char* const name = region->is_heap ? "the device's heap" : region->name;
  record(offset, {region, name, region->number, region->bytes, &region->made_by}, Space::global);
}

namespace {

/// At once, because the program may not end. A judge has its own limits.
void note_long_run(const Access& access, double seconds) {
  const CheckState& all = state();
  if (is_judged()) return;
  std::fprintf(stderr, "%s: note: still-running: %s\n", Places({access.code}).in_source_or_unknown(access.code).c_str(),
               words_on_long_run(all.running.by(access.thread), seconds, TimeLimit::limit()).c_str());
  std::fflush(stderr);
}

/// Whether the access reads, as part of a wait, what no thread of the launch has written and the host may write: memory
/// that both access, or any if there are several streams. (An atomic may wait for a lock.)
bool may_wait_for_host(const Access& access) {
  CheckState& all = state();
  if (is_judged() || access.sync != Sync::synchronized || access.way != Way::load) return false;
  const std::uintptr_t in_data = access.address - std::uintptr_t(all.ownership.program_data.begin);
  const bool is_variable = in_data < all.ownership.program_data.bytes;
  const Region* const region = is_variable                   ? &all.ownership.program_data
                               : all.ownership.has_regions() ? all.ownership.region_at(access.address)
                                                             : nullptr;
  if (region == nullptr || region->is_freed || region->is_heap) return false;
  bool is_written = false;
  const void* const begin = reinterpret_cast<const void*>(access.address);
  for_each_cell(*region, begin, access.bytes, [&](const Cell& cell, unsigned, std::uintptr_t, unsigned) {
    is_written |= cell.write.interval >= all.order.first_of_launch();
  });
  const bool is_shared = region->is_host_accessible || (is_variable && is_managed_variable(begin));
  return !is_written && (is_shared || all.order.streams.has_streams());
}

}  // namespace

[[gnu::cold, gnu::noinline]] void look_at_time(const Access& access) {
  CheckState& all = state();
  if (all.progress.is_trial()) return all.progress.try_access(access);
  if (!all.time.is_up()) {
    if (const double seconds = all.time.answer(); seconds > 0) note_long_run(access, seconds);
    return;
  }
  all.time.suspend();
  if (all.progress.is_searching()) {
    all.progress.follow_search(access);
    Worker::running()->abandon();
  }
  if (!is_programs(access)) return all.time.resume();  // the program's next access is near
  const bool has_asked = all.time.is_asked_to_end();
  Finding finding = all.time.take(all.running.has_later_blocks());
  finding.facts = {all.running.by(access.thread, access.code)};
  if (!has_asked && may_wait_for_host(access)) {
    finding = {
        .kind = "waits-for-host", .why = "waits-for-host", .facts = {fact_of(access)}, .severity = Severity::remark};
  }
  if (!has_asked && all.progress.begin_search(access, finding)) {
    all.time.begin_search();
    Worker::running()->abandon();
  }
  all.findings.add(finding);
  stop(cudaErrorLaunchTimeout);
}

}  // namespace simt::check

unsigned long long simt::used_old_value(const volatile void* address, unsigned long long old) noexcept {
  using namespace check;
  const Running& running = state().running;
  if (running.launch != nullptr) state().exchanges.used({running.block, running.thread()});
  if (exchanges.empty() || running.launch == nullptr) return old;
  const auto entry = exchanges.find({running.block, running.thread()});
  if (entry == exchanges.end() || entry->second.access.address != std::uintptr_t(address)) return old;
  auto exchange = std::move(entry->second);
  exchanges.erase(entry);
  state().exits.blame(exchange.access);
  check::report("uninitialized", exchange.access, exchange.why, std::move(exchange.details));
  return old;
}
