// A runner without CUDA that keeps the protocol, or breaks it in the way that the step's number asks for.
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>

#include "fake_runner.h"
#include "runner/protocol.h"

namespace {

lab::Request request;
char* memory = nullptr;

void answer(lab::Progress progress, lab::Status status = lab::Status::verified, double milliseconds = 0,
            std::uint64_t nonce = request.nonce, const char* text = "") {
  lab::Reply reply;
  reply.nonce = nonce;
  reply.progress = progress;
  reply.status = status;
  reply.milliseconds = milliseconds;
  std::strcpy(reply.text, text);
  send(lab::channel_fd, &reply, sizeof reply, MSG_NOSIGNAL);
}

std::uint32_t* output_keys() {
  return reinterpret_cast<std::uint32_t*>(memory + request.keys.output + request.keys.span);
}

void sort_output() {
  std::memcpy(memory + request.keys.output, memory + request.keys.input, request.keys.bytes);
  std::sort(output_keys(), output_keys() + request.n);
}

void run_step() {
  using std::chrono::milliseconds;
  lab::Request go;
  const int step = request.step;
  if (step == fake::not_written) {
    return answer(lab::Progress::finished, lab::Status::not_written, 0, request.nonce, "x.cu:7: step is not written");
  }
  if (step == fake::dies_before_go) raise(SIGSEGV);
  answer(lab::Progress::ready);
  recv(lab::channel_fd, &go, sizeof go, 0);
  sort_output();
  const auto sorted = [](double time) {
    answer(lab::Progress::sorted, lab::Status::verified, time);
    answer(lab::Progress::finished);
  };
  switch (step) {
    case fake::dies:
      std::puts("about to die");
      std::fflush(stdout);
      raise(SIGSEGV);
      break;
    case fake::exits:
      _exit(0);
    case fake::hangs:
      pause();
      break;
    case fake::closes_channel:
      close(lab::channel_fd);
      pause();
      break;
    case fake::wrong_nonce:
      answer(lab::Progress::sorted, lab::Status::verified, 1, request.nonce + 1);
      break;
    case fake::short_message:
      send(lab::channel_fd, "verified", 8, 0);
      break;
    case fake::skips_a_message:
      answer(lab::Progress::finished);
      break;
    case fake::touches_then_refuses:
      answer(lab::Progress::finished, lab::Status::unsupported);
      break;
    case fake::refuses_cleanly:
      std::memcpy(memory + request.keys.output, memory + request.keys.input, request.keys.bytes);
      answer(lab::Progress::finished, lab::Status::unsupported, 0, request.nonce, "no");
      break;
    case fake::writes_before:
      --memory[request.keys.output + request.keys.span - 1];
      sorted(0.1);
      break;
    case fake::writes_behind:
      ++output_keys()[request.n];
      sorted(0.1);
      break;
    case fake::changes_input:
      std::memset(memory + request.keys.input, 0, request.keys.bytes);
      std::memset(output_keys(), 0, request.n * 4);
      sorted(0.1);
      break;
    case fake::too_short_time:
      std::this_thread::sleep_for(milliseconds(20));
      sorted(0.01);
      break;
    case fake::too_long_time:
      sorted(1e6);
      break;
    case fake::prints_much:
      for (int i = 0; i < 100000; ++i) std::printf("line %d of very many\n", i);
      std::fflush(stdout);
      sorted(0.1);
      break;
    default:
      sorted(0.01);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], lab::judge_argument) != 0) return 2;
  std::int64_t mapped = 0;
  while (recv(lab::channel_fd, &request, sizeof request, 0) == ssize_t{sizeof request}) {
    if (request.memory_bytes != mapped) {
      if (memory) munmap(memory, mapped);
      mapped = request.memory_bytes;
      memory = static_cast<char*>(mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, lab::memory_fd, 0));
    }
    run_step();
  }
  return 0;
}
