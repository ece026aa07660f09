// Our fused optimisers against LibTorch's own.
#include "hewn/optimiser.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>

#include "hewn/core/error.h"

namespace hewn::train {
namespace {

at::Tensor loss_of(const at::Tensor& w, const at::Tensor& target) { return (w - target).pow(4).sum(); }

template <class Theirs>
void compare(const OptimiserOptions& options, Theirs make_theirs, double decay) {
  at::manual_seed(3);
  const at::Tensor start = at::randn({33, 7}, at::kDouble);
  const at::Tensor target = at::randn({33, 7}, at::kDouble);
  at::Tensor ours = start.clone().set_requires_grad(true);
  at::Tensor theirs = start.clone().set_requires_grad(true);
  Parameter parameter{"w", ours};
  parameter.weight_decay = decay;
  Optimiser optimiser({parameter}, options);
  auto other = make_theirs(theirs);
  for (int step = 0; step < 20; ++step) {
    optimiser.zero_grad();
    loss_of(ours, target).backward();
    optimiser.step(0.01);
    other->zero_grad();
    loss_of(theirs, target).backward();
    other->step();
  }
  EXPECT_TRUE(at::allclose(ours, theirs, 1e-10, 1e-12)) << (ours - theirs).abs().max().item<double>();
}

TEST(Optimiser, SgdEqualsLibTorch) {
  for (const bool nesterov : {false, true}) {
    compare(
        {.kind = "sgd", .momentum = 0.9, .nesterov = nesterov},
        [&](at::Tensor& w) {
          return std::make_unique<torch::optim::SGD>(
              std::vector<at::Tensor>{w},
              torch::optim::SGDOptions(0.01).momentum(0.9).nesterov(nesterov).weight_decay(0.1));
        },
        0.1);
  }
}

TEST(Optimiser, AdamAndAdamWEqualLibTorch) {
  compare(
      {.kind = "adam"},
      [](at::Tensor& w) {
        return std::make_unique<torch::optim::Adam>(std::vector<at::Tensor>{w},
                                                    torch::optim::AdamOptions(0.01).weight_decay(0.1));
      },
      0.1);
  compare(
      {.kind = "adamw"},
      [](at::Tensor& w) {
        return std::make_unique<torch::optim::AdamW>(std::vector<at::Tensor>{w},
                                                     torch::optim::AdamWOptions(0.01).weight_decay(0.1));
      },
      0.1);
}

TEST(Optimiser, ClipsTheNormOfAllGradientsTogether) {
  at::Tensor a = at::zeros({2}).set_requires_grad(true);
  at::Tensor b = at::zeros({1}).set_requires_grad(true);
  OptimiserOptions options{.momentum = 0, .nesterov = false, .clip_norm = 1};
  Optimiser optimiser({{"a", a}, {"b", b}}, options);
  a.mutable_grad() = at::tensor({3.0F, 0.0F});
  b.mutable_grad() = at::tensor({4.0F});
  optimiser.step(1);
  EXPECT_NEAR(a[0].item<float>(), -0.6, 1e-6);
  EXPECT_NEAR(b[0].item<float>(), -0.8, 1e-6);
}

TEST(Optimiser, ResetForgetsMomentum) {
  at::Tensor w = at::zeros({1}).set_requires_grad(true);
  Optimiser optimiser({{"w", w}}, {.momentum = 0.9, .nesterov = false});
  w.mutable_grad() = at::ones({1});
  optimiser.step(1);
  optimiser.reset();
  EXPECT_EQ(optimiser.steps_since_reset(), 0);
  w.mutable_grad() = at::zeros({1});
  optimiser.step(1);
  EXPECT_EQ(w.item<float>(), -1);
}

TEST(Optimiser, TakesGradientsInAnotherMemoryOrder) {
  at::Tensor w = at::arange(6, at::kFloat).reshape({2, 3}).clone().set_requires_grad(true);
  Optimiser optimiser({{"w", w}}, {.momentum = 0, .nesterov = false});
  w.mutable_grad() = at::arange(6, at::kFloat).reshape({3, 2}).t();
  const at::Tensor expected = w.detach() - w.grad();
  optimiser.step(1);
  EXPECT_TRUE(at::equal(w.detach(), expected));
}

TEST(Optimiser, UnknownNamesAreRejected) { EXPECT_THROW(parse_optimiser("lamb"), Error); }

TEST(Optimiser, ASharedMomentKeepsTheProportionsOfGradients) {
  const at::Tensor w = at::zeros({3}, at::kDouble).set_requires_grad(true);
  Parameter parameter{"logits", w};
  parameter.shared_moment = true;
  Optimiser optimiser({parameter}, {.kind = "adam"});
  w.mutable_grad() = at::tensor({1.0, -2.0, 0.5}, at::kDouble);
  optimiser.step(0.1);
  // First step: m / correction1 is the gradient, v / correction2 the mean of its squares.
  const at::Tensor expected =
      -0.1 * at::tensor({1.0, -2.0, 0.5}, at::kDouble) / std::sqrt((1 + 4 + 0.25) / 3);
  EXPECT_TRUE(at::allclose(w, expected, 1e-6, 1e-9)) << w;
  w.mutable_grad() = at::tensor({0.0, 0.0, 1.0}, at::kDouble);
  optimiser.step(0.1);
  const double v = (0.999 * 0.001 * 5.25 / 3 + 0.001 / 3) / (1 - 0.999 * 0.999);
  const double m = (0.9 * 0.1 * 0.5 + 0.1) / (1 - 0.81);
  EXPECT_NEAR(w[2].item<double>(), expected[2].item<double>() - 0.1 * m / std::sqrt(v), 1e-6);
}

TEST(Optimiser, ASparseGradientMovesItsRowsOnly) {
  const at::Tensor w = at::ones({5, 2}).set_requires_grad(true);
  Optimiser optimiser({{"table", w}}, {.kind = "adam", .clip_norm = 1});
  const at::Tensor rows = at::tensor(std::vector<int64_t>{3, 1}).reshape({1, 2});
  w.mutable_grad() = at::sparse_coo_tensor(rows, at::full({2, 2}, 3.0F), {5, 2});
  optimiser.step(0.5);
  const at::Tensor moved = (w.detach() != 1).all(1);
  EXPECT_TRUE(at::equal(moved, at::tensor({0, 1, 0, 1, 0}).to(at::kBool))) << w;
  EXPECT_NEAR(w[1][0].item<double>(), 0.5, 1e-4);  // Adam's first step is as long as the rate
  const at::Tensor moment = optimiser.state().at("first.table");
  EXPECT_NEAR(moment[3][1].item<double>(), 0.1 * 0.5, 1e-5);  // the gradient was clipped to norm 1
}

}  // namespace
}  // namespace hewn::train
