// JavaScript face of the beat. Its thread ends with `stop`, with the collection of the object, or with the environment that made it (the
// process, or one of its worker threads), whichever comes first.
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
    beat_ = std::make_shared<Beat>(mapping, stamp, info[2].As<Napi::Number>().Uint32Value());
    // A thread that outlived its environment would keep the pages, and at the end of the process nobody would join it.
    auto* hold = new std::shared_ptr<Beat>(beat_);
    info.Env().AddCleanupHook(
        [](std::shared_ptr<Beat>* held) {
          (*held)->stop();
          delete held;
        },
        hold);
  }

 private:
  Napi::Value stop(const Napi::CallbackInfo& info) {
    beat_->stop();
    return info.Env().Undefined();
  }
  std::shared_ptr<Beat> beat_;
};

}  // namespace envladder::js
