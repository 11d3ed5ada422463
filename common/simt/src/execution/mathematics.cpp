// Functions of the C library whose results on a GPU differ from those on this processor: the program's calls come here
// instead. Host code gets what the C library computes.
#include <cmath>

#include "simt/conversions.h"
#include "simt/intrinsics.h"
#include "simt/launch.h"

namespace simt {
namespace {

/// Quiet NaNs have the highest bit of the fraction.
bool is_signaling(float x) { return x != x && (bit_cast<std::uint32_t>(x) >> 22 & 1) == 0; }
bool is_signaling(double x) { return x != x && (bit_cast<std::uint64_t>(x) >> 51 & 1) == 0; }

template <class Float>
Float smaller_on_host(Float x, Float y) {
  if (x <= y) return x;
  if (x > y) return y;
  if (is_signaling(x) || is_signaling(y)) return x + y;
  return y != y ? x : y;
}
template <class Float>
Float larger_on_host(Float x, Float y) {
  if (x >= y) return x;
  if (x < y) return y;
  if (is_signaling(x) || is_signaling(y)) return x + y;
  return y != y ? x : y;
}

/// On the host, the processor's result for what is out of range.
template <class Integer, class Float>
__attribute__((no_sanitize("undefined"))) Integer integer_of(Float whole) {
  return is_in_kernel() ? to_integer<Integer>(whole) : Integer(whole);
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {
float fminf(float x, float y) noexcept { return is_in_kernel() ? smaller(x, y) : smaller_on_host(x, y); }
float fmaxf(float x, float y) noexcept { return is_in_kernel() ? larger(x, y) : larger_on_host(x, y); }
double fmin(double x, double y) noexcept { return is_in_kernel() ? smaller(x, y) : smaller_on_host(x, y); }
double fmax(double x, double y) noexcept { return is_in_kernel() ? larger(x, y) : larger_on_host(x, y); }

long lrintf(float x) noexcept { return integer_of<long>(std::rint(x)); }
long lrint(double x) noexcept { return integer_of<long>(std::rint(x)); }
long long llrintf(float x) noexcept { return integer_of<long long>(std::rint(x)); }
long long llrint(double x) noexcept { return integer_of<long long>(std::rint(x)); }
long lroundf(float x) noexcept { return integer_of<long>(std::round(x)); }
long lround(double x) noexcept { return integer_of<long>(std::round(x)); }
long long llroundf(float x) noexcept { return integer_of<long long>(std::round(x)); }
long long llround(double x) noexcept { return integer_of<long long>(std::round(x)); }
}
