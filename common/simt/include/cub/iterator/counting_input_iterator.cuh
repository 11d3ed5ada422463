// CountingInputIterator (CUB, "Iterators"). CUB 3 has those of Thrust and libcu++ instead.
#pragma once

#include "../detail/indexed_iterator.cuh"

namespace cub {

/// first, first + 1, and so on.
template <class T, class Offset = std::ptrdiff_t>
class CountingInputIterator : public detail::IndexedIterator<CountingInputIterator<T, Offset>, T> {
 public:
  explicit CountingInputIterator(T first) : first_(first) {}
  T at(std::ptrdiff_t i) const { return T(first_ + T(i)); }

 private:
  T first_;
};

}  // namespace cub
