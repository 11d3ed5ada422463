#include "local_arrays.h"

#include "state.h"

namespace simt::check {
namespace {

constexpr unsigned char unwritten = 0xcb;

/// Byte by byte: a call of memset() or memcpy() would be observed.
volatile unsigned char* own_bytes(std::uintptr_t address) { return reinterpret_cast<volatile unsigned char*>(address); }

/// An access of an array of the running thread.
Fact fact_of(const LocalArrays::Array& array, std::size_t offset, const Access& access) {
  Fact fact = state().running.by(access.thread, access.code);
  fact.way = access.way;
  fact.element = {.array = {.memory = Memory::local, .name = array.name, .bytes = array.bytes},
                  .offset = std::ptrdiff_t(offset),
                  .bytes = access.bytes};
  return fact;
}

void report_unwritten(const LocalArrays::Array& array, std::size_t offset, const Access& access) {
  CheckState& all = state();
  if (all.findings.count_again("uninitialized", access.code)) return;
  all.findings.add({.kind = "uninitialized",
                    .why = "own-array",
                    .facts = {fact_of(array, offset, access)},
                    .details = {.all = {{"declared", Place::of(array.site)}}}});
}

}  // namespace

void LocalArrays::begin(std::uintptr_t address, Array array) {
  for (std::size_t b = 0; b < array.bytes; ++b) own_bytes(address)[b] = unwritten;
  arrays_[address] = std::move(array);
}

bool LocalArrays::observe(const Access& access) {
  auto at = arrays_.upper_bound(access.address);
  if (at == arrays_.begin()) return false;
  --at;
  Array& array = at->second;
  const std::size_t offset = access.address - at->first;
  if (offset >= array.bytes || access.bytes > array.bytes - offset) return false;
  bool is_written = true;  // all bytes, or some of them by what is not observed
  for (std::size_t b = offset; b < offset + access.bytes; ++b) is_written &= array.written[b];
  for (std::size_t b = offset; b < offset + access.bytes; ++b) is_written |= own_bytes(at->first)[b] != unwritten;
  if (!is_written && reads(access.way)) report_unwritten(array, offset, access);
  for (std::size_t b = offset; b < offset + access.bytes; ++b)
    array.written[b] = true;  // what is read is reported once
  return true;
}

}  // namespace simt::check

void simt::local_array_begins(void* array, std::size_t bytes, const char* name, Site site) {
  check::CheckState& all = check::state();
  if (all.running.launch == nullptr) return;
  all.local_arrays.begin(std::uintptr_t(array), {bytes, name, site, std::vector<bool>(bytes)});
}

void simt::local_array_ends(const void* array) { check::state().local_arrays.end(std::uintptr_t(array)); }
