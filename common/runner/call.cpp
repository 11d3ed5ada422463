#include "runner/call.h"

#include <fmt/format.h>

#include "step/error.h"
#include "step/key_type.h"
#include "step/segments.h"

namespace lab {
namespace {

template <class T>
Span<T> view(Span<char> bytes, std::int64_t n) {
  return {reinterpret_cast<T*>(bytes.data), n};
}

template <class Function>
Function require(Function function, const Step& step, KeyType type) {
  if (!function) throw Unsupported(fmt::format("step {} does not sort {} keys", step.name, name_of(type)));
  return function;
}

void call_on_host(const Step& step, const StepArguments& a) {
  require(step.takes(a.type) ? step.host_u32 : nullptr, step, a.type);
  const auto keys = view<std::uint32_t>(a.keys, a.n), scratch = view<std::uint32_t>(a.values, a.n);
  step.host_u32({keys.data, a.n}, {scratch.data, a.n}, a.order, a.device_bytes, a.shape, a.stream);
}

void call_sort(const Step& step, const StepArguments& a) {
  if (step.in_host_memory()) return call_on_host(step, a);
  const auto sort = [&]<class Key>(SortKeys<Key> function) {
    require(function, step, a.type)(view<Key>(a.keys, a.n), a.order, a.shape, a.stream);
  };
  switch (a.type) {
    case KeyType::u8:
      return sort(step.u8);
    case KeyType::u16:
      return sort(step.u16);
    case KeyType::u32:
      return sort(step.u32);
    case KeyType::u64:
      return sort(step.u64);
    case KeyType::i32:
      return sort(step.i32);
    case KeyType::i64:
      return sort(step.i64);
    case KeyType::f32:
      return sort(step.f32);
    case KeyType::f64:
      return sort(step.f64);
    case KeyType::pairs:
      require(step.pairs, step, a.type)(view<std::uint32_t>(a.keys, a.n), view<std::uint32_t>(a.values, a.n), a.order,
                                        a.shape, a.stream);
  }
}

}  // namespace

const Step& find_step(std::span<const Step> steps, int number, Task task) {
  for (const Step& step : steps) {
    if (step.number == number && step.task() == task) return step;
  }
  throw Unsupported(fmt::format("this runner has no step {}", number));
}

void call(const Step& step, const StepArguments& a) {
  switch (step.task()) {
    case Task::reduce:
      return step.reduce(view<const std::uint32_t>(a.keys, a.n), view<std::uint32_t>(a.values, 2), a.shape, a.stream);
    case Task::histogram:
      return step.histogram(view<const std::uint8_t>(a.keys, a.n), view<std::uint64_t>(a.values, 256), a.shape,
                            a.stream);
    case Task::scan:
      return step.scan(view<const std::uint64_t>(a.keys, a.n), view<std::uint64_t>(a.values, a.n), a.shape, a.stream);
    case Task::strings:
      return step.strings(view<const std::uint64_t>(a.keys, a.n), view<std::uint64_t>(a.values, a.n), a.shape,
                          a.stream);
    case Task::flip:
    case Task::unflip:
      return (step.flip ? step.flip : step.unflip)(view<const std::uint32_t>(a.keys, a.n),
                                                   view<std::uint32_t>(a.values, a.n), a.shape, a.stream);
    case Task::segments_128:
    case Task::segments_1024:
      return (step.segments_128 ? step.segments_128 : step.segments_1024)(
          view<const std::uint32_t>(a.keys, a.n), view<std::uint32_t>(a.values, a.n), segment_length(step.task()),
          a.shape, a.stream);
    case Task::segments:
      return step.segments(view<const std::uint32_t>(a.keys, a.n), view<std::uint32_t>(a.values, a.n), a.begins,
                           a.shape, a.stream);
    case Task::sort:
      return call_sort(step, a);
  }
}

}  // namespace lab
