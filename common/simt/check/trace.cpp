// Keeps every access of the program, in order, and writes them to the file that CHECK_TRACE names: what an access
// picture is drawn from. One line a record, fields separated by tabs:
//
//   launch    kernel  grid (x,y,z)  block (x,y,z)
//   block     number                           interval 0 of this block begins
//   barrier                                    the next interval begins
//   array     id  space  name  allocation's number or 0  bytes
//   access    array  thread  code  way  offset (bytes)  bytes  value (hexadecimal, after a store or an atomic)
//   race      other block  other thread  other code       of the access above with an earlier one
//   conflict  code  bytes  way  warp  time  actual  ideal     wavefronts of a request of the interval that ends here
//   code      code  file:line
//   cut                                        more accesses came than are kept
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <unordered_map>

#include "check.h"

namespace simt::check {
namespace {

constexpr std::uint64_t most_accesses = 200'000;

const char* file_named_by_environment() {
  const char* path = std::getenv("CHECK_TRACE");
  return path != nullptr && *path != '\0' ? path : nullptr;
}

struct Pending {  // a store, which is called about before it happens
  const volatile unsigned char* at = nullptr;
  unsigned bytes = 0;
};

/// Never destroyed: the trace is written while the program ends.
struct Trace {
  std::string text;
  std::unordered_map<const void*, int> arrays;
  std::set<Code> codes;
  std::uint64_t accesses = 0;
  bool cut = false;
  Pending pending;
  std::string race;
};
Trace& trace() {
  static auto* const one = new Trace;
  return *one;
}

[[gnu::format(printf, 1, 2)]] void line(const char* format, ...) {
  char text[512];
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  trace().text += text;
}

/// A value as a number of 8 * bytes bits: the low byte lies first. Read as volatile, which is not made a call of
/// memcpy, whose accesses are themselves observed.
void add_value(const Pending& value) {
  for (unsigned byte = value.bytes; byte-- > 0;) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", unsigned(value.at[byte]));
    trace().text += text;
  }
}

/// The value of the last store, which has happened by now, and the end of its line.
void complete() {
  Trace& t = trace();
  if (t.pending.at == nullptr) return;
  add_value(t.pending);
  t.pending.at = nullptr;
  t.text += "\n" + t.race;
  t.race.clear();
}

const char* name_of(Way way) { return way == Way::load ? "load" : way == Way::store ? "store" : "atomic"; }

}  // namespace

bool tracing = file_named_by_environment() != nullptr;

void trace_launch(const Launch& launch) {
  if (trace().cut) return;
  complete();
  const dim3 grid = launch.config.grid, block = launch.config.block;
  line("launch\t%.400s\t%u,%u,%u\t%u,%u,%u\n", launch.kernel.name, grid.x, grid.y, grid.z, block.x, block.y, block.z);
}

void trace_block(std::uint64_t block) {
  if (trace().cut) return;
  complete();
  line("block\t%" PRIu64 "\n", block);
}

void trace_barrier() {
  if (trace().cut) return;
  complete();
  line("barrier\n");
}

void trace_block_end() { complete(); }  // memory may be freed now

void trace_access(const Owner& owner, Code code, unsigned thread, const void* at, std::size_t offset, unsigned bytes,
                  Space space, Way way) {
  Trace& t = trace();
  if (t.cut) return;
  complete();
  if (t.accesses++ == most_accesses) {
    t.cut = true;
    line("cut\n");
    return;
  }
  const auto [array, is_new] = t.arrays.try_emplace(owner.identity, int(t.arrays.size()));
  if (is_new) {
    line("array\t%d\t%s\t%.300s\t%d\t%zu\n", array->second, space == Space::shared ? "shared" : "global", owner.name,
         owner.number, owner.bytes);
  }
  t.codes.insert(code);
  line("access\t%d\t%u\t%" PRIxPTR "\t%s\t%zu\t%u\t", array->second, thread, code, name_of(way), offset, bytes);
  t.pending = {static_cast<const volatile unsigned char*>(at), bytes};
  if (way == Way::load) complete();  // its value is already there
}

void trace_race(std::uint64_t other_block, unsigned other_thread, Code other) {
  if (trace().cut) return;
  char text[128];
  std::snprintf(text, sizeof text, "race\t%" PRIu64 "\t%u\t%" PRIxPTR "\n", other_block, other_thread, other);
  (trace().pending.at != nullptr ? trace().race : trace().text) += text;  // after the line of the access
}

void trace_conflict(Code code, unsigned bytes, Way way, unsigned warp, unsigned time, unsigned actual, unsigned ideal) {
  if (trace().cut) return;
  complete();
  line("conflict\t%" PRIxPTR "\t%u\t%s\t%u\t%u\t%u\t%u\n", code, bytes, name_of(way), warp, time, actual, ideal);
}

void write_trace() {
  Trace& t = trace();
  complete();
  std::string text = t.text;
  for (const auto& [code, place] : resolve(t.codes)) {
    char address[32];
    std::snprintf(address, sizeof address, "code\t%" PRIxPTR "\t", code);
    text += address + place + "\n";
  }
  write_whole(file_named_by_environment(), text);
}

}  // namespace simt::check
