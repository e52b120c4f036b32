// JavaScript face of the learner's side. Outputs and per-row arrays belong to JavaScript; their addresses are taken once.
#pragma once
#include "js-block.h"
#include "reader.h"

namespace envladder::js {

class JsReader : public Napi::ObjectWrap<JsReader> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Reader",
                       {InstanceMethod("add", &JsReader::add), InstanceMethod("drop", &JsReader::drop),
                        InstanceMethod("replace", &JsReader::replace), InstanceMethod("release", &JsReader::release),
                        InstanceMethod("collect", &JsReader::collect), InstanceMethod("answer", &JsReader::answer),
                        InstanceMethod("stats", &JsReader::stats), InstanceMethod("latency", &JsReader::latency),
                        InstanceMethod("resetLatency", &JsReader::resetLatency), InstanceMethod("response", &JsReader::response),
                        InstanceMethod("lag", &JsReader::lag), InstanceMethod("nextDueMs", &JsReader::nextDueMs)});
  }
  // new Reader({batchLimit, threads, periodNs}, parts, outputs, [rowOf, reward, flags, episodeRow, episodeReturn, episodeLength, info])
  explicit JsReader(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsReader>(info) {
    const auto options = info[0].As<Napi::Object>();
    const auto jsParts = info[1].As<Napi::Array>();
    const auto jsOutputs = info[2].As<Napi::Array>();
    const auto arrays = info[3].As<Napi::Array>();
    std::vector<Part> parts;
    for (uint32_t i = 0; i < jsParts.Length(); i++) {
      const auto from = jsParts.Get(i).As<Napi::Object>();
      parts.push_back({uint32_t(count(from, "output")), Transform(count(from, "transform")), float(number(from, "scale")),
                       float(number(from, "offset")), count(from, "byteOffset"), count(from, "bytes"), uint32_t(count(from, "height")),
                       uint32_t(count(from, "width")), uint32_t(count(from, "channels"))});
    }
    std::vector<Output> outputs;
    auto keep = Napi::Array::New(info.Env());
    uint32_t kept = 0;
    keep.Set(kept++, arrays);
    for (uint32_t i = 0; i < jsOutputs.Length(); i++) {
      const auto from = jsOutputs.Get(i).As<Napi::Object>();
      keep.Set(kept++, from.Get("rows"));
      keep.Set(kept++, from.Get("finals"));
      outputs.push_back({elements<uint8_t>(from.Get("rows")), elements<uint8_t>(from.Get("finals")), count(from, "rowBytes")});
    }
    keep_ = Napi::Persistent(keep.As<Napi::Object>());
    info_ = elements<int32_t>(arrays.Get(6u));
    reader_ = std::make_unique<Reader>(
        uint32_t(count(options, "batchLimit")), unsigned(count(options, "threads")), std::move(parts), std::move(outputs),
        Reader::Arrays{elements<int32_t>(arrays.Get(0u)), elements<double>(arrays.Get(1u)), elements<uint8_t>(arrays.Get(2u)),
                       elements<int32_t>(arrays.Get(3u)), elements<double>(arrays.Get(4u)), elements<int32_t>(arrays.Get(5u))},
        count(options, "periodNs"));
  }

 private:
  // add(block, bell, planeOf): first row
  Napi::Value add(const Napi::CallbackInfo& info) {
    const auto block = JsBlock::Unwrap(info[0].As<Napi::Object>())->block;
    JsBell* bell = JsBell::Unwrap(info[1].As<Napi::Object>());
    const auto planeOf = info[2].As<Napi::Uint32Array>();
    block->keep.push_back(bell->mapping);
    return Napi::Number::New(info.Env(), reader_->add(block, bell->line, {planeOf.Data(), planeOf.Data() + planeOf.ElementLength()}));
  }
  Napi::Value drop(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), double(reader_->drop(JsBlock::Unwrap(info[0].As<Napi::Object>())->block.get())));
  }
  // replace(block, by, bell): false when the block is not read
  Napi::Value replace(const Napi::CallbackInfo& info) {
    const auto by = JsBlock::Unwrap(info[1].As<Napi::Object>())->block;
    JsBell* bell = JsBell::Unwrap(info[2].As<Napi::Object>());
    by->keep.push_back(bell->mapping);
    return Napi::Boolean::New(info.Env(), reader_->replace(JsBlock::Unwrap(info[0].As<Napi::Object>())->block.get(), by, bell->line));
  }
  // release(row): false when there is no such row
  Napi::Value release(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), reader_->release(int64_t(info[0].As<Napi::Number>().DoubleValue())));
  }
  Napi::Value collect(const Napi::CallbackInfo& info) {
    const uint32_t taken = reader_->collect(info[0].As<Napi::Number>().Uint32Value());
    info_[0] = reader_->episodeCount;
    return Napi::Number::New(info.Env(), taken);
  }
  // answer(count, rows, actions | null, actionBytes, command): -1, or the index of the first row without a frame to answer
  Napi::Value answer(const Napi::CallbackInfo& info) {
    const uint8_t* actions = info[2].IsNull() ? nullptr : elements<uint8_t>(info[2]);
    const int64_t bad = reader_->answer(info[0].As<Napi::Number>().Uint32Value(), elements<int32_t>(info[1]), actions,
                                        info[3].As<Napi::Number>().Uint32Value(), Command(info[4].As<Napi::Number>().Uint32Value()));
    return Napi::Number::New(info.Env(), double(bad));
  }
  Napi::Value stats(const Napi::CallbackInfo& info) {
    auto result = Napi::Object::New(info.Env());
    result.Set("collected", double(reader_->collected));
    result.Set("torn", double(reader_->torn));
    result.Set("outOfOrder", double(reader_->outOfOrder));
    result.Set("bytesCopied", double(reader_->bytesCopied));
    return result;
  }
  static Napi::Object pairsOf(Napi::Env env, const Histogram& histogram) {
    auto values = Napi::Array::New(env), counts = Napi::Array::New(env);
    uint32_t pairs = 0;
    for (unsigned bucket = 0; bucket < Histogram::kBuckets; bucket++) {
      if (histogram.counts[bucket] == 0) continue;
      values.Set(pairs, Histogram::midpointNs(bucket) / 1e3);
      counts.Set(pairs, double(histogram.counts[bucket]));
      pairs++;
    }
    auto result = Napi::Object::New(env);
    result.Set("valueUs", values);
    result.Set("count", counts);
    result.Set("maxUs", double(histogram.maxNs) / 1e3);
    return result;
  }
  Napi::Value latency(const Napi::CallbackInfo& info) { return pairsOf(info.Env(), reader_->latency); }
  Napi::Value response(const Napi::CallbackInfo& info) { return pairsOf(info.Env(), reader_->pace.response); }
  Napi::Value lag(const Napi::CallbackInfo& info) { return pairsOf(info.Env(), reader_->pace.lag); }
  // When the next answer that is held is to be let go, CLOCK_MONOTONIC in milliseconds; 0 = none is held
  Napi::Value nextDueMs(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), double(reader_->pace.nextNs()) / 1e6); }
  Napi::Value resetLatency(const Napi::CallbackInfo& info) {
    reader_->latency.clear();
    reader_->pace.response.clear();
    reader_->pace.lag.clear();
    return info.Env().Undefined();
  }

  std::unique_ptr<Reader> reader_;
  Napi::ObjectReference keep_;
  int32_t* info_ = nullptr;
};

}  // namespace envladder::js
