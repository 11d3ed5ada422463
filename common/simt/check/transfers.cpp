#include "transfers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace simt::check {
namespace {

/// Why two operations are not in order.
Advice advice_for_stream(const Operation& before) {
  const bool waits = state().order.streams.current_waits_for_event_of(before);
  return {waits ? "stream-event" : "streams", Remedy::stream};
}

/// "cudaMemcpyAsync", if one of the two is such a copy or fill in the default stream; else "".
std::string call_without_stream(const Operation& before) {
  for (const Operation& one : {state().order.streams.current(), before}) {
    if (one.stream != 0 || one.code == 0 || !one.name.starts_with("cudaMem")) continue;
    const std::string name = one.name.substr(0, one.name.find('('));
    return name.ends_with("Async") ? name : name + "Async";
  }
  return "";
}

Advice advice_for_host(const Operation& before) {
  const bool waits = state().order.streams.host_waits_for_event_of(before);
  return {waits ? "host-event" : "host", Remedy::stream};
}

bool is_known(const Access& access, Code other) {
  return state().findings.count_again("stream-race", access.code, other);
}

/// The access of an element; `fact` says who makes it.
Fact accessing(Fact fact, const Access& access, Element element) {
  fact.place.code = access.code;
  fact.way = access.way;
  fact.element = std::move(element);
  return fact;
}

/// `way` and `code`: of the operation's access of the same element.
void add(const Fact& now, const Operation& before, Way way, Code code, const Advice& what,
         Severity severity = Severity::error) {
  Fact earlier{.place = {.code = code}, .way = way, .element = now.element};
  (before.code != 0 ? earlier.call : earlier.kernel) = before.name;
  earlier.launch = Place::of(before.site);
  Details details;
  const bool may_lack_stream = std::string_view(what.why) == "streams";  // and no event was meant to order the two
  const std::string call = may_lack_stream ? call_without_stream(before) : "";
  if (!call.empty()) details.set("call", call);
  state().findings.add({.kind = "stream-race",
                        .why = call.empty() ? what.why : "without-stream",
                        .facts = {now, earlier},
                        .remedy = what.remedy,
                        .details = details,
                        .severity = severity,
                        .began = before.first_interval});
}

/// The running copy or fill has accessed a cell.
[[gnu::always_inline]] inline void keep(const Cell& cell, const Event& now, Way way) {
  if (way == Way::store) {
    cell.write = now;
  } else {
    cell.other_read = cell.read;
    cell.content.other_is_write = false;
    cell.read = now;
  }
}

/// The same for words_at_once words. `now`: as many of them.
void keep(const Cells& cells, std::size_t word, const Event* now, Way way) {
  constexpr std::size_t bytes = words_at_once * sizeof(Event);
  if (way == Way::store) {
    std::memcpy(cells.writes + word, now, bytes);
    return;
  }
  std::memcpy(cells.other_reads + word, cells.reads + word, bytes);
  std::memcpy(cells.reads + word, now, bytes);
  for (std::size_t w = word; w < word + words_at_once; ++w) cells.contents[w].other_is_write = false;
}

/// The running copy or fill accesses a cell.
void transfer(const Cell& cell, unsigned mask, const Access& access) {
  CheckState& all = state();
  const Event now = all.order.event_of(0, mask, Sync::plain, std::uint32_t(access.code - all.ownership.program));
  const auto look = [&](const Event& before, Way way) {
    if (!all.order.are_unordered(before, now, Space::global)) return false;
    report_stream_race(before, way, {.call = all.transfers.running.name + std::string("()")}, access);
    return true;
  };
  if (!look(cell.write, Way::store) && cell.content.other_is_write) look(cell.other_read, Way::store);
  if (access.way == Way::store && !look(cell.read, Way::load) && !cell.content.other_is_write) {
    look(cell.other_read, Way::load);
  }
  keep(cell, now, access.way);
}

/// Says whether the running copy or fill may race with an earlier access. Neighbouring cells were often accessed in the
/// same interval, so the last answer is kept.
class MayRace {
 public:
  bool operator()(const Event& before) {
    if (before.interval < first_) return false;
    if (before.interval != interval_) {
      interval_ = before.interval;
      is_unordered_ = state().order.streams.is_unordered(interval_);
    }
    return is_unordered_;
  }

  /// The same for any of words_at_once accesses; it may also be true if none does.
  bool any(const Event* before) {
    std::uint32_t last = 0;
    for (std::size_t e = 0; e < words_at_once; ++e) last = std::max(last, before[e].interval);
    if (last < first_) return false;
    std::uint32_t first = last;
    for (std::size_t e = 0; e < words_at_once; ++e) first = std::min(first, before[e].interval);
    return state().order.streams.is_any_unordered(std::max(first, first_), last);
  }

