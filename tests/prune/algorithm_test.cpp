// Algorithm 1 by index: gate, mask and gradients against a computation from the definition in double
// precision.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hewn/core/random.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/score/score.h"

namespace hewn::prune {
namespace {

at::Tensor numbers(at::IntArrayRef shape, uint64_t stream) {
  at::Tensor out = at::empty(shape, at::kDouble);
  for (int64_t i = 0; i < out.numel(); ++i) {
    out.data_ptr<double>()[i] = unit(draw(stream, Stream::kPattern, 0, static_cast<uint64_t>(i))[0]) - 0.5;
  }
  return out;
}

/// The block of one weight element, from the words of the definition: rows in H, W, Cin order, columns
/// outputs.
int64_t block_by_definition(const at::Tensor& weight, int64_t index, BlockShape block) {
  if (weight.dim() == 2) {
    const int64_t out = index / weight.size(1);
    const int64_t in = index % weight.size(1);
    const int64_t across = (weight.size(0) + block.cols - 1) / block.cols;
    return in / block.rows * across + out / block.cols;
  }
  const int64_t I = weight.size(1), H = weight.size(2), W = weight.size(3);
  const int64_t w = index % W, h = index / W % H, i = index / W / H % I, o = index / W / H / I;
  const int64_t row = (h * W + w) * I + i;
  const int64_t across = (weight.size(0) + block.cols - 1) / block.cols;
  return row / block.rows * across + o / block.cols;
}

struct Problem {
  at::Tensor weight;
  at::Tensor target;  // the loss is sum(target * effective weight + effective weight^2 / 2)
  BlockShape block;
  std::vector<uint8_t> active;
};

struct Answer {
  std::vector<double> effective, grad_weight, grad_logits;
  double loss = 0;
};

/// W * A * mask with A = n softmax(L), clamped to [density, 1/density], and its gradients, all by hand.
Answer by_definition(const Problem& p, const std::vector<double>& logits, int64_t keep, bool clip) {
  const size_t n = logits.size();
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  std::vector<double> attention(n), clamped(n), grad_clamped(n, 0.0);
  const double density = static_cast<double>(keep) / static_cast<double>(n);
  for (size_t b = 0; b < n; ++b) {
    attention[b] = static_cast<double>(n) * std::exp(logits[b]) / sum;
    clamped[b] = clip ? std::min(std::max(attention[b], density), 1 / density) : attention[b];
  }
  Answer answer;
  const auto count = static_cast<size_t>(p.weight.numel());
  answer.effective.resize(count);
  answer.grad_weight.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const auto b = static_cast<size_t>(block_by_definition(p.weight, static_cast<int64_t>(i), p.block));
    const double mask = p.active.empty() || p.active[b] != 0 ? 1 : 0;
    const double w = p.weight.data_ptr<double>()[i];
    const double e = w * clamped[b] * mask;
    const double grad = p.target.data_ptr<double>()[i] + e;
    answer.effective[i] = e;
    answer.loss += p.target.data_ptr<double>()[i] * e + e * e / 2;
    answer.grad_weight[i] = grad * clamped[b] * mask;
    grad_clamped[b] += grad * w * mask;
  }
  answer.grad_logits.resize(n);
  for (size_t b = 0; b < n; ++b) {
    for (size_t c = 0; c < n; ++c) {
      const bool inside = !clip || (attention[c] >= density && attention[c] <= 1 / density);
      const double slope = attention[c] * ((b == c ? 1.0 : 0.0) - attention[b] / static_cast<double>(n));
      if (inside) answer.grad_logits[b] += grad_clamped[c] * slope;
    }
  }
  return answer;
}

void expect_near(const at::Tensor& got, const std::vector<double>& expected, const char* what) {
  double scale = 0;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  ASSERT_EQ(got.numel(), static_cast<int64_t>(expected.size()));
  const at::Tensor flat = got.contiguous();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(flat.data_ptr<double>()[i], expected[i], 1e-12 * scale) << what << " " << i;
  }
}

class Algorithm1 : public testing::TestWithParam<std::tuple<int, int, bool>> {};

