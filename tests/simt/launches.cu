// What the rewriter must get right, seen from the running program.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <string>

#include "launches.cuh"
#include "managed.h"

namespace {

extern __shared__ char file_scope_bytes[];

__global__ void nothing() {}

__global__ void store(int* to, int value) { *to = value; }

template <class T>
__global__ void store_as(int* to, T value) {
  *to = int(value);
}

__global__ void store_is_null(bool* to, const int* pointer) { *to = pointer == nullptr; }

template <int A, bool B>
__global__ void store_constants(int* to) {
  *to = B ? A : -A;
}

template <class A, class B>
__global__ void store_sizes(int* to, A, B) {
  *to = int(sizeof(A) * 100 + sizeof(B));
}

template <class T>
struct Box {
  T value;
};

template <class T>
struct Holder {
  static constexpr void (*kernel)(int*, T) = store_as<T>;
};

namespace inner::deep {
__global__ void store_nine(int* to) { *to = 9; }
}  // namespace inner::deep

__global__ void count_threads(unsigned* count) { atomicAdd(count, 1); }

__global__ void shapes(dim3* to) {
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z == 0) {
    to[0] = gridDim;
    to[1] = blockDim;
  }
}

template <class T>
__global__ void sum_through_shared(const T* from, T* to) {
  extern __shared__ __align__(16) T values[];
  values[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    T sum = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) sum += values[i];
    *to = sum;
  }
}

__global__ void sum_through_file_scope(const int* from, int* to) {
  int* values = reinterpret_cast<int*>(file_scope_bytes);
  int* same = (int*)file_scope_bytes;
  values[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) sum += same[i];
    *to = sum;
    to[1] = file_scope_bytes[0];
  }
}

__global__ void matrix_in_shared(int* to) {
  extern __shared__ int rows[][4];
  rows[threadIdx.x][3] = int(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) *to = rows[1][3] + rows[2][3];
}

__global__ void aligned_in_shared(unsigned* misaligned) {
  __shared__ alignas(64) char a[3];
  static __shared__ __align__(32) char b[3];
  __shared__ char plain[3];
  a[threadIdx.x] = b[threadIdx.x] = plain[threadIdx.x] = 0;
  *misaligned = unsigned(reinterpret_cast<std::size_t>(a) % 64 + reinterpret_cast<std::size_t>(b) % 32);
}

struct alignas(64) Line {
  int values[16];
};
struct __align__(128) Wide {
  int value;
};
template <class T>
struct Boxed {
  T inner;
};
template <class T>
__global__ void aligned_types_in_shared(unsigned* misaligned) {
  __shared__ char before[3];
  __shared__ Line line;
  __shared__ char between[5];
  __shared__ Boxed<T> boxes[2];
  __shared__ T last;
  before[0] = between[0] = 0;
  line.values[0] = boxes[1].inner.value = last.value = 0;
  const auto address = [](const auto& object) { return reinterpret_cast<std::size_t>(&object); };
  *misaligned = unsigned(address(line) % 64 + address(boxes) % 128 + address(last) % 128) + unsigned(before[0]);
}

__global__ void store_number(int* to, int number) { *to = number; }

__global__ void aligned_dynamic(unsigned* misaligned) {
  extern __shared__ char bytes[];
  *misaligned = unsigned(reinterpret_cast<std::size_t>(bytes) % 128);
}

/// Counts what is done with it, which only the host does.
struct Counted {
  int value;
  int* copies;
  int* destroyed;

  Counted(const Counted& other) : value(other.value), copies(other.copies), destroyed(other.destroyed) { ++*copies; }
  Counted(int value, int* copies, int* destroyed) : value(value), copies(copies), destroyed(destroyed) {}
  ~Counted() { ++*destroyed; }
};
__global__ void sum_changed(Counted counted, int* to) {
  counted.value += int(threadIdx.x);  // its own
  atomicAdd(to, counted.value);
}
template <class T>
__global__ void sum_of_any(T counted, int* to) {
  atomicAdd(to, counted.value);
}
__global__ void sum_overloaded(Counted counted, int* to) { atomicAdd(to, counted.value); }
[[maybe_unused]] __global__ void sum_overloaded(int, int*) {}

