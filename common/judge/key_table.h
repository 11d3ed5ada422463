// Keys in rows, as messages show them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "step/keys.h"

namespace lab {

/// Arrays of at most this number of keys are shown whole.
inline constexpr std::int64_t max_shown_keys = 32;

struct TableRow {
  const char* name;
  std::vector<std::string> cells;
};

/// Rows of keys below their indices, which begin with `first`. Indices that are marked are in brackets. Long rows are
/// continued below.
std::string key_table(std::int64_t first, const std::vector<TableRow>& rows,
                      const std::function<bool(std::int64_t)>& is_marked);

/// Keys as text, or pairs as "key:value" if there are values.
std::vector<std::string> texts_of(KeyType type, std::int64_t n, const void* keys, const std::uint32_t* values);

}  // namespace lab
