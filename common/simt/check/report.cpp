#include "report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "places.h"
#include "words.h"

namespace simt::check {
namespace {

/// Calls `use` for everything in a finding that has code addresses.
template <class Use>
void for_each_place(Finding& finding, Use&& use) {
  for (Fact& fact : finding.facts) {
    use(fact.place);
    use(fact.element.array);
  }
  for (auto& [name, detail] : finding.details.all) {
    if (Place* const place = std::get_if<Place>(&detail)) use(*place);
  }
}

void resolve_places(Finding& finding, const Places& places) {
  for_each_place(finding, [&](auto& one) { one.resolve(places); });
  const Fact& first = finding.facts[0];
  finding.place = first.place;
  // Code of ours that stands for a library's function has no line of the program.
  if (first.place.line.empty()) finding.place.line = first.launch.line;
  if (finding.place.line.empty()) finding.place.line = places.in_source_or_unknown(finding.code());
  const std::string launch = finding.facts.size() < 2 ? "" : finding.facts[1].launch.line;
  if (finding.kind == "stream-race" && !launch.empty() && !is_in_source(finding.place.line)) {
    finding.is_at_launch = true;  // a header's line, or none, says less
    finding.place = {.line = launch};
  }
}

/// What races with itself on a line: its store with another thread's store, or with its load.
struct OnLine {
  bool stores = false, load_and_store = false;
};

/// Two threads execute the same line. A barrier between the two accesses is no help, because there is nothing between
/// them.
Advice advice_on_line(const OnLine& line, Remedy barrier) {
  if (line.stores && line.load_and_store) return {"changed-on-line", Remedy::atomic};
  if (line.stores) return {"written-on-line"};
  if (barrier == Remedy::none) return {"read-by-other-block", Remedy::launch};
  return {"read-on-line", barrier};
}

void advise(Finding& f, const Advice& what) {
  f.why = what.why;
  f.remedy = what.remedy;
}

/// Whether the threads of a race are of one block.
bool is_in_block(const Finding& f) {
  const uint3 a = *f.facts[0].block, b = *f.facts[1].block;
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

/// What one missing barrier leaves without an order: the accesses of an array after the same barrier, or of one element
/// that several threads change. "": it is a race that no barrier orders.
std::string group_of(const Finding& f) {
  if (f.why == "changed-by-several") return std::to_string(f.address);
  if (f.kind == "race" && !is_in_block(f)) return "";
  const Fact& fact = f.facts[0];
  const Array& array = fact.element.array;
  return fact.kernel + " " + std::to_string(f.last_barrier.line) + " " + name_of(array.memory) + array.name + " " +
         std::to_string(array.number);
}

/// Whether two threads have come to one element by the same line, in the same round of a loop, to change it.
bool is_at_once(const Finding& f, const Places& places) {
  return std::any_of(f.together.begin(), f.together.end(), [&](const auto& codes) {
    const std::string line = places.in_source(codes.first);
    return !line.empty() && line == places.in_source(codes.second);
  });
}

/// Races of threads that work on the same element at once: no barrier orders them, whichever of their accesses meet.
void advise_on_indices(std::vector<Finding>& findings, const Places& places) {
  std::set<std::string> groups;
  for (const Finding& f : findings) {
    if (is_at_once(f, places)) groups.insert(group_of(f));
  }
  for (Finding& f : findings) {
    if (f.kind != "race" || !is_in_block(f) || groups.count(group_of(f)) == 0) continue;
    f.round = Round::same;
    advise(f, {f.are_in_rows ? "rows-of-threads" : "same-lines"});
  }
}

/// Addresses that several threads read, and then write by one and the same instruction. If they did that at many
/// addresses, their indices could be wrong.
std::set<std::uintptr_t> changed_by_several(const std::vector<Finding>& findings) {
  std::map<std::uintptr_t, Code> stores;
  for (const Finding& f : findings) {
    if (f.address != 0 && f.are_writes() && f.code() == f.other()) stores[f.address] = f.code();
  }
  std::set<std::uintptr_t> changed;
  for (const Finding& f : findings) {
    const auto store = stores.find(f.address);
    const auto [first, last] = std::minmax({f.code(), f.other()});
    if (store != stores.end() && first < last && last == store->second) changed.insert(f.address);
  }
  return changed;
}

/// Races of threads that change one element by a load and a store.
void advise_on_changes(std::vector<Finding>& findings) {
  const std::set<std::uintptr_t> changed = changed_by_several(findings);
  for (Finding& f : findings) {
    if (changed.count(f.address) == 0) continue;
    advise(f, {"changed-by-several", Remedy::atomic});
    f.round = Round::same;
  }
}

/// Two blocks whose threads have the same index at one element, but other indices at others: the index is not to blame.
void advise_on_blocks(std::vector<Finding>& findings, const Places& places) {
  const auto lines = [&](const Finding& f) {
    return std::pair<std::string, std::string>(std::minmax(places.of(f.code()), places.of(f.other())));
  };
  for (Finding& f : findings) {
    if (f.kind != "race" || !f.is_same_index) continue;
    const auto other = std::find_if(findings.begin(), findings.end(), [&](const Finding& g) {
      return g.kind == "race" && g.barrier == Remedy::none && !g.is_same_index && lines(f) == lines(g);
    });
    if (other == findings.end() || !places.know(f.code())) continue;
    f.is_same_index = false;
    advise(f, {"in-place", Remedy::launch});
    advise(*other, {"in-place", Remedy::launch});
  }
}

/// The file of "file:line", and the line.
std::pair<std::string, int> parts_of(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  return {place.substr(0, colon), colon == std::string::npos ? 0 : std::atoi(place.c_str() + colon + 1)};
}

/// Two threads of a block that come to one element by the same line, in rounds that may or may not need an order, or by
/// a line that a loop leads back to.
void advise_on_rounds(std::vector<Finding>& findings, const Places& places) {
  for (Finding& f : findings) {
    if (f.kind != "race" || f.round == Round::same || f.barrier == Remedy::none) continue;
    const std::string line = places.in_source(f.code());
    const auto [file, now] = parts_of(line);
    const auto [other_file, before] = parts_of(places.in_source(f.other()));
    const auto [low, high] = std::minmax(now, before);
    const int barrier = f.last_barrier.line;  // both accesses follow it, although it stands between them
    if (!line.empty() && file == other_file && barrier > low && barrier < high && file == f.last_barrier.file) {
      advise(f, {"next-round", f.barrier});
      f.round = Round::next;
      f.details.set("first_line", std::uint64_t(low));
      f.details.set("last_line", std::uint64_t(high));
      continue;
    }
    if (line.empty() || file != other_file || now != before || places.of(f.code()) == places.of(f.other())) continue;
    advise(f, {"same-line-in-callers", Remedy::block_barrier});
  }
}

void advise_on_lines(std::vector<Finding>& findings, const Places& places) {
  const auto races_with_itself = [&](const Finding& f) {
    return f.kind == "race" && places.know(f.code()) && places.of(f.code()) == places.of(f.other());
  };
  std::map<std::string, OnLine> lines;
  for (const Finding& f : findings) {
    if (!races_with_itself(f)) continue;
    OnLine& line = lines[places.of(f.code())];
    (f.are_writes() ? line.stores : line.load_and_store) = true;
  }
  for (Finding& f : findings) {
    if (!races_with_itself(f) || f.is_same_index || f.why == "changed-by-several") continue;
    const OnLine& line = lines[places.of(f.code())];
    const bool is_sum = line.stores && line.load_and_store;
    if (f.round != Round::same || is_sum) advise(f, advice_on_line(line, f.barrier));
  }
}

/// One missing barrier leaves several pairs of accesses without an order: those to one array, after the same barrier. The
/// first stands for all of them, and for their reads that come too early.
void join_races(std::vector<Finding>& findings, const Places& places) {
  struct Pairs {
    Finding* first;
    std::set<std::pair<std::string, std::string>> lines;
    std::set<Code> codes;
  };
  std::map<std::string, Pairs> by_barrier;
  std::set<const Finding*> joined;
  for (Finding& f : findings) {
    const std::pair<std::string, std::string> lines = std::minmax(places.of(f.code()), places.of(f.other()));
    if (f.round != Round::same && (f.barrier == Remedy::none || lines.first == lines.second)) continue;
    const auto pairs = by_barrier.try_emplace(group_of(f), Pairs{&f, {}, {}}).first;
    pairs->second.lines.insert(lines);
    pairs->second.codes.insert({f.code(), f.other()});
  }
  for (const Finding& f : findings) {
    const auto pairs = by_barrier.find(group_of(f));
    if (pairs == by_barrier.end() || &f == pairs->second.first) continue;
    const bool is_early = f.kind == "uninitialized" && pairs->second.codes.count(f.code()) != 0;
    if (f.kind == "race" || is_early) joined.insert(&f);
  }
  for (const auto& [between, pairs] : by_barrier) {
    if (const std::uint64_t more = pairs.lines.size() - 1; more > 0) pairs.first->details.set("more_pairs", more);
  }
  std::vector<Finding> kept;
  for (Finding& f : findings) {
    if (joined.count(&f) == 0) kept.push_back(std::move(f));
  }
  findings = std::move(kept);
}

/// A source line may be several instructions: their findings of one kind are one, if they are about one array.
std::vector<Finding> merged(std::vector<Finding> findings, const Places& places) {
  std::vector<Finding> result;
  for (Finding& finding : findings) {
    resolve_places(finding, places);
    finding.text = words_of(finding);
    const auto same = std::find_if(result.begin(), result.end(), [&](const Finding& earlier) {
      return earlier.kind == finding.kind && earlier.place.line == finding.place.line &&
             earlier.facts[0].element.array.is_same(finding.facts[0].element.array) &&
             (earlier.code() == finding.code() || finding.code() == 0 || places.know(finding.code()) ||
              (!finding.facts[0].launch.line.empty() && places.has_no_line(finding.code())));
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
    if (places.is_of_library(code)) continue;
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
  for (Finding& finding : findings) {
    for_each_place(finding, [&](auto& one) { one.collect(codes); });
    for (const auto& [a, b] : finding.together) codes.insert({a, b});
  }
  for (const auto& [instruction, cost] : state.counts.costs()) codes.insert(std::get<Code>(instruction));
  codes.erase(0);
  const Places places(codes);
  Report report;
  std::set<std::string> faulty;  // lines
  for (const Finding& f : findings) {
    if (f.severity == Severity::error)
      faulty.insert(f.code() != 0 ? places.in_source_or_unknown(f.code()) : f.facts[0].place.line);
  }
  advise_on_indices(findings, places);
  advise_on_changes(findings);
  advise_on_rounds(findings, places);
  advise_on_blocks(findings, places);
  advise_on_lines(findings, places);
  join_races(findings, places);
  for (Finding& finding : merged(std::move(findings), places)) {
    (finding.severity == Severity::error ? report.findings : report.remarks).push_back(std::move(finding));
  }
  std::erase_if(report.remarks, [&](const Finding& remark) {
    return remark.kind != "interrupted" && faulty.count(remark.place.line) != 0;
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
    const std::size_t first_line = std::min(f.text.find('\n'), f.text.size());
    std::fprintf(stderr, "%s: %s%s:%s %s: %s%s%s\n", f.place.line.c_str(), colour, severity, plain, f.kind.c_str(),
                 f.text.substr(0, first_line).c_str(), times.c_str(), f.text.c_str() + first_line);
  };
  for (const Finding& f : report.findings) print_finding(f, red, "error");
  for (const Finding& f : report.remarks) print_finding(f, cyan, "note");
  if (!report.findings.empty()) return;  // what a faulty program costs does not matter yet
  for (const Note& n : report.notes) {
    const std::string cause = words_of(n);
    const std::string accesses =
        counted(n.line->cost.requests, std::string(name_of(n.line->space)) + " " + name_of(n.line->way));
    std::fprintf(stderr, "%s: %snote:%s %s: ideal %llu and actual %llu %s in %s%s\n", n.line->place.c_str(), cyan,
                 plain, n.kind, static_cast<unsigned long long>(n.ideal), static_cast<unsigned long long>(n.actual),
                 n.unit, accesses.c_str(), cause.empty() ? "" : ("\n    " + cause).c_str());
  }
}

}  // namespace simt::check
