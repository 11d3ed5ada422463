#include "report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>

#include "places.h"
#include "text.h"

namespace simt::check {
namespace {

class Places {
 public:
  explicit Places(const std::set<Code>& codes) : places_(resolve(codes, &callers_)) {}

  std::string of(Code code) const {
    const auto place = places_.find(code);
    return place == places_.end() ? "?:0" : place->second;
  }
  /// ", called at FILE:LINE" for a line in a function that was inlined into another file.
  std::string caller(Code code) const {
    const auto caller = callers_.find(code);
    return caller == callers_.end() ? "" : ", called at " + caller->second;
  }

 private:
  std::map<Code, std::string> callers_, places_;
};

void resolve_places(Finding& finding, const Places& places) {
  if (finding.code == 0) return;
  finding.place = places.of(finding.code);
  constexpr const char* other = "{other}";
  if (const std::size_t at = finding.text.find(other); at != std::string::npos) {
    finding.text.replace(at, std::char_traits<char>::length(other),
                         places.of(finding.other) + places.caller(finding.other));
  }
  if (const std::size_t subject = finding.text.find("): "); subject != std::string::npos) {
    finding.text.insert(subject + 1, places.caller(finding.code));
  }
}

/// In `++counts[v]` by many threads the same line races in two ways: with its own store, and with its load. A barrier
/// cannot order what many threads do at once.
void advise_atomics(std::vector<Finding>& findings, const Places& places) {
  const auto races_with_itself = [&](const Finding& f) {
    return f.kind == "race" && places.of(f.code) == places.of(f.other);
  };
  std::map<std::string, std::pair<bool, bool>>
      ways;  // of a line: its store and that of another thread; a load and a store
  for (const Finding& f : findings) {
    if (races_with_itself(f))
      (f.code == f.other ? ways[places.of(f.code)].first : ways[places.of(f.code)].second) = true;
  }
  for (Finding& f : findings) {
    if (!races_with_itself(f) || ways[places.of(f.code)] != std::pair(true, true)) continue;
    constexpr std::string_view other = "{other}";
    f.text.resize(f.text.find(other) + other.size());  // without the advice on barriers
    f.text += "; several threads change the same element at once: use atomicAdd() or another atomic";
  }
}

/// A source line may be several instructions: their findings of one kind are one.
std::vector<Finding> merged(std::vector<Finding> findings, const Places& places) {
  std::vector<Finding> result;
  for (Finding& finding : findings) {
    resolve_places(finding, places);
    const auto same = std::find_if(result.begin(), result.end(), [&](const Finding& earlier) {
      return earlier.kind == finding.kind && earlier.place == finding.place;
    });
    if (same == result.end()) {
      result.push_back(finding);
    } else {
      same->times += finding.times;
    }
  }
  return result;
}

std::vector<LineCost> costs_by_line(const Counts& counts, const Places& places) {
  std::map<std::tuple<std::string, Space, Way>, Cost> by_line;
  for (const auto& [instruction, cost] : counts.costs()) {
    const auto& [code, space, way] = instruction;
    by_line[{places.of(code), space, way}] += cost;
  }
  std::vector<LineCost> lines;
  for (const auto& [key, cost] : by_line) {
    const auto& [place, space, way] = key;
    lines.push_back({place, space, way, cost});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const LineCost& a, const LineCost& b) {
    return a.cost.actual - a.cost.ideal > b.cost.actual - b.cost.ideal;
  });
  return lines;
}

Note note_on(const LineCost& line) {
  const Cost& cost = line.cost;
  if (line.way == Way::atomic) return {&line, "atomic-contention", "turns", cost.ideal, cost.actual};
  if (line.space == Space::shared) return {&line, "bank-conflict", "wavefronts", cost.ideal, cost.actual};
  return {&line, "uncoalesced", "sectors", cost.ideal, cost.actual};
}

std::vector<Note> make_notes(const std::vector<LineCost>& lines) {
  std::uint64_t all_lanes = 0;  // that all requests have room for
  for (const LineCost& line : lines) all_lanes += line.cost.requests * lanes_per_warp;
  std::vector<Note> notes;
  for (const LineCost& line : lines) {
    const Cost& cost = line.cost;
    if (cost.actual > cost.ideal) notes.push_back(note_on(line));
    const std::uint64_t lanes = cost.requests * lanes_per_warp;
    // A thread that does something once costs next to nothing.
    const bool matters = (lanes - cost.lanes) * 100 >= all_lanes;
    if (cost.lanes * 4 < lanes * 3 && matters) notes.push_back({&line, "divergence", "lanes", lanes, cost.lanes});
  }
  return notes;
}

}  // namespace

Report make_report(const CheckState& state) {
  std::vector<Finding> findings = state.findings.all();
  std::set<Code> codes;
  for (const Finding& finding : findings) codes.insert({finding.code, finding.other});
  for (const auto& [instruction, cost] : state.counts.costs()) codes.insert(std::get<Code>(instruction));
  codes.erase(0);
  const Places places(codes);
  Report report;
  advise_atomics(findings, places);
  for (Finding& finding : merged(std::move(findings), places)) {
    (finding.severity == Severity::error ? report.findings : report.remarks).push_back(std::move(finding));
  }
  std::erase_if(report.remarks, [&](const Finding& remark) {
    return std::any_of(report.findings.begin(), report.findings.end(),
                       [&](const Finding& finding) { return finding.place == remark.place; });
  });
  report.lines = costs_by_line(state.counts, places);
  report.notes = make_notes(report.lines);
  return report;
}

void print(const Report& report) {
  const bool is_terminal = isatty(2) != 0;
  const char *const red = is_terminal ? "\033[1;31m" : "", *const cyan = is_terminal ? "\033[1;36m" : "";
  const char* const plain = is_terminal ? "\033[0m" : "";
  const auto print_finding = [&](const Finding& f, const char* colour, const char* severity) {
    const std::string times = f.times > 1 ? " (" + std::to_string(f.times) + " times)" : "";
    std::fprintf(stderr, "%s: %s%s:%s %s: %s%s\n", f.place.c_str(), colour, severity, plain, f.kind.c_str(),
                 f.text.c_str(), times.c_str());
  };
  for (const Finding& f : report.findings) print_finding(f, red, "error");
  for (const Finding& f : report.remarks) print_finding(f, cyan, "note");
  if (!report.findings.empty()) return;  // what a faulty program costs does not matter yet
  for (const Note& n : report.notes) {
    const std::string accesses =
        counted(n.line->cost.requests, std::string(name_of(n.line->space)) + " " + name_of(n.line->way));
    std::fprintf(stderr, "%s: %snote:%s %s: ideal %llu and actual %llu %s in %s\n", n.line->place.c_str(), cyan, plain,
                 n.kind, static_cast<unsigned long long>(n.ideal), static_cast<unsigned long long>(n.actual), n.unit,
                 accesses.c_str());
  }
}

}  // namespace simt::check
