#include "hewn/core/grid.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"

namespace hewn {
namespace {

TEST(Grid, CountsRaggedBlocks) {
  const Grid grid{7, 5, {3, 2}};
  EXPECT_EQ(grid.row_blocks(), 3);
  EXPECT_EQ(grid.col_blocks(), 3);
  EXPECT_EQ(grid.elements_of(0), 6);
  EXPECT_EQ(grid.elements_of(2), 3);
  EXPECT_EQ(grid.elements_of(8), 1);
  int64_t all = 0;
  for (int64_t i = 0; i < grid.blocks(); ++i) all += grid.elements_of(i);
  EXPECT_EQ(all, grid.elements());
}

TEST(Grid, FindsTheBlockOfAnElement) {
  const Grid grid{7, 5, {3, 2}};
  EXPECT_EQ(grid.block_of(0, 0), 0);
  EXPECT_EQ(grid.block_of(2, 1), 0);
  EXPECT_EQ(grid.block_of(3, 4), 5);
  EXPECT_EQ(grid.block_of(6, 4), 8);
}

TEST(Grid, NoBlockLiesInTwoGroups) {
  const Grid grid{7, 15, {3, 2}, 3};  // five columns a group: blocks of 2, 2 and 1
  EXPECT_EQ(grid.col_blocks(), 9);
  EXPECT_EQ(grid.first_col(2), 4);
  EXPECT_EQ(grid.last_col(2), 5);
  EXPECT_EQ(grid.first_col(3), 5);
  EXPECT_EQ(grid.last_col(8), 15);
  std::vector<int64_t> counted(static_cast<size_t>(grid.blocks()));
  for (int64_t row = 0; row < grid.rows; ++row) {
    for (int64_t col = 0; col < grid.cols; ++col) {
      const int64_t block = grid.block_of(row, col);
      EXPECT_LE(grid.first_col(block % 9), col);
      EXPECT_GT(grid.last_col(block % 9), col);
      ++counted[static_cast<size_t>(block)];
    }
  }
  for (int64_t i = 0; i < grid.blocks(); ++i) EXPECT_EQ(counted[static_cast<size_t>(i)], grid.elements_of(i));
}

TEST(Grid, MapsConvolutionMemoryToRowsInHeightWidthChannelOrder) {
  // O,I,H,W with I = 4, H = W = 3: offset of (i, h, w) in a run is i*9 + h*3 + w, its row (h*3 + w)*4 + i.
  const WeightLayout layout{{36, 2, {5, 2}}, 9};
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t tap = 0; tap < 9; ++tap) EXPECT_EQ(layout.row_of(i * 9 + tap), tap * 4 + i);
  }
}

TEST(Grid, KeepsRoundedHalfUpAndAtLeastOne) {
  EXPECT_EQ(blocks_to_keep(100, 0.9), 10);  // although (1 - 0.9) * 100 is a little below 10
  EXPECT_EQ(blocks_to_keep(3136, 0.9), 313);
  EXPECT_EQ(blocks_to_keep(5, 0.5), 2);
  EXPECT_EQ(blocks_to_keep(10, 0.999), 1);
  EXPECT_EQ(blocks_to_keep(10, 0.0), 10);
  EXPECT_EQ(blocks_to_keep(400, 0.99), 4);
  for (int64_t tenths = 1; tenths < 10; ++tenths) {
    for (int64_t n = 1; n < 3000; ++n) {
      const int64_t exact = n * tenths / 10;
      ASSERT_EQ(blocks_to_keep(n, 1 - static_cast<double>(tenths) / 10), std::max<int64_t>(1, exact)) << n;
    }
  }
  // As in version 0.1, for runs that it began.
  EXPECT_EQ(blocks_to_keep(3136, 0.9, Rounding::kNearest), 314);
  EXPECT_EQ(blocks_to_keep(25, 0.9, Rounding::kNearest), 3);
  EXPECT_EQ(blocks_to_keep(1560, 0.99, Rounding::kNearest), 16);
}

TEST(Grid, ParsesBlocks) {
  EXPECT_EQ(parse_block("16"), (BlockShape{16, 16}));
  EXPECT_EQ(parse_block("8x32"), (BlockShape{8, 32}));
  for (const char* bad : {"", "0", "-4", "8x", "x8", "8x0", "16.5", "8x8x8", "a"}) {
    EXPECT_THROW(parse_block(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace hewn
