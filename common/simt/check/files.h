// Files that the check build writes.
#pragma once

#include <string>

namespace simt::check {

/// Writes a file as a whole or not at all, because the program may be killed at any time. If the file cannot be
/// written, prints the reason.
void write_whole(const char* path, const std::string& text);

}  // namespace simt::check