TEST_P(Algorithm1, EqualsTheDefinitionAndFiniteDifferences) {
  const auto [kind, pattern, clip] = GetParam();
  Problem p;
  const std::vector<int64_t> shape =
      kind == 0 ? std::vector<int64_t>{7, 5} : std::vector<int64_t>{7, 4, 3, 3};
  p.block = kind == 0 ? BlockShape{2, 3} : BlockShape{5, 3};
  p.weight = numbers(shape, 1);
  p.target = numbers(shape, 2);
  if (kind == 2) p.weight = p.weight.contiguous();
  at::Tensor leaf =
      kind == 2 ? p.weight.clone().contiguous(at::MemoryFormat::ChannelsLast) : p.weight.clone();
  leaf.set_requires_grad(true);

  const WeightLayout layout = layout_of(leaf, p.block);
  const int64_t n = layout.grid.blocks();
  const int64_t keep = std::max<int64_t>(1, n / 3);
  at::Tensor active;
  if (pattern > 0) {
    active = at::zeros({n}, at::kByte);
    for (int64_t b = 0; b < n; ++b) active[b] = pattern == 1 ? (b * 7 % 3 == 0) : 1;
    p.active.assign(active.data_ptr<uint8_t>(), active.data_ptr<uint8_t>() + n);
  }
  const auto score = make_score("attention", {leaf, layout, keep}, {.clip = {.on = clip}});
  at::Tensor logits = score->parameters()[0].tensor;
  {
    const at::NoGradGuard no_grad;
    logits.copy_(numbers({n}, 3) * 6);  // wide enough that some are clamped
  }
  const std::vector<double> l(logits.data_ptr<double>(), logits.data_ptr<double>() + n);

  const at::Tensor effective = block_scale(leaf, score->gate({leaf, layout, keep}), active, layout);
  (p.target * effective + effective * effective / 2).sum().backward();
  const Answer expected = by_definition(p, l, keep, clip);
  expect_near(effective.detach(), expected.effective, "effective weight");
  expect_near(leaf.grad(), expected.grad_weight, "weight gradient");
  expect_near(logits.grad(), expected.grad_logits, "logit gradient");

  // The definition itself agrees with finite differences.
  const double h = 1e-5;
  for (int64_t b = 0; b < n; ++b) {
    std::vector<double> up = l, down = l;
    up[static_cast<size_t>(b)] += h;
    down[static_cast<size_t>(b)] -= h;
    const double slope =
        (by_definition(p, up, keep, clip).loss - by_definition(p, down, keep, clip).loss) / (2 * h);
    EXPECT_NEAR(logits.grad()[b].item<double>(), slope, 1e-6) << "logit " << b;
  }
  for (int64_t i = 0; i < p.weight.numel(); i += 3) {
    const double before = p.weight.data_ptr<double>()[i];
    p.weight.data_ptr<double>()[i] = before + h;
    const double up = by_definition(p, l, keep, clip).loss;
    p.weight.data_ptr<double>()[i] = before - h;
    const double down = by_definition(p, l, keep, clip).loss;
    p.weight.data_ptr<double>()[i] = before;
    EXPECT_NEAR(leaf.grad().contiguous().data_ptr<double>()[i], (up - down) / (2 * h), 1e-6)
        << "weight " << i;
  }
}

// kind 0: Linear 5 -> 7 with 2x3 blocks; 1: 3x3 Conv2d 4 -> 7 with ragged 5x3 blocks; 2: the same,
// channels-last.
INSTANTIATE_TEST_SUITE_P(Shapes, Algorithm1,
                         testing::Combine(testing::Values(0, 1, 2), testing::Values(0, 1, 2),
                                          testing::Bool()));

TEST(BlockNorms, EqualTheDefinitionWithGradient) {
  at::Tensor leaf = numbers({7, 5}, 1);
  leaf[0].zero_();
  leaf[1].zero_();
  leaf[2].zero_();  // the first block column is all zeros
  leaf.set_requires_grad(true);
  const WeightLayout layout = layout_of(leaf, {2, 3});
  const at::Tensor norms = block_norms(leaf, layout);
  std::vector<double> expected(static_cast<size_t>(layout.grid.blocks()), 0.0);
  for (int64_t i = 0; i < leaf.numel(); ++i) {
    expected[static_cast<size_t>(block_by_definition(leaf, i, {2, 3}))] +=
        std::pow(leaf.data_ptr<double>()[i], 2);
  }
  for (double& value : expected) value = std::sqrt(value);
  expect_near(norms.detach(), expected, "norm");
  norms.sum().backward();
  std::vector<double> gradient;
  for (int64_t i = 0; i < leaf.numel(); ++i) {
    const double norm = expected[static_cast<size_t>(block_by_definition(leaf, i, {2, 3}))];
    gradient.push_back(norm == 0 ? 0 : leaf.data_ptr<double>()[i] / norm);
  }
  expect_near(leaf.grad(), gradient, "gradient");
}

}  // namespace
}  // namespace hewn::prune
