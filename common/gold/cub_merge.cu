// cub::DeviceMergeSort for keys of one type: GOLD_KEY, and GOLD_VALUE if they have values (meson.build defines both).
#include <cub/device/device_merge_sort.cuh>

#include "gold/cub_memory.h"

namespace gold {
namespace {

struct Before {
  Order order;
  template <class Key>
  __host__ __device__ bool operator()(const Key& a, const Key& b) const {
    return lab::before(a, b, order);
  }
};

}  // namespace

template <class Key>
void merge(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  with_temporary([&](void* memory, std::size_t& bytes) {
    return cub::DeviceMergeSort::StableSortKeys(memory, bytes, keys.data, keys.n, Before{order}, stream);
  });
}

template <class Key, class Value>
void merge(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream) {
  require_default_shape(shape);
  with_temporary([&](void* memory, std::size_t& bytes) {
    return cub::DeviceMergeSort::StableSortPairs(memory, bytes, keys.data, values.data, keys.n, Before{order}, stream);
  });
}

#ifdef GOLD_VALUE
template void merge(Span<GOLD_KEY>, Span<GOLD_VALUE>, Order, LaunchShape, cudaStream_t);
#else
template void merge(Span<GOLD_KEY>, Order, LaunchShape, cudaStream_t);
#endif

}  // namespace gold
