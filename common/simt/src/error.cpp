#include "simt/error.h"

#include <atomic>

#include "emulation.h"

namespace simt {

// In .tdata (not all zero) and outside the unnamed namespace, like everything thread-local here: see device.cpp.
struct LastError {
  cudaError_t error = cudaSuccess;
  int not_zero = 1;
};
constinit thread_local LastError error_of_thread;

namespace {

std::atomic<cudaError_t> sticky_error = cudaSuccess;

constexpr const char* unknown_error = "unrecognized error code";

}  // namespace

cudaError_t sticky() { return sticky_error; }
// The debugger stops here when a block fails.
[[gnu::noinline]] void set_sticky(cudaError_t error) { sticky_error = error; }
cudaError_t last_error() { return error_of_thread.error; }
void set_last_error(cudaError_t error) { error_of_thread.error = error; }

}  // namespace simt

using namespace simt;

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define SIMT_NAME(name, number, text) \
  case name:                          \
    return #name;
    SIMT_ERRORS(SIMT_NAME)
#undef SIMT_NAME
  }
  return unknown_error;
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define SIMT_TEXT(name, number, text) \
  case name:                          \
    return text;
    SIMT_ERRORS(SIMT_TEXT)
#undef SIMT_TEXT
  }
  return unknown_error;
}
