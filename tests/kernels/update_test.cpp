#include "hewn/kernels/update.h"

#include <gtest/gtest.h>

#include <cstring>

#include "hewn/core/random.h"

namespace hewn::kernels {
namespace {

std::vector<double> numbers(size_t count, uint64_t stream) {
  std::vector<double> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = unit(draw(stream, Stream::kPattern, 0, i)[0]) - 0.5;
  return out;
}

std::vector<UpdateRule> rules() {
  UpdateRule sgd{
      .kind = UpdateKind::kSgd, .lr = 0.3, .weight_decay = 0.01, .l1_decay = 0.02, .momentum = 0.9};
  UpdateRule nesterov = sgd;
  nesterov.nesterov = true;
  UpdateRule adam{
      .kind = UpdateKind::kAdam, .lr = 0.01, .weight_decay = 0.1, .correction1 = 0.1, .correction2 = 0.001};
  UpdateRule adamw = adam;
  adamw.kind = UpdateKind::kAdamW;
  return {sgd, nesterov, adam, adamw};
}

TEST(Update, EqualsTheTextbook) {
  const size_t n = 101;
  for (const UpdateRule& rule : rules()) {
    const auto grad = numbers(n, 1);
    auto weight = numbers(n, 2), first = numbers(n, 3), second = numbers(n, 4);
    for (double& v : second) v = v * v;
    weight[5] = 0;
    auto w2 = weight, m2 = first, v2 = second;
    const double scale = 0.5;
    update<double>(rule, grad.data(), weight.data(), first.data(), second.data(), &scale, nullptr, 0, 50);
    update<double>(rule, grad.data(), weight.data(), first.data(), second.data(), &scale, nullptr, 50, n);
    for (size_t i = 0; i < n; ++i) {
      reference::update_one(rule, scale * grad[i], &w2[i], &m2[i], &v2[i]);
      EXPECT_NEAR(weight[i], w2[i], 1e-12);
      EXPECT_NEAR(first[i], m2[i], 1e-14);
      EXPECT_NEAR(second[i], v2[i], 1e-14);
    }
  }
}

TEST(Update, DroppedBlocksKeepEveryBit) {
  const WeightLayout layout{{18, 7, {5, 3}}, 9};
  const auto n = static_cast<size_t>(layout.grid.elements());
  std::vector<uint8_t> active(static_cast<size_t>(layout.grid.blocks()));
  for (size_t i = 0; i < active.size(); ++i) active[i] = i % 3 == 0;
  for (const UpdateRule& rule : rules()) {
    const auto grad = numbers(n, 1);
    auto weight = numbers(n, 2), first = numbers(n, 3), second = numbers(n, 3);
    for (double& v : second) v = v * v;
    const auto w0 = weight, m0 = first, v0 = second;
    update_active<double>(rule, layout, active.data(), grad.data(), weight.data(), first.data(),
                          second.data(), nullptr, 0, layout.grid.col_blocks());
    for (size_t i = 0; i < n; ++i) {
      const auto column = static_cast<int64_t>(i) / layout.grid.rows;
      const auto row = layout.row_of(static_cast<int64_t>(i) % layout.grid.rows);
      if (active[static_cast<size_t>(layout.grid.block_of(row, column))] != 0) {
        EXPECT_NE(weight[i], w0[i]);
      } else {
        EXPECT_EQ(std::memcmp(&weight[i], &w0[i], sizeof(double)), 0);
        EXPECT_EQ(std::memcmp(&first[i], &m0[i], sizeof(double)), 0);
        EXPECT_EQ(std::memcmp(&second[i], &v0[i], sizeof(double)), 0);
      }
    }
  }
}

}  // namespace
}  // namespace hewn::kernels
