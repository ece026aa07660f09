#include "hewn/prune/reachability.h"

#include <gtest/gtest.h>

namespace hewn::prune {
namespace {

// Two layers of 2x2 blocks of size 1: block b of a layer is (input b / 2, output b % 2).
TEST(Reachability, FindsBlocksOnNoPath) {
  const Grid grid{2, 2, {1, 1}};
  // Layer a feeds output 0 only; layer b listens to input 0 and to input 1, which nothing feeds.
  const auto reach = reachability({{"a", grid, {1, 0, 1, 0}}, {"b", grid, {1, 0, 0, 1}}});
  EXPECT_EQ(reach[0].live, 2);
  EXPECT_EQ(reach[1].kept, 2);
  EXPECT_EQ(reach[1].live, 1);
}

TEST(Reachability, SeesACutNetwork) {
  const Grid grid{2, 2, {1, 1}};
  const auto reach = reachability({{"a", grid, {1, 0, 0, 0}}, {"b", grid, {0, 0, 1, 0}}, {"c", grid, {}}});
  EXPECT_EQ(reach[0].live, 0);
  EXPECT_EQ(reach[1].live, 0);
  EXPECT_EQ(reach[2].kept, 4);
  EXPECT_EQ(reach[2].live, 0);
}

TEST(Reachability, BlocksOfDifferentSizesMeet) {
  const auto reach = reachability({{"a", {4, 6, {4, 4}}, {0, 1}}, {"b", {6, 2, {3, 2}}, {1, 0}}});
  EXPECT_EQ(reach[0].live, 0);  // columns 4-5 do not meet rows 0-2
  const auto touching = reachability({{"a", {4, 6, {4, 4}}, {0, 1}}, {"b", {6, 2, {3, 2}}, {0, 1}}});
  EXPECT_EQ(touching[0].live, 1);
  EXPECT_EQ(touching[1].live, 1);
}

TEST(Reachability, AnEmptyChainIsFine) { EXPECT_TRUE(reachability({}).empty()); }

}  // namespace
}  // namespace hewn::prune
