#include "findings.h"

#include <algorithm>
#include <utility>

#include "state.h"

namespace simt::check {
namespace {

void make_remark_on_test(Finding& race) {
  race.kind = "tested-atomic";
  race.severity = Severity::remark;
  race.why = "tested-before-atomic";
  race.remedy = Remedy::atomic;
}

}  // namespace

Code Finding::plain_read() const {
  if (kind != "race") return 0;
  const Fact &now = facts[0], &before = facts[1];
  if (before.way == Way::store && before.is_atomic && now.way == Way::load) return now.place.code;
  return before.way == Way::load && now.is_atomic && writes(now.way) ? before.place.code : 0;
}

void Findings::add(Finding finding) {
  const Progress& progress = state().progress;
  progress.end_trial();
  if (progress.is_searching()) return;  // the launch has a fault, of which this may be a consequence
  finding.number = ++count_;
  finding.moment = state().trace.moment();
  if (finding.began == 0) finding.began = state().order.interval();
  if (const Code code = finding.code(); code != 0) {
    if (count_again(finding.kind.c_str(), code, finding.other())) return;
    by_code_[{code, finding.other(), finding.kind}] = std::move(finding);
    return;
  }
  const auto same = std::find_if(by_place_.begin(), by_place_.end(), [&](const Finding& known) {
    return known.kind == finding.kind && known.facts[0].place.line == finding.facts[0].place.line;
  });
  if (same == by_place_.end()) {
    by_place_.push_back(std::move(finding));
  } else {
    ++same->times;
  }
}

bool Findings::count_again(const char* kind, Code code, Code other) {
  const auto known = by_code_.find({code, other, kind});
  if (known == by_code_.end()) return false;
  ++known->second.times;
  return true;
}

bool Findings::remember_meeting_at(Site site, Site others) {
  return meetings_.insert(std::minmax(site.line, others.line)).second;
}

void Findings::drop(const char* kind, Code code) { by_code_.erase({code, 0, kind}); }

void Findings::advise(Code code, Code other, const Advice& advice) {
  Finding& known = by_code_.at({code, other, "race"});
  if (known.barrier == Remedy::none) return;
  known.barrier = Remedy::none;
  known.why = advice.why;
  known.remedy = advice.remedy;
}

Finding* Findings::known_race(Code code, Code other) {
  const auto known = by_code_.find({code, other, "race"});
  return known == by_code_.end() ? nullptr : &known->second;
}

bool Findings::is_known(const char* kind, Code code, Code other) const {
  return by_code_.count({code, other, kind}) != 0;
}

std::vector<Finding> Findings::all() const {
  std::vector<Finding> all = by_place_;
  for (const auto& [key, finding] : by_code_) {
    all.push_back(finding);
    if (tests_.count(finding.plain_read()) == 0) continue;
    if (state().exchanges.lose_updates(finding.plain_read())) {
      all.back().why = "lost-in-exchange";
      all.back().remedy = Remedy::atomic;
    } else {
      make_remark_on_test(all.back());
    }
  }
  const auto rank = [](const Finding& f) {
    return std::tuple(f.kind != "divergent-barrier", f.began, f.kind != "race" && f.kind != "stream-race", f.number);
  };
  std::sort(all.begin(), all.end(), [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
  return all;
}

}  // namespace simt::check
