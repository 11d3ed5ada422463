#include "failure.h"

#ifdef SIMT_CHECK
#include "../../check/check.h"
#endif
#include "../emulation.h"
#include "../environment.h"
#include "launch_state.h"

namespace simt {

void report_error(const char* kind, Site site, const std::string& text, [[maybe_unused]] const FailureFacts& facts) {
#ifdef SIMT_CHECK
  check::add_finding(kind, site, text, facts);
#else
  std::fprintf(stderr, "%s:%d: error: %s: %s\n", site.file, site.line, kind, text.c_str());
  std::fflush(stderr);
#endif
}

void report(const Failure& failure) {
  SIMT_OBSERVE(check::stop_observing();)  // no device code follows
  if (!launch_state.first_failure()) return;
  std::string text = failure.text;
  if (order_seed() != 0) text += " (lane order: SIMT_SEED=" + std::to_string(order_seed()) + ")";
  report_error(failure.kind, failure.site, text, failure.facts);
  set_sticky(failure.error);
}

}  // namespace simt
