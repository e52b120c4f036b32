// The words two processes share, exactly as they lie in mapped memory. Written by supervisor, worker and reader, each its own lines;
// bounded by the fixed sizes asserted below. harness/memory/layout.ts states the same offsets and a test compares both.
//
//   slot word P, A (u64):   63        40 39                              0
//                          | epoch:24   | seq:40                          |
//
//   WriterLine (64 B, one per slot; only the worker writes, the supervisor fences `published`)
//     0 published P | 8 publishNs | 16 record[0] {f64 reward, u32 flags, u32 pad} | 32 record[1] | 48 pad
//     (with more than 2 cells the records live in their own plane: recordBase + slot * recordStride + cell * 16)
//   ReaderLine (64 B, one per slot; only the reader writes)
//     0 answered A | 8 actionNs | 16 taken | 24 command | 28 pad | 32 action, when it is at most 32 B
//     (longer actions live in their own plane: actionBase + slot * actionStride)
//
//   Order. worker: cell, record -> P (release)      [pairs with] reader: P (acquire) -> cell, record
//          reader: copies done, action -> A (release) [pairs with] worker: A (acquire) -> action, next cell
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace envladder {

constexpr uint64_t kSegmentMagic = 0x31474553564e45ull;   // "ENVSEG1"
constexpr uint64_t kControlMagic = 0x314c5443564e45ull;   // "ENVCTL1"
constexpr uint32_t kLayoutVersion = 2;
constexpr unsigned kSeqBits = 40;
constexpr uint64_t kSeqMask = (1ull << kSeqBits) - 1;
constexpr uint64_t kMaxEpoch = (1ull << 24) - 1;

inline uint64_t slotWord(uint64_t epoch, uint64_t seq) { return epoch << kSeqBits | (seq & kSeqMask); }
inline uint64_t seqOf(uint64_t word) { return word & kSeqMask; }
inline uint64_t epochOf(uint64_t word) { return word >> kSeqBits; }

// Frame flags; the meaning of each stands in harness/contract/frame-flags.ts.
enum FrameFlag : uint32_t { kTerminated = 1, kTruncated = 2, kFirst = 4, kFinal = 8, kAbandoned = 16, kQuarantined = 32 };
constexpr uint32_t kDone = kTerminated | kTruncated;

enum Command : uint32_t { kCommandStep = 0, kCommandReset = 1 };

using Word64 = std::atomic<uint64_t>;
using Word32 = std::atomic<uint32_t>;
// A lock inside the atomic would be private to each process and protect nothing.
static_assert(Word64::is_always_lock_free && sizeof(Word64) == 8 && alignof(Word64) == 8);
static_assert(Word32::is_always_lock_free && sizeof(Word32) == 4);
using Stamp = std::atomic<double>;
static_assert(Stamp::is_always_lock_free && sizeof(Stamp) == 8 && alignof(Stamp) == 8);

struct Record {
  double reward;
  Word32 flags;  // atomic because scans look at it without a lease
  uint32_t pad;
};
static_assert(sizeof(Record) == 16 && offsetof(Record, flags) == 8);

struct alignas(64) WriterLine {
  Word64 published;
  Word64 publishNs;
  Record records[2];
  uint8_t pad[16];
};
static_assert(sizeof(WriterLine) == 64 && offsetof(WriterLine, publishNs) == 8 && offsetof(WriterLine, records) == 16);

struct alignas(64) ReaderLine {
  Word64 answered;
  Word64 actionNs;
  Word64 taken;
  Word32 command;
  uint32_t pad;
  uint8_t action[32];
};
static_assert(sizeof(ReaderLine) == 64 && offsetof(ReaderLine, taken) == 16 && offsetof(ReaderLine, command) == 24 &&
              offsetof(ReaderLine, action) == 32);

struct alignas(64) BellLine {
  Word32 word;
  Word32 sleeping;
  uint8_t pad[56];
};
static_assert(sizeof(BellLine) == 64 && offsetof(BellLine, sleeping) == 4);

// First page of a segment. `ready` is stored last by the creator (release); who attaches loads it first (acquire).
struct SegmentHeader {
  uint64_t magic;
  uint32_t layoutVersion;
  uint32_t blocks;
  uint8_t layoutHash[32];
  uint32_t worker;
  uint32_t headerBytes;
  uint64_t bytes;
  char runId[64];
  BellLine workBell;
  Word32 epoch;  // highest epoch any block was fenced to
  Word32 ready;
  uint8_t pad[56];
  Word32 blockState[1];  // one per block: 0 planned, 1 allocated
};
static_assert(offsetof(SegmentHeader, layoutHash) == 16 && offsetof(SegmentHeader, worker) == 48 &&
              offsetof(SegmentHeader, runId) == 64 && offsetof(SegmentHeader, workBell) == 128 &&
              offsetof(SegmentHeader, epoch) == 192 && offsetof(SegmentHeader, ready) == 196 &&
              offsetof(SegmentHeader, blockState) == 256);

// One per worker seat on the control page, then the learner's: its process writes plain words, everyone reads them, nobody waits on them.
//   0 envId, op, loops, framesLow, epoch, pid, framesHigh, span (u32 each) | 32 nativeMs f64 | 40 loopMs f64 | 48 opMs f64 | 56 pad
// Stamps are CLOCK_MONOTONIC in milliseconds as doubles, the one 64-bit type that JavaScript stores in a single instruction; 0 = never.
struct alignas(64) ProgressLine {
  Word32 envId;
  Word32 op;
  Word32 loops;
  Word32 framesLow;
  Word32 epoch;
  Word32 pid;
  Word32 framesHigh;
  Word32 span;
  Stamp nativeMs;
  Stamp loopMs;
  Stamp opMs;
  uint8_t pad2[8];
};
static_assert(sizeof(ProgressLine) == 64 && offsetof(ProgressLine, framesHigh) == 24 && offsetof(ProgressLine, span) == 28 && offsetof(ProgressLine, nativeMs) == 32 &&
              offsetof(ProgressLine, loopMs) == 40 && offsetof(ProgressLine, opMs) == 48);

struct ControlHeader {
  uint64_t magic;
  uint32_t layoutVersion;
  uint32_t lines;
  Word32 ready;
  uint8_t pad[44];
  BellLine frameBell;
  ProgressLine progress[1];
};
static_assert(offsetof(ControlHeader, ready) == 16 && offsetof(ControlHeader, frameBell) == 64 &&
              offsetof(ControlHeader, progress) == 128);

}  // namespace envladder
