// The functions of cuBLAS that most programs use (cuBLAS Library, "cuBLAS Level-1" to "Level-3 Function Reference"), as
// plain kernels: one thread for each element of a result, with sums in double precision. Their costs say nothing about
// those of cuBLAS. Matrices are in column-major order. What is missing is not declared, so that the compiler names it.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "library_types.h"

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
};
using cublasHandle_t = cublasContext*;

namespace simt::blas {

constexpr unsigned block = 128;

/// Runs body(i) for each i below n, in a kernel with this name.
template <class Body>
cublasStatus_t for_each(cublasHandle_t handle, const char* name, std::size_t n, const Body& body, Site site) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  const LaunchConfig config(dim3(unsigned((n + block - 1) / block)), dim3(block), 0, handle->stream);
  const auto thread = [](auto& own, auto& end) {
    const std::size_t i = std::size_t(blockIdx.x) * block + threadIdx.x;
    if (i < end) own(i);
  };
  launch(thread, name, site.file, site.line, config, body, n);
  return cudaPeekAtLastError() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// A factor in host memory, which is read at once, or in device memory, which the kernel reads.
template <class T>
class Factor {
 public:
  Factor(cublasHandle_t handle, const T* pointer)
      : of_device_(handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE ? pointer : nullptr),
        value_(of_device_ == nullptr ? *pointer : T(0)) {}
  double get() const { return double(of_device_ == nullptr ? value_ : *of_device_); }

 private:
  const T* of_device_;
  T value_;
};

/// Element i of a vector of n, which a negative increment goes through from the end.
template <class T>
struct Vector {
  T* data;
  std::ptrdiff_t n, increment;
  T& operator[](std::size_t i) const {
    return data[increment < 0 ? (std::ptrdiff_t(i) - n + 1) * increment : std::ptrdiff_t(i) * increment];
  }
};
template <class T>
struct Matrix {
  T* data;
  std::size_t stride;
  bool is_transposed;
  T& operator()(std::size_t row, std::size_t column) const {
    return is_transposed ? data[row * stride + column] : data[column * stride + row];
  }
};

/// Writes one result to host memory, after the kernel, or to device memory.
template <class T, class Result>
cublasStatus_t reduce(cublasHandle_t handle, const char* name, Result* result, const T& value_of_all, Site site) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  Result* target = result;
  const bool is_for_host = handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
  if (is_for_host && cudaMalloc(&target, sizeof *target) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  cublasStatus_t status = for_each(handle, name, 1, [=](std::size_t) { *target = Result(value_of_all()); }, site);
  if (is_for_host) {
    if (cudaMemcpyAsync(result, target, sizeof *result, cudaMemcpyDeviceToHost, handle->stream) != cudaSuccess ||
        cudaStreamSynchronize(handle->stream) != cudaSuccess) {
      status = CUBLAS_STATUS_EXECUTION_FAILED;
    }
    cudaFree(target);
  }
  return status;
}

/// A matrix of a product, or one at each `next` elements.
template <class T>
struct Operand {
  T* data;
  int stride;
  std::ptrdiff_t next;
  bool is_transposed = false;

  bool holds(int rows, int columns) const { return stride >= (is_transposed ? columns : rows); }
  Matrix<T> at(std::ptrdiff_t batch) const { return {data + batch * next, std::size_t(stride), is_transposed}; }
};
/// C = alpha A B + beta C, so often.
template <class A, class C, class S>
struct Product {
  int m, n, k, count;
  const S *alpha, *beta;
  Operand<const A> a, b;
  Operand<C> c;
};

template <class A, class C, class S>
cublasStatus_t gemm(cublasHandle_t handle, const char* name, const Product<A, C, S>& p, Site site) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (!p.a.holds(p.m, p.k) || !p.b.holds(p.k, p.n) || !p.c.holds(p.m, p.n)) return CUBLAS_STATUS_INVALID_VALUE;
  const Factor<S> scale(handle, p.alpha), kept(handle, p.beta);
  const std::size_t of_each = std::size_t(p.m) * unsigned(p.n);
  const auto element = [=](std::size_t i) {
    const auto batch = std::ptrdiff_t(i / of_each);
    const std::size_t row = i % of_each % unsigned(p.m), column = i % of_each / unsigned(p.m);
    const Matrix<const A> left = p.a.at(batch), right = p.b.at(batch);
    double sum = 0;
    for (std::size_t j = 0; j < unsigned(p.k); ++j) sum += double(left(row, j)) * double(right(j, column));
    C& result = p.c.at(batch)(row, column);
    const double before = kept.get() == 0 ? 0 : kept.get() * double(result);
    result = C(scale.get() * sum + before);
  };
  return for_each(handle, name, of_each * unsigned(p.count), element, site);
}

