// Loads and stores with a cache hint (CUDA C++ Programming Guide, "Load Functions Using Cache Hints").
#pragma once

#include <type_traits>

#include "simt/device.h"
#include "simt/types.h"

namespace simt {

/// The types that one load or store instruction moves: these, and those of small_float.h.
template <class T>
inline constexpr bool is_loadable =
    is_one_of<T, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long, long long,
              unsigned long long, float, double, char2, char4, uchar2, uchar4, short2, short4, ushort2, ushort4, int2,
              int4, uint2, uint4, longlong2, ulonglong2, float2, float4, double2>;
template <class T>
using Loadable = std::enable_if_t<is_loadable<T>, int>;

/// T, but not deduced from this argument.
template <class T>
using Same = std::common_type_t<T>;

/// A load that the compiler must not merge with an earlier one: loops that wait for another block need that.
template <class T>
T load_uncached(const T* address) {
  asm volatile("" ::: "memory");
  atomic_yield();
  return *address;
}

}  // namespace simt

#define SIMT_LOAD(name, load)               \
  template <class T, simt::Loadable<T> = 0> \
  inline T name(const T* address) {         \
    return load(address);                   \
  }
SIMT_LOAD(__ldg, *)
SIMT_LOAD(__ldca, *)
SIMT_LOAD(__ldcs, *)
SIMT_LOAD(__ldlu, *)
SIMT_LOAD(__ldcg, simt::load_uncached)
SIMT_LOAD(__ldcv, simt::load_uncached)
#undef SIMT_LOAD

#define SIMT_STORE(name)                              \
  template <class T, simt::Loadable<T> = 0>           \
  inline void name(T* address, simt::Same<T> value) { \
    *address = value;                                 \
  }
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_STORE
