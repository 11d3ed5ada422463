#include "judge/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "judge/machine.h"
#include "step/error.h"
#include "step/key_type.h"

namespace lab {
namespace {

constexpr int max_depth = 8;

constexpr const char* expect_names[] = {"verified", "refused", "either"};

Expect expect_named(const std::string& name) {
  const auto* const at = std::find(std::begin(expect_names), std::end(expect_names), name);
  if (at == std::end(expect_names)) {
    throw Error(fmt::format("unknown expectation '{}'; choose one of: verified, refused, either", name));
  }
  return static_cast<Expect>(at - std::begin(expect_names));
}

Json types_json(const StepFacts& step) {
  Json types = Json::array();
  for (KeyType type : all_key_types) {
    if (step.takes(type)) types.push_back(name_of(type));
  }
  return types;
}

Json uses_json(const StepFacts& step) {
  Json names = Json::array();
  for (std::string_view name : step.uses) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

Json or_null(bool known, const Json& value) { return known ? value : Json(nullptr); }

Json range_json(const Range& range) { return or_null(!range.empty(), Json::array({range.first, range.last})); }

Json picture_json(const Picture& picture) {
  Json places = Json::array();
  for (const Range& range : picture.places) {
    if (!range.empty()) places.push_back(range_json(range));
  }
  return {{"n", picture.n},
          {"input", picture.input},
          {"arrays", picture.arrays},
          {"launches", range_json(picture.launches)},
          {"places", std::move(places)},
          {"is_in_report", picture.is_in_report}};
}

Json json_of(const Quartiles& times) {
  return {{"median_ms", times.median}, {"q1_ms", times.first}, {"q3_ms", times.third}};
}

}  // namespace

// Found by the library, also for lists of them.
static void to_json(Json& json, const KernelTime& k) {
  json = {{"name", k.name},
          {"launches", k.launches},
          {"milliseconds", k.milliseconds},
          {"blocks", k.blocks},
          {"threads", k.threads},
          {"dynamic_shared", k.dynamic_shared},
          {"static_shared", or_null(k.static_shared >= 0, k.static_shared)},
          {"registers", or_null(k.registers >= 0, k.registers)}};
}

static void to_json(Json& json, const TimelineSpan& span) {
  json = {{"stream", span.stream},
          {"what", span.what},
          {"begin_ms", span.begin},
          {"end_ms", span.end},
          {"bytes", span.bytes}};
}

static void to_json(Json& json, const Finding& f) {
  json = f.facts.is_null() ? Json::object() : f.facts;
  json.update({{"file", f.file}, {"line", f.line}, {"kind", f.kind}, {"text", f.text}, {"times", f.times}});
}

static void to_json(Json& json, const Note& n) {
  json = {{"file", n.file}, {"line", n.line},         {"kind", n.kind},   {"ideal", n.ideal},   {"actual", n.actual},
          {"unit", n.unit}, {"requests", n.requests}, {"space", n.space}, {"access", n.access}, {"text", n.text}};
}

static void to_json(Json& json, const LaunchCounts& launch) {
  json = launch.counts;
  json["kernel"] = launch.kernel;
  json["grid"] = launch.grid;
  json["block"] = launch.block;
}

Json parse_shallow(const std::string& text) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > max_depth) throw Error("it is nested too deeply");
    return true;
  };
  try {
    return Json::parse(text, shallow);
  } catch (const Json::exception& error) {
    throw Error(fmt::format("it is not JSON: {}", error.what()));
  }
}

// --- requests ---

Members::Members(const Json& object, std::string what) : object_(object), what_(std::move(what)) {
  if (!object.is_object()) throw Error(what_ + " must be a JSON object");
}

void Members::fail(const char* name, const std::string& expected) const {
  throw Error(object_.contains(name) ? fmt::format("\"{}\" of {} must be {}", name, what_, expected)
                                     : fmt::format("{} needs \"{}\"", what_, name));
}

bool Members::has(const char* name) {
  known_.emplace_back(name);
  return object_.contains(name) && !object_.at(name).is_null();
}

