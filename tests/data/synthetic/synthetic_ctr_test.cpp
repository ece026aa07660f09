#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/data/source.h"
#include "hewn/data/synthetic/click_world.h"
#include "hewn/data/synthetic/reference/click_rows.h"

namespace hewn::data {
namespace {

using Held = ClickWorld::HeldOut;

bool same(const Batch& a, const Batch& b) {
  return at::equal(a.input, b.input) && at::equal(a.target, b.target);
}

std::unique_ptr<Source> open(int64_t batch, uint64_t seed = 0, const char* spec = "synthetic-ctr",
                             Part part = Part::kTest) {
  DataOptions options;
  options.batch = batch;
  options.seed = seed;
  options.evaluate_on = part;
  return open_source(spec, options);
}

TEST(SyntheticCtr, SaysWhatItHolds) {
  const auto source = open(8192);
  const DataInfo& info = source->info();
  EXPECT_EQ(info.name, "synthetic-ctr");
  EXPECT_EQ(info.kind, Kind::kClicks);
  EXPECT_EQ(info.classes, 1);
  EXPECT_EQ(info.input, std::vector<int64_t>{39});
  EXPECT_EQ(info.train_size, 1000000);
  EXPECT_EQ(source->train_batches(), 122);
  EXPECT_EQ(source->test_batches(), 25);
  EXPECT_EQ(source->test_batch(24).target.numel(), 200000 - 24 * 8192);
  ASSERT_EQ(info.vocabularies.size(), 39U);
  const Batch batch = source->train_batch(0, 121);
  EXPECT_EQ(batch.input.dtype(), at::kInt);
  EXPECT_EQ(batch.target.dtype(), at::kFloat);
  const at::Tensor largest = std::get<0>(batch.input.max(0));
  for (int64_t f = 0; f < 39; ++f) {
    const int64_t values = info.vocabularies[static_cast<size_t>(f)];
    EXPECT_TRUE(values >= 10 && values <= 10000);
    EXPECT_LT(largest[f].item<int64_t>(), values);
  }
  EXPECT_GE(batch.input.min().item<int64_t>(), 0);
}

TEST(SyntheticCtr, ABatchIsAPureFunctionOfSeedEpochAndNumber) {
  const auto a = open(1000, 7);
  const auto b = open(1000, 7);
  const Batch first = a->train_batch(3, 2);
  a->train_batch(0, 0);
  EXPECT_TRUE(same(first, a->train_batch(3, 2)));
  EXPECT_TRUE(same(first, b->train_batch(3, 2)));        // without the batches before it
  const Batch small = open(125, 7)->train_batch(3, 17);  // rows 2125 to 2249
  EXPECT_TRUE(same(small, {first.input.narrow(0, 125, 125), first.target.narrow(0, 125, 125)}));
}

TEST(SyntheticCtr, EpochsSeedsWorldsAndPartsDiffer) {
  const auto source = open(1000, 7);
  const Batch batch = source->train_batch(0, 0);
  EXPECT_FALSE(at::equal(batch.input, source->train_batch(0, 1).input));
  EXPECT_FALSE(at::equal(batch.input, source->train_batch(1, 0).input));
  EXPECT_FALSE(at::equal(batch.input, open(1000, 8)->train_batch(0, 0).input));
  const auto other_world = open(1000, 7, "synthetic-ctr:1");
  EXPECT_FALSE(at::equal(batch.input, other_world->train_batch(0, 0).input));
  EXPECT_NE(source->info().vocabularies, other_world->info().vocabularies);
  EXPECT_NE(source->info().best_test_loss, other_world->info().best_test_loss);
  const auto same_number = open(1000, 0);  // seed and world are both 0
  const auto validation = open(1000, 0, "synthetic-ctr:0", Part::kValidation);
  EXPECT_FALSE(at::equal(same_number->train_batch(0, 0).input, same_number->test_batch(0).input));
  EXPECT_FALSE(at::equal(validation->test_batch(0).input, same_number->test_batch(0).input));
  EXPECT_NE(validation->info().best_test_loss, same_number->info().best_test_loss);
}

TEST(SyntheticCtr, AllSeedsShareTheTestSet) {
  const auto a = open(50000, 1);
  const auto b = open(50000, 2);
  for (int64_t n = 0; n < 4; ++n) EXPECT_TRUE(same(a->test_batch(n), b->test_batch(n)));
  EXPECT_EQ(a->info().best_test_loss, b->info().best_test_loss);
}

Batch held_out(Source& source) {
  std::vector<at::Tensor> inputs, targets;
  for (int64_t n = 0; n < source.test_batches(); ++n) {
    const Batch batch = source.test_batch(n);
    inputs.push_back(batch.input);
    targets.push_back(batch.target);
  }
  return {at::cat(inputs), at::cat(targets)};
}

TEST(SyntheticCtr, AQuarterOfTheRowsAreClicks) {
  for (const char* spec : {"synthetic-ctr", "synthetic-ctr:1", "synthetic-ctr:18446744073709551615"}) {
    const auto source = open(200000, 5, spec);
    EXPECT_NEAR(source->train_batch(0, 0).target.mean().item<double>(), 0.25, 0.005);
    EXPECT_NEAR(held_out(*source).target.mean().item<double>(), 0.25, 0.005);
  }
}

TEST(SyntheticCtr, ValuesFollowZipf) {
  const auto source = open(500000, 11);
  const at::Tensor input = source->train_batch(0, 0).input;
  for (const int64_t field : {0, 19, 38}) {
    const int64_t values = source->info().vocabularies[static_cast<size_t>(field)];
    std::vector<double> theory;
    for (int64_t v = 0; v < values; ++v) theory.push_back(std::pow(v + 1, -1.1));
    const double total = std::accumulate(theory.begin(), theory.end(), 0.0);
    const at::Tensor counts = at::bincount(input.select(1, field), {}, values).to(at::kDouble);
    double chi = 0;
    for (int64_t v = 0; v < values; ++v) {
      const double expected = 5e5 * theory[static_cast<size_t>(v)] / total;
      chi += std::pow(counts[v].item<double>() - expected, 2) / expected;
    }
    const auto freedom = static_cast<double>(values - 1);
    EXPECT_NEAR(chi, freedom, 5 * std::sqrt(2 * freedom)) << "field " << field << ", " << values << " values";
  }
}

TEST(SyntheticCtr, BestLossIsThatOfTheTrueProbabilities) {
  const ClickWorld world(0);
  for (const bool test : {true, false}) {
    const auto source = open(200000, 0, "synthetic-ctr", test ? Part::kTest : Part::kValidation);
    const Batch batch = held_out(*source);
    at::Tensor input = at::empty({200000, 39}, at::kInt);
    at::Tensor target = at::empty({200000});
    at::Tensor p = at::empty({200000}, at::kDouble);
    reference::click_rows(world.truth(), world.held_out(test ? Held::kTest : Held::kValidation), 0, 200000,
                          input.data_ptr<int32_t>(), target.data_ptr<float>(), p.data_ptr<double>());
    EXPECT_TRUE(at::equal(batch.input, input));
    const at::Tensor chosen = at::where(batch.target > 0, p, 1 - p);
    const double loss = -chosen.log().mean().item<double>();
    EXPECT_NEAR(*source->info().best_test_loss, loss, 1e-6);
    EXPECT_NEAR(loss, 0.3938, 0.005);  // the prototype's
  }
}

TEST(SyntheticCtr, ThreadsMakeNoDifference) {
  const int threads = at::get_num_threads();
  std::vector<Batch> batches;
  std::vector<double> losses;
  for (const int count : {1, 2}) {
    at::set_num_threads(count);
    const auto source = open(10001, 3);
    batches.push_back(source->train_batch(1, 5));
    losses.push_back(*source->info().best_test_loss);
  }
  at::set_num_threads(threads);
  EXPECT_TRUE(same(batches[0], batches[1]));
  EXPECT_EQ(losses[0], losses[1]);
}

TEST(SyntheticCtr, RejectsWhatIsNoWorld) {
  for (const std::string bad : {"abc", "-1", "1x", "1.5", " 1", "18446744073709551616"}) {
    try {
      open_source("synthetic-ctr:" + bad, {});
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find('"' + bad + '"'), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
  DataOptions options;
  options.batch = 0;
  EXPECT_THROW(open_source("synthetic-ctr", options), Error);
}

}  // namespace
}  // namespace hewn::data
