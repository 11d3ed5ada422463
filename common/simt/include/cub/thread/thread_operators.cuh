// Function objects that combine or compare values (CUB, "Utilities"). CUB 3 has those of libcu++ instead.
#pragma once

#include "../util_type.cuh"

namespace cub {

#define SIMT_OPERATOR(name, combined)     \
  struct name {                           \
    template <class A, class B>           \
    auto operator()(A&& a, B&& b) const { \
      return combined;                    \
    }                                     \
  };
SIMT_OPERATOR(Equality, a == b)
SIMT_OPERATOR(Inequality, a != b)
SIMT_OPERATOR(Sum, a + b)
SIMT_OPERATOR(Difference, a - b)
SIMT_OPERATOR(Division, a / b)
SIMT_OPERATOR(Max, b > a ? b : a)
SIMT_OPERATOR(Min, b < a ? b : a)
#undef SIMT_OPERATOR

/// Of equal values, the one with the lower key.
struct ArgMax {
  template <class Key, class T>
  KeyValuePair<Key, T> operator()(const KeyValuePair<Key, T>& a, const KeyValuePair<Key, T>& b) const {
    return b.value > a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class Key, class T>
  KeyValuePair<Key, T> operator()(const KeyValuePair<Key, T>& a, const KeyValuePair<Key, T>& b) const {
    return b.value < a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};

}  // namespace cub
