// Litmus tests of the memory model. `litmus TEST ACCESS PLACE` runs one of them, between threads of one block or of
// several blocks; litmus_test.py compares what is reported with the tables of common/simt/check/MEMORY_MODEL.md, whose
// rows have these names.
#include <cooperative_groups.h>
#include <cuda/atomic>

#include <cstdio>
#include <cstring>
#include <string>

/// Words 256 bytes apart. The host sets them all to 0.
struct Words {
  int* first;
  __device__ int& x() const { return first[0]; }
  __device__ int& y() const { return first[64]; }
  __device__ int& result(int thread) const { return first[128 + 64 * thread]; }
};

// --- kinds of access ---

struct Plain {
  static __device__ int load(int& word) { return word; }
  static __device__ void store(int& word, int value) { word = value; }
};
/// By pointers, because clang 14 forgets that a reference is volatile.
struct Volatile {
  static __device__ int load(int& word) { return *const_cast<volatile int*>(&word); }
  static __device__ void store(int& word, int value) { *const_cast<volatile int*>(&word) = value; }
};
struct Exchange {
  static __device__ int load(int& word) { return atomicAdd(&word, 0); }
  static __device__ void store(int& word, int value) { atomicExch(&word, value); }
};
struct ExchangeInBlock {
  static __device__ int load(int& word) { return atomicAdd_block(&word, 0); }
  static __device__ void store(int& word, int value) { atomicExch_block(&word, value); }
};
template <cuda::thread_scope scope, cuda::memory_order load_order, cuda::memory_order store_order>
struct Ref {
  static __device__ int load(int& word) { return cuda::atomic_ref<int, scope>(word).load(load_order); }
  static __device__ void store(int& word, int value) { cuda::atomic_ref<int, scope>(word).store(value, store_order); }
};
/// The same by read-modify-write operations.
template <cuda::thread_scope scope, cuda::memory_order load_order, cuda::memory_order store_order>
struct RefExchange {
  static __device__ int load(int& word) { return cuda::atomic_ref<int, scope>(word).fetch_add(0, load_order); }
  static __device__ void store(int& word, int value) {
    cuda::atomic_ref<int, scope>(word).exchange(value, store_order);
  }
};

constexpr auto device = cuda::thread_scope_device, block = cuda::thread_scope_block;
constexpr auto relaxed = cuda::memory_order_relaxed, acquire = cuda::memory_order_acquire,
               release = cuda::memory_order_release, seq_cst = cuda::memory_order_seq_cst;

// --- fences ---

struct None {
  static __device__ void fence() {}
};
struct InBlock {
  static __device__ void fence() { __threadfence_block(); }
};
struct OnDevice {
  static __device__ void fence() { __threadfence(); }
};

// --- tests ---

/// 0 to 3 for the threads that take part, each of another warp or block; otherwise 4.
__device__ int role() {
  if (gridDim.x > 1) return threadIdx.x == 0 ? int(blockIdx.x) : 4;
  return threadIdx.x % 32 == 0 ? int(threadIdx.x / 32) : 4;
}

/// Message passing: who sees the flag reads the data.
template <class Data, class Flag, class BeforeFlag, class AfterFlag>
__global__ void mp(Words words) {
  if (role() == 0) {
    Data::store(words.x(), 1);
    BeforeFlag::fence();
    Flag::store(words.y(), 1);
  } else if (role() == 1) {
    int flag = 0;
    for (int i = 0; i < 1000 && flag == 0; ++i) flag = Flag::load(words.y());
    AfterFlag::fence();
    if (flag != 0) words.result(1) = Data::load(words.x());
  }
}

/// The same from block 0 to its second warp, and on to block 1: the second fence publishes what the first one did.
template <class Flag>
__global__ void handed_on(Words words) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    words.x() = 1;
    __threadfence_block();
    Flag::store(words.y(), 1);
  } else if (blockIdx.x == 0 && threadIdx.x == 32) {
    for (int i = 0; i < 1000 && Flag::load(words.y()) == 0; ++i) {
    }
    __threadfence();
    Flag::store(words.result(0), 1);
  } else if (blockIdx.x == 1 && threadIdx.x == 0) {
    int flag = 0;
    for (int i = 0; i < 1000 && flag == 0; ++i) flag = Flag::load(words.result(0));
    __threadfence();
    if (flag != 0) words.result(1) = words.x();
  }
}

