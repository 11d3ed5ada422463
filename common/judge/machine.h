// Facts about this machine, for tables of results.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace lab {

/// "Intel(R) Xeon(R) ... , 16 cores, 126 GiB, Debian GNU/Linux 12, Linux 6.1". Omits facts that are not available.
std::string describe_host();

/// "amd-epyc-2-cores", a short name for this machine's processor.
std::string host_id();

/// The name in lower case, its words joined by hyphens: "NVIDIA H200" is "nvidia-h200".
std::string id_of(const std::string& name);

/// Bytes read plus bytes written per second by a copy within this machine's memory, on all cores; the best of a few
/// runs.
double measure_host_copy();

/// Bytes of memory that programs can still allocate (Linux: MemAvailable); 0 if unknown.
double available_memory();

/// A fact of /proc/PROCESS/status, such as "VmHWM:", in bytes; 0 if unknown. Process 0: this one.
std::int64_t memory_fact(const char* name, pid_t process = 0);

}  // namespace lab
