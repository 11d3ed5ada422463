// What a runner reports about its device and its steps.
#pragma once

#include <span>
#include <string>

#include "step/table.h"

namespace lab {

/// The JSON document that answers `describe`. The device's bandwidth is measured only if asked for: it takes 2 GiB.
std::string describe(std::span<const Step> steps, bool measure_bandwidth);

}  // namespace lab