#define LAUNCH_ONE(kernel, ...) kernel<<<1, 1>>>(__VA_ARGS__)
// clang-format off
#define LAUNCH_PASTED(suffix, to) \
  store_##suffix<int>             \
      <<<1, 1>>>(to, 8)
#define CONFIGURATION(grid, block) <<<grid, block>>>
// clang-format on
#define STATEMENT(text) \
  do {                  \
    text;               \
  } while (0)

struct Totals {
  int sum, by;
};
__global__ void add_to(Totals& totals, int by) {
  totals.by = by;
  atomicAdd(&totals.sum, by);
}

}  // namespace

TEST_CASE("a kernel without arguments can be launched") {
  nothing<<<1, 1>>>();
  nothing<<<1, 1>>>(/* none */);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a reference to managed memory is passed as one") {
  Managed<Totals> totals(1);
  add_to<<<1, 4>>>(totals[0], 5);
  add_to<<<1, 4>>>(*totals.data(), totals[0].by);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(totals[0].sum == 4 * 5 + 4 * 5);
}

TEST_CASE("a macro may stand for the configuration") {
  Managed<int> to(1);
  store_constants<7, true> CONFIGURATION(1, 1)(to.data());
  CHECK(to[0] == 7);
}

TEST_CASE("template arguments may contain commas, '>' and shifts") {
  Managed<int> to(1);
  store_constants<(3 > 2), true><<<1, 1>>>(to.data());
  CHECK(to[0] == 1);
  store_constants<1 << 4, false><<<1, 1>>>(to.data());
  CHECK(to[0] == -16);
  store_as<decltype(1 > 0 ? 1.5 : 2.5)><<<1, 1>>>(to.data(), 7.25);
  CHECK(to[0] == 7);
  store_sizes<std::array<std::array<char, 2>, 3>, Box<Box<int>>>
      <<<1, 1>>>(to.data(), std::array<std::array<char, 2>, 3>{}, Box<Box<int>>{});
  CHECK(to[0] == 604);
  store_sizes<Box<Box<Box<short>>>, char><<<1, 1>>>(to.data(), Box<Box<Box<short>>>{}, 'c');
  CHECK(to[0] == 201);
}

TEST_CASE("the configuration may contain template arguments, comparisons, shifts and braces") {
  Managed<unsigned> count(1);
  const int n = 40;
  // clang-format off
  count_threads<<<n < 64 ? 2 : 3, 32>>>(count.data());
  CHECK(count[0] == 64);
  count_threads<<<n > 64 ? 2 : 3, 1 << 5>>>(count.data());
  // clang-format on
  CHECK(count[0] == 64 + 96);
  count_threads<<<sizeof(Box<Box<int>>), 2>>>(count.data());
  CHECK(count[0] == 160 + 8);
  count_threads<<<1, int(std::array<Box<int>, 2>{}.size())>>>(count.data());
  CHECK(count[0] == 168 + 2);
  Managed<dim3> shape(2);
  shapes<<<{3, 2}, {4, 2, 2}>>>(shape.data());
  CHECK(shape[0].x == 3);
  CHECK(shape[0].y == 2);
  CHECK(shape[0].z == 1);
  CHECK(shape[1].z == 2);
  shapes<<<dim3{5}, dim3(7, 1, 1), 0, cudaStreamPerThread>>>(shape.data());
  CHECK(shape[0].x == 5);
  CHECK(shape[1].x == 7);
}

