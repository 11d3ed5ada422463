// What a program may tell the check build about its memory. Only that build has it: ask for SIMT_CHECK.
#pragma once

#include <cstddef>

namespace simt::check {

/// From now on these bytes are all of their allocation that kernels may access, and findings call them by this name,
/// which has to last. What was written before is forgotten. For programs that keep guards of their own around arrays.
void narrow(const void* begin, std::size_t bytes, const char* name);

}  // namespace simt::check
