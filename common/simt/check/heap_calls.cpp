// The functions with which a program allocates and frees memory: in kernels, they use the device's own heap.
#include <cuda_runtime.h>
#include <malloc.h>

#include <string>
#include <utility>

#include "../src/execution/worker.h"
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

void report_free(const char* why, Code code, Array array = {}, Code freed_by = 0) {
  CheckState& all = state();
  if (all.findings.count_again("invalid-free", code)) return;
  Fact fact = is_in_kernel() ? all.running.by(all.running.thread(), code) : Fact{.place = {.code = code}};
  fact.element.array = std::move(array);
  Finding finding{.kind = "invalid-free", .why = why, .facts = {std::move(fact)}};
  if (freed_by != 0) finding.details.set("freed", Place{freed_by});
  all.findings.add(std::move(finding));
}

Array array_of(const DeviceHeap::Block& block) {
  return {.memory = Memory::heap, .made_by = {block.made_by}, .bytes = block.bytes};
}

/// Frees memory of the device's heap, or reports why that is wrong. False: the memory is neither the heap's nor another
/// allocation of the device's.
bool free_of_device(void* pointer, Code code) {
  CheckState& all = state();
  if (!all.heap.owns(pointer)) {
    const Region* const region =
        all.ownership.has_regions() ? all.ownership.region_at(std::uintptr_t(pointer)) : nullptr;
    if (region == nullptr || pointer == nullptr) return false;
    report_free("free-other", code, Ownership::array_of(*region));
    return true;
  }
  DeviceHeap::Block* const block = all.heap.starting_at(pointer);
  if (block == nullptr) {
    report_free("free-inside", code, {.memory = Memory::heap});
  } else if (block->freed_by != 0) {
    report_free("free-twice", code, array_of(*block), block->freed_by);
  } else if (!is_in_kernel()) {
    report_free("free-by-host", code, array_of(*block));
  } else {
    all.heap.free(*block, code);
  }
  return true;
}

}  // namespace

void* allocated_by_kernel(std::size_t bytes, const void* code) { return allocate_in_kernel(bytes, Code(code) - 1); }

void freed_by_kernel(void* pointer, const void* code) {
  if (pointer == nullptr || free_of_device(pointer, Code(code) - 1)) return;
  report_free("free-foreign", Code(code) - 1);
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
  Fact fact{.place = {.code = Code(code) - 1}, .call = name + std::string("()")};
  fact.element.array = block == nullptr ? Array{.memory = Memory::heap} : array_of(*block);
  Finding finding{.kind = kind, .why = is_inside ? "copy-freed" : "copy-past-end", .facts = {std::move(fact)}};
  finding.details.set("bytes", std::uint64_t(bytes));
  if (is_inside) finding.details.set("freed", Place{block->freed_by});
  all.findings.add(std::move(finding));
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
