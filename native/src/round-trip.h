// Round trips between two threads over the ways that a loopback of one machine offers, blocking calls on both ends and nothing of an event loop:
// how long the kernel takes. For `envladder claims` alone; bounded by the number of rounds and a time per wait.
#pragma once
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bell.h"
#include "clock.h"

namespace envladder {

// A peer that is gone or starved for longer fails the measurement instead of hanging it.
constexpr int kRoundTripWaitS = 10;

struct TwoEnds {
  int near[2] = {-1, -1};  // read, write
  int far[2] = {-1, -1};
  int error = 0;
};

inline void closeEnds(TwoEnds& ends) {
  for (int* side : {ends.near, ends.far}) {
    if (side[0] >= 0) close(side[0]);
    if (side[1] >= 0 && side[1] != side[0]) close(side[1]);
  }
}

inline void boundWaits(int fd) {
  timeval limit{kRoundTripWaitS, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

// A connected pair over 127.0.0.1 without Nagle's delay, as any RPC library sets it.
inline TwoEnds openTcp() {
  TwoEnds ends;
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool connected = listener >= 0 && client >= 0 && bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                         listen(listener, 1) == 0 && getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0 &&
                         connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  const int server = connected ? accept4(listener, nullptr, nullptr, SOCK_CLOEXEC) : -1;
  ends.error = server < 0 ? errno : 0;
  if (listener >= 0) close(listener);
  ends.near[0] = ends.near[1] = client;
  ends.far[0] = ends.far[1] = server;
  for (const int fd : {client, server}) {
    if (fd < 0) continue;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    boundWaits(fd);
  }
  return ends;
}

inline TwoEnds openUnix() {
  TwoEnds ends;
  int pair[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) ends.error = errno;
  ends.near[0] = ends.near[1] = pair[0];
  ends.far[0] = ends.far[1] = pair[1];
  if (ends.error == 0) {
    boundWaits(pair[0]);
    boundWaits(pair[1]);
  }
  return ends;
}

inline TwoEnds openPipes() {
  TwoEnds ends;
  int there[2] = {-1, -1}, back[2] = {-1, -1};
  if (pipe2(there, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0) ends.error = errno;
  ends.near[0] = back[0];
  ends.near[1] = there[1];
  ends.far[0] = there[0];
  ends.far[1] = back[1];
  return ends;
}

inline bool passByte(int from, int to) {
  char byte;
  ssize_t got;
  do got = read(from, &byte, 1);
  while (got < 0 && errno == EINTR);
  return got == 1 && write(to, &byte, 1) == 1;
}

// Nanoseconds of each of `times` round trips of one byte; empty when a wait failed.
inline std::vector<double> timeDescriptors(TwoEnds& ends, size_t rounds) {
  std::vector<double> times;
  times.reserve(rounds);
  std::thread far([&] {
    for (size_t i = 0; i < rounds && passByte(ends.far[0], ends.far[1]); i++) {
    }
    // Whatever ended us, the near end must not wait for more: a pipe knows no time limit.
    if (ends.far[1] == ends.far[0]) shutdown(ends.far[1], SHUT_RDWR);
    else close(std::exchange(ends.far[1], -1));
  });
  char byte = 1;
  for (size_t i = 0; i < rounds; i++) {
    const uint64_t began = monotonicNs();
    ssize_t got = write(ends.near[1], &byte, 1) == 1 ? 1 : -1;
    if (got == 1) do got = read(ends.near[0], &byte, 1);
      while (got < 0 && errno == EINTR);
    if (got != 1) break;
    times.push_back(double(monotonicNs() - began));
  }
  if (times.size() < rounds) {
    if (ends.near[1] == ends.near[0]) shutdown(ends.near[1], SHUT_RDWR);
    else close(std::exchange(ends.near[1], -1));
  }
  far.join();
  if (times.size() < rounds) times.clear();
  return times;
}

// Two bells, as between learner and worker; `spinNs` before each sleep. 0: a futex alone. The wait's limit: it never sleeps.
inline std::vector<double> timeBells(size_t rounds, uint64_t spinNs) {
  alignas(64) BellLine there{}, back{};
  std::vector<double> times;
  times.reserve(rounds);
  constexpr uint64_t limitNs = uint64_t(kRoundTripWaitS) * 1'000'000'000ull;
  std::thread far([&] {
    for (uint32_t seen = 0; seen < rounds;) {
      const uint32_t now = waitBell(there, seen, limitNs, spinNs);
      if (now == seen) return;
      seen = now;
      ringBell(back);
    }
  });
  for (uint32_t i = 0; i < rounds; i++) {
    const uint64_t began = monotonicNs();
    ringBell(there);
    if (waitBell(back, i, limitNs, spinNs) == i) break;
    times.push_back(double(monotonicNs() - began));
  }
  far.join();
  if (times.size() < rounds) times.clear();
  return times;
}

// `way`: tcp, unix, pipe, futex, spin. Empty with `error` set when it cannot be had.
inline std::vector<double> timeRoundTrips(const std::string& way, size_t rounds, int& error) {
  error = 0;
  if (way == "futex") return timeBells(rounds, 0);
  if (way == "spin") return timeBells(rounds, uint64_t(kRoundTripWaitS) * 1'000'000'000ull);
  TwoEnds ends = way == "tcp" ? openTcp() : way == "unix" ? openUnix() : openPipes();
  error = ends.error;
  std::vector<double> times;
  if (error == 0) times = timeDescriptors(ends, rounds);
  closeEnds(ends);
  return times;
}

}  // namespace envladder