const Json& Members::member(const char* name) {
  static const Json missing;
  return has(name) ? object_.at(name) : missing;
}

std::string Members::text(const char* name) {
  const Json& value = member(name);
  if (!value.is_string()) fail(name, "a string");
  return value.get<std::string>();
}

std::string Members::text(const char* name, const std::string& fallback) { return has(name) ? text(name) : fallback; }

bool Members::flag(const char* name) {
  if (!has(name)) return false;
  const Json& value = member(name);
  if (!value.is_boolean()) fail(name, "true or false");
  return value.get<bool>();
}

std::int64_t Members::integer(const char* name, std::int64_t min, std::int64_t max) {
  const Json& value = member(name);
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() &&
                      value.get<std::uint64_t>() > std::uint64_t(std::numeric_limits<std::int64_t>::max()));
  if (!fits || value.get<std::int64_t>() < min || value.get<std::int64_t>() > max) {
    fail(name, fmt::format("a whole number from {} to {}", min, max));
  }
  return value.get<std::int64_t>();
}

std::int64_t Members::integer(const char* name, std::int64_t min, std::int64_t max, std::int64_t fallback) {
  return has(name) ? integer(name, min, max) : fallback;
}

std::uint64_t Members::seed(const char* name) {
  const Json& value = member(name);
  if (!value.is_number_unsigned()) fail(name, "a whole number from 0 to 18446744073709551615");
  return value.get<std::uint64_t>();
}

double Members::number(const char* name, double fallback) {
  if (!has(name)) return fallback;
  const Json& value = member(name);
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0) {
    fail(name, "a number of 0 or more");
  }
  return value.get<double>();
}

const Json& Members::object(const char* name) {
  const Json& value = member(name);
  if (!value.is_object()) fail(name, "a JSON object");
  return value;
}

std::vector<std::string> Members::strings(const char* name) {
  std::vector<std::string> strings;
  if (!has(name)) return strings;
  const Json& list = member(name);
  if (!list.is_array()) fail(name, "a list of strings");
  for (const Json& word : list) {
    if (!word.is_string()) fail(name, "a list of strings");
    strings.push_back(word.get<std::string>());
  }
  return strings;
}

void Members::finish() const {
  for (const auto& [name, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      throw Error(fmt::format("{} has no member \"{}\"", what_, name));
    }
  }
}

Case read_case(Members& members, std::string_view lab, std::span<const StepFacts> steps, KeyType preferred) {
  constexpr std::int64_t any_int = std::numeric_limits<int>::max();
  Case which;
  which.lab = lab;
  const auto number = static_cast<int>(members.integer("step", 0, any_int));
  which.step = members.has("task") ? step_numbered(lab, steps, number, task_named(members.text("task")))
                                   : step_numbered(lab, steps, number);
  which.type = members.has("type") ? key_type_named(members.text("type")) : default_type(preferred, which.step);
  which.order = order_named(members.text("order", "ascending"));
  which.input = members.text("input", "uniform");
  which.seed = members.has("seed") ? members.seed("seed") : fresh_number() >> 32;
  // Impossible shapes are allowed: a step must refuse them.
  which.shape.blocks = static_cast<int>(members.integer("blocks", -any_int - 1, any_int, 0));
  which.shape.threads = static_cast<int>(members.integer("threads", -any_int - 1, any_int, 0));
  which.device_bytes = members.integer("memory", 0, any_n, 0);
  which.pageable = members.flag("pageable");
  if ((which.device_bytes || which.pageable) && !which.step.in_host_memory) {
    throw Error(fmt::format("step {} of {} sorts keys in device memory: leave out --memory and --pageable",
                            which.step.number, lab));
  }
  which.offset = members.integer("offset", 0, max_offset - 1, 0);
  which.reversed_blocks = members.flag("reversed_blocks");
  if (members.has("lane_seed")) which.lane_seed = members.seed("lane_seed");
  which.expect = expect_named(members.text("expect", "verified"));
  which.n = members.integer("n", 0, any_n, -1);
  return which;
}

// --- answers ---

