// Facts about this machine, for tables of results.
#pragma once

#include <string>

namespace lab {

/// "Intel(R) Xeon(R) ... , 16 cores, 126 GiB, Debian GNU/Linux 12, Linux 6.1": what could not be found out is left out.
std::string describe_host();

/// Bytes of memory that programs can still get (Linux: MemAvailable); 0 if that is not known.
double available_memory();

}  // namespace lab
