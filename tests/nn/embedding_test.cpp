#include "hewn/nn/embedding.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/nn/model.h"
#include "hewn/nn/slots.h"

namespace hewn::nn {
namespace {

at::Tensor batch_of(const std::vector<int64_t>& vocabularies, int64_t samples) {
  std::vector<at::Tensor> columns;
  for (const int64_t size : vocabularies) columns.push_back(at::randint(size, {samples}, at::kInt));
  return at::stack(columns, 1).contiguous();
}

TEST(EmbeddingTable, ValueAndGradientEqualLibTorchsEmbedding) {
  at::manual_seed(5);
  const std::vector<int64_t> vocabularies = {1, 30, 4};
  EmbeddingTable table(vocabularies, 6, 1.0);
  const at::Tensor values = batch_of(vocabularies, 50);
  const at::Tensor theirs = table->weight.detach().clone().set_requires_grad(true);
  const at::Tensor rows = values.to(at::kLong) + at::tensor(std::vector<int64_t>{0, 1, 31});
  const at::Tensor factor = at::randn({50, 18});

  const at::Tensor ours_out = table->forward(values);
  const at::Tensor theirs_out = at::embedding(theirs, rows).reshape({50, 18});
  EXPECT_TRUE(at::equal(ours_out, theirs_out));
  (ours_out * factor).pow(2).sum().backward();
  (theirs_out * factor).pow(2).sum().backward();
  ASSERT_TRUE(table->weight.grad().is_sparse());
  EXPECT_TRUE(at::allclose(table->weight.grad().to_dense(), theirs.grad(), 1e-5, 1e-5));
  EXPECT_LE(table->weight.grad()._values().size(0), 35);
}

TEST(EmbeddingTable, GradientsAddUpOverTwoPasses) {
  EmbeddingTable table(std::vector<int64_t>{5, 5}, 2, 1.0);
  const at::Tensor values = batch_of({5, 5}, 8);
  table->forward(values).sum().backward();
  const at::Tensor once = table->weight.grad().to_dense().clone();
  table->forward(values).sum().backward();
  EXPECT_TRUE(at::allclose(table->weight.grad().to_dense(), 2 * once));
}

TEST(EmbeddingTable, RefusesWhatItDoesNotKnow) {
  EmbeddingTable table(std::vector<int64_t>{2, 3}, 4, 1.0);
  EXPECT_THROW(table->forward(at::zeros({3, 2})), Error);              // floats
  EXPECT_THROW(table->forward(at::zeros({3, 3}, at::kInt)), Error);    // fields
  EXPECT_THROW(table->forward(at::full({1, 2}, 2, at::kInt)), Error);  // value
  EXPECT_THROW(EmbeddingTable(std::vector<int64_t>{2'000'000'000, 2'000'000'000}, 1, 1.0), Error);
  EXPECT_THROW(EmbeddingTable(std::vector<int64_t>{2}, 0, 1.0), Error);
}

TEST(CtrDnn, HasThePapersShapesAndNames) {
  Signature signature = find_model("ctr-dnn").usual;
  signature.vocabularies.assign(39, 7);
  const auto model = find_model("ctr-dnn").make(signature, {{400, 400, 400}, 64, 10});
  const auto named = model->named_parameters();
  EXPECT_EQ(named["embedding.weight"].sizes(), (std::vector<int64_t>{273, 10}));
  EXPECT_EQ(named["fc1.weight"].sizes(), (std::vector<int64_t>{400, 390}));
  EXPECT_EQ(named["fc3.weight"].sizes(), (std::vector<int64_t>{400, 400}));
  EXPECT_EQ(named["fc4.weight"].sizes(), (std::vector<int64_t>{1, 400}));
  EXPECT_TRUE(is_embedding(*model, named["embedding.weight"]));
  EXPECT_FALSE(is_embedding(*model, named["fc1.weight"]));
  EXPECT_EQ(find_slots(*model).size(), 4U);  // embeddings are not pruned
}

}  // namespace
}  // namespace hewn::nn
