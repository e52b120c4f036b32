// A disk that fails on demand, for LD_PRELOAD: counts the file calls of a process on paths under a prefix and lets the n-th go wrong. Built
// where it is needed with the machine's compiler (harness/chaos/failing-io.ts), by rows of the fault matrix and by tests; works on whatever goes through libc, as Node's file operations do. Environment:
//
//   FAILING_IO_PREFIX  folder; calls on paths under it (and on fds opened there) count from 1: open, mkdir, rename, unlink, rmdir, write, fsync
//   FAILING_IO_AT      number of the call that goes wrong
//   FAILING_IO_MODE    kill   SIGKILL instead of the call
//                      torn   half of a write, then SIGKILL; other calls: done, then SIGKILL
//                      eio, enospc   the call does nothing and fails so
//                      short  half of a write; other calls are left alone
//                      hold   the call waits while the file FAILING_IO_HOLD exists, then is done; so does every one after it
//                      slow   from the call on, every write and fsync takes FAILING_IO_SLEEP_MS longer while FAILING_IO_HOLD exists
//   FAILING_IO_FIRED   file that is created when it happens
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

constexpr int kFds = 65536;
std::atomic<bool> watched[kFds];
std::atomic<long> calls{0};

enum class Mode { off, kill, torn, eio, enospc, shortWrite, hold, slow };

struct Config {
  const char* prefix = getenv("FAILING_IO_PREFIX");
  const char* fired = getenv("FAILING_IO_FIRED");
  const char* holdFile = getenv("FAILING_IO_HOLD");
  long at = 0;
  useconds_t sleepUs = 0;
  Mode mode = Mode::off;

  Config() {
    const char* number = getenv("FAILING_IO_AT");
    const char* name = getenv("FAILING_IO_MODE");
    if (!prefix || !number || !name) return;
    at = atol(number);
    if (const char* sleep = getenv("FAILING_IO_SLEEP_MS")) sleepUs = useconds_t(atol(sleep)) * 1000;
    const struct {
      const char* name;
      Mode mode;
    } known[] = {{"kill", Mode::kill}, {"torn", Mode::torn},        {"eio", Mode::eio},
                 {"enospc", Mode::enospc}, {"short", Mode::shortWrite}, {"hold", Mode::hold},
                 {"slow", Mode::slow}};
    for (const auto& one : known) {
      if (strcmp(name, one.name) == 0) mode = one.mode;
    }
    if (mode == Mode::off || at < 1) {
      static const char words[] = "failing-io: FAILING_IO_AT must be 1 or more, FAILING_IO_MODE one of the seven\n";
      syscall(SYS_write, 2, words, sizeof words - 1);
      _exit(99);
    }
  }
};

const Config& config() {
  static const Config made;
  return made;
}

bool under(const char* path) {
  const Config& c = config();
  return c.mode != Mode::off && path && strncmp(path, c.prefix, strlen(c.prefix)) == 0;
}

bool isWatched(int fd) { return fd >= 0 && fd < kFds && watched[fd].load(); }

void tellFired() {
  const char* path = config().fired;
  if (path) syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY, 0600));
}

