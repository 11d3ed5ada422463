#include "runner/runner.h"

#include <cuda_runtime.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>

#include "runner/kernel_times.h"
#include "runner/protocol.h"
#include "step/device_array.h"
#include "step/error.h"
#include "step/key_type.h"
#ifdef SIMT_CHECK
#include <simt/observed.h>
#endif

#ifdef SIMT_CHECK
namespace simt::check {
void write_findings();
}
#endif

namespace lab {
namespace {

#if __has_include(<simt/launch.h>)
constexpr bool on_gpu = false;  // CUDA on the CPU
#else
constexpr bool on_gpu = true;
#endif

// --- owners of CUDA's handles ---

class Stream {
 public:
  // Not ordered with the default stream: work that a step wrongly puts there is not counted as done.
  Stream() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
  Event(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

double milliseconds_between(const Event& start, const Event& stop) {
  float milliseconds = 0;
  CUDA_CHECK(cudaEventSynchronize(stop));
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  return milliseconds;
}

// The memory shared with the judge, mapped anew whenever its size has changed.
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(const SharedMemory&) = delete;
  ~SharedMemory() { unmap(); }

  char* at(std::int64_t offset) const { return data_ + offset; }

  void resize(std::int64_t bytes) {
    if (bytes == bytes_) return;
    unmap();
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
    if (data == MAP_FAILED) throw Error("cannot map the judge's memory");
    data_ = static_cast<char*>(data);
    bytes_ = bytes;
  }

 private:
  void unmap() {
    if (data_) munmap(data_, bytes_);
    data_ = nullptr;
    bytes_ = 0;
  }

  char* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

// --- the channel ---

bool receive(Request& request) { return recv(channel_fd, &request, sizeof request, 0) == ssize_t{sizeof request}; }

void send(const Request& request, Progress progress, Status status, double milliseconds = 0,
          const std::string& text = "") {
#ifdef SIMT_CHECK
  if (progress == Progress::finished) simt::check::write_findings();  // after this the judge may end us
#endif
  Reply reply;
  reply.nonce = request.nonce;
  reply.progress = progress;
  reply.status = status;
  reply.milliseconds = milliseconds;
  std::snprintf(reply.text, sizeof reply.text, "%s", text.c_str());
  ::send(channel_fd, &reply, sizeof reply, MSG_NOSIGNAL);
}

// --- calling a step ---

class StepFailed : public Error {
 public:
  using Error::Error;
};

template <class T>
Span<T> view(Span<char> bytes, std::int64_t n) {
  return {reinterpret_cast<T*>(bytes.data), n};
}

// `values`: of pairs, or a task's result.
void call(const Step& step, KeyType type, Span<char> keys, Span<char> values, std::int64_t n, Order order,
          LaunchShape shape, cudaStream_t stream) {
  switch (step.task()) {
    case Task::reduce:
      return step.reduce(view<const std::uint32_t>(keys, n), view<std::uint32_t>(values, 2), shape, stream);
    case Task::histogram:
      return step.histogram(view<const std::uint8_t>(keys, n), view<std::uint64_t>(values, 256), shape, stream);
    case Task::scan:
      return step.scan(view<const std::uint64_t>(keys, n), view<std::uint64_t>(values, n), shape, stream);
    case Task::sort:
      break;
  }
  const auto typed = [&](auto function) {
    if (!function) throw Unsupported(std::string("step ") + step.name + " does not sort " + name_of(type) + " keys");
    return function;
  };
  const auto sort = [&]<class Key>(SortKeys<Key> function) {
    typed(function)(view<Key>(keys, n), order, shape, stream);
  };
  switch (type) {
    case KeyType::u8:
      return sort(step.u8);
    case KeyType::u16:
      return sort(step.u16);
    case KeyType::u32:
      return sort(step.u32);
    case KeyType::u64:
      return sort(step.u64);
    case KeyType::i32:
      return sort(step.i32);
    case KeyType::i64:
      return sort(step.i64);
    case KeyType::f32:
      return sort(step.f32);
    case KeyType::f64:
      return sort(step.f64);
    case KeyType::pairs:
      typed(step.pairs)(view<std::uint32_t>(keys, n), view<std::uint32_t>(values, n), order, shape, stream);
  }
}

// Waits until all that the step has begun is over, on any stream: only then does the output count, and the judge's
// clock stop. Also finds the launch whose failure the step did not look for.
void check_device() {
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    throw StepFailed(std::string("a kernel or call of the step failed: ") + cudaGetErrorName(error) + " (" +
                     cudaGetErrorString(error) + ")");
  }
}

const Step& find_step(std::span<const Step> steps, int number, Task task) {
  for (const Step& step : steps) {
    if (step.number == number && step.task() == task) return step;
  }
  throw Unsupported("this runner has no step " + std::to_string(number));
}

// Fills the memory that the step's own allocations will get, so that what it reads there without having written it
// is noise, never the last case's output. Memory too short for this is no error.
void poison_scratch(std::int64_t bytes, int poison, cudaStream_t stream) {
  try {
    DeviceArray<char> scratch(bytes, stream);
    CUDA_CHECK(cudaMemsetAsync(scratch.data(), poison, bytes, stream));
  } catch (const CudaError& error) {
    if (error.code != cudaErrorMemoryAllocation) throw;
    cudaGetLastError();
  }
}

// Writes twice the size of the L2 cache, so that no key is there when a step's time starts.
void flush_cache(cudaStream_t stream) {
  if (!on_gpu) return;
  static const int l2_bytes = [] {
    int bytes = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, 0));
    return bytes;
  }();
  DeviceArray<char> flush(std::int64_t{2} * l2_bytes, stream);
  CUDA_CHECK(cudaMemsetAsync(flush.data(), 0, flush.size(), stream));
}

DeviceArray<char> allocate(std::int64_t bytes, cudaStream_t stream) {
  try {
    return {bytes, stream};
  } catch (const CudaError& error) {
    if (error.code != cudaErrorMemoryAllocation) throw;
    cudaGetLastError();
    throw Unsupported(std::to_string(bytes >> 20) + " MiB do not fit the device's memory: choose a smaller --n");
  }
}

// A line a kernel, as the judge reads it.
std::string lines_of(const std::vector<KernelTime>& kernels) {
  std::string text;
  for (const KernelTime& k : kernels) {
    char line[256];
    std::snprintf(line, sizeof line, "%.120s\t%d\t%.9g\t%lld\t%lld\t%lld\t%lld\t%d\n", k.name.c_str(), k.launches,
                  k.milliseconds, static_cast<long long>(k.blocks), static_cast<long long>(k.threads),
                  static_cast<long long>(k.dynamic_shared), static_cast<long long>(k.static_shared), k.registers);
    text += line;
  }
  return text;
}

void serve_sort(std::span<const Step> steps, const Request& request, SharedMemory& memory) {
  const Step& step = find_step(steps, request.step, request.task);
  memory.resize(request.memory_bytes);
  Stream stream;
  const Event start, stop;
  const DeviceArray<char> keys = allocate(request.keys.bytes, stream);
  const DeviceArray<char> values = allocate(request.values.bytes, stream);
#ifdef SIMT_CHECK
  simt::check::narrow(keys.data() + request.keys.span, request.keys.span_bytes, "keys");
  simt::check::narrow(values.data() + request.values.span, request.values.span_bytes,
                      request.task == Task::sort ? "values" : "result");
#endif
  // The copies' times include what the host does for them, so they are taken by its clock, on an idle device.
  using Clock = std::chrono::steady_clock;
  const auto milliseconds_since = [](Clock::time_point started) {
    CUDA_CHECK(cudaDeviceSynchronize());
    return std::chrono::duration<double, std::milli>(Clock::now() - started).count();
  };
  const auto copy_back = [&] {
    const auto started = Clock::now();
    const auto copy = [&](const Image& image, const DeviceArray<char>& array) {
      if (image.bytes == 0) return;
      CUDA_CHECK(cudaMemcpyAsync(memory.at(image.output), array.data(), image.bytes, cudaMemcpyDeviceToHost, stream));
    };
    copy(request.keys, keys);
    copy(request.values, values);
    return milliseconds_since(started);
  };

  poison_scratch(request.keys.bytes + request.values.bytes, request.poison, stream);
  CUDA_CHECK(cudaDeviceSynchronize());
  const auto started = Clock::now();
  CUDA_CHECK(
      cudaMemcpyAsync(keys.data(), memory.at(request.keys.input), request.keys.bytes, cudaMemcpyHostToDevice, stream));
  if (request.values.bytes > 0) {
    CUDA_CHECK(cudaMemcpyAsync(values.data(), memory.at(request.values.input), request.values.bytes,
                               cudaMemcpyHostToDevice, stream));
  }
  const double copied = milliseconds_since(started);
  flush_cache(stream);
  CUDA_CHECK(cudaDeviceSynchronize());

  Request go;
  send(request, Progress::ready, Status::verified, copied);
  if (!receive(go)) return;
  std::optional<KernelClock> clock;
  if (request.time_kernels) clock.emplace();
  try {
    CUDA_CHECK(cudaEventRecord(start, stream));
    call(step, request.type, {keys.data() + request.keys.span, keys.size()},
         {values.data() + request.values.span, values.size()}, request.n, request.order, request.shape, stream);
    cudaEventRecord(stop, stream);
    check_device();
    send(request, Progress::sorted, Status::verified, milliseconds_between(start, stop));
  } catch (const Unsupported& error) {
    copy_back();  // the judge looks whether anything was touched
    return send(request, Progress::finished, Status::unsupported, 0, error.what());
  }
  const std::string kernels = clock ? lines_of(clock->times()) : "";
  send(request, Progress::finished, Status::verified, copy_back(), kernels);
}

// --- what the runner tells about itself ---

double measure_copy_bandwidth() {
  if (!on_gpu) return 0;
  const std::int64_t bytes = std::int64_t{1} << 30;
  Stream stream;
  const Event start, stop;
  const DeviceArray<char> from(bytes, stream), to(bytes, stream);
  double best_milliseconds = 1e30;
  for (int run = 0; run < 5; ++run) {
    CUDA_CHECK(cudaEventRecord(start, stream));
    CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaEventRecord(stop, stream));
    best_milliseconds = std::min(best_milliseconds, milliseconds_between(start, stop));
  }
  return 2.0 * bytes / (best_milliseconds * 1e-3);
}

