// The functions of cuFFT that most programs use, compared with the sums that define the transform.
#include <cufft.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>

#include "expect.h"

#define FFT(call) EXPECT((call) == CUFFT_SUCCESS)

namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;

double value(std::size_t i) { return double(i * 7919 % 101) / 50 - 1; }
Number number(std::size_t i) { return {value(i), value(i + 37)}; }

/// By definition, of elements `stride` apart.
void transform(Numbers& values, std::size_t first, std::size_t n, std::size_t stride, int direction) {
  Numbers result(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      const double angle = direction * 2 * 3.14159265358979323846 * double(i * k % n) / double(n);
      result[k] += values[first + i * stride] * std::polar(1.0, angle);
    }
  }
  for (std::size_t k = 0; k < n; ++k) values[first + k * stride] = result[k];
}
void transform_all(Numbers& values, const std::vector<int>& sizes, int direction) {
  std::size_t stride = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const std::size_t n = std::size_t(sizes[d]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i / stride % n == 0) transform(values, i, n, stride, direction);
    }
    stride *= n;
  }
}

template <class Complex>
bool equal(const std::vector<Complex>& values, const std::function<Number(std::size_t)>& expected, double error) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(std::abs(Number(values[i].x, values[i].y) - expected(i)) < error)) return false;
  }
  return true;
}
template <class Complex>
void clear(Array<Complex>& array) {
  array.fill([](int) { return Complex{}; });
}
template <class Complex>
void set(Array<Complex>& array, const std::function<Number(std::size_t)>& of) {
  array.fill([&](int i) {
    Complex x;
    x.x = decltype(x.x)(of(std::size_t(i)).real());
    x.y = decltype(x.y)(of(std::size_t(i)).imag());
    return x;
  });
}

/// A batch of complex transforms, there and back again in place.
void test_length(int n) {
  constexpr std::size_t batch = 3;
  const std::size_t all = batch * std::size_t(n);
  Array<cufftComplex> in(all), out(all);
  Array<cufftDoubleComplex> in_place(all);
  set(in, number);
  set(in_place, number);
  Numbers expected(all);
  for (std::size_t i = 0; i < all; ++i) expected[i] = number(i);
  for (std::size_t i = 0; i < batch; ++i) transform(expected, i * std::size_t(n), std::size_t(n), 1, CUFFT_FORWARD);
  const auto of_expected = [&](std::size_t i) { return expected[i]; };
  cufftHandle single, twice;
  FFT(cufftPlan1d(&single, n, CUFFT_C2C, int(batch)));
  FFT(cufftPlan1d(&twice, n, CUFFT_Z2Z, int(batch)));
  FFT(cufftExecC2C(single, in.data(), out.data(), CUFFT_FORWARD));
  EXPECT(equal(out.values(), of_expected, 1e-4 * n));
  EXPECT(equal(in.values(), number, 1e-6));
  FFT(cufftExecZ2Z(twice, in_place.data(), in_place.data(), CUFFT_FORWARD));
  EXPECT(equal(in_place.values(), of_expected, 1e-12 * n));
  FFT(cufftExecZ2Z(twice, in_place.data(), in_place.data(), CUFFT_INVERSE));
  EXPECT(equal(in_place.values(), [&](std::size_t i) { return number(i) * double(n); }, 1e-12 * n * n));
  for (const cufftHandle plan : {single, twice}) FFT(cufftDestroy(plan));
}

