// What a finding is about, as data: lines, pieces of memory, accesses. words.h makes sentences of it, and json.h hands
// it on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "access.h"
#include "places.h"
#include "simt/device.h"

namespace simt::check {

/// A line of the program. Code addresses are resolved all at once, when findings are reported.
struct Place {
  Code code = 0;            ///< 0: the line is known at once, or there is none
  std::string line = {};    ///< "FILE:LINE", or "": in a .cu file, if a function of a header was inlined into one
  std::string header = {};  ///< that line of a header

  static Place of(Site site);
  void collect(std::set<Code>& codes) const { codes.insert(code); }
  void resolve(const Places& places);
};

enum class Memory : std::uint8_t { none, shared, dynamic_shared, variable, constant, allocation, heap, local, host };

/// An array, a variable or an allocation, as its reader knows it.
struct Array {
  Memory memory = Memory::none;
  std::string name = {};           ///< "": it has none
  int number = 0;                  ///< of an allocation; otherwise 0
  std::vector<Code> made_by = {};  ///< of an allocation: the calls that led to it, innermost first
  Place allocated = {};            ///< the first of them in a .cu file, once that is resolved
  std::size_t bytes = 0;

  void collect(std::set<Code>& codes) const { codes.insert(made_by.begin(), made_by.end()); }
  void resolve(const Places& places);
  bool is_same(const Array& other) const {
    return memory == other.memory && name == other.name && number == other.number && made_by == other.made_by;
  }
};

/// Some bytes of an array, or near it.
struct Element {
  Array array = {};
  std::ptrdiff_t offset = 0;  ///< in bytes; below 0: before its start
  std::size_t bytes = 0;      ///< that are accessed
};

/// What a thread, a call or the host does at a line: an access of memory, or what a finding is about without one.
struct Fact {
  Place place = {};
  std::string kernel = {};  ///< "": no kernel, but the call or host code
  std::string call = {};    ///< "cudaMemcpyAsync()"
  Place launch = {};        ///< of the kernel
  std::optional<uint3> block = {}, thread = {};
  Way way = Way::load;
  bool is_atomic = false, is_volatile = false;
  Element element = {};  ///< Memory::none: it accesses none

  bool is_access() const { return element.array.memory != Memory::none; }
};

/// What the running thread does there, and what host code does.
Fact fact_of(const Access& access);
Fact fact_by_host(const Access& access);

/// What would put two accesses in order.
enum class Remedy : std::uint8_t { none, block_barrier, warp_barrier, grid_barrier, fence, atomic, stream, launch };
const char* name_of(Remedy remedy);
const char* name_of(Memory memory);

/// Further facts, by name: a number, a text, three coordinates, or a line.
using Detail = std::variant<std::uint64_t, double, std::string, uint3, Place>;
struct Details {
  std::vector<std::pair<std::string, Detail>> all = {};

  void set(const char* name, Detail detail);
  const Detail* find(std::string_view name) const;
  std::uint64_t number(std::string_view name) const;  ///< 0: there is none
};

}  // namespace simt::check
