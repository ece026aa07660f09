// Predictions of click models: probabilities of a click, metrics of the task, and data that do not fit.
#include "hewn/deploy/predict.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/deploy/predictions_file.h"
#include "hewn/deploy/random_network.h"
#include "tests/support/temp_folder.h"

namespace hewn::deploy {
namespace {

/// A click log of 50 rows in batches of 16.
class TinyClicks final : public data::Source {
 public:
  explicit TinyClicks(std::vector<int64_t> vocabularies) {
    at::manual_seed(4);
    std::vector<at::Tensor> fields;
    for (const int64_t size : vocabularies) fields.push_back(at::randint(size, {50}, at::kInt));
    values_ = at::stack(fields, 1);
    clicked_ = at::randint(2, {50}, at::kFloat);
    info_ = {"tiny-clicks", {static_cast<int64_t>(vocabularies.size())}, 1, data::Kind::kClicks, 0, 50};
    info_.vocabularies = std::move(vocabularies);
  }

  const data::DataInfo& info() const override { return info_; }
  int64_t train_batches() const override { return 0; }
  data::Batch train_batch(int64_t, int64_t) override { return {}; }
  int64_t test_batches() const override { return 4; }
  data::Batch test_batch(int64_t number) override {
    return {values_.slice(0, 16 * number, 16 * (number + 1)),
            clicked_.slice(0, 16 * number, 16 * (number + 1))};
  }

  const at::Tensor& values() const { return values_; }
  const at::Tensor& clicked() const { return clicked_; }

 private:
  data::DataInfo info_;
  at::Tensor values_;
  at::Tensor clicked_;
};

RandomNetwork click_network() {
  run::Options options = run::usual_options(data::Kind::kClicks);
  options.widths = {64, 32};
  options.prune.block = {4, 4};
  options.prune.min_blocks = 20;
  RandomNetwork network = random_network(options, {{3}, 1, nn::Takes::kClicks, {9, 1, 40}});
  const at::NoGradGuard no_grad;
  // New tables are nearly zero, and all logits nearly the same.
  for (float& value : network.data.tables.at("embedding").values) value *= 1000;
  network.model->named_parameters()["embedding.weight"].mul_(1000);
  return network;
}

TEST(Predict, ClicksGetProbabilitiesAndTheTasksMetrics) {
  const at::NoGradGuard no_grad;
  const RandomNetwork network = click_network();
  OpenModel model{runtime::Model(network.data)};
  TinyClicks source({9, 1, 40});
  const Predictions got = predict(model, "m.hewn", source, 0);
  const at::Tensor logits = network.model->forward(source.values()).flatten();
  EXPECT_GT((logits > 0).sum().item<int64_t>(), 0);
  EXPECT_LT((logits > 0).sum().item<int64_t>(), 50);
  ASSERT_EQ(got.samples, 50);
  for (int64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(got.class_of(i), logits[i].item<float>() > 0 ? 1 : 0);
    EXPECT_NEAR(got.score_of(i), logits[i].sigmoid().item<double>(), 1e-5);
  }
  const auto meter = train::make_task(data::Kind::kClicks, 0)->meter();
  meter->add(logits, source.clicked());
  for (const auto& [name, value] : meter->result()) EXPECT_NEAR(got.metrics.at(name), value, 1e-5) << name;

  const test::TempFolder folder;
  write_predictions(folder / "p.csv", got);
  const std::string csv = read_file(folder / "p.csv");
  EXPECT_TRUE(csv.starts_with("sample,class,score\n0,")) << csv;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 51);
  EXPECT_EQ(predict(model, "m.hewn", source, 20).samples, 20);
}

void expect_error(const runtime::ModelData& data, data::Source& source, const std::string& named) {
  OpenModel model{runtime::Model(data)};
  try {
    predict(model, "m.hewn", source, 0);
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    EXPECT_TRUE(std::string(error.what()).starts_with("m.hewn: ")) << error.what();
  }
}

TEST(Predict, RefusesDataThatDoNotFit) {
  const runtime::ModelData clicks = click_network().data;
  TinyClicks more_values({9, 1, 41});
  expect_error(clicks, more_values, "field 2 takes 40 values");
  TinyClicks more_fields({9, 1, 40, 2});
  expect_error(clicks, more_fields, "takes inputs of 3x1x1");
  run::Options options;
  options.widths = {8};
  options.prune.block = {2, 2};
  TinyClicks source({9, 1, 40});
  expect_error(random_network(options, {{3}, 1}).data, source, "takes images");
}

}  // namespace
}  // namespace hewn::deploy
