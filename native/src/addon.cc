// What JavaScript sees of the native data path. Exports only; each idea has its own header.
#include "js-beat.h"
#include "js-block.h"
#include "js-claims.h"
#include "js-mapping.h"
#include "js-process.h"
#include "js-reader.h"
#include "js-schedule.h"
#include "js-writer.h"

static Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  using namespace envladder::js;
  exports.Set("Mapping", JsMapping::define(env));
  exports.Set("Bell", JsBell::define(env));
  exports.Set("Block", JsBlock::define(env));
  exports.Set("Writer", JsWriter::define(env));
  exports.Set("Reader", JsReader::define(env));
  exports.Set("Beat", JsBeat::define(env));
  exports.Set("createObject", Napi::Function::New(env, jsCreateObject));
  exports.Set("allocateRange", Napi::Function::New(env, jsAllocateRange));
  exports.Set("monotonicNs", Napi::Function::New(env, jsMonotonicNs));
  exports.Set("dieWithParent", Napi::Function::New(env, jsDieWithParent));
  exports.Set("confirmDeath", Napi::Function::New(env, jsConfirmDeath));
  exports.Set("setAffinity", Napi::Function::New(env, jsSetAffinity));
  exports.Set("getAffinity", Napi::Function::New(env, jsGetAffinity));
  exports.Set("setNice", Napi::Function::New(env, jsSetNice));
  exports.Set("getNice", Napi::Function::New(env, jsGetNice));
  exports.Set("setScheduler", Napi::Function::New(env, jsSetScheduler));
  exports.Set("getScheduler", Napi::Function::New(env, jsGetScheduler));
  exports.Set("memcpyRows", Napi::Function::New(env, jsMemcpyRows));
  exports.Set("duelOverWord", Napi::Function::New(env, jsDuelOverWord));
  exports.Set("timeRoundTrips", Napi::Function::New(env, jsTimeRoundTrips));
  exports.Set("sharedOffsets", Napi::Function::New(env, jsSharedOffsets));
  return exports;
}

NODE_API_MODULE(envladder, initialise)
