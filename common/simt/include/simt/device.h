// A kernel's view of its thread, block and warp: indices, barriers, warp primitives, fences.
// The semantics are those of compute capability 7.0 and later (CUDA C++ Programming Guide, "Independent Thread
// Scheduling", "Synchronization Functions", "Warp Vote", "Warp Match", "Warp Reduce" and "Warp Shuffle Functions").
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simt/types.h"

/// A function that CUDA on the CPU cannot have, so that a call of it is an error with this text. Older compilers do not
/// know this attribute: for them, the function is not declared.
#if defined(__has_attribute)
#if __has_attribute(unavailable)
#define SIMT_UNAVAILABLE(text) __attribute__((unavailable(text)))
#endif
#endif

// Set before each thread runs; every OS thread that runs blocks has its own. An access of a __thread variable never
// calls a function. One of a thread_local variable does in g++ 11, even of one that is constinit.
//
// Programs cannot change them, so the check build need not observe how they are read. (In the plain build, const would
// make the compiler keep copies across barriers, which takes longer than reading them again.) To g++, a variable of
// a type with constructors, such as dim3, is never constant.
#if defined(SIMT_CHECK) && !defined(SIMT_LIBRARY)
extern const __thread uint3 threadIdx;
extern const __thread uint3 blockIdx;
extern const __thread simt::ConstantDim3 blockDim;
extern const __thread simt::ConstantDim3 gridDim;
#else
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;
#endif
inline constexpr int warpSize = 32;

namespace simt {

/// Where in the program's source a primitive was called. Passed as a last argument with a default.
struct Site {
  const char* file = "";
  int line = 0;

  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
  constexpr bool operator==(const Site& other) const { return line == other.line && file == other.file; }
};

/// The rewriter puts it behind `return` in kernels, so that the check build can name the line.
#ifdef SIMT_CHECK
void returned(Site site = Site::here());
/// The same for functions that kernels call. `last`: the line of the function's last barrier, which follows the return.
void returned_before(int last, Site site = Site::here());
#else
inline void returned() {}
inline void returned_before(int) {}
#endif

/// The rewriter puts one behind each array that a thread has for itself. The check build watches those that are too large
/// for registers.
#ifdef SIMT_CHECK
void local_array_begins(void* array, std::size_t bytes, const char* name, Site site);
void local_array_ends(const void* array);

template <class Array>
class LocalArray {
  static constexpr std::size_t most_in_registers = 256;  // bytes
  static constexpr bool is_watched =
      sizeof(Array) > most_in_registers&& std::is_scalar_v<std::remove_all_extents_t<Array>>;

 public:
  [[gnu::always_inline]] LocalArray(Array& array, const char* name, Site site = Site::here()) {
    if constexpr (is_watched) {
      array_ = const_cast<std::remove_cv_t<Array>*>(&array);
      local_array_begins(array_, sizeof array, name, site);
    }
  }
  [[gnu::always_inline]] ~LocalArray() {
    if constexpr (is_watched) local_array_ends(array_);
  }
  LocalArray(const LocalArray&) = delete;
  LocalArray& operator=(const LocalArray&) = delete;

 private:
  std::conditional_t<is_watched, void*, char> array_ = {};
};
#else
struct LocalArray {
  template <class Array>
  [[gnu::always_inline]] constexpr LocalArray(Array&, const char*) {}
};
#endif

/// The warp primitives at which lanes meet. Those of one sort follow one another, so that a comparison finds the sort.
enum class WarpOp : std::uint8_t {
  sync,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  all,
  any,
  uniform,
  ballot,
  match_any,
  match_all,
  reduce_add,
  reduce_min,
  reduce_max,
  reduce_min_signed,
  reduce_max_signed,
  reduce_and,
  reduce_or,
  reduce_xor,
  active_mask
};

/// Waits until all threads of the block that have not exited arrive; returns for how many of them `predicate` was true.
int block_barrier(bool predicate, Site site);

/// Whether nothing in the block has asked this before for the barrier with this number of inline PTX.
bool is_new_named_barrier(unsigned number);

/// Waits until all threads of the grid arrive. Ends a kernel whose launch is not cooperative.
void grid_barrier(Site site);
/// Whether the running launch is cooperative: all its blocks run at once.
bool is_cooperative_launch();

/// One lane's part in a warp primitive: waits for the lanes of `mask`, then returns this lane's result.
/// `value` holds the operand's bits, `lane_argument` the source lane or delta, `width` the logical warp size of a
/// shuffle. Lanes of the mask that have exited do not count. Errors (reported, then sticky): a lane outside its mask,
/// lanes that meet at different primitives.
std::uint64_t warp_collective(WarpOp op, unsigned mask, std::uint64_t value, int lane_argument, int width, Site site);

/// Lets other threads of the block, and other blocks, run. Everything that a spin-wait may use calls it.
void yield();

/// Called at the end of every atomic: yields now and then, so that a loop that waits on an atomic ends.
void atomic_yield();

/// Ends the kernel with cudaErrorLaunchFailure, as a trap does on a device.
[[noreturn]] void trap(const char* what, Site site);

/// The running block's dynamic shared memory, aligned for any vector type.
void* dynamic_shared();

}  // namespace simt

