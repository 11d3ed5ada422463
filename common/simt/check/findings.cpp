// Keeps what was found and tells it when the program ends.
#include <sys/stat.h>
#include <unistd.h>

#include <link.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "check.h"
#include "simt/observed.h"

namespace simt::check {
namespace {

struct Finding {
  std::string kind, text, place;
  Code code, other;
  std::uint64_t times;
  std::uint64_t number = 0;  ///< in the order in which they came
};
struct Cost {
  std::uint64_t requests, lanes, transactions, ideal;
};

std::uint64_t numbers = 0;

auto& findings() {
  static auto* const all = new std::map<std::tuple<std::string, Code, Code>, Finding>;
  return *all;
}
auto& told() {
  static auto* const all = new std::vector<Finding>;  // whose line the emulation knew
  return *all;
}
auto& costs() {
  static auto* const all = new std::map<std::tuple<Code, Space, Way>, Cost>;
  return *all;
}
auto& launches() {
  static auto* const all = new std::deque<Totals>;
  return *all;
}

std::uint64_t nanoseconds_now() {
  return std::uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ') {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", unsigned(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

struct Note {
  std::string place;
  const char* kind;
  std::uint64_t ideal, actual, requests;
  const char* unit;
  Space space;
  Way way;
};

const char* name_of(Space space) { return space == Space::shared ? "shared" : "global"; }
const char* name_of(Way way) {
  static const char* const ways[] = {"load", "store", "atomic"};
  return ways[unsigned(way)];
}

/// What the instructions of a source line have cost that access one memory in one way.
using Line = std::pair<std::tuple<std::string, Space, Way>, Cost>;

/// Who gets the document when the program ends; null: nobody.
void (*receiver)(const std::string& document) = nullptr;

std::string json_of(const std::vector<Finding>& all, const std::vector<Note>& notes, const std::vector<Line>& lines) {
  char* text = nullptr;
  std::size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (file == nullptr) return "";
  std::fputs("{\"findings\": [", file);
  const char* comma = "\n";
  for (const Finding& f : all) {
    const std::size_t colon = f.place.rfind(':');
    std::fprintf(file, "%s{\"file\": %s, \"line\": %d, \"kind\": %s, \"text\": %s, \"times\": %llu}", comma,
                 quoted(f.place.substr(0, colon)).c_str(), std::atoi(f.place.c_str() + colon + 1),
                 quoted(f.kind).c_str(), quoted(f.text).c_str(), static_cast<unsigned long long>(f.times));
    comma = ",\n";
  }
  std::fputs("],\n\"notes\": [", file);
  comma = "\n";
  for (const Note& n : notes) {
    const std::size_t colon = n.place.rfind(':');
    std::fprintf(file,
                 "%s{\"file\": %s, \"line\": %d, \"kind\": \"%s\", \"ideal\": %llu, \"actual\": %llu, "
                 "\"unit\": \"%s\", \"requests\": %llu, \"space\": \"%s\", \"access\": \"%s\"}",
                 comma, quoted(n.place.substr(0, colon)).c_str(), std::atoi(n.place.c_str() + colon + 1), n.kind,
                 static_cast<unsigned long long>(n.ideal), static_cast<unsigned long long>(n.actual), n.unit,
                 static_cast<unsigned long long>(n.requests), name_of(n.space), name_of(n.way));
    comma = ",\n";
  }
  std::fputs("],\n\"lines\": [", file);
  comma = "\n";
  for (const Line& l : lines) {
    const auto& [place, space, way] = l.first;
    const std::size_t colon = place.rfind(':');
    std::fprintf(file,
                 "%s{\"file\": %s, \"line\": %d, \"space\": \"%s\", \"access\": \"%s\", \"requests\": %llu, "
                 "\"lanes\": %llu, \"actual\": %llu, \"ideal\": %llu}",
                 comma, quoted(place.substr(0, colon)).c_str(), std::atoi(place.c_str() + colon + 1), name_of(space),
                 name_of(way), static_cast<unsigned long long>(l.second.requests),
                 static_cast<unsigned long long>(l.second.lanes),
                 static_cast<unsigned long long>(l.second.transactions),
                 static_cast<unsigned long long>(l.second.ideal));
    comma = ",\n";
  }
  std::fputs("],\n\"launches\": [", file);
  comma = "\n";
  for (const Totals& t : launches()) {
    std::fprintf(file, "%s{\"kernel\": %s, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]", comma,
                 quoted(t.kernel).c_str(), t.grid.x, t.grid.y, t.grid.z, t.block.x, t.block.y, t.block.z);
    const auto number = [&](const char* name, std::uint64_t value) {
      std::fprintf(file, ", \"%s\": %llu", name, static_cast<unsigned long long>(value));
    };
    number("shared_ld_requests", t.shared_requests[0]);
    number("shared_ld_wavefronts", t.shared_wavefronts[0]);
    number("shared_st_requests", t.shared_requests[1]);
    number("shared_st_wavefronts", t.shared_wavefronts[1]);
    number("shared_atomic_requests", t.shared_requests[2]);
    number("global_ld_requests", t.global_requests[0]);
    number("global_ld_sectors", t.global_sectors[0]);
    number("global_st_requests", t.global_requests[1]);
    number("global_st_sectors", t.global_sectors[1]);
    number("barriers", t.barriers);
    number("shared_ld_ideal_wavefronts", t.shared_ideal[0]);
    number("shared_st_ideal_wavefronts", t.shared_ideal[1]);
    number("global_ld_ideal_sectors", t.global_ideal[0]);
    number("global_st_ideal_sectors", t.global_ideal[1]);
    number("global_atomic_requests", t.global_requests[2]);
    number("global_atomic_sectors", t.global_sectors[2]);
    number("global_atomic_ideal_sectors", t.global_ideal[2]);
    number("static_shared_bytes", t.static_shared);
    number("dynamic_shared_bytes", t.dynamic_shared);
    number("time_ns", t.nanoseconds);
    std::fputs("}", file);
    comma = ",\n";
  }
  std::fputs("]}\n", file);
  std::fclose(file);
  std::string document(text, size);
  std::free(text);
  return document;
}

/// Prints what was found if the program is at its end, and returns it as a JSON document.
std::string tell(bool at_end) {
  if (at_end) std::fflush(nullptr);
  std::set<Code> codes;
  for (auto& [key, f] : findings()) codes.insert({f.code, f.other});
  for (auto& [key, cost] : costs()) codes.insert(std::get<0>(key));
  codes.erase(0);
  std::map<Code, std::string> callers;
  const auto places = resolve(codes, &callers);
  const auto from = [&](Code code) {
    return callers.count(code) != 0 ? ", called at " + callers[code] : std::string();
  };
  const auto place = [&](Code code) {
    const auto found = places.find(code);
    return found == places.end() ? std::string("?:0") : found->second;
  };
  // One source line may be several instructions.
  std::vector<Finding> all = told();
  std::vector<Finding> found;
  for (auto& [key, f] : findings()) found.push_back(f);
  const auto earlier = [](const Finding& a, const Finding& b) { return a.number < b.number; };
  std::sort(found.begin(), found.end(), earlier);
  for (Finding& one : found) {
    const Finding& f = one;
    const Code code = f.code;
    one.place = place(code);
    if (const std::size_t at = one.text.find("{other}"); at != std::string::npos) {
      one.text.replace(at, 7, place(f.other) + from(f.other) + (callers.count(f.other) != 0 ? "," : ""));
    }
    if (const std::size_t who = one.text.find("): "); who != std::string::npos) one.text.insert(who + 1, from(code));
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Finding& g) { return g.kind == one.kind && g.place == one.place; });
    if (same == all.end()) {
      all.push_back(one);
    } else {
      same->times += one.times;
    }
  }
  std::stable_sort(all.begin(), all.end(), earlier);
  const bool colour = isatty(2) != 0;
  for (const Finding& f : all) {
    if (!at_end) break;
    std::fprintf(stderr, "%s: %serror:%s %s: %s%s\n", f.place.c_str(), colour ? "\033[1;31m" : "",
                 colour ? "\033[0m" : "", f.kind.c_str(), f.text.c_str(),
                 f.times > 1 ? (" (" + std::to_string(f.times) + " times)").c_str() : "");
  }
  std::map<std::tuple<std::string, Space, Way>, Cost> by_line;
  for (auto& [key, cost] : costs()) {
    Cost& sum = by_line[{place(std::get<0>(key)), std::get<1>(key), std::get<2>(key)}];
    sum.requests += cost.requests;
    sum.lanes += cost.lanes;
    sum.transactions += cost.transactions;
    sum.ideal += cost.ideal;
  }
  std::vector<Line> worst(by_line.begin(), by_line.end());
  std::stable_sort(worst.begin(), worst.end(), [](auto& a, auto& b) {
    return a.second.transactions - a.second.ideal > b.second.transactions - b.second.ideal;
  });
  std::vector<Note> notes;
  std::uint64_t all_lanes = 0;  // that the program's requests have room for
  for (auto& [key, cost] : costs()) all_lanes += cost.requests * lanes_per_warp;
  for (auto& one : worst) {  // (clang's lambdas cannot capture structured bindings)
    const auto& key = one.first;
    const Cost& cost = one.second;
    const auto note = [&](const char* kind, std::uint64_t ideal, std::uint64_t actual, const char* unit) {
      const auto& [place, space, way] = key;
      notes.push_back({place, kind, ideal, actual, cost.requests, unit, space, way});
      if (!at_end) return;
      std::fprintf(stderr, "%s: %snote:%s %s: ideal %llu and actual %llu %s in %llu %s %s%s\n", place.c_str(),
                   colour ? "\033[1;36m" : "", colour ? "\033[0m" : "", kind, static_cast<unsigned long long>(ideal),
                   static_cast<unsigned long long>(actual), unit, static_cast<unsigned long long>(cost.requests),
                   name_of(space), name_of(way), cost.requests == 1 ? "" : "s");
    };
    if (cost.transactions > cost.ideal) {
      const bool atomic = std::get<2>(key) == Way::atomic, shared = std::get<1>(key) == Space::shared;
      note(atomic   ? "atomic-contention"
           : shared ? "bank-conflict"
                    : "uncoalesced",
           cost.ideal, cost.transactions,
           atomic   ? "turns"
           : shared ? "wavefronts"
                    : "sectors");
    }
    const std::uint64_t lanes = cost.requests * lanes_per_warp;
    // One thread that does something once is no cost.
    const bool matters = (lanes - cost.lanes) * 100 >= all_lanes;
    if (cost.lanes * 4 < lanes * 3 && matters) note("divergence", lanes, cost.lanes, "lanes");
  }
  const std::string document = json_of(all, notes, worst);
  if (!at_end) return document;
  if (const char* path = std::getenv("CHECK_JSON"); path != nullptr && *path != '\0') write_whole(path, document);
  if (receiver != nullptr) receiver(document);
  std::fflush(nullptr);
  if (!all.empty()) _exit(3);
  return document;
}

// Registered before the program's own handlers, and therefore called after them. A program that gives up, as a failed
// assertion of its host code does, has most need of what was found.
[[gnu::constructor(101)]] void register_end() {
  std::atexit(end_program);
  std::at_quick_exit(end_program);
  std::signal(SIGABRT, [](int) {
    std::signal(SIGABRT, SIG_DFL);
    end_program();
  });
}

}  // namespace

