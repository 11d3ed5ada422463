// Groups what lanes do in turn into the requests that a warp makes at once. Lanes belong together if each of
// them executes the same instruction (by its code address) for the first time since the last barrier, or the second,
// ...
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "access.h"
#include "counts.h"
#include "request_cost.h"

namespace simt::check {

class Requests {
  struct Instruction;

 public:
  /// A warp's requests of one instruction since the last barrier: usually one.
  class OfWarp {
   public:
    /// Adds a lane's part of the first request, or of a later one for which there is room; some lane has a part in the
    /// first one. False: nothing has been added.
    template <unsigned bytes>
    [[gnu::always_inline]] bool add(unsigned lane, std::uintptr_t address) {
      if (first_[lane] != none) {
        const std::uint32_t time = times_[lane];
        if (time == room_) return false;
        later_[lane * room_ + time] = std::uint32_t(address);
        times_[lane] = time + 1;
        return true;
      }
      first_[lane] = kept<bytes>(address);
      return true;
    }

    /// The key with which add() is found. It becomes 0 when the requests are counted, or when forget() is called.
    void found_by(std::uint64_t& key) { key_ = &key; }

   private:
    friend class Requests;

    /// An address in first_, where `none` stands for none.
    template <unsigned bytes>
    static std::uint32_t kept(std::uintptr_t address) {
      const std::uint32_t kept = std::uint32_t(address) + 1;
      return bytes == 1 && kept == none ? kept - 1 : kept;  // the last byte of a word counts as the one before
    }
    bool has_first(unsigned lane, std::uintptr_t address) const { return first_[lane] == kept<1>(address); }
    void grow();
    std::uint32_t count_later() const;
    Request first() const;
    Request later(std::uint32_t time, std::uint32_t in_all) const;
    void clear(std::uint32_t later);
    void forget() {
      if (key_ != nullptr) *key_ = 0;
    }
    /// Makes room for further requests of the lane, which are never counted.
    void drop(unsigned lane);

    static constexpr std::uint32_t none = 0;
    std::uint32_t first_[lanes_per_warp] = {};
    std::uint32_t room_ = 0;
    bool is_active_ = false;
    std::unique_ptr<std::uint32_t[]> later_;    // by lane, the addresses of its parts in the requests after the first
    std::uint32_t times_[lanes_per_warp] = {};  // by lane, how many those are
    Instruction* instruction_ = nullptr;
    std::uint64_t* key_ = nullptr;
  };

  /// Adds one lane's part of a request. Returns the requests of its warp by this instruction.
  // The members of an access, one by one: the caller then need not keep the access in memory.
  OfWarp& add(Code code, std::uintptr_t address, unsigned thread, unsigned bytes, Space space, Way way);
  [[gnu::always_inline]] OfWarp& add(const Access& access) {
    return add(access.code, access.address, access.thread, access.bytes, access.space, access.way);
  }
  /// Takes the requests of accesses that are not counted, and drops them. To be called again whenever its add() returns
  /// false. `key`: as for found_by(); it may have become 0 since.
  OfWarp& uncounted(std::uint64_t& key, unsigned lane);
  /// For each load and store, no atomic, with which a thread has accessed an address since the last barrier: how often
  /// the thread had executed it before it last did that.
  struct Execution {
    Code code;
    std::uint32_t round;
  };
  std::vector<Execution> executions_at(std::uintptr_t address, Space space, unsigned thread) const;
  /// Counts the requests since the last barrier.
  void finish();
  /// The next access of each instruction by any warp, or by this one, has to call add() above.
  void forget();
  void forget(unsigned warp);
  void begin_block();
  void end_block();
  /// The running block leaves; returns what continue_block() needs.
  std::uint64_t leave_block() {
    finish();
    return span_;
  }
  void continue_block(std::uint64_t span) { span_ = span; }

 private:
  struct Instruction {
    Code code = 0;
    Space space = {};
    Way way = {};
    unsigned bytes = 0;
    std::uint64_t key = 0;
    Cost* cost = nullptr;  ///< over the whole program
    OfWarp warps[max_warps];
    Request counted{};  ///< the last request whose cost was counted, without gaps, and that cost
    RequestCost cost_of_counted = {};
    const RequestCost& count(const Request& request);
  };

  /// Identifies an instruction. The same code may access shared memory through one pointer and global memory through
  /// another. Below the code address, 5 bits hold the bytes, 1 the space and 2 the way.
  static std::uint64_t key_of(Code code, unsigned bytes, Space space, Way way) {
    return std::uint64_t(code) << 8 | bytes << 3 | unsigned(space) << 2 | unsigned(way);
  }
  Instruction& instruction_of(Code code, unsigned bytes, Space space, Way way);
  /// The next access of each instruction that is not counted has to call uncounted() above.
  void forget_uncounted();
  static void finish(Instruction& instruction, Request& request, unsigned warp, unsigned time);

  static constexpr std::size_t slots = 4096;
  Instruction* cache_[slots] = {};
  std::unordered_map<std::uint64_t, Instruction> instructions_;
  std::vector<OfWarp*> active_;  // with requests since the last barrier
  std::uint64_t span_ = 0;       // of the block so far
  OfWarp uncounted_;
  std::vector<std::uint64_t*> keys_of_uncounted_;
};

}  // namespace simt::check
