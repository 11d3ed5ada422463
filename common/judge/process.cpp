#include "judge/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "judge/descendants.h"
#include "judge/errors.h"
#include "judge/machine.h"

namespace lab {
namespace {

constexpr std::size_t output_kept = 16384;  // bytes

[[noreturn]] void fail(const std::string& what) { throw Unavailable(what + ": " + std::strerror(errno)); }

// "NAME=VALUE" of each variable: the judge's own, without those that only the judge may give to a runner, and then
// `environment`.
std::vector<std::string> variables(const Environment& environment) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('='));
    const bool reserved = name == "CHECK_JSON" || name == "CHECK_TRACE";
    if (!reserved && !environment.contains(name)) all.push_back(text);
  }
  for (const auto& [name, value] : environment) all.push_back(name + "=" + value);
  return all;
}

// Pointers to texts, as execve() takes them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Between fork and exec: only calls that are safe there.
[[noreturn]] void become_runner(char* const* arguments, char* const* environment, int channel, int memory, int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // To high numbers first, so that no descriptor is overwritten before it is moved.
  channel = fcntl(channel, F_DUPFD, 16);
  memory = fcntl(memory, F_DUPFD, 16);
  output = fcntl(output, F_DUPFD, 16);
  const int null_input = open("/dev/null", O_RDONLY);
  dup2(null_input, 0);
  dup2(output, 1);
  dup2(output, 2);
  dup2(channel, channel_fd);
  dup2(memory, memory_fd);
  for (int fd : {channel, memory, output, null_input}) {
    if (fd > memory_fd) close(fd);
  }
  execve(arguments[0], arguments, environment);
  _exit(127);
}

double seconds_waited_by(const std::filesystem::path& thread) {
  double running = 0, waiting = 0;  // nanoseconds
  std::ifstream(thread / "schedstat") >> running >> waiting;
  return waiting * 1e-9;
}

// A message, its sender, and the descriptor that came with it.
struct Received {
  ssize_t bytes = 0;
  pid_t sender = -1;
  Descriptor attached;
};

// Like recv(), also for who sent the message: the kernel adds that to each, for SO_PASSCRED.
Received receive_from(int channel, Reply& reply) {
  Received received;
  iovec buffer{&reply, sizeof reply};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &buffer;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  received.bytes = recvmsg(channel, &message, MSG_TRUNC | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (received.bytes <= 0) return received;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_CREDENTIALS) {
      ucred credentials;
      std::memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
      received.sender = credentials.pid;
    } else if (part->cmsg_type == SCM_RIGHTS && part->cmsg_len == CMSG_LEN(sizeof(int))) {
      int descriptor;
      std::memcpy(&descriptor, CMSG_DATA(part), sizeof descriptor);
      received.attached = Descriptor(descriptor);
    }
  }
  return received;
}

bool is_same_file(int a, int b) {
  struct stat of_a, of_b;
  return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

}  // namespace

double judge_seconds_waited() { return seconds_waited_by("/proc/thread-self"); }

