// Places in a finding's text whose source lines are not known yet: code addresses are resolved all at once, when
// findings are reported.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "places.h"

namespace simt::check {

/// Becomes "FILE:LINE".
std::string mention(Code code);
/// Becomes "the array allocated at FILE:LINE", or "allocation NUMBER" if no line is known. `frames`: the calls that led
/// to the allocation, innermost first. The first one in a .cu file is named.
std::string mention_allocation(int number, const std::vector<Code>& frames);

/// Adds the code addresses that a text mentions.
void collect_mentions(const std::string& text, std::set<Code>& codes);
std::string with_lines(const std::string& text, const Places& places);
/// The same for a text that is needed at once.
std::string with_lines(const std::string& text);

}  // namespace simt::check