TEST_CASE("a kernel may be named through namespaces, classes, variables and parentheses") {
  Managed<int> to(1);
  inner::deep::store_nine<<<1, 1>>>(to.data());
  CHECK(to[0] == 9);
  Holder<float>::kernel<<<1, 1>>>(to.data(), 7.5f);
  CHECK(to[0] == 7);
  void (*pointer)(int*, int) = store;
  pointer<<<1, 1>>>(to.data(), 5);
  CHECK(to[0] == 5);
  void (*const table[])(int*, int) = {store, store};
  table[1]<<<1, 1>>>(to.data(), 6);
  CHECK(to[0] == 6);
  (*pointer)<<<1, 1>>>(to.data(), 10);
  CHECK(to[0] == 10);
  struct {
    void (*kernel)(int*, int);
  } holder{store}, *address = &holder;
  holder.kernel<<<1, 1>>>(to.data(), 11);
  CHECK(to[0] == 11);
  address->kernel<<<1, 1>>>(to.data(), 12);
  CHECK(to[0] == 12);
  if (to[0] == 12)
    store<<<1, 1>>>(to.data(), 13);
  else
    store<<<1, 1>>>(to.data(), 14);
  CHECK(to[0] == 13);
}

TEST_CASE("a launch may be in a macro's body and in a macro's argument") {
  Managed<int> to(1);
  LAUNCH_ONE(nothing);
  LAUNCH_ONE(store, to.data(), 4);
  CHECK(to[0] == 4);
  LAUNCH_PASTED(as, to.data());
  CHECK(to[0] == 8);
  STATEMENT((store<<<1, 1>>>(to.data(), 15)));
  CHECK(to[0] == 15);
}

TEST_CASE("a launch may span several lines, with comments between them") {
  Managed<int> to(1);
  // clang-format off
  store  // the kernel
      <<<
          1,  // one block, as in <<<1, 1>>>(
          /* >>> */ 1
      >>>  // and its arguments
      (
          to.data(),
          // a comment
          21);
  // clang-format on
  CHECK(to[0] == 21);
}

