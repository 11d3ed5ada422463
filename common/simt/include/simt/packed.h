// Integers of 8 and 16 bits that are packed into a word (CUDA Math API, "SIMD Intrinsics" and "Integer Intrinsics").
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace simt {

/// The parts of the words as numbers of type Part, each with `operation` applied.
template <class Part, class Operation>
unsigned by_part(unsigned a, unsigned b, Operation operation) {
  constexpr int bits = 8 * sizeof(Part);
  unsigned result = 0;
  for (int i = 0; i < 32; i += bits) {
    const int value = operation(int(Part(a >> i)), int(Part(b >> i)));
    result |= unsigned(std::make_unsigned_t<Part>(value)) << i;
  }
  return result;
}
template <class Part>
int clamped(int value) {
  constexpr int low = std::numeric_limits<Part>::min(), high = std::numeric_limits<Part>::max();
  return value < low ? low : value > high ? high : value;
}
/// The sum of the products of the parts, and c.
template <class A, class B, class Sum>
Sum dot(unsigned a, unsigned b, Sum c, int parts, int first) {
  for (int i = 0; i < parts; ++i) {
    c += Sum(A(a >> 8 * int(sizeof(A)) * i)) * Sum(B(b >> 8 * int(sizeof(B)) * (first + i)));
  }
  return c;
}

}  // namespace simt

#define SIMT_OF_PARTS(name, Part, formula)                                                   \
  inline unsigned name(unsigned a, unsigned b) {                                             \
    return simt::by_part<Part>(a, b, []([[maybe_unused]] int x, int y) { return formula; }); \
  }
#define SIMT_COMPARED(name, Part, compare) \
  SIMT_OF_PARTS(__vcmp##name, Part, x compare y ? -1 : 0) SIMT_OF_PARTS(__vset##name, Part, x compare y)
#define SIMT_PACKED(parts, Signed, Unsigned)                                                    \
  SIMT_OF_PARTS(__vadd##parts, Unsigned, x + y)                                                 \
  SIMT_OF_PARTS(__vsub##parts, Unsigned, x - y)                                                 \
  SIMT_OF_PARTS(__vaddss##parts, Signed, simt::clamped<Signed>(x + y))                          \
  SIMT_OF_PARTS(__vaddus##parts, Unsigned, simt::clamped<Unsigned>(x + y))                      \
  SIMT_OF_PARTS(__vsubss##parts, Signed, simt::clamped<Signed>(x - y))                          \
  SIMT_OF_PARTS(__vsubus##parts, Unsigned, simt::clamped<Unsigned>(x - y))                      \
  SIMT_OF_PARTS(__vabsdiffs##parts, Signed, x > y ? x - y : y - x)                              \
  SIMT_OF_PARTS(__vabsdiffu##parts, Unsigned, x > y ? x - y : y - x)                            \
  SIMT_OF_PARTS(__vmaxs##parts, Signed, x > y ? x : y)                                          \
  SIMT_OF_PARTS(__vmaxu##parts, Unsigned, x > y ? x : y)                                        \
  SIMT_OF_PARTS(__vmins##parts, Signed, x < y ? x : y)                                          \
  SIMT_OF_PARTS(__vminu##parts, Unsigned, x < y ? x : y)                                        \
  SIMT_OF_PARTS(__vavgs##parts, Signed, (x + y + (x + y >= 0)) >> 1)                            \
  SIMT_OF_PARTS(__vavgu##parts, Unsigned, (x + y + 1) >> 1)                                     \
  SIMT_OF_PARTS(__vhaddu##parts, Unsigned, (x + y) >> 1)                                        \
  SIMT_COMPARED(eq##parts, Unsigned, ==)                                                        \
  SIMT_COMPARED(ne##parts, Unsigned, !=)                                                        \
  SIMT_COMPARED(ges##parts, Signed, >=)                                                         \
  SIMT_COMPARED(geu##parts, Unsigned, >=)                                                       \
  SIMT_COMPARED(gts##parts, Signed, >)                                                          \
  SIMT_COMPARED(gtu##parts, Unsigned, >)                                                        \
  SIMT_COMPARED(les##parts, Signed, <=)                                                         \
  SIMT_COMPARED(leu##parts, Unsigned, <=)                                                       \
  SIMT_COMPARED(lts##parts, Signed, <)                                                          \
  SIMT_COMPARED(ltu##parts, Unsigned, <)                                                        \
  inline unsigned __vneg##parts(unsigned a) { return __vsub##parts(0, a); }                     \
  inline unsigned __vnegss##parts(unsigned a) { return __vsubss##parts(0, a); }                 \
  inline unsigned __vabs##parts(unsigned a) { return __vabsdiffs##parts(a, 0); }                \
  inline unsigned __vabsss##parts(unsigned a) { return __vmaxs##parts(a, __vnegss##parts(a)); } \
  inline unsigned __vsads##parts(unsigned a, unsigned b) {                                      \
    unsigned sum = 0;                                                                           \
    const unsigned differences = __vabsdiffs##parts(a, b);                                      \
    for (int i = 0; i < parts; ++i) sum += Unsigned(differences >> i * 32 / parts);             \
    return sum;                                                                                 \
  }                                                                                             \
  inline unsigned __vsadu##parts(unsigned a, unsigned b) {                                      \
    unsigned sum = 0;                                                                           \
    const unsigned differences = __vabsdiffu##parts(a, b);                                      \
    for (int i = 0; i < parts; ++i) sum += Unsigned(differences >> i * 32 / parts);             \
    return sum;                                                                                 \
  }
SIMT_PACKED(2, std::int16_t, std::uint16_t)
SIMT_PACKED(4, std::int8_t, std::uint8_t)
#undef SIMT_PACKED
#undef SIMT_COMPARED
#undef SIMT_OF_PARTS

inline int __dp4a(int a, int b, int c) {
  return int(simt::dot<std::int8_t, std::int8_t>(unsigned(a), unsigned(b), c, 4, 0));
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return simt::dot<std::uint8_t, std::uint8_t>(a, b, c, 4, 0);
}
inline int __dp2a_lo(int a, int b, int c) {
  return simt::dot<std::int16_t, std::int8_t>(unsigned(a), unsigned(b), c, 2, 0);
}
inline int __dp2a_hi(int a, int b, int c) {
  return simt::dot<std::int16_t, std::int8_t>(unsigned(a), unsigned(b), c, 2, 2);
}
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return simt::dot<std::uint16_t, std::uint8_t>(a, b, c, 2, 0);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return simt::dot<std::uint16_t, std::uint8_t>(a, b, c, 2, 2);
}
