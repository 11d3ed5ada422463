// Vector types, keywords and constants.
#include <doctest/doctest.h>

#include <math_constants.h>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "managed.h"

namespace {

template <class T, std::size_t size, std::size_t alignment>
constexpr bool laid_out = sizeof(T) == size && alignof(T) == alignment && std::is_aggregate_v<T>;

struct __align__(32) Wide {
  char c;
};

__constant__ int table[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__managed__ int both = 6;

__global__ void __launch_bounds__(256, 2) read_globals(int* to, const __grid_constant__ int index) {
  *to = table[index] + counter + both;
  both = 60;
}

}  // namespace

TEST_CASE("vector types have CUDA's sizes and alignments") {
  CHECK(laid_out<char2, 2, 2>);
  CHECK(laid_out<char3, 3, 1>);
  CHECK(laid_out<uchar4, 4, 4>);
  CHECK(laid_out<short3, 6, 2>);
  CHECK(laid_out<ushort4, 8, 8>);
  CHECK(laid_out<int2, 8, 8>);
  CHECK(laid_out<uint3, 12, 4>);
  CHECK(laid_out<uint4, 16, 16>);
  CHECK(laid_out<float4, 16, 16>);
  CHECK(laid_out<long2, 16, 16>);
  CHECK(laid_out<ulonglong2, 16, 16>);
  CHECK(laid_out<longlong3, 24, 8>);
  CHECK(laid_out<double4, 32, 16>);
  CHECK(laid_out<double4_32a, 32, 32>);
}

TEST_CASE("make_ functions fill members in order") {
  const float4 f = make_float4(1, 2, 3, 4);
  CHECK(f.x + 10 * f.y + 100 * f.z + 1000 * f.w == 4321);
  const uint3 u = make_uint3(1, 2, 3);
  CHECK(u.z == 3);
}

TEST_CASE("extents left out of a dim3 are 1") {
  const dim3 d(7);
  CHECK(d.x == 7);
  CHECK(d.y == 1);
  CHECK(d.z == 1);
  const uint3 u = d;
  CHECK(dim3(u).x == 7);
}

TEST_CASE("keywords mean the same as under nvcc") {
  CHECK(alignof(Wide) == 32);
  Managed<int> to(1);
  read_globals<<<1, 1>>>(to.data(), 2);
  CHECK(to[0] == 3 + 5 + 6);
  CHECK(both == 60);
}

TEST_CASE("constants have their values") {
  CHECK(CUDART_INF_F == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(CUDART_NAN));
  CHECK(CUDART_MAX_NORMAL_F == std::numeric_limits<float>::max());
  CHECK(std::signbit(CUDART_NEG_ZERO_F));
}
