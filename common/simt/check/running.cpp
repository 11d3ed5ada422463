#include "running.h"

#include "text.h"

namespace simt::check {

std::string Running::place() const {
  return std::string("kernel ") + launch->kernel.name + ", block " + block_name(*launch, block);
}

std::string Running::subject(unsigned thread) const {
  return place() + ", thread " + thread_name(*launch, thread) + ": ";
}

}  // namespace simt::check
