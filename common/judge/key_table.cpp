#include "judge/key_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "step/key_type.h"

namespace lab {
namespace {

constexpr std::size_t max_columns = 100;
constexpr const char* margin = "  ";

template <class Key>
std::string text_of(Key key) {
  if constexpr (std::is_floating_point_v<Key>) {
    if (key != key) return fmt::format("nan:{:x}", std::uint64_t{std::bit_cast<Bits<Key>>(key)});
    return fmt::format("{:.9g}", double(key));
  } else {
    return fmt::format("{}", key);
  }
}

}  // namespace

std::string key_table(std::int64_t first, const std::vector<TableRow>& rows,
                      const std::function<bool(std::int64_t)>& is_marked) {
  std::size_t count = 0, name_width = std::string_view("index").size();
  for (const TableRow& row : rows) {
    count = std::max(count, row.cells.size());
    name_width = std::max(name_width, std::string_view(row.name).size());
  }
  std::string table;
  for (std::size_t begin = 0; begin < count;) {
    std::vector<std::string> lines = {fmt::format("{}{:<{}}", margin, "index", name_width)};
    for (const TableRow& row : rows) lines.push_back(fmt::format("{}{:<{}}", margin, row.name, name_width));
    const std::size_t part = begin;
    for (; begin < count; ++begin) {
      const std::int64_t index = first + std::int64_t(begin);
      std::vector<std::string> cells = {is_marked(index) ? fmt::format("[{}]", index) : std::to_string(index)};
      for (const TableRow& row : rows) cells.push_back(begin < row.cells.size() ? row.cells[begin] : "");
      std::size_t width = 0;
      for (const std::string& cell : cells) width = std::max(width, cell.size());
      if (begin > part && lines[0].size() + 2 + width > max_columns) break;
      for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += fmt::format("  {:>{}}", cells[i], width);
    }
    table += (table.empty() ? "" : "\n") + fmt::format("{}", fmt::join(lines, "\n"));
  }
  return table;
}

std::vector<std::string> texts_of(KeyType type, std::int64_t n, const void* keys, const std::uint32_t* values) {
  return with_key(type, [&](auto tag) {
    const auto* const typed = static_cast<const typename decltype(tag)::Key*>(keys);
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < n; ++i) {
      texts.push_back(values ? fmt::format("{}:{}", text_of(typed[i]), values[i]) : text_of(typed[i]));
    }
    return texts;
  });
}

}  // namespace lab
