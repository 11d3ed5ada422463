// Which of two accesses comes first: barrier intervals, clocks of a warp's lanes, fences between blocks.
//
// An interval is the time between two barriers of a block. Intervals are numbered through the whole program, so that
// one comparison decides most cases. Within an interval, the lanes of a warp have vector clocks, which are joined when
// lanes synchronize. Events have little room for a clock, so a warp that synchronizes very often begins a new stage of
// the interval: it takes a new interval number, and its clocks count from there.
//
// A thread comes after another block of the same launch if it has read, by an atomic or volatile access, what the other
// block wrote in the same way after a __threadfence. It then comes after everything before that fence, but not after
// what follows the fence; after the next barrier, so does its whole block. The same holds for threads of one block
// within an interval, for which __threadfence_block is enough. MEMORY_MODEL.md says what is and what is not modelled. Launches are in order unless they are in different streams (stream_order.h).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "../src/emulation.h"
#include "access.h"
#include "stream_order.h"

namespace simt::check {

/// What is kept of an access, to compare later accesses with it.
struct Event {
  std::uint32_t interval;         ///< earlier ones are smaller; 0: no access
  std::uint32_t code;             ///< relative to the program's first address
  std::uint16_t clock : 15;       ///< of its lane, since its warp's last stage began
  std::uint16_t is_of_block : 1;  ///< an atomic of block scope: for other blocks, it is none
  std::uint16_t thread : 10;
  std::uint16_t bytes : 4;  ///< one bit for each byte of the word
  std::uint16_t is_synchronized : 1;
  std::uint16_t is_atomic : 1;  ///< otherwise, if it is synchronized: volatile
};
static_assert(sizeof(Event) == 12 && max_warps * lanes_per_warp <= 1024, "several are kept for each word of memory");

/// That a thread has seen what a block wrote after some of its fences.
struct Link {
  std::uint32_t block, fences;
  bool has_passed_on;  ///< it was an atomic, which may have changed what others had published
};

/// What is known of the running block.
struct OrderInBlock {
  /// Of each lane a of a warp, what it knows of another lane b.
  using Clocks = std::array<std::array<std::uint32_t, lanes_per_warp>, lanes_per_warp>;
  /// By warp, what is known of its lanes.
  using Known = std::map<unsigned, std::array<std::uint32_t, lanes_per_warp>>;
  using KnownByThread = std::unordered_map<unsigned, Known>;
  static constexpr std::array<std::uint32_t, max_warps * lanes_per_warp> initial_clocks() {
    std::array<std::uint32_t, max_warps * lanes_per_warp> ones;
    ones.fill(1);
    return ones;
  }
  /// From an interval on: what to add to the clocks of a warp's events.
  struct Stage {
    unsigned warp;
    std::uint32_t first_interval;
    std::array<std::uint32_t, lanes_per_warp> before;
  };

  std::uint32_t first_of_block_ = 1;
  std::uint32_t since_barrier_ = 1;  // the first interval since the last barrier
  bool has_clocks_[max_warps] = {}, lanes_joined_[max_warps] = {};
  bool has_learned_[max_warps] = {};  // some lane of the warp knows something of another one
  bool has_fences_ = false;
  std::unique_ptr<Clocks[]> clocks_ = {};  // by warp
  std::array<std::uint32_t, max_warps * lanes_per_warp> own_clocks_ = initial_clocks();
  std::vector<Stage> stages_ = {};  // since the last barrier
  std::array<std::uint32_t, max_warps * lanes_per_warp> before_stage_ = {};
  /// By thread: the lanes with which it last came to a shuffle or vote, and its clock after that. Empty: none did.
  struct Meeting {
    unsigned lanes;
    std::uint32_t clock;
  };
  std::vector<Meeting> meetings_ = {};
  // Of this interval. By thread, at its last fence; by thread, from the flags that it has read; by flag, for threads
  // that read it.
  KnownByThread at_fence_ = {}, from_flags_ = {};
  std::unordered_map<const void*, Known> by_flag_ = {};
  // By thread: from flags that it has read, but whose reads become acquires only by its next fence.
  KnownByThread after_fence_ = {};
  std::unordered_map<unsigned, std::vector<Link>> links_after_fence_ = {};
  // What has been seen of other blocks since the last barrier, after which all threads rely on it: by thread; by thread,
  // at its last fence; by flag, for threads that read it.
  std::unordered_map<unsigned, std::vector<Link>> links_ = {}, links_at_fence_ = {};
  std::unordered_map<const void*, std::vector<Link>> links_by_flag_ = {};
  bool relies_on_more_ = false;  // than its last fence has published
};

class Order : OrderInBlock {
 public:
  Order();

  void begin_launch(std::uint64_t blocks);
  /// Of the launch, copy or fill that begins: it may run at the same time as earlier ones in other streams.
  void submit(Handle stream, Operation operation);
  void begin_block(std::uint64_t block);
  void begin_interval();  ///< a barrier has opened
  void begin_phase();     ///< the barrier of the grid has opened: what follows in any block comes after all before
  void fence(unsigned thread);
  void fence_in_block(unsigned thread);
  void acquire_fence(unsigned thread);  ///< of either scope: the scope of the flag's access decides
  void synchronize_lanes(unsigned warp, unsigned lanes);
  void lanes_met(unsigned warp, unsigned lanes);  ///< at a shuffle or vote, which orders no accesses
  /// Whether the lane of `before` and that of `now` have come to a shuffle or vote together, after `before`.
  bool have_met_since(const Event& before, const Event& now) const;

