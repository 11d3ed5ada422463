// The sentences about findings and costs. No program reads them: what they say is in the facts, too.
#pragma once

#include <string>

#include "findings.h"
#include "report.h"

namespace simt::check {

/// What happened, what it happened with, what to do: each clause on a separate line. Needs resolved places.
std::string words_of(const Finding& finding);
/// Why a line costs more than it needs to, as far as the counts show it; "" if they do not.
std::string words_of(const Note& note);
/// Why no write has reached the keys: this array has been written instead. Null: no array has.
std::string words_on_unchanged(const Array* written);
/// "kernel sort, block (0,0,0), thread (3,0,0): ... has run for 5 s ..."
std::string words_on_long_run(const Fact& fact, double seconds, double limit);

/// "keys", "the array allocated at FILE:LINE", "allocation 3".
std::string name_of(const Array& array);
/// "keys[3] (a 4-byte access at byte 12 of 400)", "4 bytes before the start of keys".
std::string text_of(const Element& element);
/// "1 byte", "2 bytes".
std::string counted(std::uint64_t count, const std::string& unit);

}  // namespace simt::check
