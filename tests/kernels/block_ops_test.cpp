#include "hewn/kernels/block_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hewn/core/random.h"
#include "hewn/kernels/reference/block_ops.h"

namespace hewn::kernels {
namespace {

struct Case {
  WeightLayout layout;
  int pattern;  // 0: no support given, 1: random, 2: empty, 3: full
};

std::vector<Case> cases() {
  std::vector<Case> out;
  const std::vector<std::pair<int64_t, int64_t>> sizes = {{1, 1},   {7, 5},   {36, 4}, {18, 3},
                                                          {45, 17}, {64, 64}, {99, 33}};
  const std::vector<BlockShape> blocks = {{1, 1}, {2, 3}, {16, 16}, {64, 8}, {100, 100}};
  for (const auto& [rows, cols] : sizes) {
    for (const BlockShape& block : blocks) {
      for (const int64_t taps : {1, 9}) {
        if (rows % taps != 0) continue;
        for (const int64_t groups : {1, 3}) {  // of 99 x 33 and 18 x 3: ragged, and one column each
          if (cols % groups != 0) continue;
          for (int pattern = 0; pattern < 4; ++pattern)
            out.push_back({{{rows, cols, block, groups}, taps}, pattern});
        }
      }
    }
  }
  return out;
}

template <class T>
std::vector<T> numbers(int64_t count, uint64_t stream) {
  std::vector<T> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>(unit(draw(stream, Stream::kPattern, 0, i)[0]) - 0.5);
  return out;
}

std::vector<uint8_t> support(const Case& c) {
  std::vector<uint8_t> out(static_cast<size_t>(c.layout.grid.blocks()), c.pattern == 3 ? 1 : 0);
  for (size_t i = 0; c.pattern == 1 && i < out.size(); ++i) out[i] = draw(9, Stream::kPattern, 1, i)[0] & 1;
  return out;
}

template <class T>
class BlockOps : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BlockOps, Types);

TYPED_TEST(BlockOps, EqualTheReferenceOverAwkwardShapes) {
  using T = TypeParam;
  const double tolerance = std::is_same_v<T, float> ? 2e-6 : 1e-14;
  for (const Case& c : cases()) {
    const Grid& grid = c.layout.grid;
    SCOPED_TRACE(testing::Message() << grid.rows << "x" << grid.cols << " block " << to_string(grid.block)
                                    << " taps " << c.layout.taps << " pattern " << c.pattern);
    const auto weight = numbers<T>(grid.elements(), 1);
    const auto grad = numbers<T>(grid.elements(), 2);
    const auto gate = numbers<T>(grid.blocks(), 3);
    const auto on = support(c);
    const uint8_t* active = c.pattern == 0 ? nullptr : on.data();
    for (const T* gates : {gate.data(), static_cast<const T*>(nullptr)}) {
      std::vector<T> out(weight.size(), T(7)), out2(weight.size(), T(8));
      std::vector<T> dw(weight.size(), T(7)), dw2(weight.size(), T(8));
      std::vector<T> dg(gate.size(), T(7)), dg2(gate.size(), T(8)), sq(gate.size(), T(7)),
          sq2(gate.size(), T(8));
      // Two calls share the work, as two threads would.
      const int64_t half = grid.col_blocks() / 2;
      for (const auto& [begin, end] : {std::pair{int64_t{0}, half}, std::pair{half, grid.col_blocks()}}) {
        block_scale(c.layout, weight.data(), gates, active, out.data(), begin, end);
        block_scale_backward(c.layout, grad.data(), weight.data(), gates, active, dw.data(), dg.data(), begin,
                             end);
        block_squares(c.layout, weight.data(), sq.data(), begin, end);
      }
      reference::block_scale(c.layout, weight.data(), gates, active, out2.data(), 0, grid.col_blocks());
      reference::block_scale_backward(c.layout, grad.data(), weight.data(), gates, active, dw2.data(),
                                      dg2.data(), 0, grid.col_blocks());
      reference::block_squares(c.layout, weight.data(), sq2.data(), 0, grid.col_blocks());
      EXPECT_EQ(out, out2);
      EXPECT_EQ(dw, dw2);
      for (size_t i = 0; i < dg.size(); ++i) {
        EXPECT_NEAR(dg[i], dg2[i],
                    tolerance * static_cast<double>(grid.elements_of(static_cast<int64_t>(i))));
        EXPECT_NEAR(sq[i], sq2[i],
                    tolerance * static_cast<double>(grid.elements_of(static_cast<int64_t>(i))));
      }
    }
  }
}

TYPED_TEST(BlockOps, InactiveBlocksAreNeverMultiplied) {
  using T = TypeParam;
  const WeightLayout layout{{4, 4, {2, 2}}, 1};
  const std::vector<uint8_t> active = {1, 0, 1, 1};
  std::vector<T> weight(16, T(1));
  std::vector<T> gate(4, T(1));
  for (const int64_t column : {2, 3}) {
    for (const int64_t row : {0, 1})
      weight[static_cast<size_t>(column * 4 + row)] = std::numeric_limits<T>::quiet_NaN();
  }
  gate[1] = std::numeric_limits<T>::infinity();
  std::vector<T> out(16), dw(16), dg(4);
  block_scale(layout, weight.data(), gate.data(), active.data(), out.data(), 0, 2);
  block_scale_backward(layout, weight.data(), weight.data(), gate.data(), active.data(), dw.data(), dg.data(),
                       0, 2);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(std::isfinite(out[i]));
    EXPECT_TRUE(std::isfinite(dw[i]));
  }
  EXPECT_EQ(dg[1], T(0));
}

}  // namespace
}  // namespace hewn::kernels
