// Source lines of code addresses.
#pragma once

#include "simt/device.h"

namespace simt {

/// Which line of several, if the code was inlined into other lines: the innermost one, or the innermost one in a .cu
/// file if there is one.
enum class Frame { innermost, in_source };
/// The source line of a code address outside the emulation's headers, from binutils' addr2line. Line 0 if there is none.
Site site_of(void* address, Frame frame = Frame::innermost);

/// The source line of the call that returns to `return_address`. May be called from a kernel, whose stack is small.
Site line_of_call(void* return_address);

/// Is this a line of the emulation, or no line at all?
bool is_emulation(Site site);
/// Is this the result of site_of() where all lines are those of headers, or cannot be found out?
bool is_in_headers(Site site);
/// The same, as far as is known: addr2line has not failed.
bool has_no_line(Site site);

}  // namespace simt