[[noreturn]] void die() {
  tellFired();
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

bool held() { return config().holdFile && syscall(SYS_faccessat, AT_FDCWD, config().holdFile, F_OK) == 0; }

void waitWhileHeld() {
  tellFired();
  while (held()) usleep(2000);
}

// Before a write or fsync: what a slow disk costs.
void dawdle() {
  if (config().mode != Mode::slow || calls.load() < config().at || !held()) return;
  tellFired();
  usleep(config().sleepUs);
}

// What to do with a call that counts. `proceed` is the ordinary call.
enum class Fate { proceed, fail, half, thenDie };

Fate fate() {
  const Config& c = config();
  const long number = ++calls;
  if (c.mode == Mode::hold) {
    if (number >= c.at) waitWhileHeld();
    return Fate::proceed;
  }
  if (number != c.at) return Fate::proceed;
  switch (c.mode) {
    case Mode::kill: die();
    case Mode::torn: return Fate::thenDie;
    case Mode::eio: errno = EIO; break;
    case Mode::enospc: errno = ENOSPC; break;
    case Mode::shortWrite: tellFired(); return Fate::half;
    default: return Fate::proceed;
  }
  const int code = errno;
  tellFired();
  errno = code;
  return Fate::fail;
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Calls that do one thing or nothing.
template <class Call>
int whole(bool counts, Call call) {
  if (!counts) return call();
  const Fate f = fate();
  if (f == Fate::fail) return -1;
  const int result = call();
  if (f == Fate::thenDie) die();
  return result;
}

// Calls that may do part of it.
template <class Call>
ssize_t partial(int fd, size_t bytes, Call call) {
  if (!isWatched(fd)) return call(bytes);
  dawdle();
  const Fate f = fate();
  if (f == Fate::fail) return -1;
  if (f == Fate::proceed || bytes < 2) return call(bytes);
  const ssize_t written = call(bytes / 2);
  if (f == Fate::thenDie) die();
  return written;
}

template <class Call>
int opened(const char* path, Call call) {
  const bool counts = under(path);
  const int fd = whole(counts, call);
  if (fd >= 0 && fd < kFds) watched[fd].store(counts);
  return fd;
}

mode_t modeOf(int flags, va_list list) { return (flags & (O_CREAT | O_TMPFILE)) ? va_arg(list, mode_t) : 0; }

}  // namespace

extern "C" {

#define OPEN(name)                                                                     \
  int name(const char* path, int flags, ...) {                                         \
    va_list list;                                                                      \
    va_start(list, flags);                                                             \
    const mode_t mode = modeOf(flags, list);                                           \
    va_end(list);                                                                      \
    static const auto next = real<int (*)(const char*, int, ...)>(#name);              \
    return opened(path, [&] { return next(path, flags, mode); });                      \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                   \
  int name(int folder, const char* path, int flags, ...) {                             \
    va_list list;                                                                      \
    va_start(list, flags);                                                             \
    const mode_t mode = modeOf(flags, list);                                           \
    va_end(list);                                                                      \
    static const auto next = real<int (*)(int, const char*, int, ...)>(#name);         \
    return opened(path, [&] { return next(folder, path, flags, mode); });              \
  }
OPENAT(openat)
OPENAT(openat64)

int close(int fd) {
  static const auto next = real<int (*)(int)>("close");
  if (fd >= 0 && fd < kFds) watched[fd].store(false);
  return next(fd);
}

int mkdir(const char* path, mode_t mode) {
  static const auto next = real<int (*)(const char*, mode_t)>("mkdir");
  return whole(under(path), [&] { return next(path, mode); });
}

int rename(const char* from, const char* to) {
  static const auto next = real<int (*)(const char*, const char*)>("rename");
  return whole(under(from) || under(to), [&] { return next(from, to); });
}

int unlink(const char* path) {
  static const auto next = real<int (*)(const char*)>("unlink");
  return whole(under(path), [&] { return next(path); });
}

int rmdir(const char* path) {
  static const auto next = real<int (*)(const char*)>("rmdir");
  return whole(under(path), [&] { return next(path); });
}

int fsync(int fd) {
  static const auto next = real<int (*)(int)>("fsync");
  if (isWatched(fd)) dawdle();
  return whole(isWatched(fd), [&] { return next(fd); });
}

int fdatasync(int fd) {
  static const auto next = real<int (*)(int)>("fdatasync");
  if (isWatched(fd)) dawdle();
  return whole(isWatched(fd), [&] { return next(fd); });
}

ssize_t write(int fd, const void* data, size_t bytes) {
  static const auto next = real<ssize_t (*)(int, const void*, size_t)>("write");
  return partial(fd, bytes, [&](size_t some) { return next(fd, data, some); });
}

#define PWRITE(name, offset_type)                                                      \
  ssize_t name(int fd, const void* data, size_t bytes, offset_type offset) {           \
    static const auto next = real<ssize_t (*)(int, const void*, size_t, offset_type)>(#name); \
    return partial(fd, bytes, [&](size_t some) { return next(fd, data, some, offset); }); \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

// Of one buffer, as Node writes; more are written whole.
ssize_t writev(int fd, const struct iovec* parts, int count) {
  static const auto next = real<ssize_t (*)(int, const struct iovec*, int)>("writev");
  if (count != 1) return whole(isWatched(fd), [&] { return int(next(fd, parts, count)); });
  return partial(fd, parts[0].iov_len, [&](size_t some) {
    const struct iovec part = {parts[0].iov_base, some};
    return next(fd, &part, 1);
  });
}

}  // extern "C"
