#include "hewn/tensor/state_dict.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>
#include <torch/nn/module.h>

#include <cmath>

namespace hewn::tensor {

std::map<std::string, at::Tensor> state_dict(const torch::nn::Module& module) {
  std::map<std::string, at::Tensor> out;
  for (const auto& item : module.named_parameters()) out[item.key()] = item.value();
  for (const auto& item : module.named_buffers()) out[item.key()] = item.value();
  return out;
}

std::string not_finite(const std::map<std::string, at::Tensor>& tensors) {
  const at::NoGradGuard no_grad;
  at::Tensor sum;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.is_floating_point() || tensor.numel() == 0) continue;
    const at::Tensor own = tensor.sum(at::kDouble);
    sum = sum.defined() ? sum + own : own;
  }
  if (!sum.defined() || std::isfinite(sum.item<double>())) return "";
  for (const auto& [name, tensor] : tensors) {
    if (tensor.is_floating_point() && !at::isfinite(tensor).all().item<bool>()) return name;
  }
  return "";
}

}  // namespace hewn::tensor
