#include "trace.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "../src/execution/failure.h"
#include "../src/execution/warp.h"
#include "check.h"
#include "files.h"
#include "places.h"
#include "report.h"
#include "words.h"

namespace simt::check {
namespace {

constexpr int version = 1;  // of the format: TRACE.md
constexpr std::uint64_t max_traced = 500'000;
constexpr std::size_t longest_name = 400;  // bytes

/// The text as a string of JSON. Control characters become question marks.
std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += c == '\n' ? "\\n" : static_cast<unsigned char>(c) < ' ' ? "?" : std::string(1, c);
  }
  return json + '"';
}

std::string quoted_place(Site site) { return quoted(file_and_line(site)); }

std::string json_of(dim3 shape) {
  return '[' + std::to_string(shape.x) + ',' + std::to_string(shape.y) + ',' + std::to_string(shape.z) + ']';
}

/// Values of the lanes of a mask, lowest lane first. As text: JSON has no integers of 64 bits that every reader keeps.
std::string values_of(unsigned lanes, const std::uint64_t* values) {
  std::string list;
  for_each_lane(lanes, [&](int lane) {
    char value[32];
    std::snprintf(value, sizeof value, "%s\"%" PRIx64 "\"", list.empty() ? "" : ",", values[lane]);
    list += value;
  });
  return '[' + list + ']';
}

/// Nothing is observed as long as it exists.
class Unobserved {
 public:
  Unobserved() { state().watch.mode = Mode::recording; }
  Unobserved(const Unobserved&) = delete;
  ~Unobserved() { state().watch.mode = before_; }

 private:
  Mode before_ = state().watch.mode;
};

}  // namespace

struct Trace::Recording {
  /// The first and the last number of what is recorded.
  struct Window {
    unsigned long first = 0, last = ~0ul;

    explicit Window(const char* variable) {
      if (const char* const text = std::getenv(variable)) std::sscanf(text, "%lu-%lu", &first, &last);
    }
    bool contains(std::uint64_t number) const { return number >= first && number <= last; }
  };
  /// A store or an atomic, whose value is known only after it has happened. `at` is null if there is none. The bytes
  /// are read as volatile: otherwise the compiler may call memcpy, whose accesses are observed.
  struct Pending {
    const volatile unsigned char* at = nullptr;
    unsigned bytes = 0;
    std::string before = {};  ///< of an atomic
  };
  struct Known {
    int id;
    std::size_t bytes;
  };

  const char* path;
  Window launches{"CHECK_TRACE_LAUNCHES"}, blocks{"CHECK_TRACE_BLOCKS"};
  std::string text = {};
  std::unordered_map<const void*, Known> arrays = {};
  std::vector<std::pair<std::size_t, Array>> unnamed = {};  ///< and where in the text their names are to be
  int array_count = 0;
  std::unordered_map<Code, int> codes = {};
  std::uint64_t accesses = 0;
  bool is_cut = false;
  std::uint64_t launch_count = 0, block = 0;
  Pending pending = {};
  std::string later = {};  // follows the line of the pending access

  bool is_left_out() const {
    return is_cut || launch_count == 0 || !launches.contains(launch_count - 1) || !blocks.contains(block);
  }

  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    char line[256];
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(line, sizeof line, format, values);
    va_end(values);
    text += line;
  }

  /// The bytes as a number, in hexadecimal: the low byte lies first.
  static std::string value_at(const volatile unsigned char* at, unsigned bytes) {
    std::string value;
    for (unsigned byte = bytes; byte-- > 0;) {
      value += "0123456789abcdef"[at[byte] >> 4];
      value += "0123456789abcdef"[at[byte] & 15];
    }
    return value;
  }

  /// Adds the value of the last store, which has happened by now.
  void complete() {
    if (pending.at == nullptr) return;
    text += ",\"" + value_at(pending.at, pending.bytes) + '"';
    if (!pending.before.empty()) text += ",\"" + pending.before + '"';
    pending = {};
    text += "]}\n" + later;
    later.clear();
  }

  /// A line about an access that has been recorded.
  void about_access(const std::string& words) { (pending.at != nullptr ? later : text) += words; }

  /// Adds the names of allocations, which are known at the end.
  void add_names(const Places& places);

  int number_of(Code code) { return codes.try_emplace(code, int(codes.size())).first->second; }

  int number_of(const Owner& owner, const Access& access, std::size_t offset);
  void add_findings(const std::vector<Finding>& findings, const char* severity);
};

