// JavaScript face of a block: its geometry, and the calls that need no role (scan, fence, peek).
#pragma once
#include "block.h"
#include "js-mapping.h"
#include "peek.h"
#include "take-over.h"

namespace envladder::js {

class JsBlock : public Napi::ObjectWrap<JsBlock> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Block", {InstanceMethod("scan", &JsBlock::scan), InstanceMethod("fence", &JsBlock::fence),
                                      InstanceMethod("peek", &JsBlock::peek), InstanceMethod("seq", &JsBlock::seq),
                                      InstanceMethod("takeOver", &JsBlock::takeOver)});
  }
  // new Block(shape, controlMapping, [{mapping, finals?, dtype, elements}]); offsets in `shape` are relative to the control mapping.
  explicit JsBlock(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsBlock>(info), block(std::make_shared<Block>()) {
    const auto shape = info[0].As<Napi::Object>();
    const auto control = JsMapping::Unwrap(info[1].As<Napi::Object>())->mapping;
    block->slots = uint32_t(count(shape, "slots"));
    block->cells = uint32_t(count(shape, "cells"));
    block->autoreset = Autoreset(count(shape, "autoreset"));
    block->actionBytes = uint32_t(count(shape, "actionBytes"));
    block->recordStride = count(shape, "recordStride");
    block->actionStride = count(shape, "actionStride");
    block->writers = reinterpret_cast<WriterLine*>(control->base + count(shape, "writerOffset"));
    block->readers = reinterpret_cast<ReaderLine*>(control->base + count(shape, "readerOffset"));
    block->records = control->base + count(shape, "recordOffset");
    block->actions = control->base + count(shape, "actionOffset");
    block->keep.push_back(control);
    const auto planes = info[2].As<Napi::Array>();
    for (uint32_t i = 0; i < planes.Length(); i++) {
      const auto from = planes.Get(i).As<Napi::Object>();
      Plane plane;
      plane.dtype = Dtype(count(from, "dtype"));
      plane.elements = count(from, "elements");
      plane.cellBytes = plane.elements * dtypeBytes(plane.dtype);
      plane.base = hold(from.Get("mapping"));
      if (from.Get("finals").IsObject()) plane.finals = hold(from.Get("finals"));
      block->planes.push_back(plane);
    }
  }
  std::shared_ptr<Block> block;

 private:
  uint8_t* hold(const Napi::Value& value) {
    block->keep.push_back(JsMapping::Unwrap(value.As<Napi::Object>())->mapping);
    return block->keep.back()->base;
  }
  Napi::Value scan(const Napi::CallbackInfo& info) {
    const Scan found = scanBlock(*block);
    auto result = Napi::Object::New(info.Env());
    result.Set("published", double(found.published));
    result.Set("taken", double(found.taken));
    result.Set("live", double(found.live));
    result.Set("quarantined", double(found.quarantined));
    return result;
  }
  // fence(epoch): false when a slot belongs to a newer epoch already
  Napi::Value fence(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), fenceBlock(*block, uint64_t(info[0].As<Napi::Number>().DoubleValue())));
  }
  // takeOver(old, epoch): false when a slot of `old` belongs to a newer epoch already
  Napi::Value takeOver(const Napi::CallbackInfo& info) {
    const auto old = JsBlock::Unwrap(info[0].As<Napi::Object>())->block;
    return Napi::Boolean::New(info.Env(), takeOverBlock(*block, *old, uint64_t(info[1].As<Napi::Number>().DoubleValue())));
  }
  // peek(slot, plane, into, tries): seq, or 0
  Napi::Value peek(const Napi::CallbackInfo& info) {
    uint64_t torn = 0;
    const uint64_t word = peekCell(*block, info[0].As<Napi::Number>().Uint32Value(), block->planes[info[1].As<Napi::Number>().Uint32Value()],
                                   elements<uint8_t>(info[2]), info[3].As<Napi::Number>().Int32Value(), torn);
    return Napi::Number::New(info.Env(), double(seqOf(word)));
  }
  Napi::Value seq(const Napi::CallbackInfo& info) {
    const uint32_t slot = info[0].As<Napi::Number>().Uint32Value();
    // SYNC: acquire pairs with the release CAS of P in Writer::store: who sees this number may read that frame's cell through a view.
    return Napi::Number::New(info.Env(), double(seqOf(block->writers[slot].published.load(std::memory_order_acquire))));
  }
};

}  // namespace envladder::js
