// The gold standard on a GPU: CUB's sorts, as a runner with a table of its own, timed the way every step is.
// CUB sorts from one array into another or back and forth between two; the contract of a step is in place, so where
// CUB's result ends in the second array (an odd number of passes: one-byte keys) a copy belongs to its time. Scratch is
// allocated in the warm-up run and kept, so that none of CUB's time is allocation.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/cub.cuh>

#include <limits>

#include "runner/runner.h"
#include "step/device_array.h"
#include "step/error.h"
#include "step/step.h"

namespace {

using lab::LaunchShape;
using lab::Order;
using lab::Span;

// Device memory that is kept from call to call, and only grows. It belongs to no call's stream.
class Scratch {
 public:
  char* at_least(std::int64_t bytes) {
    if (bytes > memory_.size()) {
      memory_ = {};
      memory_ = lab::DeviceArray<char>(bytes, nullptr);
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    return memory_.data();
  }

 private:
  lab::DeviceArray<char> memory_;
};

template <class T>
T* second_array(std::int64_t n) {
  static Scratch scratch;
  return reinterpret_cast<T*>(scratch.at_least(n * std::int64_t{sizeof(T)} + 1));
}

// CUB's calls come in pairs: the first, without memory, says how much it needs.
template <class Call>
void with_temporary(Call&& call) {
  static Scratch scratch;
  std::size_t bytes = 0;
  CUDA_CHECK(call(nullptr, bytes));
  CUDA_CHECK(call(scratch.at_least(static_cast<std::int64_t>(bytes) + 1), bytes));
}

template <class T>
void bring_home(cub::DoubleBuffer<T>& buffer, Span<T> home, cudaStream_t stream) {
  if (buffer.Current() == home.data) return;
  CUDA_CHECK(cudaMemcpyAsync(home.data, buffer.Current(), home.n * sizeof(T), cudaMemcpyDeviceToDevice, stream));
}

// CUB's calls take no launch shape, and the runner's table no step that ignores one.
void refuse_shape(LaunchShape shape) {
  if (shape.blocks != 0 || shape.threads != 0) throw lab::Unsupported("CUB chooses its own launch shapes");
}

template <class Key>
void radix(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  refuse_shape(shape);
  cub::DoubleBuffer<Key> buffer(keys.data, second_array<Key>(keys.n));
  with_temporary([&](void* memory, std::size_t& bytes) {
    return order == Order::ascending
               ? cub::DeviceRadixSort::SortKeys(memory, bytes, buffer, keys.n, 0, 8 * sizeof(Key), stream)
               : cub::DeviceRadixSort::SortKeysDescending(memory, bytes, buffer, keys.n, 0, 8 * sizeof(Key), stream);
  });
  bring_home(buffer, keys, stream);
}

template <class Key, class Value>
void radix(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream) {
  refuse_shape(shape);
  Key* const second = second_array<Key>(2 * keys.n);
  cub::DoubleBuffer<Key> key_buffer(keys.data, second);
  cub::DoubleBuffer<Value> value_buffer(values.data, second + keys.n);
  with_temporary([&](void* memory, std::size_t& bytes) {
    return order == Order::ascending ? cub::DeviceRadixSort::SortPairs(memory, bytes, key_buffer, value_buffer, keys.n,
                                                                       0, 8 * sizeof(Key), stream)
                                     : cub::DeviceRadixSort::SortPairsDescending(
                                           memory, bytes, key_buffer, value_buffer, keys.n, 0, 8 * sizeof(Key), stream);
  });
  bring_home(key_buffer, keys, stream);
  bring_home(value_buffer, values, stream);
}

struct Before {
  Order order;
  template <class Key>
  __host__ __device__ bool operator()(const Key& a, const Key& b) const {
    return lab::before(a, b, order);
  }
};

template <class Key>
void merge(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  refuse_shape(shape);
  with_temporary([&](void* memory, std::size_t& bytes) {
    return cub::DeviceMergeSort::StableSortKeys(memory, bytes, keys.data, keys.n, Before{order}, stream);
  });
}

template <class Key, class Value>
void merge(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream) {
  refuse_shape(shape);
  with_temporary([&](void* memory, std::size_t& bytes) {
    return cub::DeviceMergeSort::StableSortPairs(memory, bytes, keys.data, values.data, keys.n, Before{order}, stream);
  });
}

struct TileBegin {
  std::int64_t n, length;
  __host__ __device__ std::int64_t operator()(std::int64_t tile) const { return tile * length < n ? tile * length : n; }
};

auto tile_begins(std::int64_t n, std::int64_t length) {
  return thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), TileBegin{n, length});
}

// The length of a tile is an argument of CUB's, so that its kernels are compiled once.
template <class Key>
void sort_segments(Span<Key> keys, std::int64_t length, Order order, LaunchShape shape, cudaStream_t stream) {
  refuse_shape(shape);
  const std::int64_t tiles = (keys.n + length - 1) / length;
  const auto begins = tile_begins(keys.n, length);
  cub::DoubleBuffer<Key> buffer(keys.data, second_array<Key>(keys.n));
  with_temporary([&](void* memory, std::size_t& bytes) {
    return order == Order::ascending
               ? cub::DeviceSegmentedSort::SortKeys(memory, bytes, buffer, keys.n, tiles, begins, begins + 1, stream)
               : cub::DeviceSegmentedSort::SortKeysDescending(memory, bytes, buffer, keys.n, tiles, begins, begins + 1,
                                                              stream);
  });
  bring_home(buffer, keys, stream);
}

