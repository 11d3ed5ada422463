// Shifts by distances that C++ leaves undefined: a GPU takes them as unsigned numbers and shifts out all bits.
#include <cstdint>

#include "expect.h"

#define ROTATED(x, n) (((x) << (n)) | ((x) >> (32 - (n))))

namespace {

struct Bits {
  unsigned low : 5;
  int high : 7;
};
struct Wide {
  int value;
  __device__ Wide operator<<(int n) const { return {value + n}; }
};
template <class T>
struct Width {
  static constexpr int value = 8 * sizeof(T);
};
template <class T>
struct Same {
  using Type = T;
};

template <class T>
__device__ T shifted(T value, int by) {
  return T(value << by + 1 - 1);
}

constexpr int results = 18;

__global__ void shift(const int* by, long long* out) {
  constexpr int log_size = 4;
  __shared__ int room[1 << log_size];
  const int n = by[threadIdx.x];
  long long* row = out + results * threadIdx.x;
  const Bits bits{7, -3};
  const Same<Width<Same<int>>>::Type width{};
  unsigned assigned = 9;
  unsigned char narrow = 200;
  volatile int kept = -5;
  assigned <<= n;
  narrow >>= n;
  kept >>= n;
  room[threadIdx.x] = 1 << log_size;
  *row++ = 1 << n;
  *row++ = -5 >> n;
  *row++ = static_cast<long long>(1ull << n);
  *row++ = -1ll >> n;
  *row++ = 7u >> n;
  *row++ = assigned;
  *row++ = narrow;
  *row++ = kept;
  *row++ = ROTATED(0x80000001u, n & 31);
  *row++ = (Wide{3} << n).value;
  *row++ = bits.low << n;
  *row++ = bits.high >> n;
  *row++ = shifted<int64_t>(3, n);
  *row++ = n < 0 ? 1 << n : 1 << 2;
  *row++ = room[threadIdx.x] >> n >> 1;
  *row++ = Width<Same<char>>::value >> width.value / 8;
  *row++ = 1u << (0x100000000ull + unsigned(n));
  int inlined;
  asm("mov.s32 %0, %1;" : "=r"(inlined) : "r"(1 << n));
  *row = inlined;
}

void expect_row(const std::vector<long long>& out, int row, const std::vector<long long>& expected) {
  for (int i = 0; i < results; ++i) {
    const long long value = out[std::size_t(results * row + i)];
    if (value != expected[std::size_t(i)]) std::printf("row %d, shift %d: %lld\n", row, i, value);
    EXPECT(value == expected[std::size_t(i)]);
  }
}

}  // namespace

int main() {
  const int distances[] = {3, 32, 33, 64, -1};
  constexpr int n = int(sizeof distances / sizeof distances[0]);
  Array<int> by(n);
  Array<long long> out(results * n);
  by.fill([&](int i) { return distances[i]; });
  shift<<<1, n>>>(by.data(), out.data());
  CUDA(cudaDeviceSynchronize());
  const auto rows = out.values();
  expect_row(rows, 0, {8, -1, 8, -1, 0, 72, 25, -1, 12, 6, 56, -1, 24, 4, 1, 4, 8, 8});
  expect_row(rows, 1, {0, -1, 1ll << 32, -1, 0, 0, 0, -1, 0x80000001, 35, 0, -1, 3ll << 32, 4, 0, 4, 0, 0});
  expect_row(rows, 2, {0, -1, 1ll << 33, -1, 0, 0, 0, -1, 3, 36, 0, -1, 3ll << 33, 4, 0, 4, 0, 0});
  expect_row(rows, 3, {0, -1, 0, -1, 0, 0, 0, -1, 0x80000001, 67, 0, -1, 0, 4, 0, 4, 0, 0});
  expect_row(rows, 4, {0, -1, 0, -1, 0, 0, 0, -1, 0xc0000000, 2, 0, -1, 0, 0, 0, 4, 0, 0});
  return finish();
}
