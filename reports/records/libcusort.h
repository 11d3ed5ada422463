// libcusort's radix sort as lines of a table of steps.
#pragma once

#include <span>

#include "step/table.h"

namespace libcusort {

/// Empty where the library was not given to Meson.
#ifdef LAB_HAVE_LIBCUSORT
std::span<const lab::Step> table();
#else
inline std::span<const lab::Step> table() { return {}; }
#endif

}  // namespace libcusort