template <class Key, class Value>
void sort_segments(Span<Key> keys, Span<Value> values, std::int64_t length, Order order, LaunchShape shape,
                   cudaStream_t stream) {
  refuse_shape(shape);
  const std::int64_t tiles = (keys.n + length - 1) / length;
  const auto begins = tile_begins(keys.n, length);
  Key* const second = second_array<Key>(2 * keys.n);
  cub::DoubleBuffer<Key> key_buffer(keys.data, second);
  cub::DoubleBuffer<Value> value_buffer(values.data, second + keys.n);
  with_temporary([&](void* memory, std::size_t& bytes) {
    return order == Order::ascending
               ? cub::DeviceSegmentedSort::SortPairs(memory, bytes, key_buffer, value_buffer, keys.n, tiles, begins,
                                                     begins + 1, stream)
               : cub::DeviceSegmentedSort::SortPairsDescending(memory, bytes, key_buffer, value_buffer, keys.n, tiles,
                                                               begins, begins + 1, stream);
  });
  bring_home(key_buffer, keys, stream);
  bring_home(value_buffer, values, stream);
}

template <std::int64_t tile, class Key>
void segmented(Span<Key> keys, Order order, LaunchShape shape, cudaStream_t stream) {
  sort_segments(keys, tile, order, shape, stream);
}

template <std::int64_t tile, class Key, class Value>
void segmented(Span<Key> keys, Span<Value> values, Order order, LaunchShape shape, cudaStream_t stream) {
  sort_segments(keys, values, tile, order, shape, stream);
}

template <std::int64_t tile>
constexpr lab::Step segmented_step(int number, const char* name) {
  return {.number = number,
          .name = name,
          .idea = "cub::DeviceSegmentedSort",
          .tile = tile,
          .u32 = segmented<tile, std::uint32_t>,
          .u64 = segmented<tile, std::uint64_t>,
          .i32 = segmented<tile, std::int32_t>,
          .f32 = segmented<tile, float>,
          .pairs = segmented<tile, std::uint32_t, std::uint32_t>};
}

// --- what does not sort ---

struct Range {
  std::uint32_t smallest, largest;
};

struct OneKey {
  __host__ __device__ Range operator()(std::uint32_t key) const { return {key, key}; }
};

struct BothEnds {
  __host__ __device__ Range operator()(const Range& a, const Range& b) const {
    return {a.smallest < b.smallest ? a.smallest : b.smallest, a.largest > b.largest ? a.largest : b.largest};
  }
};

void reduce(Span<const std::uint32_t> keys, Span<std::uint32_t> result, LaunchShape shape, cudaStream_t stream) {
  refuse_shape(shape);
  const auto ranges = thrust::make_transform_iterator(keys.data, OneKey{});
  with_temporary([&](void* memory, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(memory, bytes, ranges, reinterpret_cast<Range*>(result.data), keys.n, BothEnds{},
                                     Range{std::numeric_limits<std::uint32_t>::max(), 0}, stream);
  });
}

__global__ void widen(const unsigned* from, std::uint64_t* to) { to[threadIdx.x] = from[threadIdx.x]; }

// CUB counts with 32 bits where n allows it: with 64 it takes many times as long.
void histogram(Span<const std::uint8_t> keys, Span<std::uint64_t> counts, LaunchShape shape, cudaStream_t stream) {
  refuse_shape(shape);
  const auto count = [&](auto* bins) {
    with_temporary([&](void* memory, std::size_t& bytes) {
      return cub::DeviceHistogram::HistogramEven(memory, bytes, keys.data, bins, 257, 0, 256, keys.n, stream);
    });
  };
  if (keys.n > std::numeric_limits<std::uint32_t>::max()) {
    return count(reinterpret_cast<unsigned long long*>(counts.data));
  }
  static Scratch narrow;
  auto* const bins = reinterpret_cast<unsigned*>(narrow.at_least(256 * sizeof(unsigned)));
  count(bins);
  widen<<<1, 256, 0, stream>>>(bins, counts.data);
  CUDA_CHECK(cudaGetLastError());
}

void scan(Span<const std::uint64_t> values, Span<std::uint64_t> sums, LaunchShape shape, cudaStream_t stream) {
  refuse_shape(shape);
  with_temporary([&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, values.data, sums.data, values.n, stream);
  });
}

constexpr lab::Step steps[] = {
    {.number = 1,
     .name = "radix",
     .idea = "cub::DeviceRadixSort",
     .stable = true,
     .u8 = radix<std::uint8_t>,
     .u16 = radix<std::uint16_t>,
     .u32 = radix<std::uint32_t>,
     .u64 = radix<std::uint64_t>,
     .i32 = radix<std::int32_t>,
     .i64 = radix<std::int64_t>,
     .f32 = radix<float>,
     .f64 = radix<double>,
     .pairs = radix<std::uint32_t, std::uint32_t>},
    {.number = 2,
     .name = "merge",
     .idea = "cub::DeviceMergeSort",
     .stable = true,
     .u32 = merge<std::uint32_t>,
     .u64 = merge<std::uint64_t>,
     .i32 = merge<std::int32_t>,
     .f32 = merge<float>,
     .pairs = merge<std::uint32_t, std::uint32_t>},
    segmented_step<128>(3, "segmented-128"),
    segmented_step<1024>(4, "segmented-1024"),
    {.number = 5, .name = "reduce", .idea = "cub::DeviceReduce", .reduce = reduce},
    {.number = 5, .name = "histogram", .idea = "cub::DeviceHistogram", .histogram = histogram},
    {.number = 5, .name = "exclusive-sum", .idea = "cub::DeviceScan", .scan = scan},
};

}  // namespace

int main(int argc, char** argv) { return lab::run_steps("gold", steps, argc, argv); }
