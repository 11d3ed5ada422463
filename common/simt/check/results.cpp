#include "results.h"

#include <cinttypes>
#include <cstdlib>

#include "places.h"

namespace simt::check {
namespace {

/// The bytes of a run that are kept, rather than their hash alone; and of one instruction's reads until they are written.
constexpr std::size_t all_kept = std::size_t(64) << 20, max_reads = std::size_t(1) << 20;

/// FNV-1a.
std::uint64_t hash_of(const unsigned char* begin, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ begin[i]) * 0x100000001b3u;
  return hash;
}

}  // namespace

Results::Results() : room_(all_kept) {
  const char* const path = std::getenv("SIMT_RESULTS");
  if (path == nullptr || *path == '\0') return;
  file_ = std::fopen(path, "a");  // a child process of the program adds its own
  if (file_ == nullptr) std::perror(path);
}

void Results::launched(std::uint64_t points) {
  if (!is_on()) return;
  write_reads();
  std::fprintf(file_, "launch %" PRIu64 "\n", points);
  std::fflush(file_);
}

void Results::copied(const void* begin, std::size_t bytes, Code code) {
  if (!is_on()) return;
  write_reads();
  write("copy", begin, bytes, code);
}

void Results::read(const Access& access) {
  if (access.code != reading_ || reads_.size() >= max_reads) write_reads();
  reading_ = access.code;
  reads_.append(reinterpret_cast<const char*>(access.address), access.bytes);
}

void Results::write_reads() {
  if (!reads_.empty()) write("read", reads_.data(), reads_.size(), reading_);
  reads_.clear();
}

void Results::write(const char* kind, const void* begin, std::size_t bytes, Code code) {
  const std::size_t kept = bytes <= room_ ? bytes : 0;
  room_ -= kept;
  codes_.insert(code);
  std::fprintf(file_, "%s %#zx %zu %zu %#" PRIx64 "\n", kind, std::size_t(code), bytes, kept,
               hash_of(static_cast<const unsigned char*>(begin), bytes));
  std::fwrite(begin, 1, kept, file_);
  std::fflush(file_);  // the program may be killed
}

void Results::end() {
  if (!is_on()) return;
  write_reads();
  const Places places(codes_);
  for (const Code code : codes_) {
    std::fprintf(file_, "place %#zx %s\n", std::size_t(code), places.in_source_or_unknown(code).c_str());
  }
  std::fflush(file_);
}

}  // namespace simt::check