/// The array's number. It is announced at its first access; dynamic shared memory again when it has another size.
int Trace::Recording::number_of(const Owner& owner, const Access& access, std::size_t offset) {
  const auto [array, is_new] = arrays.try_emplace(owner.identity, Known{});
  if (!is_new && array->second.bytes == owner.bytes) return array->second.id;
  const int id = array_count++;
  array->second = {id, owner.bytes};
  text += "{\"array\":{\"id\":" + std::to_string(id) + ",\"space\":\"" + name_of(access.space) + "\"";
  if (owner.name != nullptr) {
    text += ",\"name\":" + quoted(std::string(owner.name).substr(0, longest_name));
  } else {
    unnamed.emplace_back(text.size(),
                         Array{.memory = Memory::allocation, .number = owner.number, .made_by = *owner.made_by});
  }
  text += ",\"allocation\":" + std::to_string(owner.number) + ",\"bytes\":" + std::to_string(owner.bytes) +
          ",\"begins_at\":" + std::to_string((access.address - offset) % 256) + "}}\n";
  return id;
}

Trace::Trace() {
  const char* path = std::getenv("CHECK_TRACE");
  if (path != nullptr && *path != '\0') recording_.reset(new Recording{path});
}

Trace::~Trace() = default;

std::int64_t Trace::moment() const {
  return recording_ == nullptr || recording_->is_left_out() ? -1 : std::int64_t(recording_->accesses);
}

/// "[null,8,1]": the first arguments, where they are whole numbers.
static std::string json_of_arguments(const Kernel& kernel) {
  Numbers numbers;
  if (kernel.list_numbers != nullptr) kernel.list_numbers(kernel.arguments, numbers);
  std::string text = "[";
  for (int i = 0; i < std::min(numbers.count, Numbers::most); ++i) {
    text += i == 0 ? "" : ",";
    text += numbers.is_number[i] ? std::to_string(numbers.values[i]) : "null";
  }
  return text + "]";
}

void Trace::launch(const Launch& launch) {
  const Unobserved unobserved;
  if (recording_->is_cut) return;
  recording_->complete();
  ++recording_->launch_count;
  recording_->block = 0;
  recording_->text += "{\"launch\":{\"kernel\":" + quoted(std::string(launch.kernel.name).substr(0, longest_name)) +
                      ",\"grid\":" + json_of(launch.config.grid) + ",\"block\":" + json_of(launch.config.block) +
                      ",\"arguments\":" + json_of_arguments(launch.kernel) +
                      ",\"at\":" + quoted_place(launch.kernel.site) + "}}\n";
}

void Trace::block(std::uint64_t block) {
  const Unobserved unobserved;
  recording_->complete();
  recording_->block = block;
  if (!recording_->is_left_out()) recording_->add("{\"block\":%" PRIu64 "}\n", block);
}

void Trace::barrier(Site site) {
  const Unobserved unobserved;
  if (recording_->is_left_out()) return;
  recording_->complete();
  recording_->text += "{\"barrier\":" + quoted_place(site) + "}\n";
}

void Trace::end_block() {
  const Unobserved unobserved;
  recording_->complete();  // later, memory may have been freed
}

void Trace::access(const Owner& owner, const Access& access, std::size_t offset) {
  const Unobserved unobserved;
  Recording& r = *recording_;
  if (r.is_left_out()) return;
  r.complete();
  if (r.accesses == max_traced) {
    r.is_cut = true;
    r.add("{\"cut\":%" PRIu64 "}\n", max_traced);
    return;
  }
  ++r.accesses;
  const int array = r.number_of(owner, access, offset);
  r.add("{\"access\":[%d,%u,%d,\"%s\",%td,%u", array, access.thread, r.number_of(access.code), name_of(access.way),
        std::ptrdiff_t(offset), access.bytes);
  if (offset >= owner.bytes || access.bytes > owner.bytes - offset) {  // nothing may lie there
    r.text += "]}\n";
    return;
  }
  r.pending = {reinterpret_cast<const volatile unsigned char*>(access.address), access.bytes, {}};
  if (access.way == Way::atomic) r.pending.before = Recording::value_at(r.pending.at, access.bytes);
  if (access.way == Way::load) r.complete();  // its value is already there
}

void Trace::transfer(int to, std::size_t offset, std::size_t bytes, int from, std::size_t from_offset, Code code) {
  const Unobserved unobserved;
  if (recording_->launch_count != 0 && recording_->is_left_out()) return;  // those before the first launch are kept
  recording_->complete();
  recording_->add("{\"transfer\":[%d,%zu,%zu,%d,%zu,%d]}\n", to, offset, bytes, from, from_offset,
                  recording_->number_of(code));
}

