// A randomly pruned network is the same network as LibTorch model, channels-last copy and exported data.
#include "hewn/deploy/random_network.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/deploy/export.h"
#include "hewn/run/options.h"
#include "hewn/runtime/model.h"
#include "hewn/train/network.h"
#include "tests/support/temp_folder.h"

namespace hewn::deploy {
namespace {

run::Options small(const std::string& model) {
  run::Options options;
  options.model = model;
  options.widths = {64, 48};
  options.width = 8;
  options.prune.block = {4, 4};
  options.prune.sparsity = 0.8;
  options.prune.min_blocks = 20;
  return options;
}

TEST(RandomNetwork, AllFormsComputeTheSame) {
  const at::NoGradGuard no_grad;
  for (const char* name : {"mlp", "resnet18", "resnet20"}) {
    const nn::Signature signature = train::signature_for(name, "cifar10");
    const RandomNetwork network = random_network(small(name), signature);
    const at::Tensor samples = at::randn({3, 3, 32, 32});
    const at::Tensor expected = network.model->forward(samples);
    const double scale = expected.abs().max().item<double>();
    runtime::Model model(network.data);
    at::Tensor got = at::empty_like(expected);
    model.run(samples.data_ptr<float>(), 3, got.data_ptr<float>());
    EXPECT_LT((got - expected).abs().max().item<double>(), 1e-4 * scale) << name;
    EXPECT_EQ(network.model_channels_last == nullptr, std::string(name) == "mlp");
    EXPECT_EQ(model_ways(network)(samples).size(), network.model_channels_last ? 2U : 1U);
    if (!network.model_channels_last) continue;
    const at::Tensor last =
        network.model_channels_last->forward(samples.contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_LT((last - expected).abs().max().item<double>(), 1e-4 * scale) << name;
  }
}

TEST(RandomNetwork, ClickModelsLookUpValues) {
  const at::NoGradGuard no_grad;
  run::Options options = small("ctr-dnn");
  options.prune.layers = {"fc1"};
  nn::Signature signature{{5}, 1, nn::Takes::kClicks, {}};
  EXPECT_EQ(runtime::Model(random_network(options, signature).data).vocabularies(),
            std::vector<int64_t>(5, 1000));
  signature.vocabularies = {3, 1, 50, 700, 2};
  const RandomNetwork network = random_network(options, signature);
  EXPECT_EQ(network.model_channels_last, nullptr);
  runtime::Model model(network.data);
  EXPECT_EQ(model.vocabularies(), signature.vocabularies);
  std::vector<at::Tensor> fields;
  for (const int64_t size : signature.vocabularies) fields.push_back(at::randint(size, {40}, at::kInt));
  const at::Tensor values = at::stack(fields, 1);
  const at::Tensor samples = values.to(at::kFloat).contiguous();
  const at::Tensor expected = network.model->forward(values);
  at::Tensor got = at::empty_like(expected);
  model.run(samples.data_ptr<float>(), 40, got.data_ptr<float>());
  EXPECT_LT((got - expected).abs().max().item<double>(), 1e-5 * expected.abs().max().item<double>());

  const measure::Comparison compared = measure::compare(network.data, {3, 1, 0}, model_ways(network));
  EXPECT_EQ(compared.dense_candidates.front().name, "model");
  EXPECT_EQ(compared.dense_candidates.front().missing, "");
}

TEST(RandomNetwork, KeepsWhatThePlanSays) {
  const nn::Signature signature = train::signature_for("mlp", "");
  const prune::Plan plan = network_plan(small("mlp"), signature);
  const runtime::ModelData data = random_network(small("mlp"), signature).data;
  for (const prune::LayerPlan& layer : plan.layers) {
    if (layer.pruned) {
      EXPECT_EQ(data.layers.at(layer.name).pattern.kept(), layer.keep) << layer.name;
    }
  }
  EXPECT_GT(plan.layers_pruned(), 0);
  const test::TempFolder folder;
  runtime::write_model(folder / "m.hewn", data);
  EXPECT_EQ(file_bytes(data), static_cast<int64_t>(std::filesystem::file_size(folder / "m.hewn")));
}

TEST(RandomNetwork, RefusesOptionsThatFitNoPlan) {
  run::Options options = small("mlp");
  options.prune.sparsity = 1;
  EXPECT_THROW(network_plan(options, train::signature_for("mlp", "")), Error);
  EXPECT_THROW(train::signature_for("mpl", ""), Error);
  EXPECT_THROW(train::signature_for("mlp", "cifar11"), Error);
}

}  // namespace
}  // namespace hewn::deploy
