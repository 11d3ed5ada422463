#include "state.h"

namespace simt::check {

[[gnu::init_priority(101)]] CheckStorage storage;

}  // namespace simt::check