/// Columns of a matrix, or elements of a vector, in host or device memory.
struct Columns {
  const void* data;
  int stride;
};

inline cublasStatus_t copy(dim3 shape, std::size_t size, Columns from, Columns to, cudaMemcpyKind kind) {
  if (from.stride <= 0 || to.stride <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  const cudaError_t error = cudaMemcpy2D(const_cast<void*>(to.data), unsigned(to.stride) * size, from.data,
                                         unsigned(from.stride) * size, shape.x * size, shape.y, kind);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace simt::blas

// --- handles ---
inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}
inline const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS         ? "success"
         : status == CUBLAS_STATUS_INVALID_VALUE ? "an unsupported value or parameter was passed to the function"
                                                 : "the function failed";
}
inline const char* cublasGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
         : status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                                 : "CUBLAS_STATUS_EXECUTION_FAILED";
}

// --- copies ---
#define SIMT_COPIES(Way, kind)                                                                                  \
  inline cublasStatus_t cublas##Way##Vector(int n, int size, const void* x, int incx, void* y, int incy) {      \
    return simt::blas::copy(dim3(1, unsigned(n)), unsigned(size), {x, incx}, {y, incy}, kind);                  \
  }                                                                                                             \
  inline cublasStatus_t cublas##Way##Matrix(int rows, int columns, int size, const void* a, int lda, void* b,   \
                                            int ldb) {                                                          \
    return simt::blas::copy(dim3(unsigned(rows), unsigned(columns)), unsigned(size), {a, lda}, {b, ldb}, kind); \
  }
SIMT_COPIES(Set, cudaMemcpyHostToDevice)
SIMT_COPIES(Get, cudaMemcpyDeviceToHost)
#undef SIMT_COPIES

