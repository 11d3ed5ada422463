// The document that CHECK_JSON asks for and that the judge receives.
#pragma once

#include <string>

#include "counts.h"
#include "report.h"

namespace simt::check {

/// The report and the counts of all launches.
std::string json_of(const Report& report, const Counts& counts);

}  // namespace simt::check
