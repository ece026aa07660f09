#include "hewn/nn/trace.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include "hewn/nn/layers.h"
#include "hewn/nn/slots.h"

namespace hewn::nn {

std::vector<LayerUse> trace_layers(Model& model, const std::vector<int64_t>& input) {
  std::vector<int64_t> sizes = {1};
  sizes.insert(sizes.end(), input.begin(), input.end());
  const bool training = model.is_training();
  model.eval();
  {
    const at::NoGradGuard no_grad;
    const std::vector<at::Tensor> weights = model.parameters();
    const at::Device device = weights.empty() ? at::Device(at::kCPU) : weights.front().device();
    model.forward(at::zeros(sizes, at::TensorOptions(model.input_type()).device(device)));
  }
  model.train(training);

  std::vector<LayerUse> uses;
  for (const auto& item : model.named_modules()) {
    if (auto* linear = item.value()->as<LinearImpl>()) {
      const std::vector<int64_t>& shape = linear->input_shape();
      if (shape.empty()) continue;
      LayerUse use{item.key(), false, linear->weight.size(1), linear->weight.size(0), 1, 0, 0, {}};
      for (size_t i = 0; i + 1 < shape.size(); ++i) use.rows *= shape[i];
      uses.push_back(use);
    } else if (auto* conv = item.value()->as<Conv2dImpl>()) {
      const std::vector<int64_t>& shape = conv->input_shape();
      const auto geometry = geometry_of(*conv);
      if (shape.size() != 4 || !geometry) continue;
      uses.push_back({item.key(), true, shape[1], conv->weight.size(0), 1, shape[2], shape[3], *geometry});
    }
  }
  return uses;
}

std::vector<prune::WeightShape> traced_shapes(Model& model, const std::vector<int64_t>& input) {
  std::vector<prune::WeightShape> shapes = weight_shapes(find_slots(model));
  for (const LayerUse& use : trace_layers(model, input)) {
    for (prune::WeightShape& shape : shapes) {
      if (shape.name == use.name) shape.positions = use.positions();
    }
  }
  return shapes;
}

}  // namespace hewn::nn
