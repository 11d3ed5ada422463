// The judge as a service: one JSON object per line in, one per line out, in the same order.
//
//   {"ask":"labs"}                                   {"labs":[Lab]}
//   {"ask":"inputs"}                                 {"inputs":[{"name","what"}]}
//   {"ask":"machine","bandwidth"?}                   {"machine","machine_id","copy_bytes_per_second"?}
//   {"ask":"runner","runner","bandwidth"?}           {"device","device_id","on_gpu","copy_bytes_per_second","facts","steps"}
//   {"ask":"cases","lab","step","set","build","seed"?}    {"groups":[{"what","cases":[Case]}]}
//   {"ask":"run","runner","case",..}                 Outcome
//       optional: "timeout" in seconds, "time_kernels", "keys": PATH of raw keys in place of the input, "output": PATH for
//       the verified keys, "trace": PATH for the check build's trace, "environment": variables of the runner
//   {"ask":"measure","runner","case","limits",..}    Measurement
//       optional: "timeout", "kernels", "copy_bytes_per_second" that reported times are tested against
//
//   {"ask":"sort_file","runner","case","input","output",..}    FileSorted
//       sorts the u32 keys of the file "input" into the file "output", which exists and is empty. Before the answer come
//       lines {"progress":{"what","done","total"}}, in bytes.
//       optional: "host_memory" in bytes, "timeout" for a piece, "environment"
//
// Requests with a runner may name a "sandbox": the words of a command that starts it, beginning with a path.
//
// A request that cannot be served is answered by {"error", "kind"}; the kind is "usage" if the request is wrong and
// "machine" if this machine lacks something. A request must not have other members. Of a case only "lab" and "step" are
// required. Without "n" it has all keys of a file, or 2^20, but no more than the step takes; without "lane_seed" the
// runner inherits SIMT_SEED. The lab "gold" is the runner's own table, which only the gold standard's runners are asked
// for. json.cpp has the members of each answer.
//
// A runner's process is kept for the next request; several programs and environments are kept at a time.
#pragma once

#include <iosfwd>
#include <span>

#include "judge/labs.h"

namespace lab {

/// Serves requests until the end of `in`.
void serve(std::span<const Lab> labs, std::istream& in, std::ostream& out);

/// The judge's main function: serve() over standard input and output, or --help. Returns the exit code.
int judge_main(std::span<const Lab> labs, int argc, char** argv);

}  // namespace lab
