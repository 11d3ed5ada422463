// The functions of cuFFT that most programs use (cuFFT Library, "cuFFT API Reference"). A kernel reads the values, the
// host transforms them in double precision, in the stream's order, and another kernel writes the result. Their costs
// say nothing about those of cuFFT. What is missing, such as callbacks, is not declared, so that the compiler names it.
#pragma once

#define _CUFFT_H_  // CUDA's header of the same name is not read

#include <array>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cuComplex.h"
#include "cuda_runtime.h"
#include "library_types.h"
#include "simt/fourier.h"

#define CUFFT_VER_MAJOR 12
#define CUFFT_VER_MINOR 0
#define CUFFT_VER_PATCH 0
#define CUFFT_VER_BUILD 0
#define CUFFT_VERSION 12000

#define CUFFT_FORWARD (-1)
#define CUFFT_INVERSE 1
#define CUFFT_PLAN_NULL (-1)
#define CUFFT_COMPATIBILITY_DEFAULT CUFFT_COMPATIBILITY_FFTW_PADDING

enum cufftResult_t {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_INVALID_DEVICE = 11,
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_NOT_SUPPORTED = 16,
  CUFFT_MISSING_DEPENDENCY = 17,
  CUFFT_NVRTC_FAILURE = 18,
  CUFFT_NVJITLINK_FAILURE = 19,
  CUFFT_NVSHMEM_FAILURE = 20
};
using cufftResult = cufftResult_t;
enum cufftType_t {
  CUFFT_C2C = 0x29,
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_Z2Z = 0x69,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c
};
using cufftType = cufftType_t;
enum cufftCompatibility_t { CUFFT_COMPATIBILITY_FFTW_PADDING = 1 };
using cufftCompatibility = cufftCompatibility_t;

using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = cuComplex;
using cufftDoubleComplex = cuDoubleComplex;
using cufftHandle = int;

namespace simt::fourier {

/// Three sizes; those in front of a transform's own are 1.
using Sizes = std::array<std::size_t, 3>;

/// Where the elements of a batch of transforms lie (cuFFT Library, "Advanced Data Layout").
struct Layout {
  Sizes embed;  ///< the sizes of the array around the elements; the first one does not matter
  std::size_t stride, dist;

  std::size_t at(std::size_t batch, std::size_t row, std::size_t column, std::size_t rows_of_plane) const {
    const std::size_t x = row / rows_of_plane, y = row % rows_of_plane;
    return batch * dist + ((x * embed[1] + y) * embed[2] + column) * stride;
  }
};
/// An array of just these elements.
inline Layout packed(const Sizes& sizes) { return {sizes, 1, sizes[0] * sizes[1] * sizes[2]}; }

/// What a program asks for.
struct Request {
  cufftType type;
  Sizes n;
  std::size_t batch;
  Layout in, out;
  bool is_basic;  ///< the layouts are the usual ones, which depend on whether the result takes the input's place

  bool is_real_input() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool is_real_output() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  /// Of the complex elements; the others of a row are conjugates of these.
  Sizes complex_sizes() const { return {n[0], n[1], is_real_input() || is_real_output() ? n[2] / 2 + 1 : n[2]}; }
  /// With room for the complex elements, where they take the place of the real ones.
  Layout real_layout(bool is_in_place) const {
    return packed(is_in_place ? Sizes{n[0], n[1], 2 * complex_sizes()[2]} : n);
  }
  Layout input(bool is_in_place) const {
    return !is_basic ? in : is_real_input() ? real_layout(is_in_place) : packed(complex_sizes());
  }
  Layout output(bool is_in_place) const {
    return !is_basic ? out : is_real_output() ? real_layout(is_in_place) : packed(complex_sizes());
  }
};

inline Complex loaded(float x) { return {x, 0}; }
inline Complex loaded(double x) { return {x, 0}; }
inline Complex loaded(float2 x) { return {x.x, x.y}; }
inline Complex loaded(double2 x) { return {x.x, x.y}; }
inline void store(float& to, Complex x) { to = float(x.re); }
inline void store(double& to, Complex x) { to = x.re; }
inline void store(float2& to, Complex x) { to = {float(x.re), float(x.im)}; }
inline void store(double2& to, Complex x) { to = {x.re, x.im}; }

/// Maps elements of the program's memory to the plan's, which has whole rows of n[2] complex numbers.
struct Way {
  Complex* values;
  Sizes n;
  std::size_t columns;  ///< of each row that the program's memory has
  Layout layout;