void Trace::exchange(const Exchange& exchange, const int* sources) {
  const Unobserved unobserved;
  if (recording_->is_left_out()) return;
  recording_->complete();
  std::string from;
  for_each_lane(sources == nullptr ? 0 : exchange.lanes,
                [&](int lane) { from += (from.empty() ? "" : ",") + std::to_string(sources[lane]); });
  recording_->text += std::string("{\"exchange\":{\"name\":\"") + exchange.name +
                      "\",\"at\":" + quoted_place(exchange.site) + ",\"warp\":" + std::to_string(exchange.warp) +
                      ",\"lanes\":" + std::to_string(exchange.lanes) + ",\"sources\":[" + from +
                      "],\"values\":" + values_of(exchange.lanes, exchange.values) +
                      ",\"results\":" + values_of(exchange.lanes, exchange.results) + "}}\n";
}

void Trace::lanes_synchronized(unsigned warp, unsigned lanes, Site site) {
  const Unobserved unobserved;
  if (recording_->is_left_out()) return;
  recording_->complete();
  recording_->add("{\"syncwarp\":{\"warp\":%u,\"lanes\":%u,\"at\":", warp, lanes);
  recording_->text += quoted_place(site) + "}}\n";
}

void Trace::waits(unsigned thread, Site site) {
  const Unobserved unobserved;
  if (recording_->is_left_out()) return;
  recording_->complete();
  recording_->add("{\"waits\":[%u,", thread);
  recording_->text += quoted_place(site) + "]}\n";
}

void Trace::race(unsigned thread, Code code, std::uint64_t other_block, unsigned other_thread, Code other) {
  const Unobserved unobserved;
  if (recording_->is_left_out()) return;
  Recording& r = *recording_;
  r.about_access("{\"race\":[" + std::to_string(thread) + ',' + std::to_string(r.number_of(code)) + ',' +
                 std::to_string(other_block) + ',' + std::to_string(other_thread) + ',' +
                 std::to_string(r.number_of(other)) + "]}\n");
}

void Trace::fault(const Access& access) {
  const Unobserved unobserved;
  if (recording_->is_left_out()) return;
  recording_->about_access("{\"fault\":[" + std::to_string(access.thread) + ',' +
                           std::to_string(recording_->number_of(access.code)) + "]}\n");
}

void Trace::conflict(const Conflict& c) {
  const Unobserved unobserved;
  if (recording_->is_left_out()) return;
  recording_->complete();
  recording_->add("{\"conflict\":[%d,%u,\"%s\",%u,%u,%u,%u]}\n", recording_->number_of(c.code), c.bytes, name_of(c.way),
                  c.warp, c.time, c.actual, c.ideal);
}

void Trace::Recording::add_findings(const std::vector<Finding>& findings, const char* severity) {
  const auto number = [&](Code code) { return std::to_string(code == 0 ? -1 : number_of(code)); };
  for (const Finding& f : findings) {
    text += std::string("{\"") + severity + "\":{\"kind\":" + quoted(f.kind) + ",\"at\":" + quoted(f.place.line) +
            ",\"remedy\":\"" + name_of(f.remedy) + "\",\"text\":" + quoted(f.text) +
            ",\"times\":" + std::to_string(f.times) + ",\"accesses\":" + std::to_string(f.moment) +
            ",\"code\":" + number(f.code()) + ",\"other\":" + number(f.other()) + "}}\n";
  }
}

void Trace::Recording::add_names(const Places& places) {
  for (auto at = unnamed.rbegin(); at != unnamed.rend(); ++at) {
    auto& [position, array] = *at;
    array.resolve(places);
    text.insert(position, ",\"name\":" + quoted(name_of(array)) + ",\"allocated\":" + quoted(array.allocated.line));
  }
}

void Trace::write(const Report& report) {
  recording_->complete();
  Recording all = *recording_;  // the program may go on
  all.add_findings(report.findings, "finding");
  all.add_findings(report.remarks, "remark");
  std::set<Code> codes;
  for (const auto& [code, number] : all.codes) codes.insert(code);
  for (const auto& [position, array] : all.unnamed) array.collect(codes);
  const Places places(codes);
  all.add_names(places);
  std::map<int, Code> by_number;  // the same in every run
  for (const auto& [code, number] : all.codes) by_number[number] = code;
  for (const auto& [number, code] : by_number) {
    if (!places.know(code)) continue;
    all.text += "{\"code\":{\"id\":" + std::to_string(number) + ",\"at\":" + quoted(places.of(code)) +
                ",\"in_source\":" + quoted(places.in_source(code)) + "}}\n";
  }
  write_whole(all.path, "{\"trace\":" + std::to_string(version) + "}\n" + all.text);
}

}  // namespace simt::check
