#pragma once

#include <ATen/core/Tensor.h>

#include <mutex>

namespace hewn::tensor {

/// Memory for tensors of one shape that are made anew in every step: that of the last one, once nobody else
/// holds it. Large ones would come from the system each time, and fresh pages cost more than filling them.
class Reused {
 public:
  /// A tensor on the CPU like this one, its values undefined.
  at::Tensor like(const at::Tensor& pattern);

 private:
  std::mutex guard_;
  at::Tensor last_;
};

}  // namespace hewn::tensor
