#include "hewn/flow/op/runs.h"

#include <cstring>

namespace hewn::flow {
namespace {

template <class T>
void copy_of(const Dims& dims, const Place& from, const Place& to) {
  each_run<2>(dims, {from.strides, to.strides},
              [&](int64_t, const auto& offset, int64_t length, const auto& step) {
                const T* source = static_cast<const T*>(from.data) + offset[0];
                T* target = static_cast<T*>(to.data) + offset[1];
                if (step[0] == 1 && step[1] == 1) {
                  std::memcpy(target, source, static_cast<size_t>(length) * sizeof(T));
                  return;
                }
                for (int64_t i = 0; i < length; ++i) target[i * step[1]] = source[i * step[0]];
              });
}

}  // namespace

void copy(Type type, const Dims& dims, const Place& from, const Place& to) {
  with_type(type, [&](auto element) { copy_of<decltype(element)>(dims, from, to); });
}

void copy_first(const Call& call) {
  const size_t bytes = static_cast<size_t>(call.spec(0).elements()) * size_of(call.type(0));
  if (bytes > 0) std::memcpy(call.out.at(0).data, call.at(0).data, bytes);
}

}  // namespace hewn::flow
