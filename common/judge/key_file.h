// Files of keys that may be larger than the memory: any thread reads and writes any part of one.
//
// They are read and written through the page cache, which works on every file system and at any offset; a merge's parts
// begin in the middle of a page, which direct I/O refuses. But no page stays in the cache: what has been read is dropped
// at once, and what has been written as soon as it is on the disk, one block later. So the cache takes no memory from
// others, and writers proceed at the rate of the disk, not faster at first and then not at all.
#pragma once

#include <cstdint>
#include <string>

#include "judge/process.h"

namespace lab {

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
  void read(std::int64_t offset, void* to, std::int64_t bytes) const;

  /// Returns when the whole file is on the disk.
  void sync();

 private:
  friend class KeyWriter;

  KeyFile(int fd, std::string name);
  [[noreturn]] void fail_to_write() const;

  Descriptor fd_;
  std::string name_;  ///< of the file that is read, or the folder that is written to
};

/// One thread's way to write to a file.
class KeyWriter {
 public:
  explicit KeyWriter(KeyFile& file) : file_(file) {}

  void write(std::int64_t offset, const void* from, std::int64_t bytes);

  /// To be called after the last write.
  void finish();

 private:
  KeyFile& file_;
  std::int64_t offset_ = 0, bytes_ = 0;  // what was written last, and is on its way to the disk
};

/// The bytes that may still be written to the file system of `path`.
std::int64_t free_space(const std::string& path);

}  // namespace lab
