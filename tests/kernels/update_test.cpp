#include "hewn/kernels/update.h"

#include <gtest/gtest.h>

#include <cstring>

#include "hewn/core/random.h"
#include "hewn/kernels/reference/update.h"
#include "tests/support/numbers.h"

namespace hewn::kernels {
namespace {

std::vector<double> doubles(size_t count, uint64_t stream) {
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
    const auto grad = doubles(n, 1);
    auto weight = doubles(n, 2), first = doubles(n, 3), second = doubles(n, 4);
    for (double& v : second) v = v * v;
    weight[5] = 0;
    auto w2 = weight, m2 = first, v2 = second;
    const double scale = 0.5;
    update<double>(rule, grad.data(), weight.data(), first.data(), second.data(), &scale, nullptr, 0, 50);
    update<double>(rule, grad.data(), weight.data(), first.data(), second.data(), &scale, nullptr, 50, n);
    reference::update<double>(rule, grad.data(), w2.data(), m2.data(), v2.data(), &scale, nullptr, 0, n);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(weight[i], w2[i], 1e-12);
      EXPECT_NEAR(first[i], m2[i], 1e-14);
      EXPECT_NEAR(second[i], v2[i], 1e-14);
    }
  }
}

TEST(Update, ElementsThatAreNotKeptKeepEveryBit) {
  const size_t n = 40;
  std::vector<double> keep(n);
  for (size_t i = 0; i < n; ++i) keep[i] = i % 3 == 0 ? 1 : 0;
  for (const UpdateRule& rule : rules()) {
    const auto grad = doubles(n, 1);
    auto weight = doubles(n, 2), first = doubles(n, 3), second = doubles(n, 4);
    for (double& v : second) v = v * v;
    auto w2 = weight, m2 = first, v2 = second;
    const auto before = weight;
    update<double>(rule, grad.data(), weight.data(), first.data(), second.data(), nullptr, keep.data(), 0, n);
    reference::update<double>(rule, grad.data(), w2.data(), m2.data(), v2.data(), nullptr, keep.data(), 0, n);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(weight[i], w2[i], 1e-12);
      EXPECT_EQ(weight[i] == before[i], keep[i] == 0);
    }
  }
}

/// Grids with ragged edges, one block, groups and convolutions in O,I,H,W order.
std::vector<WeightLayout> layouts() {
  return {{{1, 1, {1, 1}}, 1},     {{7, 5, {2, 3}}, 1},       {{18, 7, {5, 3}}, 9},
          {{64, 32, {16, 16}}, 1}, {{10, 10, {100, 100}}, 1}, {{18, 6, {4, 4}, 3}, 1}};
}

TEST(Update, BlocksEqualTheReference) {
  for (const WeightLayout& layout : layouts()) {
    for (const Pattern kind : {Pattern::kRandom, Pattern::kEmpty, Pattern::kFull, Pattern::kOne}) {
      for (const UpdateRule& rule : rules()) {
        const Grid& grid = layout.grid;
        SCOPED_TRACE(testing::Message() << grid.rows << "x" << grid.cols << " block " << to_string(grid.block)
                                        << " pattern " << static_cast<int>(kind));
        const std::vector<uint8_t> active = support_of(grid, kind);
        const BsrPattern pattern = make_pattern(grid, active.data());
        const std::vector<float> grad = numbers(grid.elements(), 1);
        const std::vector<float> kept_grad = numbers(pattern.value_floats(), 2);
        std::vector<float> w = numbers(grid.elements(), 3), m = numbers(grid.elements(), 4), v = m;
        for (float& value : v) value = value * value;
        auto w2 = w, m2 = m, v2 = v;
        const float scale = 0.5F;
        const int64_t half = grid.col_blocks() / 2;
        for (const auto& [begin, end] : {std::pair{int64_t{0}, half}, std::pair{half, grid.col_blocks()}}) {
          update_active<float>(rule, layout, active.data(), grad.data(), w.data(), m.data(), v.data(), &scale,
                               begin, end);
          update_blocks(rule, pattern, layout, kept_grad.data(), w.data(), m.data(), v.data(), &scale, begin,
                        end);
        }
        reference::update_active<float>(rule, layout, active.data(), grad.data(), w2.data(), m2.data(),
                                        v2.data(), &scale, 0, grid.col_blocks());
        reference::update_blocks(rule, pattern, layout, kept_grad.data(), w2.data(), m2.data(), v2.data(),
                                 &scale, 0, grid.col_blocks());
        ASSERT_LT(largest_difference(w, w2), 1e-5);
        ASSERT_LT(largest_difference(m, m2), 1e-6);
        ASSERT_LT(largest_difference(v, v2), 1e-6);
      }
    }
  }
}

TEST(Update, DroppedBlocksKeepEveryBit) {
  const WeightLayout layout{{18, 7, {5, 3}}, 9};
  const auto n = static_cast<size_t>(layout.grid.elements());
  std::vector<uint8_t> active(static_cast<size_t>(layout.grid.blocks()));
  for (size_t i = 0; i < active.size(); ++i) active[i] = i % 3 == 0;
  for (const UpdateRule& rule : rules()) {
    const auto grad = doubles(n, 1);
    auto weight = doubles(n, 2), first = doubles(n, 3), second = doubles(n, 3);
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
