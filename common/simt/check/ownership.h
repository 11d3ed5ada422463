// Whose memory an address is: a __shared__ array, dynamic shared memory, an allocation, a __device__ variable; and where
// the observers keep what they know of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <simt/observed.h>

#include "order.h"

namespace simt::check {
#pragma GCC visibility push(hidden)

/// What is known of four bytes of memory, or of one.
struct Cell {
  Event write, read, other_read;  ///< two readers, of different threads where there were two
  std::uint8_t initialized;       ///< a bit a byte
  bool split;                     ///< its bytes have been accessed by themselves, and have cells of their own
};

/// Cells of words, and behind them four for the bytes of each: untouched, they take no memory.
inline std::size_t words_of(std::size_t bytes) { return bytes / 4 + 2; }

/// Are these bytes of a word initialised? A block's shared memory begins anew.
inline bool is_initialized(Cell& cell, unsigned mask, bool shared) {
  if (shared && cell.write.interval < first_of_block) cell.initialized = 0;
  return (cell.initialized & mask) == mask;
}

/// An allocation, or what narrow() has left of it, or the program's variables.
struct Region {
  const char* begin;
  std::size_t bytes;
  Cell* cells;
  int number;
  bool freed;
  const char* name;         ///< as narrow() gave it, or null
  const char* whole_begin;  ///< of the allocation
  std::size_t whole_bytes;
  bool of_host = false;  ///< the host may use it as well: managed or pinned
};

/// A __shared__ array (by its offset in the program's thread-local memory) or a __device__ variable.
struct Symbol {
  std::string name;
  std::size_t offset, bytes;
  std::uint32_t used_in = 0;  ///< first_of_launch of the last launch that touched it
};

inline constexpr std::size_t chunk = 65536, guard = 65536;
extern Region** regions;                       ///< by address / chunk; two allocations are farther apart than a chunk
extern std::uintptr_t program;                 ///< where it is loaded
extern std::vector<Symbol> arrays, variables;  ///< by their offsets
extern Region program_data;                    ///< the __device__ variables
extern std::size_t shared_first,
    shared_last;  ///< offsets of the first array, and of what an overflow of the last may reach
extern char* tls;
extern Cell* static_cells;  ///< from shared_first on
extern char* dynamic_begin;
extern std::size_t dynamic_bytes;
extern Cell* dynamic_cells;
inline constexpr std::size_t most_dynamic_bytes = 232448, most_static_bytes = 49152;

/// Finds the program's variables (once), this OS thread's shared memory, and room for cells of dynamic shared memory.
void own_launch(std::size_t dynamic_shared_bytes);

inline std::size_t chunk_of(std::uintptr_t address) { return (address & ((std::uintptr_t(1) << 47) - 1)) / chunk; }
Region** make_table();
inline Region*& region_at(std::uintptr_t address) {
  return (regions != nullptr ? regions : make_table())[chunk_of(address)];
}

/// Does it belong to the observers? It lies among the allocations, and a wild pointer may well lead there.
bool is_observers(std::uintptr_t address);

/// Of an access that is not inside an allocation: in the rest of its pages, which is nobody's; in the guards around
/// them, where the processor stops; or elsewhere, as something else may share the guard's chunk.
enum class Beside : std::uint8_t { padding, guard, elsewhere };
Beside beside(const Region& region, std::size_t offset, unsigned bytes);

/// The symbol in which, or behind which, an offset lies; the first if it is before all.
Symbol* symbol_at(std::vector<Symbol>& symbols, std::size_t offset);

/// Is it in a gap between two arrays, or in the padding before one?
bool between_arrays(std::size_t offset, unsigned bytes);

/// For findings: the owner by name, the index and the place in it.
std::string describe(std::uintptr_t address, unsigned bytes);

#pragma GCC visibility pop
}  // namespace simt::check
