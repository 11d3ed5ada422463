#include "explanation.h"

#include <cstddef>
#include <cstdio>

#include "../execution/worker.h"
#include "../memory/access.h"
#include "simt/host_pointers.h"

namespace simt {
namespace {

std::string address_text(const void* address) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

Explanation explain_allocation(const char* address, const std::string& verb, const Allocation& allocation) {
  const std::string of = " an allocation of " + std::to_string(allocation.bytes) + " bytes";
  if (allocation.freed) return {"use-after-free", verb + "inside" + of + " that has been freed"};
  const std::ptrdiff_t past = address - (allocation.begin + allocation.bytes);
  if (past >= 0) return {"out-of-bounds", verb + std::to_string(past) + " bytes past the end of" + of};
  return {"out-of-bounds", verb + std::to_string(allocation.begin - address) + " bytes before" + of};
}

/// What lies behind an argument of the launch that the device cannot follow.
std::string explain_guarded(int argument, Guarded what) {
  const std::string name = "argument " + std::to_string(argument);
  switch (what) {
    case Guarded::reference:
      return "what " + name +
             " refers to, which is in host memory: a launch does not copy what a reference refers to; "
             "declare this parameter of the kernel without &";
    case Guarded::pointer_to_device_pointer:
      return "through " + name +
             ", which is the address of a device pointer in host memory; pass the pointer itself, without &";
    case Guarded::pointer:
      break;
  }
  return "through " + name + ", which points to host memory; pass memory from cudaMalloc, or a single number by value";
}

}  // namespace

Explanation explain(const char* address, AccessKind access) {
  const std::string verb = access == AccessKind::write ? "writes " : "reads ";
  Guarded what;
  if (const int argument = guarded_argument(address, what); argument != 0) {
    return {"host-pointer", verb + explain_guarded(argument, what)};
  }
  if (std::size_t(address) < 65536) {
    return {"out-of-bounds", verb + "through a null pointer" +
                                 (address == nullptr ? "" : " (" + address_text(address) + ")") +
                                 "; check which pointer the kernel, or a function that it calls, is given"};
  }
  if (Worker::is_past_shared(address)) {
    return {"out-of-bounds", verb + "past the end of a __shared__ array; compare the index with the size"};
  }
  if (Worker::current().stacks().guards(address)) {
    return {"stack-overflow", "needs more than " + std::to_string(Stacks::usable / 1024) +
                                  " KiB of stack; move large arrays out of the thread, and avoid deep recursion"};
  }
  if (const Allocation* allocation = allocation_of(address)) return explain_allocation(address, verb, *allocation);
  return {"out-of-bounds", verb + "address " + address_text(address) + ", which is in no allocation"};
}

#if defined(__x86_64__)
Explanation explain_without_address(const ucontext_t* context) {
  // If device code followed a pointer into nowhere, some register holds it.
  for (int i = REG_R8; i <= REG_RSP; ++i) {
    const auto value = static_cast<long long>(context->uc_mcontext.gregs[i]);
    if (value << 16 >> 16 != value) {
      return {"out-of-bounds", "follows a pointer that is not a valid address; check that it was initialized"};
    }
  }
  return {"misaligned", "accesses 16 bytes or more at an address that is not a multiple of the access's size"};
}
#endif

}  // namespace simt
