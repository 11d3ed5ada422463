// Facts about this machine, for tables of results.
#pragma once

#include <string>

namespace lab {

/// "Intel(R) Xeon(R) ... , 16 cores, 126 GiB, Debian GNU/Linux 12, Linux 6.1": facts that are not available are left out.
std::string describe_host();

/// "amd-epyc-2-cores", a short name for this machine's processor.
std::string host_id();

/// A name in lower case, words joined by hyphens: "NVIDIA H200" is "nvidia-h200".
std::string id_of(const std::string& name);

/// Bytes read plus bytes written a second by a copy in this machine's memory, all cores together; the best of a few.
double measure_host_copy();

/// Bytes of memory that programs can still get (Linux: MemAvailable); 0 if that is not known.
double available_memory();

}  // namespace lab
