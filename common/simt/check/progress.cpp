#include "progress.h"

#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "../src/execution/worker.h"
#include "faults.h"
#include "places.h"
#include "state.h"

namespace simt::check {
namespace {

constexpr std::uint64_t max_blocks = 4096;
constexpr std::size_t max_values = 4096;
constexpr unsigned max_trials = 64, max_trials_of_access = 3;
// A thread yields at every 64th access that may be a wait, so each other thread has had several turns by then.
constexpr unsigned same_visits = 256, different_visits = 1000, max_accesses = 2'000'000;
constexpr int is_waiting = 77;  // exit status of a trial
constexpr unsigned max_searched = 32;

std::uint64_t bits_at(std::uintptr_t address, unsigned bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void*>(address), bytes);
  return bits;
}

void mix(std::uint64_t& hash, std::uint64_t value) { hash = std::rotl((hash ^ value) * 0x9e3779b97f4a7c15u, 29); }

/// The registers that a call keeps, and where the caller's part of the stack begins.
struct Frame {
  Code code;
  std::uint64_t hash;
  std::uintptr_t stack;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* argument) {
  Frame& frame = *static_cast<Frame*>(argument);
  if (Code(_Unwind_GetIP(context)) - 1 != frame.code) return _URC_NO_REASON;
#ifdef __x86_64__
  for (int number : {3, 6, 12, 13, 14, 15}) mix(frame.hash, _Unwind_GetGR(context, number));
#else
  for (int number = 19; number < 30; ++number) mix(frame.hash, _Unwind_GetGR(context, number));
#endif
  frame.stack = _Unwind_GetCFA(context);
  return _URC_END_OF_STACK;
}

/// Two visits to an access with the same result follow one another in the same way until memory changes. 0: not known.
std::uint64_t state_of_thread(Code code) {
  Frame frame{code, 1, 0};
  _Unwind_Backtrace(look_at_frame, &frame);
  if (frame.stack == 0) return 0;
  const Stacks& stacks = Worker::running()->stacks();
  const auto* const here = reinterpret_cast<const void*>(frame.stack);
  for (std::uintptr_t at = frame.stack; at - frame.stack < Stacks::usable; at += 8) {
    const auto* const place = reinterpret_cast<const void*>(at);
    if (!stacks.contains(place) || stacks.in_another(place, here)) break;
    mix(frame.hash, bits_at(at, 8));
  }
  return frame.hash;
}

/// `block`: that the access waits for.
Finding waits_for_block(Fact access, uint3 block) {
  Finding finding{.kind = "forward-progress", .why = "later-block", .facts = {std::move(access)}};
  finding.details.set("block", block);
  return finding;
}

}  // namespace

bool Progress::Value::is_unchanged() const { return bits_at(address, bytes) == bits; }

void Progress::begin_launch(const Launch& launch) {
  // A schedule gives them turns, and runs without one have been looked at.
  blocks_ = launch.are_resident ? 1 : launch.blocks;
  begun_ = 0;
  has_room_ = blocks_ > 1 && blocks_ <= max_blocks;
  before_.clear();
  known_.clear();
  is_searching_ = false;
}

void Progress::begin_block(std::uint64_t block) {
  block_ = block;
  ++begun_;
}

void Progress::remember_value(const Access& access) {
  if (access.bytes > sizeof(std::uint64_t)) return;
  before_.try_emplace(access.address, Value{access.address, access.bytes, bits_at(access.address, access.bytes)});
  has_room_ = before_.size() < max_values;
}

void Progress::learn(const Access& access, std::uint64_t from) {
  if (is_trial_ || is_searching_ || blocks_ == 1 || blocks_ > max_blocks || from == block_) return;
  const std::size_t words = blocks_ / 64 + 1;
  if (known_.empty()) known_.resize(blocks_);
  std::vector<std::uint64_t>& own = known_[block_];
  own.resize(words);
  if ((own[from / 64] >> from % 64 & 1) != 0) return;
  const auto before = before_.find(access.address);
  if (before != before_.end() && before->second.bytes == access.bytes && is_wait(access, before->second)) {
    if (is_trial_) return;
    CheckState& all = state();
    all.findings.add(waits_for_block(fact_of(access), all.running.index_of_block(from)));
  }
  known_[from].resize(words);
  for (std::size_t word = 0; word < words; ++word) own[word] |= known_[from][word];
  own[from / 64] |= std::uint64_t(1) << from % 64;
}