#if defined(__x86_64__) && !defined(SIMT_BOOST_CONTEXT)
#define SIMT_INLINE_BARRIER
#endif

#ifdef SIMT_INLINE_BARRIER
// To the compiler, this changes nearly all registers, so it saves those whose values the kernel still needs, no others
// (see src/execution/barrier.cpp). Compilers as old as g++ 12 have no attribute of functions that says so.
#ifdef __AVX512F__
#define SIMT_AVX512_REGISTERS                                                                                   \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
      "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define SIMT_AVX512_REGISTERS
#endif
[[gnu::always_inline]] inline void __syncthreads(simt::Site site = simt::Site::here()) {
  asm volatile("leaq 1f(%%rip), %%rax\n\tjmp simt_barrier\n1:"
               : "+D"(site.file), "+S"(site.line)
               :
               : "memory", "cc", "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r14", "r15", "xmm0", "xmm1", "xmm2",
                 "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                 "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)" SIMT_AVX512_REGISTERS);
}
#undef SIMT_AVX512_REGISTERS
#else
extern "C" void simt_barrier(simt::Site site);
inline void __syncthreads(simt::Site site = simt::Site::here()) { simt_barrier(site); }
#endif
inline int __syncthreads_count(int predicate, simt::Site site = simt::Site::here()) {
  return simt::block_barrier(predicate != 0, site);
}
inline int __syncthreads_or(int predicate, simt::Site site = simt::Site::here()) {
  return simt::block_barrier(predicate != 0, site) != 0;
}
inline int __syncthreads_and(int predicate, simt::Site site = simt::Site::here()) {
  return simt::block_barrier(predicate == 0, site) == 0;
}

inline void __syncwarp(unsigned mask = 0xffffffffu, simt::Site site = simt::Site::here()) {
  simt::warp_collective(simt::WarpOp::sync, mask, 0, 0, 32, site);
}
inline unsigned __activemask(simt::Site site = simt::Site::here()) {
  return unsigned(simt::warp_collective(simt::WarpOp::active_mask, 0, 0, 0, 32, site));
}

// --- votes ---
#define SIMT_VOTE(Result, name, op)                                                            \
  inline Result name(unsigned mask, int predicate, simt::Site site = simt::Site::here()) {     \
    return Result(simt::warp_collective(simt::WarpOp::op, mask, predicate != 0, 0, 32, site)); \
  }
SIMT_VOTE(int, __all_sync, all)
SIMT_VOTE(int, __any_sync, any)
SIMT_VOTE(int, __uni_sync, uniform)
SIMT_VOTE(unsigned, __ballot_sync, ballot)
#undef SIMT_VOTE

namespace simt {

template <class T, class... Choices>
inline constexpr bool is_one_of = (std::is_same_v<T, Choices> || ...);

/// The types that CUDA exchanges between lanes: of 4 or 8 bytes, and those of small_float.h.
template <class T>
inline constexpr bool is_exchangeable =
    is_one_of<T, int, unsigned, long, unsigned long, long long, unsigned long long, float, double>;
template <class T>
using Exchangeable = std::enable_if_t<is_exchangeable<T>, int>;

/// Smaller integers are exchanged as int, as C++ promotes them.
template <class T>
using PromotedToInt = std::enable_if_t<std::is_integral_v<T> && sizeof(T) < sizeof(int), int>;

/// An integer of the type's size; void if there is none, or if the type's bits cannot be taken for one. (In the check
/// build, a call of memcpy() takes longer than the shuffle itself.)
template <class T>
using WordOf = std::conditional_t<
    !std::is_trivially_copyable_v<T>, void,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 8, std::uint64_t, void>>>;

template <class T>
inline std::uint64_t to_bits(T value) {
  using Bits = WordOf<T>;
  if constexpr (std::is_void_v<Bits>) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  } else {
    return __builtin_bit_cast(Bits, value);
  }
}

