// What the rewriter (common/simt/rewrite/assembly.py) makes of inline PTX: special registers, and instructions for which
// C++ has no operator (PTX ISA, "Special Registers" and "Instruction Set"). Approximations give exact functions' results.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simt/device.h"
#include "simt/intrinsics.h"

namespace simt {

int multiprocessors();

}  // namespace simt

namespace simt::ptx {

/// An operand as an instruction of type T reads it: the same bits if the sizes agree.
template <class T, class Operand>
T get(Operand operand) {
  if constexpr (sizeof(T) == sizeof(Operand)) {
    return bit_cast<T>(operand);
  } else {
    return T(operand);
  }
}
template <class T>
T get(bool operand) {
  return T(operand);
}

/// Writes a result in the same way.
template <class Destination, class T>
void put(Destination& destination, T value) {
  destination = get<Destination>(value);
}
template <class T>
void put(bool& destination, T value) {
  destination = bool(value);
}

// --- special registers ---
/// As __byte_perm(), but if bit 3 of a digit is set, the result has copies of the selected byte's sign instead.
inline unsigned prmt(unsigned a, unsigned b, unsigned selector) {
  const unsigned selected = __byte_perm(a, b, selector);
  unsigned result = 0;
  for (int i = 0; i < 32; i += 8) {
    const unsigned byte = selected >> i & 0xff;
    const bool is_sign = (selector >> (i / 2) & 8) != 0;
    result |= (!is_sign ? byte : byte >= 0x80 ? 0xff : 0) << i;
  }
  return result;
}

inline unsigned thread_in_block() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
inline unsigned block_in_grid() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
/// A block is on one multiprocessor until it ends, and neighbours are on different ones.
inline unsigned smid() { return block_in_grid() % unsigned(multiprocessors()); }
inline unsigned nsmid() { return unsigned(multiprocessors()); }
inline unsigned laneid() { return thread_in_block() % warpSize; }
inline unsigned warpid() { return thread_in_block() / warpSize; }
inline unsigned nwarpid() { return (blockDim.x * blockDim.y * blockDim.z + warpSize - 1) / warpSize; }
inline unsigned lanemask_eq() { return 1u << laneid(); }
inline unsigned lanemask_lt() { return lanemask_eq() - 1; }
inline unsigned lanemask_le() { return lanemask_lt() | lanemask_eq(); }
inline unsigned lanemask_gt() { return ~lanemask_le(); }
inline unsigned lanemask_ge() { return ~lanemask_lt(); }

// --- shared memory ---
/// The address of something in shared memory, as the instructions for that memory take it, in 32 bits: the distance
/// from the block's dynamic shared memory, or with the highest bit, from where the other arrays are.
std::uint32_t address_in_shared(const void* pointer);
std::uintptr_t pointer_to_shared(std::uint32_t address);
template <class Operand>
std::uintptr_t in_shared(Operand address) {
  return pointer_to_shared(std::uint32_t(address));
}
/// Copies `length` bytes, and fills up with zeros.
inline void copy(std::uintptr_t to, std::uintptr_t from, unsigned bytes, unsigned length) {
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), length);
  if (length < bytes) std::memset(reinterpret_cast<char*>(to) + length, 0, bytes - length);
}
inline void copy(std::uintptr_t to, std::uintptr_t from, unsigned bytes) { copy(to, from, bytes, bytes); }

// --- instructions ---
/// How many lanes exchange values in a shuffle with this operand (PTX ISA, "shfl.sync", operand c).
inline int width(unsigned operand) { return 32 - int(operand >> 8 & 31); }

template <class T>
T add(T a, T b, bool carry_in, bool& carry) {
  T sum;
  const bool first = __builtin_add_overflow(a, b, &sum);
  carry = __builtin_add_overflow(sum, T(carry_in), &sum) || first;
  return sum;
}
template <class T>
T subtract(T a, T b, bool borrow_in, bool& borrow) {
  T difference;
  const bool first = __builtin_sub_overflow(a, b, &difference);
  borrow = __builtin_sub_overflow(difference, T(borrow_in), &difference) || first;
  return difference;
}

/// A shift by the type's bits or more leaves nothing, or the sign's copies.
template <class T>
T shl(T value, unsigned bits) {
  return bits >= 8 * sizeof(T) ? T(0) : T(std::make_unsigned_t<T>(value) << bits);
}
template <class T>
T shr(T value, unsigned bits) {
  constexpr unsigned last = 8 * sizeof(T) - 1;
  if (bits <= last) return T(value >> bits);
  return std::is_signed_v<T> ? T(value >> last) : T(0);
}

/// The product in twice the type's bits.
__extension__ using Wide = __int128;
template <class T>
auto wide(T a, T b) {
  using Product = std::conditional_t<
      sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int, unsigned>,
      std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>, Wide>>;
  return Product(Product(a) * Product(b));
}
template <class T>
T high(T a, T b) {
  return T(wide(a, b) >> (8 * sizeof(T)));
}
inline unsigned long long high(unsigned long long a, unsigned long long b) { return __umul64hi(a, b); }

/// `length` bits from `first` on; the bits above are zero, or copies of the field's highest one if T is signed.
template <class T>
T bfe(T value, unsigned first, unsigned length) {
  constexpr unsigned last = 8 * sizeof(T) - 1;
  const auto bit = [value](unsigned i) { return std::uint64_t(value) >> i & 1; };
  first &= 0xff, length &= 0xff;
  const std::uint64_t sign = std::is_signed_v<T> && length != 0 ? bit(min(first + length - 1, last)) : 0;
  std::uint64_t field = 0;
  for (unsigned i = 0; i <= last; ++i) field |= (i < length && first + i <= last ? bit(first + i) : sign) << i;
  return T(field);
}
/// `into`, with the low `length` bits of `field` from `first` on.
template <class T>
T bfi(T field, T into, unsigned first, unsigned length) {
  first &= 0xff, length &= 0xff;
  for (unsigned i = 0; i < length && first + i < 8 * sizeof(T); ++i) {
    into = T((into & ~(T(1) << (first + i))) | (field >> i & 1) << (first + i));
  }
  return into;
}
/// The position of the highest set bit (of a negative number, of the highest clear one); ~0: there is none.
template <class T>
unsigned bfind(T value) {
  const auto bits = std::make_unsigned_t<T>(value < 0 ? ~value : value);
  return bits == 0 ? ~0u : 63 - unsigned(__builtin_clzll(bits));
}
/// Any function of three bits: bit 4a + 2b + c of `table` is the result.
inline unsigned lop3(unsigned a, unsigned b, unsigned c, unsigned table) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) {
    const unsigned index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
    result |= (table >> index & 1) << i;
  }
  return result;
}

}  // namespace simt::ptx

inline std::size_t __cvta_generic_to_shared(const void* pointer) { return simt::ptx::address_in_shared(pointer); }
inline void* __cvta_shared_to_generic(std::size_t address) {
  return reinterpret_cast<void*>(simt::ptx::pointer_to_shared(std::uint32_t(address)));
}
inline std::size_t __cvta_generic_to_global(const void* pointer) { return reinterpret_cast<std::size_t>(pointer); }
