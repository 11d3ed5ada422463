// Objects that own device memory, as arguments: only the host copies and destroys them.
#include <memory>
#include <utility>

#include "../case.h"

/// Copies do not own the memory.
struct Buffer {
  int* data = device<int>(64);
  bool is_owner = true;

  Buffer() = default;
  Buffer(const Buffer& other) : data(other.data), is_owner(false) {}
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (is_owner) cudaFree(data);
  }
};
__global__ void fill(Buffer buffer, int value) { buffer.data[threadIdx.x] = value; }
CASE {
  const Buffer buffer;
  fill<<<1, 64>>>(buffer, 1);
  fill<<<1, 64>>>(buffer, 2);
  int host[64];
  cudaMemcpy(host, buffer.data, sizeof host, cudaMemcpyDeviceToHost);
}

/// The last copy frees the memory. The host counts them, in memory of its own.
template <class T>
struct Counted {
  T* data = device<T>(64);
  int* owners = new int(1);

  Counted() = default;
  Counted(const Counted& other) : data(other.data), owners(other.owners) { ++*owners; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    if (--*owners > 0) return;
    cudaFree(data);
    delete owners;
  }
  __device__ T& operator[](unsigned i) { return data[i]; }
};
template <class T>
__global__ void store(Counted<T> values) {
  values[threadIdx.x] = T(threadIdx.x);
}
template <int by, class T>
__global__ void add(Counted<T> values, Counted<T> more) {
  values[threadIdx.x] += by * more[63 - threadIdx.x];
}
CASE {
  const Counted<float> values, more;
  store<<<1, 64>>>(values);
  store<float><<<1, 64>>>(more);
  add<2><<<1, 64>>>(values, more);
}

/// Through a function that launches any kernel.
template <class Kernel, class... Arguments>
void launch(Kernel kernel, const Arguments&... arguments) {
  kernel<<<1, 64>>>(arguments...);
}
CASE {
  const Counted<int> values, more;
  launch(store<int>, values);
  launch(store<int>, more);
  launch(add<1, int>, values, more);
}

/// A launch by address copies bits.
CASE {
  Counted<int> values;
  void* arguments[] = {&values};
  cudaLaunchKernel((void*)store<int>, 1, 64, arguments);
}

/// It cannot be copied, so the launch gets the memory.
struct Moved {
  int* data = device<int>(64);

  Moved() = default;
  Moved(Moved&& other) : data(std::exchange(other.data, nullptr)) {}
  ~Moved() { cudaFree(data); }
};
__global__ void fill_moved(Moved moved) { moved.data[threadIdx.x] = 1; }
CASE {
  Moved moved;
  fill_moved<<<1, 64>>>(std::move(moved));
  fill_moved<<<1, 64>>>(Moved());
}

/// A member has the destructor, and the kernel does not use it.
struct Shared {
  std::shared_ptr<int> owner;
  int* data;
};
__global__ void fill_shared(Shared shared) { shared.data[threadIdx.x] = 1; }
CASE {
  const Shared shared = {{device<int>(64), cudaFree}, nullptr};
  fill_shared<<<1, 64>>>(Shared{shared.owner, shared.owner.get()});
}
