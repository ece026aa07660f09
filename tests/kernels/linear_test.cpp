#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "hewn/kernels/multiply.h"
#include "hewn/kernels/reference/linear.h"
#include "tests/support/numbers.h"

namespace hewn::kernels {
namespace {

struct Case {
  int64_t batch, in, out;
  BlockShape block;
  Pattern pattern;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.batch << " x " << c.in << " -> " << c.out << " block " << to_string(c.block) << " pattern "
             << static_cast<int>(c.pattern);
}

std::vector<Case> cases() {
  std::vector<Case> out;
  const std::vector<std::array<int64_t, 3>> sizes = {{1, 1, 1},    {3, 7, 5},     {8, 33, 17},   {31, 20, 64},
                                                     {32, 64, 64}, {57, 100, 39}, {100, 48, 130}};
  for (const auto& [batch, in, rows] : sizes) {
    for (const BlockShape& block :
         {BlockShape{1, 1}, {2, 3}, {4, 4}, {5, 10}, {16, 16}, {64, 8}, {100, 100}}) {
      for (const Pattern pattern : {Pattern::kRandom, Pattern::kEmpty, Pattern::kFull, Pattern::kOne}) {
        out.push_back({batch, in, rows, block, pattern});
      }
    }
  }
  out.push_back({9, 4500, 20, {16, 16}, Pattern::kRandom});  // inputs in several chunks
  out.push_back({9, 20, 4500, {16, 16}, Pattern::kRandom});
  out.push_back({9, 4500, 20, {16, 16}, Pattern::kOne});  // only the last chunk has blocks
  return out;
}

/// The same weight as kept blocks and as a dense matrix (out x in) with zeros.
struct Weight {
  BsrPattern pattern;
  std::vector<float> values;
  std::vector<float> dense;

  explicit Weight(const Case& c)
      : pattern(make_pattern({c.in, c.out, c.block}, support_of({c.in, c.out, c.block}, c.pattern).data())) {
    const WeightLayout layout{pattern.grid, 1};
    const std::vector<float> all = numbers(c.in * c.out, 1);
    values.resize(static_cast<size_t>(pattern.value_floats()));
    dense.resize(all.size());
    gather_blocks(pattern, layout, all.data(), nullptr, values.data(), 0, pattern.grid.col_blocks());
    scatter_blocks(pattern, layout, values.data(), dense.data(), 0, pattern.grid.col_blocks());
  }
};

std::vector<float> run(const Packed& weight, const PanelShape& in, const PanelShape& out,
                       const std::vector<float>& samples, const Epilogue& epilogue) {
  std::vector<float> in_panels(static_cast<size_t>(in.floats()), -1e30F);
  std::vector<float> out_panels(static_cast<size_t>(out.floats()), 1e30F);
  pack_panels(in, samples.data(), in_panels.data(), 0, in.panels());
  const Position position;
  for (int64_t p = 0; p < in.panels(); ++p) {
    multiply(weight, in_panels.data() + in.offset(p), out_panels.data() + out.offset(p), in.columns(p),
             {&position, 1}, epilogue, 0, weight.tile_count());
  }
  std::vector<float> result(static_cast<size_t>(out.batch * out.rows));
  unpack_panels(out, out_panels.data(), result.data(), 0, out.panels());
  return result;
}

TEST(Linear, EqualsTheReferenceOverAwkwardShapes) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c);
    const Weight weight(c);
    const std::vector<float> x = numbers(c.batch * c.in, 2);
    const std::vector<float> dy = numbers(c.batch * c.out, 3);
    const std::vector<float> bias = numbers(c.out, 4);
    const PanelShape in{c.batch, c.in};
    const PanelShape out{c.batch, c.out};

    Packed forward = Packed::linear(weight.pattern);
    forward.fill(weight.values.data());
    std::vector<float> y(static_cast<size_t>(c.batch * c.out));
    reference::linear(c.batch, c.in, c.out, x.data(), weight.dense.data(), bias.data(), y.data());
    ASSERT_LT(largest_difference(run(forward, in, out, x, {bias.data(), nullptr, false}), y), 1e-5);
    for (float& value : y) value = std::max(value, 0.0F);
    ASSERT_LT(largest_difference(run(forward, in, out, x, {bias.data(), nullptr, true}), y), 1e-5);

