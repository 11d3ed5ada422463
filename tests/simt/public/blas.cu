// The functions of cuBLAS and of cuRAND's host interface that most programs use.
#include <cublas_v2.h>
#include <curand.h>

#include <cmath>

#include "expect.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

namespace {

void test_vectors(cublasHandle_t handle) {
  constexpr int n = 1000;
  Array<float> x(n), y(n);
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[std::size_t(i)] = float(i % 7) - 3;
  BLAS(cublasSetVector(n, sizeof(float), host.data(), 1, x.data(), 1));
  y.fill([](int) { return 1.0f; });
  const float two = 2;
  BLAS(cublasSaxpy(handle, n, &two, x.data(), 1, y.data(), 1));
  BLAS(cublasGetVector(n, sizeof(float), y.data(), 1, host.data(), 1));
  EXPECT(host[0] == -5 && host[6] == 7);
  float dot = 0, norm = 0, sum = 0;
  int position = 0;
  BLAS(cublasSdot(handle, n, x.data(), 1, x.data(), 1, &dot));
  BLAS(cublasSnrm2(handle, n, x.data(), 1, &norm));
  BLAS(cublasSasum(handle, n / 2, x.data(), 2, &sum));
  BLAS(cublasIsamax(handle, n, y.data(), 1, &position));
  EXPECT(dot == 3995 && std::fabs(norm - std::sqrt(3995.0f)) < 1e-3f && sum > 0 && position == 7);
}

// C = 2 A^T B + C, with A^T of 3 x 4 and B of 4 x 2, in column-major order.
void test_matrices(cublasHandle_t handle) {
  Array<double> a(12), b(8), c(6), x(4), y(3);
  a.fill([](int i) { return i; });
  b.fill([](int i) { return i - 3; });
  c.fill([](int i) { return 100 * i; });
  x.fill([](int i) { return i; });
  const double two = 2, one = 1, zero = 0;
  BLAS(cublasDgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, 2, 4, &two, a.data(), 4, b.data(), 4, &one, c.data(), 3));
  BLAS(cublasDgemv(handle, CUBLAS_OP_T, 4, 3, &one, a.data(), 4, x.data(), 1, &zero, y.data(), 1));
  EXPECT((c.values() == std::vector<double>{-8, 44, 96, 340, 520, 700}));
  EXPECT((y.values() == std::vector<double>{14, 38, 62}));
  EXPECT(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 3, 2, 4, &two, a.data(), 2, b.data(), 4, &one, c.data(), 3) ==
         CUBLAS_STATUS_INVALID_VALUE);
}

void test_random_numbers() {
  constexpr int n = 4000;
  curandGenerator_t generator;
  EXPECT(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS);
  EXPECT(curandSetPseudoRandomGeneratorSeed(generator, 1234ull) == CURAND_STATUS_SUCCESS);
  Array<float> uniform(n), normal(n);
  EXPECT(curandGenerateUniform(generator, uniform.data(), n) == CURAND_STATUS_SUCCESS);
  EXPECT(curandGenerateNormal(generator, normal.data(), n, 5, 2) == CURAND_STATUS_SUCCESS);
  double sum = 0, squares = 0;
  for (float x : uniform.values()) {
    EXPECT(x > 0 && x <= 1);
    sum += x;
  }
  for (float x : normal.values()) squares += (x - 5) * (x - 5);
  EXPECT(std::fabs(sum / n - 0.5) < 0.02 && std::fabs(squares / n - 4) < 0.4);
  EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
}

}  // namespace

int main() {
  cublasHandle_t handle;
  BLAS(cublasCreate(&handle));
  test_vectors(handle);
  test_matrices(handle);
  BLAS(cublasDestroy(handle));
  test_random_numbers();
  return finish();
}
