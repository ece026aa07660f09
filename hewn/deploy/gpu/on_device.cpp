#include "hewn/deploy/gpu/on_device.h"

#include <ATen/Context.h>

#include "hewn/deploy/export.h"
#include "hewn/deploy/gpu/network.h"
#include "hewn/export.h"
#include "hewn/nn/slots.h"
#include "hewn/prune/execution.h"
#include "hewn/prune/support.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/network.h"

namespace hewn::deploy {
namespace {

/// A network that its graph has words for.
class Fused final : public nn::Model {
 public:
  Fused(const runtime::ModelData& model, const FusedOptions& options) : network_(model, options) {}
  at::Tensor forward(const at::Tensor& input) override {
    return network_.run(network_.prepare(input)).to(at::kFloat);
  }
  const FusedNetwork& network() const { return network_; }

 private:
  FusedNetwork network_;
};

/// Any other: its own forward pass in that precision.
class InPrecision final : public nn::Model {
 public:
  InPrecision(std::shared_ptr<nn::Model> model, train::Precision precision, c10::Device device)
      : model_(register_module("model", std::move(model))), precision_(precision), device_(device) {}
  at::Tensor forward(const at::Tensor& input) override {
    const train::Autocast autocast(precision_, device_);
    return model_->forward(input).to(at::kFloat);
  }
  at::ScalarType input_type() const override { return model_->input_type(); }

 private:
  std::shared_ptr<nn::Model> model_;
  train::Precision precision_;
  c10::Device device_;
};

/// Tells the layers of a network that is on a GPU which blocks to run on. Returns the names of those that
/// will.
std::vector<std::string> run_on_kept(nn::Model& model, const Blocks& blocks) {
  std::vector<std::string> told;
  for (const prune::WeightSlot& slot : nn::find_slots(model)) {
    const auto found = blocks.find(slot.name);
    if (found == blocks.end() || !slot.set_kept) continue;
    const Grid& grid = found->second.grid();
    const double limit = slot.leaf.dim() == 4 ? prune::usual_conv_inference_limit_on_device(grid)
                                              : prune::usual_inference_limit_on_device(grid);
    const double density = found->second.density();
    if (density > limit || !slot.takes_kept(grid)) continue;
    const at::Tensor support = prune::support_of(found->second).to(slot.leaf.device());
    slot.set_kept(std::make_shared<const prune::KeptBlocks>(prune::KeptBlocks{grid, support, density}));
    told.push_back(slot.name);
  }
  return told;
}

}  // namespace

OnDevice move_trained(const std::shared_ptr<nn::Model>& model, const std::vector<int64_t>& input,
                      const Blocks& blocks, c10::Device device, train::Precision precision) {
  const bool bf16 = precision == train::Precision::kBf16;
  if (!device.is_cuda() || !(bf16 || at::globalContext().allowTF32CuBLAS())) {
    train::move_to(*model, device, /*cudnn_benchmark=*/false);
    return {model, {}};
  }
  if (model->flow_graph()) {
    train::move_to(*model, device, /*cudnn_benchmark=*/false);
    std::vector<std::string> told = run_on_kept(*model, blocks);
    return {std::make_shared<InPrecision>(model, precision, device), std::move(told)};
  }
  const runtime::ModelData data =
      export_model(model->graph(image_shape(input)), {tensor::state_dict(*model), blocks});
  at::globalContext().setDeterministicCuDNN(true);
  const FusedOptions options{device, bf16 ? at::kBFloat16 : at::kFloat, KeptLayers::kByRule};
  const auto fused = std::make_shared<Fused>(data, options);
  return {fused, fused->network().on_kept_blocks()};
}

}  // namespace hewn::deploy