    Packed transposed = Packed::linear_transposed(weight.pattern);
    transposed.fill(weight.values.data());
    std::vector<float> dx(x.size());
    reference::linear_grad_input(c.batch, c.in, c.out, dy.data(), weight.dense.data(), dx.data());
    ASSERT_LT(largest_difference(run(transposed, out, in, dy, {}), dx), 1e-5);
  }
}

TEST(Linear, WeightGradientEqualsTheReferenceAtKeptBlocks) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c);
    const Weight weight(c);
    const Grid& grid = weight.pattern.grid;
    const std::vector<float> x = numbers(c.batch * c.in, 2);
    const std::vector<float> dy = numbers(c.batch * c.out, 3);
    const int64_t size = padded_block(c.block.rows);
    std::vector<float> xs(static_cast<size_t>(grid.row_blocks() * c.batch * size));
    std::vector<float> dys(static_cast<size_t>(grid.col_blocks() * c.batch * c.block.cols));
    pack_block_columns(x.data(), c.batch, c.in, c.in, c.block.rows, size, xs.data(), 0, grid.row_blocks());
    pack_block_columns(dy.data(), c.batch, c.out, c.out, c.block.cols, c.block.cols, dys.data(), 0,
                       grid.col_blocks());
    std::vector<float> dense(static_cast<size_t>(c.in * c.out));
    reference::linear_grad_weight(c.batch, c.in, c.out, dy.data(), x.data(), dense.data());
    std::vector<float> expected(static_cast<size_t>(weight.pattern.value_floats()));
    gather_blocks(weight.pattern, {grid, 1}, dense.data(), nullptr, expected.data(), 0, grid.col_blocks());

    std::vector<float> got(expected.size(), 1e30F);
    grad_weight(weight.pattern, xs.data(), dys.data(), c.batch, false, got.data(), 0, grid.col_blocks());
    ASSERT_LT(largest_difference(got, expected), 1e-5);
    grad_weight(weight.pattern, xs.data(), dys.data(), c.batch, true, got.data(), 0, grid.col_blocks());
    for (float& value : expected) value *= 2;
    ASSERT_LT(largest_difference(got, expected), 1e-5);
  }
}

TEST(Linear, OneSampleEqualsTheReference) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c);
    const Weight weight(c);
    const std::vector<float> x = numbers(c.in, 2);
    const std::vector<float> bias = numbers(c.out, 4);
    const std::vector<float> add = numbers(c.out, 5);
    Packed packed = Packed::linear(weight.pattern);
    packed.fill(weight.values.data());
    std::vector<float> y(static_cast<size_t>(c.out));
    reference::linear(1, c.in, c.out, x.data(), weight.dense.data(), bias.data(), y.data());
    for (size_t i = 0; i < y.size(); ++i) y[i] = std::max(0.0F, y[i] + add[i]);
    std::vector<float> got(y.size(), 1e30F);
    multiply_one(packed, x.data(), got.data(), {bias.data(), add.data(), true}, 0, packed.tile_count());
    ASSERT_LT(largest_difference(got, y), 1e-5);
  }
}

TEST(Bf16, RoundsToNearestEvenAndKeepsTheRest) {
  const auto back = [](float v) { return std::bit_cast<float>(static_cast<uint32_t>(bf16_from(v)) << 16); };
  EXPECT_EQ(back(1.0F), 1.0F);
  EXPECT_EQ(back(-0.0F), 0.0F);
  EXPECT_EQ(back(1.0F + 0x1p-8F), 1.0F);                // a tie goes to the even neighbour
  EXPECT_EQ(back(1.0F + 3 * 0x1p-8F), 1.0F + 0x1p-6F);  // and so does this one
  EXPECT_EQ(back(1.0F + 0x1p-8F + 0x1p-20F), 1.0F + 0x1p-7F);
  EXPECT_EQ(back(3.4e38F), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(back(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Linear, CostGrowsWithKeptBlocksOnly) {
  const Grid grid{1024, 1024, {16, 16}};
  std::vector<uint8_t> support(static_cast<size_t>(grid.blocks()));
  for (size_t i = 0; i < support.size(); i += 10) support[i] = 1;
  const BsrPattern pattern = make_pattern(grid, support.data());
  EXPECT_EQ(Packed::linear(pattern).products(), pattern.kept() * 256);
  EXPECT_EQ(Packed::linear_transposed(pattern).products(), pattern.kept() * 256);
  EXPECT_LT(Packed::linear(pattern).bytes(), 1024 * 1024 * 4 / 10 * 13 / 10);
}

}  // namespace
}  // namespace hewn::kernels
