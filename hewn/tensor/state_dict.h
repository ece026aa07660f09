#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace torch::nn {
class Module;
}

namespace hewn::tensor {

/// Parameters and buffers by name: what a state dict holds. Tensors are shared.
std::map<std::string, at::Tensor> state_dict(const torch::nn::Module& module);

}  // namespace hewn::tensor
