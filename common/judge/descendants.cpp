#include "judge/descendants.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lab {
namespace {

namespace fs = std::filesystem;

// Each round looks at all processes. A fork bomb that has reached the limit on processes takes a few rounds. A process
// that passes its work on to another one before we come to it is found only by a sandbox with a process namespace.
constexpr int max_rounds = 200;

std::set<pid_t>& runners() {
  static auto* const known = new std::set<pid_t>;  // never destroyed: a Process in a static variable ends after it
  return *known;
}

struct Entry {
  pid_t parent;
  bool has_ended;  // but has not been waited for
};

// All processes of this machine that we can see.
std::map<pid_t, Entry> all_processes() {
  std::map<pid_t, Entry> found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) continue;
    char content[512];
    std::ifstream file(entry->path() / "stat");
    file.read(content, sizeof content);  // nothing, if it has just ended
    const std::string text(content, std::size_t(file.gcount()));
    // "PID (NAME) STATE PARENT ...": a name may hold anything, also parentheses.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos || name_end + 4 > text.size()) continue;
    Entry& made = found[pid] = {0, text[name_end + 2] == 'Z'};
    std::from_chars(text.data() + name_end + 4, text.data() + text.size(), made.parent);
  }
  return found;
}

// From a process up to this one, without this one; empty if it does not descend from this one.
std::vector<pid_t> way_up(const std::map<pid_t, Entry>& all, pid_t pid) {
  std::vector<pid_t> way;
  while (pid != getpid()) {
    const auto entry = all.find(pid);
    if (entry == all.end() || way.size() > all.size()) return {};
    way.push_back(pid);
    pid = entry->second.parent;
  }
  return way;
}

// Descendants of ours that run: without `kept` and what it descends from, without runners and what they have started,
// except for `runner`.
std::set<pid_t> strangers(pid_t runner, pid_t kept) {
  const std::map<pid_t, Entry> all = all_processes();
  const std::vector<pid_t> spared = way_up(all, kept);
  std::set<pid_t> found;
  for (const auto& [pid, entry] : all) {
    bool is_stranger = false;
    for (const pid_t on_way : way_up(all, pid)) {
      is_stranger = on_way == runner || !runners().contains(on_way);
      if (!is_stranger) break;
    }
    for (const pid_t one : spared) is_stranger = is_stranger && one != pid;
    if (!is_stranger) continue;
    if (!entry.has_ended) {
      found.insert(pid);
    } else if (entry.parent == getpid()) {
      waitpid(pid, nullptr, WNOHANG);
    }
  }
  return found;
}

// Stops all before it ends the first: what is stopped starts nothing in place of what has ended.
void end_strangers(pid_t runner, pid_t kept) {
  std::set<pid_t> stopped;
  for (int round = 0; round < max_rounds; ++round) {
    const std::set<pid_t> found = strangers(runner, kept);
    if (found.empty()) return;
    bool is_complete = true;
    for (const pid_t pid : found) {
      if (!stopped.insert(pid).second) continue;
      is_complete = false;
      kill(pid, SIGSTOP);
    }
    if (!is_complete) continue;
    for (const pid_t pid : found) kill(pid, SIGKILL);
    stopped.clear();
    usleep(1000);
  }
}

bool has_children() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace

void runner_started(pid_t runner) { runners().insert(runner); }

void runner_ended(pid_t runner) {
  runners().erase(runner);
  if (has_children()) end_strangers(-1, -1);
  while (runners().empty() && waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

bool has_started_others(pid_t runner, pid_t kept) { return !strangers(runner, kept).empty(); }

void end_started_by_step(pid_t runner, pid_t kept) {
  kill(kept, SIGSTOP);
  end_strangers(runner, kept);
  kill(kept, SIGCONT);
}

}  // namespace lab
