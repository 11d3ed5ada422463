// How a program describes its memory to the check build. Only that build has it: test for SIMT_CHECK.
#pragma once

#include <cstddef>
#include <string>

namespace simt::check {

/// From now on, kernels may access only these bytes of their allocation, which count as not yet written, and findings
/// use this name for them. The name must outlive the allocation. For programs that keep their own guards around
/// arrays.
void narrow(const void* begin, std::size_t bytes, const char* name);

/// Of these bytes of an allocation, the offset of the first one that differs from `before` although neither a kernel
/// nor a copy within the device was seen to write it; `bytes` if there is none. For programs that must know who wrote a
/// result.
std::size_t first_not_by_device(const void* begin, std::size_t bytes, const void* before);

/// Why these bytes of an allocation are as they were: "it launches no kernel", or where the kernels wrote instead. ""
/// if the device has written any of them, or if the reason is another one.
std::string why_unchanged(const void* begin, std::size_t bytes);

/// Reports the last launch if the program has not read the last error after it. To be called where the program should
/// have done so.
void report_unread_launch();

/// Everything found so far, as the JSON document that CHECK_JSON names a file for. Writes the trace, too, where
/// CHECK_TRACE names a file. For a program that may be killed at any time.
std::string findings_json();

/// From now on `receiver` gets that document when the program ends, before a finding ends it with exit code 3.
void send_findings_to(void (*receiver)(const std::string& document));

}  // namespace simt::check
