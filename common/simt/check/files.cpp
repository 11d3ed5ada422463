#include "files.h"

#include <sys/stat.h>

#include <cstdio>

namespace simt::check {

void write_whole(const char* path, const std::string& text) {
  struct stat existing;
  const bool is_device = stat(path, &existing) == 0 && !S_ISREG(existing.st_mode);
  const std::string temporary = std::string(path) + (is_device ? "" : ".part");
  FILE* file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr) return std::perror(path);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool is_closed = std::fclose(file) == 0;
  if (!is_written || !is_closed || (!is_device && std::rename(temporary.c_str(), path) != 0)) std::perror(path);
}

}  // namespace simt::check
