// JavaScript face of the clock, of process calls, of the shared offsets (for the layout test) and of the bare copy loop (for benches).
#pragma once
#include "clock.h"
#include "js-common.h"
#include "process.h"
#include "shared.h"

namespace envladder::js {

inline Napi::Value jsMonotonicNs(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), double(monotonicNs())); }

// dieWithParent(signal, parentPid)
inline Napi::Value jsDieWithParent(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), dieWithParent(info[0].As<Napi::Number>().Int32Value(), info[1].As<Napi::Number>().Int32Value()));
}

// confirmDeath(pid, timeoutMs): 1 dead, 0 alive, -errno unknown
inline Napi::Value jsConfirmDeath(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), confirmDeath(info[0].As<Napi::Number>().Int32Value(), info[1].As<Napi::Number>().Int32Value()));
}

// memcpyRows(to, from, rowBytes, rows, strideBytes): the bare loop that the gather bench is measured against
inline Napi::Value jsMemcpyRows(const Napi::CallbackInfo& info) {
  uint8_t* to = elements<uint8_t>(info[0]);
  const uint8_t* from = elements<uint8_t>(info[1]);
  const auto at = [&](size_t i) { return uint64_t(info[i].As<Napi::Number>().DoubleValue()); };
  for (uint64_t row = 0; row < at(3); row++) std::memcpy(to + row * at(2), from + row * at(4), at(2));
  return info.Env().Undefined();
}

// sharedOffsets(): every offset and size that layout.ts also states
inline Napi::Value jsSharedOffsets(const Napi::CallbackInfo& info) {
  auto all = Napi::Object::New(info.Env());
  const auto set = [&](const char* name, size_t value) { all.Set(name, double(value)); };
  set("layoutVersion", kLayoutVersion);
  set("seqBits", kSeqBits);
  set("recordBytes", sizeof(Record));
  set("writerLine.bytes", sizeof(WriterLine));
  set("writerLine.published", offsetof(WriterLine, published));
  set("writerLine.publishNs", offsetof(WriterLine, publishNs));
  set("writerLine.records", offsetof(WriterLine, records));
  set("readerLine.bytes", sizeof(ReaderLine));
  set("readerLine.answered", offsetof(ReaderLine, answered));
  set("readerLine.actionNs", offsetof(ReaderLine, actionNs));
  set("readerLine.taken", offsetof(ReaderLine, taken));
  set("readerLine.command", offsetof(ReaderLine, command));
  set("readerLine.action", offsetof(ReaderLine, action));
  set("segment.magic", offsetof(SegmentHeader, magic));
  set("segment.layoutVersion", offsetof(SegmentHeader, layoutVersion));
  set("segment.blocks", offsetof(SegmentHeader, blocks));
  set("segment.layoutHash", offsetof(SegmentHeader, layoutHash));
  set("segment.worker", offsetof(SegmentHeader, worker));
  set("segment.headerBytes", offsetof(SegmentHeader, headerBytes));
  set("segment.bytes", offsetof(SegmentHeader, bytes));
  set("segment.runId", offsetof(SegmentHeader, runId));
  set("segment.workBell", offsetof(SegmentHeader, workBell));
  set("segment.epoch", offsetof(SegmentHeader, epoch));
  set("segment.ready", offsetof(SegmentHeader, ready));
  set("segment.blockState", offsetof(SegmentHeader, blockState));
  set("control.magic", offsetof(ControlHeader, magic));
  set("control.layoutVersion", offsetof(ControlHeader, layoutVersion));
  set("control.lines", offsetof(ControlHeader, lines));
  set("control.ready", offsetof(ControlHeader, ready));
  set("control.frameBell", offsetof(ControlHeader, frameBell));
  set("control.progress", offsetof(ControlHeader, progress));
  set("progressLine.bytes", sizeof(ProgressLine));
  set("progressLine.envId", offsetof(ProgressLine, envId));
  set("progressLine.op", offsetof(ProgressLine, op));
  set("progressLine.loops", offsetof(ProgressLine, loops));
  set("progressLine.framesLow", offsetof(ProgressLine, framesLow));
  set("progressLine.epoch", offsetof(ProgressLine, epoch));
  set("progressLine.pid", offsetof(ProgressLine, pid));
  set("progressLine.framesHigh", offsetof(ProgressLine, framesHigh));
  set("progressLine.span", offsetof(ProgressLine, span));
  set("progressLine.nativeMs", offsetof(ProgressLine, nativeMs));
  set("progressLine.loopMs", offsetof(ProgressLine, loopMs));
  set("progressLine.opMs", offsetof(ProgressLine, opMs));
  return all;
}

}  // namespace envladder::js
