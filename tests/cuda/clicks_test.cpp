// Embeddings and synthetic click logs on a GPU against the CPU's.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/random.h"
#include "hewn/data/source.h"
#include "hewn/data/synthetic/click_world.h"
#include "hewn/data/synthetic/reference/click_rows.h"
#include "hewn/nn/embedding.h"
#include "hewn/optimiser.h"
#include "hewn/tensor/device.h"

namespace hewn {
namespace {

void expect_near(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_TRUE(at::allclose(a.cpu(), b.cpu(), 1e-5, 1e-5)) << (a.cpu() - b.cpu()).abs().max().item<float>();
}

TEST(Cuda, EmbeddingsLearnAsOnTheCpu) {
  // One field whose few values fill many pieces of the sorted list, one with a single value, one large.
  const std::vector<int64_t> vocabularies = {3, 1, 5000, 40};
  nn::EmbeddingTable ours(vocabularies, 10, 1.0);
  nn::EmbeddingTable theirs(vocabularies, 10, 1.0);
  theirs->weight.set_data(ours->weight.detach().clone().cuda());
  for (const char* kind : {"sgd", "adam"}) {
    const OptimiserOptions options{.kind = kind, .clip_norm = 0.5};
    Optimiser on_cpu({{"e", ours->weight}}, options);
    Optimiser on_gpu({{"e", theirs->weight}}, options);
    for (int step = 0; step < 5; ++step) {
      std::vector<at::Tensor> columns;
      for (const int64_t size : vocabularies) columns.push_back(at::randint(size, {1000 + step}, at::kInt));
      const at::Tensor values = at::stack(columns, 1).contiguous();
      const at::Tensor target = at::randn({1000 + step, 40});
      on_cpu.zero_grad();
      on_gpu.zero_grad();
      const at::Tensor a = ours->forward(values);
      const at::Tensor b = theirs->forward(values.cuda());
      expect_near(a, b);
      (a - target).square().mean().backward();
      (b - target.cuda()).square().mean().backward();
      expect_near(ours->weight.grad().to_dense(), theirs->weight.grad().cpu().to_dense());
      on_cpu.step(0.1);
      on_gpu.step(0.1);
    }
    expect_near(ours->weight, theirs->weight);
  }
}

TEST(Cuda, EmbeddingsOfUnknownValuesAreNotANumber) {
  nn::EmbeddingTable table(std::vector<int64_t>{3, 4}, 2, 1.0);
  table->to(at::kCUDA);
  at::Tensor values = at::zeros({3, 2}, at::kInt);
  values[1][0] = 3;
  const at::Tensor out = table->forward(values.cuda()).isnan().cpu();
  EXPECT_EQ(out.sum().item<int64_t>(), 2);
  EXPECT_TRUE(out[1][0].item<bool>());
}

TEST(Cuda, ClickRowsEqualTheCpu) {
  const data::ClickWorld world(2);
  const data::ClickStream stream = data::ClickWorld::training(9, 3);
  for (const int64_t batch : {1, 63, 64, 65, 8192, 100003}) {
    data::DataOptions options{.batch = batch, .seed = 9};
    const data::Batch cpu = data::open_source("synthetic-ctr:2", options)->train_batch(3, 5);
    options.device = tensor::find_device("cuda");
    const data::Batch gpu = data::open_source("synthetic-ctr:2", options)->train_batch(3, 5);
    ASSERT_TRUE(gpu.input.is_cuda() && gpu.target.is_cuda());
    EXPECT_TRUE(at::equal(gpu.input.cpu(), cpu.input));
    at::Tensor input = at::empty_like(cpu.input);
    at::Tensor target = at::empty_like(cpu.target);
    at::Tensor p = at::empty({batch}, at::kDouble);
    data::reference::click_rows(world.truth(), stream, 5 * batch, batch, input.data_ptr<int32_t>(),
                                target.data_ptr<float>(), p.data_ptr<double>());
    const at::Tensor differ = (gpu.target.cpu() != cpu.target).nonzero();
    for (int64_t i = 0; i < differ.size(0); ++i) {
      const int64_t row = differ[i][0].item<int64_t>();
      const auto words =
          philox(stream.key, stream.counter_high, static_cast<uint64_t>((5 * batch + row) * 10 + 9));
      EXPECT_NEAR(unit(words[3]), p[row].item<double>(), 1e-5) << "row " << row;
    }
  }
}

TEST(Cuda, ClickRowsOfTheTestSetEqualTheCpu) {
  data::DataOptions options;
  const auto cpu = data::open_source("synthetic-ctr", options);
  options.device = tensor::find_device("cuda");
  const auto gpu = data::open_source("synthetic-ctr", options);
  for (const int64_t n : {0, 1}) {
    const data::Batch a = cpu->test_batch(n);
    const data::Batch b = gpu->test_batch(n);
    EXPECT_TRUE(at::equal(a.input, b.input.cpu()));
    EXPECT_LE((a.target != b.target.cpu()).sum().item<int64_t>(), 3);
  }
}

}  // namespace
}  // namespace hewn
