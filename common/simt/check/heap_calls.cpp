// The functions with which a program allocates and frees memory: in kernels, they use the device's own heap.
#include <cuda_runtime.h>
#include <malloc.h>

#include <string>

#include "../src/execution/worker.h"
#include "mentions.h"
#include "state.h"

namespace simt::check {
namespace {

/// Whether this OS thread allocates or frees memory for the library. Where libstdc++ is a static library, its operator
/// new calls the program's malloc().
thread_local bool is_for_library = false;

/// Whether device code runs on this OS thread.
bool is_in_kernel() { return !is_for_library && state().running.launch != nullptr && Worker::running() != nullptr; }

class ForLibrary {
 public:
  ForLibrary() { is_for_library = true; }
  ~ForLibrary() { is_for_library = before_; }
  ForLibrary(const ForLibrary&) = delete;
  ForLibrary& operator=(const ForLibrary&) = delete;

 private:
  bool before_ = is_for_library;
};

void* allocate_in_kernel(std::size_t bytes, Code code) {
  return state().heap.allocate(bytes, device_heap_limit(), code);
}

/// What the host has copied there is gone.
void forget_copies_in(void* pointer) {
  CheckState& all = state();
  if (pointer == nullptr || !all.unwritten_copies.exist() || is_in_kernel() || all.heap.owns(pointer)) return;
  all.unwritten_copies.forget(std::uintptr_t(pointer), malloc_usable_size(pointer));
}

void report_free(const std::string& text, Code code) {
  CheckState& all = state();
  if (all.findings.count_again("invalid-free", code)) return;
  const std::string who = is_in_kernel() ? all.running.subject(all.running.thread()) : "host code ";
  all.findings.add({.kind = "invalid-free", .text = who + text, .code = code});
}

/// Frees memory of the device's heap, or reports why that is wrong. False: the memory is neither the heap's nor another
/// allocation of the device's.
bool free_of_device(void* pointer, Code code) {
  CheckState& all = state();
  if (!all.heap.owns(pointer)) {
    const Region* const region =
        all.ownership.has_regions() ? all.ownership.region_at(std::uintptr_t(pointer)) : nullptr;
    if (region == nullptr || pointer == nullptr) return false;
    report_free("frees " + Ownership::name_of(*region) + ", which is not from new or malloc(); use the function that " +
                    "belongs to its allocation, in host code",
                code);
    return true;
  }
  DeviceHeap::Block* const block = all.heap.starting_at(pointer);
  if (block == nullptr) {
    report_free(
        "frees a pointer into the device's heap that neither new nor malloc() has returned; pass the one that "
        "they returned",
        code);
  } else if (block->freed_by != 0) {
    report_free("frees the memory allocated at " + mention(block->made_by) + ", which has been freed at " +
                    mention(block->freed_by) + "; free it once",
                code);
  } else if (!is_in_kernel()) {
    report_free(
        "frees the memory that a kernel has allocated at " + mention(block->made_by) + "; only device code can free it",
        code);
  } else {
    all.heap.free(*block, code);
  }
  return true;
}

}  // namespace

void* allocated_by_kernel(std::size_t bytes, const void* code) { return allocate_in_kernel(bytes, Code(code) - 1); }

void freed_by_kernel(void* pointer, const void* code) {
  if (pointer == nullptr || free_of_device(pointer, Code(code) - 1)) return;
  report_free("frees what is not of the device's heap; pass a pointer from cudaMalloc() or malloc() in a kernel",
              Code(code) - 1);
}

bool is_in_heap_block(const void* begin, std::size_t bytes, const char* name, const void* code) {
  CheckState& all = state();
  if (!all.heap.owns(begin)) return true;
  const std::uintptr_t first = std::uintptr_t(begin);
  const DeviceHeap::Block* const block = all.heap.near(first);
  const bool is_inside = block != nullptr && bytes <= block->bytes && first - block->begin <= block->bytes - bytes;
  if (is_inside && block->freed_by == 0) return true;
  const char* const kind = is_inside ? "use-after-free" : "out-of-bounds";
  if (all.findings.count_again(kind, Code(code) - 1)) return false;
  const std::string what =
      block == nullptr ? "the device's heap" : "the memory that a kernel has allocated at " + mention(block->made_by);
  const std::string why = is_inside ? ", which has been freed at " + mention(block->freed_by) + "; free it later"
                                    : "; it has " + std::to_string(block == nullptr ? 0 : block->bytes) +
                                          ": copy no more than that, and count in bytes";
  all.findings.add({.kind = kind,
                    .text = name + ("() accesses " + std::to_string(bytes)) + " bytes of " + what + why,
                    .code = Code(code) - 1});
  return false;
}

}  // namespace simt::check

// A program is linked with --wrap for each of these, so that its calls arrive here. In the library itself, they have
// other names (link_library.py): the observers' own memory is not the program's.
#define CALLER (simt::check::Code(__builtin_return_address(0)) - 1)
#define ALLOCATION(NAME)                                                                                        \
  void* __real_##NAME(std::size_t bytes);                                                                       \
  void* __wrap_##NAME(std::size_t bytes) {                                                                      \
    return simt::check::is_in_kernel() ? simt::check::allocate_in_kernel(bytes, CALLER) : __real_##NAME(bytes); \
  }                                                                                                             \
  void* simt_own_##NAME(std::size_t bytes) {                                                                    \
    const simt::check::ForLibrary for_library;                                                                  \
    return __real_##NAME(bytes);                                                                                \
  }
#define RELEASE(NAME, PARAMETERS, ARGUMENTS)                                                      \
  void __real_##NAME PARAMETERS;                                                                  \
  void __wrap_##NAME PARAMETERS {                                                                 \
    simt::check::forget_copies_in(p);                                                             \
    const bool may_be_devices = simt::check::is_in_kernel() || simt::check::state().heap.owns(p); \
    if (!may_be_devices || !simt::check::free_of_device(p, CALLER)) __real_##NAME ARGUMENTS;      \
  }                                                                                               \
  /* Code that library and program share may have allocated its memory in the program's way. */   \
  void simt_own_##NAME PARAMETERS {                                                               \
    const simt::check::ForLibrary for_library;                                                    \
    if (!simt::check::state().heap.owns(p)) __real_##NAME ARGUMENTS;                              \
  }

extern "C" {
ALLOCATION(malloc)
ALLOCATION(_Znwm)
ALLOCATION(_Znam)
RELEASE(free, (void* p), (p))
RELEASE(_ZdlPv, (void* p), (p))
RELEASE(_ZdaPv, (void* p), (p))
RELEASE(_ZdlPvm, (void* p, std::size_t bytes), (p, bytes))
RELEASE(_ZdaPvm, (void* p, std::size_t bytes), (p, bytes))
}
