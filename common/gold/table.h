// The table of what steps are timed against.
#pragma once

#include <span>

#include "step/table.h"

namespace gold {

/// CUB's lines in the cuda build, those of the CPU's sorts in the others.
std::span<const lab::Step> table();

}  // namespace gold
