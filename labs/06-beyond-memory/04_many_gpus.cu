// Step 04: many GPUs.
//
// Idea: keys that do not fit on one GPU fit on several. Each of them has a share of the keys and sorts it. Splitters
// from samples of all shares determine which keys each GPU gets. After one exchange, in which every GPU sends to every
// other, each GPU has all keys of its part of the order, as sorted runs that it merges.
// New since step 03: no kernel groups the keys, because in a sorted share the keys for a GPU are neighbours, and binary
// search finds the boundaries between them. Splitters are keys with their index, so even equal keys are divided evenly.
// Here one GPU plays all of them in turn, and what they send waits in `scratch`. In many_gpus/ the same functions run
// on as many GPUs as there are, and NCCL moves the keys.
// Limits: 4096 GPUs.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "exchange.h"
#include "runs.cuh"
#include "slots.h"
#include "step/launch_shape.h"

namespace beyond {
namespace {

constexpr int threads_per_block = 256;

__global__ void take_samples(const unsigned* share, SamplePlaces places, unsigned* samples) {
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < places.count) samples[i] = share[places[i]];
}

/// How many keys of the sorted share precede the splitter. `first`: the index of the share's first key.
__device__ std::int64_t keys_before(lab::Span<const unsigned> share, std::int64_t first, const Splitter& splitter,
                                    unsigned inversion) {
  // Your code: search for the first key that is not less than splitter.bits, and for the first that is greater. The
  // keys in between are equal to it: of these, the ones with a smaller index than splitter.index precede it.
  return 0;
}

__global__ void search_splitters(lab::Span<const unsigned> share, std::int64_t first,
                                 lab::Span<const Splitter> splitters, unsigned inversion, std::int64_t* begins) {
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < splitters.n) begins[i] = keys_before(share, first, splitters.data[i], inversion);
}

template <class T>
void copy(T* to, const T* from, std::int64_t n, cudaMemcpyKind kind, cudaStream_t stream) {
  if (n > 0) CUDA_CHECK(cudaMemcpyAsync(to, from, n * sizeof(T), kind, stream));
}

}  // namespace

