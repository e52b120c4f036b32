// JavaScript face of the worker's side. Counts that a call produces land in `info`: [runs, resets, breaches, retired].
#pragma once
#include "js-block.h"
#include "writer.h"

namespace envladder::js {

class JsWriter : public Napi::ObjectWrap<JsWriter> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Writer",
                       {InstanceMethod("activate", &JsWriter::activate), InstanceMethod("claim", &JsWriter::claim),
                        InstanceMethod("defer", &JsWriter::defer), InstanceMethod("publish", &JsWriter::publish),
                        InstanceMethod("quarantine", &JsWriter::quarantine), InstanceMethod("park", &JsWriter::park),
                        InstanceMethod("unpark", &JsWriter::unpark), InstanceMethod("release", &JsWriter::release),
                        InstanceMethod("keepFinal", &JsWriter::keepFinal), InstanceMethod("wasAbandoned", &JsWriter::wasAbandoned),
                        InstanceMethod("breaches", &JsWriter::breaches), InstanceMethod("fenced", &JsWriter::fenced)});
  }
  // new Writer(block, epoch, [{low, high, needed}], [cell, reward, flags, runs, resets, info])
  explicit JsWriter(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsWriter>(info) {
    block_ = JsBlock::Unwrap(info[0].As<Napi::Object>())->block;
    const auto bounds = info[2].As<Napi::Array>();
    std::vector<KeyBounds> keys;
    for (uint32_t i = 0; i < bounds.Length(); i++) {
      const auto from = bounds.Get(i).As<Napi::Object>();
      KeyBounds key;
      key.low = numbers(from.Get("low"));
      key.high = numbers(from.Get("high"));
      key.needed = from.Get("needed").As<Napi::Boolean>();
      keys.push_back(std::move(key));
    }
    const auto arrays = info[3].As<Napi::Array>();
    keep_ = Napi::Persistent(arrays.As<Napi::Object>());
    info_ = elements<int32_t>(arrays.Get(5u));
    writer_ = std::make_unique<Writer>(
        *block_, uint64_t(info[1].As<Napi::Number>().DoubleValue()), std::move(keys),
        Writer::Arrays{elements<uint32_t>(arrays.Get(0u)), elements<double>(arrays.Get(1u)), elements<uint8_t>(arrays.Get(2u)),
                       elements<int32_t>(arrays.Get(3u)), elements<int32_t>(arrays.Get(4u))});
  }

 private:
  static std::vector<double> numbers(const Napi::Value& value) {
    const auto array = value.As<Napi::TypedArray>();
    const double* from = elements<double>(value);
    return {from, from + array.ElementLength()};
  }
  static uint32_t slot(const Napi::CallbackInfo& info) { return info[0].As<Napi::Number>().Uint32Value(); }
  Napi::Value result(const Napi::CallbackInfo& info, int value) { return Napi::Number::New(info.Env(), value); }

  Napi::Value activate(const Napi::CallbackInfo& info) {
    writer_->activate(slot(info));
    return info.Env().Undefined();
  }
  Napi::Value defer(const Napi::CallbackInfo& info) {
    writer_->defer(slot(info), uint8_t(info[1].As<Napi::Number>().Uint32Value()));
    return info.Env().Undefined();
  }
  Napi::Value claim(const Napi::CallbackInfo& info) {
    int retired = 0;
    const int claimed = writer_->claim(slot(info), retired);
    info_[0] = writer_->runCount;
    info_[1] = writer_->resetCount;
    info_[3] = retired;
    return result(info, claimed);
  }
  Napi::Value publish(const Napi::CallbackInfo& info) {
    const int published = writer_->publish(Check(slot(info)));
    info_[2] = int32_t(writer_->breaches.size());
    return result(info, published);
  }
  Napi::Value quarantine(const Napi::CallbackInfo& info) { return result(info, writer_->quarantine(slot(info))); }
  Napi::Value park(const Napi::CallbackInfo& info) {
    writer_->park(slot(info));
    return info.Env().Undefined();
  }
  Napi::Value unpark(const Napi::CallbackInfo& info) {
    writer_->unpark(slot(info));
    return info.Env().Undefined();
  }
  Napi::Value release(const Napi::CallbackInfo& info) {
    writer_->release(slot(info));
    return info.Env().Undefined();
  }
  Napi::Value keepFinal(const Napi::CallbackInfo& info) {
    writer_->keepFinal(slot(info));
    return info.Env().Undefined();
  }
  Napi::Value wasAbandoned(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), writer_->wasAbandoned(slot(info)));
  }
  Napi::Value fenced(const Napi::CallbackInfo& info) { return Napi::Boolean::New(info.Env(), writer_->fenced()); }
  // breaches(): flat [slot, plane, element, value, finite] per refused frame
  Napi::Value breaches(const Napi::CallbackInfo& info) {
    auto list = Napi::Array::New(info.Env());
    uint32_t at = 0;
    for (const Breach& breach : writer_->breaches) {
      for (const double value : {double(breach.slot), double(breach.plane), double(breach.element), breach.value, double(breach.finite)}) {
        list.Set(at++, value);
      }
    }
    return list;
  }

  std::shared_ptr<Block> block_;
  std::unique_ptr<Writer> writer_;
  Napi::ObjectReference keep_;
  int32_t* info_ = nullptr;
};

}  // namespace envladder::js
