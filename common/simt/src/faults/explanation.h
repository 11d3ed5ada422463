// What a fault of the processor means in terms of CUDA.
#pragma once

#include <ucontext.h>

#include <string>

namespace simt {

struct Explanation {
  const char* kind;
  std::string text;
};

enum class AccessKind { read, write };

/// Device code accessed `address`, which it must not.
Explanation explain(const char* address, AccessKind access);

#if defined(__x86_64__)
/// Device code faulted, and the processor reports no address: this is so for two kinds of faults.
Explanation explain_without_address(const ucontext_t* context);
#endif

}  // namespace simt
