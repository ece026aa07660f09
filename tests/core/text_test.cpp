#include "hewn/core/text.h"

#include <gtest/gtest.h>

namespace hewn {
namespace {

TEST(Text, FindsTheNearestWord) {
  EXPECT_EQ(nearest("sparsty", {"sparsity", "schedule"}), "sparsity");
  EXPECT_EQ(nearest("zzzzzzzz", {"sparsity", "schedule"}), "");
}

TEST(Text, MatchesPatterns) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("layer?.*.conv1", "layer1.0.conv1"));
  EXPECT_TRUE(matches("*conv*", "conv1"));
  EXPECT_FALSE(matches("fc", "fc1"));
  EXPECT_FALSE(matches("fc?", "fc"));
}

TEST(Text, WritesBytes) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(int64_t{7} << 40), "7.00 TiB");
}

}  // namespace
}  // namespace hewn
