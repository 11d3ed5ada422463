// The processes of the program for many GPUs: one per GPU, started by MPI, connected by NCCL.
#pragma once

#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "exchange.h"
#include "parts.h"
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

class SharedKeys;

/// NCCL's communicator of all processes.
class Communicator {
 public:
  explicit Communicator(const Processes& processes);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // Errors are left alone: the program ends.
  ~Communicator();

  ncclComm_t get() const { return communicator_; }

  /// The stream of the exchange. Its kernels start before those of other streams, so that merges do not hold them up.
  cudaStream_t stream() const { return stream_; }

  /// Queues a part of the exchange in stream(): NCCL's implementation of what step 04 plays with copies. All processes
  /// call it.
  void exchange(const SharedKeys& share, const SharedKeys& received, const Part& part) const;

  /// Queues NCCL's own all-to-all in stream(), of n keys from each process to each, for comparison.
  void all_to_all(const SharedKeys& from, const SharedKeys& to, std::int64_t n) const;

 private:
  int count_;
  ncclComm_t communicator_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// Room for keys in device memory that another GPU can read and write. NCCL copies such keys from GPU to GPU, and others
/// through buffers of its own. NCCL before 2.19 does not register memory; there, this is any device memory.
class SharedKeys {
 public:
  /// `communicator` may be null, and otherwise outlives this object.
  SharedKeys(std::int64_t n, const Communicator* communicator);
  SharedKeys(const SharedKeys&) = delete;
  SharedKeys& operator=(const SharedKeys&) = delete;
  // Errors are left alone: the program ends.
  ~SharedKeys();

  std::uint32_t* data() const { return data_; }
  std::int64_t size() const { return n_; }

 private:
  std::int64_t n_;
  std::uint32_t* data_ = nullptr;
  ncclComm_t communicator_ = nullptr;
  void* handle_ = nullptr;
};

}  // namespace beyond
