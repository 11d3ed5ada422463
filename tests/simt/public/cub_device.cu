// What most programs use of CUB on a whole device.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "expect.h"

namespace {

constexpr int n = 10000;

/// Calls an algorithm with the temporary storage that it asks for.
template <class Algorithm>
void with_storage(const Algorithm& algorithm) {
  std::size_t bytes = 0;
  CUDA(algorithm(nullptr, bytes));
  EXPECT(bytes > 0);
  Array<char> storage(bytes);
  CUDA(algorithm(storage.data(), bytes));
}

struct Maximum {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Plus {
  __host__ __device__ long long operator()(long long a, long long b) const { return a + b; }
};
struct Less {
  __host__ __device__ bool operator()(int a, int b) const { return a < b; }
};
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};
struct Greater {
  __host__ __device__ bool operator()(int a, int b) const { return a > b; }
};

void test_reductions() {
  Array<int> in(n), out(1), position(1);
  Array<float> ones(1 << 20), sum(1);
  Array<cub::KeyValuePair<int, int>> pair(1);
  in.fill([](int i) { return (i * 37 + 11) % n; });
  ones.fill([](int) { return 1.0f / 3; });
  with_storage([&](void* s, std::size_t& b) { return cub::DeviceReduce::Sum(s, b, in.data(), out.data(), n); });
  EXPECT(out.values()[0] == n / 2 * (n - 1));
  with_storage([&](void* s, std::size_t& b) { return cub::DeviceReduce::Max(s, b, in.data(), out.data(), n); });
  EXPECT(out.values()[0] == n - 1);
  with_storage([&](void* s, std::size_t& b) { return cub::DeviceReduce::Min(s, b, in.data(), out.data(), n); });
  EXPECT(out.values()[0] == 0);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceReduce::Reduce(s, b, in.data(), out.data(), n, Maximum(), 2 * n);
  });
  EXPECT(out.values()[0] == 2 * n);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceReduce::TransformReduce(s, b, in.data(), out.data(), 3, Maximum(), Square(), 0);
  });
  EXPECT(out.values()[0] == 85 * 85);
  with_storage([&](void* s, std::size_t& b) { return cub::DeviceReduce::ArgMin(s, b, in.data(), pair.data(), n); });
  EXPECT(in.values()[std::size_t(pair.values()[0].key)] == 0 && pair.values()[0].value == 0);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceReduce::ArgMax(s, b, in.data(), out.data(), position.data(), n);
  });
  EXPECT(in.values()[std::size_t(position.values()[0])] == n - 1 && out.values()[0] == n - 1);
  with_storage([&](void* s, std::size_t& b) { return cub::DeviceReduce::Sum(s, b, ones.data(), sum.data(), 1 << 20); });
  EXPECT(std::abs(sum.values()[0] - (1 << 20) / 3.0) < 1);
}

void test_scans() {
  Array<int> in(n), out(n);
  Array<long long> sums(n);
  in.fill([](int i) { return i * 31 % 101; });
  const std::vector<int> values = in.values();
  std::vector<int> expected(n);
  with_storage([&](void* s, std::size_t& b) { return cub::DeviceScan::ExclusiveSum(s, b, in.data(), out.data(), n); });
  std::partial_sum(values.begin(), values.end() - 1, expected.begin() + 1);
  EXPECT(out.values() == expected);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceScan::InclusiveScan(s, b, in.data(), out.data(), Maximum(), n);
  });
  std::partial_sum(values.begin(), values.end(), expected.begin(), Maximum());
  EXPECT(out.values() == expected);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceScan::ExclusiveScan(s, b, in.data(), sums.data(), Plus(), 1LL << 40, n);
  });
  EXPECT(sums.values()[1] == (1LL << 40) && sums.values()[2] == (1LL << 40) + 31);
  with_storage([&](void* s, std::size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, in.data(), n); });
  std::partial_sum(values.begin(), values.end(), expected.begin());
  EXPECT(in.values() == expected);
}

template <class Key>
void test_radix_sort() {
  Array<Key> keys(n), sorted(n);
  Array<int> places(n), found(n);
  keys.fill([](int i) { return Key(i * 7919 % 1009) - Key(500); });
  places.fill([](int i) { return i; });
  std::vector<Key> expected = keys.values();
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceRadixSort::SortPairs(s, b, keys.data(), sorted.data(), places.data(), found.data(), n);
  });
  std::vector<int> order = places.values();
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return expected[a] < expected[b]; });
  EXPECT(found.values() == order);
  EXPECT(keys.values() == expected);
  std::sort(expected.begin(), expected.end());
  EXPECT(sorted.values() == expected);
  cub::DoubleBuffer<Key> buffers(keys.data(), sorted.data());
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceRadixSort::SortKeysDescending(s, b, buffers, n, 0, 8 * sizeof(Key), stream);
  });
  CUDA(cudaStreamDestroy(stream));
  std::reverse(expected.begin(), expected.end());
  std::vector<Key> result(n);
  CUDA(cudaMemcpy(result.data(), buffers.Current(), n * sizeof(Key), cudaMemcpyDeviceToHost));
  EXPECT(result == expected);
}

void test_bits() {
  Array<unsigned> keys(n), sorted(n);
  keys.fill([](int i) { return unsigned(i) * 2654435761u; });
  std::vector<unsigned> expected = keys.values();
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceRadixSort::SortKeys(s, b, keys.data(), sorted.data(), n, 4, 20);
  });
  std::stable_sort(expected.begin(), expected.end(),
                   [](unsigned a, unsigned b) { return (a >> 4 & 0xffff) < (b >> 4 & 0xffff); });
  EXPECT(sorted.values() == expected);
}