  std::uint32_t interval() const { return interval_; }
  /// Whether an event of the running block happened since the last barrier.
  bool is_since_barrier(const Event& event) const { return event.interval >= since_barrier_; }
  std::uint32_t first_of_block() const { return first_of_block_; }    ///< the first interval of the running block
  std::uint32_t first_of_launch() const { return first_of_launch_; }  ///< the first interval of the running launch
  /// The first interval from which on all accesses of the space are the running block's. In global memory, others may have
  /// had turns since it began.
  std::uint32_t first_of_own(Space space) const { return space == Space::shared ? first_of_block_ : first_of_turn_; }
  /// The first interval whose accesses may be concurrent with current ones.
  std::uint32_t first_concurrent(Space space) const {
    return space == Space::shared ? since_barrier_ : first_unordered_;
  }
  bool is_of_earlier_launch(const Event& event) const { return event.interval < first_of_launch_; }
  /// Whether the thread's warp has clocks in this interval: some of its lanes have synchronized or fenced.
  bool has_clocks(unsigned thread) const { return has_clocks_[thread / lanes_per_warp]; }
  bool has_fences() const { return has_fences_; }    ///< in this interval; otherwise there is nothing to pass on
  std::uint64_t block_of(const Event& event) const;  ///< for an event of the running launch

  /// The event of an access that happens now. `bytes`: one bit for each byte of the word.
  Event event_of(unsigned thread, unsigned bytes, Sync sync, std::uint32_t code) const {
    const std::uint32_t clock = clock_now(thread);
    Event event{};
    event.interval = interval_;
    event.code = code;
    event.clock = clock & 32767;
    event.thread = thread & 1023;
    event.bytes = bytes & 15;
    event.is_synchronized = sync == Sync::synchronized;
    return event;
  }

  /// The clock of the thread's events now.
  std::uint32_t clock_now(unsigned thread) const { return has_clocks(thread) ? clock_in_stage(thread) : 1; }
  /// The second half of the event of a plain access; interval_and_code() returns the first. What event_of() returns
  /// takes longer to put together, to compare and to store, bit by bit.
  [[gnu::always_inline]] static std::uint32_t rest_of(unsigned thread, unsigned clock, unsigned bytes) {
    using Words = std::array<std::uint32_t, 3>;
    // Not constexpr, because clang cannot convert bit fields so early. It computes them at compile time, too.
    const std::uint32_t one_clock = std::bit_cast<Words>(Event{0, 0, 1, 0, 0, 0, 0, 0})[2];
    const std::uint32_t one_thread = std::bit_cast<Words>(Event{0, 0, 0, 0, 1, 0, 0, 0})[2];
    const std::uint32_t one_byte = std::bit_cast<Words>(Event{0, 0, 0, 0, 0, 1, 0, 0})[2];
    return thread * one_thread + clock * one_clock + bytes * one_byte;
  }
  [[gnu::always_inline]] static std::uint32_t rest_of(const Event& event) {
    std::uint32_t rest;
    std::memcpy(&rest, reinterpret_cast<const char*>(&event) + sizeof(std::uint64_t), sizeof rest);
    return rest;
  }
  [[gnu::always_inline]] static void store_event(Event& event, std::uint64_t interval_and_code, std::uint32_t rest) {
    char* const at = reinterpret_cast<char*>(&event);
    std::memcpy(at, &interval_and_code, sizeof interval_and_code);
    std::memcpy(at + sizeof interval_and_code, &rest, sizeof rest);
  }
  static std::uint64_t interval_and_code(std::uint32_t interval, std::uint32_t code) {
    using Halves = std::array<std::uint32_t, 2>;
    static_assert(offsetof(Event, interval) == 0 && offsetof(Event, code) == 4);
    return std::bit_cast<std::uint64_t>(Halves{interval, code});
  }

  /// Whether `before` and the access `now` may have happened in the other order.
  [[gnu::always_inline]] bool are_unordered(const Event& before, const Event& now, Space space) const {
    // Most accesses follow one of an earlier interval, launch or block, or of the same thread.
    if (before.interval < (space == Space::shared ? first_of_block_ : first_unordered_)) return false;
    if (before.interval >= first_of_own(space) && (!is_since_barrier(before) || before.thread == now.thread))
      return false;
    return are_unordered_in_launch(before, now, space);
  }

  /// The same for lanes of one warp within an interval, whether or not the accesses are synchronized.
  bool are_unordered_lanes(const Event& before, const Event& now) const {
    return is_since_barrier(before) && before.thread != now.thread && (before.bytes & now.bytes) != 0 &&
           before.thread / lanes_per_warp == now.thread / lanes_per_warp &&
           are_unordered_in_interval(before, now.thread);
  }

