// Files that the check build writes.
#pragma once

#include <string>

namespace simt::check {

/// Writes a file so that it is there whole or not at all, because a program may be killed meanwhile. Prints why if it
/// cannot be written.
void write_whole(const char* path, const std::string& text);

}  // namespace simt::check
