// The processes of the program for many GPUs: one per GPU, started by MPI, connected by NCCL.
#pragma once

#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "exchange.h"
#include "runner/cuda_handles.h"
#include "step/error.h"

namespace beyond {

/// Throws lab::Error unless the MPI call succeeded. MPI's own handler is switched off, so that all errors are reported
/// in the same way.
void check_mpi(int code, const char* call);

/// The same for NCCL, with the last message of `communicator`, which may be null.
void check_nccl(ncclResult_t code, const char* call, ncclComm_t communicator);

/// Initializes MPI and ends it. If an error is on its way out, leaves the end to end_all().
class Processes {
 public:
  Processes(int* argc, char*** argv);
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  ~Processes();

  int rank = 0, count = 1;
  std::string host;

  /// Chooses a different GPU for each process of a host. Errors: lab::Error if a host has fewer.
  void choose_gpu() const;

  /// Prints the message of an error and ends the processes of all hosts with status 1.
  [[noreturn]] void end_all(const std::string& message) const;

  void wait_for_all() const;

  /// The sum and the largest of a number over all processes.
  std::uint64_t sum(std::uint64_t own) const;
  double largest(double own) const;
  std::int64_t largest(std::int64_t own) const;

  /// Everyone's values, in the order of the ranks. `counts`: how many each process has.
  template <class T>
  std::vector<T> gather(const std::vector<T>& own, const std::vector<std::int64_t>& counts) const {
    std::int64_t all = 0;
    for (const std::int64_t n : counts) all += n;
    std::vector<T> result(all);
    gather_bytes(own.data(), result.data(), counts, sizeof(T));
    return result;
  }

 private:
  void gather_bytes(const void* own, void* all, const std::vector<std::int64_t>& counts, std::int64_t bytes) const;
};

/// NCCL's communicator of all processes.
class Communicator {
 public:
  explicit Communicator(const Processes& processes);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // Errors are left alone: the program ends.
  ~Communicator() { ncclCommDestroy(communicator_); }

  /// Queues the exchange: NCCL's implementation of what step 04 plays with copies. All processes call it.
  void exchange(const std::uint32_t* share, std::uint32_t* received, const ExchangePlan& plan,
                cudaStream_t stream) const;

 private:
  int rank_, count_;
  ncclComm_t communicator_ = nullptr;
  lab::Stream own_stream_;  ///< what stays on its GPU is copied meanwhile
  lab::Event ready_, copied_;
};

}  // namespace beyond
