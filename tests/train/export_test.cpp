// An exported network computes what the LibTorch model computes.
#include "hewn/train/export.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/core/random.h"
#include "hewn/prune/gate.h"
#include "hewn/runtime/model.h"
#include "hewn/train/setup.h"
#include "tests/support/temp_folder.h"

namespace hewn::train {
namespace {

/// A network with random statistics in its batch norms, whose larger layers lose most of their blocks.
struct Sample {
  std::shared_ptr<nn::Model> model;
  std::vector<int64_t> input;
  Weights weights;

  Sample(const std::string& name, std::vector<int64_t> shape, const nn::ModelOptions& options,
         BlockShape block, double sparsity)
      : input(std::move(shape)) {
    at::manual_seed(1);
    const at::NoGradGuard no_grad;
    model = nn::find_model(name).make({input, 10}, options);
    model->eval();
    weights.block = block;
    weights.tensors = state_dict(*model);
    for (auto& [key, tensor] : weights.tensors) {
      if (key.ends_with("running_var")) tensor.uniform_(0.3, 3);
      if (key.ends_with("running_mean") || (tensor.dim() == 1 && key.ends_with("bias")))
        tensor.normal_(0, 0.5);
      if (tensor.dim() == 1 && key.ends_with("weight")) tensor.uniform_(-1, 1.5);
    }
    const prune::PlanOptions plan_options{block, sparsity, 20, {"*"}};
    const auto slots = nn::find_slots(*model);
    for (const prune::LayerPlan& layer : prune::make_plan(nn::weight_shapes(slots), plan_options).layers) {
      if (!layer.pruned) continue;
      at::Tensor active = at::zeros({layer.grid.blocks()}, at::kByte);
      for (int64_t i = 0; i < layer.grid.blocks(); ++i) {
        if (unit(draw(3, Stream::kPattern, 0, static_cast<uint64_t>(i))[0]) < sparsity) continue;
        active[i] = 1;
        weights.kept[layer.name].push_back(i);
      }
      at::Tensor& weight = weights.tensors.at(layer.name + ".weight");
      weight.copy_(prune::block_scale(weight, {}, active, prune::layout_of(weight, block)));
    }
  }
};

TEST(Export, EqualsTheLibTorchModel) {
  const std::vector<Sample> samples = {{"mlp", {1, 28, 28}, {{100, 60}, 0}, {16, 16}, 0.8},
                                       {"mlp", {17}, {{40}, 0}, {3, 5}, 0.5},
                                       {"resnet20", {3, 32, 32}, {}, {8, 8}, 0.8},
                                       {"resnet18", {3, 16, 16}, {{}, 8}, {4, 4}, 0.8},
                                       {"resnet50", {3, 66, 70}, {{}, 4}, {4, 4}, 0.7}};
  const at::NoGradGuard no_grad;
  for (const Sample& sample : samples) {
    runtime::Model model(export_model(*sample.model, image_shape(sample.input), sample.weights));
    for (const int64_t batch : {3, 40}) {
      std::vector<int64_t> shape = sample.input;
      shape.insert(shape.begin(), batch);
      const at::Tensor input = at::randn(shape);
      const at::Tensor expected = sample.model->forward(input);
      at::Tensor got = at::empty_like(expected);
      model.run(input.data_ptr<float>(), batch, got.data_ptr<float>());
      EXPECT_LT((got - expected).abs().max().item<double>(), 1e-4 * expected.abs().max().item<double>());
    }
  }
}

TEST(Export, FileOfTheDefaultMlpIsSmall) {
  const test::TempFolder folder;
  const Sample sample("mlp", {1, 28, 28}, {{1024, 1024}, 0}, {16, 16}, 0.9);
  const runtime::ModelData data = export_model(*sample.model, {1, 28, 28}, sample.weights);
  runtime::write_model(folder / "f32.hewn", data);
  runtime::write_model(folder / "bf16.hewn", data, io::DType::kBF16);
  double dense = 0;
  for (const auto& [name, tensor] : sample.weights.tensors) dense += static_cast<double>(tensor.nbytes());
  EXPECT_LT(static_cast<double>(std::filesystem::file_size(folder / "f32.hewn")), 0.13 * dense);
  EXPECT_LT(static_cast<double>(std::filesystem::file_size(folder / "bf16.hewn")), 0.07 * dense);

  const at::NoGradGuard no_grad;
  const at::Tensor input = at::randn({5, 1, 28, 28});
  const at::Tensor expected = sample.model->forward(input);
  at::Tensor got = at::empty_like(expected);
  runtime::Model::load(folder / "bf16.hewn").run(input.data_ptr<float>(), 5, got.data_ptr<float>());
  EXPECT_LT((got - expected).abs().max().item<double>(), 0.02 * expected.abs().max().item<double>());
}

class Unknown final : public nn::Model {
 public:
  at::Tensor forward(const at::Tensor& input) override { return input; }
};

TEST(Export, SaysWhatCannotBeExported) {
  EXPECT_THROW(export_model(Unknown(), {1, 1, 1}, {}), Error);
  Sample sample("mlp", {64}, {{64}, 0}, {8, 8}, 0.5);
  const auto kept = sample.weights.kept;
  sample.weights.kept["fc1"].pop_back();  // this block is not zero
  EXPECT_THROW(export_model(*sample.model, {64, 1, 1}, sample.weights), Error);
  sample.weights.kept = kept;
  sample.weights.kept["fc1"].push_back(64);
  EXPECT_THROW(export_model(*sample.model, {64, 1, 1}, sample.weights), Error);
  sample.weights.kept = kept;
  sample.weights.tensors.erase("fc1.weight");
  EXPECT_THROW(export_model(*sample.model, {64, 1, 1}, sample.weights), Error);
  EXPECT_THROW(image_shape({3, 4}), Error);
}

}  // namespace
}  // namespace hewn::train
