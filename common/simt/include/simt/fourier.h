// The discrete Fourier transform of any length on the host, in double precision; cufft.h uses it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace simt::fourier {

/// Without the tests for infinite parts that a product of std::complex makes.
struct Complex {
  double re = 0, im = 0;

  Complex conjugate() const { return {re, -im}; }
  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};

/// exp(-2 pi i k / n), for k < n.
inline Complex root_of_unity(std::uint64_t k, std::uint64_t n) {
  const double angle = -2 * 3.14159265358979323846 * (double(k) / double(n));
  return {std::cos(angle), std::sin(angle)};
}

/// Forward transforms of a length whose prime factors are small (Cooley and Tukey, "An Algorithm for the Machine
/// Calculation of Complex Fourier Series", Mathematics of Computation 19, 1965).
class MixedRadix {
 public:
  static constexpr std::size_t largest = 61;  ///< a larger factor p would cost p operations for each element

  /// Whether all prime factors of n are small enough.
  static bool divides(std::size_t n) {
    for (std::size_t p = 2; p <= largest; ++p) {
      while (n % p == 0) n /= p;
    }
    return n == 1;
  }

  explicit MixedRadix(std::size_t n) : n_(n), roots_(n) {
    for (std::size_t k = 0; k < n; ++k) roots_[k] = root_of_unity(k, n);
    for (; n % 4 == 0; n /= 4) factors_.push_back(4);
    for (std::size_t p = 2; n > 1; ++p) {
      for (; n % p == 0; n /= p) factors_.push_back(p);
    }
  }

  void run(const Complex* in, Complex* out) const { transform(in, 1, out, n_, factors_.data()); }

 private:
  /// Of every `stride`th of the values, of which there are n.
  void transform(const Complex* in, std::size_t stride, Complex* out, std::size_t n, const std::size_t* factor) const {
    if (n == 1) {
      *out = *in;
      return;
    }
    const std::size_t p = *factor, part = n / p;
    for (std::size_t q = 0; q < p; ++q) transform(in + q * stride, stride * p, out + q * part, part, factor + 1);
    for (std::size_t k = 0; k < part; ++k) combine(out + k, p, part, k * stride);
  }

  /// Transforms p values, `part` apart, of which value q is multiplied by root number q * step first.
  void combine(Complex* values, std::size_t p, std::size_t part, std::size_t step) const {
    Complex x[largest];
    for (std::size_t q = 0; q < p; ++q) x[q] = values[q * part] * roots_[q * step];
    if (p == 2) {
      values[0] = x[0] + x[1];
      values[part] = x[0] - x[1];
    } else if (p == 4) {
      const Complex sums[2] = {x[0] + x[2], x[1] + x[3]}, difference = x[0] - x[2], other = x[1] - x[3];
      const Complex turned{other.im, -other.re};
      values[0] = sums[0] + sums[1];
      values[part] = difference + turned;
      values[2 * part] = sums[0] - sums[1];
      values[3 * part] = difference - turned;
    } else {
      const std::size_t apart = n_ / p;
      for (std::size_t j = 0; j < p; ++j) {
        Complex sum = x[0];
        for (std::size_t q = 1; q < p; ++q) sum = sum + x[q] * roots_[j * q % p * apart];
        values[j * part] = sum;
      }
    }
  }

  std::size_t n_;
  std::vector<Complex> roots_;
  std::vector<std::size_t> factors_;
};

/// The transforms of one length, which are not normalized. They share memory: one at a time.
class Transform {
 public:
  explicit Transform(std::size_t n) : n_(n), inner_(inner_length(n)), in_(inner_length(n)), out_(inner_length(n)) {
    if (!is_convolution()) return;
    for (std::uint64_t k = 0; k < n; ++k) chirp_.push_back(root_of_unity(k * k % (2 * n), 2 * n));
    for (std::size_t k = 0; k < n; ++k) in_[k] = in_[k == 0 ? 0 : in_.size() - k] = chirp_[k].conjugate();
    filter_.resize(in_.size());
    inner_.run(in_.data(), filter_.data());
  }

  /// In place, of n values `stride` apart. The inverse transform is the conjugate of that of the conjugates.
  void run(Complex* values, std::size_t stride, bool is_inverse) {
    const auto turned = [is_inverse](Complex x) { return is_inverse ? x.conjugate() : x; };
    for (std::size_t i = 0; i < n_; ++i) in_[i] = turned(values[i * stride]);
    if (is_convolution()) {
      convolve();
    } else {
      inner_.run(in_.data(), out_.data());
    }
    for (std::size_t i = 0; i < n_; ++i) values[i * stride] = turned(out_[i]);
  }

 private:
  static std::size_t inner_length(std::size_t n) {
    if (MixedRadix::divides(n)) return n;
    std::size_t length = 1;
    while (length < 2 * n - 1) length *= 2;
    return length;
  }
  bool is_convolution() const { return in_.size() != n_; }

  /// Any length as a convolution, whose length may be a power of two (Bluestein, "A Linear Filtering Approach to the
  /// Computation of Discrete Fourier Transform", IEEE Transactions on Audio and Electroacoustics 18, 1970).
  void convolve() {
    for (std::size_t i = 0; i < in_.size(); ++i) in_[i] = i < n_ ? in_[i] * chirp_[i] : Complex();
    inner_.run(in_.data(), out_.data());
    for (std::size_t i = 0; i < in_.size(); ++i) in_[i] = (out_[i] * filter_[i]).conjugate();
    inner_.run(in_.data(), out_.data());
    const double scale = 1 / double(in_.size());
    for (std::size_t i = 0; i < n_; ++i) out_[i] = out_[i].conjugate() * chirp_[i] * Complex{scale, 0};
  }

  std::size_t n_;
  MixedRadix inner_;
  std::vector<Complex> in_, out_;
  std::vector<Complex> chirp_, filter_;  // only for a convolution
};

}  // namespace simt::fourier