void describe(const Request& request) {
  cudaDeviceProp device;
  int driver = 0, runtime = 0;
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  Reply reply;
  reply.nonce = request.nonce;
  reply.on_gpu = on_gpu;
  reply.copy_bytes_per_second = measure_copy_bandwidth();
  std::snprintf(reply.text, sizeof reply.text,
                "%s, compute capability %d.%d, %d multiprocessors, %.0f GiB, CUDA %d.%d (driver %d.%d)", device.name,
                device.major, device.minor, device.multiProcessorCount, double(device.totalGlobalMem) / (1 << 30),
                runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
  ::send(channel_fd, &reply, sizeof reply, MSG_NOSIGNAL);
}

// A line a fact about the device, for the table of hardware in a report: what it is, and its value.
void send_device(const Request& request) {
  cudaDeviceProp device;
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  std::string text;
  const auto add = [&](const char* what, const std::string& value) { text += std::string(what) + "\t" + value + "\n"; };
  const auto three = [](const int (&size)[3]) {
    return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " + std::to_string(size[2]);
  };
  add("device", on_gpu ? device.name : std::string("none: CUDA on the processor, which says of itself:"));
  add("compute capability", std::to_string(device.major) + "." + std::to_string(device.minor));
  add("multiprocessors", std::to_string(device.multiProcessorCount));
  add("global memory, bytes", std::to_string(device.totalGlobalMem));
  add("level 2 cache, bytes", std::to_string(device.l2CacheSize));
  add("constant memory, bytes", std::to_string(device.totalConstMem));
  add("shared memory a block, bytes", std::to_string(device.sharedMemPerBlock));
  add("shared memory a block on request, bytes", std::to_string(device.sharedMemPerBlockOptin));
  add("shared memory a multiprocessor, bytes", std::to_string(device.sharedMemPerMultiprocessor));
  add("registers a block", std::to_string(device.regsPerBlock));
  add("registers a multiprocessor", std::to_string(device.regsPerMultiprocessor));
  add("threads a block, at most", std::to_string(device.maxThreadsPerBlock) + " (" + three(device.maxThreadsDim) + ")");
  add("blocks of a launch, at most", three(device.maxGridSize));
  add("threads a multiprocessor, at most", std::to_string(device.maxThreadsPerMultiProcessor));
  add("threads of a warp", std::to_string(device.warpSize));
  add("memory bus, bits", std::to_string(device.memoryBusWidth));
  send(request, Progress::finished, Status::verified, 0, text);
}

// A line a step: number, name, idea, stable, tile, largest n, task, bits of the types by their place in KeyType.
void send_table(std::span<const Step> steps, const Request& request) {
  std::string text;
  for (const Step& step : steps) {
    unsigned types = 0;
    for (KeyType type : all_key_types) types |= unsigned{step.takes(type)} << int(type);
    text += std::to_string(step.number) + "\t" + step.name + "\t" + step.idea + "\t" + std::to_string(step.stable) +
            "\t" + std::to_string(step.tile) + "\t" + std::to_string(step.largest_n) + "\t" +
            std::to_string(int(step.task())) + "\t" + std::to_string(types) + "\n";
  }
  send(request, Progress::finished, Status::verified, 0, text);
}

// --- serving ---

// Freed memory stays in the pool, so that a step's allocations cost next to nothing after the warm-up.
void keep_freed_memory() {
  cudaMemPool_t pool;
  std::uint64_t everything = ~std::uint64_t{0};
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
}

void serve(std::span<const Step> steps, const Request& request, SharedMemory& memory) {
  if (request.command == Command::table) return send_table(steps, request);
  static const bool ready = (keep_freed_memory(), true);
  static_cast<void>(ready);
  if (request.command == Command::describe) return describe(request);
  if (request.command == Command::device) return send_device(request);
  if (request.command == Command::sort) return serve_sort(steps, request, memory);
  throw Error("the judge sent a command that does not fit");
}

// After these two a process goes on; after anything else the device or the program may be broken, and the judge starts
// another.
bool serve_or_report(std::span<const Step> steps, const Request& request, SharedMemory& memory) {
  try {
    serve(steps, request, memory);
    return true;
  } catch (const NotWritten& error) {
    send(request, Progress::finished, Status::not_written, 0, error.what());
    return true;
  } catch (const Unsupported& error) {
    send(request, Progress::finished, Status::unsupported, 0, error.what());
    return true;
  } catch (const CudaError& error) {
    send(request, Progress::finished, Status::cuda_error, 0, error.what());
  } catch (const StepFailed& error) {
    send(request, Progress::finished, Status::cuda_error, 0, error.what());
  } catch (const std::exception& error) {
    send(request, Progress::finished, Status::crashed, 0, std::string("the step threw: ") + error.what());
  }
  return false;
}

int explain(const char* lab, std::span<const Step> steps) {
  std::printf("This is the runner of %s; the judge drives it. Its steps:\n", lab);
  for (const Step& step : steps) std::printf("  %02d %-10s %s\n", step.number, step.name, step.idea);
  std::printf("Run a lab's step with: ./workbook run LAB STEP\n");
  return 2;
}

}  // namespace

int run_steps(const char* lab, std::span<const Step> steps, int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], judge_argument) != 0) return explain(lab, steps);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what a step printed before a crash must not be lost
  SharedMemory memory;
  Request request;
  while (receive(request)) {
    if (!serve_or_report(steps, request, memory)) return 1;
  }
  return 0;
}

}  // namespace lab
