// The file of measurements: one CSV row each, the same columns wherever rows are written.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace lab {

/// The columns. What a row does not know is empty: a row with a `kernel` tells of that kernel's launches (or of the
/// copies "to device" and "to host") in the measurement that stands above it, all others of a whole step.
///   repeats: timed runs; median_ms, q1_ms, q3_ms: of them; keys_per_s: n over the median
///   gb_per_s: bytes that the task cannot do without reading and writing once, over the median (of a copy: its bytes)
///   roof_gb_per_s: bytes read and written a second by a copy in the same memory in the same run; percent_of_roof
///   gold, ratio: the fastest gold standard for the same keys, and the speed as a multiple of its
///   grid, block, dynamic_shared, static_shared, registers: of a kernel's largest launch
inline constexpr const char* row_columns[] = {"lab",
                                              "step",
                                              "name",
                                              "task",
                                              "tile",
                                              "build",
                                              "type",
                                              "order",
                                              "input",
                                              "seed",
                                              "n",
                                              "blocks",
                                              "threads",
                                              "kernel",
                                              "launches",
                                              "repeats",
                                              "median_ms",
                                              "q1_ms",
                                              "q3_ms",
                                              "keys_per_s",
                                              "gb_per_s",
                                              "roof_gb_per_s",
                                              "percent_of_roof",
                                              "gold",
                                              "ratio",
                                              "grid",
                                              "block",
                                              "dynamic_shared",
                                              "static_shared",
                                              "registers",
                                              "status",
                                              "message",
                                              "machine_id",
                                              "machine",
                                              "commit",
                                              "date"};

using Row = std::map<std::string, std::string>;

/// Rows to a file that is appended to, or to standard output.
class RowFile {
 public:
  /// Errors: lab::Error where `path` cannot be written or holds something else than such rows. A last row that was cut
  /// short, by an interruption, is removed.
  explicit RowFile(const std::string& path);

  /// What the file held before.
  const std::vector<Row>& found() const { return found_; }

  /// Written in one go, so that an interruption leaves whole rows.
  void add(const std::vector<Row>& rows);

 private:
  std::ofstream file_;
  std::vector<Row> found_;
};

}  // namespace lab