// Sealed, so that a runner cannot cut off memory which the judge is about to read.
JudgeMemory::JudgeMemory() : fd_(memfd_create("keys", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (fd_ < 0 || fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) fail("cannot create shared memory");
}

JudgeMemory::~JudgeMemory() {
  if (data_) munmap(data_, bytes_);
}

void JudgeMemory::reserve(std::int64_t bytes) {
  if (bytes <= bytes_) return;
  if (data_) munmap(std::exchange(data_, nullptr), bytes_);
  bytes_ = 0;
  // Allocated now: memory that turned out to be missing later would be a bus error instead of a message.
  if (posix_fallocate(fd_, 0, bytes) != 0) {
    throw NoMemory(fmt::format("the machine does not have {} MiB left: choose a smaller --n", bytes >> 20));
  }
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (data == MAP_FAILED) fail("cannot map shared memory");
  data_ = static_cast<char*>(data);
  bytes_ = bytes;
}

Process::Process(const std::string& program, const JudgeMemory& memory, const Environment& environment,
                 const Sandbox& sandbox)
    : memory_(memory.fd()), in_sandbox_(!sandbox.empty()) {
  if (access(program.c_str(), X_OK) != 0) fail("cannot run " + program);
  if (in_sandbox_ && access(sandbox.front().c_str(), X_OK) != 0) fail("cannot run " + sandbox.front());
  // What a runner leaves behind becomes our child, so that we can end it and wait for it.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int sockets[2], pipe_ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) fail("cannot create a socket pair");
  channel_ = Descriptor(sockets[0]);
  const int on = 1;
  setsockopt(channel_, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  const Descriptor runners_channel(sockets[1]);
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) fail("cannot create a pipe");
  output_pipe_ = Descriptor(pipe_ends[0]);
  const Descriptor runners_output(pipe_ends[1]);
  fcntl(output_pipe_, F_SETFL, O_NONBLOCK);
  // Made before the fork: the child must not allocate.
  std::vector<std::string> names_and_values = variables(environment), command = sandbox;
  command.insert(command.end(), {program, judge_argument});
  const std::vector<char*> variables = pointers_to(names_and_values), arguments = pointers_to(command);
  pid_ = fork();
  if (pid_ < 0) fail("cannot start " + program);
  if (pid_ == 0) become_runner(arguments.data(), variables.data(), runners_channel, memory.fd(), runners_output);
  setpgid(pid_, pid_);  // here too, because either process may come first
  runner_started(pid_);
}

Process::~Process() {
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  // All of the group: a process that has ended counts against the limits of the sandbox until somebody waits for it.
  while (waitpid(-pid_, nullptr, 0) > 0) {
  }
  runner_ended(pid_);
}

void Process::send(const Request& request) { ::send(channel_, &request, sizeof request, MSG_NOSIGNAL); }

Process::ReceiveResult Process::receive(Reply& reply, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return ReceiveResult::timeout;
    pollfd waiting[] = {{channel_, POLLIN, 0}, {output_pipe_, POLLIN, 0}};
    if (poll(waiting, 2, static_cast<int>(std::min<std::int64_t>(left, 1000))) < 0 && errno != EINTR) fail("poll");
    if (waiting[1].revents & POLLIN) drain_output();
    if (waiting[0].revents == 0) continue;
    const Received received = receive_from(channel_, reply);
    if (received.bytes == 0 || (received.bytes < 0 && errno == ECONNRESET)) return ReceiveResult::closed;
    if (received.bytes != ssize_t{sizeof reply}) return ReceiveResult::malformed;
    // A step that finds the nonce can write it to the channel, but cannot attach a descriptor.
    if (!is_same_file(received.attached, memory_)) return ReceiveResult::malformed;
    sender_ = received.sender;
    const bool text_fits = reply.text_bytes >= 0 && std::size_t(reply.text_bytes) <= sizeof reply.text;
    return text_fits ? ReceiveResult::reply : ReceiveResult::malformed;
  }
}

std::pair<Status, std::string> Process::ending() {
  int status = 0;
  const auto started = Clock::now();
  mark_waits();
  const auto seconds_left = [&] {
    return 1 + std::min(seconds_waited(), max_wait_extension) -
           std::chrono::duration<double>(Clock::now() - started).count();
  };
  // The channel is closed, so the process is about to end, or it closed the channel itself and stays.
  while (seconds_left() > 0) {
    // Not reaped (WNOWAIT), so that the process group's number stays ours until the destructor.
    siginfo_t info{};
    waitid(P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT);
    if (info.si_pid == pid_) {
      drain_output();
      status = info.si_status;
      // A sandbox that waits for the runner ends as a shell does.
      if (info.si_code == CLD_EXITED && in_sandbox_ && status > 128 && status < 128 + NSIG) {
        return {Status::crashed, fmt::format("the process crashed: {}", strsignal(status - 128))};
      }
      if (info.si_code == CLD_EXITED) {
        return {Status::exited, fmt::format("the process ended by itself with exit code {}", status)};
      }
      return {Status::crashed, fmt::format("the process crashed: {}", strsignal(status))};
    }
    usleep(5000);
  }
  return {Status::exited, "the process closed the judge's channel"};
}

// The process that runs the step: a sandbox starts it as its child. Only one of ours is ever signalled.
pid_t Process::runner() const { return sender_ > 0 && getpgid(sender_) == pid_ ? sender_ : pid_; }

std::map<std::string, double> Process::waits() const {
  std::map<std::string, double> found;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", runner()), error)) {
    found.emplace(thread.path().filename(), seconds_waited_by(thread.path()));
  }
  return found;
}

double Process::seconds_waited() const {
  double longest = 0;
  for (const auto& [thread, seconds] : waits()) {
    const auto before = waits_.find(thread);
    longest = std::max(longest, seconds - (before == waits_.end() ? 0 : before->second));
  }
  return longest;
}

std::int64_t Process::peak_bytes() const { return memory_fact("VmHWM:", runner()); }

bool Process::has_company() const { return sender_ > 0 && has_started_others(pid_, runner()); }

void Process::ask_to_end() {
  if (sender_ > 0) end_started_by_step(pid_, runner());
  kill(runner(), SIGTERM);
}

std::string Process::collect_output() {
  drain_output();
  return std::exchange(output_, {});
}

void Process::drain_output() {
  char buffer[4096];
  for (int round = 0; round < 64; ++round) {  // bounded: the process may print without end
    const ssize_t bytes = read(output_pipe_, buffer, sizeof buffer);
    if (bytes <= 0) return;
    output_.append(buffer, bytes);
    if (output_.size() > 2 * output_kept) output_.erase(0, output_.size() - output_kept);
  }
}

}  // namespace lab
