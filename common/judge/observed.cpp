#include "judge/observed.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "judge/json.h"
#include "step/error.h"

namespace lab {
namespace {

// How messages of the C library begin, before it calls abort().
constexpr std::string_view heap_faults[] = {"free(): ",
                                            "malloc(): ",
                                            "realloc(): ",
                                            "double free",
                                            "corrupted ",
                                            "munmap_chunk(): ",
                                            "malloc_consolidate(): ",
                                            "*** stack smashing detected ***"};

constexpr std::size_t max_name = 4096;  // bytes of a name, path or text of a runner

std::string text_in(const Json& object, const char* member) {
  const std::string text = object.at(member).get<std::string>();
  if (text.size() > max_name) throw Error(fmt::format("\"{}\" has {} bytes", member, text.size()));
  return text;
}

std::int64_t count_in(const Json& value) {
  if (!value.is_number_integer() || value.get<double>() < 0 || value.get<double>() > 9e18) {
    throw Error("a count is not a whole number from 0 to 9e18");
  }
  return value.get<std::int64_t>();
}

std::array<std::int64_t, 3> size_in(const Json& value) {
  if (!value.is_array() || value.size() != 3) throw Error("a size does not have 3 numbers");
  return {count_in(value[0]), count_in(value[1]), count_in(value[2])};
}

// What follows reads the facts of a finding: only members that are known, with values of the right kind.

Json line_in(const Json& o) {
  if (o.is_null()) return o;
  return {{"file", text_in(o, "file")}, {"line", count_in(o.at("line"))}};
}

Json index_in(const Json& o) { return o.is_null() ? o : Json(size_in(o)); }

// A name of ours, such as that of a reason or of a kind of memory.
Json name_in(const Json& o, const char* member) {
  constexpr std::size_t longest = 64;
  const std::string name = text_in(o, member);
  const auto is_ours = [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_'; };
  if (name.size() > longest || !std::all_of(name.begin(), name.end(), is_ours)) {
    throw Error(fmt::format("\"{}\" is not a name", member));
  }
  return name;
}

Json element_in(const Json& o) {
  if (o.is_null()) return o;
  const Json& offset = o.at("offset");
  if (!offset.is_number_integer() || std::abs(offset.get<double>()) > 9e18) throw Error("an offset is not a number");
  const Json& index = o.at("index");
  return {{"memory", name_in(o, "memory")},
          {"array", text_in(o, "array")},
          {"allocation", count_in(o.at("allocation"))},
          {"allocated", line_in(o.at("allocated"))},
          {"array_bytes", count_in(o.at("array_bytes"))},
          {"offset", offset.get<std::int64_t>()},
          {"bytes", count_in(o.at("bytes"))},
          {"index", index.is_null() ? index : Json(count_in(index))}};
}

Json fact_in(const Json& o) {
  return {{"place", line_in(o.at("place"))},
          {"header", line_in(o.at("header"))},
          {"kernel", text_in(o, "kernel")},
          {"call", text_in(o, "call")},
          {"launch", line_in(o.at("launch"))},
          {"block", index_in(o.at("block"))},
          {"thread", index_in(o.at("thread"))},
          {"access", name_in(o, "access")},
          {"is_atomic", o.at("is_atomic").get<bool>()},
          {"is_volatile", o.at("is_volatile").get<bool>()},
          {"element", element_in(o.at("element"))}};
}

Json detail_in(const Json& o) {
  if (o.is_object()) return line_in(o);
  if (o.is_array()) return index_in(o);
  if (o.is_string() && o.get_ref<const std::string&>().size() <= max_name) return o;
  if (o.is_number_float() && o.get<double>() >= 0 && o.get<double>() < 1e12) return o;
  return count_in(o);
}

Json facts_in(const Json& o) {
  constexpr std::size_t most = 32;  // of each list
  const Json& facts = o.at("facts");
  const Json& details = o.at("details");
  if (!facts.is_array() || !details.is_object() || facts.size() > most || details.size() > most) {
    throw Error("a finding has too many facts");
  }
  Json read = {{"severity", name_in(o, "severity")},
               {"why", name_in(o, "why")},
               {"remedy", name_in(o, "remedy")},
               {"round", name_in(o, "round")},
               {"last_barrier", line_in(o.at("last_barrier"))},
               {"facts", Json::array()},
               {"details", Json::object()}};
  for (const Json& fact : facts) read["facts"].push_back(fact_in(fact));
  for (const auto& [name, value] : details.items()) read["details"][name.substr(0, max_name)] = detail_in(value);
  return read;
}

Finding read_finding(const Json& o) {
  return {.file = text_in(o, "file"),
          .line = count_in(o.at("line")),
          .kind = text_in(o, "kind"),
          .text = text_in(o, "text"),
          .times = count_in(o.at("times")),
          .facts = facts_in(o)};
}

Note read_note(const Json& o) {
  return {.file = text_in(o, "file"),
          .line = count_in(o.at("line")),
          .kind = text_in(o, "kind"),
          .ideal = count_in(o.at("ideal")),
          .actual = count_in(o.at("actual")),
          .unit = text_in(o, "unit"),
          .requests = count_in(o.at("requests")),
          .space = text_in(o, "space"),
          .access = text_in(o, "access"),
          .text = text_in(o, "text")};
}

LaunchCounts read_launch(const Json& o) {
  LaunchCounts launch{
      .kernel = text_in(o, "kernel"), .grid = size_in(o.at("grid")), .block = size_in(o.at("block")), .counts = {}};
  for (const auto& [name, value] : o.items()) {
    if (name != "kernel" && name != "grid" && name != "block") launch.counts.emplace(name, count_in(value));
  }
  return launch;
}

KernelTime read_kernel(const Json& o) {
  const auto small = [&](const char* member) {  // -1: unknown
    const Json& value = o.at(member);
    return value == -1 ? -1 : int(std::min<std::int64_t>(count_in(value), std::numeric_limits<int>::max()));
  };
  KernelTime kernel{.name = text_in(o, "name"),
                    .launches = small("launches"),
                    .milliseconds = o.at("milliseconds").get<double>(),
                    .blocks = count_in(o.at("blocks")),
                    .threads = count_in(o.at("threads")),
                    .dynamic_shared = count_in(o.at("dynamic_shared")),
                    .static_shared = small("static_shared"),
                    .registers = small("registers")};
  if (!(kernel.milliseconds >= 0 && kernel.milliseconds < 1e12)) throw Error("a kernel's time is not a time");
  return kernel;
}

TimelineSpan read_span(const Json& o) {
  TimelineSpan span{.stream = int(std::min<std::int64_t>(count_in(o.at("stream")), std::numeric_limits<int>::max())),
                    .what = text_in(o, "what"),
                    .begin = o.at("begin_ms").get<double>(),
                    .end = o.at("end_ms").get<double>(),
                    .bytes = count_in(o.at("bytes"))};
  if (!(span.begin >= 0 && span.begin <= span.end && span.end < 1e12)) throw Error("a span of time is not one");
  return span;
}

template <class Read>
auto read_list(const Json& object, const char* member, Read&& read) {
  std::vector<decltype(read(object))> list;
  if (!object.contains(member)) return list;
  for (const Json& item : object.at(member)) list.push_back(read(item));
  return list;
}

Timeline read_timeline(const Json& json) {
  if (!json.contains("timeline")) return {};
  const Json& o = json.at("timeline");
  Timeline timeline{.spans = read_list(o, "spans", read_span), .left_out = count_in(o.at("left_out"))};
  if (timeline.spans.size() > max_timeline_spans) {
    throw Error(fmt::format("the timeline has {} spans", timeline.spans.size()));
  }
  return timeline;
}

// "FILE:LINE: error: KIND: TEXT"
std::optional<Finding> finding_in(std::string_view line) {
  const Finding place = place_in(line);
  if (place.line == 0) return std::nullopt;
  constexpr std::string_view error = "error: ";
  const std::string_view rest = place.text;
  const std::size_t kind = rest.find(": ", error.size());
  if (!rest.starts_with(error) || kind == std::string_view::npos) return std::nullopt;
  return Finding{.file = place.file,
                 .line = place.line,
                 .kind = std::string(rest.substr(error.size(), kind - error.size())),
                 .text = std::string(rest.substr(kind + 2)),
                 .facts = {}};
}

template <class F>
void for_each_line(std::string_view text, F&& f) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    f(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

}  // namespace

Document read_document(const std::string& text) {
  try {
    const Json json = parse_shallow(text);
    Document document;
    document.kernels = read_list(json, "kernels", read_kernel);
    document.timeline = read_timeline(json);
    if (json.contains("unchanged")) document.unchanged = text_in(json, "unchanged");
    if (!json.contains("observed")) return document;
    const Json& observed = json.at("observed");
    document.observed = true;
    document.findings = read_list(observed, "findings", read_finding);
    document.remarks = read_list(observed, "remarks", read_finding);
    document.notes = read_list(observed, "notes", read_note);
    document.launches = read_list(observed, "launches", read_launch);
    if (observed.contains("copied_bytes")) document.copied_bytes = count_in(observed.at("copied_bytes"));
    if (observed.contains("bytes_to_host")) document.bytes_to_host = count_in(observed.at("bytes_to_host"));
    return document;
  } catch (const Json::exception& error) {
    throw Error(error.what());
  }
}

Finding place_in(std::string_view message) {
  const std::size_t file_end = message.find(':');
  if (file_end == std::string_view::npos || file_end == 0) return {};
  Finding place;
  const char* const digits = message.data() + file_end + 1;
  const auto [end, error] = std::from_chars(digits, message.data() + message.size(), place.line);
  const std::string_view rest(end, static_cast<std::size_t>(message.data() + message.size() - end));
  const std::string_view file = message.substr(0, file_end);
  if (error != std::errc{} || place.line <= 0 || !rest.starts_with(": ") || file.find(' ') != std::string_view::npos) {
    return {};
  }
  place.file = file;
  place.text = rest.substr(2);
  return place;
}

std::string cause_of_abort(std::string_view printed) {
  constexpr std::string_view thrown = "terminate called after throwing an instance of '",
                             what = "  what():  ", failed = ": Assertion `";
  std::string cause;
  for_each_line(printed, [&](std::string_view line) {
    if (line.starts_with(thrown)) {
      cause = std::string(line.substr(thrown.size(), line.find('\'', thrown.size()) - thrown.size())) +
              " was thrown and not caught";
    } else if (line.starts_with(what) && !cause.empty()) {
      cause += ": " + std::string(line.substr(what.size()));
    } else if (line.starts_with("terminate called without an active exception")) {
      cause =
          "std::terminate() was called without an exception, as by the destructor of a std::thread that has not ended";
    } else if (const std::size_t at = line.find(failed); at != std::string_view::npos) {
      const std::string_view place = line.substr(0, line.find(": "));  // FILE:LINE: FUNCTION: Assertion `TEXT' failed.
      const std::string_view text = line.substr(at + failed.size());
      cause = fmt::format("{}: assertion failed: {}", place, text.substr(0, text.rfind('\'')));
    } else if (std::any_of(std::begin(heap_faults), std::end(heap_faults),
                           [&](std::string_view fault) { return line.starts_with(fault); })) {
      cause = std::string(line) + ": host code writes outside its memory, or frees it twice";
    }
  });
  return cause.substr(0, max_name);
}

std::vector<Finding> printed_findings(std::string_view printed) {
  std::vector<Finding> findings;
  for_each_line(printed, [&](std::string_view line) {
    if (auto finding = finding_in(line)) findings.push_back(std::move(*finding));
  });
  return findings;
}

std::string without_findings(std::string_view printed) {
  std::string rest;
  for_each_line(printed, [&](std::string_view line) {
    if (!finding_in(line)) rest.append(line).append("\n");
  });
  return rest;
}

}  // namespace lab