  template <class T>
  void load(const T* from, std::size_t i) const {
    const std::size_t row = i / columns, column = i % columns;
    values[row * n[2] + column] = loaded(from[place(row, column)]);
  }
  template <class T>
  void save(T* to, std::size_t i) const {
    const std::size_t row = i / columns, column = i % columns;
    store(to[place(row, column)], values[row * n[2] + column]);
  }

 private:
  std::size_t place(std::size_t row, std::size_t column) const {
    const std::size_t rows = n[0] * n[1];
    return layout.at(row / rows, row % rows, column, n[1]);
  }
};

class Plan {
 public:
  cudaStream_t stream = nullptr;
  Request request{};

  Plan() = default;
  ~Plan() {
    if (values_ != nullptr) cudaFreeHost(values_);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  bool is_made() const { return values_ != nullptr; }
  /// The size of the values.
  std::size_t bytes() const { return count() * sizeof(Complex); }
  /// Allocates what the transforms need.
  cufftResult make(const Request& new_request) {
    if (is_made()) return CUFFT_INVALID_PLAN;
    request = new_request;
    if (cudaMallocHost(&values_, bytes()) != cudaSuccess) return CUFFT_ALLOC_FAILED;
    for (const std::size_t n : request.n) lines_.push_back(std::make_unique<Transform>(n));
    return CUFFT_SUCCESS;
  }

  /// One transform of each of the batch, as three steps in the stream.
  template <class In, class Out>
  cufftResult run(const char* name, const In* in, Out* out, bool is_inverse, Site site) {
    const bool is_in_place = static_cast<const void*>(in) == static_cast<const void*>(out);
    const auto columns = [&](bool is_real) { return is_real ? request.n[2] : request.complex_sizes()[2]; };
    const Way from{values_, request.n, columns(request.is_real_input()), request.input(is_in_place)};
    const Way to{values_, request.n, columns(request.is_real_output()), request.output(is_in_place)};
    const auto load = [](auto& way, auto& memory, auto& end) {
      const std::size_t i = std::size_t(blockIdx.x) * block + threadIdx.x;
      if (i < end) way.load(memory, i);
    };
    const auto save = [](auto& way, auto& memory, auto& end) {
      const std::size_t i = std::size_t(blockIdx.x) * block + threadIdx.x;
      if (i < end) way.save(memory, i);
    };
    const cudaHostFn_t transform = is_inverse ? [](void* plan) { static_cast<Plan*>(plan)->transform(true); }
                                              : [](void* plan) { static_cast<Plan*>(plan)->transform(false); };
    const bool runs = launch(load, name, site, from, in) == cudaSuccess &&
                      cudaLaunchHostFunc(stream, transform, this) == cudaSuccess &&
                      launch(save, name, site, to, out) == cudaSuccess;
    return runs ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
  }

 private:
  static constexpr unsigned block = 128;

  std::size_t rows() const { return request.batch * request.n[0] * request.n[1]; }
  std::size_t count() const { return rows() * request.n[2]; }

  /// A kernel with this name that has a thread for each element of the program's memory.
  template <class Thread, class T>
  cudaError_t launch(const Thread& thread, const char* name, Site site, const Way& way, T* memory) const {
    const std::size_t n = rows() * way.columns;
    const LaunchConfig config(dim3(unsigned((n + block - 1) / block)), dim3(block), 0, stream);
    Bound<Thread, Way, T*, std::size_t> bound{thread, {way, memory, n}};
    return run_bound(bound, name, site, config);
  }

  /// Real input comes first along the rows, whose first half determines the rest; real output comes last along them.
  void transform(bool is_inverse) {
    if (!request.is_real_output()) transform_rows(is_inverse);
    transform_lines(1, request.n[2], is_inverse);
    transform_lines(0, request.n[1] * request.n[2], is_inverse);
    if (!request.is_real_output()) return;
    const std::size_t n = request.n[2];
    for (Complex* row = values_; row != values_ + count(); row += n) {
      for (std::size_t i = n / 2 + 1; i < n; ++i) row[i] = row[n - i].conjugate();
    }
    transform_rows(is_inverse);
  }
  void transform_rows(bool is_inverse) {
    if (request.n[2] == 1) return;
    for (std::size_t row = 0; row < rows(); ++row) lines_[2]->run(values_ + row * request.n[2], 1, is_inverse);
  }
  /// Along one of the other dimensions, whose elements are `stride` apart.
  void transform_lines(std::size_t dimension, std::size_t stride, bool is_inverse) {
    const std::size_t n = request.n[dimension], columns = request.complex_sizes()[2];
    if (n == 1) return;
    for (std::size_t first = 0; first < count(); first += n * stride) {
      for (std::size_t i = 0; i < stride; ++i) {
        if (i % request.n[2] < columns) lines_[dimension]->run(values_ + first + i, stride, is_inverse);
      }
    }
  }

  Complex* values_ = nullptr;  // in memory that kernels and the host share
  std::vector<std::unique_ptr<Transform>> lines_;
};

/// All plans.
class Plans {
 public:
  static Plans& instance() {
    static auto* const plans = new Plans;  // never destroyed, like the device's memory
    return *plans;
  }
  cufftHandle add() {
    const std::lock_guard lock(mutex_);
    plans_[++last_] = std::make_unique<Plan>();
    return last_;
  }
  /// Null: there is no such plan.
  Plan* find(cufftHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(handle);
    return found == plans_.end() ? nullptr : found->second.get();
  }
  bool remove(cufftHandle handle) {
    const std::lock_guard lock(mutex_);
    return plans_.erase(handle) == 1;
  }

