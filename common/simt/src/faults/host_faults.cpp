#include "host_faults.h"

#include <algorithm>
#include <cstring>
#include <shared_mutex>
#include <string>

#include "../execution/failure.h"
#include "../memory/access.h"
#include "../memory/globals.h"
#include "source_lines.h"

namespace simt {
namespace {

void report(const char* kind, const HostCall& call, const std::string& text, FailureFacts facts = {}) {
  facts.call = call.name + std::string("()");
  report_error(kind, line_of_call(call.caller), facts.call + " " + text, facts);
}

std::string bytes_text(std::size_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

/// How a text names an allocation.
std::string name_of([[maybe_unused]] const Allocation& allocation) {
#ifdef SIMT_CHECK
  return "{array}";
#else
  return "an allocation of " + bytes_text(allocation.bytes);
#endif
}

#ifdef SIMT_CHECK
constexpr const char* freed = ", which has been freed[ at {freed}]";
#else
constexpr const char* freed = ", which has been freed";
#endif

/// Reports that these bytes are not all in one allocation, if so. `verb`: "reads" or "writes".
bool report_range(const HostCall& call, const char* verb, const void* begin, std::size_t bytes) {
  const Allocation* const allocation = allocation_of(begin);
  if (allocation == nullptr) return false;
  if (allocation->freed) {
    report("use-after-free", call,
           std::string(verb) + " " + name_of(*allocation) + freed + "; free it after its last use",
           {.memory = allocation->begin, .bytes = bytes});
    return true;
  }
  const std::ptrdiff_t offset = static_cast<const char*>(begin) - allocation->begin;
  if (offset >= 0 && std::size_t(offset) + bytes <= allocation->bytes) return false;
  const std::string start = offset < 0    ? ", starting " + bytes_text(std::size_t(-offset)) + " before it"
                            : offset == 0 ? ""
                                          : ", starting at byte " + std::to_string(offset);
  report("out-of-bounds", call,
         std::string(verb) + " " + bytes_text(bytes) + " of " + name_of(*allocation) + start + ", which has " +
             bytes_text(allocation->bytes) + "; copy no more than that, and count in bytes",
         {.memory = allocation->begin, .offset = offset, .bytes = bytes});
  return true;
}

const char* kind_name(cudaMemcpyKind kind) {
  constexpr const char* names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                                   "cudaMemcpyDeviceToDevice"};
  return names[kind];
}

bool is_device_memory(const void* pointer, std::size_t bytes) {
  const Access access = access_of(pointer, bytes);
  return access.device && !access.host;
}

std::string memory(bool is_device) { return is_device ? "device memory" : "host memory"; }

void report_direction(const HostCall& call, const void* to, std::size_t to_bytes, const void* from,
                      std::size_t from_bytes, cudaMemcpyKind kind) {
  // A variable that is copied by its name is one of the device.
  const bool is_to_symbol = std::strstr(call.name, "ToSymbol") != nullptr;
  const bool is_from_symbol = std::strstr(call.name, "FromSymbol") != nullptr;
  const bool to_device = is_to_symbol || is_device_memory(to, to_bytes);
  const bool from_device = is_from_symbol || is_device_memory(from, from_bytes);
  const auto right = from_device ? (to_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost)
                                 : (to_device ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost);
  if (right == kind) return;
  const std::string remedy =
      right == cudaMemcpyHostToHost
          ? "; neither pointer is from cudaMalloc(): was the array allocated, and has its pointer been stored?"
          : std::string("; write ") + kind_name(right) +
                ", or exchange the two pointers if they are in the wrong order";
  report("invalid-copy", call,
         "copies from " + memory(from_device) + " to " + memory(to_device) + ", but its kind is " + kind_name(kind) +
             remedy);
}

}  // namespace

void report_refused_copy(const HostCall& call, const void* to, std::size_t to_bytes, const void* from,
                         std::size_t from_bytes, cudaMemcpyKind kind) {
  if (to == nullptr || from == nullptr) {
    return report("invalid-copy", call,
                  std::string("gets a null pointer as its ") + (to == nullptr ? "target" : "source") +
                      "; was the memory allocated?");
  }
  if (report_range(call, "writes", to, to_bytes) || report_range(call, "reads", from, from_bytes)) return;
  if (kind < cudaMemcpyDefault) report_direction(call, to, to_bytes, from, from_bytes, kind);
}

void report_refused_fill(const HostCall& call, const void* to, std::size_t bytes) {
  if (to == nullptr) return report("invalid-copy", call, "gets a null pointer; was the memory allocated?");
  if (report_range(call, "writes", to, bytes)) return;
  report("invalid-copy", call, "fills host memory; use memset(), or pass a pointer from cudaMalloc()");
}

void report_copy_past_symbol(const HostCall& call, std::size_t symbol_bytes, std::size_t offset, std::size_t bytes) {
  report("out-of-bounds", call,
         "copies " + bytes_text(bytes) + " from byte " + std::to_string(offset) + " on of a variable that has " +
             bytes_text(symbol_bytes) + "; copy at most sizeof(variable) bytes",
         {.numbers = {{"bytes", bytes}, {"from", offset}, {"variable_bytes", symbol_bytes}}});
}

void report_refused_free(const HostCall& call, const void* pointer, std::initializer_list<MemoryKind> kinds) {
  const Allocation* const allocation = allocation_of(pointer);
  if (allocation == nullptr) {
    return report("invalid-free", call,
                  is_global(pointer, 1)
                      ? "gets the address of a variable; only what was allocated can be freed"
                      : "gets a pointer that no allocation of CUDA's returned; free host memory with free() or delete");
  }
  const std::ptrdiff_t offset = static_cast<const char*>(pointer) - allocation->begin;
  const std::string name = name_of(*allocation);
  const FailureFacts memory{.memory = allocation->begin};
  if (allocation->freed) {
    report("invalid-free", call, "frees " + name + freed + "; free it once", memory);
  } else if (offset != 0) {
    report("invalid-free", call,
           "gets a pointer " + bytes_text(std::size_t(std::abs(offset))) + (offset < 0 ? " before" : " after") +
               " the beginning of " + name + "; pass the pointer that the allocation returned",
           {.memory = allocation->begin, .offset = offset});
  } else if (std::find(kinds.begin(), kinds.end(), allocation->kind) == kinds.end()) {
    const char* const right = allocation->kind == MemoryKind::pinned       ? "cudaFreeHost()"
                              : allocation->kind == MemoryKind::registered ? "cudaHostUnregister()"
                                                                           : "cudaFree()";
    report("invalid-free", call, "frees " + name + ", whose memory is of another kind; use " + right, memory);
  }
}

}  // namespace simt
