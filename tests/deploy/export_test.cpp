// An exported network computes what the LibTorch model computes.
#include "hewn/deploy/export.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/core/random.h"
#include "hewn/deploy/smaller/shrink.h"
#include "hewn/nn/model.h"
#include "hewn/nn/slots.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/support.h"
#include "hewn/run/config.h"
#include "hewn/run/summary.h"
#include "hewn/runtime/model.h"
#include "hewn/save.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/tensor/tensor_file.h"
#include "tests/support/temp_folder.h"

namespace hewn::deploy {
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
    weights.tensors = tensor::state_dict(*model);
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
      }
      weights.blocks[layer.name] = prune::blocks_of(layer.grid, active);
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
  int64_t units = 0;
  for (const Sample& sample : samples) {
    runtime::ModelData data = export_model(sample.model->graph(image_shape(sample.input)), sample.weights);
    runtime::Model model(data);
    const int64_t floats = report_on(data).bytes_dense / 4;
    const flow::Shrunk removed = shrink(data, sample.input, sample.weights.blocks);
    EXPECT_EQ(report_on(data).bytes_dense / 4, floats - removed.weights - removed.units);
    units += removed.units;
    runtime::Model smaller(data);
    for (const int64_t batch : {3, 40}) {
      std::vector<int64_t> shape = sample.input;
      shape.insert(shape.begin(), batch);
      const at::Tensor input = at::randn(shape);
      const at::Tensor expected = sample.model->forward(input);
      at::Tensor got = at::empty_like(expected);
      model.run(input.data_ptr<float>(), batch, got.data_ptr<float>());
      EXPECT_LT((got - expected).abs().max().item<double>(), 1e-4 * expected.abs().max().item<double>());
      smaller.run(input.data_ptr<float>(), batch, got.data_ptr<float>());
      EXPECT_LT((got - expected).abs().max().item<double>(), 1e-4 * expected.abs().max().item<double>());
    }
  }
  EXPECT_GT(units, 0);
}

