#include "mentions.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>

namespace simt::check {
namespace {

// A mention is "{at CODE}" or "{allocation NUMBER CODE CODE ...}", with code addresses as hexadecimal numbers.
constexpr const char *at = "{at", *allocation = "{allocation";

std::string hexadecimal_word(Code code) {
  char text[32];
  std::snprintf(text, sizeof text, " %zx", std::size_t(code));
  return text;
}

struct Mention {
  bool is_allocation;
  int number = 0;
  std::vector<Code> codes = {};
};

Mention parse(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  Mention mention{word == allocation};
  if (mention.is_allocation) words >> mention.number;
  while (words >> word) mention.codes.push_back(std::strtoull(word.c_str(), nullptr, 16));
  return mention;
}

/// Calls `replace` for each mention in the text. Returns the text with what it returned in their places.
std::string replaced(const std::string& text, const std::function<std::string(const Mention&)>& replace) {
  std::string result;
  for (std::size_t from = 0;;) {
    const std::size_t begin = std::min(text.find(at, from), text.find(allocation, from));
    const std::size_t end = begin == std::string::npos ? begin : text.find('}', begin);
    if (end == std::string::npos) return result + text.substr(from);
    result += text.substr(from, begin - from) + replace(parse(text.substr(begin, end - begin)));
    from = end + 1;
  }
}

std::string line_of_allocation(const Mention& mention, const Places& places) {
  std::string best;
  for (const Code code : mention.codes) {
    const std::string line = places.in_source(code);
    if (line.empty() || line.find("common/simt/") != std::string::npos) continue;
    if (is_in_source(line)) return "the array allocated at " + line;
    if (best.empty()) best = line;
  }
  return best.empty() ? "allocation " + std::to_string(mention.number) : "the array allocated at " + best;
}

}  // namespace

std::string mention(Code code) { return at + hexadecimal_word(code) + "}"; }

std::string mention_allocation(int number, const std::vector<Code>& frames) {
  std::string text = allocation + (" " + std::to_string(number));
  for (const Code code : frames) text += hexadecimal_word(code);
  return text + "}";
}

void collect_mentions(const std::string& text, std::set<Code>& codes) {
  replaced(text, [&](const Mention& mention) {
    codes.insert(mention.codes.begin(), mention.codes.end());
    return std::string();
  });
}

std::string with_lines(const std::string& text, const Places& places) {
  return replaced(text, [&](const Mention& mention) {
    return mention.is_allocation ? line_of_allocation(mention, places)
                                 : places.in_source_or_unknown(mention.codes.front());
  });
}

std::string with_lines(const std::string& text) {
  std::set<Code> codes;
  collect_mentions(text, codes);
  return with_lines(text, Places(codes));
}

}  // namespace simt::check