 private:
  std::mutex mutex_;
  std::map<cufftHandle, std::unique_ptr<Plan>> plans_;
  cufftHandle last_ = 0;
};

inline bool is_type(cufftType type) {
  for (const cufftType one : {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D}) {
    if (type == one) return true;
  }
  return false;
}

/// The sizes of up to three dimensions. False: they are too many or too few, or one is not positive.
template <class Int>
bool read_sizes(int rank, const Int* from, Sizes& to) {
  if (rank < 1 || rank > 3) return false;
  to = {1, 1, 1};
  for (int i = 0; i < rank; ++i) {
    if (from[i] <= 0) return false;
    to[std::size_t(3 - rank + i)] = std::size_t(from[i]);
  }
  return true;
}

/// A layout as a program describes it.
template <class Int>
struct Described {
  const Int* embed;  ///< null: the usual layout
  Int stride, dist;

  bool read(int rank, Layout& to) const {
    // The outermost size has no influence, and some programs pass 0.
    std::array<Int, 3> sizes{1, 1, 1};
    for (int i = 1; i < rank && i < 3; ++i) sizes[std::size_t(i)] = embed[i];
    to.stride = std::size_t(stride);
    to.dist = std::size_t(dist);
    return read_sizes(rank, sizes.data(), to.embed) && stride > 0 && dist >= 0;
  }
};

/// Makes the plan that a program asks for, with usual layouts or its own. `bytes` is set to what it has allocated.
template <class Int>
cufftResult make(cufftHandle handle, Request request, int rank, const Int* n, long long batch, std::size_t* bytes) {
  Plan* const plan = Plans::instance().find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  if (n == nullptr || bytes == nullptr) return CUFFT_INVALID_VALUE;
  if (!is_type(request.type)) return CUFFT_INVALID_TYPE;
  if (!read_sizes(rank, n, request.n) || batch <= 0) return CUFFT_INVALID_SIZE;
  request.batch = std::size_t(batch);
  const cufftResult result = plan->make(request);
  *bytes = result == CUFFT_SUCCESS ? plan->bytes() : 0;
  return result;
}
inline cufftResult make(cufftHandle handle, cufftType type, std::initializer_list<int> n, int batch,
                        std::size_t* bytes) {
  return make(handle, Request{type, {}, 0, {}, {}, true}, int(n.size()), n.begin(), batch, bytes);
}

/// The request for a plan with these layouts, of which a null pointer in one makes both the usual ones.
template <class Int>
cufftResult describe(cufftType type, int rank, const Described<Int>& in, const Described<Int>& out, Request& request) {
  request = {type, {}, 0, {}, {}, in.embed == nullptr || out.embed == nullptr};
  if (request.is_basic) return CUFFT_SUCCESS;
  return in.read(rank, request.in) && out.read(rank, request.out) ? CUFFT_SUCCESS : CUFFT_INVALID_VALUE;
}

/// A new plan, which is removed again if make_it(plan, bytes) fails.
template <class Make>
cufftResult create(cufftHandle* handle, const Make& make_it) {
  if (handle == nullptr) return CUFFT_INVALID_VALUE;
  *handle = Plans::instance().add();
  std::size_t bytes = 0;
  const cufftResult result = make_it(*handle, &bytes);
  if (result != CUFFT_SUCCESS) Plans::instance().remove(*handle);
  return result;
}

/// A call of the program.
struct Call {
  const char* name;
  cufftType type;
  int direction;
  Site site;
};

template <class In, class Out>
cufftResult run(cufftHandle handle, const Call& call, const In* in, Out* out) {
  Plan* const plan = Plans::instance().find(handle);
  if (plan == nullptr || !plan->is_made()) return CUFFT_INVALID_PLAN;
  if (plan->request.type != call.type || in == nullptr || out == nullptr) return CUFFT_INVALID_VALUE;
  if (call.direction != CUFFT_FORWARD && call.direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
  return plan->run(call.name, in, out, call.direction == CUFFT_INVERSE, call.site);
}

}  // namespace simt::fourier

// --- plans ---
// Sizes are in elements; the last one is that of the dimension whose elements are next to one another. Errors:
// CUFFT_INVALID_PLAN: there is no such plan, or it has been made before; CUFFT_INVALID_TYPE: there is no such type;
// CUFFT_INVALID_SIZE: a size or the batch is not positive, or there are more than three dimensions;
// CUFFT_INVALID_VALUE: a null pointer or a wrong layout; CUFFT_ALLOC_FAILED: there is too little memory.

inline cufftResult cufftCreate(cufftHandle* plan) {
  return simt::fourier::create(plan, [](cufftHandle, std::size_t*) { return CUFFT_SUCCESS; });
}
inline cufftResult cufftDestroy(cufftHandle plan) {
  return simt::fourier::Plans::instance().remove(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
/// `bytes`: what the plan has allocated.
inline cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, std::size_t* bytes) {
  return simt::fourier::make(plan, type, {nx}, batch, bytes);
}
inline cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, std::size_t* bytes) {
  return simt::fourier::make(plan, type, {nx, ny}, 1, bytes);
}
inline cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, std::size_t* bytes) {
  return simt::fourier::make(plan, type, {nx, ny, nz}, 1, bytes);
}
#define SIMT_MAKE_PLAN(name, Int)                                                                                   \
  inline cufftResult name(cufftHandle plan, int rank, Int* n, Int* inembed, Int istride, Int idist, Int* onembed,   \
                          Int ostride, Int odist, cufftType type, Int batch, std::size_t* bytes) {                  \
    const simt::fourier::Described<Int> in{inembed, istride, idist}, out{onembed, ostride, odist};                  \
    simt::fourier::Request request;                                                                                 \
    const cufftResult result = simt::fourier::describe(type, rank, in, out, request);                               \
    return result == CUFFT_SUCCESS ? simt::fourier::make(plan, request, rank, n, (long long)batch, bytes) : result; \
  }
SIMT_MAKE_PLAN(cufftMakePlanMany, int)
SIMT_MAKE_PLAN(cufftMakePlanMany64, long long)
#undef SIMT_MAKE_PLAN

#define SIMT_PLAN(suffix, parameters, ...)                                                                            \
  inline cufftResult cufftPlan##suffix parameters {                                                                   \
    return simt::fourier::create(                                                                                     \
        plan, [&](cufftHandle made, std::size_t* bytes) { return cufftMakePlan##suffix(made, __VA_ARGS__, bytes); }); \
  }
SIMT_PLAN(1d, (cufftHandle * plan, int nx, cufftType type, int batch), nx, type, batch)
SIMT_PLAN(2d, (cufftHandle * plan, int nx, int ny, cufftType type), nx, ny, type)
SIMT_PLAN(3d, (cufftHandle * plan, int nx, int ny, int nz, cufftType type), nx, ny, nz, type)
SIMT_PLAN(Many,
          (cufftHandle * plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
           int odist, cufftType type, int batch),
          rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch)
#undef SIMT_PLAN

inline cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  simt::fourier::Plan* const found = simt::fourier::Plans::instance().find(plan);
  if (found == nullptr) return CUFFT_INVALID_PLAN;
  found->stream = stream;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftGetSize(cufftHandle plan, std::size_t* bytes) {
  const simt::fourier::Plan* const found = simt::fourier::Plans::instance().find(plan);
  if (found == nullptr) return CUFFT_INVALID_PLAN;
  if (bytes == nullptr) return CUFFT_INVALID_VALUE;
  *bytes = found->bytes();
  return CUFFT_SUCCESS;
}
// A plan has memory of its own, whatever the program gives it.
inline cufftResult cufftSetAutoAllocation(cufftHandle plan, int) {
  return simt::fourier::Plans::instance().find(plan) != nullptr ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
inline cufftResult cufftSetWorkArea(cufftHandle plan, void*) { return cufftSetAutoAllocation(plan, 0); }
inline cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}

// --- transforms ---
// Not normalized: an inverse after a forward transform multiplies by the number of elements. Errors:
// CUFFT_INVALID_PLAN: there is no such plan, or it has not been made; CUFFT_INVALID_VALUE: it is of another type, a
// pointer is null, or the direction is neither of the two; CUFFT_EXEC_FAILED: a kernel could not be launched.
#define SIMT_SITE simt::Site site = simt::Site::here()
#define SIMT_FOURIER(Type, In, Out, direction, ...)                                               \
  inline cufftResult cufftExec##Type(cufftHandle plan, In* in, Out* out, __VA_ARGS__) {           \
    return simt::fourier::run(plan, {"cufftExec" #Type, CUFFT_##Type, direction, site}, in, out); \
  }
SIMT_FOURIER(C2C, cufftComplex, cufftComplex, direction, int direction, SIMT_SITE)
SIMT_FOURIER(Z2Z, cufftDoubleComplex, cufftDoubleComplex, direction, int direction, SIMT_SITE)
SIMT_FOURIER(R2C, cufftReal, cufftComplex, CUFFT_FORWARD, SIMT_SITE)
SIMT_FOURIER(D2Z, cufftDoubleReal, cufftDoubleComplex, CUFFT_FORWARD, SIMT_SITE)
SIMT_FOURIER(C2R, cufftComplex, cufftReal, CUFFT_INVERSE, SIMT_SITE)
SIMT_FOURIER(Z2D, cufftDoubleComplex, cufftDoubleReal, CUFFT_INVERSE, SIMT_SITE)
#undef SIMT_FOURIER
#undef SIMT_SITE
