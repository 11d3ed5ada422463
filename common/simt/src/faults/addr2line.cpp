#include "addr2line.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

namespace simt {
namespace {

constexpr std::size_t most_at_once = 4000;  // a command may have 128 KiB

using Lines = std::vector<std::string>;

std::string command_for(const std::uintptr_t* addresses, std::size_t count) {
  // This file is the running program, even if it has been compiled again and another file has its name.
  std::string command = "exec addr2line -a -f -i -e /proc/" + std::to_string(getpid()) + "/exe";
  for (std::size_t i = 0; i < count; ++i) {
    char text[32];
    std::snprintf(text, sizeof text, " 0x%zx", std::size_t(addresses[i]));
    command += text;
  }
  return command + " 2>/dev/null";
}

std::string line_of(const char* text) {
  const char* const end = std::strstr(text, " (discriminator ");
  const std::string line(text, end != nullptr ? std::size_t(end - text) : std::strcspn(text, "\n"));
  return line.starts_with("./") ? line.substr(2) : line;
}

std::string ending(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status)) + " ended it";
  if (WEXITSTATUS(status) == 127) return "it was not found; install binutils";
  return "it printed too little and ended with status " + std::to_string(WEXITSTATUS(status));
}

/// Runs the command, which prints about `addresses` addresses. Returns what went wrong, or "".
std::string run(const std::string& command, std::size_t addresses, Lines& lines) {
  lines.clear();
  FILE* const output = popen(command.c_str(), "re");
  if (output == nullptr) return std::strerror(errno);
  char* text = nullptr;
  std::size_t capacity = 0;
  while (getline(&text, &capacity, output) >= 0) lines.push_back(line_of(text));
  std::free(text);
  const int status = pclose(output);
  std::size_t answered = 0;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    answered += lines[i].starts_with("0x") && !lines[i + 1].starts_with("0x");
  }
  return answered == addresses ? "" : ending(status);
}

void report_failure(const std::string& why) {
  static std::atomic<bool> is_reported = false;
  if (is_reported.exchange(true)) return;
  std::fprintf(stderr,
               "note: addr2line, which finds the lines of code in the source, has failed twice: %s; what follows lacks "
               "some lines\n",
               why.c_str());
  std::fflush(stderr);
}

/// Whether a mangled name is that of a copy or move: a constructor, or operator=, whose parameter is a reference to the
/// class. If the compiler has made it, its line is that of the class, but what matters is the line that copies.
bool is_copy(const std::string& function) {
  const std::size_t end = function.rfind('E');
  if (end == std::string::npos || end < 4 || !function.starts_with("_Z") || function.back() != '_') return false;
  const std::string name = function.substr(end - 2, 2), parameter = function.substr(end + 1);
  const bool is_constructor = name[0] == 'C' && name[1] >= '1' && name[1] <= '5';
  return (name == "aS" || is_constructor) && (parameter.starts_with("RKS") || parameter.starts_with("OS"));
}

/// The lines of source files. Each file is read once, with C's functions: this runs in the handler of a fault, where C++
/// streams have been seen to hide the reason for it.
class Sources {
 public:
  /// What FILE:LINE is in the source; "" if the file or the line does not exist.
  std::string text_of(const std::string& line) {
    const std::size_t colon = std::min(line.rfind(':'), line.size());
    const auto [file, is_new] = files_.try_emplace(line.substr(0, colon));
    if (is_new) {
      FILE* const in = std::fopen(file->first.c_str(), "re");
      char* text = nullptr;
      std::size_t capacity = 0;
      while (in != nullptr && getline(&text, &capacity, in) >= 0) file->second.push_back(text);
      std::free(text);
      if (in != nullptr) std::fclose(in);
    }
    const std::size_t number = colon < line.size() ? std::strtoul(&line[colon + 1], nullptr, 10) : 0;
    return number >= 1 && number <= file->second.size() ? file->second[number - 1] : "";
  }

 private:
  std::map<std::string, Lines> files_;
};

/// Whether a class begins in a line of a source. g++ records no mangled names of functions that it makes for a class in
/// an unnamed namespace, but it gives them this line. A variable may begin with "struct", too, in C's way.
bool begins_class(const std::string& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t end = std::min(text.find_first_of("{=;"), text.size());
  const std::string_view words = std::string_view(text).substr(begin);
  const bool names_class = words.starts_with("struct ") || words.starts_with("class ") || words.starts_with("union ") ||
                           words.starts_with("typedef struct") ||
                           (words.starts_with("template") && words.find("> struct ") != std::string_view::npos);
  return names_class && (end == text.size() || text[end] == '{');
}

/// For each address, its lines; they follow the names of their functions. What a copy was inlined into stands for it.
void use_lines(const Lines& lines, const std::function<void(const std::string& line)>& use) {
  Sources sources;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("0x")) {
      use(lines[i]);
      continue;
    }
    const bool is_last = i + 2 >= lines.size() || lines[i + 2].starts_with("0x");
    if (i + 1 < lines.size()) {
      const std::string& line = lines[i + 1];
      const bool is_made =
          !is_last && (is_copy(lines[i]) || (!line.starts_with("/usr/") && begins_class(sources.text_of(line))));
      if (!is_made) use(line);
    }
    ++i;
  }
}

}  // namespace

bool read_source_lines(const std::vector<std::uintptr_t>& addresses,
                       const std::function<void(const std::string& line)>& use) {
  for (std::size_t first = 0; first < addresses.size(); first += most_at_once) {
    const std::size_t count = std::min(most_at_once, addresses.size() - first);
    const std::string command = command_for(&addresses[first], count);
    // A busy machine may refuse or kill a process; soon after it may not.
    Lines lines;
    std::string why = run(command, count, lines);
    if (!why.empty()) why = run(command, count, lines);
    if (!why.empty()) {
      report_failure(why);
      return false;
    }
    use_lines(lines, use);
  }
  return true;
}

}  // namespace simt
