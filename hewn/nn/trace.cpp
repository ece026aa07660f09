#include "hewn/nn/trace.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>

#include <map>

#include "hewn/nn/layers.h"

namespace hewn::nn {
namespace {

/// The first input seen beside each weight, by where the weight lies in memory. LibTorch calls an operator
/// with (input, weight), or a transposed view of the weight, in this order.
using Seen = std::map<const void*, std::vector<int64_t>>;
thread_local Seen* t_seen = nullptr;

std::unique_ptr<at::ObserverContext> look(const at::RecordFunction& call) {
  const auto inputs = call.inputs();
  for (size_t i = 1; t_seen != nullptr && i < inputs.size(); ++i) {
    if (!inputs[i].isTensor() || !inputs[i - 1].isTensor()) continue;
    const at::Tensor& weight = inputs[i].toTensor();
    const at::Tensor& input = inputs[i - 1].toTensor();
    if (!weight.defined() || !input.defined() || !weight.has_storage()) continue;
    const auto place = t_seen->find(weight.data_ptr());
    if (place != t_seen->end() && place->second.empty()) place->second = input.sizes().vec();
  }
  return nullptr;
}

/// Listens to this thread's operators while it lives.
class Listener {
 public:
  explicit Listener(Seen& seen) {
    t_seen = &seen;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(look).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  ~Listener() {
    at::removeCallback(handle_);
    t_seen = nullptr;
  }
  Listener(const Listener&) = delete;

 private:
  at::CallbackHandle handle_;
};

}  // namespace

std::vector<LayerUse> trace_layers(Model& model, const std::vector<int64_t>& input) {
  Seen seen;
  for (const auto& item : model.named_modules()) {
    if (auto* linear = item.value()->as<torch::nn::LinearImpl>()) seen[linear->weight.data_ptr()];
    if (auto* conv = item.value()->as<torch::nn::Conv2dImpl>()) seen[conv->weight.data_ptr()];
  }
  std::vector<int64_t> sizes = {1};
  sizes.insert(sizes.end(), input.begin(), input.end());
  const bool training = model.is_training();
  model.eval();
  {
    const at::NoGradGuard no_grad;
    const Listener listener(seen);
    model.forward(at::zeros(sizes));
  }
  model.train(training);

  std::vector<LayerUse> uses;
  for (const auto& item : model.named_modules()) {
    if (auto* linear = item.value()->as<torch::nn::LinearImpl>()) {
      const std::vector<int64_t>& shape = seen.at(linear->weight.data_ptr());
      if (shape.empty()) continue;
      LayerUse use{item.key(), false, linear->weight.size(1), linear->weight.size(0), 1, 0, 0, {}};
      for (size_t i = 0; i + 1 < shape.size(); ++i) use.rows *= shape[i];
      uses.push_back(use);
    } else if (auto* conv = item.value()->as<torch::nn::Conv2dImpl>()) {
      const std::vector<int64_t>& shape = seen.at(conv->weight.data_ptr());
      const auto geometry = geometry_of(*conv);
      if (shape.size() != 4 || !geometry) continue;
      uses.push_back({item.key(), true, shape[1], conv->weight.size(0), 1, shape[2], shape[3], *geometry});
    }
  }
  return uses;
}

}  // namespace hewn::nn
