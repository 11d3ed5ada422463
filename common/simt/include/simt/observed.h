// What a program may tell the check build about its memory. Only that build has it: ask for SIMT_CHECK.
#pragma once

#include <cstddef>
#include <string>

namespace simt::check {

/// From now on these bytes are all of their allocation that kernels may access, and findings call them by this name,
/// which has to last. What was written before is forgotten. For programs that keep guards of their own around arrays.
void narrow(const void* begin, std::size_t bytes, const char* name);

/// Everything found so far, as the JSON document that CHECK_JSON names a file for. Writes the trace, too, where
/// CHECK_TRACE names a file. For a program that may be killed at any time.
std::string findings_json();

/// From now on `receiver` gets that document when the program ends, before a finding ends it with exit code 3.
void send_findings_to(void (*receiver)(const std::string& document));

}  // namespace simt::check
