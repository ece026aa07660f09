#include "hewn/kernels/multiply.h"

#include <gtest/gtest.h>

#include "hewn/kernels/reference/multiply.h"
#include "tests/support/numbers.h"

namespace hewn::kernels {
namespace {

struct Case {
  int64_t in, out;
  BlockShape block;
  Pattern pattern;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.in << " -> " << c.out << " block " << to_string(c.block) << " pattern "
             << static_cast<int>(c.pattern);
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const auto& [in, outputs] : {std::pair<int64_t, int64_t>{1, 1}, {7, 5}, {64, 64}, {100, 39}}) {
    for (const BlockShape& block : {BlockShape{1, 1}, {2, 3}, {5, 10}, {16, 16}, {100, 100}}) {
      for (const Pattern pattern : {Pattern::kRandom, Pattern::kEmpty, Pattern::kFull, Pattern::kOne}) {
        out.push_back({in, outputs, block, pattern});
      }
    }
  }
  out.push_back({4500, 20, {16, 16}, Pattern::kRandom});  // inputs in several chunks
  return out;
}

BsrPattern pattern_of(const Case& c) {
  const Grid grid{c.in, c.out, c.block};
  return make_pattern(grid, support_of(grid, c.pattern).data());
}

/// The forward and the transposed product.
std::vector<Packed> packed_of(const Case& c) {
  const BsrPattern pattern = pattern_of(c);
  const std::vector<float> values = numbers(pattern.value_floats(), 1);
  std::vector<Packed> out;
  for (Packed weight : {Packed::linear(pattern), Packed::linear_transposed(pattern)}) {
    weight.fill(values.data());
    out.push_back(std::move(weight));
  }
  return out;
}

TEST(Multiply, EqualsTheReferenceForEveryWidthAndEpilogue) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c);
    const int64_t rows = std::max(c.in, c.out) + 1;
    // Two results of one panel; each is read from and written to rows of its own.
    const std::vector<Position> positions = {{1, 2}, {0, rows + 2}};
    const int64_t most = machine().panel_width;
    const std::vector<float> in = numbers(rows * most, 2);
    const std::vector<float> start = numbers((2 * rows + 3) * most, 3);
    const std::vector<float> add = numbers((2 * rows + 3) * most, 4);
    const std::vector<float> bias = numbers(rows, 5);
    for (const Packed& weight : packed_of(c)) {
      for (const int64_t columns : {int64_t{1}, kColumnStep, most}) {
        for (const Epilogue& epilogue :
             {Epilogue{}, {bias.data(), nullptr, true}, {bias.data(), add.data(), true}}) {
          std::vector<float> got = start, expected = start;
          multiply(weight, in.data(), got.data(), columns, positions, epilogue, 0, weight.tile_count());
          reference::multiply(weight, in.data(), expected.data(), columns, positions, epilogue, 0,
                              weight.tile_count());
          ASSERT_LT(largest_difference(got, expected), 1e-5);
          if (columns > 1) continue;
          got = expected = start;
          multiply_one(weight, in.data(), got.data(), epilogue, 0, weight.tile_count());
          reference::multiply_one(weight, in.data(), expected.data(), epilogue, 0, weight.tile_count());
          ASSERT_LT(largest_difference(got, expected), 1e-5);
        }
      }
    }
  }
}

TEST(Multiply, WeightGradientAndItsColumnsEqualTheReference) {
  for (const Case& c : cases()) {
    for (const int64_t batch : {0, 1, 9, 33}) {
      SCOPED_TRACE(testing::Message() << batch << " x " << c);
      const BsrPattern pattern = pattern_of(c);
      const Grid& grid = pattern.grid;
      const int64_t stride = c.in + 3;  // samples that lie in a wider matrix
      const int64_t size = padded_block(c.block.rows);
      const std::vector<float> x = numbers(batch * stride, 1);
      std::vector<float> xs(static_cast<size_t>(grid.row_blocks() * batch * size), 7.0F), expected_xs = xs;
      const int64_t half = grid.row_blocks() / 2;
      pack_block_columns(x.data(), batch, c.in, stride, c.block.rows, size, xs.data(), 0, half);
      pack_block_columns(x.data(), batch, c.in, stride, c.block.rows, size, xs.data(), half,
                         grid.row_blocks());
      reference::pack_block_columns(x.data(), batch, c.in, stride, c.block.rows, size, expected_xs.data(), 0,
                                    grid.row_blocks());
      ASSERT_EQ(xs, expected_xs);

      const std::vector<float> dys = numbers(grid.col_blocks() * batch * c.block.cols, 2);
      for (const bool accumulate : {false, true}) {
        std::vector<float> got = numbers(pattern.value_floats(), 3), expected = got;
        grad_weight(pattern, xs.data(), dys.data(), batch, accumulate, got.data(), 0, grid.col_blocks());
        reference::grad_weight(pattern, xs.data(), dys.data(), batch, accumulate, expected.data(), 0,
                               grid.col_blocks());
        ASSERT_LT(largest_difference(got, expected), 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace hewn::kernels