// --- vectors, and matrices of one type ---
#define SIMT_SITE simt::Site site = simt::Site::here()
#define SIMT_BLAS(S, s, T)                                                                                             \
  inline cublasStatus_t cublas##S##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y,      \
                                        int incy, SIMT_SITE) {                                                         \
    const simt::blas::Factor<T> scale(handle, alpha);                                                                  \
    const simt::blas::Vector<const T> from{x, n, incx};                                                                \
    const simt::blas::Vector<T> to{y, n, incy};                                                                        \
    const auto element = [=](std::size_t i) { to[i] = T(scale.get() * double(from[i]) + double(to[i])); };             \
    return simt::blas::for_each(handle, "cublas" #S "axpy", n < 0 ? 0 : unsigned(n), element, site);                   \
  }                                                                                                                    \
  inline cublasStatus_t cublas##S##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx, SIMT_SITE) {     \
    const simt::blas::Factor<T> scale(handle, alpha);                                                                  \
    const simt::blas::Vector<T> to{x, n, incx};                                                                        \
    const auto element = [=](std::size_t i) { to[i] = T(scale.get() * double(to[i])); };                               \
    return simt::blas::for_each(handle, "cublas" #S "scal", n < 0 ? 0 : unsigned(n), element, site);                   \
  }                                                                                                                    \
  inline cublasStatus_t cublas##S##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy,            \
                                        SIMT_SITE) {                                                                   \
    const simt::blas::Vector<const T> from{x, n, incx};                                                                \
    const simt::blas::Vector<T> to{y, n, incy};                                                                        \
    const auto element = [=](std::size_t i) { to[i] = from[i]; };                                                      \
    return simt::blas::for_each(handle, "cublas" #S "copy", n < 0 ? 0 : unsigned(n), element, site);                   \
  }                                                                                                                    \
  inline cublasStatus_t cublas##S##swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, SIMT_SITE) {     \
    const simt::blas::Vector<T> a{x, n, incx}, b{y, n, incy};                                                          \
    const auto element = [=](std::size_t i) {                                                                          \
      const T kept = a[i];                                                                                             \
      a[i] = b[i];                                                                                                     \
      b[i] = kept;                                                                                                     \
    };                                                                                                                 \
    return simt::blas::for_each(handle, "cublas" #S "swap", n < 0 ? 0 : unsigned(n), element, site);                   \
  }                                                                                                                    \
  inline cublasStatus_t cublas##S##dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy,       \
                                       T* result, SIMT_SITE) {                                                         \
    const simt::blas::Vector<const T> a{x, n, incx}, b{y, n, incy};                                                    \
    const auto sum = [=] {                                                                                             \
      double total = 0;                                                                                                \
      for (int i = 0; i < n; ++i) total += double(a[unsigned(i)]) * double(b[unsigned(i)]);                            \
      return total;                                                                                                    \
    };                                                                                                                 \
    return simt::blas::reduce(handle, "cublas" #S "dot", result, sum, site);                                           \
  }                                                                                                                    \
  inline cublasStatus_t cublas##S##asum(cublasHandle_t handle, int n, const T* x, int incx, T* result, SIMT_SITE) {    \
    const auto sum = [=] {                                                                                             \
      double total = 0;                                                                                                \
      for (int i = 0; i < n; ++i) total += std::fabs(double(x[std::ptrdiff_t(i) * incx]));                             \
      return total;                                                                                                    \
    };                                                                                                                 \
    return simt::blas::reduce(handle, "cublas" #S "asum", result, sum, site);                                          \
  }                                                                                                                    \
  inline cublasStatus_t cublas##S##nrm2(cublasHandle_t handle, int n, const T* x, int incx, T* result, SIMT_SITE) {    \
    const auto norm = [=] {                                                                                            \
      double total = 0;                                                                                                \
      for (int i = 0; i < n; ++i) total = std::hypot(total, double(x[std::ptrdiff_t(i) * incx]));                      \
      return total;                                                                                                    \
    };                                                                                                                 \
    return simt::blas::reduce(handle, "cublas" #S "nrm2", result, norm, site);                                         \
  }                                                                                                                    \
  inline cublasStatus_t cublasI##s##amax(cublasHandle_t handle, int n, const T* x, int incx, int* result, SIMT_SITE) { \
    const auto position = [=] { /* from 1 on; 0: there is none */                                                      \
                                int best = 0;                                                                          \
                                for (int i = 1; i < n; ++i) {                                                          \
                                  if (std::fabs(double(x[i * incx])) > std::fabs(double(x[best * incx]))) best = i;    \
                                }                                                                                      \
                                return n < 1 ? 0 : best + 1;                                                           \
    };                                                                                                                 \
    return simt::blas::reduce(handle, "cublasI" #s "amax", result, position, site);                                    \
  }                                                                                                                    \
  inline cublasStatus_t cublas##S##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha,     \
                                        const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy,      \
                                        SIMT_SITE) {                                                                   \
    const simt::blas::Factor<T> scale(handle, alpha), kept(handle, beta);                                              \
    const simt::blas::Matrix<const T> matrix{a, std::size_t(lda), op != CUBLAS_OP_N};                                  \
    const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;                                   \
    if (m < 0 || n < 0 || lda < m) return CUBLAS_STATUS_INVALID_VALUE;                                                 \
    const simt::blas::Vector<const T> from{x, columns, incx};                                                          \
    const simt::blas::Vector<T> to{y, rows, incy};                                                                     \
    const auto element = [=](std::size_t row) {                                                                        \
      double sum = 0;                                                                                                  \
      for (unsigned j = 0; j < unsigned(columns); ++j) sum += double(matrix(row, j)) * double(from[j]);                \
      to[row] = T(scale.get() * sum + (kept.get() == 0 ? 0 : kept.get() * double(to[row])));                           \
    };                                                                                                                 \
    return simt::blas::for_each(handle, "cublas" #S "gemv", unsigned(rows), element, site);                            \
  }                                                                                                                    \
  inline cublasStatus_t cublas##S##ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx,      \
                                       const T* y, int incy, T* a, int lda, SIMT_SITE) {                               \
    if (m < 0 || n < 0 || lda < m) return CUBLAS_STATUS_INVALID_VALUE;                                                 \
    const simt::blas::Factor<T> scale(handle, alpha);                                                                  \
    const simt::blas::Vector<const T> left{x, m, incx}, right{y, n, incy};                                             \
    const auto element = [=](std::size_t i) {                                                                          \
      const std::size_t row = i % unsigned(m), column = i / unsigned(m);                                               \
      T& result = a[column * unsigned(lda) + row];                                                                     \
      result = T(double(result) + scale.get() * double(left[row]) * double(right[column]));                            \
    };                                                                                                                 \
    return simt::blas::for_each(handle, "cublas" #S "ger", std::size_t(m) * unsigned(n), element, site);               \
  }                                                                                                                    \
  inline cublasStatus_t cublas##S##geam(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,  \
                                        int n, const T* alpha, const T* a, int lda, const T* beta, const T* b,         \
                                        int ldb, T* c, int ldc, SIMT_SITE) {                                           \
    const simt::blas::Factor<T> of_a(handle, alpha), of_b(handle, beta);                                               \
    const simt::blas::Matrix<const T> left{a, std::size_t(lda), op_a != CUBLAS_OP_N};                                  \
    const simt::blas::Matrix<const T> right{b, std::size_t(ldb), op_b != CUBLAS_OP_N};                                 \
    const auto element = [=](std::size_t i) {                                                                          \
      const std::size_t row = i % unsigned(m), column = i / unsigned(m);                                               \
      const double first = of_a.get() == 0 ? 0 : of_a.get() * double(left(row, column));                               \
      const double second = of_b.get() == 0 ? 0 : of_b.get() * double(right(row, column));                             \
      c[column * unsigned(ldc) + row] = T(first + second);                                                             \
    };                                                                                                                 \
    return simt::blas::for_each(handle, "cublas" #S "geam", std::size_t(m) * unsigned(n), element, site);              \
  }
SIMT_BLAS(S, s, float)
SIMT_BLAS(D, d, double)
#undef SIMT_BLAS

#define SIMT_BLAS(S, T)                                                                                                \
  inline cublasStatus_t cublas##S##gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,  \
                                        int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb,        \
                                        const T* beta, T* c, int ldc, SIMT_SITE) {                                     \
    const bool of_a = op_a != CUBLAS_OP_N, of_b = op_b != CUBLAS_OP_N;                                                 \
    const simt::blas::Product<T, T, T> product{m,          n, k, 1, alpha, beta, {a, lda, 0, of_a}, {b, ldb, 0, of_b}, \
                                               {c, ldc, 0}};                                                           \
    return simt::blas::gemm(handle, "cublas" #S "gemm", product, site);                                                \
  }                                                                                                                    \
  inline cublasStatus_t cublas##S##gemmStridedBatched(                                                                 \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const T* alpha,      \
      const T* a, int lda, long long next_a, const T* b, int ldb, long long next_b, const T* beta, T* c, int ldc,      \
      long long next_c, int count, SIMT_SITE) {                                                                        \
    const bool of_a = op_a != CUBLAS_OP_N, of_b = op_b != CUBLAS_OP_N;                                                 \
    const simt::blas::Product<T, T, T> product{                                                                        \
        m, n, k, count, alpha, beta, {a, lda, next_a, of_a}, {b, ldb, next_b, of_b}, {c, ldc, next_c}};                \
    return simt::blas::gemm(handle, "cublas" #S "gemmStridedBatched", product, site);                                  \
  }
SIMT_BLAS(S, float)
SIMT_BLAS(D, double)
SIMT_BLAS(H, __half)
#undef SIMT_BLAS

/// Of float, double, or __half with a result in either precision; other types are not supported. `compute` may also be
/// the type of the factors, as before CUDA 11.
#define SIMT_GEMM_EX(Compute, of_half)                                                                             \
  inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, \
                                     int n, int k, const void* alpha, const void* a, cudaDataType type_a, int lda, \
                                     const void* b, cudaDataType type_b, int ldb, const void* beta, void* c,       \
                                     cudaDataType type_c, int ldc, Compute compute, cublasGemmAlgo_t, SIMT_SITE) { \
    const auto multiply = [&](auto in, auto out, auto factor) {                                                    \
      using In = const decltype(in);                                                                               \
      using Out = decltype(out);                                                                                   \
      using Factor = const decltype(factor);                                                                       \
      const simt::blas::Product<decltype(in), Out, decltype(factor)> product{                                      \
          m,                                                                                                       \
          n,                                                                                                       \
          k,                                                                                                       \
          1,                                                                                                       \
          static_cast<Factor*>(alpha),                                                                             \
          static_cast<Factor*>(beta),                                                                              \
          {static_cast<In*>(a), lda, 0, op_a != CUBLAS_OP_N},                                                      \
          {static_cast<In*>(b), ldb, 0, op_b != CUBLAS_OP_N},                                                      \
          {static_cast<Out*>(c), ldc, 0}};                                                                         \
      return simt::blas::gemm(handle, "cublasGemmEx", product, site);                                              \
    };                                                                                                             \
    if (type_a != type_b) return CUBLAS_STATUS_NOT_SUPPORTED;                                                      \
    if (type_a == CUDA_R_64F && type_c == CUDA_R_64F) return multiply(0.0, 0.0, 0.0);                              \
    if (type_a == CUDA_R_32F && type_c == CUDA_R_32F) return multiply(0.0f, 0.0f, 0.0f);                           \
    if (type_a == CUDA_R_16F && type_c == CUDA_R_32F) return multiply(__half(), 0.0f, 0.0f);                       \
    if (type_a != CUDA_R_16F || type_c != CUDA_R_16F) return CUBLAS_STATUS_NOT_SUPPORTED;                          \
    return compute == of_half ? multiply(__half(), __half(), __half()) : multiply(__half(), __half(), 0.0f);       \
  }
SIMT_GEMM_EX(cublasComputeType_t, CUBLAS_COMPUTE_16F)
SIMT_GEMM_EX(cudaDataType, CUDA_R_16F)
#undef SIMT_GEMM_EX
#undef SIMT_SITE
