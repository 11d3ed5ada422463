// What the iterators have in common.
#pragma once

#include <cstddef>
#include <iterator>

namespace cub::detail {

/// An iterator whose values Self::at(position) computes.
template <class Self, class T>
class IndexedIterator {
 public:
  using value_type = T;
  using reference = T;
  using pointer = T*;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;

  T operator*() const { return self().at(position_); }
  T operator[](difference_type i) const { return self().at(position_ + i); }
  Self& operator+=(difference_type n) {
    position_ += n;
    return static_cast<Self&>(*this);
  }
  Self& operator-=(difference_type n) { return *this += -n; }
  Self& operator++() { return *this += 1; }
  Self& operator--() { return *this += -1; }
  Self operator++(int) {
    const Self before = self();
    ++*this;
    return before;
  }
  Self operator+(difference_type n) const {
    Self sum = self();
    sum += n;
    return sum;
  }
  Self operator-(difference_type n) const { return *this + -n; }
  difference_type operator-(const IndexedIterator& other) const { return position_ - other.position_; }
  bool operator==(const IndexedIterator& other) const { return position_ == other.position_; }
  bool operator!=(const IndexedIterator& other) const { return position_ != other.position_; }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }

  difference_type position_ = 0;
};

}  // namespace cub::detail