std::vector<Splitter> sample_share(lab::Span<const std::uint32_t> share, std::int64_t first, int gpus, int gpu,
                                   lab::Order order, cudaStream_t stream) {
  const SamplePlaces places(share.n, gpus, gpu);
  std::vector<unsigned> keys(places.count);
  if (places.count > 0) {
    const lab::DeviceArray<unsigned> samples(places.count, stream);
    take_samples<<<lab::blocks_or({}, places.count, threads_per_block), threads_per_block, 0, stream>>>(
        share.data, places, samples.data());
    CUDA_CHECK(cudaGetLastError());
    copy(keys.data(), samples.data(), places.count, cudaMemcpyDeviceToHost, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  std::vector<Splitter> result(places.count);
  for (std::int64_t i = 0; i < places.count; ++i) result[i] = {keys[i] ^ inversion_of(order), first + places[i]};
  return result;
}

std::vector<Splitter> splitters_from(std::vector<Splitter> samples, int gpus) {
  std::vector<Splitter> splitters(gpus - 1);
  if (samples.empty()) return splitters;
  // Your code: sort the samples. The splitters divide them into `gpus` equal parts.
  NOT_WRITTEN("step 04");
  return splitters;
}

std::vector<std::int64_t> find_begins(lab::Span<const std::uint32_t> share, std::int64_t first,
                                      const std::vector<Splitter>& splitters, lab::Order order, cudaStream_t stream) {
  const std::int64_t n = std::ssize(splitters);
  std::vector<std::int64_t> begins(n + 2);
  begins.back() = share.n;
  if (n == 0) return begins;
  const lab::DeviceArray<Splitter> device_splitters(n, stream);
  const lab::DeviceArray<std::int64_t> device_begins(n, stream);
  copy(device_splitters.data(), splitters.data(), n, cudaMemcpyHostToDevice, stream);
  search_splitters<<<lab::blocks_or({}, n, threads_per_block), threads_per_block, 0, stream>>>(
      share, first, lab::Span<const Splitter>{device_splitters.data(), n}, inversion_of(order), device_begins.data());
  CUDA_CHECK(cudaGetLastError());
  copy(begins.data() + 1, device_begins.data(), n, cudaMemcpyDeviceToHost, stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return begins;
}

ExchangePlan plan_exchange(const std::vector<std::int64_t>& counts, int gpus, int gpu) {
  ExchangePlan plan{std::vector<std::int64_t>(gpus + 1), std::vector<std::int64_t>(gpus + 1)};
  // Your code: two running sums, over the row of this GPU in `counts` and over its column.
  (void)counts, (void)gpu;
  NOT_WRITTEN("step 04");
  return plan;
}

namespace {

/// What does not change in a sort.
struct ManyGpus {
  Keys keys, scratch;
  lab::Order order;
  int gpus;
  std::int64_t capacity;  ///< keys that fit on a GPU
  lab::LaunchShape shape;
  cudaStream_t stream;

  std::int64_t share_begin(int gpu) const { return beyond::share_begin(keys.n, gpus, gpu); }
  std::int64_t share_size(int gpu) const { return share_begin(gpu + 1) - share_begin(gpu); }
};

/// Every GPU sorts its share, which goes to the same place of `scratch`. Returns all samples.
std::vector<Splitter> sort_shares(const ManyGpus& sort) {
  const lab::DeviceArray<unsigned> share(sort.capacity, sort.stream);
  std::vector<Splitter> samples;
  for (int gpu = 0; gpu < sort.gpus; ++gpu) {
    const std::int64_t first = sort.share_begin(gpu), n = sort.share_size(gpu);
    // Your code: copy the share in, sort_piece(), append what sample_share() returns to `samples`, copy it out to
    // scratch.
    (void)first, (void)n;
    NOT_WRITTEN("step 04");
  }
  return samples;
}

/// Every GPU finds where the keys for each GPU begin in its share. Returns what find_begins() returns for each.
std::vector<std::vector<std::int64_t>> divide_shares(const ManyGpus& sort, const std::vector<Splitter>& splitters) {
  const lab::DeviceArray<unsigned> share(sort.capacity, sort.stream);
  std::vector<std::vector<std::int64_t>> begins;
  for (int gpu = 0; gpu < sort.gpus; ++gpu) {
    const std::int64_t first = sort.share_begin(gpu), n = sort.share_size(gpu);
    copy_in(share.data(), sort.scratch.data + first, n, sort.stream);
    begins.push_back(find_begins({share.data(), n}, first, splitters, sort.order, sort.stream));
  }
  return begins;
}

/// Every GPU gets its part of the order, makes one run of it, and copies it to its place in `keys`.
void join_shares(const ManyGpus& sort, const std::vector<std::vector<std::int64_t>>& begins) {
  std::vector<std::int64_t> counts;
  for (const auto& own : begins) {
    for (int to = 0; to < sort.gpus; ++to) counts.push_back(own[to + 1] - own[to]);
  }
  std::int64_t place = 0;
  const lab::DeviceArray<unsigned> received(sort.capacity, sort.stream);
  for (int gpu = 0; gpu < sort.gpus; ++gpu) {
    const ExchangePlan plan = plan_exchange(counts, sort.gpus, gpu);
    if (plan.received() > sort.capacity) {
      throw lab::Error("GPU " + std::to_string(gpu) + " gets " + std::to_string(plan.received()) +
                       " keys, more than the " + std::to_string(sort.capacity) +
                       " that fit: the splitters do not divide the keys evenly");
    }
    // The exchange. (With NCCL it is in many_gpus/.)
    for (int from = 0; from < sort.gpus; ++from) {
      const std::int64_t n = begins[from][gpu + 1] - begins[from][gpu];
      if (n == 0) continue;
      copy_in(received.data() + plan.receive_begins[from],
              sort.scratch.data + sort.share_begin(from) + begins[from][gpu], n, sort.stream);
    }
    lab::DeviceArray<unsigned> spare;
    unsigned* joined = received.data();
    // Your code: merge_in_pairs() if there are at most max_merged_runs GPUs (`spare` needs memory then), otherwise
    // sort_piece().
    NOT_WRITTEN("step 04");
    copy_out(sort.keys.data + place, joined, plan.received(), sort.stream);
    place += plan.received();
  }
}

}  // namespace

void sort_many(Keys keys, Keys scratch, lab::Order order, std::int64_t device_bytes, lab::LaunchShape shape,
               cudaStream_t stream) {
  if (lab::threads_or(shape, 0) != 0) {
    throw lab::Unsupported("the kernels of this step choose their threads per block: leave out --threads");
  }
  lab::blocks_or(shape, keys.n, 1);  // refuses impossible numbers
  // One slot as large as the memory. A share has 10/11 of it, because a GPU may get 10 % more keys than the average.
  const std::int64_t capacity = keys_per_slot(slot_count * usable_bytes(device_bytes));
  const std::int64_t gpus = keys.n <= capacity ? 1 : (keys.n - 1) / (capacity / 11 * 10) + 1;
  if (gpus > max_gpus) {
    throw lab::Unsupported(std::to_string(keys.n) + " keys need " + std::to_string(gpus) +
                           " GPUs with so little memory, " + "and at most " + std::to_string(max_gpus) +
                           " are possible: choose a larger --memory");
  }
  if (keys.n < 2) return;
  const ManyGpus sort{keys, scratch, order, int(gpus), std::min(capacity, keys.n), shape, stream};
  const std::vector<Splitter> splitters = splitters_from(sort_shares(sort), sort.gpus);
  join_shares(sort, divide_shares(sort, splitters));
  CUDA_CHECK(cudaStreamSynchronize(stream));  // the keys are in place
}

}  // namespace beyond
