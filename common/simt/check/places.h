// Source lines of code addresses.
#pragma once

#include <map>
#include <set>
#include <string>

#include "access.h"

namespace simt::check {

/// The lines of code addresses, "file:line" with the file as the compiler was given it. Addresses without a line are
/// left out. `callers`: if the line is in a function that was inlined into another file, the line there that calls it.
/// `has_failed`: set if addr2line has. `of_library`: the addresses in code that stands for CUB or tensor cores.
std::map<Code, std::string> resolve(const std::set<Code>& codes, std::map<Code, std::string>* callers = nullptr,
                                    bool* has_failed = nullptr, std::set<Code>* of_library = nullptr);

/// Whether "file:line" is in a .cu file: the step or program itself, rather than a header that it includes.
bool is_in_source(const std::string& line);

/// The lines of all code addresses that a report names.
class Places {
 public:
  explicit Places(const std::set<Code>& codes) : places_(resolve(codes, &callers_, &has_failed_, &of_library_)) {}

  bool know(Code code) const { return places_.count(code) != 0; }
  /// Whether no line of the program belongs to it, as far as can be known.
  bool has_no_line(Code code) const { return !has_failed_ && !know(code); }
  /// Whether it is in code of ours that stands for CUB or tensor cores, and costs something else.
  bool is_of_library(Code code) const { return of_library_.count(code) != 0; }
  std::string of(Code code) const;
  /// ", in FILE:LINE" for a line of a header in a function that was inlined into the line in_source().
  std::string header(Code code) const;
  /// The line, or the one in a .cu file into which it was inlined; "" if there is none.
  std::string in_source(Code code) const;
  std::string in_source_or_unknown(Code code) const;

 private:
  std::string unknown() const { return has_failed_ ? "(addr2line failed):0" : "?:0"; }

  bool has_failed_ = false;  // before what sets it
  std::set<Code> of_library_;
  std::map<Code, std::string> callers_, places_;
};

}  // namespace simt::check
