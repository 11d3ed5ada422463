// Casts of floating-point numbers that integers cannot hold.
#include <cmath>
#include <cstdint>

#include "expect.h"

namespace {

struct Pair {
  float first;
  double second;
  __host__ __device__ float sum() const { return first + float(second); }
};

template <class To>
__device__ To cast(double value) {
  return static_cast<To>(value);
}

__global__ void casts(const double* in, long long* out, int n) {
  const int i = int(threadIdx.x);
  if (i >= n) return;
  const double d = in[i];
  const float f = float(d);
  const Pair pairs[2] = {{f, 0}, {f, d}};
  long long* const mine = out + 10 * i;
  mine[0] = (int)f;
  mine[1] = (unsigned)pairs[i % 2].first;
  mine[2] = (long long)pairs[0].sum();
  mine[3] = (long long)(unsigned long long)f;
  mine[4] = int(d);
  mine[5] = static_cast<unsigned>(in[i]);
  mine[6] = (int64_t)d;
  mine[7] = (long long)(uint64_t)(d + 0.25);
  mine[8] = 1 - (long long)(int)fminf(f, 3.0f);
  mine[9] = (unsigned)d + (i < 0 ? 1 : 0);
}

// Without a cast.
__device__ int as_int(float f) { return f; }
__device__ unsigned same(unsigned u) { return u; }
template <class T>
__device__ T quarter(T, float f) {
  T result = f / 4;
  return result;
}
__global__ void implicit(const double* in, long long* out) {
  const float f = float(in[threadIdx.x]);
  long long* const mine = out + 10 * threadIdx.x;
  const unsigned initialized = f + 1;
  unsigned assigned;
  assigned = f;
  mine[0] = initialized;
  mine[1] = assigned;
  mine[2] = as_int(f);
  mine[3] = same(f);
  mine[4] = quarter(0, f);
  mine[5] = quarter(0u, f);
  mine[6] = f;
  mine[7] = mine[8] = mine[9] = 0;
}

constexpr long long most = 0x7fffffffffffffffLL, least = -most - 1;

void expect_row(const std::vector<long long>& out, int row, const std::vector<long long>& expected) {
  for (int i = 0; i < 10; ++i) {
    const long long value = out[std::size_t(10 * row + i)];
    if (value != expected[std::size_t(i)]) std::printf("row %d, cast %d: %lld\n", row, i, value);
    EXPECT(value == expected[std::size_t(i)]);
  }
}

}  // namespace

int main() {
  const double numbers[] = {3.75, -1.5, 3e9, 5e9, 1e20, -1e20, NAN, -2147483648.5};
  constexpr int n = int(sizeof numbers / sizeof numbers[0]);
  Array<double> in(n);
  Array<long long> out(10 * n);
  in.fill([&](int i) { return numbers[i]; });
  casts<<<1, 32>>>(in.data(), out.data(), n);
  CUDA(cudaDeviceSynchronize());
  const std::vector<long long> all = out.values();
  constexpr long long high = 0x7fffffff, low = -high - 1, full = 0xffffffffLL, big = 3000000000, huge = 5000000000;
  expect_row(all, 0, {3, 3, 3, 3, 3, 3, 3, 4, -2, 3});
  expect_row(all, 1, {-1, 0, -1, 0, -1, 0, -1, 0, 2, 0});
  expect_row(all, 2, {high, big, big, big, high, big, big, big, -2, big});
  expect_row(all, 3, {high, full, huge, huge, high, full, huge, huge, -2, full});
  expect_row(all, 4, {high, full, most, -1, high, full, most, -1, -2, full});
  expect_row(all, 5, {low, 0, least, 0, low, 0, least, 0, 1 - low, 0});
  expect_row(all, 6, {0, 0, least, least, low, full - high, least, least, -2, full - high});
  expect_row(all, 7, {low, 0, low, 0, low, 0, low, 0, 1 - low, 0});

  implicit<<<1, n>>>(in.data(), out.data());
  CUDA(cudaDeviceSynchronize());
  const std::vector<long long> others = out.values();
  expect_row(others, 0, {4, 3, 3, 3, 0, 0, 3, 0, 0, 0});
  expect_row(others, 1, {0, 0, -1, 0, 0, 0, -1, 0, 0, 0});
  expect_row(others, 4, {full, full, high, full, high, full, most, 0, 0, 0});
  expect_row(others, 5, {0, 0, low, 0, low, 0, least, 0, 0, 0});
  // Not row 6: of a NaN in 64 bits, clang++ makes 0.
  return finish();
}
