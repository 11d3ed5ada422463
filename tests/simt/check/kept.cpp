#include "kept.h"

#include <algorithm>

#include "order.h"

std::vector<Told> told;

namespace simt::check {

static Totals sums;

void add_finding(const char* kind, Code code, Code other, const std::string& text) {
  told.push_back({kind, code, other, text});
}
void drop_finding(const char* kind, Code code) {
  std::erase_if(told, [&](const Told& one) { return one.kind == kind && one.code == code; });
}
bool is_known(const char* kind, Code code, Code other) {
  return std::any_of(told.begin(), told.end(),
                     [&](const Told& one) { return one.kind == kind && one.code == code && one.other == other; });
}
void add_cost(Code, Space, Way, unsigned, unsigned, unsigned) {}
Totals& totals() { return sums; }
bool tracing = false;
void trace_race(std::uint64_t, unsigned, Code) {}
void trace_conflict(Code, unsigned, Way, unsigned, unsigned, unsigned, unsigned) {}

}  // namespace simt::check

InLaunch::InLaunch()
    : launch{.kernel = {}, .config = {4, 128}, .blocks = 4, .threads = 128, .number = 1, .order_seed = 0} {
  launch.kernel.name = "move";
  told.clear();
  simt::check::totals() = {};
  simt::check::order_launch(launch.blocks);
  simt::check::launch = &launch;
  simt::check::block = 0;
  simt::check::order_block();
}

InLaunch::~InLaunch() { simt::check::launch = nullptr; }

void InLaunch::next_block() {
  ++simt::check::block;
  simt::check::order_block();
}
