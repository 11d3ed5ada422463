// What C++ leaves undefined, a GPU defines, and other processors compute differently: conversions of numbers that an
// integer cannot hold, and shifts by the type's width or more. Programs made by `cc` are compiled with the sanitizers
// for these (-fsanitize=float-cast-overflow,shift-exponent), which call the functions below. All programs are compiled
// with that for integer division by zero (integer-divide-by-zero), where not every processor stops.
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#ifdef SIMT_CHECK
#include "../../check/state.h"
#endif
#include "../execution/worker.h"
#include "simt/shifts.h"
#include "source_lines.h"

namespace simt {
namespace {

// As the compilers write them (LLVM, compiler-rt/lib/ubsan/ubsan_handlers.h and ubsan_value.h).
struct Location {
  const char* file;
  std::uint32_t line, column;
};
struct Type {
  std::uint16_t kind;  ///< 0: integer, 1: floating-point
  std::uint16_t info;  ///< integer: log2 of its bits, shifted by 1, and the lowest bit for a signed one; else its bits
  char name[1];        ///< in quotation marks

  int bits() const { return kind == 0 ? 1 << (info >> 1) : info; }
  bool is_signed() const { return (info & 1) != 0; }
  std::string text() const { return std::string(name + 1, std::strlen(name) - 2); }
};
struct Operation {
  Location location;
  const Type* left;
  const Type* right;
};

/// While it exists, accesses are not observed: the library's own copies are not the kernel's.
class Unobserved {
 public:
#ifdef SIMT_CHECK
  Unobserved() : mode_(std::exchange(check::state().watch.mode, check::Mode::off)) {}
  ~Unobserved() { check::state().watch.mode = mode_; }

 private:
  check::Mode mode_;
#else
  Unobserved() {}  // not trivial: the object is used
#endif
};

void print(const char* file, unsigned line, const char* kind, const std::string& text) {
  const std::string here = Worker::running()->here();
  std::fprintf(stderr, "%s:%u: note: %s: %s: %s\n", file, line, kind, here.c_str(), text.c_str());
}

/// Prints the note on device code, once for each place in the source.
void note(const Operation& operation, const char* kind, const std::string& text) {
  if (Worker::running() == nullptr) return;
  static std::mutex mutex;
  static auto* const known = new std::set<std::pair<std::string, std::uint64_t>>;
  const Location at = operation.location;
  const std::lock_guard lock(mutex);
  if (!known->insert({at.file, std::uint64_t(at.line) << 32 | at.column}).second) return;
  print(at.file, at.line, kind, text);
}

std::string shift(const std::string& type, const std::string& distance, int bits) {
  return "shifts " + type + " by " + distance + ", which C++ leaves undefined: a GPU shifts out all " +
         std::to_string(bits) + " bits";
}

/// The value of which the sanitizer passes the bits; false if it passes an address, as for a long double.
bool number_of(const Type& type, std::uintptr_t bits, double& number) {
  if (type.bits() == 32) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    number = double(value);
    return true;
  }
  std::memcpy(&number, &bits, sizeof number);
  return type.bits() == 64;
}

/// What a GPU makes of a number beyond the type's range.
std::string saturated(const Type& from, const Type& type, double number) {
  if (std::isnan(number)) return from.bits() == 64 || type.bits() == 64 ? "the highest bit" : "0";
  const std::uint64_t all = ~std::uint64_t(0) >> (64 - type.bits());
  if (!type.is_signed()) return std::to_string(number < 0 ? 0 : all);
  return number < 0 ? "-" + std::to_string(all / 2 + 1) : std::to_string(all / 2);
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" void __ubsan_handle_float_cast_overflow(const Operation* operation, std::uintptr_t value) {
  const Type &from = *operation->left, &to = *operation->right;
  double number = 0;
  if (Worker::running() == nullptr || !number_of(from, value, number)) return;
  const Unobserved unobserved;
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  const bool is_wide = to.bits() >= 32;
  note(*operation, "conversion",
       std::string("converts ") + text + " to " + to.text() + ", which cannot hold it: a GPU gives " +
           (is_wide ? saturated(from, to, number) : "another result") +
           ", a CPU may give something else; limit the number first, or call __" +
           (from.bits() == 64 ? "double" : "float") + "2" + (to.is_signed() ? "" : "u") +
           (to.bits() == 64 ? "ll" : "int") + "_rz(), which gives the GPU's result on both");
}

extern "C" void __ubsan_handle_divrem_overflow(const Location* location, std::uintptr_t, std::uintptr_t) {
  if (Worker* const worker = Worker::running()) {
    worker->fail(
        {"arithmetic", "integer division by zero", {location->file, int(location->line)}, cudaErrorLaunchFailure});
  }
  std::raise(SIGFPE);
}

extern "C" void __ubsan_handle_shift_out_of_bounds(const Operation* operation, std::uintptr_t, std::uintptr_t right) {
  if (Worker::running() == nullptr) return;
  const Unobserved unobserved;
  const Type& left = *operation->left;
  const auto distance = operation->right->is_signed() && operation->right->bits() == 32
                            ? std::to_string(std::int32_t(std::uint32_t(right)))
                            : std::to_string(right);
  note(*operation, "shift",
       shift(left.text(), distance, left.bits()) +
           ", this processor shifts by another distance; test the distance first");
}

bool simt::shifts_out(Shifted type, unsigned distance) {
  if (Worker::running() == nullptr) return false;
  const Unobserved unobserved;
  void* const code = __builtin_return_address(0);
  static std::mutex mutex;
  static auto* const known = new std::set<void*>;
  static auto* const printed = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!known->insert(code).second) return true;
  const std::string name = std::string(type.is_signed ? "" : "unsigned ") + (type.bits == 64 ? "long long" : "int");
  const Site site = line_of_call(code);
  if (!printed->insert(site.file + (":" + std::to_string(site.line)) + name).second) return true;  // another copy
  print(site.file, unsigned(site.line), "shift",
        shift(name, std::to_string(int(distance)), type.bits) +
            ", and so does this program, but nvcc may compute a constant in another way; test the distance first");
  return true;
}
