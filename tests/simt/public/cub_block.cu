// What most programs use of CUB in a block and in a warp.
#include <cub/cub.cuh>

#include <algorithm>

#include "expect.h"

namespace {

constexpr int threads = 128, items = 3;

struct Maximum {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};
/// Associative, but not commutative: the composition of functions x -> a x + b.
struct Line {
  int a, b;
};
struct Compose {
  __host__ __device__ Line operator()(Line f, Line g) const { return {f.a * g.a % 7, (f.b * g.a + g.b) % 7}; }
};
struct Running {
  int total;
  __device__ int operator()(int aggregate) {
    const int before = total;
    total += aggregate;
    return before;
  }
};

__global__ void reduce(int* out) {
  using Reduce = cub::BlockReduce<int, threads>;
  using Lines = cub::BlockReduce<Line, 16, cub::BLOCK_REDUCE_RAKING, 8>;
  __shared__ union {
    typename Reduce::TempStorage ints;
    typename Lines::TempStorage lines;
  } storage;
  const int tid = int(threadIdx.x + 16 * threadIdx.y);
  Line line{tid % 3 + 1, tid};
  line = Lines(storage.lines).Reduce(line, Compose());
  if (tid == 0) {
    out[0] = line.a;
    out[1] = line.b;
  }
}

__global__ void reduce_ints(int* out) {
  using Reduce = cub::BlockReduce<int, threads>;
  __shared__ typename Reduce::TempStorage storage;
  const int tid = int(threadIdx.x);
  int mine[items] = {tid, 1, -tid};
  const int sum = Reduce(storage).Sum(tid);
  __syncthreads();
  const int sum_of_first = Reduce(storage).Sum(tid, 100);
  __syncthreads();
  const int maximum = Reduce(storage).Reduce(tid % 50, Maximum());
  __syncthreads();
  const int sum_of_items = Reduce(storage).Sum(mine);
  if (tid == 0) {
    out[0] = sum;
    out[1] = sum_of_first;
    out[2] = maximum;
    out[3] = sum_of_items;
  }
}

void test_reductions() {
  Array<int> out(4);
  reduce<<<1, dim3(16, 8)>>>(out.data());
  Line line{1, 0};
  for (int i = 0; i < threads; ++i) line = Compose()(line, Line{i % 3 + 1, i});
  EXPECT(out.values()[0] == line.a && out.values()[1] == line.b);
  reduce_ints<<<1, threads>>>(out.data());
  EXPECT((out.values() == std::vector<int>{8128, 4950, 49, 128}));
}

__global__ void reduce_in_warps(double* out) {
  using Reduce = cub::WarpReduce<double>;
  using Quarters = cub::WarpReduce<int, 8>;
  __shared__ typename Reduce::TempStorage storage[2];
  __shared__ typename Quarters::TempStorage of_quarters[8];
  const int tid = int(threadIdx.x), warp = tid / 32;
  const double sum = Reduce(storage[warp]).Sum(double(tid));
  const double sum_of_first = Reduce(storage[warp]).Sum(double(tid), 5);
  const int maximum = Quarters(of_quarters[tid / 8]).Reduce(tid * 5 % 8, Maximum());
  const double sum_of_segment = Reduce(storage[warp]).HeadSegmentedSum(1.0, tid % 10 == 0);
  if (tid % 32 == 0) {
    out[warp] = sum;
    out[2 + warp] = sum_of_first;
  }
  if (tid % 8 == 0) out[4 + tid / 8] = maximum;
  if (tid == 20) out[12] = sum_of_segment;
}

__global__ void scan_in_warps(int* out) {
  using Scan = cub::WarpScan<int>;
  __shared__ typename Scan::TempStorage storage;
  const int tid = int(threadIdx.x);
  int inclusive, exclusive, aggregate, maximum;
  Scan(storage).InclusiveSum(tid, inclusive);
  Scan(storage).ExclusiveSum(tid, exclusive, aggregate);
  Scan(storage).ExclusiveScan(tid * 7 % 32, maximum, -1, Maximum());
  out[tid] = inclusive - exclusive - tid + aggregate;
  out[32 + tid] = maximum;
}

void test_warps() {
  Array<double> sums(13);
  reduce_in_warps<<<1, 64>>>(sums.data());
  EXPECT((sums.values() == std::vector<double>{496, 1520, 10, 170, 7, 7, 7, 7, 7, 7, 7, 7, 10}));
  Array<int> scans(64);
  scan_in_warps<<<1, 32>>>(scans.data());
  const std::vector<int> found = scans.values();
  EXPECT(std::count(found.begin(), found.begin() + 32, 496) == 32);
  EXPECT(found[32] == -1 && found[32 + 5] == 28 && found[32 + 31] == 31);
}

__global__ void scan(int* out, int* aggregates) {
  using Scan = cub::BlockScan<int, threads>;
  __shared__ typename Scan::TempStorage storage;
  const int tid = int(threadIdx.x);
  int mine[items] = {1, 2, 3};
  int sum, maximum, aggregate, total, with_prefix;
  Scan(storage).ExclusiveSum(tid, sum);
  __syncthreads();
  Scan(storage).InclusiveScan(tid * 5 % threads, maximum, Maximum(), aggregate);
  __syncthreads();
  Scan(storage).ExclusiveSum(mine, mine, total);
  __syncthreads();
  Running running{1000};
  Scan(storage).InclusiveSum(1, with_prefix, running);
  __syncthreads();
  Scan(storage).ExclusiveSum(1, with_prefix, running);
  out[tid] = sum;
  out[threads + tid] = maximum;
  out[2 * threads + tid] = mine[1];
  out[3 * threads + tid] = with_prefix;
  if (tid == threads - 1) {
    aggregates[0] = aggregate;
    aggregates[1] = total;
  }
}

void test_scans() {
  Array<int> out(4 * threads), aggregates(2);
  scan<<<1, threads>>>(out.data(), aggregates.data());
  const std::vector<int> found = out.values();
  int sum = 0, maximum = 0;
  for (int i = 0; i < threads; ++i) {
    maximum = std::max(maximum, i * 5 % threads);
    EXPECT(found[i] == sum && found[threads + i] == maximum);
    EXPECT(found[2 * threads + i] == 6 * i + 1 && found[3 * threads + i] == 1000 + threads + i);
    sum += i;
  }
  EXPECT((aggregates.values() == std::vector<int>{127, 6 * threads}));
}

/// Reverses the items of each thread, so that their arrangement is seen.
template <cub::BlockLoadAlgorithm loading, cub::BlockStoreAlgorithm storing>
__global__ void copy(const int* in, int* out, int n) {
  using Load = cub::BlockLoad<int, threads, items, loading>;
  using Store = cub::BlockStore<int, threads, items, storing>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  int mine[items];
  Load(storage.load).Load(in, mine, n, -1);
  __syncthreads();
  const int first = mine[0];
  mine[0] = mine[items - 1];
  mine[items - 1] = first;
  Store(storage.store).Store(out, mine, n + 1);
}

template <cub::BlockLoadAlgorithm loading, cub::BlockStoreAlgorithm storing>
void test_copy(int n) {
  Array<int> in(threads * items), out(threads * items + 1);
  in.fill([](int i) { return i; });
  out.fill([](int) { return -2; });
  copy<loading, storing><<<1, threads>>>(in.data(), out.data(), n);
  const std::vector<int> found = out.values();
  for (int i = 0; i <= n; ++i) {
    const int from = i + items - 1 - 2 * (i % items);
    EXPECT(found[i] == (from < n ? from : -1));
  }
  EXPECT(found[n + 1] == -2);
}

__global__ void exchange(int* out) {
  using Exchange = cub::BlockExchange<int, threads, items>;
  __shared__ typename Exchange::TempStorage storage;
  const int tid = int(threadIdx.x);
  int mine[items], ranks[items];
  for (int i = 0; i < items; ++i) mine[i] = tid * items + i;
  Exchange(storage).BlockedToStriped(mine);
  __syncthreads();
  for (int i = 0; i < items; ++i) ranks[i] = threads * items - 1 - mine[i];
  Exchange(storage).ScatterToBlocked(mine, ranks);
  for (int i = 0; i < items; ++i) out[tid * items + i] = mine[i];
}

template <class Key>
__global__ void sort(const Key* in, Key* ascending, Key* descending, int* places) {
  using Sort = cub::BlockRadixSort<Key, threads, items>;
  using SortPairs = cub::BlockRadixSort<Key, threads, items, int>;
  __shared__ union {
    typename Sort::TempStorage keys;
    typename SortPairs::TempStorage pairs;
  } storage;
  Key keys[items], others[items];
  int values[items];
  const int tid = int(threadIdx.x);
  for (int i = 0; i < items; ++i) {
    values[i] = tid * items + i;
    keys[i] = others[i] = in[values[i]];
  }
  SortPairs(storage.pairs).Sort(keys, values);
  __syncthreads();
  Sort(storage.keys).SortDescendingBlockedToStriped(others);
  for (int i = 0; i < items; ++i) {
    ascending[tid * items + i] = keys[i];
    places[tid * items + i] = values[i];
    descending[i * threads + tid] = others[i];
  }
}

template <class Key>
void test_sort() {
  constexpr int n = threads * items;
  Array<Key> in(n), ascending(n), descending(n);
  Array<int> places(n);
  in.fill([](int i) { return Key(i * 61 % 97) - Key(40); });
  sort<<<1, threads>>>(in.data(), ascending.data(), descending.data(), places.data());
  const std::vector<Key> keys = in.values(), up = ascending.values(), down = descending.values();
  const std::vector<int> found = places.values();
  EXPECT(std::is_sorted(up.begin(), up.end()) && std::is_sorted(down.rbegin(), down.rend()));
  for (int i = 0; i < n; ++i) EXPECT(up[i] == keys[found[i]] && down[i] == up[n - 1 - i]);
  for (int i = 1; i < n; ++i) EXPECT(up[i - 1] < up[i] || found[i - 1] < found[i]);
}

}  // namespace

int main() {
  test_reductions();
  test_warps();
  test_scans();
  test_copy<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_TRANSPOSE>(200);
  test_copy<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_VECTORIZE>(301);
  test_copy<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_WARP_TRANSPOSE>(382);
  test_copy<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_DIRECT>(6);
  Array<int> reversed(threads * items);
  exchange<<<1, threads>>>(reversed.data());
  for (int i = 0; i < threads * items; ++i) EXPECT(reversed.values()[i] == threads * items - 1 - i);
  test_sort<int>();
  test_sort<float>();
  test_sort<unsigned char>();
  return finish();
}
