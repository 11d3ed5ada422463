#include "explanation.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

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
namespace {

/// The address that an instruction computes from its operand, which begins at `operand` with the byte called ModR/M.
/// `extension`: the lowest bits of the prefix for registers from r8 on.
std::int64_t address_of(const std::uint8_t* operand, unsigned extension, const greg_t* registers) {
  static constexpr int names[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  const unsigned mode = *operand >> 6;
  unsigned base = *operand++ & 7;
  std::uint64_t address = 0;
  if (base == 4) {  // a second byte, with an index
    const unsigned scale = *operand >> 6, index = (*operand >> 3 & 7) | (extension & 2) << 2;
    base = *operand++ & 7;
    if (index != 4) address = std::uint64_t(registers[names[index]]) << scale;
  }
  const bool has_base = mode != 0 || base != 5;
  if (has_base) address += std::uint64_t(registers[names[base | (extension & 1) << 3]]);
  std::int32_t displacement = 0;
  if (mode == 1) displacement = static_cast<std::int8_t>(*operand);
  if (mode == 2 || !has_base) std::memcpy(&displacement, operand, sizeof displacement);
  return std::int64_t(address + std::uint64_t(std::int64_t{displacement}));
}

/// Whether the interrupted instruction computes a valid address. Only those that begin with 0x0f, after prefixes, need
/// aligned addresses, so that no other has faulted with a valid one.
bool has_valid_address(const greg_t* registers) {
  const auto* code = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
  while (*code == 0x66 || *code == 0xf2 || *code == 0xf3 || *code == 0xf0 || *code == 0x64) ++code;
  const unsigned extension = (*code & 0xf0) == 0x40 ? *code++ : 0;
  if (*code++ != 0x0f) return false;
  const bool is_long = *code == 0x38 || *code == 0x3a;
  const std::int64_t address = address_of(code + (is_long ? 2 : 1), extension, registers);
  return address << 16 >> 16 == address;
}

}  // namespace

Explanation explain_without_address(const ucontext_t* context) {
  if (!has_valid_address(context->uc_mcontext.gregs))
    return {"out-of-bounds", "follows a pointer that is not a valid address; check that it was initialized"};
  return {"misaligned", "accesses 16 bytes or more at an address that is not a multiple of the access's size"};
}
#endif

}  // namespace simt
