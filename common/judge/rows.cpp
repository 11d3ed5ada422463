#include "judge/rows.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>

#include "step/error.h"

namespace lab {
namespace {

std::string header() {
  std::string text;
  for (const char* column : row_columns) text += (text.empty() ? "" : ",") + std::string(column);
  return text;
}

std::string field(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// Empty, or all of it a number.
bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return *end == '\0' && (end != text.c_str() || text.empty());
}

// The rows of a file, whose last one may have been cut short.
std::vector<Row> read(const std::string& path) {
  std::vector<Row> rows;
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) return rows;
  const std::size_t whole = text.rfind('\n') + 1;  // 0 if there is none
  if (whole < text.size()) {
    text.resize(whole);
    std::filesystem::resize_file(path, whole);
  }
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line)) return rows;
  if (line != header()) throw Error(path + " is not a file of measurements of this version: choose another");
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != std::size(row_columns)) throw Error(path + " is damaged: a row has another number of fields");
    Row row;
    for (std::size_t i = 0; i < fields.size(); ++i) row[row_columns[i]] = fields[i];
    for (const char* column : {"keys_per_s", "median_ms", "n", "step"}) {  // what is worked with here
      if (is_number(row[column])) continue;
      throw Error(path + " is damaged: '" + row[column] + "' as " + column + " of row " +
                  std::to_string(rows.size() + 2) + " is no number. Take that row out, and it is measured again");
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

RowFile::RowFile(const std::string& path) {
  if (path.empty()) {
    std::cout << header() << std::endl;
    return;
  }
  found_ = read(path);
  file_.open(path, std::ios::app);
  if (!file_) throw Error("cannot write " + path);
  if (file_.tellp() == 0) file_ << header() << std::endl;
}

void RowFile::add(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    bool first = true;
    for (const char* column : row_columns) {
      const auto value = row.find(column);
      text += (first ? "" : ",") + (value == row.end() ? "" : field(value->second));
      first = false;
    }
    text += '\n';
  }
  std::ostream& out = file_.is_open() ? file_ : std::cout;
  out << text << std::flush;
  if (!out) throw Error("the rows cannot be written: is the disk full?");
}

}  // namespace lab
