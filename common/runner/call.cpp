#include "runner/call.h"

#include <fmt/format.h>

#include "step/error.h"
#include "step/key_type.h"

// The functions that initialise a submission's global variables, in a program that ./workbook grade has linked. There,
// they are not in the list of functions that run before main. The linker makes these two names from the section's name.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern void (*const __start_lab_initialisers[])();
[[gnu::weak, gnu::visibility("hidden")]] extern void (*const __stop_lab_initialisers[])();
}

namespace lab {
namespace {

// Runs them once, together with the first step, so that they can do no more than a step can.
bool initialise() {
  for (auto* function = __start_lab_initialisers; function != __stop_lab_initialisers; ++function) (*function)();
  return true;
}

template <class T>
Span<T> view(Span<char> bytes, std::int64_t n) {
  return {reinterpret_cast<T*>(bytes.data), n};
}

void call_function(const Sort& sort, const StepArguments& a) {
  if (a.type == KeyType::pairs) {
    return sort.pairs(view<std::uint32_t>(a.keys, a.n), view<std::uint32_t>(a.values, a.n), a.order, a.shape, a.stream);
  }
  with_key(a.type, [&]<class Key>(KeyTag<Key>) { sort.of<Key>()(view<Key>(a.keys, a.n), a.order, a.shape, a.stream); });
}

void call_function(const SortHostMemory& sort, const StepArguments& a) {
  const auto keys = view<std::uint32_t>(a.keys, a.n), scratch = view<std::uint32_t>(a.values, a.n);
  sort.function({keys.data, a.n}, {scratch.data, a.n}, a.order, a.device_bytes, a.shape, a.stream);
}

template <Task task, class Input, class Result>
void call_function(const Compute<task, Input, Result>& compute, const StepArguments& a) {
  compute.function(view<const Input>(a.keys, a.n), view<Result>(a.values, result_size(task, a.n)), a.shape, a.stream);
}

template <int length>
void call_function(const EqualSegments<length>& sort, const StepArguments& a) {
  sort.function(view<const std::uint32_t>(a.keys, a.n), view<std::uint32_t>(a.values, a.n), length, a.shape, a.stream);
}

void call_function(const Segments& sort, const StepArguments& a) {
  sort.function(view<const std::uint32_t>(a.keys, a.n), view<std::uint32_t>(a.values, a.n), a.begins, a.shape,
                a.stream);
}

}  // namespace

const Step& find_step(std::span<const Step> steps, int number, Task task) {
  for (const Step& step : steps) {
    if (step.number == number && step.task() == task) return step;
  }
  throw Unsupported(fmt::format("this runner has no step {}", number));
}

void call(const Step& step, const StepArguments& arguments) {
  if (!step.takes(arguments.type)) {
    throw Unsupported(fmt::format("step {} does not sort {} keys", step.name, name_of(arguments.type)));
  }
  [[maybe_unused]] static const bool is_initialised = initialise();
  std::visit([&](const auto& function) { call_function(function, arguments); }, step.function);
}

}  // namespace lab
