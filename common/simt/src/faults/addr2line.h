// Runs binutils' addr2line, which knows the source lines of the program's code.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace simt {

/// Calls `use` with each address ("0x...") and after it with each of its lines ("FILE:LINE"): that of the code, and
/// then the lines into which it was inlined, innermost first. The addresses count from the program's first one. False:
/// addr2line has failed twice, and a message on standard error says so.
bool read_source_lines(const std::vector<std::uintptr_t>& addresses,
                       const std::function<void(const std::string& line)>& use);

}  // namespace simt
