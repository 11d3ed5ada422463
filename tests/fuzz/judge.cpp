// Fuzzes what the judge reads: requests, and a runner's messages, which come from the input instead of a process. For
// clang's libFuzzer. An input is a request per line, an empty line, and the messages that corpus.py describes.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "course.h"
#include "judge/errors.h"
#include "judge/process.h"
#include "judge/serve.h"

namespace {

constexpr std::int64_t most_memory = 4 << 20;  // bytes of keys
constexpr std::uint8_t no_answer = 0xfe, no_message = 0xff;

std::string_view messages;      // that the runner still has to send
std::uint64_t nonce = 0;        // of the request
char* shared_memory = nullptr;  // the judge's, which a runner may change whenever it likes
std::int64_t shared_bytes = 0;

template <class T>
T take() {
  T value{};
  const std::size_t bytes = std::min(sizeof value, messages.size());
  std::memcpy(&value, messages.data(), bytes);
  messages.remove_prefix(bytes);
  return value;
}

// A request that neither names files outside the folder nor takes long; an empty text if there is none.
std::string harmless(const std::string& line) {
  nlohmann::json request = nlohmann::json::parse(line, nullptr, false);
  if (request.is_discarded()) return line;
  const std::string text = request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.find("file:/") != std::string::npos || text.find("..") != std::string::npos) return "";
  if (!request.is_object()) return line;
  request.erase("bandwidth");
  for (const char* path : {"input", "output", "keys"}) {
    if (request.contains(path) && request[path].is_string()) request[path] = path;
  }
  return request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

namespace lab {

double judge_seconds_waited() { return 0; }

JudgeMemory::JudgeMemory() = default;

JudgeMemory::~JudgeMemory() {
  if (shared_memory == data_) shared_bytes = 0;
  std::free(data_);
}

void JudgeMemory::reserve(std::int64_t bytes) {
  if (bytes > most_memory) throw NoMemory("choose a smaller n");
  if (bytes > bytes_) {
    std::free(data_);
    data_ = static_cast<char*>(std::calloc(1, std::size_t(bytes)));
    bytes_ = bytes;
  }
  shared_memory = data_;
  shared_bytes = bytes_;
}

Process::Process(const std::string&, const JudgeMemory&, const Environment&, const Sandbox&) {}

Process::~Process() = default;

void Process::send(const Request& request) {
  if (request.command != Command::go) nonce = request.nonce;
}

Process::ReceiveResult Process::receive(Reply& reply, Clock::time_point) {
  if (messages.empty()) return ReceiveResult::closed;
  const auto head = take<std::uint8_t>();
  if (head == no_message) return ReceiveResult::malformed;
  if (head == no_answer) return ReceiveResult::timeout;
  reply.nonce = nonce + (head >> 7);
  reply.progress = static_cast<Progress>(head & 7);
  reply.status = static_cast<Status>(take<std::uint8_t>());
  reply.milliseconds = take<double>();
  const std::size_t bytes = std::min({std::size_t(take<std::uint16_t>()), sizeof reply.text, messages.size()});
  if (head & 8) {  // the runner writes where it likes
    const auto place = take<std::uint8_t>(), value = take<std::uint8_t>();
    if (shared_bytes > 0) shared_memory[place * shared_bytes / 256] = static_cast<char>(value);
  }
  reply.text_bytes = static_cast<std::int32_t>(std::min(bytes, messages.size()));
  std::memcpy(reply.text, messages.data(), std::size_t(reply.text_bytes));
  messages.remove_prefix(std::size_t(reply.text_bytes));
  return ReceiveResult::reply;
}

std::pair<Status, std::string> Process::ending() { return {Status::exited, "the process ended"}; }

double Process::seconds_waited() const { return 0; }

std::map<std::string, double> Process::waits() const { return {}; }

std::int64_t Process::peak_bytes() const { return 0; }

bool Process::has_company() const { return false; }

void Process::ask_to_end() {}

std::string Process::collect_output() { return take<std::uint8_t>() & 1 ? "a.cu:7: error: race: two\nx" : ""; }

}  // namespace lab

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  std::filesystem::create_directories("files");
  std::filesystem::current_path("files");
  const rlimit file_size = {.rlim_cur = most_memory, .rlim_max = most_memory};
  std::signal(SIGXFSZ, SIG_IGN);
  return setrlimit(RLIMIT_FSIZE, &file_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  const std::size_t end = std::min(text.find("\n\n"), text.size());
  std::istringstream lines{std::string(text.substr(0, end))};
  messages = text.substr(std::min(end + 2, text.size()));
  std::string requests;
  for (std::string line; std::getline(lines, line);) requests += harmless(line) + "\n";
  std::istringstream in(requests);
  std::ostringstream out;
  lab::serve(course::labs, in, out);
  std::istringstream answers(out.str());
  for (std::string line; std::getline(answers, line);) {
    if (!nlohmann::json::accept(line)) std::abort();
  }
  return 0;
}
