// Device memory: allocation, pools, copies and their errors.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "../../common/simt/src/memory/access.h"
#include "managed.h"

namespace {

__constant__ int table[4];
__device__ unsigned counters[3];

__global__ void read_table(int* to) { to[threadIdx.x] = table[threadIdx.x]; }
__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
__global__ void bump() { atomicAdd(&counters[1], 2); }

/// Memory from cudaMalloc for one test.
struct Device {
  explicit Device(std::size_t bytes) : bytes(bytes) { REQUIRE(cudaMalloc(&data, bytes) == cudaSuccess); }
  ~Device() { cudaFree(data); }
  char* data = nullptr;
  std::size_t bytes;
};

unsigned long long pool_figure(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  unsigned long long value = 0;
  CHECK(cudaMemPoolGetAttribute(pool, attribute, &value) == cudaSuccess);
  return value;
}

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(free <= total);
  return free;
}

}  // namespace

TEST_CASE("cudaMalloc gives memory aligned to 256 bytes, each byte 0xCD") {
  for (std::size_t bytes : {1, 255, 256, 257, 4096, 100000}) {
    Device device(bytes);
    CHECK(reinterpret_cast<std::size_t>(device.data) % 256 == 0);
    std::vector<unsigned char> host(bytes);
    CHECK(cudaMemcpy(host.data(), device.data, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(host == std::vector<unsigned char>(bytes, 0xCD));
  }
}

TEST_CASE("cudaMalloc of 0 bytes returns null, and of too many an error") {
  void* pointer = &pointer;
  CHECK(cudaMalloc(&pointer, 0) == cudaSuccess);
  CHECK(pointer == nullptr);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cudaMalloc(&pointer, std::size_t(1) << 60) == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&pointer, ~std::size_t(0)) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(static_cast<void**>(nullptr), 4) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("cudaFree refuses what cudaMalloc did not return") {
  Device device(1024);
  int local = 0;
  CHECK(cudaFree(&local) == cudaErrorInvalidValue);
  CHECK(cudaFree(device.data + 256) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(device.data) == cudaErrorInvalidValue);
  char* pointer;
  CHECK(cudaMalloc(&pointer, 16) == cudaSuccess);
  CHECK(cudaFree(pointer) == cudaSuccess);
  CHECK(cudaFree(pointer) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("freed memory is available again") {
  const std::size_t before = free_memory();
  for (int i = 0; i < 1000; ++i) Device device(1 << 20);
  CHECK(free_memory() == before);
}

TEST_CASE("copies go in every direction") {
  const int n = 1000;
  std::vector<int> from(n), to(n);
  for (int i = 0; i < n; ++i) from[i] = i;
  Device a(n * sizeof(int)), b(n * sizeof(int));
  CHECK(cudaMemcpy(a.data, from.data(), a.bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpyAsync(b.data, a.data, a.bytes, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(to.data(), b.data, b.bytes, cudaMemcpyDefault) == cudaSuccess);
  CHECK(to == from);
  CHECK(cudaMemcpy(a.data, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);
}

TEST_CASE("a copy whose direction does not fit its pointers is refused") {
  Device device(64);
  char host[64] = {};
  CHECK(cudaMemcpy(host, device.data, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device.data, host, 64, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device.data, host, 64, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(host, device.data, 64, cudaMemcpyHostToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device.data, nullptr, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device.data, host, 64, cudaMemcpyKind(7)) == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
}

TEST_CASE("a copy or fill that leaves its allocation by one byte is refused") {
  Device device(1000);
  std::vector<char> host(2000);
  CHECK(cudaMemcpy(device.data, host.data(), 1001, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device.data + 1, host.data(), 1000, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(host.data(), device.data - 1, 10, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemset(device.data, 0, 1001) == cudaErrorInvalidValue);
  CHECK(cudaMemset(device.data, 0, ~std::size_t(0)) == cudaErrorInvalidValue);
  CHECK(cudaMemset(host.data(), 0, 10) == cudaErrorInvalidValue);
  CHECK(cudaMemset(device.data + 999, 0, 1) == cudaSuccess);
  char* gone = device.data;
  {
    Device other(1000);
    gone = other.data;
  }
  CHECK(cudaMemset(gone, 0, 1) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("rows are copied and filled with their pitches") {
  char* device;
  std::size_t pitch;
  CHECK(cudaMallocPitch(&device, &pitch, 10, 3) == cudaSuccess);
  CHECK(pitch >= 10);
  CHECK(pitch % 512 == 0);
  char from[3][12], to[3][20] = {};
  for (int i = 0; i < 36; ++i) from[i / 12][i % 12] = char(i);
  CHECK(cudaMemcpy2D(device, pitch, from, 12, 10, 3, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemset2D(device + 9, pitch, 7, 1, 3) == cudaSuccess);
  CHECK(cudaMemcpy2D(to, 20, device, pitch, 10, 3, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(to[2][8] == from[2][8]);
  CHECK(to[2][9] == 7);
  CHECK(to[2][10] == 0);
  CHECK(cudaMemcpy2D(to, 5, device, pitch, 10, 3, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
  CHECK(cudaMemcpy2D(to, 20, device, pitch, 10, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  cudaFree(device);
  cudaGetLastError();
}

TEST_CASE("a batch copies between host and device, and refuses what CUDA refuses") {
  int from[4] = {1, 2, 3, 4}, to[2] = {};
  int* device;
  cudaStream_t stream;
  REQUIRE(cudaMalloc(&device, 4 * sizeof(int)) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  cudaMemcpyAttributes attributes[2]{};
  attributes[0].srcAccessOrder = attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first_copies[2] = {0, 2};
  const std::size_t sizes[3] = {2 * sizeof(int), sizeof(int), sizeof(int)};
  void* const in[3] = {device, device + 2, device + 3};
  const void* const in_from[3] = {from + 2, from + 1, from};
  CHECK(cudaMemcpyBatchAsync(in, in_from, sizes, 3, attributes, first_copies, 2, stream) == cudaSuccess);
  void* const out[2] = {to + 1, to};
  const void* const out_from[2] = {device, device + 3};
  CHECK(cudaMemcpyBatchAsync(out, out_from, sizes + 1, 2, attributes, first_copies, 1, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(to[0] == 1);
  CHECK(to[1] == 3);

  const auto refused = [&](std::size_t count, std::size_t attribute_count, cudaStream_t used) {
    return cudaMemcpyBatchAsync(in, in_from, sizes, count, attributes, first_copies, attribute_count, used) ==
           cudaErrorInvalidValue;
  };
  CHECK(refused(0, 1, stream));
  CHECK(refused(3, 0, stream));
  CHECK(refused(2, 2, stream));  // the second attributes would belong to no copy
  CHECK(refused(3, 1, nullptr));
  first_copies[0] = 1;
  CHECK(refused(3, 1, stream));
  first_copies[0] = 0;
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  CHECK(refused(3, 1, stream));
  cudaStreamDestroy(stream);
  cudaFree(device);
}

TEST_CASE("symbols are copied to and from") {
  const int values[4] = {5, 6, 7, 8};
  CHECK(cudaMemcpyToSymbol(table, values, sizeof values) == cudaSuccess);
  const int nine = 9;
  CHECK(cudaMemcpyToSymbol(table, &nine, sizeof nine, 2 * sizeof(int)) == cudaSuccess);
  Managed<int> to(4);
  read_table<<<1, 4>>>(to.data());
  CHECK(to[0] == 5);
  CHECK(to[2] == 9);

  unsigned zeros[3] = {}, result = 0;
  CHECK(cudaMemcpyToSymbol(counters, zeros, sizeof zeros) == cudaSuccess);
  bump<<<2, 32>>>();
  CHECK(cudaMemcpyFromSymbol(&result, counters, sizeof result, sizeof result) == cudaSuccess);
  CHECK(result == 128);
  void* address = nullptr;
  std::size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, counters) == cudaSuccess);
  CHECK(cudaGetSymbolSize(&bytes, counters) == cudaSuccess);
  CHECK(bytes == 12);
  CHECK(cudaMemset(address, 0, bytes) == cudaSuccess);
  CHECK(counters[1] == 0);

  Device device(sizeof values);
  CHECK(cudaMemcpy(device.data, values, sizeof values, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemset(device.data, 0, 4) == cudaSuccess);
  CHECK(cudaMemcpyToSymbol(table, device.data, sizeof values) == cudaSuccess);  // the default kind names the host
  read_table<<<1, 4>>>(to.data());
  CHECK(to[0] == 0);
  CHECK(to[3] == 8);
  CHECK(cudaMemcpyToSymbol(table, device.data + 4, sizeof values) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyToSymbol(table, values, sizeof values, 0, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);

  CHECK(cudaMemcpyToSymbol(table, values, sizeof values, 4) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyFromSymbol(&result, counters, 4, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidMemcpyDirection);
  int local = 0;
  CHECK(cudaMemcpyToSymbol(local, &nine, sizeof nine) == cudaErrorInvalidSymbol);
  cudaGetLastError();
}

TEST_CASE("host and device can use managed and pinned memory") {
  int *managed, *pinned;
  CHECK(cudaMallocManaged(&managed, 4 * sizeof(int)) == cudaSuccess);
  CHECK(cudaMallocHost(&pinned, 4 * sizeof(int)) == cudaSuccess);
  fill<<<1, 4>>>(managed, 3);
  CHECK(managed[3] == 3);
  CHECK(cudaMemcpy(pinned, managed, 16, cudaMemcpyDeviceToHost) == cudaSuccess);
  int* mapped = nullptr;
  CHECK(cudaHostGetDevicePointer(&mapped, pinned, 0) == cudaSuccess);
  fill<<<1, 4>>>(mapped, 4);
  CHECK(pinned[0] == 4);
  CHECK(cudaFree(pinned) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(cudaFree(managed) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("the device can use the program's own memory once it is registered") {
  std::vector<int> own(100);
  CHECK(!simt::is_device(own.data()));
  CHECK(cudaHostRegister(own.data(), 400, cudaHostRegisterDefault) == cudaSuccess);
  CHECK(cudaHostRegister(own.data() + 99, 4, cudaHostRegisterDefault) == cudaErrorHostMemoryAlreadyRegistered);
  fill<<<1, 100>>>(own.data(), 5);
  CHECK(own[99] == 5);
  CHECK(cudaHostUnregister(own.data()) == cudaSuccess);
  CHECK(cudaHostUnregister(own.data()) == cudaErrorHostMemoryNotRegistered);
  CHECK(!simt::is_device(own.data()));
  cudaGetLastError();
}

TEST_CASE("cudaPointerGetAttributes returns where memory came from") {
  cudaPointerAttributes attributes;
  Device device(100);
  Managed<int> managed(1);
  int host = 0;
  CHECK(cudaPointerGetAttributes(&attributes, device.data + 99) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CHECK(attributes.hostPointer == nullptr);
  CHECK(cudaPointerGetAttributes(&attributes, managed.data()) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeManaged);
  CHECK(cudaPointerGetAttributes(&attributes, &host) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  CHECK(attributes.devicePointer == nullptr);
}

TEST_CASE("allocation_of finds an allocation, its guard zones, and one that was freed") {
  char* pointer;
  cudaMalloc(&pointer, 5000);
  CHECK(simt::is_device(pointer));
  CHECK(simt::is_device(pointer + 4999));
  CHECK(!simt::is_device(pointer + 5000));
  for (std::ptrdiff_t offset : {-60000, -1, 0, 4999, 5000, 60000}) {
    const simt::Allocation* allocation = simt::allocation_of(pointer + offset);
    REQUIRE(allocation != nullptr);
    CHECK(allocation->begin == pointer);
    CHECK(allocation->bytes == 5000);
    CHECK(!allocation->freed);
  }
  cudaFree(pointer);
  CHECK(!simt::is_device(pointer));
  REQUIRE(simt::allocation_of(pointer + 10) != nullptr);
  CHECK(simt::allocation_of(pointer + 10)->freed);
  CHECK(simt::allocation_of(&pointer) == nullptr);
  CHECK(simt::is_device(&counters[2]));
}

TEST_CASE("a pool reuses what was freed to it, poisoned, and keeps memory up to its threshold") {
  cudaMemPool_t pool;
  const cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned,
                                       .handleTypes = cudaMemHandleTypeNone,
                                       .location = {cudaMemLocationTypeDevice, 0},
                                       .win32SecurityAttributes = nullptr,
                                       .maxSize = 0,
                                       .usage = 0,
                                       .reserved = {}};
  REQUIRE(cudaMemPoolCreate(&pool, &properties) == cudaSuccess);
  char *first, *second;
  CHECK(cudaMallocFromPoolAsync(&first, 100000, pool, nullptr) == cudaSuccess);
  CHECK(pool_figure(pool, cudaMemPoolAttrUsedMemCurrent) >= 100000);
  CHECK(cudaMemsetAsync(first, 1, 100000) == cudaSuccess);
  CHECK(cudaFreeAsync(first, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(first, nullptr) == cudaErrorInvalidValue);
  CHECK(pool_figure(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(pool_figure(pool, cudaMemPoolAttrReservedMemCurrent) >= 100000);
  CHECK(simt::allocation_of(first)->freed);
  CHECK(cudaMallocAsync(&second, 100000, pool, nullptr) == cudaSuccess);
  CHECK(second == first);
  unsigned char byte = 0;
  CHECK(cudaMemcpy(&byte, second, 1, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(byte == 0xCD);
  CHECK(cudaFree(second) == cudaSuccess);

  unsigned long long keep = 1 << 30;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep) == cudaSuccess);
  cudaDeviceSynchronize();
  CHECK(pool_figure(pool, cudaMemPoolAttrReservedMemCurrent) >= 100000);
  keep = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep) == cudaSuccess);
  cudaDeviceSynchronize();
  CHECK(pool_figure(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
  CHECK(pool_figure(pool, cudaMemPoolAttrReservedMemHigh) >= 100000);

  CHECK(cudaMallocFromPoolAsync(&first, 10, pool, nullptr) == cudaSuccess);
  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
  CHECK(cudaMallocFromPoolAsync(&second, 10, pool, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaFreeAsync(first, nullptr) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("the default pool serves cudaMallocAsync and can be trimmed") {
  cudaMemPool_t pool, current;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  CHECK(cudaDeviceGetMemPool(&current, 0) == cudaSuccess);
  CHECK(pool == current);
  const std::size_t before = free_memory();
  int* pointer;
  CHECK(cudaMallocAsync(&pointer, 1 << 20, nullptr) == cudaSuccess);
  fill<<<1, 32>>>(pointer, 3);
  CHECK(cudaFreeAsync(pointer, nullptr) == cudaSuccess);
  CHECK(free_memory() < before);
  CHECK(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
  CHECK(free_memory() == before);
  CHECK(cudaGetLastError() == cudaSuccess);
}