TEST_CASE("comments, strings and character literals stay as they are") {
  // store<<<1, 1>>>(nowhere);  it's an apostrophe
  /* extern __shared__ int unused[]; <<< */
  CHECK(std::string("k<<<1, 1>>>(x); // \" ") == "k<<<1, 1>>>" + std::string("(x); // \" "));
  CHECK(std::string(R"x(a "quoted" <<<1>>>() )y" )x").size() == 25);
  CHECK('<' + 1'000 == 1060);
  CHECK(((1 << 3) >> 1) == 4);
}

TEST_CASE("arguments are evaluated once, and each thread gets its own copy") {
  Managed<int> to(1);
  int calls = 0;
  const auto next = [&calls] { return ++calls; };
  store<<<2, 32>>>(to.data(), next());
  CHECK(calls == 1);
  CHECK(to[0] == 1);
}

TEST_CASE("only the host copies and destroys an object with a destructor") {
  Managed<int> to(1);
  int copies = 0, destroyed = 0;
  const Counted counted(5, &copies, &destroyed);
  sum_changed<<<1, 32>>>(counted, to.data());
  CHECK(to[0] == 32 * 5 + 31 * 16);
  sum_of_any<<<1, 2>>>(counted, to.data());
  sum_of_any<Counted><<<1, 2>>>(counted, to.data());
  sum_overloaded<<<1, 2>>>(counted, to.data());
  void (*const variable)(Counted, int*) = sum_overloaded;
  variable<<<1, 2>>>(counted, to.data());
  CHECK(to[0] == 32 * 5 + 31 * 16 + 4 * 2 * 5);
  CHECK(copies == 5);
  CHECK(destroyed == 5);
  int* address = to.data();
  void* arguments[] = {const_cast<Counted*>(&counted), &address};
  CHECK(cudaLaunchKernel((void*)sum_changed, 1, 2, arguments) == cudaSuccess);
  CHECK(to[0] == 32 * 5 + 31 * 16 + 5 * 2 * 5 + 1);
  CHECK(copies == 5);  // of what these addresses point to, the bits are copied
  CHECK(destroyed == 5);
}

TEST_CASE("an integer and its padding in an object with a destructor are no pointer to the host's memory") {
  constexpr std::uintptr_t at = 0x7a00'0000'0000;
  const std::size_t bytes = 1 << 16;
  void* const memory = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  REQUIRE(memory == reinterpret_cast<void*>(at));
  *static_cast<int*>(memory) = 1;                 // a page that was never used is not taken for memory of the host
  const std::uintptr_t words[] = {at + 5, 0, 0};  // what is left of that address in the padding after the value 5
  static_assert(sizeof words == sizeof(Counted));
  simt::Bits<Counted> bits(words);
  simt::guard_argument(bits, 1);
  CHECK(static_cast<Counted&>(bits).value == 5);
  munmap(memory, bytes);
}

TEST_CASE("NULL as an argument is a null pointer") {
  Managed<bool> to(1);
  store_is_null<<<1, 1>>>(to.data(), NULL);
  CHECK(to[0]);
}

TEST_CASE("launches in headers, and in headers that those include, work") {
  Managed<int> to(3);
  header::launch_set(to.data(), 3);
  CHECK(to[0] == 3);
  to[1] = 4;
  to[2] = 5;
  header::launch_reverse(to.data(), 3);
  CHECK(to[0] == 5);
  CHECK(to[2] == 3);
}

TEST_CASE("extern __shared__ gives a template's threads one array of its type") {
  Managed<long long> from(32), to(1);
  for (int i = 0; i < 32; ++i) from[i] = i;
  sum_through_shared<<<1, 32, 32 * sizeof(long long)>>>(from.data(), to.data());
  CHECK(to[0] == 496);
}

TEST_CASE("extern __shared__ at file scope can be indexed and cast") {
  Managed<int> from(32), to(2);
  for (int i = 0; i < 32; ++i) from[i] = i + 1;
  sum_through_file_scope<<<1, 32, 32 * sizeof(int)>>>(from.data(), to.data());
  CHECK(to[0] == 528);
  CHECK(to[1] == 1);
}

TEST_CASE("extern __shared__ may be an array of rows") {
  Managed<int> to(1);
  matrix_in_shared<<<1, 3, 3 * 4 * sizeof(int)>>>(to.data());
  CHECK(to[0] == 3);
}

TEST_CASE("extern __shared__ begins at a multiple of 128 bytes") {
  Managed<unsigned> misaligned(1);
  misaligned[0] = 1;
  aligned_dynamic<<<1, 1, 300>>>(misaligned.data());
  CHECK(misaligned[0] == 0);
}

TEST_CASE("__shared__ with alignas or __align__ has that alignment") {
  Managed<unsigned> misaligned(1);
  misaligned[0] = 1;
  aligned_in_shared<<<1, 3>>>(misaligned.data());
  CHECK(misaligned[0] == 0);
}

TEST_CASE("__shared__ variables have the alignment of their type") {
  Managed<unsigned> misaligned(1);
  misaligned[0] = 1;
  aligned_types_in_shared<Wide><<<1, 1>>>(misaligned.data());
  CHECK(misaligned[0] == 0);
}

TEST_CASE("a lambda that launches a kernel need not capture constants") {
  Managed<int> to(1);
  const int number = 7;
  constexpr int threads = 1;
  [](int* target) { store_number<<<1, threads>>>(target, number); }(to.data());
  CHECK(to[0] == 7);
}

namespace {
std::string heard_launches;
}

TEST_CASE("a listener is called for each launch that ran, with its shape and its time") {
  simt::listen_to_launches([](const simt::Kernel& kernel, const simt::LaunchConfig& config, double milliseconds) {
    heard_launches += std::string(kernel.name) + " " + std::to_string(config.grid.x) + "x" +
                      std::to_string(config.block.x) + (milliseconds >= 0 ? "; " : " late; ");
  });
  nothing<<<3, 64>>>();
  nothing<<<1, 2048>>>();  // refused
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  simt::listen_to_launches(nullptr);
  nothing<<<1, 1>>>();
  CHECK(heard_launches == "nothing 3x64; ");
}
