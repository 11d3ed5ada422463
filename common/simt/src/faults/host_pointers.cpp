#include "simt/host_pointers.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "../memory/access.h"
#include "../memory/pages.h"

namespace simt {
namespace {

// A region that nothing can read or write, with one slot for each argument.
constexpr std::size_t slot_bytes = std::size_t(1) << 26;
constexpr int slots = 32;
// A bit for each slot. A wild pointer may lead to slots that are not used.
std::atomic<unsigned> slots_used = 0, slots_of_references = 0, slots_to_device_pointers = 0;

char* guarded_region() {
  static char* const region = static_cast<char*>(
      mmap(nullptr, slot_bytes * slots, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  return region;
}

}  // namespace

bool is_host_heap_or_stack(void* address) {
  const std::uintptr_t page = page_bytes();
  unsigned char resident = 0;
  Dl_info info;
  return std::uintptr_t(address) >= 65536 && std::uintptr_t(address) >> 48 == 0 &&
         mincore(reinterpret_cast<void*>(std::uintptr_t(address) / page * page), 1, &resident) == 0 &&
         (resident & 1) != 0 && dladdr(address, &info) == 0;
}

void prepare_guarded_arguments() { guarded_region(); }

int guarded_argument(const void* address, Guarded& what) {
  const std::ptrdiff_t offset = static_cast<const char*>(address) - guarded_region();
  if (offset < 0 || std::size_t(offset) >= slot_bytes * slots) return 0;
  const int slot = int(std::size_t(offset) / slot_bytes);
  what = (slots_of_references >> slot & 1) != 0        ? Guarded::reference
         : (slots_to_device_pointers >> slot & 1) != 0 ? Guarded::pointer_to_device_pointer
                                                       : Guarded::pointer;
  return (slots_used >> slot & 1) != 0 ? slot + 1 : 0;
}

const volatile void* guard_pointer(const volatile void* pointer, int position) {
  const void* address = const_cast<const void*>(pointer);
  if (address == nullptr || is_device(address) || allocation_of(address) != nullptr || position > slots) return pointer;
  const unsigned slot = 1u << (position - 1);
  slots_used |= slot;
  slots_of_references &= ~slot;
  slots_to_device_pointers &= ~slot;
  return guarded_region() + std::size_t(position - 1) * slot_bytes + (std::size_t(address) & 255);
}

const volatile void* guard_reference(const volatile void* object, int position) {
  const volatile void* const guarded = guard_pointer(object, position);
  if (guarded != object) slots_of_references |= 1u << (position - 1);
  return guarded;
}

void look_at_pointer_in(const volatile void* pointer, int position) {
  void* const address = const_cast<void*>(pointer);
  if (std::uintptr_t(address) % sizeof(void*) != 0 || !is_host_heap_or_stack(address)) return;
  if (is_device(*static_cast<void**>(address))) slots_to_device_pointers |= 1u << (position - 1);
}

void guard_words(void* object, const unsigned char* value_bits, std::size_t bytes, int position) {
  for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
    std::uintptr_t value = ~std::uintptr_t(0);
    if (value_bits != nullptr) std::memcpy(&value, value_bits + at, sizeof value);
    if (value != ~std::uintptr_t(0)) continue;
    void* word;
    std::memcpy(&word, static_cast<char*>(object) + at, sizeof word);
    if (value_bits == nullptr && std::uint32_t(std::uintptr_t(word)) < slot_bytes) continue;  // an int, and padding
    if (!is_host_heap_or_stack(word)) continue;
    const auto guarded = guard_pointer(word, position);
    std::memcpy(static_cast<char*>(object) + at, &guarded, sizeof guarded);
  }
}

}  // namespace simt
