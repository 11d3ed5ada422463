// DeviceHistogram (CUB, "Device-wide Primitives"), of samples of one channel.
#pragma once

#include "../detail/one_thread.cuh"

namespace cub {

namespace detail {

/// The bin of a sample, of bins of equal width from lower up to upper.
template <class Level>
struct EvenBins {
  int bins;
  Level lower, upper;

  template <class Sample>
  int operator()(const Sample& sample) const {
    using T = std::common_type_t<Sample, Level>;
    using Wide = std::conditional_t<std::is_integral_v<T>, __int128, T>;  // the product fits
    if (!(T(sample) >= T(lower) && T(sample) < T(upper))) return -1;
    const int bin = int((Wide(sample) - Wide(lower)) * Wide(bins) / (Wide(upper) - Wide(lower)));
    return bin < bins ? bin : bins - 1;
  }
};
/// Of bins between levels, which ascend.
template <class Level>
struct LevelBins {
  int bins;
  const Level* levels;

  template <class Sample>
  int operator()(const Sample& sample) const {
    if (!(sample >= levels[0] && sample < levels[bins])) return -1;
    int first = 0, count = bins;
    while (count > 1) {
      const int middle = first + count / 2;
      if (sample >= levels[middle]) {
        count -= count / 2;
        first = middle;
      } else {
        count /= 2;
      }
    }
    return first;
  }
};

struct CountSamples {
  template <class In, class Counter, class BinOf>
  void operator()(In& in, Counter*& histogram, std::size_t& per_row, std::size_t& rows, std::size_t& stride,
                  BinOf& bin_of) const {
    for (int bin = 0; bin < bin_of.bins; ++bin) histogram[bin] = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < per_row; ++i) {
        const ValueOf<In> sample = in[row * stride + i];
        if (const int bin = bin_of(sample); bin >= 0) ++histogram[bin];
      }
    }
  }
};

}  // namespace detail

/// Each first needs to be called without temporary storage; see detail::Call for the errors. Bins are one fewer than
/// levels; samples outside of all are not counted. A row of samples may be followed by others that do not count.
struct DeviceHistogram {
  template <class In, class Counter, class Level, class Count>
  static cudaError_t HistogramEven(void* storage, std::size_t& bytes, In in, Counter* histogram, int num_levels,
                                   Level lower, Level upper, Count count, cudaStream_t stream = nullptr,
                                   detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceHistogram::HistogramEven", storage, bytes, stream, site};
    const detail::EvenBins<Level> bins{num_levels - 1, lower, upper};
    return call.run(0, detail::CountSamples(), in, histogram, std::size_t(count), std::size_t(1), std::size_t(0), bins);
  }
  template <class In, class Counter, class Level, class Count>
  static cudaError_t HistogramEven(void* storage, std::size_t& bytes, In in, Counter* histogram, int num_levels,
                                   Level lower, Level upper, Count per_row, Count rows, std::size_t stride_bytes,
                                   cudaStream_t stream = nullptr, detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceHistogram::HistogramEven", storage, bytes, stream, site};
    const detail::EvenBins<Level> bins{num_levels - 1, lower, upper};
    return call.run(0, detail::CountSamples(), in, histogram, std::size_t(per_row), std::size_t(rows),
                    stride_bytes / sizeof(detail::ValueOf<In>), bins);
  }
  template <class In, class Counter, class Level, class Count>
  static cudaError_t HistogramRange(void* storage, std::size_t& bytes, In in, Counter* histogram, int num_levels,
                                    const Level* levels, Count count, cudaStream_t stream = nullptr,
                                    detail::Site site = detail::Site::here()) {
    const detail::Call call{"cub::DeviceHistogram::HistogramRange", storage, bytes, stream, site};
    const detail::LevelBins<Level> bins{num_levels - 1, levels};
    return call.run(0, detail::CountSamples(), in, histogram, std::size_t(count), std::size_t(1), std::size_t(0), bins);
  }
};

}  // namespace cub
