// Exchanges of a word by a thread that has just read it without an atomic. Where the thread stores what it has computed
// from the old value, as in atomicExch(p, max(*p, x)), it loses what others have stored in between. Where all threads
// store the same value, as in a flag, or where the exchange's result decides, nothing is lost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "access.h"

namespace simt::check {

class Exchanges {
 public:
  /// The running thread has read the word at `read`, and is about to exchange it at `exchange`. `is_unchanged`: no other
  /// thread has written it since.
  void follows(Code read, Code exchange, bool is_unchanged) { about_to_ = {read, exchange, is_unchanged}; }
  /// It has, if it was about to. `thread` is its block and its index in it.
  void ended(const std::pair<std::uint64_t, unsigned>& thread, std::uint64_t old, std::uint64_t desired);
  /// The thread uses the result of its last exchange.
  void used(const std::pair<std::uint64_t, unsigned>& thread);
  /// Whether what follows the read at this place has lost what other threads store, or would have in another order.
  bool lose_updates(Code read) const;

 private:
  struct AboutTo {
    Code read, exchange;
    bool is_unchanged;
  };
  struct Exchange {
    std::set<Code> reads = {};
    std::optional<std::uint64_t> stored = {};
    bool depends_on_read = false;
    bool is_used = false;
  };

  std::optional<AboutTo> about_to_;
  std::map<Code, Exchange> exchanges_;
  std::map<std::pair<std::uint64_t, unsigned>, Code> last_;  // by thread
};

}  // namespace simt::check