Json json_of(const Lab& lab) {
  Json steps = Json::array();
  for (const StepFacts& step : lab.steps) steps.push_back(json_of(step, lab.traits.name));
  return {{"name", lab.traits.name},
          {"default_type", name_of(lab.traits.default_type)},
          {"counted_input", lab.traits.max_counted_keys > 0},
          {"max_counted_keys", or_null(lab.traits.max_counted_keys > 0, lab.traits.max_counted_keys)},
          {"steps", std::move(steps)}};
}

Json json_of(const StepFacts& step, std::string_view lab) {
  const Affordable keys = affordable(step);
  const Budget& b = step.budget;
  const std::string file = file_of(lab, step);
  return {{"number", step.number},
          {"name", step.name},
          {"file", file.substr(file.rfind('/') + 1)},
          {"idea", step.idea},
          {"part", step.part},
          {"record", step.record},
          {"lines", or_null(step.lines.own > 0, {{"own", step.lines.own}, {"given", step.lines.given}})},
          {"picture", picture_json(step.picture)},
          {"uses", uses_json(step)},
          {"task", name_of(step.task)},
          {"memory", step.in_host_memory ? "host" : "device"},
          {"stable", step.stable},
          {"tile", step.tile},
          {"max_n", or_null(step.max_n != any_n, step.max_n)},
          {"max_range", or_null(step.max_range != 0, step.max_range)},
          {"min_device_bytes", or_null(step.in_host_memory, step.min_device_bytes)},
          {"round_trips", or_null(step.round_trips != 0, step.round_trips)},
          {"threads", or_null(step.threads != 0, step.threads)},
          {"types", types_json(step)},
          {"budget", or_null(b.n > 0, {{"n", b.n},
                                       {"conflicts", b.conflicts},
                                       {"sectors", b.sectors},
                                       {"bytes", b.bytes},
                                       {"barriers", b.barriers},
                                       {"span", b.span},
                                       {"work", b.work}})},
          {"affordable", {{"check", keys.check}, {"cpu", keys.cpu}, {"cuda", keys.cuda}}}};
}

Json json_of(const Case& which) {
  return {{"lab", which.lab},
          {"step", which.step.number},
          {"task", name_of(which.step.task)},
          {"type", name_of(which.type)},
          {"order", name_of(which.order)},
          {"input", which.input},
          {"n", which.n},
          {"seed", which.seed},
          {"blocks", which.shape.blocks},
          {"threads", which.shape.threads},
          {"memory", which.device_bytes},
          {"pageable", which.pageable},
          {"offset", which.offset},
          {"reversed_blocks", which.reversed_blocks},
          {"lane_seed", which.lane_seed ? Json(*which.lane_seed) : Json(nullptr)},
          {"expect", expect_names[static_cast<int>(which.expect)]}};
}

Json json_of(const Outcome& outcome, const Case& which) {
  return {{"status", name_of(outcome.status)},
          {"passed", outcome.passed},
          {"already_correct", outcome.already_correct},
          {"changed_nothing", outcome.changed_nothing},
          {"message", outcome.message},
          {"shown_keys", outcome.shown_keys},
          {"first_wrong", outcome.first_wrong ? Json(*outcome.first_wrong) : Json(nullptr)},
          {"replay", replay_command(which)},
          {"title", title_of(which)},
          {"file", outcome.file},
          {"line", or_null(outcome.line > 0, outcome.line)},
          {"printed", outcome.printed},
          {"times",
           {{"events_ms", outcome.milliseconds},
            {"wall_ms", outcome.wall_milliseconds},
            {"waited_ms", outcome.waited_milliseconds},
            {"to_device_ms", outcome.to_device},
            {"to_host_ms", outcome.to_host}}},
          {"kernels", outcome.document.kernels},
          {"timeline", {{"spans", outcome.document.timeline.spans}, {"left_out", outcome.document.timeline.left_out}}},
          {"findings", outcome.document.findings},
          {"remarks", outcome.document.remarks},
          {"notes", outcome.document.notes},
          {"launches", outcome.document.launches},
          {"copied_bytes", outcome.document.copied_bytes},
          {"bytes_to_host", outcome.document.bytes_to_host},
          {"case", json_of(which)}};
}

