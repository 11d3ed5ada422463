#include "json.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "words.h"

namespace simt::check {
namespace {

using Json = nlohmann::ordered_json;

Json object_at(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  Json object;
  object["file"] = place.substr(0, colon);
  object["line"] = std::atoi(place.c_str() + colon + 1);
  return object;
}

Json json_of(const Place& place) { return place.line.empty() ? Json() : object_at(place.line); }

Json json_of(uint3 index) { return Json::array({index.x, index.y, index.z}); }

Json json_of(const std::optional<uint3>& index) { return index ? json_of(*index) : Json(); }

Json json_of(const Element& element) {
  const Array& array = element.array;
  if (array.memory == Memory::none) return {};
  const bool has_index = element.bytes != 0 && element.offset >= 0;
  return {{"memory", name_of(array.memory)},
          {"array", array.name},
          {"allocation", array.number},
          {"allocated", json_of(array.allocated)},
          {"array_bytes", array.bytes},
          {"offset", element.offset},
          {"bytes", element.bytes},
          {"index", has_index ? Json(std::size_t(element.offset) / element.bytes) : Json()}};
}

Json json_of(const Fact& fact) {
  return {{"place", json_of(fact.place)},
          {"header", fact.place.header.empty() ? Json() : object_at(fact.place.header)},
          {"kernel", fact.kernel},
          {"call", fact.call},
          {"launch", json_of(fact.launch)},
          {"block", json_of(fact.block)},
          {"thread", json_of(fact.thread)},
          {"access", fact.is_access() && fact.element.bytes != 0 ? name_of(fact.way) : ""},
          {"is_atomic", fact.is_atomic},
          {"is_volatile", fact.is_volatile},
          {"element", json_of(fact.element)}};
}

Json json_of(const Details& details) {
  Json object = Json::object();
  for (const auto& [name, detail] : details.all) {
    object[name] = std::visit(
        [](const auto& value) -> Json {
          if constexpr (requires { json_of(value); }) {
            return json_of(value);
          } else {
            return value;
          }
        },
        detail);
  }
  return object;
}

Json json_of(const Finding& finding) {
  constexpr const char* rounds[] = {"", "same", "next"};
  Json object = object_at(finding.place.line);
  object["kind"] = finding.kind;
  object["severity"] = finding.severity == Severity::error ? "error" : "remark";
  object["why"] = finding.why;
  object["remedy"] = name_of(finding.remedy);
  object["round"] = rounds[unsigned(finding.round)];
  object["last_barrier"] = json_of(Place::of(finding.last_barrier));
  object["facts"] = Json::array();
  for (const Fact& fact : finding.facts) object["facts"].push_back(json_of(fact));
  object["details"] = json_of(finding.details);
  object["text"] = finding.text;
  object["times"] = finding.times;
  return object;
}

Json json_of(const Note& note) {
  Json object = object_at(note.line->place);
  object["kind"] = note.kind;
  object["ideal"] = note.ideal;
  object["actual"] = note.actual;
  object["unit"] = note.unit;
  object["requests"] = note.line->cost.requests;
  object["space"] = name_of(note.line->space);
  object["access"] = name_of(note.line->way);
  object["lanes"] = note.line->cost.lanes;
  object["text"] = words_of(note);
  return object;
}

Json json_of(const LineCost& line) {
  Json object = object_at(line.place);
  object["space"] = name_of(line.space);
  object["access"] = name_of(line.way);
  object["requests"] = line.cost.requests;
  object["lanes"] = line.cost.lanes;
  object["actual"] = line.cost.actual;
  object["ideal"] = line.cost.ideal;
  return object;
}

Json json_of(dim3 shape) { return Json::array({shape.x, shape.y, shape.z}); }

Json json_of(const LaunchCounts& launch) {
  constexpr unsigned load = unsigned(Way::load), store = unsigned(Way::store), atomic = unsigned(Way::atomic);
  Json object;
  object["kernel"] = launch.kernel;
  object["grid"] = json_of(launch.grid);
  object["block"] = json_of(launch.block);
  object["shared_ld_requests"] = launch.shared_requests[load];
  object["shared_ld_wavefronts"] = launch.shared_wavefronts[load];
  object["shared_st_requests"] = launch.shared_requests[store];
  object["shared_st_wavefronts"] = launch.shared_wavefronts[store];
  object["shared_atomic_requests"] = launch.shared_requests[atomic];
  object["global_ld_requests"] = launch.global_requests[load];
  object["global_ld_sectors"] = launch.global_sectors[load];
  object["global_st_requests"] = launch.global_requests[store];
  object["global_st_sectors"] = launch.global_sectors[store];
  object["barriers"] = launch.barriers;
  object["span"] = launch.span;
  object["shared_ld_ideal_wavefronts"] = launch.shared_ideal[load];
  object["shared_st_ideal_wavefronts"] = launch.shared_ideal[store];
  object["global_ld_ideal_sectors"] = launch.global_ideal[load];
  object["global_st_ideal_sectors"] = launch.global_ideal[store];
  object["global_atomic_requests"] = launch.global_requests[atomic];
  object["global_atomic_sectors"] = launch.global_sectors[atomic];
  object["global_atomic_ideal_sectors"] = launch.global_ideal[atomic];
  object["global_ld_bytes"] = launch.global_bytes[load];
  object["global_st_bytes"] = launch.global_bytes[store];
  object["static_shared_bytes"] = launch.static_shared;
  object["dynamic_shared_bytes"] = launch.dynamic_shared;
  object["time_ns"] = launch.nanoseconds;
  return object;
}

template <class Items>
Json array_of(const Items& items) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(json_of(item));
  return array;
}

}  // namespace

std::string json_of(const Report& report, const Counts& counts) {
  Json document;
  document["findings"] = array_of(report.findings);
  document["remarks"] = array_of(report.remarks);
  document["notes"] = array_of(report.notes);
  document["lines"] = array_of(report.lines);
  document["launches"] = array_of(counts.launches());
  document["copied_bytes"] = counts.copied_bytes();
  document["bytes_to_host"] = counts.bytes_to_host;
  // A file's name or a kernel's may hold bytes that are not UTF-8.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace simt::check
