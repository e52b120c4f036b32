// A few threads that stay: `forEach` splits [0, count) among them and the caller. Used by the reader for cells of 16 KiB and more,
// where the work (about 10 us a cell) is far above the cost of a wake.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <signal.h>
#include <thread>
#include <vector>

namespace envladder {

class ThreadPool {
 public:
  explicit ThreadPool(unsigned threads) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals belong to the main thread
    for (unsigned i = 1; i < threads; i++) helpers_.emplace_back([this] { serve(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~ThreadPool() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (auto& helper : helpers_) helper.join();
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls work(i) once for each i; returns when all are done.
  void forEach(uint32_t count, const std::function<void(uint32_t)>& work) {
    {
      std::lock_guard lock(mutex_);
      work_ = &work;
      count_ = count;
      next_.store(0, std::memory_order_relaxed);
      busy_ = unsigned(helpers_.size());
      round_++;
    }
    wake_.notify_all();
    drain();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    work_ = nullptr;
  }

 private:
  void drain() {
    for (uint32_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) (*work_)(i);
  }
  void serve() {
    uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
      lock.unlock();
      drain();
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> helpers_;
  const std::function<void(uint32_t)>* work_ = nullptr;
  std::atomic<uint32_t> next_{0};
  uint32_t count_ = 0;
  unsigned busy_ = 0;
  uint64_t round_ = 0;
  bool stopping_ = false;
};

}  // namespace envladder