Json json_of(const FileSorted& sorted) {
  return {{"status", name_of(sorted.outcome.status)},
          {"message", sorted.outcome.message},
          {"printed", sorted.outcome.printed},
          {"keys", sorted.plan.keys},
          {"pieces", sorted.plan.pieces},
          {"workers", sorted.plan.merge.workers},
          {"sort_seconds", sorted.sort_seconds},
          {"merge_seconds", sorted.merge_seconds},
          {"sync_seconds", sorted.sync_seconds},
          {"peak_bytes", sorted.peak_bytes},
          {"judge_bytes", sorted.judge_bytes},
          {"runner_bytes", sorted.runner_bytes},
          {"shared_bytes", sorted.shared_bytes}};
}

Json json_of(const Measurement& m, const std::vector<KernelMeasurement>& kernels, const Case& which) {
  Json json = json_of(m.milliseconds);
  json["status"] = name_of(m.status);
  json["message"] = m.message;
  json["printed"] = m.printed;
  json["repeats"] = m.repeats;
  json["failed_seed"] = or_null(m.status != Status::verified, m.failed_seed);
  json["to_device"] = json_of(m.to_device);
  json["to_host"] = json_of(m.to_host);
  json["minimum_bytes"] = minimum_bytes(which);
  json["changed_share"] = m.changed_share;
  Json& list = json["kernels"] = Json::array();
  for (const KernelMeasurement& k : kernels) {
    Json kernel = k.kernel;
    kernel.update(json_of(k.milliseconds));
    kernel["repeats"] = k.repeats;
    list.push_back(std::move(kernel));
  }
  return json;
}

Json json_of(const RunnerFacts& runner, std::span<const StepFacts> steps) {
  Json lines = Json::array();
  for (const StepFacts& step : steps) lines.push_back(json_of(step, "gold"));
  return {{"device", runner.device}, {"device_id", id_of(runner.device.substr(0, runner.device.find(',')))},
          {"on_gpu", runner.on_gpu}, {"copy_bytes_per_second", runner.copy_bytes_per_second},
          {"facts", runner.facts},   {"steps", std::move(lines)}};
}

// --- what a runner sends ---

RunnerFacts read_runner_facts(const std::string& document) {
  try {
    const Json json = parse_shallow(document);
    RunnerFacts runner;
    runner.device = json.at("device").get<std::string>();
    runner.on_gpu = json.at("on_gpu").get<bool>();
    runner.copy_bytes_per_second = json.at("copy_bytes_per_second").get<double>();
    json.at("facts").get_to(runner.facts);
    return runner;
  } catch (const Json::exception& error) {
    throw Error(fmt::format("the runner's description is malformed: {}", error.what()));
  }
}

std::vector<StepFacts> read_steps(const std::string& document, std::deque<std::string>& texts) {
  const auto kept = [&](const Json& text) -> std::string_view { return texts.emplace_back(text.get<std::string>()); };
  try {
    std::vector<StepFacts> steps;
    const Json json = parse_shallow(document);  // a name: the loop must not iterate over a part of a temporary
    for (const Json& line : json.at("steps")) {
      StepFacts step;
      step.number = line.at("number").get<int>();
      step.name = step.file = kept(line.at("name"));
      step.idea = kept(line.at("idea"));
      step.stable = line.at("stable").get<bool>();
      step.tile = line.at("tile").get<std::int64_t>();
      step.max_n = line.at("max_n").get<std::int64_t>();
      step.task = task_named(line.at("task").get<std::string>());
      step.in_host_memory = line.at("memory").get<std::string>() == "host";
      step.min_device_bytes = line.at("min_device_bytes").get<std::int64_t>();
      for (const Json& type : line.at("types")) {
        step.types |= 1u << static_cast<int>(key_type_named(type.get<std::string>()));
      }
      steps.push_back(step);
    }
    return steps;
  } catch (const Json::exception& error) {
    throw Error(fmt::format("the runner's table of steps is malformed: {}", error.what()));
  }
}

}  // namespace lab
