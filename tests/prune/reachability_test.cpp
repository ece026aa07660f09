#include "hewn/prune/reachability.h"

#include <gtest/gtest.h>

#include "hewn/core/random.h"

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

TEST(Reachability, DeadBlocksGiveTheirPlacesToTheBestLiveOnes) {
  const Grid grid{3, 3, {1, 1}};
  // Layer b listens to inputs 0 and 1; a's block into output 2 is dead, and 0 -> 1 is its most important
  // heir.
  std::vector<ChainLink> chain = {{"a", grid, {1, 0, 1, 0, 0, 0, 0, 0, 0}},
                                  {"b", grid, {1, 0, 0, 1, 0, 0, 0, 0, 0}}};
  const std::vector<double> rank = {9, 8, 7, 1, 5, 1, 1, 1, 1};
  give_to_live_blocks(chain, [&](size_t) { return rank; });
  EXPECT_EQ(chain[0].kept, (std::vector<uint8_t>{1, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(chain[1].kept, (std::vector<uint8_t>{1, 0, 0, 1, 0, 0, 0, 0, 0}));
  for (const LinkReach& reach : reachability(chain)) EXPECT_EQ(reach.live, 2);
}

TEST(Reachability, RandomChainsKeepTheirNumbersAndLoseTheirDeadBlocks) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<ChainLink> chain = {
        {"a", {20, 30, {2, 3}}, {}}, {"b", {30, 16, {5, 4}}, {}}, {"c", {16, 9, {4, 3}}, {}}};
    for (size_t i = 0; i < chain.size(); ++i) {
      for (int64_t block = 0; block < chain[i].grid.blocks(); ++block) {
        chain[i].kept.push_back(unit(draw(seed, Stream::kPattern, i, static_cast<uint64_t>(block))[0]) <
                                0.15);
      }
    }
    const auto before = reachability(chain);
    give_to_live_blocks(chain, [&](size_t i) {
      std::vector<double> rank;
      for (size_t block = 0; block < chain[i].kept.size(); ++block) {
        rank.push_back(unit(draw(seed, Stream::kPattern, i + 10, block)[0]));
      }
      return rank;
    });
    const auto after = reachability(chain);
    for (size_t i = 0; i < chain.size(); ++i) {
      EXPECT_EQ(after[i].kept, before[i].kept);
      EXPECT_GE(after[i].live, before[i].live);
      if (after[i].live == after[i].kept) continue;
      // Dead ones are left only where no block could take their place.
      for (size_t block = 0; block < chain[i].kept.size(); ++block) {
        std::vector<ChainLink> more = chain;
        more[i].kept[block] = 1;
        EXPECT_EQ(reachability(more)[i].live, after[i].live) << seed << " " << i << " " << block;
      }
    }
  }
}

TEST(Reachability, AnEmptyChainIsFine) { EXPECT_TRUE(reachability({}).empty()); }

}  // namespace
}  // namespace hewn::prune
