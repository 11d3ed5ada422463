// Warp matrix functions (CUDA C++ Programming Guide), which a GPU computes on its tensor cores. CUDA does not say which
// lane has which element of a fragment. Here, each lane has 1/32 of an accumulator, and all elements of a factor. Sums are
// made in the type of the result, those of __half in float. Costs say nothing about those of tensor cores. What is
// missing, such as numbers of 1 and 4 bits, is not declared, so that the compiler names it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;  ///< stored as float, of which the lowest 13 bits are ignored
}

}  // namespace nvcuda::wmma

namespace simt::wmma {

using namespace nvcuda::wmma;

template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<precision::tf32> {
  using type = float;
};

/// True for the types and shapes of factors that CUDA has.
template <class T>
constexpr bool is_factor(int m, int n, int k) {
  if constexpr (std::is_same_v<T, double>) return m == 8 && n == 8 && k == 4;
  if constexpr (std::is_same_v<T, precision::tf32>) return m == 16 && n == 16 && k == 8;
  const bool has_shape = k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
  return has_shape && (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16> ||
                       std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>);
}

/// In what the products of two numbers of type T are added up.
template <class T>
using Sum =
    std::conditional_t<std::is_same_v<T, double>, double, std::conditional_t<std::is_integral_v<T>, int, float>>;

/// Whether an accumulator of type D can have the products of two numbers of type T.
template <class T, class D>
constexpr bool is_sum_of() {
  return std::is_same_v<D, Sum<T>> || (std::is_same_v<T, __half> && std::is_same_v<D, __half>);
}

/// The number that tensor cores see.
template <class T>
__device__ Sum<T> factor(typename Stored<T>::type value) {
  if constexpr (std::is_same_v<T, precision::tf32>) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits &= ~0x1fffu;
    std::memcpy(&value, &bits, sizeof bits);
  }
  return Sum<T>(value);
}

/// All lanes of the warp take part. As on a GPU, this orders no accesses to memory.
__device__ inline void meet() { __any_sync(0xffffffffu, 1); }

/// The position in memory of an element.
__device__ inline std::size_t position(int row, int column, unsigned stride, bool by_rows) {
  return by_rows ? std::size_t(row) * stride + column : std::size_t(column) * stride + row;
}

template <class T>
__device__ void require_alignment(const T* matrix, Site site) {
  if (reinterpret_cast<std::uintptr_t>(matrix) % 32 == 0) return;
  trap("the matrix of a fragment must begin at a multiple of 32 bytes", site);
}

/// The element of an accumulator, counted by rows, that is element i of this lane's.
__device__ inline int element_of_lane(int i) { return int(ptx::laneid()) + warpSize * i; }

}  // namespace simt::wmma

namespace nvcuda::wmma {

/// A matrix of m x k (matrix_a), k x n (matrix_b) or m x n elements (accumulator).
template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static constexpr bool is_sum = std::is_same_v<Use, accumulator>;
  static_assert(is_sum || simt::wmma::is_factor<T>(m, n, k),
                "tensor cores do not multiply matrices of this type and shape");
  static_assert(is_sum == std::is_void_v<Layout>, "factors, and only factors, have a layout: row_major or col_major");

 public:
  using element_type = typename simt::wmma::Stored<T>::type;
  static constexpr int rows = std::is_same_v<Use, matrix_b> ? k : m;
  static constexpr int columns = std::is_same_v<Use, matrix_a> ? k : n;
  static constexpr int num_elements = is_sum ? m * n / 32 : rows * columns;
  static constexpr int num_storage_elements = num_elements;

  element_type x[num_elements];
};

/// Loads a factor whose rows (or columns, if its layout is col_major) are `stride` elements apart.
template <class Use, int m, int n, int k, class T, class Layout>
__device__ void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& to,
                                 const typename simt::wmma::Stored<T>::type* matrix, unsigned stride,
                                 simt::Site site = simt::Site::here()) {
  simt::wmma::meet();
  simt::wmma::require_alignment(matrix, site);
  for (int i = 0; i < to.num_elements; ++i) {
    to.x[i] = matrix[simt::wmma::position(i / to.columns, i % to.columns, stride, std::is_same_v<Layout, row_major>)];
  }
}

/// Loads an accumulator.
template <int m, int n, int k, class T>
__device__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& to, const T* matrix, unsigned stride,
                                 layout_t layout, simt::Site site = simt::Site::here()) {
  simt::wmma::meet();
  simt::wmma::require_alignment(matrix, site);
  for (int i = 0; i < to.num_elements; ++i) {
    const int at = simt::wmma::element_of_lane(i);
    to.x[i] = matrix[simt::wmma::position(at / n, at % n, stride, layout == mem_row_major)];
  }
}

/// Stores an accumulator.
template <int m, int n, int k, class T>
__device__ void store_matrix_sync(T* matrix, const fragment<accumulator, m, n, k, T>& from, unsigned stride,
                                  layout_t layout, simt::Site site = simt::Site::here()) {
  simt::wmma::meet();
  simt::wmma::require_alignment(matrix, site);
  for (int i = 0; i < from.num_elements; ++i) {
    const int at = simt::wmma::element_of_lane(i);
    matrix[simt::wmma::position(at / n, at % n, stride, layout == mem_row_major)] = from.x[i];
  }
}

/// Gives all elements the same value.
template <class Use, int m, int n, int k, class T, class Layout, class Value>
__device__ void fill_fragment(fragment<Use, m, n, k, T, Layout>& to, const Value& value) {
  for (auto& element : to.x) element = typename simt::wmma::Stored<T>::type(value);
}

/// d = a * b + c, where d and c may be the same. `saturate`: integers stay in range; floating-point numbers are not
/// affected.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class D, class C>
__device__ void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                         const fragment<matrix_b, m, n, k, T, LayoutB>& b, const fragment<accumulator, m, n, k, C>& c,
                         bool saturate = false) {
  using Sum = simt::wmma::Sum<T>;
  static_assert(
      simt::wmma::is_sum_of<T, D>() && simt::wmma::is_sum_of<T, C>(),
      "products of __half are added up in __half or float, of integers in int, of double in double, and others "
      "in float");
  simt::wmma::meet();
  for (int i = 0; i < d.num_elements; ++i) {
    const int at = simt::wmma::element_of_lane(i), row = at / n, column = at % n;
    Sum products = 0;
    for (int j = 0; j < k; ++j) {
      products += simt::wmma::factor<T>(a.x[row * k + j]) * simt::wmma::factor<T>(b.x[j * n + column]);
    }
    if constexpr (std::is_same_v<D, int>) {
      const std::int64_t sum = std::int64_t(products) + c.x[i];
      const std::int64_t kept = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      d.x[i] = saturate ? int(kept) : int(std::uint32_t(sum));
    } else {
      d.x[i] = D(products + Sum(c.x[i]));
    }
  }
}

/// The nearest number that tf32 can hold.
__device__ inline float __float_to_tf32(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits >> 23 & 0xff) != 0xff) bits = (bits + 0x1000u) & ~0x1fffu;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

}  // namespace nvcuda::wmma
