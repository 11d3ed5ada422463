// One memory access of the program, as every observer sees it.
#pragma once

#include <cstdint>

namespace simt::check {

/// A code address of the program. It is resolved to a source line only when findings are reported.
using Code = std::uintptr_t;

enum class Space : std::uint8_t { shared, global };
enum class Way : std::uint8_t { load, store, atomic };
/// Volatile and atomic accesses are synchronized: they do not race with each other.
enum class Sync : std::uint8_t { plain, synchronized };
/// Of an atomic or a fence: for which threads it is one.
enum class Scope : std::uint8_t { block, device };
/// What an atomic read of a flag does to what follows it: with an explicit order, as cuda::atomic has one, it needs an
/// acquire fence; a volatile read and CUDA's own atomic functions order at once (MEMORY_MODEL.md).
enum class Acquire : std::uint8_t { at_once, by_fence };
/// Whether the access must be aligned to its size.
enum class Alignment : std::uint8_t { required, any };

constexpr bool reads(Way way) { return way != Way::store; }
constexpr bool writes(Way way) { return way != Way::load; }

constexpr const char* name_of(Space space) { return space == Space::shared ? "shared" : "global"; }
constexpr const char* name_of(Way way) { return way == Way::load ? "load" : way == Way::store ? "store" : "atomic"; }

struct Access {
  std::uintptr_t address;
  unsigned bytes;
  Way way;
  Sync sync;
  Space space;
  unsigned thread;  ///< linear index in its block
  Code code;
  bool is_compare_and_swap = false;
  bool is_exchange = false;
  bool is_atomic = false;  ///< otherwise, if it is synchronized: volatile
  Scope scope = Scope::device;
  Acquire acquire = Acquire::at_once;
};

}  // namespace simt::check
