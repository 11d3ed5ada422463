// A case's input and output in the memory shared with the runner, and the reference's output in memory of our own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "judge/case.h"
#include "judge/process.h"
#include "judge/verify.h"
#include "runner/protocol.h"

namespace lab {

class CaseMemory {
 public:
  /// Keys in host memory of more bytes than this are verified by their order and a hash, because a reference would need
  /// more memory than the sort.
  void set_reference_limit(std::int64_t bytes) { reference_limit_ = bytes; }

  /// Makes room for the case and stores the location of its data in the request. Errors: lab::NoMemory, before anything
  /// is changed.
  void lay_out(const Case& which, Request& request);

  /// Makes the input (or copies `keys` unless null), its guards, and the reference's output.
  void fill(const Case& which, const void* keys);

  /// Makes room for pieces of a file, of at most which.n keys, which are sorted in turn, all in the same
  /// place. They are verified by their order and a hash, which begins with `hash_seed`. Errors: lab::NoMemory.
  void lay_out_pieces(const Case& which, std::uint64_t hash_seed);

  /// To be called when the keys of the next piece are where those of the last one were: sets its guards, and stores its
  /// location in the request.
  void prepare_piece(const Case& which, Request& request);

  /// Overwrites the input, once the runner has it on the device: a step must find its keys there only. Not where host
  /// memory is sorted.
  void withdraw_input();

  /// Makes the input again, where it was, for messages and untouched(). The step must have ended.
  void restore_input(const Case& which);

  /// What is wrong with the output or the guards around it; an empty text if nothing is.
  Fault fault(const Case& which) const;

  enum class Expected { leave_out, show };
  /// A line end and rows with the input and the output, if they are few; else nothing.
  std::string shown_keys(const Case& which, Expected expected = Expected::leave_out) const;

  /// True if the output is the input, guards included (except where there is no reference).
  bool untouched(const Case& which) const;

  /// The number of blocks that have ended in the current case, on CUDA on the CPU. The runner counts them: not to be
  /// trusted.
  std::uint64_t blocks_ended() const;

  const JudgeMemory& shared() const { return memory_; }
  void* output_keys() const { return memory_.at(keys_.output + keys_.span); }
  const KeyHash& input_hash() const { return input_hash_; }  ///< of the last piece
  double changed_share() const { return changed_share_; }
  bool already_correct() const { return already_correct_; }  ///< keys and values came as the reference has them
  std::uint64_t range() const { return range_; }  ///< largest - smallest key, where the step has a largest range

 private:
  static Image lay_out_image(const Case& which, std::int64_t span_bytes, std::int64_t bytes_each, std::int64_t& end,
                             bool in_place);
  void reserve(std::int64_t end);
  void store(Request& request) const;
  void make_input(const Case& which);
  void fill_guards(const Image& image);
  void make_reference(const Case& which);
  std::uint32_t* reference_values() const;
  Items items_at(std::int64_t keys, std::int64_t values) const;
  Fault output_fault(const Case& which) const;
  std::string guard_fault(const Image& image, const char* what) const;

  JudgeMemory memory_;
  Image keys_, values_, scratch_;
  const void* given_ = nullptr;  // keys in place of the case's input, until the case has ended
  std::int64_t reference_limit_ = std::int64_t{8} << 30;
  bool by_hash_ = false;         // there is no reference, and the input is sorted in place
  std::uint64_t hash_seed_ = 0;  // which the step does not know
  KeyHash input_hash_;
  int poison_ = 0;
  std::int64_t blocks_ended_ = 0;  // where it is counted
  std::uint64_t guard_seed_ = 0;
  double changed_share_ = 1;
  bool already_correct_ = false;
  std::uint64_t range_ = 0;
  std::unique_ptr<char[]> reference_keys_;
  std::unique_ptr<char[]> reference_values_;  // or a task's result
};

/// An unpredictable random number.
std::uint64_t fresh_number();

}  // namespace lab
