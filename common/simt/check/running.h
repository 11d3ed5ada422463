// The launch and block that the observers look at, and how findings name what belongs to them.
#pragma once

#include <string>

#include "check.h"

namespace simt::check {
#pragma GCC visibility push(hidden)

extern const Launch* launch;  ///< null outside a kernel: accesses of host code are not looked at
extern std::uint64_t block;

std::string thread_name(unsigned linear);      ///< (1,2,0)
std::string block_name(std::uint64_t linear);  ///< the same
std::string where();                           ///< kernel and block
std::string who(unsigned thread);              ///< a finding's first words: these, and the thread

#pragma GCC visibility pop
}  // namespace simt::check
