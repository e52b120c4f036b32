// What a process asks of the kernel about its own end and the end of others.
#pragma once
#include <cerrno>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace envladder {

// Asks for `signal` when the parent dies. Returns false when it is not `parentPid` any more: it died before the request, and no
// signal will come. Must run on the main thread: the kernel watches the thread that forked, not the process.
inline bool dieWithParent(int signal, int parentPid) {
  return prctl(PR_SET_PDEATHSIG, signal) == 0 && getppid() == parentPid;
}

// Whether the kernel says that `pid` has ended (a zombie counts as ended), waiting up to `timeoutMs`. 1 dead, 0 alive, -errno unknown.
inline int confirmDeath(int pid, int timeoutMs) {
  const int fd = int(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return errno == ESRCH ? 1 : -errno;
  pollfd watched{fd, POLLIN, 0};
  const int ready = poll(&watched, 1, timeoutMs);
  close(fd);
  return ready > 0 ? 1 : 0;
}

}  // namespace envladder
