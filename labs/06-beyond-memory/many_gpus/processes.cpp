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

Communicator::Communicator(const Processes& processes) : count_(processes.count) {
  ncclUniqueId id{};
  if (processes.rank == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr);
  check_mpi(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
  check_nccl(ncclCommInitRank(&communicator_, count_, id, processes.rank), "ncclCommInitRank", nullptr);
  int last = 0, first = 0;
  CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&last, &first));
  CUDA_CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, first));
}

Communicator::~Communicator() {
  ncclCommDestroy(communicator_);
  cudaStreamDestroy(stream_);
}

void Communicator::exchange(const SharedKeys& share, const SharedKeys& received, const Part& part) const {
  const auto check = [&](ncclResult_t code, const char* call) { check_nccl(code, call, communicator_); };
  check(ncclGroupStart(), "ncclGroupStart");
  for (int other = 0; other < count_; ++other) {
    const Range to = part.sent[other], from = part.received[other];
    if (to.n > 0) check(ncclSend(share.data() + to.first, to.n, ncclUint32, other, communicator_, stream_), "ncclSend");
    if (from.n > 0) {
      check(ncclRecv(received.data() + from.first, from.n, ncclUint32, other, communicator_, stream_), "ncclRecv");
    }
  }
  check(ncclGroupEnd(), "ncclGroupEnd");
}

void Communicator::all_to_all(const SharedKeys& from, const SharedKeys& to, std::int64_t n) const {
  const auto check = [&](ncclResult_t code, const char* call) { check_nccl(code, call, communicator_); };
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
  check(ncclAlltoAll(from.data(), to.data(), n, ncclUint32, communicator_, stream_), "ncclAlltoAll");
#else
  check(ncclGroupStart(), "ncclGroupStart");
  for (int other = 0; other < count_; ++other) {
    check(ncclSend(from.data() + other * n, n, ncclUint32, other, communicator_, stream_), "ncclSend");
    check(ncclRecv(to.data() + other * n, n, ncclUint32, other, communicator_, stream_), "ncclRecv");
  }
  check(ncclGroupEnd(), "ncclGroupEnd");
#endif
}

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
SharedKeys::SharedKeys(std::int64_t n, const Communicator* communicator)
    : n_(n), communicator_(communicator ? communicator->get() : nullptr) {
  const std::size_t bytes = n * sizeof *data_;
  check_nccl(ncclMemAlloc(reinterpret_cast<void**>(&data_), bytes), "ncclMemAlloc", communicator_);
  if (communicator_)
    check_nccl(ncclCommRegister(communicator_, data_, bytes, &handle_), "ncclCommRegister", communicator_);
}

SharedKeys::~SharedKeys() {
  if (handle_) ncclCommDeregister(communicator_, handle_);
  ncclMemFree(data_);
}
#else
SharedKeys::SharedKeys(std::int64_t n, const Communicator*) : n_(n) {
  CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), n * sizeof *data_));
}

SharedKeys::~SharedKeys() { cudaFree(data_); }
#endif

}  // namespace beyond
