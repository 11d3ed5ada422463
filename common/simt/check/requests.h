// Groups what lanes do in turn into the requests that a warp makes at once. Lanes belong together if each of
// them executes the same instruction (by its code address) for the first time since the last barrier, or the second,
// ...
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "access.h"
#include "request_cost.h"

namespace simt::check {

class Requests {
 public:
  /// Adds one lane's part of a request.
  [[gnu::always_inline]] void add(const Access& access) {
    if (!joins_latest(access.code, access.address, access.thread, access.bytes, access.space, access.way)) [[unlikely]]
      add_in_general(access.code, access.address, access.thread, access.bytes, access.space, access.way);
  }
  /// The same for one or several words.
  template <Way way, unsigned bytes>
  [[gnu::always_inline]] void add_words(Code code, std::uintptr_t address, unsigned thread, Space space) {
    if (!joins_latest(code, address, thread, bytes, space, way)) [[unlikely]]
      add_words_in_general<way, bytes>(code, address, thread, space);
  }
  /// For each load and store, no atomic, with which a thread has accessed an address since the last barrier: how often
  /// the thread had executed it before it last did that.
  struct Execution {
    Code code;
    std::uint32_t round;
  };
  std::vector<Execution> executions_at(std::uintptr_t address, Space space, unsigned thread) const;
  /// Counts the requests since the last barrier.
  void finish();
  void begin_block();
  void end_block();
  /// The running block leaves; returns what continue_block() needs.
  std::uint64_t leave_block() {
    finish();
    return span_;
  }
  void continue_block(std::uint64_t span) { span_ = span; }

 private:
  struct Instruction;

  /// A warp's requests of one instruction since the last barrier: usually one.
  struct OfWarp {
    Request first{};  ///< without lanes: there is none yet
    Instruction* instruction = nullptr;
    std::unique_ptr<Request[]> later;
    std::uint32_t size = 0, capacity = 0;      ///< of `later`
    std::uint32_t times[lanes_per_warp] = {};  ///< in how many of `later` a lane takes part
    void grow();
  };
  struct Instruction {
    Code code = 0;
    Space space = {};
    Way way = {};
    unsigned bytes = 0;
    std::uint64_t key = 0;
    OfWarp warps[max_warps];
    Request counted{};  ///< the last request that was counted, and its wavefronts
    unsigned wavefronts_of_counted = 0;
    unsigned count_wavefronts(const Request& request);
  };
  /// For an instruction: the requests since the last barrier of the warp that executed it last.
  struct Latest {
    std::uint64_t key;
    OfWarp* of_warp;
  };

  /// Identifies an instruction and a warp. The same instruction may access shared memory through one pointer and global
  /// memory through another. 5 bits hold the warp; below the code address, 5 bits the bytes, 1 the space and 2 the way.
  static std::uint64_t key_of(Code code, unsigned bytes, Space space, Way way, unsigned warp) {
    return (std::uint64_t(code) << 8 | bytes << 3 | unsigned(space) << 2 | unsigned(way)) << 5 | warp;
  }
  static std::size_t slot_of(Code code, unsigned bytes, Space space) {
    return (code ^ bytes << 8 ^ unsigned(space) << 4) % slots;
  }
  /// Adds a part to a request to which other lanes of the warp belong already, as is usual. False: there is none.
  [[gnu::always_inline]] bool joins_latest(Code code, std::uintptr_t address, unsigned thread, unsigned bytes,
                                           Space space, Way way) {
    const Latest& latest = latest_[slot_of(code, bytes, space)];
    if (latest.key != key_of(code, bytes, space, way, thread / lanes_per_warp)) return false;
    OfWarp& of_warp = *latest.of_warp;
    const unsigned lane = thread % lanes_per_warp;
    Request* request = &of_warp.first;
    if (request->lanes == 0) return false;
    if ((request->lanes >> lane & 1) != 0) {
      const std::uint32_t time = of_warp.times[lane];
      if (time == of_warp.size) return false;
      of_warp.times[lane] = time + 1;
      request = &of_warp.later[time];
    }
    request->lanes |= 1u << lane;
    request->address[lane] = std::uint32_t(address);
    return true;
  }
  // The members of an access, one by one: add() then need not keep the access in memory.
  void add_in_general(Code code, std::uintptr_t address, unsigned thread, unsigned bytes, Space space, Way way);
  // So few parameters that the caller needs no stack.
  template <Way way, unsigned bytes>
  [[gnu::noinline]] void add_words_in_general(Code code, std::uintptr_t address, unsigned thread, Space space) {
    add_in_general(code, address, thread, bytes, space, way);
  }
  Instruction& instruction_of(Code code, unsigned bytes, Space space, Way way);
  static void finish(Instruction& instruction, const Request& request, unsigned warp, unsigned time);

  static constexpr std::size_t slots = 4096;
  Latest latest_[slots] = {};
  Instruction* cache_[slots] = {};
  std::unordered_map<std::uint64_t, Instruction> instructions_;
  std::vector<OfWarp*> active_;  // with requests since the last barrier
  std::uint64_t span_ = 0;       // of the block so far
};

}  // namespace simt::check
