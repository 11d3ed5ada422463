// An order of keys as a comparison, for kernels that accept any comparison.
#pragma once

#include <type_traits>

#include "step/keys.h"
#include "step/on_cpu.h"

namespace lab {

/// An order that is known at compile time.
template <Order order>
struct FixedOrder {
  LAB_HOST_DEVICE constexpr operator Order() const { return order; }
};

/// Compares by an order. AnOrder is a FixedOrder or, on a CPU, Order itself, because to compile each kernel for both
/// orders would take twice as long.
template <class AnOrder>
struct InOrder {
  AnOrder order;

  template <class Key>
  LAB_HOST_DEVICE bool operator()(Key a, Key b) const {
    return before(a, b, order);
  }
};

/// True for an InOrder, by which different integers are never equal.
template <class Before>
inline constexpr bool is_order = false;
template <class AnOrder>
inline constexpr bool is_order<InOrder<AnOrder>> = true;

/// Calls f(comparison): the comparison is `before` itself or, if `before` is an Order, the InOrder for it.
template <class Before, class F>
void with_comparison(Before before, F&& f) {
  if constexpr (!std::is_same_v<Before, Order>) {
    f(before);
  } else if constexpr (on_cpu) {
    f(InOrder<Order>{before});
  } else if (before == Order::ascending) {
    f(InOrder<FixedOrder<Order::ascending>>{});
  } else {
    f(InOrder<FixedOrder<Order::descending>>{});
  }
}

}  // namespace lab
