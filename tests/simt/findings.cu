// Kernels that fail: each is reported with its kind, line and thread, and the error stays until a reset.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cassert>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "managed.h"

namespace {

/// What `run` writes to standard error.
template <class Run>
std::string errors_of(Run&& run) {
  std::fflush(stderr);
  FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int saved = dup(2);
  dup2(fileno(file), 2);
  run();
  std::fflush(stderr);
  dup2(saved, 2);
  close(saved);
  std::string text;
  std::rewind(file);
  for (int c; (c = std::fgetc(file)) != EOF;) text += char(c);
  std::fclose(file);
  return text;
}

/// Runs `launch` and expects one finding of `kind` at `line`, and `error` until a reset.
template <class Launch>
void expect(const char* kind, int line, cudaError_t error, Launch&& launch) {
  const std::string text = errors_of(launch);
  INFO(text);
  CHECK(text.find(std::string(kind) + ": ") != std::string::npos);
  CHECK(text.starts_with("tests/simt/findings.cu:" + std::to_string(line) + ": error: "));
  CHECK(cudaDeviceSynchronize() == error);
  CHECK(cudaGetLastError() == error);
  CHECK(cudaGetLastError() == error);  // it stays
  void* pointer = nullptr;
  CHECK(cudaMalloc(&pointer, 4) == error);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
}

/// Runs `launch` and expects a report that names all these lines, and an error until a reset.
template <class Launch>
void expect_lines(const std::vector<int>& lines, Launch&& launch) {
  const std::string text = errors_of(launch);
  INFO(text);
  for (const int line : lines) CHECK(text.find("findings.cu:" + std::to_string(line)) != std::string::npos);
  CHECK(cudaDeviceSynchronize() != cudaSuccess);
  cudaDeviceReset();
}

constexpr int line_of_write = __LINE__ + 1;
__global__ void write(int* to, int i) { to[i] = 1; }

#if defined(__x86_64__)  // other processors allow it
constexpr int line_of_wide_read = __LINE__ + 1;
__global__ void read_wide(const uint4* from, uint4* to) { *to = *from; }
#endif

#if __has_builtin(__builtin_clear_padding)
struct EndsWithPadding {
  long first;
  int count;
};
__global__ void write_count(EndsWithPadding from, int* to) { *to = from.count; }
#endif

struct Link {
  Link* next;
};
constexpr int line_of_link = __LINE__ + 1;
__global__ void follow(Link* link, Link** to) { *to = link->next->next; }

constexpr int line_of_assertion = __LINE__ + 1;
__global__ void asserted(const int* from) { assert(from[0] == 1); }

constexpr int line_of_first_barrier = __LINE__ + 3;
__global__ void two_barriers() {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

constexpr int line_of_deadlock = __LINE__ + 3;
__global__ void deadlock() {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    __syncwarp();
  }
}

constexpr int line_of_foreign_mask = __LINE__ + 1;
__global__ void foreign_mask(int* to) { to[threadIdx.x] = __shfl_sync(0x0000ffffu, 1, 0); }

__global__ void exited_lanes(int* to) {
  if (threadIdx.x == 3) return;
  to[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
  if (threadIdx.x < 20) {
    __syncthreads();
    to[threadIdx.x] += int(__ballot_sync(0xffffffffu, 1));
  }
}

constexpr int line_of_mixed = __LINE__ + 3;
__global__ void mixed_primitives(unsigned* to) {
  if (threadIdx.x % 2 == 0) {
    to[0] = __ballot_sync(0xffffffffu, 1);
  } else {
    to[1] = __shfl_sync(0xffffffffu, 1u, 0);
  }
}

constexpr int line_of_trap = __LINE__ + 2;
__global__ void trap() {
  if (threadIdx.x == 7) __trap();
}

constexpr int line_of_division = __LINE__ + 1;
__global__ void divide(int* to, int by) { *to = 7 / by; }

__global__ void call_host(void** to) { cudaMallocManaged(to, 4); }

}  // namespace

TEST_CASE("a failed assertion") {
  int* device;
  cudaMalloc(&device, 4);
  cudaMemset(device, 0, 4);
  expect("assert", line_of_assertion, cudaErrorAssert, [&] { asserted<<<1, 32>>>(device); });
  cudaMalloc(&device, 4);
  const int one = 1;
  cudaMemcpy(device, &one, 4, cudaMemcpyHostToDevice);
  asserted<<<1, 32>>>(device);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  cudaFree(device);
}

TEST_CASE("a null pointer that is followed") {
  expect("out-of-bounds", line_of_write, cudaErrorIllegalAddress, [] { write<<<1, 1>>>(nullptr, 0); });
}

TEST_CASE("a pointer that was never initialized") {
  Link* link;
  cudaMalloc(&link, sizeof *link);
  expect("out-of-bounds", line_of_link, cudaErrorIllegalAddress, [&] { follow<<<1, 1>>>(link, &link->next); });
}

#if defined(__x86_64__)
TEST_CASE("a wide access at a misaligned address") {
  unsigned* device;
  cudaMalloc(&device, 256);
  expect("misaligned", line_of_wide_read, cudaErrorIllegalAddress,
         [&] { read_wide<<<1, 1>>>(reinterpret_cast<uint4*>(device + 1), reinterpret_cast<uint4*>(device + 8)); });
}
#endif

TEST_CASE("a host pointer that is followed") {
  std::vector<int> host(4);
  expect("host-pointer", line_of_write, cudaErrorIllegalAddress, [&] { write<<<1, 1>>>(host.data(), 2); });
  CHECK(host[2] == 0);
}

#if __has_builtin(__builtin_clear_padding)
TEST_CASE("an argument whose padding makes an int look like a host pointer") {
  const std::vector<int> host(4);
  const int* const address = host.data();
  EndsWithPadding argument{0, 0};
  std::memcpy(reinterpret_cast<char*>(&argument) + offsetof(EndsWithPadding, count), &address, sizeof address);
  const int expected = argument.count;
  int *device, count = 0;
  cudaMalloc(&device, sizeof(int));
  write_count<<<1, 1>>>(argument, device);
  cudaMemcpy(&count, device, sizeof count, cudaMemcpyDeviceToHost);
  CHECK(count == expected);
}
#endif

TEST_CASE("a write past the end of an allocation") {
  int* device;
  cudaMalloc(&device, 256);
  expect("out-of-bounds", line_of_write, cudaErrorIllegalAddress, [&] { write<<<1, 1>>>(device, 64); });
}

TEST_CASE("a write before an allocation's page") {
  int* device;
  cudaMalloc(&device, std::size_t(sysconf(_SC_PAGESIZE)));
  expect("out-of-bounds", line_of_write, cudaErrorIllegalAddress, [&] { write<<<1, 1>>>(device, -1); });
}

TEST_CASE("a use after cudaFree") {
  int* device;
  cudaMalloc(&device, 256);
  cudaFree(device);
  expect("use-after-free", line_of_write, cudaErrorIllegalAddress, [&] { write<<<1, 1>>>(device, 0); });
}

TEST_CASE("a use after cudaFreeAsync") {
  int* device;
  cudaMallocAsync(&device, 256, nullptr);
  cudaFreeAsync(device, nullptr);
  expect("use-after-free", line_of_write, cudaErrorIllegalAddress, [&] { write<<<1, 1>>>(device, 0); });
}

TEST_CASE("__syncthreads at different places") {
  expect_lines({line_of_first_barrier, line_of_first_barrier + 2}, [] { two_barriers<<<1, 32>>>(); });
}

TEST_CASE("threads that wait for each other forever") {
  expect_lines({line_of_deadlock, line_of_deadlock + 2}, [] { deadlock<<<1, 32>>>(); });
}

TEST_CASE("a lane outside its own mask") {
  expect_lines({line_of_foreign_mask}, [] {
    Managed<int> to(32);
    foreign_mask<<<1, 32>>>(to.data());
  });
}

TEST_CASE("lanes that have exited count neither in a mask nor at a barrier") {
  Managed<int> to(32);
  CHECK(errors_of([&] { exited_lanes<<<1, 32>>>(to.data()); }).empty());
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(to.data()[19] == 1 + 0x000ffff7);
  CHECK(to.data()[20] == 1);
}

TEST_CASE("lanes that meet at different primitives") {
  expect_lines({line_of_mixed, line_of_mixed + 2}, [] {
    Managed<unsigned> to(2);
    mixed_primitives<<<1, 32>>>(to.data());
  });
}

TEST_CASE("a trap") {
  expect("trap", line_of_trap, cudaErrorLaunchFailure, [] { trap<<<2, 32>>>(); });
}

TEST_CASE("an integer division by zero") {
  Managed<int> to(1);
  expect("arithmetic", line_of_division, cudaErrorLaunchFailure, [&] { divide<<<1, 1>>>(to.data(), 0); });
}

TEST_CASE("a host function called by a kernel") {
  Managed<void*> to(1);
  const std::string text = errors_of([&] { call_host<<<1, 1>>>(to.data()); });
  INFO(text);
  CHECK(text.find("calls cudaMallocManaged, which only host code may call: move the call there") != std::string::npos);
  CHECK(cudaDeviceSynchronize() == cudaErrorNotPermitted);
  cudaDeviceReset();
}

TEST_CASE("an impossible shape is reported at the launch, and its error does not last") {
  const int line = __LINE__ + 1;
  const std::string text = errors_of([] { write<<<1, 2000>>>(nullptr, 0); });
  INFO(text);
  CHECK(text.find("findings.cu:" + std::to_string(line) + ": error: invalid-launch: kernel write") !=
        std::string::npos);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}
