// JavaScript face of memory objects, mappings and bells.
#pragma once
#include "bell.h"
#include "js-common.h"
#include "memory-object.h"

namespace envladder::js {

class JsMapping : public Napi::ObjectWrap<JsMapping> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Mapping", {InstanceMethod("takeBuffer", &JsMapping::takeBuffer)});
  }
  // new Mapping(fd, offsetBytes, bytes)
  explicit JsMapping(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsMapping>(info) {
    const int fd = info[0].As<Napi::Number>().Int32Value();
    const auto offset = uint64_t(info[1].As<Napi::Number>().DoubleValue()), bytes = uint64_t(info[2].As<Napi::Number>().DoubleValue());
    mapping = mapRange(fd, offset, bytes);
    if (!mapping) {
      fail(info.Env(), "out-of-memory", "mapping " + std::to_string(bytes) + " bytes of shared memory failed: " + std::strerror(errno));
    }
  }
  std::shared_ptr<Mapping> mapping;

 private:
  // Once per mapping: V8 aborts when one address becomes two ArrayBuffers. The pages stay mapped until the buffer is collected, so a
  // view that outlives close() reads old bytes instead of crashing.
  Napi::Value takeBuffer(const Napi::CallbackInfo& info) {
    if (taken_) return fail(info.Env(), "bug", "the buffer of this mapping was taken already");
    taken_ = true;
    auto* hold = new std::shared_ptr<Mapping>(mapping);
    return Napi::ArrayBuffer::New(
        info.Env(), mapping->base, mapping->bytes,
        [](Napi::Env, void*, std::shared_ptr<Mapping>* held) { delete held; }, hold);
  }
  bool taken_ = false;
};

// One side of a doorbell: remembers the last ring it saw, so that a ring between looking for work and waiting is never slept over.
class JsBell : public Napi::ObjectWrap<JsBell> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Bell", {InstanceMethod("ring", &JsBell::ring), InstanceMethod("wait", &JsBell::wait)});
  }
  // new Bell(mapping, offsetBytes)
  explicit JsBell(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsBell>(info) {
    mapping = JsMapping::Unwrap(info[0].As<Napi::Object>())->mapping;
    line = reinterpret_cast<BellLine*>(mapping->base + info[1].As<Napi::Number>().Uint32Value());
    seen_ = line->word.load(std::memory_order_acquire);
  }
  std::shared_ptr<Mapping> mapping;
  BellLine* line = nullptr;

 private:
  Napi::Value ring(const Napi::CallbackInfo& info) {
    ringBell(*line);
    return info.Env().Undefined();
  }
  // wait(timeoutMs): true when the bell rang since the last wait.
  Napi::Value wait(const Napi::CallbackInfo& info) {
    const double timeoutMs = info[0].As<Napi::Number>().DoubleValue();
    const uint32_t now = waitBell(*line, seen_, timeoutMs > 0 ? uint64_t(timeoutMs * 1e6) : 0);
    const bool rang = now != seen_;
    seen_ = now;
    return Napi::Boolean::New(info.Env(), rang);
  }
  uint32_t seen_ = 0;
};

// createObject(name, bytes): fd
inline Napi::Value jsCreateObject(const Napi::CallbackInfo& info) {
  const std::string name = info[0].As<Napi::String>();
  const auto bytes = uint64_t(info[1].As<Napi::Number>().DoubleValue());
  const int fd = createObject(name.c_str(), bytes);
  if (fd < 0) return fail(info.Env(), "out-of-memory", "creating " + std::to_string(bytes) + " bytes of shared memory failed: " + std::strerror(-fd));
  return Napi::Number::New(info.Env(), fd);
}

// allocateRange(fd, offsetBytes, bytes, threads): 0 or errno
inline Napi::Value jsAllocateRange(const Napi::CallbackInfo& info) {
  const auto at = [&](int i) { return info[size_t(i)].As<Napi::Number>().DoubleValue(); };
  return Napi::Number::New(info.Env(), allocateRange(int(at(0)), uint64_t(at(1)), uint64_t(at(2)), unsigned(at(3))));
}

}  // namespace envladder::js
