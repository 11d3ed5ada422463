// What the program does wrong, and where its memory requests cost more than they need to, by source line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "state.h"

namespace simt::check {

/// The cost of those instructions of a source line that access one kind of memory in one way.
struct LineCost {
  std::string place;
  Space space;
  Way way;
  Cost cost;
};

/// A line that costs more than it needs to.
struct Note {
  const LineCost* line;
  const char* kind;
  const char* unit;
  std::uint64_t ideal, actual;
};

struct Report {
  std::vector<Finding> findings;  ///< errors: one for each kind and line, in the order in which they came
  std::vector<Finding> remarks;   ///< the same, without those on lines that have an error
  std::vector<LineCost> lines;    ///< the most wasteful first
  std::vector<Note> notes;
};

Report make_report(const CheckState& state);

/// Prints one line for each finding and each note.
void print(const Report& report);

}  // namespace simt::check
