#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <memory>

#include "hewn/kernels/packed.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/torch_compat.h"

namespace hewn::nn {

/// A shared pointer in the wrapping that an autograd context can keep until the backward pass.
template <class T>
struct Held : torch::CustomClassHolder {
  explicit Held(std::shared_ptr<T> value) : pointer(std::move(value)) {}
  std::shared_ptr<T> pointer;
};

template <class T>
c10::IValue hold(std::shared_ptr<T> pointer) {
  return c10::IValue::make_capsule(c10::make_intrusive<Held<T>>(std::move(pointer)));
}

template <class T>
std::shared_ptr<T> held(const c10::IValue& value) {
  return c10::static_intrusive_pointer_cast<Held<T>>(value.toCapsule())->pointer;
}

/// LibTorch's Function takes no undefined tensors.
inline TorchOptional<at::Tensor> optional_of(const at::Tensor& tensor) {
  return tensor.defined() ? TorchOptional<at::Tensor>(tensor) : TorchOptional<at::Tensor>();
}

/// Copies values into a packed weight on all threads.
inline void fill(kernels::Packed& packed, const at::Tensor& values) {
  const int64_t tiles = std::max<int64_t>(1, packed.tile_count());
  const int64_t grain =
      std::max<int64_t>(1, tensor::kGrain * tiles / std::max<int64_t>(1, packed.products()));
  at::parallel_for(0, packed.tile_count(), grain,
                   [&](int64_t begin, int64_t end) { packed.fill(values.data_ptr<float>(), begin, end); });
}

}  // namespace hewn::nn
