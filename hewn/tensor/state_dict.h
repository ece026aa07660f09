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

/// The first of these tensors, by name, that holds a value that is not finite; "" where none does. Waits once
/// for a device.
std::string not_finite(const std::map<std::string, at::Tensor>& tensors);

}  // namespace hewn::tensor
