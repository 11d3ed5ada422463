#include "exits.h"

#include <algorithm>
#include <cstring>

#include "state.h"

namespace simt::check {

namespace {

void count(std::vector<std::pair<Site, int>>& returns, Site site) {
  const auto known =
      std::find_if(returns.begin(), returns.end(), [&](const auto& place) { return place.first == site; });
  if (known == returns.end()) {
    returns.emplace_back(site, 1);
  } else {
    ++known->second;
  }
}

}  // namespace

void Exits::leave(Site site) { count(of_block.returns, site); }

Site Exits::left_before(unsigned thread, Site barrier) const {
  const auto left = of_block.functions.find(thread);
  if (left == of_block.functions.end()) return {};
  const auto& [site, last] = left->second;
  const bool is_skipped =
      std::strcmp(site.file, barrier.file) == 0 && site.line <= barrier.line && barrier.line <= last;
  return is_skipped ? site : Site{};
}

void Exits::miss(Site barrier, int threads) {
  if (is_reported_ || of_block.has_early) return;
  of_block.has_early = true;
  for (const auto& [thread, left] : of_block.functions) {
    if (left_before(thread, barrier).line != 0) count(of_block.returns, left.site);
  }
  const auto most = std::max_element(of_block.returns.begin(), of_block.returns.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool is_known = most != of_block.returns.end();
  const Running& running = state().running;
  early_ = Finding{.kind = "early-exit",
                   .why = is_known ? "return-before-barrier" : "exit-before-barrier",
                   .facts = {running.here(is_known ? most->first : barrier)},
                   .began = state().order.interval()};
  early_->details.set("count", std::uint64_t(is_known ? most->second : threads));
  early_->details.set("threads", std::uint64_t(running.launch->threads));
  early_->details.set("barrier_at", Place::of(barrier));
}

void Exits::blame(const Access& access) {
  if (!early_ || is_reported_ || (access.space == Space::shared && !of_block.has_early)) return;
  CheckState& all = state();
  if (access.space == Space::global) {
    const Region* const region = all.ownership.region_at(access.address);
    if (region == nullptr || !all.ownership.is_written_by_device(region->begin, region->bytes)) return;
  }
  is_reported_ = true;
  all.findings.add(*early_);
}

}  // namespace simt::check
