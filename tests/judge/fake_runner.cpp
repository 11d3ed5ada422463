// A runner without CUDA that keeps the protocol, or breaks it in the way that the number of the step names.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "fake_runner.h"
#include "runner/protocol.h"
#include "runner/send.h"

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
  reply.text_bytes = static_cast<std::int32_t>(std::strlen(text));
  std::memcpy(reply.text, text, std::strlen(text));
  lab::send_with_memory(reply);
}

std::uint32_t* output_keys() {
  return reinterpret_cast<std::uint32_t*>(memory + request.keys.output + request.keys.span);
}

void sort_output() { std::sort(output_keys(), output_keys() + request.n); }

// The keys, sorted, if they are anywhere in the memory after `go`; else nothing that is right.
void sort_what_is_found(const std::vector<char>& input) {
  std::memset(output_keys(), 0, request.keys.span_bytes);
  char* const end = memory + request.memory_bytes;
  const auto begin = input.begin() + request.keys.span;
  char* const found = std::search(memory, end, begin, begin + request.keys.span_bytes);
  if (found == end) return;
  std::memmove(output_keys(), found, request.keys.span_bytes);
  sort_output();
}

// With the right nonce, but as a step could send it that makes printf() write to the channel.
void forge_a_reply() {
  for (lab::Progress progress : {lab::Progress::sorted, lab::Progress::finished}) {
    lab::Reply reply;
    reply.nonce = request.nonce;
    reply.progress = progress;
    if (write(lab::channel_fd, &reply, sizeof reply) < 0) std::perror("write");
  }
}

// A bomb of at most 8 processes, for at most a minute, in case they are not found. Each is in a session of its own,
// and some have lost their parent. Their name tells the test which ones they are.
void leave_processes() {
  const std::string name = "left-" + std::to_string(getppid());
  if (fork() != 0) return;
  prctl(PR_SET_NAME, name.c_str());
  for (int i = 0; i < 3; ++i) {
    if (fork() == 0) setsid();
  }
  for (int i = 0; i < 60; ++i) sleep(1);
  _exit(0);
}

void send_document(const std::string& text, std::uint64_t nonce = request.nonce) {
  for (std::size_t at = 0; at < text.size(); at += 8000) {
    const std::string part = text.substr(at, 8000);
    answer(lab::Progress::document, lab::Status::verified, 0, nonce, part.c_str());
  }
}

std::string finding(const char* severity, const char* kind, int line, const char* text) {
  return std::string(R"([{"file":"labs/fake/01_fake.cu","line":)") + std::to_string(line) + R"(,"kind":")" + kind +
         R"(","severity":")" + severity +
         R"(","why":"","remedy":"none","round":"","last_barrier":null,"facts":[],"details":{},"text":")" + text +
         R"(","times":2}])";
}

std::string findings_member() { return R"("findings":)" + finding("error", "race", 7, "two threads"); }

std::string findings() { return R"({"observed":{)" + findings_member() + "}}"; }

// With as many launches as it takes to need many messages.
std::string full_report() {
  std::string launches;
  for (int i = 0; i < 3000; ++i) {
    launches += std::string(i ? "," : "") + R"({"kernel":"k","grid":[1,1,1],"block":[32,1,1],"barriers":)" +
                std::to_string(i) + "}";
  }
  return std::string(R"({"kernels":[{"name":"sort","launches":1,"milliseconds":0.5,"blocks":1,"threads":32,)") +
         R"("dynamic_shared":0,"static_shared":0,"registers":-1}],)" +
         R"("timeline":{"spans":[{"stream":1,"what":"copy in","begin_ms":0.25,"end_ms":1,"bytes":4}],"left_out":2},)" +
         R"("observed":{)" + findings_member() + R"(,"remarks":)" + finding("remark", "early-exit", 8, "31 of 32") +
         R"(,"notes":[],"lines":[],"launches":[)" + launches + R"(],"copied_bytes":800,"bytes_to_host":16}})";
}

// FAKE_STEP="2 7": from the second request on, what step 7 does. Otherwise the number of the step.
int what_to_do() {
  static int requests = 0;
  int from = 0, step = 0;
  const char* const text = std::getenv("FAKE_STEP");
  const bool replaced = text && std::sscanf(text, "%d %d", &from, &step) == 2;
  return replaced ? (++requests >= from ? step : fake::right) : request.step;
}

