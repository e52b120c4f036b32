// A thread that stamps one word of a progress line at an interval, whatever the process's JavaScript does: proof that the kernel lets this
// process run. Stops at `stop`, which its owner calls before the process or the JavaScript environment ends.
#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <signal.h>
#include <thread>

#include "clock.h"
#include "memory-object.h"
#include "shared.h"

namespace envladder {

class Beat {
 public:
  Beat(std::shared_ptr<Mapping> mapping, Stamp* stamp, uint64_t intervalMs)
      : mapping_(std::move(mapping)), stamp_(stamp), interval_(intervalMs) {
    store();
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals belong to the main thread
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Beat() { stop(); }
  Beat(const Beat&) = delete;
  Beat& operator=(const Beat&) = delete;

  // Returns when the thread has ended; a second call does nothing. For the thread that made it.
  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void store() { stamp_->store(double(monotonicNs()) / 1e6, std::memory_order_relaxed); }
  void run() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, interval_, [this] { return stopping_; })) store();
  }

  const std::shared_ptr<Mapping> mapping_;
  Stamp* const stamp_;
  const std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace envladder
