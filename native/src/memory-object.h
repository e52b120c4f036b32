// A piece of memory that several processes share: create it (memfd, sealed against resize), back it with pages, map ranges of it.
// The supervisor creates and allocates; everyone maps. Bounded by the size given at creation; page shortage is an errno, never SIGBUS.
#pragma once
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older C libraries do not name it
#endif

namespace envladder {

constexpr uint64_t kPageBytes = 4096;

// A mapping lives as long as anyone holds it: the addon's objects and the ArrayBuffer that JavaScript sees.
struct Mapping {
  uint8_t* base = nullptr;
  uint64_t bytes = 0;
  Mapping(uint8_t* at, uint64_t length) : base(at), bytes(length) {}
  ~Mapping() { munmap(base, bytes); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
};

// Returns a close-on-exec fd of a sparse object that can no longer shrink or grow, or -errno.
inline int createObject(const char* name, uint64_t bytes) {
  const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -errno;
  if (ftruncate(fd, off_t(bytes)) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    const int error = errno;
    close(fd);
    return -error;
  }
  return fd;
}

// Maps [offset, offset + bytes) for reading and writing; null with errno set when the kernel refuses.
inline std::shared_ptr<Mapping> mapRange(int fd, uint64_t offset, uint64_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, off_t(offset));
  if (at == MAP_FAILED) return nullptr;
  return std::make_shared<Mapping>(static_cast<uint8_t*>(at), bytes);
}

inline void touchPages(uint8_t* from, uint64_t bytes) {
  // An atomic add of zero faults the page in for writing without changing what another process may already have stored there.
  for (uint64_t at = 0; at < bytes; at += kPageBytes) {
    reinterpret_cast<std::atomic<uint8_t>*>(from + at)->fetch_add(0, std::memory_order_relaxed);
  }
}

// Backs a range with pages, `threads` at a time, and proves it with posix_fallocate. Returns 0 or an errno (ENOSPC, ENOMEM, EFAULT);
// on failure the pages of the range are given back. Populate first: fallocate alone clears pages on one thread, about 1 s per GB.
inline int allocateRange(int fd, uint64_t offset, uint64_t bytes, unsigned threads) {
  auto mapping = mapRange(fd, offset, bytes);
  if (!mapping) return errno;
  if (threads < 1) threads = 1;
  const uint64_t pages = (bytes + kPageBytes - 1) / kPageBytes;
  const uint64_t share = (pages + threads - 1) / threads * kPageBytes;
  std::vector<int> results(threads, 0);
  const auto inParallel = [&](auto&& work) {
    std::vector<std::thread> helpers;
    for (unsigned i = 0; i < threads; i++) {
      const uint64_t from = share * i;
      if (from >= bytes) break;
      const uint64_t length = from + share > bytes ? bytes - from : share;
      const auto job = [&work, &results, i, at = mapping->base + from, length] { results[i] = work(at, length); };
      if (i + 1 == threads || from + share >= bytes) job();
      else helpers.emplace_back(job);
    }
    for (auto& helper : helpers) helper.join();
  };
  inParallel([](uint8_t* at, uint64_t length) { return madvise(at, length, MADV_POPULATE_WRITE) == 0 ? 0 : errno; });
  int error = 0;
  bool unsupported = false;
  for (int result : results) {
    if (result == EINVAL) unsupported = true;
    else if (result != 0) error = result;
  }
  if (error == 0) error = posix_fallocate(fd, off_t(offset), off_t(bytes));
  if (error == 0 && unsupported) {
    inParallel([](uint8_t* at, uint64_t length) { touchPages(at, length); return 0; });
  }
  if (error != 0) fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off_t(offset), off_t(bytes));
  return error;
}

}  // namespace envladder
