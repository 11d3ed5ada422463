// Functions of the CUDA Math API that the C library lacks, integers packed into words, and random numbers.
#include <cuComplex.h>
#include <cmath>

#include "expect.h"

namespace {

__global__ void compute(double* out, const double* in) {
  int i = 0;
  const double x = in[0];  // 0.3
  double sine, cosine;
  sincospi(x, &sine, &cosine);
  out[i++] = sine, out[i++] = cosine;
  out[i++] = sinpi(2 + x), out[i++] = cospi(x - 3), out[i++] = sinpi(7 * in[1]), out[i++] = cospi(0.5 * in[1]);
  out[i++] = erf(erfinv(x)), out[i++] = erf(erfinv(-0.999)), out[i++] = erfc(erfcinv(x));
  out[i++] = erfc(erfcinv(1e-100 * in[1])) * 1e100;
  out[i++] = normcdf(normcdfinv(x)), out[i++] = normcdfinv(0.975 * in[1]);
  out[i++] = erfcx(30 * in[1]), out[i++] = rhypot(3 * in[1], 4), out[i++] = norm3d(1, 2, 2 * in[1]);
  out[i++] = cyl_bessel_i0(2 * in[1]), out[i++] = cyl_bessel_i1(40 * in[1]) * 1e-16;
  out[i++] = normcdfinvf(float(x));
  const cuDoubleComplex product = cuCmul(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, x));
  const cuDoubleComplex ratio = cuCdiv(product, make_cuDoubleComplex(3, x));
  out[i++] = cuCreal(product), out[i++] = cuCimag(ratio), out[i++] = cuCabs(make_cuDoubleComplex(3, 4 * in[1]));
}

__global__ void pack(unsigned* out, const unsigned* in) {
  const unsigned a = in[0], b = in[1];  // 0x01ff7f80, 0x02020202
  int i = 0;
  out[i++] = __vadd4(a, b), out[i++] = __vaddss4(a, b), out[i++] = __vaddus4(a, b), out[i++] = __vsub2(a, b);
  out[i++] = __vabsdiffu4(a, b), out[i++] = __vsadu4(a, b), out[i++] = __vmaxs4(a, b), out[i++] = __vminu4(a, b);
  out[i++] = __vcmpgtu4(a, b), out[i++] = __vcmplts4(a, b), out[i++] = __vsetgtu4(a, b), out[i++] = __vavgu4(a, b);
  out[i++] = unsigned(__dp4a(int(a), int(b), 5)), out[i++] = __dp4a(a, b, 5u);
  out[i++] = __dp2a_lo(a, b, 0u);
}

}  // namespace

// What the C library computes in another way: NaNs, of which an H100 makes certain bits, and integers out of range.
__device__ float of_bits(unsigned bits) { return __uint_as_float(bits); }
__device__ double of_bits(unsigned long long bits) { return __longlong_as_double((long long)bits); }
__device__ unsigned bits_of(float x) { return __float_as_uint(x); }
__device__ unsigned long long bits_of(double x) { return (unsigned long long)__double_as_longlong(x); }

// Its arguments are no constants, because nvcc computes with those as the C library does.
__global__ void extremes(unsigned long long* out, unsigned signaling_bits, unsigned long long double_bits, float zero) {
  const float one = zero + 1, signaling = of_bits(signaling_bits), quiet = of_bits(signaling_bits | 0x80400000u);
  *out++ = bits_of(fminf(signaling, one));
  *out++ = bits_of(fmaxf(one, signaling));
#ifdef __clang__  // std::fmin becomes an instruction of the processor there
  *out++ = bits_of(fminf(signaling, quiet));
#else
  *out++ = bits_of(std::fmin(signaling, quiet));
#endif
  *out++ = bits_of(fmaxf(-zero, zero));
  const double two = 2 + double(zero), double_signaling = of_bits(double_bits);
  *out++ = bits_of(fmin(double_signaling, two));
  *out++ = bits_of(fmax(two, double_signaling));
}

__global__ void whole(long long* out, float big, double not_a_number) {
  *out++ = lrintf(big);
  *out++ = llrintf(-big);
  *out++ = lroundf(big);
  *out++ = llroundf(-big);
  *out++ = lrint(double(big));
  *out++ = llround(double(-big));
  *out++ = lrint(not_a_number);
  *out++ = llround(not_a_number);
  *out++ = lrintf(2.5f);
  *out++ = llround(2.5);
}

void out_of_range() {
  Array<unsigned long long> bits(6);
  extremes<<<1, 1>>>(bits.data(), 0x7f800001u, 0x7ff0000000000001ull, 0);
  const std::vector<unsigned long long> expected = {0x3f800000, 0x3f800000,          0x7fffffff,
                                                    0,          0x4000000000000000u, 0x4000000000000000u};
  EXPECT(bits.values() == expected);
  Array<long long> numbers(10);
  whole<<<1, 1>>>(numbers.data(), 1e30f, NAN);
  constexpr long long lowest = -0x7fffffffffffffffll - 1, highest = 0x7fffffffffffffffll;
  const std::vector<long long> integers = {highest, lowest, highest, lowest, highest, lowest, lowest, lowest, 2, 3};
  EXPECT(numbers.values() == integers);
  EXPECT(fmaxf(-1.0f, 2.0f) == 2 && fmin(-1.0, 2.0) == -1 && lrint(2.5) == 2 && llroundf(2.5f) == 3);
}

int main() {
  Array<double> in(2), out(21);
  in.fill([](int i) { return i == 0 ? 0.3 : 1.0; });
  compute<<<1, 1>>>(out.data(), in.data());
  const std::vector<double> expected = {0.8090169943749475,
                                        0.5877852522924731,
                                        0.8090169943749475,
                                        -0.5877852522924731,
                                        0,
                                        0,
                                        0.3,
                                        -0.999,
                                        0.3,
                                        1,
                                        0.3,
                                        1.959963984540054,
                                        0.01879588886141675,
                                        0.2,
                                        3,
                                        2.279585302336067,
                                        1.4707396163259352,
                                        -0.5244005127080407,
                                        2.4,
                                        2,
                                        5};
  const auto numbers = out.values();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool is_right = std::fabs(numbers[i] - expected[i]) <= (i == 17 ? 1e-6 : 1e-12);
    if (!is_right) std::printf("number %d: %.17g\n", int(i), numbers[i]);
    EXPECT(is_right);
  }

  Array<unsigned> words(2), packed(15);
  words.fill([](int i) { return i == 0 ? 0x01ff7f80u : 0x02020202u; });
  pack<<<1, 1>>>(packed.data(), words.data());
  const auto results = packed.values();
  const std::vector<unsigned> of_words = {0x03018182, 0x03017f82, 0x03ff8182, 0xfffd7d7e, 0x01fd7d7e,
                                          505,        0x02027f02, 0x01020202, 0x00ffffff, 0xffff00ff,
                                          0x00010101, 0x02814141, 3,          1027,       66302};
  for (std::size_t i = 0; i < of_words.size(); ++i) {
    if (results[i] != of_words[i]) std::printf("word %d: %#x\n", int(i), results[i]);
    EXPECT(results[i] == of_words[i]);
  }
  out_of_range();
  return finish();
}
