#include "running.h"

namespace simt::check {

const Launch* launch;
std::uint64_t block;

namespace {

std::string coordinates(unsigned x, unsigned y, unsigned z) {
  return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

}  // namespace

std::string thread_name(unsigned linear) {
  const dim3 b = launch->config.block;
  return coordinates(linear % b.x, linear / b.x % b.y, linear / (b.x * b.y));
}

std::string block_name(std::uint64_t linear) {
  const dim3 g = launch->config.grid;
  return coordinates(unsigned(linear % g.x), unsigned(linear / g.x % g.y), unsigned(linear / g.x / g.y));
}

std::string where() { return std::string("kernel ") + launch->kernel.name + ", block " + block_name(block); }

std::string who(unsigned thread) { return where() + ", thread " + thread_name(thread) + ": "; }

}  // namespace simt::check
