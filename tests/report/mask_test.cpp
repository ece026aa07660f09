#include "hewn/report/mask.h"

#include <gtest/gtest.h>

namespace hewn::report {
namespace {

TEST(Mask, Base64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("\xff\xfe\xfd\x80"), "//79gA==");
}

TEST(Mask, ABytePerBlock) {
  const Json one = picture({32, 32, {16, 16}}, {1, 0, 0, 1}, {0.0F, 1.0F, 0.5F, 2.0F}, 100);
  EXPECT_EQ(one["rows"], 2);
  EXPECT_EQ(one["merged"], 1);
  EXPECT_EQ(one["high"], 2);
  EXPECT_EQ(one["cells"], base64(std::string{'\x80', '\x40', '\x20', '\xff'}));
}

TEST(Mask, WithoutImportance) {
  const Json one = picture({16, 32, {16, 16}}, {1, 0}, {}, 100);
  EXPECT_TRUE(one["low"].is_null());
  EXPECT_EQ(one["cells"], base64(std::string{'\x80', '\0'}));
}

// A ragged 3x3 grid in at most 4 cells: 2x2, whose edge cells stand for fewer blocks.
TEST(Mask, MergesBlocksOfLargeGrids) {
  const Json one = picture({48, 40, {16, 16}}, {1, 1, 1, 0, 0, 0, 1, 1, 0}, std::vector<float>(9, 1), 4);
  EXPECT_EQ(one["merged"], 2);
  EXPECT_EQ(one["rows"], 2);
  EXPECT_EQ(one["cols"], 2);
  EXPECT_TRUE(one["low"].is_null());
  EXPECT_EQ(one["cells"], base64(std::string{'\x80', '\x80', '\xff', '\0'}));
}

TEST(Mask, ChurnIsTheShareOfNewBlocks) {
  EXPECT_DOUBLE_EQ(churn({1, 1, 0, 0}, {1, 1, 0, 0}), 0);
  EXPECT_DOUBLE_EQ(churn({1, 1, 0, 0}, {0, 1, 1, 0}), 0.5);
  EXPECT_DOUBLE_EQ(churn({1, 1, 0, 0}, {0, 0, 1, 1}), 1);
  EXPECT_DOUBLE_EQ(churn({1, 1}, {0, 0}), 0);
}

// What a run of 50 layers and 100,000 steps puts into a page.
TEST(Mask, FiftyLayersStaySmall) {
  std::string text;
  const Grid grid{2048, 2048, {16, 16}};
  std::vector<uint8_t> kept(static_cast<size_t>(grid.blocks()));
  std::vector<float> importance(kept.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    kept[i] = i % 10 == 0 ? 1 : 0;
    importance[i] = static_cast<float>(i % 997);
  }
  for (int layer = 0; layer < 50; ++layer) text += picture(grid, kept, importance, (1 << 20) / 50).dump();
  EXPECT_LT(text.size(), 2U << 20);
}

}  // namespace
}  // namespace hewn::report