template <class T>
inline T from_bits(std::uint64_t bits) {
  using Bits = WordOf<T>;
  if constexpr (std::is_void_v<Bits>) {
    T value;
    std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return value;
  } else {
    return __builtin_bit_cast(T, static_cast<Bits>(bits));
  }
}

template <class T>
inline T exchange(WarpOp op, unsigned mask, T value, int lane_argument, int width, Site site) {
  return from_bits<T>(warp_collective(op, mask, to_bits(value), lane_argument, width, site));
}

}  // namespace simt

// --- shuffles ---
#define SIMT_SHUFFLE(name, op, Argument)                                                                             \
  template <class T, simt::Exchangeable<T> = 0>                                                                      \
  inline T name(unsigned mask, T value, Argument argument, int width = 32, simt::Site site = simt::Site::here()) {   \
    return simt::exchange(simt::WarpOp::op, mask, value, int(argument), width, site);                                \
  }                                                                                                                  \
  template <class T, simt::PromotedToInt<T> = 0>                                                                     \
  inline int name(unsigned mask, T value, Argument argument, int width = 32, simt::Site site = simt::Site::here()) { \
    return name(mask, int(value), argument, width, site);                                                            \
  }
SIMT_SHUFFLE(__shfl_sync, shuffle, int)
SIMT_SHUFFLE(__shfl_up_sync, shuffle_up, unsigned)
SIMT_SHUFFLE(__shfl_down_sync, shuffle_down, unsigned)
SIMT_SHUFFLE(__shfl_xor_sync, shuffle_xor, int)
#undef SIMT_SHUFFLE

// --- match ---
template <class T, simt::Exchangeable<T> = 0>
inline unsigned __match_any_sync(unsigned mask, T value, simt::Site site = simt::Site::here()) {
  return unsigned(simt::warp_collective(simt::WarpOp::match_any, mask, simt::to_bits(value), 0, 32, site));
}
template <class T, simt::Exchangeable<T> = 0>
inline unsigned __match_all_sync(unsigned mask, T value, int* all_equal, simt::Site site = simt::Site::here()) {
  const unsigned equal =
      unsigned(simt::warp_collective(simt::WarpOp::match_all, mask, simt::to_bits(value), 0, 32, site));
  *all_equal = equal != 0;
  return equal;
}

// --- reductions (32-bit) ---
#define SIMT_REDUCE(T, name, op)                                                                     \
  inline T name(unsigned mask, T value, simt::Site site = simt::Site::here()) {                      \
    return T(unsigned(simt::warp_collective(simt::WarpOp::op, mask, unsigned(value), 0, 32, site))); \
  }
SIMT_REDUCE(unsigned, __reduce_add_sync, reduce_add)
SIMT_REDUCE(int, __reduce_add_sync, reduce_add)
SIMT_REDUCE(unsigned, __reduce_min_sync, reduce_min)
SIMT_REDUCE(int, __reduce_min_sync, reduce_min_signed)
SIMT_REDUCE(unsigned, __reduce_max_sync, reduce_max)
SIMT_REDUCE(int, __reduce_max_sync, reduce_max_signed)
SIMT_REDUCE(unsigned, __reduce_and_sync, reduce_and)
SIMT_REDUCE(unsigned, __reduce_or_sync, reduce_or)
SIMT_REDUCE(unsigned, __reduce_xor_sync, reduce_xor)
#undef SIMT_REDUCE

// --- fences, time, traps ---
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_ACQ_REL); }
inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  simt::yield();  // a fence in a loop is a spin-wait on another block
}
inline void __threadfence_system() { __threadfence(); }
inline void __nanosleep(unsigned) { simt::yield(); }
/// Not inline: a program that calls it does not refer to a clock of the host.
long long clock64();
[[noreturn]] inline void __trap(simt::Site site = simt::Site::here()) { simt::trap("__trap()", site); }
