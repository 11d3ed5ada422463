#include "judge/key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include "judge/errors.h"

namespace lab {
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

[[noreturn]] void fail_to(const char* what, const std::string& name) {
  throw Unavailable(fmt::format("cannot {} {}: {}", what, name, std::strerror(errno)));
}

// What of a block is moved directly: the whole pages behind the first bytes.
struct Pages {
  std::int64_t head, whole_pages;
};

Pages pages_of(std::int64_t offset, const void* address, std::int64_t bytes) {
  const std::int64_t before = std::min(bytes, (page_size - offset % page_size) % page_size);
  const bool fits = (reinterpret_cast<std::uintptr_t>(address) + before) % page_size == 0;
  return {before, fits ? (bytes - before) / page_size * page_size : 0};
}

}  // namespace

KeyBlock new_key_block(std::int64_t n) {
  const std::int64_t bytes = n * std::int64_t{sizeof(std::uint32_t)};
  void* const memory = std::aligned_alloc(page_size, (bytes / page_size + 1) * page_size);
  if (!memory) throw std::bad_alloc();
  return KeyBlock(static_cast<std::uint32_t*>(memory));
}

KeyFile::KeyFile(int fd, int direct, std::string name) : fd_(fd), direct_(direct), name_(std::move(name)) {
  // Every request is for a large block: the system must not read more, nor cut it up.
  posix_fadvise(fd_, 0, 0, POSIX_FADV_RANDOM);
}

KeyFile KeyFile::input(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_to("open", path);
  return {fd, open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT), path};
}

KeyFile KeyFile::output(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) fail_to("open", path);
  return {fd, open(path.c_str(), O_RDWR | O_CLOEXEC | O_DIRECT), folder_of(path)};
}

KeyFile KeyFile::unnamed_beside(const std::string& path) {
  std::string name = folder_of(path) + "/.runs.XXXXXX";
  const int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) fail_to("create a file in", folder_of(path));
  const int direct = open(name.c_str(), O_RDWR | O_CLOEXEC | O_DIRECT);
  unlink(name.c_str());
  return {fd, direct, folder_of(path)};
}

std::int64_t KeyFile::bytes() const {
  struct stat facts{};
  if (fstat(fd_, &facts) != 0) fail_to("examine", name_);
  return facts.st_size;
}

void KeyFile::fail_to_write() const {
  if (errno == ENOSPC || errno == EDQUOT) {
    throw Unavailable(
        fmt::format("the disk is full: no space is left in {}. Free some, or choose a folder on another disk", name_));
  }
  if (errno == EFBIG) {
    throw Unavailable(fmt::format(
        "a file in {} may not become that large: raise the limit (ulimit -f), or choose another disk", name_));
  }
  fail_to("write to", name_);
}

void KeyFile::reserve(std::int64_t bytes) {
  if (bytes == 0 || fallocate(fd_, 0, 0, bytes) == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL) fail_to_write();
  if (ftruncate(fd_, bytes) != 0) fail_to_write();
}

void KeyFile::read_some(int fd, std::int64_t offset, char* to, std::int64_t bytes) const {
  for (std::int64_t done = 0; done < bytes;) {
    const ssize_t count = pread(fd, to + done, bytes - done, offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EINVAL && fd == direct_) return read_some(fd_, offset, to, bytes);  // not here after all
    if (count < 0) fail_to("read", name_);
    if (count == 0) throw Unavailable(fmt::format("{} has become shorter while it was read: try again", name_));
    done += count;
  }
  if (fd == fd_ && bytes > 0) posix_fadvise(fd_, offset, bytes, POSIX_FADV_DONTNEED);  // 0: all that follows
}

void KeyFile::write_some(int fd, std::int64_t offset, const char* from, std::int64_t bytes) const {
  for (std::int64_t done = 0; done < bytes;) {
    const ssize_t count = pwrite(fd, from + done, bytes - done, offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EINVAL && fd == direct_) return write_some(fd_, offset, from, bytes);
    if (count < 0) fail_to_write();
    done += count;
  }
}

void KeyFile::read(std::int64_t offset, void* to, std::int64_t bytes) const {
  char* const at = static_cast<char*>(to);
  const Pages pages = direct_ < 0 ? Pages{bytes, 0} : pages_of(offset, to, bytes);
  read_some(fd_, offset, at, pages.head);
  read_some(direct_, offset + pages.head, at + pages.head, pages.whole_pages);
  const std::int64_t done = pages.head + pages.whole_pages;
  read_some(fd_, offset + done, at + done, bytes - done);
}

void KeyFile::sync() {
  if (fsync(fd_) != 0) fail_to_write();
}

void KeyWriter::write(std::int64_t offset, const void* from, std::int64_t bytes) {
  const char* const at = static_cast<const char*>(from);
  if (file_.direct_ < 0) {
    file_.write_some(file_.fd_, offset, at, bytes);
    sync_file_range(file_.fd_, offset, bytes, SYNC_FILE_RANGE_WRITE);  // begins now; finish() sees what fails
    finish();
    offset_ = offset;
    bytes_ = bytes;
    return;
  }
  const Pages pages = pages_of(offset, from, bytes);
  const std::int64_t done = pages.head + pages.whole_pages;
  file_.write_some(file_.fd_, offset, at, pages.head);
  file_.write_some(file_.direct_, offset + pages.head, at + pages.head, pages.whole_pages);
  file_.write_some(file_.fd_, offset + done, at + done, bytes - done);
}

void KeyWriter::finish() {
  if (bytes_ == 0) return;
  constexpr unsigned all = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  const std::int64_t bytes = std::exchange(bytes_, 0);
  const bool failed = sync_file_range(file_.fd_, offset_, bytes, all) != 0;
  if (failed && (errno == ENOSPC || errno == EDQUOT || errno == EIO)) file_.fail_to_write();  // else: not supported
  posix_fadvise(file_.fd_, offset_, bytes, POSIX_FADV_DONTNEED);
}

std::int64_t available_space(const std::string& path) {
  struct statvfs facts{};
  if (statvfs(folder_of(path).c_str(), &facts) != 0) fail_to("examine", folder_of(path));
  return std::int64_t(facts.f_bavail) * std::int64_t(facts.f_frsize);
}

}  // namespace lab