void test_merge_sort() {
  Array<int> keys(n), places(n);
  keys.fill([](int i) { return i * 7919 % 1009; });
  places.fill([](int i) { return i; });
  const std::vector<int> before = keys.values();
  std::vector<int> order = places.values();
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceMergeSort::StableSortPairs(s, b, keys.data(), places.data(), n, Greater());
  });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return before[a] > before[b]; });
  EXPECT(places.values() == order);
  with_storage([&](void* s, std::size_t& b) { return cub::DeviceMergeSort::SortKeys(s, b, places.data(), n, Less()); });
  EXPECT(places.values()[17] == 17);
}

void test_histogram() {
  Array<float> samples(n);
  Array<int> bins(10);
  samples.fill([](int i) { return float(i % 1200) / 100 - 1; });
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceHistogram::HistogramEven(s, b, samples.data(), bins.data(), 11, 0.0f, 10.0f, n);
  });
  std::vector<int> expected(10);
  for (float x : samples.values()) {
    if (x >= 0 && x < 10) ++expected[std::size_t(x)];
  }
  EXPECT(bins.values() == expected);
}

void test_selections() {
  Array<int> in(n), out(n), selected(1), lengths(n);
  Array<char> flags(n);
  in.fill([](int i) { return i / 3; });
  flags.fill([](int i) { return i % 10 == 0; });
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceSelect::If(s, b, in.data(), out.data(), selected.data(), n, IsOdd());
  });
  EXPECT(selected.values()[0] == 4999 && out.values()[2] == 1 && out.values()[3] == 3);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceSelect::Flagged(s, b, in.data(), flags.data(), out.data(), selected.data(), n);
  });
  EXPECT(selected.values()[0] == n / 10 && out.values()[7] == 70 / 3);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceSelect::Unique(s, b, in.data(), out.data(), selected.data(), n);
  });
  EXPECT(selected.values()[0] == 3334 && out.values()[3333] == 3333);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceRunLengthEncode::Encode(s, b, in.data(), out.data(), lengths.data(), selected.data(), n);
  });
  EXPECT(selected.values()[0] == 3334 && lengths.values()[0] == 3 && lengths.values()[3333] == 1);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DevicePartition::If(s, b, in.data(), out.data(), selected.data(), n, IsOdd());
  });
  EXPECT(selected.values()[0] == 4999 && out.values()[4998] == 3333 && out.values()[n - 1] == 0);
}

void test_segments() {
  Array<int> in(n), offsets(4), out(3);
  in.fill([](int i) { return i; });
  offsets.fill([](int i) { return i * i * 100; });
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceSegmentedReduce::Sum(s, b, in.data(), out.data(), 3, offsets.data(), offsets.data() + 1);
  });
  EXPECT((out.values() == std::vector<int>{4950, 74850, 324750}));
}

void test_runs() {
  Array<int> keys(8), values(8), out_keys(16), out_values(16), count(1), levels(3);
  keys.fill([](int i) { return i * i / 16; });  // 0 0 0 0 1 1 2 3
  values.fill([](int i) { return i + 1; });
  levels.fill([](int i) { return 3 * i + 1; });  // 1 4 7
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceReduce::ReduceByKey(s, b, keys.data(), out_keys.data(), values.data(), out_values.data(),
                                          count.data(), Maximum(), 8);
  });
  EXPECT(count.values()[0] == 4 && out_keys.values()[3] == 3 && out_values.values()[1] == 6);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceScan::ExclusiveSumByKey(s, b, keys.data(), values.data(), out_values.data(), 8);
  });
  EXPECT(out_values.values()[3] == 6 && out_values.values()[4] == 0 && out_values.values()[5] == 5);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceMerge::MergePairs(s, b, keys.data(), values.data(), 8, keys.data(), values.data(), 8,
                                        out_keys.data(), out_values.data(), Less());
  });
  EXPECT(out_keys.values()[8] == 1 && out_values.values()[8] == 5 && out_values.values()[10] == 5);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceSelect::UniqueByKey(s, b, keys.data(), values.data(), out_keys.data(), out_values.data(),
                                          count.data(), 8);
  });
  EXPECT(count.values()[0] == 4 && out_values.values()[2] == 7);
  with_storage([&](void* s, std::size_t& b) {
    return cub::DeviceHistogram::HistogramRange(s, b, values.data(), out_values.data(), 3, levels.data(), 8);
  });
  EXPECT(out_values.values()[0] == 3 && out_values.values()[1] == 3);
}

void test_errors() {
  Array<int> in(n), out(n);
  std::size_t bytes = 0;
  EXPECT(cub::DeviceRadixSort::SortKeys(nullptr, bytes, in.data(), out.data(), n) == cudaSuccess);
  Array<char> storage(bytes);
  bytes = 0;
  EXPECT(cub::DeviceRadixSort::SortKeys(storage.data(), bytes, in.data(), out.data(), n) == cudaErrorInvalidValue);
}

}  // namespace

int main() {
  test_reductions();
  test_scans();
  test_radix_sort<int>();
  test_radix_sort<double>();
  test_radix_sort<std::int8_t>();
  test_bits();
  test_merge_sort();
  test_histogram();
  test_selections();
  test_segments();
  test_runs();
  test_errors();
  return finish();
}
