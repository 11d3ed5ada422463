// Which operations of streams, and of the host, are in order.
#include "stream_order.h"

#include <doctest/doctest.h>

using namespace simt::check;

namespace {

constexpr Handle blocking = 10, other_blocking = 11, independent = 20, other_independent = 21, event = 30;

/// Two streams of each kind. Each operation has ten intervals.
struct Streams : StreamOrder {
  Streams() {
    add_stream(blocking, true);
    add_stream(other_blocking, true);
    add_stream(independent, false);
    add_stream(other_independent, false);
  }
  /// Returns one of its intervals.
  std::uint32_t run(Handle stream) {
    submit(stream, {.name = "kernel", .first_interval = next});
    next += 10;
    return next - 3;
  }
  std::uint32_t next = 1;
};

}  // namespace

TEST_CASE("operations of one stream are in order, those of two streams are not") {
  Streams streams;
  const auto first = streams.run(independent);
  streams.run(independent);
  CHECK_FALSE(streams.is_unordered(first));
  CHECK(streams.first_unordered() == 11);
  const auto third = streams.run(other_independent);
  CHECK(streams.is_unordered(first));
  CHECK(streams.first_unordered() == 1);
  CHECK_FALSE(streams.is_unordered(third));
}

TEST_CASE("blocking streams and the default stream wait for each other, other streams for none") {
  Streams streams;
  const auto in_blocking = streams.run(blocking), in_independent = streams.run(independent);
  const auto in_default = streams.run(default_stream);
  CHECK_FALSE(streams.is_unordered(in_blocking));
  CHECK(streams.is_unordered(in_independent));
  streams.run(other_blocking);  // after the default stream, and so after what that has waited for
  CHECK_FALSE(streams.is_unordered(in_default));
  CHECK_FALSE(streams.is_unordered(in_blocking));
  streams.run(other_independent);
  CHECK(streams.is_unordered(in_default));
}

TEST_CASE("a stream that waits for an event comes after what was recorded, and not after the rest") {
  Streams streams;
  const auto before = streams.run(independent);
  streams.record(event, independent);
  const auto after = streams.run(independent);
  streams.wait_for_event(other_independent, event);
  streams.run(other_independent);
  CHECK_FALSE(streams.is_unordered(before));
  CHECK(streams.is_unordered(after));
  CHECK(streams.operation_of(after).index == 2);
  CHECK(streams.current_waits_for_event_of(streams.operation_of(after)));
  streams.run(blocking);
  CHECK(streams.is_unordered(before));
  CHECK_FALSE(streams.current_waits_for_event_of(streams.operation_of(after)));
}

TEST_CASE("what the host has waited for precedes everything that it starts then") {
  Streams streams;
  CHECK_FALSE(streams.may_run());
  const auto first = streams.run(independent), second = streams.run(other_independent);
  CHECK(streams.may_run(first));
  streams.host_waits_for_stream(independent);
  CHECK_FALSE(streams.may_run(first));
  CHECK(streams.may_run(second));
  streams.run(blocking);
  CHECK_FALSE(streams.is_unordered(first));
  CHECK(streams.is_unordered(second));
  streams.host_waits_for_all();
  CHECK_FALSE(streams.may_run(second));
  CHECK_FALSE(streams.may_run());
}

TEST_CASE("an event that the host waits for covers what was recorded, an unknown one nothing") {
  Streams streams;
  const auto before = streams.run(independent);
  streams.record(event, independent);
  const auto after = streams.run(independent);
  streams.host_waits_for_event(event + 1);
  CHECK(streams.may_run(before));
  streams.host_waits_for_event(event);
  CHECK_FALSE(streams.may_run(before));
  CHECK(streams.may_run(after));
  CHECK(streams.host_waits_for_event_of(streams.operation_of(after)));
  streams.host_waits_for_operation(after);
  CHECK_FALSE(streams.may_run(after));
}
