#include "simt/error.h"

#include <atomic>

#include "emulation.h"
#ifdef SIMT_CHECK
#include "../check/check.h"
#endif

namespace simt {

// In .tdata (not all zero) and outside the unnamed namespace, like everything thread-local here: see device.cpp.
struct LastError {
  cudaError_t error = cudaSuccess;
  int not_zero = 1;
};
constinit thread_local LastError last_error;

namespace {

std::atomic<cudaError_t> sticky_error = cudaSuccess;

constexpr const char* unknown_error = "unrecognized error code";

}  // namespace

cudaError_t sticky() { return sticky_error; }
void set_sticky(cudaError_t error) { sticky_error = error; }
void set_last_error(cudaError_t error) { last_error.error = error; }

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

cudaError_t cudaPeekAtLastError() {
  SIMT_OBSERVE(check::error_read();)
  return sticky() != cudaSuccess ? sticky() : last_error.error;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error.error = cudaSuccess;
  return error;
}