void run_step() {
  using std::chrono::milliseconds;
  lab::Request go;
  const int step = what_to_do();
  if (step == fake::not_written) {
    return answer(lab::Progress::finished, lab::Status::not_written, 0, request.nonce, "x.cu:7: step is not written");
  }
  if (step == fake::dies_before_go) raise(SIGSEGV);
  const char* const image = memory + request.keys.input;
  const std::vector<char> input(image, image + request.keys.bytes);  // the judge overwrites its own before `go`
  std::copy(input.begin(), input.end(), memory + request.keys.output);
  answer(lab::Progress::ready);
  recv(lab::channel_fd, &go, sizeof go, 0);
  const auto started = std::chrono::steady_clock::now();
  const auto since_go = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
  };
  sort_output();
  double time = 0.1;  // milliseconds, of a step that ends as it should
  switch (step) {
    case fake::dies:
      std::puts("about to die");
      std::fflush(stdout);
      raise(SIGSEGV);
      return;
    case fake::exits:
      _exit(0);
    case fake::hangs:
      pause();
      return;
    case fake::closes_channel:
      close(lab::channel_fd);
      pause();
      return;
    case fake::wrong_nonce:
      answer(lab::Progress::sorted, lab::Status::verified, 1, request.nonce + 1);
      return;
    case fake::short_message:
      send(lab::channel_fd, "verified", 8, 0);
      return;
    case fake::skips_a_message:
      answer(lab::Progress::finished);
      return;
    case fake::touches_then_refuses:
      answer(lab::Progress::finished, lab::Status::unsupported);
      return;
    case fake::refuses_cleanly:
      std::copy(input.begin(), input.end(), memory + request.keys.output);
      answer(lab::Progress::finished, lab::Status::unsupported, 0, request.nonce, "no");
      return;
    case fake::writes_before:
      --memory[request.keys.output + request.keys.span - 1];
      break;
    case fake::writes_behind:
      ++output_keys()[request.n];
      break;
    case fake::reverses:
      std::reverse(output_keys(), output_keys() + request.n);
      break;
    case fake::writes_behind_scratch:
      ++memory[request.scratch.output + request.scratch.span + request.scratch.span_bytes];
      break;
    case fake::changes_input:
      std::memset(memory + request.keys.input, 0, request.keys.bytes);
      std::memset(output_keys(), 0, request.n * 4);
      break;
    case fake::too_short_time:
      std::this_thread::sleep_for(milliseconds(20));
      time = 0.01;
      break;
    case fake::delayed_at_first: {
      static int runs = 0;
      time = since_go();
      if (++runs <= 6) std::this_thread::sleep_for(milliseconds(20));
      break;
    }
    case fake::too_long_time:
      time = 1e6;
      break;
    case fake::time_is_nan:
      time = std::nan("");
      break;
    case fake::time_is_negative:
      time = -1;
      break;
    case fake::reports_findings:
      answer(lab::Progress::sorted, lab::Status::verified, time);
      send_document(full_report());
      answer(lab::Progress::finished);
      return;
    case fake::reports_findings_and_dies:
      send_document(findings());
      _exit(3);
    case fake::reports_findings_when_asked_to_end:
      signal(SIGTERM, [](int) {
        send_document(findings());
        _exit(3);
      });
      for (;;) pause();
    case fake::forges_findings:
      send_document(R"({"observed":{"findings":[]}})", request.nonce + 1);
      break;
    case fake::sends_no_json:
      send_document("findings: none");
      break;
    case fake::sends_deep_json:
      send_document("{\"observed\":" + std::string(100000, '['));
      break;
    case fake::sends_wrong_types:
      send_document(R"({"observed":{"findings":[{"file":1,"line":"x","kind":null,"text":[],"times":{}}]}})");
      break;
    case fake::sends_too_much:
      send_document(std::string(std::size_t(lab::max_document_bytes) + 1, ' '));
      break;
    case fake::claims_too_long_a_text: {
      lab::Reply reply;
      reply.nonce = request.nonce;
      reply.progress = lab::Progress::document;
      reply.text_bytes = 1 << 30;
      lab::send_with_memory(reply);
      break;
    }
    case fake::computes_on_one_processor: {  // for 0.3 s of its time, however long that takes
      fake::stay_on_one_processor();
      for (timespec used{}; used.tv_sec == 0 && used.tv_nsec < 300'000'000;)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
      break;
    }
    case fake::cuts_off_memory:
      time = ftruncate(lab::memory_fd, 0) == 0 ? -1 : 0.1;
      break;
    case fake::ends_blocks_slowly:
      for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(milliseconds(100));
        ++*reinterpret_cast<std::uint64_t*>(memory + request.blocks_ended);
      }
      break;
    case fake::loses_the_device:
      answer(lab::Progress::finished, lab::Status::cuda_error, 0, request.nonce, "the device has fallen off the bus");
      _exit(1);
    case fake::searches_memory:
      sort_what_is_found(input);
      break;
    case fake::forges_a_reply:
      return forge_a_reply();
    case fake::leaves_processes:
      leave_processes();
      raise(SIGSEGV);
      return;
    case fake::leaves_processes_and_hangs:
      leave_processes();
      pause();
      return;
    case fake::prints_much:
      for (int i = 0; i < 100000; ++i) std::printf("line %d of very many\n", i);
      std::fflush(stdout);
      break;
    default:
      time = since_go();
  }
  answer(lab::Progress::sorted, lab::Status::verified, time);
  answer(lab::Progress::finished);
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
