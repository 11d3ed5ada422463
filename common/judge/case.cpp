#include "judge/case.h"

#include <fmt/format.h>

#include "judge/reference.h"
#include "step/key_type.h"

namespace lab {

double element_bytes(const Case& which) {
  const bool pairs = which.type == KeyType::pairs;
  return double(which.n) * double(key_bytes(which.type) + (pairs ? std::int64_t{sizeof(std::uint32_t)} : 0));
}

std::int64_t value_bytes(const Case& which) {
  if (!is_in_place(which.step.task)) return result_bytes(which.step.task, which.n);
  return which.type == KeyType::pairs ? which.n * std::int64_t{sizeof(std::uint32_t)} : 0;
}

std::int64_t bytes_per_value(const Case& which) {
  return is_in_place(which.step.task) ? std::int64_t{sizeof(std::uint32_t)} : result_value_bytes(which.step.task);
}

std::int64_t scratch_bytes(const Case& which) {
  return which.step.in_host_memory ? which.n * key_bytes(which.type) : 0;
}

std::string memory_text(std::int64_t bytes) {
  const char* unit = "";
  for (const char* larger : {"K", "M", "G"}) {
    if (bytes == 0 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = larger;
  }
  return fmt::format("{}{}", bytes, unit);
}

std::string replay_command(const Case& which) {
  std::string text = fmt::format("./workbook run {} {} --n {} --input {} --type {}", which.lab, which.step.number,
                                 which.n, which.input, name_of(which.type));
  const bool in_place = is_in_place(which.step.task);
  text +=
      in_place ? fmt::format(" --order {}", name_of(which.order)) : fmt::format(" --task {}", name_of(which.step.task));
  if (which.shape.blocks) text += fmt::format(" --blocks {}", which.shape.blocks);
  if (which.shape.threads) text += fmt::format(" --threads {}", which.shape.threads);
  if (which.device_bytes) text += fmt::format(" --memory {}", memory_text(which.device_bytes));
  if (which.pageable) text += " --pageable";
  if (which.offset) text += fmt::format(" --offset {}", which.offset);
  text += fmt::format(" --seed {}", which.seed);
  if (which.reversed_blocks) text = "SIMT_REVERSE_BLOCKS=1 " + text;
  return which.lane_seed ? fmt::format("SIMT_SEED={} {}", *which.lane_seed, text) : text;
}

std::string title_of(const Case& which) {
  std::string text = fmt::format("{} step {} {}: {} {}{}, {}", which.lab, which.step.number, which.step.name, which.n,
                                 name_of(which.type), which.type == KeyType::pairs ? "" : " keys", which.input);
  if (is_in_place(which.step.task)) text += fmt::format(", {}", name_of(which.order));
  if (which.shape.blocks || which.shape.threads) {
    const auto or_any = [](int count) { return count ? fmt::format("{}", count) : std::string("*"); };
    text += fmt::format(", <<<{}, {}>>>", or_any(which.shape.blocks), or_any(which.shape.threads));
  }
  if (which.device_bytes) text += fmt::format(", {} of device memory", memory_text(which.device_bytes));
  if (which.pageable) text += ", pageable host memory";
  if (which.offset) text += fmt::format(", {} keys past an aligned address", which.offset);
  if (which.reversed_blocks) text += ", last block first";
  return text;
}

}  // namespace lab
