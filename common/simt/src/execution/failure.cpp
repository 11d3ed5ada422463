#include "failure.h"

#include <cstdio>

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../emulation.h"
#include "../environment.h"
#include "launch_state.h"

namespace simt {

void report(const Failure& failure) {
  SIMT_OBSERVE(check::stop_observing();)  // no device code follows
  if (!launch_state.first_failure()) return;
  std::string text = failure.text;
  if (order_seed() != 0) text += " (lane order: SIMT_SEED=" + std::to_string(order_seed()) + ")";
#ifdef SIMT_CHECK
  check::add_finding(failure.kind, failure.site, text);
#else
  std::fprintf(stderr, "%s:%d: error: %s: %s\n", failure.site.file, failure.site.line, failure.kind, text.c_str());
  std::fflush(stderr);
#endif
  set_sticky(failure.error);
}

std::string hex(unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

std::string coordinates(uint3 p) {
  return "(" + std::to_string(p.x) + "," + std::to_string(p.y) + "," + std::to_string(p.z) + ")";
}

std::string file_and_line(const Site& site) { return std::string(site.file) + ":" + std::to_string(site.line); }

}  // namespace simt