  /// Within an interval: a synchronized write of a flag passes on what its thread knew at its last fence, and a
  /// synchronized read takes it over. The address of its cell identifies the flag. An atomic adds to what others have
  /// passed on; a volatile write replaces it.
  void pass_on(const void* flag, unsigned thread, Way way);
  void take_over(const void* flag, const Access& read);

  StreamOrder streams;
  /// Some intervals of earlier operations, between unordered ones, that the running operation comes after: those found
  /// last. Most accesses of a kernel follow accesses of one operation, such as the copy of what the kernel reads.
  StreamOrder::Span in_order() const { return in_order_; }

  /// The running block leaves its turn to others.
  OrderInBlock leave_block();
  void continue_block(std::uint64_t block, OrderInBlock known);

  /// After a synchronized read of what another block wrote in the same way: that block's accesses before its fence, and
  /// all that it could rely on, come before what follows here.
  void acquire(const Event& write, const Access& read);
  /// Whether the running block has read a flag, a counter or the like that the block of `before` wrote, by an atomic or
  /// a volatile access, at that time or later.
  bool has_flag_after(const Event& before) const;

 private:
  /// A __threadfence: threads that see what this thread writes later also see what it did before, and what every thread
  /// of its block did before the last barrier.
  struct Fence {
    std::uint32_t since_barrier, interval;
    std::uint16_t thread;
    bool is_joined;  ///< lanes of its warp have synchronized in this interval: the fence may count for them as well
    std::uint32_t clock;
    std::uint32_t known;  ///< number of what its thread had learned from flags of its block; 0: nothing
    bool comes_after(const Event& access) const;
    bool comes_before(const Event& access) const;
  };

  /// What the atomics of a block have changed: who reads their results sees the fences of those before, too.
  struct PassedOn {
    std::vector<std::uint32_t> fences;  ///< by block
    std::vector<std::uint32_t> merged;  ///< by block: up to which version of what that block passes on
    std::uint32_t version = 0;
  };

  bool is_own(const Event& event, Space space) const;
  bool is_after_fence(const Fence& fence, const Event& before) const;
  bool are_ordered_accesses(const Event& before, const Event& now, Space space) const;
  std::uint32_t fences_before(std::uint32_t block, const Event& write) const;
  std::uint32_t fences_seen(const Link& link, std::uint32_t of_block) const;
  std::uint32_t fences_relied_on(unsigned thread, std::uint32_t of_block) const;
  void pass_on(const Link& link);
  void rely_on(const Link& link);
  void publish_links(unsigned thread);
  void join_links(unsigned warp, unsigned lanes);
  void add_link(std::vector<Link>& links, const Link& link);
  void add_links(std::vector<Link>& links, const std::vector<Link>& more);
  void forget_links();
  void learn_from_flag(unsigned thread, const Known& known);
  void learn_of_itself(std::array<std::uint32_t, lanes_per_warp>& known, unsigned thread) const;
  bool are_unordered_in_launch(const Event& before, const Event& now, Space space) const;
  bool are_unordered_in_interval(const Event& before, unsigned now) const;
  std::uint32_t clock_in_stage(unsigned thread) const { return own_clocks_[thread] - before_stage_[thread]; }
  /// The clock of an event's lane, since the last barrier.
  std::uint32_t clock_of(const Event& event) const;
  void reset_clocks(unsigned warp);
  void keep_clocks(unsigned warp);
  void forget_interval();
  void learn_of_flag(std::uint32_t from, std::uint32_t interval);
  void advance_clocks(unsigned warp, unsigned lanes);
  void begin_stage(unsigned warp);
  static void learn(std::array<std::uint32_t, lanes_per_warp>& own,
                    const std::array<std::uint32_t, lanes_per_warp>& more);
  static void learn(Known& own, const Known& more);
  static void join(KnownByThread& known, unsigned warp, unsigned lanes);

  std::uint32_t interval_ = 1, first_of_launch_ = 1;
  std::uint32_t first_of_turn_ = 1;                    // since the running block has begun or continued
  std::uint32_t first_of_phase_ = 1;                   // since the barrier of the grid has opened, or first_of_launch_
  std::uint32_t first_unordered_ = 1;                  // of an earlier operation in another stream, or first_of_phase_
  mutable StreamOrder::Span in_order_ = {};            // see in_order()
  std::uint64_t blocks_ = 0, block_ = 0;               // of the running launch
  std::vector<std::uint32_t> block_of_interval_;       // from first_of_launch_ on
  bool has_untracked_fences_ = false;                  // then blocks of this launch are taken to be in order
  std::vector<std::vector<Fence>> fences_;             // by block, in order
  std::vector<Known> known_at_fences_;                 // of this launch: what Fence::known numbers
  std::vector<std::vector<std::uint32_t>> acquired_;   // by block: on how many fences of each other block it relies
  std::vector<std::vector<std::uint32_t>> published_;  // by block: the same, of those who have seen its last fence
  std::vector<PassedOn> passed_on_;                    // by block
  std::vector<std::vector<std::uint32_t>> flags_;  // by block: the interval of the last flag that it knows of another
};

}  // namespace simt::check