// By one run of addr2line: the innermost line that is the program's own.
std::map<Code, std::string> resolve(const std::set<Code>& codes, std::map<Code, std::string>* callers) {
  const auto is_own = [](const char* line) {
    return std::strstr(line, "simt/include/") == nullptr && std::strncmp(line, "/usr/", 5) != 0 &&
           std::strchr(line, '?') == nullptr;
  };
  const auto file_of = [](const std::string& line) { return line.substr(0, line.rfind(':')); };
  std::map<Code, std::string> places;
  Code base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<Code*>(out) = info->dlpi_addr;
        return 1;
      },
      &base);
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (codes.empty() || length < 0) return places;
  program[length] = '\0';
  std::string command = "addr2line -a -i -e '" + std::string(program) + "'";
  char text[4200];
  for (Code code : codes) {
    std::snprintf(text, sizeof text, " 0x%lx", static_cast<unsigned long>(code - base));
    command += text;
  }
  FILE* lines = popen((command + " 2>/dev/null").c_str(), "r");
  if (lines == nullptr) return places;
  Code now = 0;
  while (std::fgets(text, sizeof text, lines) != nullptr) {
    text[std::strcspn(text, " \n")] = '\0';  // also " (discriminator n)"
    if (std::strncmp(text, "0x", 2) == 0) {
      now = std::strtoull(text, nullptr, 16) + base;
      continue;
    }
    const std::string own = std::strncmp(text, "./", 2) == 0 ? text + 2 : text;
    if (places.count(now) == 0 && is_own(text)) {
      places[now] = own;
    } else if (callers != nullptr && callers->count(now) == 0 && places.count(now) != 0 && is_own(text) &&
               file_of(own) != file_of(places[now])) {
      (*callers)[now] = own;
    }
  }
  pclose(lines);
  return places;
}

