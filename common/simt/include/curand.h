// The host functions of cuRAND that most programs use (cuRAND Library, "Host API"). A kernel computes the numbers,
// which have the right distribution, but are others than those of a GPU.
#pragma once

#define CURAND_H_  // the header of the same name that curand_kernel.h finds is not read

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "cuda_runtime.h"

enum curandStatus_t {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
using curandStatus = curandStatus_t;
enum curandRngType_t {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161
};
using curandRngType = curandRngType_t;

// What the headers of curand_kernel.h need besides.
using curandDirectionVectors32_t = unsigned[32];
using curandDirectionVectors64_t = unsigned long long[64];
using curandDistribution_st = double;
using curandDistribution_t = double*;
using curandHistogramM2K_st = unsigned;
using curandHistogramM2K_t = unsigned*;
using curandHistogramM2V_st = double;
using curandHistogramM2V_t = double*;
using curandHistogramM2_t = struct curandHistogramM2_st*;
using curandDistributionShift_t = struct curandDistributionShift_st*;
using curandDistributionM2Shift_t = struct curandDistributionM2Shift_st*;
using curandDiscreteDistribution_t = struct curandDiscreteDistribution_st*;
enum curandMethod {
  CURAND_CHOOSE_BEST,
  CURAND_ITR,
  CURAND_KNUTH,
  CURAND_HITR,
  CURAND_M1,
  CURAND_M2,
  CURAND_BINARY_SEARCH,
  CURAND_DISCRETE_GAUSS,
  CURAND_REJECTION,
  CURAND_DEVICE_API,
  CURAND_FAST_REJECTION,
  CURAND_3RD,
  CURAND_DEFINITION,
  CURAND_POISSON
};
using curandMethod_t = curandMethod;

struct curandGenerator_st {
  std::uint64_t seed = 0, drawn = 0;
  cudaStream_t stream = nullptr;
  bool is_for_host = false;
};
using curandGenerator_t = curandGenerator_st*;

namespace simt::random {

/// The number at a position of a sequence (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014).
inline std::uint64_t bits(std::uint64_t seed, std::uint64_t position) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (position + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
/// In (0, 1], as cuRAND's are.
inline double uniform(std::uint64_t seed, std::uint64_t position) {
  return double((bits(seed, position) >> 11) + 1) * 0x1p-53;
}
inline double normal(std::uint64_t seed, std::uint64_t position) {
  const double radius = std::sqrt(-2 * std::log(uniform(seed, position)));
  return radius * std::sin(6.283185307179586 * uniform(~seed, position));
}

template <class T, class Value>
curandStatus_t generate(curandGenerator_t generator, const char* name, T* out, std::size_t n, const Value& value,
                        Site site) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (n == 0) return CURAND_STATUS_SUCCESS;
  const std::uint64_t first = generator->drawn, seed = generator->seed;
  generator->drawn += n;
  if (generator->is_for_host) {
    for (std::size_t i = 0; i < n; ++i) out[i] = value(seed, first + i);
    return CURAND_STATUS_SUCCESS;
  }
  constexpr unsigned block = 128;
  const LaunchConfig config(dim3(unsigned((n + block - 1) / block)), dim3(block), 0, generator->stream);
  const auto thread = [seed, first, value](auto& to, auto& end) {
    const std::size_t i = std::size_t(blockIdx.x) * block + threadIdx.x;
    if (i < end) to[i] = value(seed, first + i);
  };
  launch([](auto& call, auto& to, auto& end) { call(to, end); }, name, site.file, site.line, config, thread, out, n);
  return cudaPeekAtLastError() == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

}  // namespace simt::random

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t) {
  *generator = new curandGenerator_st;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  const curandStatus_t status = curandCreateGenerator(generator, type);
  (*generator)->is_for_host = true;
  return status;
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  generator->seed = seed;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  generator->drawn = offset;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}

#define SIMT_SITE simt::Site site = simt::Site::here()
inline curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* out, std::size_t n, SIMT_SITE) {
  const auto value = [](std::uint64_t seed, std::uint64_t i) { return unsigned(simt::random::bits(seed, i) >> 32); };
  return simt::random::generate(generator, "curandGenerate", out, n, value, site);
}
#define SIMT_RANDOM(T, Double)                                                                                         \
  inline curandStatus_t curandGenerateUniform##Double(curandGenerator_t generator, T* out, std::size_t n, SIMT_SITE) { \
    const auto value = [](std::uint64_t seed, std::uint64_t i) { return T(simt::random::uniform(seed, i)); };          \
    return simt::random::generate(generator, "curandGenerateUniform" #Double, out, n, value, site);                    \
  }                                                                                                                    \
  inline curandStatus_t curandGenerateNormal##Double(curandGenerator_t generator, T* out, std::size_t n, T mean,       \
                                                     T deviation, SIMT_SITE) {                                         \
    const auto value = [=](std::uint64_t seed, std::uint64_t i) {                                                      \
      return T(mean + deviation * simt::random::normal(seed, i));                                                      \
    };                                                                                                                 \
    return simt::random::generate(generator, "curandGenerateNormal" #Double, out, n, value, site);                     \
  }                                                                                                                    \
  inline curandStatus_t curandGenerateLogNormal##Double(curandGenerator_t generator, T* out, std::size_t n, T mean,    \
                                                        T deviation, SIMT_SITE) {                                      \
    const auto value = [=](std::uint64_t seed, std::uint64_t i) {                                                      \
      return T(std::exp(mean + deviation * simt::random::normal(seed, i)));                                            \
    };                                                                                                                 \
    return simt::random::generate(generator, "curandGenerateLogNormal" #Double, out, n, value, site);                  \
  }
SIMT_RANDOM(float, )
SIMT_RANDOM(double, Double)
#undef SIMT_RANDOM
#undef SIMT_SITE
