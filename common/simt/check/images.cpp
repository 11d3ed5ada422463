#include "images.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "../src/execution/failure.h"
#include "../src/runtime/call.h"
#include "state.h"

namespace simt::check {
namespace {

constexpr std::size_t bytes_at_once = 512;

/// Whether a thread of the running launch was seen to write this byte of an allocation.
bool is_written_by_launch(const Region& region, std::size_t at) {
  const Cells& cells = region.cells;
  const bool is_split = cells.contents[at / 4].is_split;
  const Event& write = is_split ? cells.byte(at / 4, unsigned(at % 4)).write : cells.writes[at / 4];
  return write.interval >= state().order.first_of_launch();
}

std::string unseen(const Region& region, std::size_t at, const Launch* launch) {
  const std::string array =
      region.name != nullptr ? region.name : "an allocation of " + std::to_string(region.bytes) + " bytes";
  const std::string where = "byte " + std::to_string(at) + " of " + array;
  if (launch == nullptr) {
    return where + " has changed between two CUDA calls: only kernels, copies and fills may write device memory";
  }
  return file_and_line(launch->kernel.site) + ": " + launch->kernel.name + " has changed " + where +
         ", but none of its threads was seen to write it: do not hide code from the check build";
}

}  // namespace

char* Images::Image::open() const {
  mprotect(data, bytes, PROT_READ | PROT_WRITE);
  return data;
}

void Images::Image::seal() const { mprotect(data, bytes, PROT_NONE); }

void Images::begin() {
  are_kept_ = true;
  state().ownership.for_each_allocation([this](const Region& region) { add(region); });
}

void Images::end() {
  are_kept_ = false;
  for (const auto& [region, image] : images_) munmap(image.data, image.bytes);
  images_.clear();
}

void Images::add(const Region& region) {
  if (region.is_heap || region.bytes == 0) return;
  remove(region);
  void* const data = mmap(nullptr, region.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return;
  const Image image{static_cast<char*>(data), region.bytes};
  std::memcpy(image.data, region.begin, region.bytes);
  image.seal();
  images_.emplace(&region, image);
}

void Images::remove(const Region& region) {
  const auto found = images_.find(&region);
  if (found == images_.end()) return;
  munmap(found->second.data, found->second.bytes);
  images_.erase(found);
}

void Images::update(const void* begin, std::size_t bytes) {
  const Region* const region = state().ownership.region_at(std::uintptr_t(begin));
  const auto found = images_.find(region);
  if (found == images_.end()) return;
  const char* const first = std::max(static_cast<const char*>(begin), region->begin);
  const char* const past = std::min(static_cast<const char*>(begin) + bytes, region->begin + region->bytes);
  if (first >= past) return;
  std::memcpy(found->second.open() + (first - region->begin), first, std::size_t(past - first));
  found->second.seal();
}

void Images::look(const Launch* launch) {
  std::size_t for_host = 0;
  for (const auto& [region, image] : images_) {
    char* const before = image.open();
    for (std::size_t first = 0; first < region->bytes; first += bytes_at_once) {
      const std::size_t past = std::min(first + bytes_at_once, region->bytes);
      if (std::memcmp(before + first, region->begin + first, past - first) == 0) continue;
      for (std::size_t at = first; at < past; ++at) {
        if (before[at] == region->begin[at]) continue;
        if (region->is_host_accessible) {
          for_host += launch != nullptr;
        } else if (launch == nullptr || !is_written_by_launch(*region, at)) {
          watch_unseen_write(unseen(*region, at, launch));
        }
      }
      std::memcpy(before + first, region->begin + first, past - first);
    }
    image.seal();
  }
  if (for_host == 0) return;
  state().counts.bytes_to_host += for_host;
  watch_writes_for_host(launch->kernel, for_host);
}

}  // namespace simt::check
