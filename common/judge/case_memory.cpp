#include "judge/case_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>

#include "judge/errors.h"
#include "judge/inputs.h"
#include "judge/key_table.h"
#include "judge/machine.h"
#include "judge/parallel.h"
#include "judge/random.h"
#include "judge/reference.h"
#include "step/key_type.h"

namespace lab {
namespace {

constexpr std::int64_t alignment = 256;  // bytes; that of cudaMalloc
constexpr std::int64_t guard = 4096;     // bytes, at least, on both sides of keys and of values

std::int64_t round_up(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

char guard_byte(std::uint64_t seed, std::int64_t i) { return static_cast<char>(random_at(seed, i)); }

// On all cores: one core would take longer than the sort.
void fill_bytes(char* to, int byte, std::int64_t bytes) {
  parallel_for(bytes, [&](std::int64_t begin, std::int64_t end) { std::memset(to + begin, byte, end - begin); });
}

void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  parallel_for(bytes, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

// The share of sampled positions that hold another key in the reference's order.
double sampled_difference(const char* a, const char* b, std::int64_t n, std::int64_t size) {
  const std::int64_t samples = std::min<std::int64_t>(n, 1 << 16);
  std::int64_t different = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    const std::int64_t at = s * (n / samples) * size;
    different += std::memcmp(a + at, b + at, size) != 0;
  }
  return samples ? double(different) / double(samples) : 0;
}

// The others' results are bit patterns.
bool shows_result_as_numbers(Task task) { return task != Task::strings && task != Task::flip && task != Task::unflip; }

// Throws if this machine cannot hold everything: the input, the output, the reference's output, and the array that its
// sort needs in addition. (A runner without a GPU needs as much again, but may run on a machine that has no more.)
// Where the keys are sorted in place, only they and the scratch are there. `held`: bytes that we have already.
void require_memory(const Case& which, bool in_place, std::int64_t held) {
  const double keys = double(key_bytes(which.type)) * double(which.n);
  const double needed = (in_place ? 1 : 4) * (keys + double(value_bytes(which))) + double(scratch_bytes(which));
  const double available = available_memory();
  if (available > 0 && needed > available + double(held)) {
    throw NoMemory(fmt::format(
        "{} keys need about {:.1f} GiB of this machine's memory, but only {:.1f} GiB are free: choose a smaller --n",
        which.n, needed / (1 << 30), (available + double(held)) / (1 << 30)));
  }
}

}  // namespace

std::uint64_t fresh_number() {
  static std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

void CaseMemory::lay_out(const Case& which, Request& request) {
  by_hash_ = which.step.in_host_memory && which.n * key_bytes(which.type) > reference_limit_;
  require_memory(which, by_hash_, memory_.bytes());
  guard_seed_ = fresh_number();
  poison_ = static_cast<int>(fresh_number() & 0xff);
  std::int64_t end = 0;
  const std::int64_t size = key_bytes(which.type), result = value_bytes(which);
  keys_ = lay_out_image(which, which.n * size, size, end, by_hash_);
  values_ = result > 0 ? lay_out_image(which, result, bytes_per_value(which), end, false) : Image{};
  scratch_ = which.step.in_host_memory ? lay_out_image(which, scratch_bytes(which), size, end, true) : Image{};
  reserve(end);
  store(request);
}

void CaseMemory::lay_out_pieces(const Case& which, std::uint64_t hash_seed) {
  by_hash_ = true;
  hash_seed_ = hash_seed;
  require_memory(which, true, memory_.bytes());
  guard_seed_ = fresh_number();
  std::int64_t end = 0;
  const std::int64_t size = key_bytes(which.type);
  keys_ = lay_out_image(which, which.n * size, size, end, true);
  keys_.span = guard;  // a page, so that keys are read and written directly
  values_ = {};
  scratch_ = lay_out_image(which, scratch_bytes(which), size, end, true);
  reserve(end);
}

void CaseMemory::prepare_piece(const Case& which, Request& request) {
  for (Image* image : {&keys_, &scratch_}) {
    image->span_bytes = which.n * key_bytes(which.type);
    image->bytes = round_up(image->span + image->span_bytes + guard);
    fill_guards(*image);
  }
  input_hash_ = hash_of(which.type, which.n, output_keys(), hash_seed_);
  store(request);
}

// The spans begin at a random offset, so that a pointer kept from the previous case is wrong in this one.
Image CaseMemory::lay_out_image(const Case& which, std::int64_t span_bytes, std::int64_t bytes_each, std::int64_t& end,
                                bool in_place) {
  Image image;
  image.span = guard + alignment * static_cast<std::int64_t>(fresh_number() % 16) + which.offset * bytes_each;
  image.span_bytes = span_bytes;
  image.bytes = round_up(image.span + span_bytes + guard);
  image.input = end;
  image.output = in_place ? end : end + image.bytes;
  end = image.output + image.bytes;
  return image;
}

// Makes room for `end` bytes and, behind them, the number of blocks that have ended. All bytes before `end` are about to
// be overwritten. What a larger case has left after them must not remain, either.
void CaseMemory::reserve(std::int64_t end) {
  memory_.reserve(end + std::int64_t{sizeof(std::uint64_t)});
  if (blocks_ended_ > end) fill_bytes(memory_.at(end), 0, blocks_ended_ - end);
  blocks_ended_ = end;
}

void CaseMemory::store(Request& request) const {
  std::memset(memory_.at(blocks_ended_), 0, sizeof(std::uint64_t));
  request.keys = keys_;
  request.values = values_;
  request.scratch = scratch_;
  request.poison = poison_;
  request.blocks_ended = blocks_ended_;
  request.memory_bytes = memory_.bytes();
}

std::uint64_t CaseMemory::blocks_ended() const {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory_.at(blocks_ended_))).load(std::memory_order_relaxed);
}

void CaseMemory::fill_guards(const Image& image) {
  char* const input = memory_.at(image.input);
  for (std::int64_t i = 0; i < image.span; ++i) input[i] = guard_byte(guard_seed_, i);
  for (std::int64_t i = image.span + image.span_bytes; i < image.bytes; ++i) input[i] = guard_byte(guard_seed_, i);
}

void CaseMemory::make_input(const Case& which) {
  char* const keys = memory_.at(keys_.input + keys_.span);
  fill_guards(keys_);
  if (given_) {
    copy_bytes(keys, given_, keys_.span_bytes);
  } else {
    make_keys(which.input, which.type, which.seed, which.n, keys);
  }
  if (values_.bytes == 0) return;
  char* const values = memory_.at(values_.input + values_.span);
  fill_guards(values_);
  if (!is_in_place(which.step.task)) {
    fill_bytes(values, poison_, value_bytes(which));  // the step must write all of its result
  } else if (which.type == KeyType::pairs) {
    make_values(which.seed, which.n, reinterpret_cast<std::uint32_t*>(values));
  }
}

void CaseMemory::fill(const Case& which, const void* given) {
  given_ = given;
  for (const Image& image : {keys_, values_, scratch_}) {
    fill_bytes(memory_.at(image.output), poison_, image.bytes);  // no output of the previous case may remain
  }
  if (scratch_.bytes > 0) fill_guards(scratch_);
  make_input(which);
  const char* const keys = memory_.at(keys_.input + keys_.span);
  range_ = which.step.max_range ? range_of(which.type, which.n, keys) : 0;
  if (!by_hash_) return make_reference(which);
  reference_keys_.reset();
  hash_seed_ = fresh_number();
  input_hash_ = hash_of(which.type, which.n, keys, hash_seed_);
  changed_share_ = 1;
}

void CaseMemory::withdraw_input() {
  for (const Image& image : {keys_, values_}) {
    if (image.input != image.output) fill_bytes(memory_.at(image.input), poison_, image.bytes);
  }
}

void CaseMemory::restore_input(const Case& which) {
  if (keys_.input != keys_.output) make_input(which);
}

// In memory that the runner does not see.
void CaseMemory::make_reference(const Case& which) {
  const std::int64_t bytes = which.n * key_bytes(which.type);
  const char* const keys = memory_.at(keys_.input + keys_.span);
  reference_keys_ = std::make_unique_for_overwrite<char[]>(bytes);
  reference_values_ = std::make_unique_for_overwrite<char[]>(value_bytes(which));
  copy_bytes(reference_keys_.get(), keys, bytes);
  if (!is_in_place(which.step.task)) {
    reference_result(which.step.task, which.n, keys, reference_values_.get());
    changed_share_ = result_size(which.step.task, 0) == 0 ? 1 : 0;
    already_correct_ = which.n == 0;
    return;
  }
  copy_bytes(reference_values_.get(), memory_.at(values_.input + values_.span), value_bytes(which));
  reference_sort(which.type, which.order, which.n, tile_of(which.step), reference_keys_.get(), reference_values());
  changed_share_ = sampled_difference(keys, reference_keys_.get(), which.n, key_bytes(which.type));
  const char* const values = memory_.at(values_.input + values_.span);
  already_correct_ = std::memcmp(keys, reference_keys_.get(), bytes) == 0 &&
                     std::memcmp(values, reference_values_.get(), value_bytes(which)) == 0;
}

std::uint32_t* CaseMemory::reference_values() const {
  return values_.bytes ? reinterpret_cast<std::uint32_t*>(reference_values_.get()) : nullptr;
}

// The keys of an image and, of pairs, the values.
Items CaseMemory::items_at(std::int64_t keys, std::int64_t values) const {
  return {memory_.at(keys + keys_.span),
          values_.bytes ? reinterpret_cast<const std::uint32_t*>(memory_.at(values + values_.span)) : nullptr};
}

std::string CaseMemory::shown_keys(const Case& which, Expected expected) const {
  const Task task = which.step.task;
  if (which.n == 0 || which.n > max_shown_keys || by_hash_) return "";
  if (is_in_place(task)) {
    const auto texts = [&](std::int64_t keys, std::int64_t values) {
      const Items items = items_at(keys, values);
      return texts_of(which.type, which.n, items.keys, items.values);
    };
    return key_table(0, {{"input", texts(keys_.input, values_.input)}, {"output", texts(keys_.output, values_.output)}},
                     [](std::int64_t) { return false; });
  }
  const std::int64_t count = result_size(task, which.n);
  if (!shows_result_as_numbers(task) || count > max_shown_keys) return "";
  const KeyType type = result_value_bytes(task) == 8 ? KeyType::u64 : KeyType::u32;
  std::vector<TableRow> rows = {
      {names_of(task).input, texts_of(which.type, which.n, reference_keys_.get(), nullptr)},
      {names_of(task).result, texts_of(type, count, items_at(0, values_.output).values, nullptr)}};
  if (expected == Expected::show) rows.push_back({"expected", texts_of(type, count, reference_values_.get(), nullptr)});
  return key_table(
      0, rows, [&](std::int64_t i) { return rows.size() == 3 && i < count && rows[1].cells[i] != rows[2].cells[i]; });
}

Fault CaseMemory::fault(const Case& which) const {
  if (Fault fault = output_fault(which); !fault.text.empty()) return fault;
  const TaskNames names = names_of(which.step.task);
  if (std::string text = guard_fault(keys_, names.input); !text.empty()) return {text};
  if (scratch_.bytes > 0) return {guard_fault(scratch_, "scratch")};
  if (values_.bytes == 0) return {};
  return {guard_fault(values_, names.result)};
}

Fault CaseMemory::output_fault(const Case& which) const {
  if (by_hash_) {
    return compare_by_hash(which.type, which.order, which.n, output_keys(), hash_seed_, input_hash_);
  }
  const char* const values = memory_.at(values_.output + values_.span);
  if (!is_in_place(which.step.task)) {
    if (std::memcmp(reference_keys_.get(), output_keys(), which.n * key_bytes(which.type)) != 0) {
      return {fmt::format("the step changed the {}, which it must only read", names_of(which.step.task).input)};
    }
    Fault fault = compare_results(which.step.task, which.n, reference_values_.get(), values);
    if (fault.index >= 0) fault.text += input_of_result(which.step.task, reference_keys_.get(), fault.index);
    if (fault.index >= 0) fault.keys = shown_keys(which, Expected::show);
    return fault;
  }
  const Promise promise{which.type,          which.order,       which.n,
                        tile_of(which.step), which.step.stable, items_at(keys_.input, values_.input)};
  return compare(promise, {reference_keys_.get(), reference_values()}, items_at(keys_.output, values_.output));
}

std::string CaseMemory::guard_fault(const Image& image, const char* what) const {
  const char* output = memory_.at(image.output);
  for (std::int64_t i = image.span - 1; i >= 0; --i) {
    if (output[i] != guard_byte(guard_seed_, i)) {
      return fmt::format("wrote before the start of the {}, at byte {}", what, i - image.span);
    }
  }
  for (std::int64_t i = image.span + image.span_bytes; i < image.bytes; ++i) {
    if (output[i] != guard_byte(guard_seed_, i)) {
      return fmt::format("wrote past the end of the {}, first at byte {} after it", what,
                         i - image.span - image.span_bytes);
    }
  }
  return "";
}

bool CaseMemory::untouched(const Case& which) const {
  if (by_hash_) return hash_of(which.type, which.n, output_keys(), hash_seed_).sequence == input_hash_.sequence;
  const auto same = [&](const Image& image) {
    return std::memcmp(memory_.at(image.input), memory_.at(image.output), image.bytes) == 0;
  };
  return same(keys_) && (values_.bytes == 0 || same(values_));
}

}  // namespace lab