/// The flag is seen by one thread of the block, and the data read by another one, which waits for the first one's flag.
template <class First, class Fence>
__global__ void told(Words words) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    words.x() = 1;
    __threadfence();
    First::store(words.y(), 1);
  } else if (blockIdx.x == 1 && threadIdx.x == 0) {
    for (int i = 0; i < 1000 && First::load(words.y()) == 0; ++i) {
    }
    Fence::fence();
    First::store(words.result(0), 1);
  } else if (blockIdx.x == 1 && threadIdx.x == 32) {
    int flag = 0;
    for (int i = 0; i < 1000 && flag == 0; ++i) flag = First::load(words.result(0));
    Fence::fence();
    if (flag != 0) words.result(1) = words.x();
  }
}

/// The same without a flag between the two.
template <class Between>
__global__ void read_by_another(Words words) {
  if (blockIdx.x == 0) {
    if (threadIdx.x != 0) return;
    words.x() = 1;
    __threadfence();
    atomicExch(&words.y(), 1);
  } else if (blockIdx.x == 1) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < 1000 && atomicAdd(&words.y(), 0) == 0; ++i) {
      }
      __threadfence();
    }
    Between::wait();
    if (threadIdx.x == 32) words.result(1) = words.x();
  }
}
struct NoBarrier {
  static __device__ void wait() {}
};
struct BlockBarrier {
  static __device__ void wait() { __syncthreads(); }
};

/// The flag is counted up: a thread that adds without an order passes on what the first thread has published.
template <class First, class Second, class Last>
__global__ void counted(Words words) {
  if (role() == 0) {
    words.x() = 1;
    First::add(words.y());
  } else if (role() == 1) {
    for (int i = 0; i < 1000 && Second::read(words.y()) == 0; ++i) {
    }
    Second::add(words.y());
  } else if (role() == 2) {
    int count = 0;
    for (int i = 0; i < 1000 && count < 2; ++i) count = Last::read(words.y());
    if (count == 2) words.result(2) = words.x();
  }
}
template <cuda::memory_order order>
struct Add {
  static __device__ void add(int& word) { cuda::atomic_ref<int, device>(word).fetch_add(1, order); }
  static __device__ int read(int& word) { return cuda::atomic_ref<int, device>(word).load(order); }
};

/// Store buffering: does one of two threads see what the other has written?
template <class Access, class Fence>
__global__ void sb(Words words) {
  int& own = role() == 0 ? words.x() : words.y();
  int& other = role() == 0 ? words.y() : words.x();
  if (role() > 1) return;
  Access::store(own, 1);
  Fence::fence();
  words.result(role()) = Access::load(other);
}

/// Load buffering: does each of two threads see what the other writes afterwards?
template <class Access, class Fence>
__global__ void lb(Words words) {
  int& read = role() == 0 ? words.x() : words.y();
  int& written = role() == 0 ? words.y() : words.x();
  if (role() > 1) return;
  words.result(role()) = Access::load(read);
  Fence::fence();
  Access::store(written, 1);
}

/// Independent reads of independent writes: do two readers agree on the order of two writes?
template <class Access, class Fence>
__global__ void iriw(Words words) {
  if (role() == 0) Access::store(words.x(), 1);
  if (role() == 1) Access::store(words.y(), 1);
  if (role() != 2 && role() != 3) return;
  int& first = role() == 2 ? words.x() : words.y();
  int& second = role() == 2 ? words.y() : words.x();
  const int read = Access::load(first);
  Fence::fence();
  words.result(role()) = 2 * read + Access::load(second);
}

/// Coherence of reads: does a second read go back behind the first one?
template <class Access, class Fence>
__global__ void corr(Words words) {
  if (role() == 0) Access::store(words.x(), 1);
  if (role() != 1) return;
  const int read = Access::load(words.x());
  Fence::fence();
  words.result(1) = 2 * read + Access::load(words.x());
}

/// Coherence of writes: do two writes of one thread become visible in their order?
template <class Access, class Fence>
__global__ void coww(Words words) {
  if (role() == 0) {
    Access::store(words.x(), 1);
    Fence::fence();
    Access::store(words.x(), 2);
  }
  if (role() == 1) words.result(1) = Access::load(words.x());
}