 private:
  const std::uint32_t first_ = state().order.first_concurrent(Space::global);
  std::uint32_t interval_ = 0;
  bool is_unordered_ = false;
};

void transfer(const void* begin, std::size_t bytes, Way way) {
  CheckState& all = state();
  if (!all.ownership.has_regions()) return;
  const Region* const region = all.ownership.region_at(std::uintptr_t(begin));
  if (region == nullptr || region->is_freed) return;
  // It matters only to operations that may run at the same time, or to the host.
  const bool may_matter =
      all.order.streams.has_streams() || (region->is_host_accessible && !all.transfers.running.host_waits);
  if (!may_matter) return;
  MayRace write_may_race, read_may_race, other_may_race;
  const Code code = Code(all.transfers.running.code) - 1;
  const Event whole = all.order.event_of(0, 15, Sync::plain, std::uint32_t(code - all.ownership.program));
  std::array<Event, words_at_once> wholes;
  wholes.fill(whole);
  const auto keep_words = [&](std::size_t word) {
    const Cells& cells = region->cells;
    if (write_may_race.any(cells.writes + word) || read_may_race.any(cells.reads + word) ||
        other_may_race.any(cells.other_reads + word)) {
      return false;
    }
    keep(cells, word, wholes.data(), way);
    return true;
  };
  const auto keep_cell = [&](const Cell& cell, unsigned mask, std::uintptr_t address, unsigned size) {
    if (mask == 15 && !write_may_race(cell.write) && !read_may_race(cell.read) && !other_may_race(cell.other_read)) {
      return keep(cell, whole, way);
    }
    transfer(cell, mask,
             {.address = address,
              .bytes = size,
              .way = way,
              .sync = Sync::plain,
              .space = Space::global,
              .thread = 0,
              .code = code});
  };
  for_each_cell(*region, begin, bytes, keep_words, keep_cell);
}

/// Records what the running copy or fill has written.
void trace(const void* begin, std::size_t bytes, const void* from) {
  CheckState& all = state();
  const auto region_of = [&](const void* at) -> const Region* {
    const Region* const region = at == nullptr ? nullptr : all.ownership.region_at(std::uintptr_t(at));
    return region == nullptr || region->is_freed || region->is_heap ? nullptr : region;
  };
  const auto offset_in = [](const Region& region, const void* at) {
    return std::size_t(static_cast<const char*>(at) - region.begin);
  };
  const Region *const to = region_of(begin), *const source = region_of(from);
  if (to == nullptr) return;
  all.trace.transfer(to->number, offset_in(*to, begin), bytes, source == nullptr ? 0 : source->number,
                     source == nullptr ? 0 : offset_in(*source, from), Code(all.transfers.running.code) - 1);
}

bool is_own_memory(const void* pointer) {
  CheckState& all = state();
  return !all.ownership.has_regions() || all.ownership.region_at(std::uintptr_t(pointer)) == nullptr;
}

/// Device memory that nothing was seen to write may hold what was written behind the observers' backs.
bool is_written_device_memory(const void* begin, std::size_t bytes) {
  const Ownership& own = state().ownership;
  const Region* const region = own.has_regions() ? state().ownership.region_at(std::uintptr_t(begin)) : nullptr;
  if (region == nullptr || region->is_host_accessible || !region->cells.exist()) return false;
  const std::size_t offset = std::size_t(static_cast<const char*>(begin) - region->begin);
  if (offset >= region->bytes || bytes > region->bytes - offset) return false;
  return own.first_unwritten(*region, offset, bytes).bytes == 0;
}

/// The host's own memory, to which a copy has not necessarily come yet. Most devices copy to it before the call
/// returns, but CUDA leaves that open.
void look_at_target(const Access& access) {
  CheckState& all = state();
  const std::optional<HostTarget> target = all.transfers.targets.find(access.address, access.bytes);
  if (!target) return;
  const Operation copy = all.order.streams.operation_of(target->interval);
  if (is_known(access, copy.code)) return;
  const Fact host =
      accessing({}, access,
                {.array = {.memory = Memory::host, .name = copy.name, .bytes = target->end - target->begin},
                 .offset = std::ptrdiff_t(access.address - target->begin),
                 .bytes = access.bytes});
  if (target->is_registered) return add(host, copy, Way::store, copy.code, advice_for_host(copy));
  add(host, copy, Way::store, copy.code, {"host-target", Remedy::stream}, Severity::remark);
}

/// The host's access of bytes for which a cell keeps this event.
void look_by_host(const Event& before, Way before_way, unsigned bytes, const Access& access) {
  CheckState& all = state();
  const StreamOrder& streams = all.order.streams;
  const bool may_run =
      all.transfers.in_host_function ? streams.is_unordered(before.interval) : streams.may_run(before.interval);
  const Code other = all.ownership.program + before.code;
  if ((before.bytes & bytes) == 0 || !may_run || is_known(access, other)) return;
  const Operation operation = streams.operation_of(before.interval);
  add(accessing({}, access, all.ownership.element_at(access)), operation, before_way, other,
      advice_for_host(operation));
}

}  // namespace

