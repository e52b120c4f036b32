// How the kernel shares the cores with a process: affinity, nice value, scheduling policy. Changes go to every thread of the process; what
// it starts later inherits them. Everything returns 0 or a negative errno.
#pragma once
#include <cerrno>
#include <cstdlib>
#include <cstdint>
#include <dirent.h>
#include <sched.h>
#include <set>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace envladder {

constexpr int kMaxCpus = 4096;
// A thread started while we walk inherits from its maker, which may not have been changed yet: walk until nobody is new, but not for ever.
constexpr int kMaxWalks = 8;

// Calls change(tid) once for every thread of `pid`. The first refusal ends it; a thread that ended meanwhile is no refusal.
template <class Change>
int forEachThread(int pid, Change change) {
  std::set<int> done;
  for (int walk = 0; walk < kMaxWalks; walk++) {
    DIR* folder = opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
    if (!folder) return errno == ENOENT ? -ESRCH : -errno;
    int result = 0;
    bool news = false;
    while (const dirent* entry = readdir(folder)) {
      const int tid = std::atoi(entry->d_name);
      if (tid <= 0 || !done.insert(tid).second) continue;
      news = true;
      if (change(tid) == 0) continue;
      if (errno == ESRCH && tid != pid) continue;
      result = -errno;
      break;
    }
    closedir(folder);
    if (result != 0 || !news) return result;
  }
  return 0;
}

inline int setAffinity(int pid, const std::vector<uint32_t>& cpus) {
  std::vector<cpu_set_t> set(kMaxCpus / (8 * sizeof(cpu_set_t)));
  const size_t bytes = set.size() * sizeof(cpu_set_t);
  CPU_ZERO_S(bytes, set.data());
  for (const uint32_t cpu : cpus) {
    if (cpu >= unsigned(kMaxCpus)) return -EINVAL;
    CPU_SET_S(cpu, bytes, set.data());
  }
  return forEachThread(pid, [&](int tid) { return sched_setaffinity(tid, bytes, set.data()); });
}

// The cores of the process's first thread.
inline int getAffinity(int pid, std::vector<uint32_t>& cpus) {
  std::vector<cpu_set_t> set(kMaxCpus / (8 * sizeof(cpu_set_t)));
  const size_t bytes = set.size() * sizeof(cpu_set_t);
  if (sched_getaffinity(pid, bytes, set.data()) != 0) return -errno;
  for (uint32_t cpu = 0; cpu < unsigned(kMaxCpus); cpu++) {
    if (CPU_ISSET_S(cpu, bytes, set.data())) cpus.push_back(cpu);
  }
  return 0;
}

inline int setNice(int pid, int nice) {
  return forEachThread(pid, [&](int tid) { return setpriority(PRIO_PROCESS, id_t(tid), nice); });
}

inline int getNice(int pid, int& nice) {
  errno = 0;
  nice = getpriority(PRIO_PROCESS, id_t(pid));
  return errno == 0 ? 0 : -errno;
}

inline int setScheduler(int pid, int policy, int priority) {
  sched_param wanted{};
  wanted.sched_priority = priority;
  return forEachThread(pid, [&](int tid) { return sched_setscheduler(tid, policy, &wanted); });
}

inline int getScheduler(int pid, int& policy, int& priority) {
  sched_param found{};
  policy = sched_getscheduler(pid);
  if (policy < 0 || sched_getparam(pid, &found) != 0) return -errno;
  policy &= ~SCHED_RESET_ON_FORK;
  priority = found.sched_priority;
  return 0;
}

}  // namespace envladder