void write_whole(const char* path, const std::string& text) {
  struct stat there;
  const bool device = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
  const std::string temporary = std::string(path) + (device ? "" : ".part");
  FILE* file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr) return std::perror(path);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((std::fclose(file) != 0 || !written) || (!device && std::rename(temporary.c_str(), path) != 0)) std::perror(path);
}

void end_program() {
  if (tracing) write_trace();
  tell(true);
}

void write_findings() {
  const std::string document = findings_json();
  if (const char* path = std::getenv("CHECK_JSON"); path != nullptr && *path != '\0') write_whole(path, document);
}

std::string findings_json() {
  if (tracing) write_trace();
  return tell(false);
}

void send_findings_to(void (*new_receiver)(const std::string& document)) { receiver = new_receiver; }

bool is_known(const char* kind, Code code, Code other) { return findings().count({kind, code, other}) != 0; }

void drop_finding(const char* kind, Code code) { findings().erase({kind, code, 0}); }

void add_finding(const char* kind, Code code, Code other, const std::string& text) {
  Finding& f = findings()[{kind, code, other}];
  if (f.times++ == 0) f = {kind, text, {}, code, other, 1, ++numbers};
}

void add_finding(const char* kind, Site site, const std::string& text) {
  const std::string place = std::string(site.file) + ":" + std::to_string(site.line);
  for (Finding& f : told()) {
    if (f.kind == kind && f.place == place) {
      ++f.times;
      return;
    }
  }
  told().push_back({kind, text, place, 0, 0, 1, ++numbers});
}

void add_cost(Code code, Space space, Way way, unsigned lanes, unsigned transactions, unsigned ideal) {
  Cost& cost = costs()[{code, space, way}];
  ++cost.requests;
  cost.lanes += lanes;
  cost.transactions += transactions;
  cost.ideal += ideal;
}

Totals& totals() { return launches().back(); }

void new_totals(const Launch& launch) {
  Totals& all = launches().emplace_back();
  all.kernel = launch.kernel.name;
  all.grid = launch.config.grid;
  all.block = launch.config.block;
  all.dynamic_shared = launch.config.dynamic_shared;
  all.nanoseconds = nanoseconds_now();
}

void end_launch() {
  totals().nanoseconds = nanoseconds_now() - totals().nanoseconds;
  end_if_asked();
}

}  // namespace simt::check
