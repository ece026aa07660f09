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

TEST(Text, PrintableHoldsNothingThatATerminalObeys) {
  EXPECT_EQ(printable("plain \xc3\xa4 \xf0\x9f\x98\x80"), "plain \xc3\xa4 \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("a\x1b[31m\nb\x7f"), "a\\x1b[31m\\x0ab\\x7f");
  EXPECT_EQ(printable("\xff\xc3(\xe2\x82"), "\\xff\\xc3(\\xe2\\x82");
  EXPECT_EQ(printable("\xc2\x9b \xed\xa0\x80 \xc0\x80"), "\\xc2\\x9b \\xed\\xa0\\x80 \\xc0\\x80");
}

}  // namespace
}  // namespace hewn
