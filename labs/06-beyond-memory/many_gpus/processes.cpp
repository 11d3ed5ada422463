#include "processes.h"

#include <unistd.h>

#include <cstdio>
#include <exception>

namespace beyond {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw lab::Error(std::string(call) + " failed: " + text);
}

void check_nccl(ncclResult_t code, const char* call, ncclComm_t communicator) {
  if (code == ncclSuccess) return;
  std::string message = std::string(call) + " failed: " + ncclGetErrorString(code);
  const char* const last = ncclGetLastError(communicator);
  if (last != nullptr && *last != '\0') message += std::string(" (") + last + ")";
  throw lab::Error(message + "; NCCL_DEBUG=INFO in the environment shows more");
}

Processes::Processes(int* argc, char*** argv) {
  check_mpi(MPI_Init(argc, argv), "MPI_Init");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &count), "MPI_Comm_size");
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  check_mpi(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  host = name;
}

Processes::~Processes() { MPI_Finalize(); }

void Processes::choose_gpu() const {
  MPI_Comm neighbours;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &neighbours),
            "MPI_Comm_split_type");
  int local = 0, here = 1, gpus = 0;
  check_mpi(MPI_Comm_rank(neighbours, &local), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(neighbours, &here), "MPI_Comm_size");
  MPI_Comm_free(&neighbours);
  const cudaError_t error = cudaGetDeviceCount(&gpus);
  if (error != cudaSuccess || gpus == 0) {
    throw lab::Error(std::string("no GPU answers: ") + cudaGetErrorString(error) +
                     "; nvidia-smi shows what the driver sees");
  }
  if (here > gpus) {
    throw lab::Error("this host has " + std::to_string(gpus) + " GPUs, but " + std::to_string(here) +
                     " processes were started on it: start one per GPU");
  }
  CUDA_CHECK(cudaSetDevice(local));
}

void Processes::end_all(const std::string& message) const {
  std::fprintf(stderr, "process %d of %d on %s: %s\n", rank, count, host.c_str(), message.c_str());
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::terminate();  // not reached
}

void Processes::wait_for_all() const { check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }

std::uint64_t Processes::sum(std::uint64_t own) const {
  std::uint64_t all = 0;
  check_mpi(MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  return all;
}

double Processes::largest(double own) const {
  double all = 0;
  check_mpi(MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return all;
}

std::int64_t Processes::largest(std::int64_t own) const {
  std::int64_t all = 0;
  check_mpi(MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return all;
}

void Processes::gather_bytes(const void* own, void* all, const std::vector<std::int64_t>& counts,
                             std::int64_t bytes) const {
  std::vector<int> sizes, begins;
  std::int64_t begin = 0;
  for (const std::int64_t n : counts) {
    sizes.push_back(int(n * bytes));
    begins.push_back(int(begin));
    begin += n * bytes;
  }
  if (begin > INT32_MAX) throw lab::Error("too many samples to gather: " + std::to_string(begin) + " bytes");
  check_mpi(MPI_Allgatherv(own, sizes[rank], MPI_BYTE, all, sizes.data(), begins.data(), MPI_BYTE, MPI_COMM_WORLD),
            "MPI_Allgatherv");
}

Communicator::Communicator(const Processes& processes) : rank_(processes.rank), count_(processes.count) {
  ncclUniqueId id{};
  if (rank_ == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr);
  check_mpi(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
  check_nccl(ncclCommInitRank(&communicator_, count_, id, rank_), "ncclCommInitRank", nullptr);
}

void Communicator::exchange(const std::uint32_t* share, std::uint32_t* received, const ExchangePlan& plan,
                            cudaStream_t stream) const {
  const auto check = [&](ncclResult_t code, const char* call) { check_nccl(code, call, communicator_); };
  const auto& send = plan.send_begins;
  const auto& receive = plan.receive_begins;
  CUDA_CHECK(cudaEventRecord(ready_, stream));
  CUDA_CHECK(cudaStreamWaitEvent(own_stream_, ready_, 0));
  CUDA_CHECK(cudaMemcpyAsync(received + receive[rank_], share + send[rank_],
                             (send[rank_ + 1] - send[rank_]) * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice,
                             own_stream_));
  CUDA_CHECK(cudaEventRecord(copied_, own_stream_));
  check(ncclGroupStart(), "ncclGroupStart");
  for (int other = 0; other < count_; ++other) {
    const std::int64_t sent = send[other + 1] - send[other], expected = receive[other + 1] - receive[other];
    if (other == rank_) continue;
    if (sent > 0) check(ncclSend(share + send[other], sent, ncclUint32, other, communicator_, stream), "ncclSend");
    if (expected > 0) {
      check(ncclRecv(received + receive[other], expected, ncclUint32, other, communicator_, stream), "ncclRecv");
    }
  }
  check(ncclGroupEnd(), "ncclGroupEnd");
  CUDA_CHECK(cudaStreamWaitEvent(stream, copied_, 0));
}

}  // namespace beyond
