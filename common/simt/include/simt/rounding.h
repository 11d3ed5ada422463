// Arithmetic of float and double that rounds toward zero, up or down (CUDA Math API, "Single Precision Intrinsics" and
// "Double Precision Intrinsics"). Rounding to nearest is in intrinsics.h.
#pragma once

#include <cmath>
#include <cstdint>

namespace simt {

enum class Toward { zero, above, below };

/// While it lives, this thread's arithmetic rounds in another direction.
class RoundingMode {
 public:
  explicit RoundingMode(Toward toward) : usual_(get()) {
#if defined(__x86_64__)
    constexpr Register bits[] = {3u << 13, 2u << 13, 1u << 13};
#else
    constexpr Register bits[] = {3u << 22, 1u << 22, 2u << 22};
#endif
    set(usual_ | bits[int(toward)]);
  }
  ~RoundingMode() { set(usual_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  // The functions of <cfenv> are the host's: a kernel may not call them.
#if defined(__x86_64__)
  using Register = std::uint32_t;  // MXCSR
  static Register get() { return __builtin_ia32_stmxcsr(); }
  static void set(Register value) { __builtin_ia32_ldmxcsr(value); }
#else
  using Register = std::uint64_t;  // FPCR
  static Register get() {
    Register value;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set(Register value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#endif

  Register usual_;
};

/// operation(x, y, z), where the compiler neither computes it earlier or later nor knows the operands.
template <class T, class Operation>
T rounded(Toward toward, Operation operation, T x, T y = 0, T z = 0) {
  const RoundingMode mode(toward);
  volatile T a = x, b = y, c = z;
  volatile T result = operation(T(a), T(b), T(c));
  return result;
}

}  // namespace simt

#define SIMT_ROUNDED(T, f, fma_name, suffix, toward)                                           \
  inline T __##f##add_##suffix(T x, T y) {                                                     \
    return simt::rounded<T>(toward, [](T a, T b, T) { return a + b; }, x, y);                  \
  }                                                                                            \
  inline T __##f##sub_##suffix(T x, T y) {                                                     \
    return simt::rounded<T>(toward, [](T a, T b, T) { return a - b; }, x, y);                  \
  }                                                                                            \
  inline T __##f##mul_##suffix(T x, T y) {                                                     \
    return simt::rounded<T>(toward, [](T a, T b, T) { return a * b; }, x, y);                  \
  }                                                                                            \
  inline T __##f##div_##suffix(T x, T y) {                                                     \
    return simt::rounded<T>(toward, [](T a, T b, T) { return a / b; }, x, y);                  \
  }                                                                                            \
  inline T fma_name##_##suffix(T x, T y, T z) {                                                \
    return simt::rounded<T>(toward, [](T a, T b, T c) { return std::fma(a, b, c); }, x, y, z); \
  }                                                                                            \
  inline T __##f##rcp_##suffix(T x) {                                                          \
    return simt::rounded<T>(toward, [](T a, T, T) { return 1 / a; }, x);                       \
  }                                                                                            \
  inline T __##f##sqrt_##suffix(T x) {                                                         \
    return simt::rounded<T>(toward, [](T a, T, T) { return std::sqrt(a); }, x);                \
  }
#define SIMT_ROUNDED_ALL(T, f, fma_name)                \
  SIMT_ROUNDED(T, f, fma_name, rz, simt::Toward::zero)  \
  SIMT_ROUNDED(T, f, fma_name, ru, simt::Toward::above) \
  SIMT_ROUNDED(T, f, fma_name, rd, simt::Toward::below)
SIMT_ROUNDED_ALL(float, f, __fmaf)
SIMT_ROUNDED_ALL(double, d, __fma)
#undef SIMT_ROUNDED_ALL
#undef SIMT_ROUNDED
