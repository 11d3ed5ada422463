#include "exits.h"

#include <algorithm>

#include "../src/execution/failure.h"
#include "state.h"

namespace simt::check {

void Exits::leave(Site site) {
  const auto known =
      std::find_if(returns_.begin(), returns_.end(), [&](const auto& place) { return place.first == site; });
  if (known == returns_.end()) {
    returns_.emplace_back(site, 1);
  } else {
    ++known->second;
  }
}

void Exits::miss(Site barrier, int threads) {
  if (is_reported_ || in_block_) return;
  in_block_ = true;
  const auto most = std::max_element(returns_.begin(), returns_.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool is_known = most != returns_.end();
  const Running& running = state().running;
  const std::string count = std::to_string(is_known ? most->second : threads) + " of " +
                            std::to_string(running.launch->threads) + " threads ";
  early_ = {is_known ? most->first : barrier,
            running.place() + ": " + count +
                (is_known ? "return here, before the __syncthreads() at " + file_and_line(barrier)
                          : "have exited before this __syncthreads()") +
                "; what they should have written is read, but nothing has written it; let every thread reach the "
                "barrier, and put only the work around it into an if",
            state().order.interval()};
}

void Exits::blame(const Access& access) {
  if (!early_ || is_reported_ || (access.space == Space::shared && !in_block_)) return;
  CheckState& all = state();
  if (access.space == Space::global) {
    const Region* const region = all.ownership.region_at(access.address);
    if (region == nullptr || !all.ownership.is_written_by_device(region->begin, region->bytes)) return;
  }
  is_reported_ = true;
  all.findings.add(
      {.kind = "early-exit", .text = early_->text, .place = file_and_line(early_->site), .began = early_->interval});
}

}  // namespace simt::check