void HostTargets::add(const HostTarget& target) {
  const std::lock_guard lock(mutex_);
  targets_.push_back(target);
  exist_ = true;
  state().find_hosts_own();
}

std::optional<HostTarget> HostTargets::find(std::uintptr_t begin, std::size_t bytes) {
  const StreamOrder& streams = state().order.streams;
  const std::lock_guard lock(mutex_);
  std::erase_if(targets_, [&](const HostTarget& target) { return !streams.may_run(target.interval); });
  exist_ = !targets_.empty();
  if (!exist_) state().find_hosts_own();
  const auto found = std::find_if(targets_.begin(), targets_.end(), [&](const HostTarget& target) {
    return begin < target.end && begin + bytes > target.begin;
  });
  return found == targets_.end() ? std::nullopt : std::optional(*found);
}

void begin_transfer(const Transfer& transfer) {
  CheckState& all = state();
  all.images.look(nullptr);
  all.transfers.running = transfer;
  all.order.begin_launch(1);
  all.order.submit(handle_of(transfer.stream),
                   {.name = transfer.name + std::string("()"), .code = Code(transfer.code) - 1});
  all.order.begin_block(0);
}

void transfer_reads(const void* begin, std::size_t bytes) { transfer(begin, bytes, Way::load); }

void transfer_writes(const void* begin, std::size_t bytes, const void* from) {
  CheckState& all = state();
  transfer(begin, bytes, Way::store);
  if (all.trace.is_on() && all.ownership.has_regions()) trace(begin, bytes, from);
  all.ownership.written(begin, bytes, from == nullptr || is_written_device_memory(from, bytes));
  all.images.update(begin, bytes);
  if (all.transfers.running.host_waits || !is_own_memory(begin)) return;
  all.transfers.targets.add({.begin = std::uintptr_t(begin),
                             .end = std::uintptr_t(begin) + bytes,
                             .interval = all.order.interval(),
                             .is_registered = all.transfers.running.is_target_registered});
}

void end_transfer() {
  CheckState& all = state();
  if (all.transfers.running.host_waits)
    all.order.streams.host_waits_for_stream(handle_of(all.transfers.running.stream));
}

void freed_in_stream(const void* begin, const Transfer& call) {
  CheckState& all = state();
  begin_transfer(call);
  const bool may_race = all.order.streams.first_unordered() < all.order.first_of_launch();
  if (!may_race || !all.ownership.has_regions()) return;
  const Region* const region = all.ownership.region_at(std::uintptr_t(begin));
  if (region != nullptr && region->whole_begin == begin) transfer(begin, region->whole_bytes, Way::store);
}

void begin_host_function(const Transfer& call) {
  begin_transfer(call);
  state().transfers.in_host_function = true;
}

void end_host_function() { state().transfers.in_host_function = false; }

void report_stream_race(const Event& before, Way before_way, Fact now, const Access& access) {
  CheckState& all = state();
  const Code other = all.ownership.program + before.code;
  if (is_known(access, other)) return;
  const Operation operation = all.order.streams.operation_of(before.interval);
  add(accessing(std::move(now), access, all.ownership.element_at(access)), operation, before_way, other,
      advice_for_stream(operation));
}

[[gnu::cold, gnu::noinline]] void observe_host_order(const Region* region, const Access& access) {
  CheckState& all = state();
  // What the host does now may be what the kernel that was ended has waited for.
  const auto is_answer = [] { return sticky() == cudaErrorLaunchTimeout; };
  if (region == nullptr && all.transfers.targets.exist() && !is_answer()) look_at_target(access);
  if (region == nullptr) {
    const Region& variables = all.ownership.program_data;
    if (access.address - std::uintptr_t(variables.begin) >= variables.bytes || is_in_state(access.address)) return;
    region = &variables;
  }
  if (is_answer()) return;
  const void* const begin = reinterpret_cast<const void*>(access.address);
  for_each_cell(*region, begin, access.bytes, [&](const Cell& cell, unsigned mask, std::uintptr_t, unsigned) {
    if (access.sync == Sync::synchronized) {  // the host waits for what a kernel writes
      if (reads(access.way)) all.order.streams.host_waits_for_operation(cell.write.interval);
      return;
    }
    look_by_host(cell.write, Way::store, mask, access);
    if (access.way == Way::load) return;
    look_by_host(cell.read, Way::load, mask, access);
    if (!cell.content.other_is_write) look_by_host(cell.other_read, Way::load, mask, access);
  });
}

}  // namespace simt::check
