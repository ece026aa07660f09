#pragma once

#include <ATen/core/ivalue.h>

#include <utility>

namespace hewn::nn {

/// A value in the wrapping that an autograd context can keep until the backward pass.
template <class T>
struct Held : torch::CustomClassHolder {
  explicit Held(T given) : value(std::move(given)) {}
  T value;
};

template <class T>
c10::IValue hold(T value) {
  return c10::IValue::make_capsule(c10::make_intrusive<Held<T>>(std::move(value)));
}

template <class T>
T held(const c10::IValue& wrapped) {
  return c10::static_intrusive_pointer_cast<Held<T>>(wrapped.toCapsule())->value;
}

}  // namespace hewn::nn
