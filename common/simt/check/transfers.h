// Copies and fills by the host's calls, accesses by host code, and their order with what runs on the device's streams.
#pragma once

#include "state.h"

namespace simt::check {

/// The race of an access with one of an operation that may run at the same time: in another stream, or while the host
/// goes on. `now`: who accesses.
void report_stream_race(const Event& before, Way before_way, Fact now, const Access& access);

/// Host code accesses an element, while something may still run on the device.
void observe_host_order(const Region* region, const Access& access);

}  // namespace simt::check
