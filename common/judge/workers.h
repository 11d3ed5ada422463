// Threads that read and write files: one that waits for the disk leaves the processor to the others.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lab {

/// Runs work(0) ... work(count - 1), each in a separate thread, and calls `meanwhile` now and then in this one. When
/// one throws, `stop` becomes true, which the others should look at, and the first exception is thrown here.
inline void run_workers(int count, const std::function<void(int)>& work, std::atomic<bool>& stop,
                        const std::function<void()>& meanwhile) {
  using namespace std::chrono_literals;
  std::mutex mutex;
  std::condition_variable changed;
  int running = count;
  std::exception_ptr first;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        std::exception_ptr failure;
        try {
          work(i);
        } catch (...) {
          failure = std::current_exception();
          stop = true;
        }
        const std::lock_guard lock(mutex);
        if (!first) first = failure;
        --running;
        changed.notify_one();
      });
    }
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, 250ms, [&] { return running == 0; })) meanwhile();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace lab
