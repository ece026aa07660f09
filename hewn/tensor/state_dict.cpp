#include "hewn/tensor/state_dict.h"

#include <torch/nn/module.h>

namespace hewn::tensor {

std::map<std::string, at::Tensor> state_dict(const torch::nn::Module& module) {
  std::map<std::string, at::Tensor> out;
  for (const auto& item : module.named_parameters()) out[item.key()] = item.value();
  for (const auto& item : module.named_buffers()) out[item.key()] = item.value();
  return out;
}

}  // namespace hewn::tensor
