// Steps that break their process, or try to pass without sorting. They know of the judge only what a student can read:
// runner/protocol.h and the runner.
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "runner/protocol.h"
#include "sort.cuh"
#include "step/error.h"

namespace wrong {
namespace {

using std::chrono::milliseconds;

std::atomic<bool> clock_is_slow = false;

}  // namespace

void crashes(Keys, Order, Shape, Stream) {
  volatile int* nowhere = nullptr;
  *nowhere = 0;
}

void leaves_a_vector(Keys keys, Order, Shape, Stream) {
  std::vector<std::uint32_t> few(1);
  for (std::int64_t i = 0; i < keys.n; ++i) few[i] = 0;
}

void throws_what_nobody_catches(Keys, Order, Shape, Stream) { throw 42; }

void waits_forever(Keys, Order, Shape, Stream) {
  for (;;) pause();
}

__global__ void spin(const volatile std::uint32_t* flag) {
  const std::uint32_t before = *flag;
  while (*flag == before) {
  }
}

__global__ void meet() {
  for (;;) __syncthreads();
}

void waits_for_a_value(Keys keys, Order, Shape, Stream stream) { spin<<<2, 64, 0, stream>>>(keys.data); }
void meets_forever(Keys, Order, Shape, Stream stream) { meet<<<1, 64, 0, stream>>>(); }

void exits(Keys, Order, Shape, Stream) { _exit(0); }

void exits_at_the_end_of_a_thread(Keys, Order, Shape, Stream) {
  std::thread([] { std::quick_exit(0); }).join();
}

void prints_verified(Keys, Order, Shape, Stream) { std::puts("verified"); }

void writes_to_every_descriptor(Keys, Order, Shape, Stream) {
  for (int fd = 3; fd < 64; ++fd) {
    if (write(fd, "verified\n", 9) < 0) continue;
  }
}

void answers_in_the_runners_place(Keys, Order, Shape, Stream) {
  lab::Reply reply;
  reply.progress = lab::Progress::sorted;
  send(lab::channel_fd, &reply, sizeof reply, 0);
  reply.progress = lab::Progress::finished;
  send(lab::channel_fd, &reply, sizeof reply, 0);
}

// A report without findings in the check build's place.
void forges_findings(Keys keys, Order order, Shape shape, Stream stream) {
  lab::Reply reply;
  reply.progress = lab::Progress::document;
  const char document[] = R"({"observed":{"findings":[],"notes":[],"launches":[]}})";
  reply.text_bytes = sizeof document - 1;
  std::memcpy(reply.text, document, sizeof document - 1);
  send(lab::channel_fd, &reply, sizeof reply, 0);
  right(keys, order, shape, stream);
}

// All keys 0 would be right if the judge took the input from where the runner can write.
void changes_the_input(Keys keys, Order, Shape, Stream stream) {
  std::vector<char> zeros(1 << 20);
  if (pwrite(lab::memory_fd, zeros.data(), keys.n * 8, 0) < 0) std::perror("pwrite");
  CUDA_CHECK(cudaMemsetAsync(keys.data, 0, keys.n * sizeof(std::uint32_t), stream));
}

void keeps_the_first_output(Keys keys, Order order, Shape shape, Stream stream) {
  static std::vector<std::uint32_t> output;
  const std::size_t bytes = keys.n * sizeof(std::uint32_t);
  if (!output.empty()) {
    CUDA_CHECK(cudaMemcpyAsync(keys.data, output.data(), bytes, cudaMemcpyHostToDevice, stream));
    return;
  }
  right(keys, order, shape, stream);
  output.resize(keys.n);
  CUDA_CHECK(cudaMemcpyAsync(output.data(), keys.data, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

void works_only_when_tested(Keys keys, Order order, Shape shape, Stream stream) {
  static int calls = 0;
  if (++calls <= 2) right(keys, order, shape, stream);
}

void works_after_it_returned(Keys keys, Order order, Shape shape, Stream stream) {
  std::thread([=] {
    std::this_thread::sleep_for(milliseconds(50));
    right(keys, order, shape, stream);
  }).detach();
}

// Sorts, but slows the clock down first.
void slows_the_clock(Keys keys, Order order, Shape shape, Stream stream) {
  clock_is_slow = true;
  std::this_thread::sleep_for(milliseconds(20));
  right(keys, order, shape, stream);
}

void closes_the_channel(Keys, Order, Shape, Stream) {
  close(lab::channel_fd);
  for (;;) pause();
}

}  // namespace wrong

// Takes the C library's place in the whole process. A clock that only slows down from now on is still steady.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static std::atomic<long long> slow_since = 0;
  timespec real;
  timespec_get(&real, TIME_UTC);  // does not call this function
  long long now = real.tv_sec * 1000000000ll + real.tv_nsec;
  if (wrong::clock_is_slow && clock == CLOCK_MONOTONIC) {
    long long none = 0;
    slow_since.compare_exchange_strong(none, now);
    now = slow_since + (now - slow_since) / 1000;
  }
  time->tv_sec = now / 1000000000ll;
  time->tv_nsec = now % 1000000000ll;
  return 0;
}