TEST(Export, FileOfTheDefaultMlpIsSmall) {
  const test::TempFolder folder;
  const Sample sample("mlp", {1, 28, 28}, {{1024, 1024}, 0}, {16, 16}, 0.9);
  const runtime::ModelData data = export_model(sample.model->graph({1, 28, 28}), sample.weights);
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

/// A click model whose larger layers lose most of their blocks; tables as after some training.
struct ClickSample {
  nn::Signature signature{{4}, 1, nn::Takes::kClicks, {3, 1, 200, 17}};
  std::shared_ptr<nn::Model> model;
  Weights weights;

  ClickSample() {
    at::manual_seed(2);
    const at::NoGradGuard no_grad;
    model = nn::find_model("ctr-dnn").make(signature, {{40, 24}, 0, 6});
    model->eval();
    weights.tensors = tensor::state_dict(*model);
    weights.tensors.at("embedding.weight").normal_(0, 1);
    at::Tensor& weight = weights.tensors.at("fc1.weight");
    const at::Tensor active = (at::arange(60) % 3 == 0).to(at::kByte);
    weight.copy_(prune::block_scale(weight, {}, active, prune::layout_of(weight, BlockShape{4, 4})));
    weights.blocks["fc1"] = prune::blocks_of({24, 40, {4, 4}}, active);
  }
};

TEST(Export, ClickModelEqualsTheLibTorchModel) {
  const test::TempFolder folder;
  const at::NoGradGuard no_grad;
  const ClickSample sample;
  const runtime::ModelData data =
      export_model(sample.model->graph(image_shape(sample.signature.input)), sample.weights);
  EXPECT_EQ(data.layers.at("fc1").pattern.kept(), 20);
  runtime::write_model(folder / "f32.hewn", data);
  runtime::write_model(folder / "bf16.hewn", data, io::DType::kBF16);
  std::vector<at::Tensor> fields;
  for (const int64_t size : sample.signature.vocabularies) {
    fields.push_back(at::randint(size, {70}, at::kInt));
  }
  const at::Tensor values = at::stack(fields, 1);
  const at::Tensor input = values.to(at::kFloat).contiguous();
  const at::Tensor expected = sample.model->forward(values);
  at::Tensor got = at::empty_like(expected);
  const auto off_by = [&](const char* file) {
    runtime::Model::load(folder / file).run(input.data_ptr<float>(), 70, got.data_ptr<float>());
    return (got - expected).abs().max().item<double>() / expected.abs().max().item<double>();
  };
  EXPECT_LT(off_by("f32.hewn"), 1e-5);
  EXPECT_LT(off_by("bf16.hewn"), 0.02);
}

TEST(Export, RunOfAClickModelListsItsTable) {
  const test::TempFolder folder;
  const ClickSample sample;
  const run::Folder run{folder / "run"};
  std::filesystem::create_directories(run.path);
  run::Options options;
  options.model = "ctr-dnn";
  options.widths = {40, 24};
  options.embedding = 6;
  options.prune.block = {4, 4};
  run::write_config(run, {options, 1, sample.signature, "test"});
  run::write_summary(run.summary(), {});
  save(*sample.model, sample.weights.blocks, run.model());
  for (const io::DType type : {io::DType::kF32, io::DType::kBF16}) {
    const ExportReport report = export_run(run, folder / "m.hewn", type);
    ASSERT_EQ(report.layers.size(), 4U);
    const ExportedLayer& table = report.layers.front();
    EXPECT_EQ(table.name, "embedding");
    EXPECT_FALSE(table.pruned);
    EXPECT_EQ(table.grid.rows, 221);
    EXPECT_EQ(table.grid.cols, 6);
    EXPECT_EQ(table.bytes, 221 * 6 * (type == io::DType::kF32 ? 4 : 2));
    EXPECT_EQ(table.bytes_dense, 221 * 6 * 4);
    EXPECT_TRUE(report.layers[1].pruned);
    EXPECT_EQ(report.bytes_dense, 4 * (221 * 6 + 24 * 40 + 40 + 40 * 24 + 24 + 24 + 1));
    const runtime::Model model = runtime::Model::load(folder / "m.hewn");
    EXPECT_EQ(model.vocabularies(), sample.signature.vocabularies);
    EXPECT_EQ(model.input_shape(), (std::array<int64_t, 3>{4, 1, 1}));
  }
}

TEST(Export, TablesThatDoNotFitAreRefused) {
  ClickSample sample;
  sample.weights.tensors["embedding.weight"] = at::zeros({220, 6});
  EXPECT_THROW(export_model(sample.model->graph({4, 1, 1}), sample.weights), Error);
  sample.weights.tensors.erase("embedding.weight");
  EXPECT_THROW(export_model(sample.model->graph({4, 1, 1}), sample.weights), Error);
}

class Unknown final : public nn::Model {
 public:
  at::Tensor forward(const at::Tensor& input) override { return input; }
};

TEST(Export, SaysWhatCannotBeExported) {
  EXPECT_THROW(Unknown().graph({1, 1, 1}), Error);
  Sample sample("mlp", {64}, {{64}, 0}, {8, 8}, 0.5);
  const LayerBlocks kept = sample.weights.blocks.at("fc1");
  std::vector<int64_t> fewer = kept.indices();
  fewer.pop_back();  // this block is not zero
  sample.weights.blocks["fc1"] = {kept.grid(), fewer};
  EXPECT_THROW(export_model(sample.model->graph({64, 1, 1}), sample.weights), Error);
  sample.weights.blocks["fc1"] = LayerBlocks::all_of({64, 32, {8, 8}});
  EXPECT_THROW(export_model(sample.model->graph({64, 1, 1}), sample.weights), Error);
  sample.weights.blocks["fc1"] = kept;
  sample.weights.tensors.erase("fc1.weight");
  EXPECT_THROW(export_model(sample.model->graph({64, 1, 1}), sample.weights), Error);
  EXPECT_THROW(image_shape({3, 4}), Error);
}

}  // namespace
}  // namespace hewn::deploy
