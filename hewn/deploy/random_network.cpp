#include "hewn/deploy/random_network.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include "hewn/deploy/export.h"
#include "hewn/measure/pattern.h"
#include "hewn/nn/slots.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/support.h"
#include "hewn/run/options.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/network.h"

namespace hewn::deploy {
namespace {

constexpr int64_t kVocabulary = 1000;

/// New batch norms change next to nothing: with these values a mistake in folding them would show.
void draw_statistics(std::map<std::string, at::Tensor>& tensors, uint64_t seed) {
  uint64_t what = 0;
  for (auto& [name, tensor] : tensors) {
    if (tensor.dim() != 1 || !tensor.is_floating_point()) continue;
    measure::fill_random(tensor.data_ptr<float>(), tensor.numel(), seed, ++what);
    tensor.mul_(0.2);
    if (name.ends_with("running_var") || name.ends_with("weight")) tensor.add_(1);
  }
}

std::shared_ptr<nn::Model> copy_channels_last(const run::Options& options, const nn::Signature& signature,
                                              const std::map<std::string, at::Tensor>& tensors) {
  auto copy = train::build_model(options, signature);
  copy->eval();
  bool images = false;
  for (auto& [name, tensor] : tensor::state_dict(*copy)) tensor.copy_(tensors.at(name));
  for (at::Tensor& parameter : copy->parameters()) {
    if (parameter.dim() != 4) continue;
    parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
    images = true;
  }
  return images ? copy : nullptr;
}

}  // namespace

prune::Plan network_plan(const run::Options& options, const nn::Signature& signature) {
  const auto model = train::build_model(options, signature);
  return prune::make_plan(nn::weight_shapes(nn::find_slots(*model)), plan_options(options.prune));
}

RandomNetwork random_network(const run::Options& options, const nn::Signature& given) {
  const at::NoGradGuard no_grad;
  nn::Signature signature = given;
  if (signature.takes == nn::Takes::kClicks && signature.vocabularies.empty()) {
    signature.vocabularies.assign(static_cast<size_t>(signature.input.at(0)), kVocabulary);
  }
  RandomNetwork out;
  out.model = train::build_model(options, signature);
  out.model->eval();
  auto seed = static_cast<uint64_t>(options.seed);
  Weights weights{tensor::state_dict(*out.model), {}};
  draw_statistics(weights.tensors, seed);
  const auto slots = nn::find_slots(*out.model);
  for (const prune::LayerPlan& layer :
       prune::make_plan(nn::weight_shapes(slots), plan_options(options.prune)).layers) {
    if (!layer.pruned) continue;
    const auto kept =
        LayerBlocks::of_flags(layer.grid, measure::random_support(layer.grid, layer.keep, ++seed));
    const at::Tensor active = prune::support_of(weights.blocks[layer.name] = kept);
    at::Tensor& weight = weights.tensors.at(layer.name + ".weight");
    weight.copy_(prune::block_scale(weight, {}, active, prune::layout_on(weight, layer.grid)));
  }
  out.data = export_model(out.model->graph(image_shape(signature.input)), weights);
  out.data.model = options.model;
  out.model_channels_last = copy_channels_last(options, signature, weights.tensors);
  return out;
}

measure::MoreWays model_ways(const RandomNetwork& network) {
  return [plain = network.model, last = network.model_channels_last](const at::Tensor& samples) {
    const at::Tensor own =
        plain->input_type() == at::kInt ? samples.flatten(1).to(at::kInt) : samples;  // numbers of values
    std::vector<measure::Contender> out = {
        {last ? "model, NCHW" : "model", [plain, own] { plain->forward(own); }}};
    if (!last) return out;
    const at::Tensor input = samples.contiguous(at::MemoryFormat::ChannelsLast);
    out.push_back({"model, channels last", [last, input] { last->forward(input); }});
    return out;
  };
}

}  // namespace hewn::deploy
