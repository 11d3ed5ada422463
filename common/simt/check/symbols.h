// The program's __shared__ arrays and __device__ variables, as its symbol table lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simt::check {

/// A __shared__ array (its offset is in the program's thread-local memory) or a __device__ variable (its offset is in
/// the program).
struct Symbol {
  std::string name;
  std::size_t offset, bytes;
  std::uint32_t used_in_launch = 0;  ///< Order::first_of_launch() of the last launch that accessed it
  bool is_constant = false;          ///< in __constant__ memory
  int source = 0;  ///< number of the only source file that can name it; 0: it is not known, or several
};

/// All lists are sorted by offset.
struct Symbols {
  std::vector<Symbol> arrays, variables;
  std::vector<Symbol> functions;  ///< that one source file only can call, without their names
  std::vector<Symbol> gaps;       ///< between arrays; a small overflow of an array ends there
  std::vector<Symbol> guards;  ///< the compiler's, among the arrays: whether an array's constructors have been called
};

Symbols read_symbols();

/// The number of the only source file that can call the function at an offset in the program; 0: it is not known.
int source_of_code(const std::vector<Symbol>& functions, std::size_t offset);
/// The symbol in which, or after which, an offset lies; the first symbol if the offset is before all of them.
Symbol* symbol_at(std::vector<Symbol>& symbols, std::size_t offset);
const Symbol* symbol_at(const std::vector<Symbol>& symbols, std::size_t offset);
/// The symbol in which an offset lies, or the one whose end or beginning is nearest to it.
Symbol* symbol_near(std::vector<Symbol>& symbols, std::size_t offset);

}  // namespace simt::check
