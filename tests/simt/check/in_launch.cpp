#include "in_launch.h"

#include "../src/execution/worker.h"
#include "../src/runtime/call.h"

using simt::check::state;

// Of the emulation, of which nothing runs here: no trials in child processes, and no kernel that failed.
simt::Worker* simt::Worker::running() { return nullptr; }
constinit thread_local simt::WorkerOfThread simt::worker_of_thread;
bool simt::check::is_judged() { return true; }
cudaError_t simt::sticky() { return cudaSuccess; }
void simt::watch_unseen_write(const std::string& text) { unseen_writes.push_back(text); }
void simt::watch_writes_for_host(const Kernel&, std::size_t bytes) { written_for_host += bytes; }

std::vector<std::string> unseen_writes;
std::size_t written_for_host = 0;

InLaunch::InLaunch()
    : launch{.kernel = {}, .config = {4, 128}, .blocks = 4, .threads = 128, .number = 1, .order_seed = 0} {
  launch.kernel.name = "move";
  launch.kernel.site = {.file = "a.cu", .line = 1};
  state().findings = {};
  state().pending.waits.clear();
  state().counts.begin_launch(launch);
  state().order.begin_launch(launch.blocks);
  state().running.launch = &launch;
  state().running.block = 0;
  state().order.begin_block(0);
}

InLaunch::~InLaunch() {
  state().pending.settle_all();
  state().running.launch = nullptr;
}

void InLaunch::next_block() {
  state().pending.settle_all();
  state().order.begin_block(++state().running.block);
}
