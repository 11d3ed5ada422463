// Blocks that wait for blocks of which CUDA does not promise that they run. The blocks of a grid begin in any order,
// and one that has not begun may have to wait until others end. A block may therefore wait for another one only if it
// knows that the other has begun, because it has read what that block has written: the number before its own from a
// counter, for example. The blocks of a cooperative launch all run: nothing is said about those.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "../src/execution/launch_state.h"
#include "access.h"
#include "findings.h"

namespace simt::check {

class Progress {
 public:
  void begin_launch(const Launch& launch);
  void begin_block(std::uint64_t block);

  /// Before a synchronized write of global memory: keeps the value of before the launch.
  void remember(const Access& access) {
    if (has_room_) [[unlikely]]
      remember_value(access);
  }
  /// The running block reads by a synchronized access what block `from` has written so. If that is the first it has
  /// from that block, it must not be what it waits for.
  void learn(const Access& access, std::uint64_t from);

  // --- a block that has already run: a child process tries whether the running block waits for it ---

  bool is_trial() const { return is_trial_; }
  /// An access of the child process. Ends the process when it knows.
  void try_access(const Access& access);
  /// What the child process cannot judge, or the end of what it runs.
  void end_trial() const;

  // --- a block that has not run: once the time of the running block is up, later ones show who is waited for ---

  bool is_searching() const { return is_searching_; }
  /// False: the access waits for no other block, or none is left. Otherwise the running block is to be abandoned, and
  /// `instead` is what is to be reported if no block changes what it waits for.
  bool begin_search(const Access& access, Finding instead);
  /// The time of another block is up, too.
  void follow_search(const Access& access);
  /// After a block. Whether the search goes on with the next one.
  bool continues_search(const Launch& launch, std::uint64_t block);
  void end_search();

 private:
  struct Value {
    std::uintptr_t address;
    unsigned bytes;
    std::uint64_t bits;
    bool is_unchanged() const;
  };

  void remember_value(const Access& access);
  bool wait_for_change(const Access& access);
  bool is_wait(const Access& access, const Value& before);
  [[noreturn]] void leave_trial(int status) const;
  void count_visit(const Access& access);

  std::uint64_t blocks_ = 0, block_ = 0, begun_ = 0;
  bool has_room_ = false;                             // for more values
  std::unordered_map<std::uintptr_t, Value> before_;  // by address: of what synchronized writes have changed
  std::vector<std::vector<std::uint64_t>> known_;     // by block: a bit for each block that it knows has begun
  std::unordered_map<Code, unsigned> trials_;         // by access, in the whole program

  bool is_trial_ = false;
  Access waits_ = {};
  Value waits_for_ = {};
  Code visited_ = 0;         // the access that is seen to return
  std::uint64_t state_ = 0;  // of the thread, at its last visit
  unsigned accesses_ = 0, same_ = 0, different_ = 0;

  bool is_searching_ = false;
  unsigned searched_ = 0;
  Fact waiting_ = {};
  Finding instead_ = {};
};

}  // namespace simt::check