/// Real numbers and half of their transform, there and back again, in place and elsewhere.
void test_real(const std::vector<int>& sizes, int batch) {
  const std::size_t n = std::size_t(sizes.back()), half = n / 2 + 1;
  std::size_t rows = std::size_t(batch), of_each = 1;
  for (const int size : sizes) of_each *= std::size_t(size);
  rows *= of_each / n;
  Numbers expected;
  for (std::size_t b = 0; b < std::size_t(batch); ++b) {
    Numbers one(of_each);
    for (std::size_t i = 0; i < of_each; ++i) one[i] = value(b * of_each + i);
    transform_all(one, sizes, CUFFT_FORWARD);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  const auto of_half = [&](std::size_t i) { return expected[i / half * n + i % half]; };
  const int rank = int(sizes.size());
  cufftHandle there, back;
  std::vector<int> changeable = sizes;
  FFT(cufftPlanMany(&there, rank, changeable.data(), nullptr, 1, 0, nullptr, 1, 0, CUFFT_D2Z, batch));
  FFT(cufftPlanMany(&back, rank, changeable.data(), nullptr, 1, 0, nullptr, 1, 0, CUFFT_Z2D, batch));

  Array<double> in(rows * n), again(rows * n), padded(rows * half * 2);
  Array<cufftDoubleComplex> out(rows * half);
  in.fill([](int i) { return value(std::size_t(i)); });
  FFT(cufftExecD2Z(there, in.data(), out.data()));
  EXPECT(equal(out.values(), of_half, 1e-9));
  FFT(cufftExecZ2D(back, out.data(), again.data()));
  const std::vector<double> result = again.values();
  for (std::size_t i = 0; i < result.size(); ++i) EXPECT(std::fabs(result[i] - value(i) * double(of_each)) < 1e-9);

  padded.fill([&](int i) {
    const std::size_t row = std::size_t(i) / (2 * half), column = std::size_t(i) % (2 * half);
    return column < n ? value(row * n + column) : 0;
  });
  const auto complex = reinterpret_cast<cufftDoubleComplex*>(padded.data());
  FFT(cufftExecD2Z(there, padded.data(), complex));
  std::vector<double> flat = padded.values();
  std::vector<cufftDoubleComplex> pairs(rows * half);
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {flat[2 * i], flat[2 * i + 1]};
  EXPECT(equal(pairs, of_half, 1e-9));
  FFT(cufftExecZ2D(back, complex, padded.data()));
  flat = padded.values();
  for (std::size_t i = 0; i < rows * n; ++i) {
    EXPECT(std::fabs(flat[i / n * 2 * half + i % n] - value(i) * double(of_each)) < 1e-9);
  }
  for (const cufftHandle plan : {there, back}) FFT(cufftDestroy(plan));
}

/// In two and three dimensions, in a stream, and with a plan that was created before.
void test_dimensions() {
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  cufftHandle flat, deep;
  std::size_t bytes = 0;
  FFT(cufftPlan2d(&flat, 4, 6, CUFFT_C2C));
  FFT(cufftCreate(&deep));
  FFT(cufftMakePlan3d(deep, 2, 3, 4, CUFFT_C2C, &bytes));
  Array<cufftComplex> in(24), out(24);
  set(in, number);
  for (const cufftHandle plan : {flat, deep}) {
    Numbers expected(24);
    for (std::size_t i = 0; i < 24; ++i) expected[i] = number(i);
    transform_all(expected, plan == flat ? std::vector<int>{4, 6} : std::vector<int>{2, 3, 4}, CUFFT_INVERSE);
    FFT(cufftSetStream(plan, stream));
    FFT(cufftExecC2C(plan, in.data(), out.data(), CUFFT_INVERSE));
    CUDA(cudaStreamSynchronize(stream));
    EXPECT(equal(out.values(), [&](std::size_t i) { return expected[i]; }, 1e-3));
    FFT(cufftDestroy(plan));
  }
  CUDA(cudaStreamDestroy(stream));
}

/// The columns of a matrix, which are moved to the rows of one with wider rows.
void test_layouts() {
  constexpr int rows = 8, columns = 3, width = 10;
  Array<cufftComplex> in(rows * columns), out(columns * width);
  set(in, number);
  clear(out);
  Numbers expected(rows * columns), wide(columns * width);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = number(i);
  for (std::size_t i = 0; i < columns; ++i) transform(expected, i, rows, columns, CUFFT_FORWARD);
  for (std::size_t i = 0; i < rows * columns; ++i) wide[i % columns * width + i / columns] = expected[i];
  cufftHandle plan;
  int n[] = {rows}, in_embed[] = {rows}, out_embed[] = {width};
  FFT(cufftPlanMany(&plan, 1, n, in_embed, columns, 1, out_embed, 1, width, CUFFT_C2C, columns));
  FFT(cufftExecC2C(plan, in.data(), out.data(), CUFFT_FORWARD));
  EXPECT(equal(out.values(), [&](std::size_t i) { return wide[i]; }, 1e-4));
  FFT(cufftDestroy(plan));

  // Part of a larger matrix, in place: four columns of its four rows of ten.
  Array<cufftComplex> all(4 * width);
  set(all, number);
  Numbers part(16), whole(4 * width);
  for (std::size_t i = 0; i < 16; ++i) part[i] = number(i / 4 * width + i % 4);
  transform_all(part, {4, 4}, CUFFT_FORWARD);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    whole[i] = i % width < 4 ? part[i / width * 4 + i % width] : number(i);
  }
  int sizes[] = {4, 4}, embed[] = {4, width};
  FFT(cufftPlanMany(&plan, 2, sizes, embed, 1, 4 * width, embed, 1, 4 * width, CUFFT_C2C, 1));
  FFT(cufftExecC2C(plan, all.data(), all.data(), CUFFT_FORWARD));
  EXPECT(equal(all.values(), [&](std::size_t i) { return whole[i]; }, 1e-4));
  FFT(cufftDestroy(plan));
}