// --- which test to run ---

using Kernel = void (*)(Words);
struct Test {
  const char *test, *access;
  Kernel kernel;
};

template <class Access, class Fence = None>
constexpr Kernel of_access[] = {sb<Access, Fence>, lb<Access, Fence>, iriw<Access, Fence>, corr<Access, Fence>,
                                coww<Access, Fence>};
constexpr const char* names_of_access[] = {"SB", "LB", "IRIW", "CoRR", "CoWW"};

const Test tests[] = {
    {"MP", "plain, plain flag", mp<Plain, Plain, OnDevice, OnDevice>},
    {"MP", "plain, volatile flag", mp<Plain, Volatile, None, None>},
    {"MP", "plain, fence, volatile flag", mp<Plain, Volatile, OnDevice, None>},
    {"MP", "plain, fence, volatile flag, fence", mp<Plain, Volatile, OnDevice, OnDevice>},
    {"MP", "plain, block fence, volatile flag, block fence", mp<Plain, Volatile, InBlock, InBlock>},
    {"MP", "plain, volatile flag, fence", mp<Plain, Volatile, None, OnDevice>},
    {"MP", "plain, atomicExch", mp<Plain, Exchange, None, None>},
    {"MP", "plain, fence, atomicExch", mp<Plain, Exchange, OnDevice, None>},
    {"MP", "plain, fence, atomicExch, fence", mp<Plain, Exchange, OnDevice, OnDevice>},
    {"MP", "plain, block fence, atomicExch, block fence", mp<Plain, Exchange, InBlock, InBlock>},
    {"MP", "plain, atomicExch, fence", mp<Plain, Exchange, None, OnDevice>},
    {"MP", "plain, fence, atomicExch_block, fence", mp<Plain, ExchangeInBlock, OnDevice, OnDevice>},
    {"MP", "plain, relaxed store, relaxed load", mp<Plain, Ref<device, relaxed, relaxed>, None, None>},
    {"MP", "plain, fence, relaxed store, relaxed load", mp<Plain, Ref<device, relaxed, relaxed>, OnDevice, None>},
    {"MP", "plain, fence, relaxed store, relaxed load, fence",
     mp<Plain, Ref<device, relaxed, relaxed>, OnDevice, OnDevice>},
    {"MP", "plain, block fence, relaxed store, relaxed load, block fence",
     mp<Plain, Ref<device, relaxed, relaxed>, InBlock, InBlock>},
    {"MP", "plain, fence, relaxed store, relaxed load, block fence",
     mp<Plain, Ref<device, relaxed, relaxed>, OnDevice, InBlock>},
    {"MP", "plain, release store, acquire load", mp<Plain, Ref<device, acquire, release>, None, None>},
    {"MP", "plain, release store, relaxed load", mp<Plain, Ref<device, relaxed, release>, None, None>},
    {"MP", "plain, relaxed store, acquire load", mp<Plain, Ref<device, acquire, relaxed>, None, None>},
    {"MP", "plain, release store, acquire load of block scope", mp<Plain, Ref<block, acquire, release>, None, None>},
    {"MP", "plain, seq_cst store, seq_cst load", mp<Plain, Ref<device, seq_cst, seq_cst>, None, None>},
    {"MP", "plain, seq_cst store, seq_cst load of block scope", mp<Plain, Ref<block, seq_cst, seq_cst>, None, None>},
    {"MP", "plain, release exchange, acquire fetch_add", mp<Plain, RefExchange<device, acquire, release>, None, None>},
    {"MP", "plain, release exchange, relaxed fetch_add", mp<Plain, RefExchange<device, relaxed, release>, None, None>},
    {"MP", "plain, relaxed exchange, acquire fetch_add", mp<Plain, RefExchange<device, acquire, relaxed>, None, None>},
    {"MP", "plain, release exchange, acquire fetch_add of block scope",
     mp<Plain, RefExchange<block, acquire, release>, None, None>},
    {"MP", "volatile, volatile flag", mp<Volatile, Volatile, None, None>},
    {"MP", "volatile, fence, volatile flag, fence", mp<Volatile, Volatile, OnDevice, OnDevice>},
    {"MP", "volatile, block fence, volatile flag, block fence", mp<Volatile, Volatile, InBlock, InBlock>},
    {"MP", "atomicExch, atomicExch", mp<Exchange, Exchange, None, None>},
    {"MP", "atomicExch_block, atomicExch_block", mp<ExchangeInBlock, ExchangeInBlock, None, None>},
    {"MP", "atomicExch_block, fence, atomicExch, fence", mp<ExchangeInBlock, Exchange, OnDevice, OnDevice>},
    {"MP", "relaxed, relaxed", mp<Ref<device, relaxed, relaxed>, Ref<device, relaxed, relaxed>, None, None>},
    {"MP", "relaxed of block scope, relaxed of block scope",
     mp<Ref<block, relaxed, relaxed>, Ref<block, relaxed, relaxed>, None, None>},
    {"MP", "volatile, atomicExch_block", mp<Volatile, ExchangeInBlock, None, None>},

    {"three threads", "handed on by atomicExch", handed_on<Exchange>},
    {"three threads", "handed on by a volatile flag", handed_on<Volatile>},
    {"three threads", "told by atomicExch", told<Exchange, InBlock>},
    {"three threads", "told by atomicExch without a fence", told<Exchange, None>},
    {"three threads", "read by another thread", read_by_another<NoBarrier>},
    {"three threads", "read by another thread after __syncthreads()", read_by_another<BlockBarrier>},
    {"three threads", "release, relaxed, acquire", counted<Add<release>, Add<relaxed>, Add<acquire>>},
    {"three threads", "release, relaxed, relaxed", counted<Add<release>, Add<relaxed>, Add<relaxed>>},
    {"three threads", "relaxed, release, acquire", counted<Add<relaxed>, Add<release>, Add<acquire>>},
};

