// JavaScript face of the beat. Its thread ends with `stop`, or with the environment that made it (the process, or one of its worker
// threads), for then Node finalizes every object of an addon. Until then the object holds itself: a beat that ended because nobody points
// to it any more would look like a frozen process.
#pragma once
#include "beat.h"
#include "js-mapping.h"

namespace envladder::js {

class JsBeat : public Napi::ObjectWrap<JsBeat> {
 public:
  static Napi::Function define(Napi::Env env) { return DefineClass(env, "Beat", {InstanceMethod("stop", &JsBeat::stop)}); }
  // new Beat(mapping, stampOffsetBytes, intervalMs)
  explicit JsBeat(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsBeat>(info) {
    const auto mapping = JsMapping::Unwrap(info[0].As<Napi::Object>())->mapping;
    auto* stamp = reinterpret_cast<Stamp*>(mapping->base + info[1].As<Napi::Number>().Uint32Value());
    beat_ = std::make_unique<Beat>(mapping, stamp, info[2].As<Napi::Number>().Uint32Value());
    Ref();
  }

 private:
  Napi::Value stop(const Napi::CallbackInfo& info) {
    if (beat_) Unref();
    beat_.reset();
    return info.Env().Undefined();
  }
  std::unique_ptr<Beat> beat_;
};

}  // namespace envladder::js