/// Whether the running block would go on reading the word as long as it has the value of before the launch. A child
/// process finds out. True in the child, where the block goes on. A judge starts blocks in both orders instead.
bool Progress::is_wait(const Access& access, const Value& before) {
  CheckState& all = state();
  if (is_judged() || trials_.size() > max_trials || all.findings.is_known("forward-progress", access.code))
    return false;
  if (++trials_[access.code] > max_trials_of_access) return false;
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    std::signal(SIGALRM, SIG_DFL);
    alarm(2);
    is_trial_ = true;
    waits_ = access;
    waits_for_ = before;
    std::memcpy(reinterpret_cast<void*>(before.address), &before.bits, before.bytes);
    all.watch.watch_each();
    all.time.watch_each();
    return true;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != is_waiting) return false;
  // CUB's scans rely on the order in which GPUs start blocks. Their users cannot change that.
  const auto places = resolve({access.code});
  return places.empty() || places.begin()->second.find("/cub/") == std::string::npos;
}

void Progress::leave_trial(int status) const { _exit(status); }

void Progress::end_trial() const {
  if (is_trial_) leave_trial(0);
}

void Progress::try_access(const Access& access) {
  if (++accesses_ > max_accesses || !waits_for_.is_unchanged()) end_trial();
  if (access.address == waits_for_.address) return count_visit(access);
  Ownership& own = state().ownership;
  if (writes(access.way) && !Worker::running()->stacks().contains(reinterpret_cast<void*>(access.address))) {
    same_ = 0;
    const Region* const region = own.region_at(access.address);
    if (region != nullptr && region->is_host_accessible) end_trial();  // other processes may see it
  }
  // What other blocks have written may say that they have begun.
  const bool is_synchronized = access.sync == Sync::synchronized && access.thread == waits_.thread;
  if (is_synchronized && before_.count(access.address) != 0) end_trial();
}

void Progress::count_visit(const Access& access) {
  if (access.thread != waits_.thread) return;
  // The next visit's, because a compiler may have moved a loop's first round out of it.
  if (visited_ == 0) visited_ = access.code;
  if (access.code != visited_) return;
  const std::uint64_t now = state_of_thread(access.code);
  if (now == 0) end_trial();
  if (now == state_) {
    if (++same_ == same_visits) leave_trial(is_waiting);
    return;
  }
  state_ = now;
  same_ = 0;
  if (++different_ == different_visits) end_trial();
}

bool Progress::begin_search(const Access& access, Finding instead) {
  if (begun_ >= blocks_ || !wait_for_change(access)) return false;
  instead_ = std::move(instead);
  is_searching_ = true;
  searched_ = 0;
  return true;
}

/// From now on, the search is for who changes what this access reads. False: it does not look like a wait.
bool Progress::wait_for_change(const Access& access) {
  CheckState& all = state();
  Ownership& own = all.ownership;
  const bool is_variable = access.address - std::uintptr_t(own.program_data.begin) < own.program_data.bytes;
  const bool is_global = is_variable || own.region_at(access.address) != nullptr;
  if (access.sync != Sync::synchronized || !reads(access.way) || !is_global || access.bytes > 8) return false;
  waits_ = access;
  waits_for_ = {access.address, access.bytes, bits_at(access.address, access.bytes)};
  waiting_ = fact_of(access);
  return true;
}

// In a chain, each block waits for the next one, and only the last of them can be seen to be waited for.
void Progress::follow_search(const Access& access) {
  if (waits_for_.is_unchanged()) wait_for_change(access);
}

bool Progress::continues_search(const Launch& launch, std::uint64_t block) {
  if (!is_searching_) return false;
  if (waits_for_.is_unchanged()) return searched_++ < max_searched;
  waiting_.element = state().ownership.element_at(waits_for_.address, waits_for_.bytes);
  instead_ = waits_for_block(waiting_, Running::index_in(launch.config.grid, block));
  instead_.details.set("has_not_run", std::uint64_t(1));
  return false;
}

void Progress::end_search() {
  if (!is_searching_) return;
  is_searching_ = false;
  state().findings.add(std::move(instead_));
}

}  // namespace simt::check
