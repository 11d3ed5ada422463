#include "facts.h"

#include <algorithm>

#include "../src/execution/failure.h"
#include "state.h"

namespace simt::check {

Place Place::of(Site site) { return {.line = site.line == 0 ? "" : file_and_line(site)}; }

void Place::resolve(const Places& places) {
  if (code == 0 || places.has_no_line(code)) return;
  line = places.in_source_or_unknown(code);
  header = places.of(code) == line ? "" : places.of(code);
}

void Array::resolve(const Places& places) {
  for (const Code code : made_by) {
    const std::string line = places.in_source(code);
    if (line.empty() || line.find("common/simt/") != std::string::npos) continue;
    if (allocated.line.empty() || is_in_source(line)) allocated.line = line;
    if (is_in_source(line)) return;
  }
}

Fact fact_of(const Access& access) {
  Fact fact = state().running.by(access.thread, access.code);
  fact.way = access.way;
  fact.is_atomic = access.is_atomic;
  fact.is_volatile = access.sync == Sync::synchronized && !access.is_atomic;
  fact.element = state().ownership.element_at(access);
  return fact;
}

Fact fact_by_host(const Access& access) {
  return {.place = {.code = access.code}, .way = access.way, .element = state().ownership.element_at(access)};
}

const char* name_of(Memory memory) {
  constexpr const char* names[] = {"",           "shared",      "dynamic-shared", "variable", "constant",
                                   "allocation", "device-heap", "local",          "host"};
  return names[unsigned(memory)];
}

const char* name_of(Remedy remedy) {
  constexpr const char* names[] = {"none",  "block-barrier", "warp-barrier", "grid-barrier",
                                   "fence", "atomic",        "stream",       "launch"};
  return names[unsigned(remedy)];
}

void Details::set(const char* name, Detail detail) {
  const auto known = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
  if (known == all.end()) {
    all.emplace_back(name, std::move(detail));
  } else {
    known->second = std::move(detail);
  }
}

const Detail* Details::find(std::string_view name) const {
  const auto known = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == name; });
  return known == all.end() ? nullptr : &known->second;
}

std::uint64_t Details::number(std::string_view name) const {
  const Detail* const detail = find(name);
  const auto* const value = detail == nullptr ? nullptr : std::get_if<std::uint64_t>(detail);
  return value == nullptr ? 0 : *value;
}

}  // namespace simt::check