/// Long ones: a signal of one frequency has one coefficient that is not 0. 4099 is a prime.
void test_long() {
  for (const int n : {1 << 14, 4099}) {
    constexpr std::size_t frequency = 5;
    Array<cufftComplex> signal{std::size_t(n)};
    set(signal,
        [&](std::size_t i) { return std::polar(1.0, 2 * 3.14159265358979323846 * double(frequency * i) / double(n)); });
    cufftHandle plan;
    FFT(cufftPlan1d(&plan, n, CUFFT_C2C, 1));
    FFT(cufftExecC2C(plan, signal.data(), signal.data(), CUFFT_FORWARD));
    EXPECT(equal(signal.values(), [&](std::size_t i) { return Number(i == frequency ? double(n) : 0); }, 0.05));
    FFT(cufftDestroy(plan));
  }
}

/// A transform as part of a graph.
void test_graph() {
  Array<cufftComplex> values(8);
  set(values, number);
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  cufftHandle plan;
  FFT(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  FFT(cufftSetStream(plan, stream));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  FFT(cufftExecC2C(plan, values.data(), values.data(), CUFFT_FORWARD));
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) CUDA(cudaGraphLaunch(exec, stream));  // twice: the values in reverse order
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(equal(values.values(), [](std::size_t i) { return 8.0 * number((8 - i) % 8); }, 1e-3));
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  FFT(cufftDestroy(plan));
  CUDA(cudaStreamDestroy(stream));
}

void test_errors() {
  cufftHandle plan;
  std::size_t bytes = 0;
  int version = 0;
  FFT(cufftGetVersion(&version));
  EXPECT(version >= 10000);
  EXPECT(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
  FFT(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  FFT(cufftGetSize(plan, &bytes));
  Array<cufftComplex> values(8);
  clear(values);
  EXPECT(cufftExecC2C(plan, values.data(), values.data(), 2) == CUFFT_INVALID_VALUE);
  FFT(cufftDestroy(plan));
  EXPECT(cufftExecC2C(plan, values.data(), values.data(), CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
  EXPECT(cufftDestroy(plan) == CUFFT_INVALID_PLAN);
}

}  // namespace

int main() {
  for (const int n : {1, 2, 3, 8, 12, 100, 127}) test_length(n);
  for (const int n : {1, 2, 9, 12}) test_real({n}, 2);
  test_real({6, 5}, 1);
  test_real({3, 4}, 2);
  test_real({2, 3, 4}, 1);
  test_dimensions();
  test_layouts();
  test_long();
  test_graph();
  test_errors();
  return finish();
}
