// Source lines of code addresses.
#pragma once

#include <map>
#include <set>
#include <string>

#include "access.h"

namespace simt::check {

/// The lines of code addresses, "file:line" with the file as the compiler was given it. Addresses without a line are
/// left out. `callers`: if the line is in a function that was inlined into another file, the line there that calls it.
std::map<Code, std::string> resolve(const std::set<Code>& codes, std::map<Code, std::string>* callers = nullptr);

}  // namespace simt::check
