#include "stream_order.h"

#include <algorithm>

namespace simt::check {

void StreamOrder::join(Clock& clock, const Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (std::size_t s = 0; s < other.size(); ++s) clock[s] = std::max(clock[s], other[s]);
}

void StreamOrder::add_stream(Handle stream, bool is_blocking) {
  const std::lock_guard lock(mutex_);
  numbers_[stream] = unsigned(streams_.size());
  streams_.push_back({.is_blocking = is_blocking});
}

/// A handle that no call has made is a thread's own default stream, which is a blocking one.
unsigned StreamOrder::index_of(Handle stream) {
  if (numbers_.count(stream) == 0) add_stream(stream, true);
  return numbers_[stream];
}

const StreamOrder::Clock& StreamOrder::before_next(unsigned stream) {
  Clock& after = streams_[stream].after;
  join(after, host_after_);
  const auto add = [&](unsigned number) {
    const Stream& other = streams_[number];
    if (number != stream) join(after, other.after);
    if (after.size() <= number) after.resize(number + 1);
    after[number] = other.count;
  };
  add(stream);
  if (stream != 0 && streams_[stream].is_blocking) add(0);
  for (unsigned s = 1; stream == 0 && s < streams_.size(); ++s) {
    if (streams_[s].is_blocking) add(s);
  }
  return after;
}

void StreamOrder::find_unordered(const Clock& before, std::uint32_t first_interval) {
  unordered_.clear();
  bool is_after_all = true;
  for (unsigned s = 0; s < streams_.size(); ++s) is_after_all &= at(before, s) >= streams_[s].count;
  for (std::size_t i = 0; !is_after_all && i < operations_.size(); ++i) {
    const Operation& earlier = operations_[i];
    if (earlier.index <= at(before, earlier.stream)) continue;
    const std::uint32_t past = i + 1 < operations_.size() ? operations_[i + 1].first_interval : first_interval;
    unordered_.push_back({earlier.first_interval, past});
  }
  first_unordered_ = unordered_.empty() ? first_interval : unordered_.front().first;
}

void StreamOrder::submit(Handle handle, Operation operation) {
  const std::lock_guard lock(mutex_);
  operation.stream = index_of(handle);
  find_unordered(before_next(operation.stream), operation.first_interval);
  operation.index = ++streams_[operation.stream].count;
  operations_.push_back(operation);
  current_ = std::move(operation);
  may_run_ = true;
}

void StreamOrder::record(Handle event, Handle stream) {
  const std::lock_guard lock(mutex_);
  const unsigned number = index_of(stream);
  events_[event] = {before_next(number), number};
}

void StreamOrder::wait_for_event(Handle stream, Handle event) {
  const std::lock_guard lock(mutex_);
  const auto recorded = events_.find(event);
  if (recorded == events_.end()) return;  // then there is nothing to wait for
  const unsigned number = index_of(stream);
  join(streams_[number].after, recorded->second.after);
  waited_for_[number].insert(recorded->second.stream);
}

void StreamOrder::host_learns(const Clock& clock) {
  join(host_after_, clock);
  const auto has_ended = [&](const Operation& operation) {
    return operation.index <= at(host_after_, operation.stream);
  };
  while (!operations_.empty() && has_ended(operations_.front())) operations_.pop_front();
  may_run_ = !operations_.empty();
}

void StreamOrder::host_waits_for_stream(Handle stream) {
  const std::lock_guard lock(mutex_);
  host_learns(before_next(index_of(stream)));
}

void StreamOrder::host_waits_for_event(Handle event) {
  const std::lock_guard lock(mutex_);
  const auto recorded = events_.find(event);
  if (recorded == events_.end()) return;
  waited_for_[host].insert(recorded->second.stream);
  host_learns(recorded->second.after);
}

void StreamOrder::host_waits_for_all() {
  const std::lock_guard lock(mutex_);
  Clock all;
  for (const Stream& stream : streams_) all.push_back(stream.count);
  host_learns(all);
}

bool StreamOrder::is_any_unordered(std::uint32_t first, std::uint32_t last) const {
  const auto after = std::upper_bound(unordered_.begin(), unordered_.end(), last,
                                      [](std::uint32_t i, const Span& span) { return i < span.first; });
  return after != unordered_.begin() && first < std::prev(after)->past;
}

StreamOrder::Span StreamOrder::in_order_around(std::uint32_t interval) const {
  const auto after = std::upper_bound(unordered_.begin(), unordered_.end(), interval,
                                      [](std::uint32_t i, const Span& span) { return i < span.first; });
  return {after == unordered_.begin() ? 0 : std::prev(after)->past,
          after == unordered_.end() ? current_.first_interval : after->first};
}

const Operation* StreamOrder::find(std::uint32_t interval) const {
  const auto after =
      std::upper_bound(operations_.begin(), operations_.end(), interval,
                       [](std::uint32_t i, const Operation& operation) { return i < operation.first_interval; });
  return after == operations_.begin() ? nullptr : &*std::prev(after);
}

Operation StreamOrder::operation_of(std::uint32_t interval) const {
  const std::lock_guard lock(mutex_);
  const Operation* const operation = find(interval);
  return operation == nullptr ? Operation{} : *operation;
}

bool StreamOrder::may_run(std::uint32_t interval) const {
  const std::lock_guard lock(mutex_);
  const Operation* const operation = find(interval);
  return operation != nullptr && operation->index > at(host_after_, operation->stream);
}

void StreamOrder::host_waits_for_operation(std::uint32_t interval) {
  const std::lock_guard lock(mutex_);
  const Operation* const operation = find(interval);
  if (operation == nullptr) return;
  Clock clock(operation->stream + 1);
  clock.back() = operation->index;
  host_learns(clock);
}

bool StreamOrder::waits_for_event_of(const Operation& before, unsigned waiting) const {
  const std::lock_guard lock(mutex_);
  const auto streams = waited_for_.find(waiting);
  return streams != waited_for_.end() && streams->second.count(before.stream) != 0;
}

}  // namespace simt::check
