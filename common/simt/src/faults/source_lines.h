// Source lines of code addresses.
#pragma once

#include "simt/device.h"

namespace simt {

/// The source line of a code address, from binutils' addr2line: the innermost one outside the emulation's headers.
/// Line 0 if there is none.
Site site_of(void* address);

/// The source line of the call that returns to `return_address`. May be called from a kernel, whose stack is small.
Site line_of_call(void* return_address);

/// Is this a line of the emulation, or no line at all?
bool is_emulation(Site site);
/// Is this the result of site_of() where all lines are those of headers, or cannot be found out?
bool is_in_headers(Site site);

}  // namespace simt