struct AccessTests {
  const char* access;
  const Kernel* kernels;
};
const AccessTests access_tests[] = {
    {"plain", of_access<Plain>},
    {"plain, __threadfence() between", of_access<Plain, OnDevice>},
    {"volatile", of_access<Volatile>},
    {"volatile, __threadfence_block() between", of_access<Volatile, InBlock>},
    {"volatile, __threadfence() between", of_access<Volatile, OnDevice>},
    {"atomicExch, atomicAdd", of_access<Exchange>},
    {"atomicExch_block, atomicAdd_block", of_access<ExchangeInBlock>},
    {"relaxed", of_access<Ref<device, relaxed, relaxed>>},
    {"relaxed, block scope", of_access<Ref<block, relaxed, relaxed>>},
    {"acquire, release", of_access<Ref<device, acquire, release>>},
    {"acquire, release, block scope", of_access<Ref<block, acquire, release>>},
    {"seq_cst", of_access<Ref<device, seq_cst, seq_cst>>},
    {"seq_cst, block scope", of_access<Ref<block, seq_cst, seq_cst>>},
};

Kernel kernel_named(const std::string& test, const std::string& access) {
  for (const Test& one : tests) {
    if (one.test == test && one.access == access) return one.kernel;
  }
  for (const AccessTests& one : access_tests) {
    if (one.access != access) continue;
    for (int i = 0; i < 5; ++i) {
      if (names_of_access[i] == test) return one.kernels[i];
    }
  }
  return nullptr;
}

void list() {
  for (const Test& one : tests) std::printf("%s: %s\n", one.test, one.access);
  for (const AccessTests& one : access_tests) {
    for (const char* name : names_of_access) std::printf("%s: %s\n", name, one.access);
  }
}

int main(int argc, char** argv) {
  if (argc != 4) {
    list();
    return 0;
  }
  const Kernel kernel = kernel_named(argv[1], argv[2]);
  if (kernel == nullptr) {
    std::fprintf(stderr, "no such test: %s: %s\n", argv[1], argv[2]);
    return 2;
  }
  Words words = {};
  cudaMalloc(&words.first, 1024 * sizeof(int));
  cudaMemset(words.first, 0, 1024 * sizeof(int));
  const bool is_in_block = std::strcmp(argv[3], "block") == 0;
  void* arguments[] = {&words};
  // A cooperative launch, because its blocks may wait for each other.
  const cudaError_t error =
      cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(is_in_block ? 1 : 4),
                                  dim3(is_in_block ? 128 : 64), arguments, 0, nullptr);
  if (error != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
    std::fprintf(stderr, "the launch failed\n");
    return 1;
  }
  return 0;
}
