// Small shared pieces of the JavaScript face: errors with a code, reading numbers and typed arrays. No logic of the data path.
#pragma once
#include <napi.h>

#include <string>

namespace envladder::js {

// Throws a JavaScript Error with `code`; harness/memory turns it into an EnvladderError.
inline Napi::Value fail(Napi::Env env, const char* code, const std::string& message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", Napi::String::New(env, code));
  error.ThrowAsJavaScriptException();
  return env.Undefined();
}

inline double number(const Napi::Object& from, const char* key) { return from.Get(key).As<Napi::Number>().DoubleValue(); }
inline uint64_t count(const Napi::Object& from, const char* key) { return uint64_t(number(from, key)); }

// First byte of a typed array. The caller keeps the array alive for as long as it uses the address.
template <class T>
T* elements(const Napi::Value& value) {
  auto array = value.As<Napi::TypedArray>();
  return reinterpret_cast<T*>(static_cast<uint8_t*>(array.ArrayBuffer().Data()) + array.ByteOffset());
}

}  // namespace envladder::js
