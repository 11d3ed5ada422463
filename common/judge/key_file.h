// Files of keys that may be larger than the memory: any thread reads and writes any part of one.
//
// Whole pages are moved by direct I/O, between the disk and the caller's memory: the page cache would copy every key
// once more, and take memory that was not granted. What is left at either end of a block, where a merge's parts
// begin in the middle of a page, goes through the cache. Everything does where the file system has no direct I/O; then
// what has been read is dropped at once, and what has been written as soon as it is on the disk, one block later.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "judge/process.h"

namespace lab {

/// The unit of direct I/O, in bytes.
inline constexpr std::int64_t page_size = 4096;

/// Errors of all members: lab::Unavailable, which names the file or its folder, and what to do.
class KeyFile {
 public:
  /// Opens a file to be read. Nothing can be written to it.
  static KeyFile input(const std::string& path);

  /// Opens a file that exists, to be written and read.
  static KeyFile output(const std::string& path);

  /// A new file in the folder of `path` that has no name: whatever happens, nothing of it remains.
  static KeyFile unnamed_beside(const std::string& path);

  std::int64_t bytes() const;

  /// Makes the file this large and reserves its place on the disk, where the file system can do that: then the disk
  /// cannot become full in the middle.
  void reserve(std::int64_t bytes);

  /// Reads `bytes` from `offset` on, all of them.
  /// Direct I/O needs an address and an offset at the same distance from the beginning of a page.
  void read(std::int64_t offset, void* to, std::int64_t bytes) const;

  /// Returns when the whole file is on the disk.
  void sync();

 private:
  friend class KeyWriter;

  KeyFile(int fd, int direct, std::string name);
  void read_some(int fd, std::int64_t offset, char* to, std::int64_t bytes) const;
  void write_some(int fd, std::int64_t offset, const char* from, std::int64_t bytes) const;
  [[noreturn]] void fail_to_write() const;

  Descriptor fd_;
  Descriptor direct_;  ///< the same file, for direct I/O; -1: not possible
  std::string name_;   ///< of the file that is read, or the folder that is written to
};

/// Pages of memory for n keys. They are not initialized.
struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using KeyBlock = std::unique_ptr<std::uint32_t[], FreeMemory>;
KeyBlock new_key_block(std::int64_t n);

/// One thread's way to write to a file.
class KeyWriter {
 public:
  explicit KeyWriter(KeyFile& file) : file_(file) {}

  void write(std::int64_t offset, const void* from, std::int64_t bytes);

  /// To be called after the last write.
  void finish();

 private:
  KeyFile& file_;
  std::int64_t offset_ = 0, bytes_ = 0;  // what was written last through the cache, and is on its way to the disk
};

/// The bytes that may still be written to the file system of `path`.
std::int64_t available_space(const std::string& path);

}  // namespace lab
