// Products of matrices by whole warps, of all types and shapes.
#include <mma.h>

#include <cmath>
#include <type_traits>

#include "expect.h"

namespace wmma = nvcuda::wmma;

namespace {

/// Small numbers, which all types hold exactly.
template <class T>
void fill(Array<T>& array, int step) {
  array.fill([step](int i) { return float(i * step % 7); });
}

template <class Use, int m, int n, int k, class T, class Layout, class Element>
__device__ void load(wmma::fragment<Use, m, n, k, T, Layout>& to, const Element* matrix, unsigned stride) {
  wmma::load_matrix_sync(to, matrix, stride);
  if constexpr (std::is_same_v<T, wmma::precision::tf32>) {
    for (int i = 0; i < to.num_elements; ++i) to.x[i] = wmma::__float_to_tf32(to.x[i]);
  }
}

/// d = 2 (a * b + c), by one warp of each block.
template <int m, int n, int k, class T, class Element, class Sum, class LayoutA, class LayoutB>
__global__ void multiply(const Element* a, const Element* b, const Sum* c, Sum* d) {
  __shared__ alignas(32) Sum result[m * n];
  constexpr bool a_by_rows = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool b_by_rows = std::is_same_v<LayoutB, wmma::row_major>;
  wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> left;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> right;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> sums, zeros;
  load(left, a, a_by_rows ? k : m);
  load(right, b, b_by_rows ? n : k);
  wmma::load_matrix_sync(sums, c, n, wmma::mem_row_major);
  wmma::fill_fragment(zeros, Sum(0.0f));
  wmma::mma_sync(zeros, left, right, zeros);
  wmma::mma_sync(sums, left, right, sums);
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = sums.x[i] + zeros.x[i];  // c + 2 a * b
  wmma::store_matrix_sync(result, sums, m, wmma::mem_col_major);
  __syncwarp();
  for (int i = threadIdx.x; i < m * n; i += warpSize) d[i] = result[i % n * m + i / n] + c[i];
}

template <int m, int n, int k, class T, class Element, class Sum, class LayoutA, class LayoutB>
void try_product() {
  Array<Element> a(m * k), b(k * n);
  Array<Sum> c(m * n), d(m * n);
  fill(a, 3), fill(b, 5), fill(c, 2);
  multiply<m, n, k, T, Element, Sum, LayoutA, LayoutB><<<1, 32>>>(a.data(), b.data(), c.data(), d.data());
  const std::vector<Element> left = a.values(), right = b.values();
  const std::vector<Sum> added = c.values(), got = d.values();
  for (int i = 0; i < m * n; ++i) {
    float sum = float(added[std::size_t(i)]);
    for (int j = 0; j < k; ++j) {
      const int row = i / n, column = i % n;
      const int at_left = std::is_same_v<LayoutA, wmma::row_major> ? row * k + j : j * m + row;
      const int at_right = std::is_same_v<LayoutB, wmma::row_major> ? j * n + column : column * k + j;
      sum += float(left[std::size_t(at_left)]) * float(right[std::size_t(at_right)]);
    }
    if (float(got[std::size_t(i)]) != float(Sum(2 * sum))) return EXPECT(!"a product is wrong");
  }
}

template <int m, int n, int k, class T, class Element, class Sum>
void try_layouts() {
  try_product<m, n, k, T, Element, Sum, wmma::row_major, wmma::row_major>();
  try_product<m, n, k, T, Element, Sum, wmma::row_major, wmma::col_major>();
  try_product<m, n, k, T, Element, Sum, wmma::col_major, wmma::row_major>();
  try_product<m, n, k, T, Element, Sum, wmma::col_major, wmma::col_major>();
}

__global__ void saturate(const signed char* ones, int* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sums;
  wmma::load_matrix_sync(left, ones, 16);
  wmma::load_matrix_sync(right, ones, 16);
  wmma::fill_fragment(sums, 0x7ffffff8);
  wmma::mma_sync(sums, left, right, sums, true);
  wmma::store_matrix_sync(out, sums, 16, wmma::mem_row_major);
}

__global__ void round_to_tf32(const float* in, float* out) {
  out[threadIdx.x] = wmma::__float_to_tf32(in[threadIdx.x]);
}

void try_limits() {
  Array<signed char> ones(256);
  ones.fill([](int) { return 1; });
  Array<int> sums(256);
  saturate<<<1, 32>>>(ones.data(), sums.data());
  EXPECT(sums.values() == std::vector<int>(256, 0x7fffffff));

  Array<float> in(3), out(3);
  in.fill([](int i) { return 1 + std::ldexp(1.0f, -10 - i); });
  round_to_tf32<<<1, 3>>>(in.data(), out.data());
  const float next = 1 + std::ldexp(1.0f, -10);
  EXPECT((out.values() == std::vector<float>{next, next, 1}));
}

}  // namespace

int main() {
  try_layouts<16, 16, 16, __half, __half, float>();
  try_layouts<16, 16, 16, __half, __half, __half>();
  try_layouts<32, 8, 16, __half, __half, float>();
  try_layouts<8, 32, 16, __half, __half, float>();
  try_layouts<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>();
  try_layouts<16, 16, 16, signed char, signed char, int>();
  try_layouts<32, 8, 16, unsigned char, unsigned char, int>();
  try_layouts<16, 16, 8, wmma::precision::tf32, float, float>();
  try_layouts<8, 8, 4, double, double, double>();
  try_limits();
  return finish();
}
