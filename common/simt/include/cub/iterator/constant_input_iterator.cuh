// ConstantInputIterator (CUB, "Iterators"). CUB 3 has those of Thrust and libcu++ instead.
#pragma once

#include "../detail/indexed_iterator.cuh"

namespace cub {

/// The same value everywhere.
template <class T, class Offset = std::ptrdiff_t>
class ConstantInputIterator : public detail::IndexedIterator<ConstantInputIterator<T, Offset>, T> {
 public:
  explicit ConstantInputIterator(T value) : value_(value) {}
  T at(std::ptrdiff_t) const { return value_; }

 private:
  T value_;
};

}  // namespace cub
