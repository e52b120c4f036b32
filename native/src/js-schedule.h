// JavaScript face of the scheduling calls. Policies travel by name; a name or a process that is not there is an errno, never an exception.
#pragma once
#include <array>
#include <utility>

#include "js-common.h"
#include "schedule.h"

namespace envladder::js {

constexpr std::array<std::pair<const char*, int>, 5> kPolicies{
    {{"other", SCHED_OTHER}, {"fifo", SCHED_FIFO}, {"rr", SCHED_RR}, {"batch", SCHED_BATCH}, {"idle", SCHED_IDLE}}};

inline int intAt(const Napi::CallbackInfo& info, size_t i) { return info[i].As<Napi::Number>().Int32Value(); }

// setAffinity(pid, cpus)
inline Napi::Value jsSetAffinity(const Napi::CallbackInfo& info) {
  const auto list = info[1].As<Napi::Array>();
  std::vector<uint32_t> cpus;
  for (uint32_t i = 0; i < list.Length(); i++) cpus.push_back(list.Get(i).As<Napi::Number>().Uint32Value());
  return Napi::Number::New(info.Env(), setAffinity(intAt(info, 0), cpus));
}

// getAffinity(pid): cores, or a negative errno
inline Napi::Value jsGetAffinity(const Napi::CallbackInfo& info) {
  std::vector<uint32_t> cpus;
  const int error = getAffinity(intAt(info, 0), cpus);
  if (error != 0) return Napi::Number::New(info.Env(), error);
  auto list = Napi::Array::New(info.Env(), cpus.size());
  for (uint32_t i = 0; i < cpus.size(); i++) list.Set(i, double(cpus[i]));
  return list;
}

// setNice(pid, nice)
inline Napi::Value jsSetNice(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), setNice(intAt(info, 0), intAt(info, 1)));
}

// getNice(pid): {nice}, or a negative errno
inline Napi::Value jsGetNice(const Napi::CallbackInfo& info) {
  int nice = 0;
  const int error = getNice(intAt(info, 0), nice);
  if (error != 0) return Napi::Number::New(info.Env(), error);
  auto result = Napi::Object::New(info.Env());
  result.Set("nice", double(nice));
  return result;
}

// setScheduler(pid, policy, priority)
inline Napi::Value jsSetScheduler(const Napi::CallbackInfo& info) {
  const std::string name = info[1].As<Napi::String>();
  for (const auto& [known, policy] : kPolicies) {
    if (name == known) return Napi::Number::New(info.Env(), setScheduler(intAt(info, 0), policy, intAt(info, 2)));
  }
  return Napi::Number::New(info.Env(), -EINVAL);
}

// getScheduler(pid): {policy, priority}, or a negative errno
inline Napi::Value jsGetScheduler(const Napi::CallbackInfo& info) {
  int policy = 0, priority = 0;
  const int error = getScheduler(intAt(info, 0), policy, priority);
  if (error != 0) return Napi::Number::New(info.Env(), error);
  auto result = Napi::Object::New(info.Env());
  result.Set("policy", "unknown");
  for (const auto& [known, number] : kPolicies) {
    if (number == policy) result.Set("policy", known);
  }
  result.Set("priority", double(priority));
  return result;
}

}  // namespace envladder::js
