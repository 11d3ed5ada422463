// TransformInputIterator (CUB, "Iterators"). CUB 3 has those of Thrust and libcu++ instead.
#pragma once

#include "../detail/indexed_iterator.cuh"

namespace cub {

/// The operator's results for another iterator's values.
template <class T, class Op, class Iterator, class Offset = std::ptrdiff_t>
class TransformInputIterator : public detail::IndexedIterator<TransformInputIterator<T, Op, Iterator, Offset>, T> {
 public:
  TransformInputIterator(Iterator from, Op op) : from_(from), op_(op) {}
  T at(std::ptrdiff_t i) const { return T(op_(from_[i])); }

 private:
  Iterator from_;
  mutable Op op_;  // whose operator() need not be const
};

}  // namespace cub
