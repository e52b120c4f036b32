// JavaScript face of what `envladder claims` alone needs of native code: round trips, and two threads over one word. Both block their thread until
// they are done: call them where nothing else waits.
#pragma once
#include "js-common.h"
#include "round-trip.h"
#include "word-duel.h"

namespace envladder::js {

// timeRoundTrips(way, rounds): nanoseconds per round trip, as Float64Array
inline Napi::Value jsTimeRoundTrips(const Napi::CallbackInfo& info) {
  const std::string way = info[0].As<Napi::String>();
  int error = 0;
  const std::vector<double> times = timeRoundTrips(way, info[1].As<Napi::Number>().Uint32Value(), error);
  if (times.empty()) {
    return fail(info.Env(), "out-of-memory", "round trips over " + way + " failed: " + (error == 0 ? "the other end gave no answer" : std::strerror(error)));
  }
  auto array = Napi::Float64Array::New(info.Env(), times.size());
  for (size_t i = 0; i < times.size(); i++) array[i] = times[i];
  return array;
}

// duelOverWord(wordOffset, flagA, flagB, ms): {reads, torn, changes, adds, addSeconds}
inline Napi::Value jsDuelOverWord(const Napi::CallbackInfo& info) {
  const auto at = [&](size_t i) { return size_t(info[i].As<Napi::Number>().Uint32Value()); };
  DuelReport report;
  if (!duelOverWord(at(0), at(1), at(2), at(3), report)) return fail(info.Env(), "out-of-memory", "no page for two threads to meet on");
  auto all = Napi::Object::New(info.Env());
  all.Set("reads", double(report.reads));
  all.Set("torn", double(report.torn));
  all.Set("changes", double(report.changes));
  all.Set("adds", double(report.adds));
  all.Set("addSeconds", report.addSeconds);
  return all;
}

}  // namespace envladder::js
