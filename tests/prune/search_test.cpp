#include "hewn/prune/search/search.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"

namespace hewn::prune {
namespace {

std::vector<int64_t> chosen(const at::Tensor& support) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < support.numel(); ++i) {
    if (support[i].item<int64_t>() != 0) out.push_back(i);
  }
  return out;
}

TEST(Search, TopKIsExactAndTiesGoToTheLowestIndex) {
  const at::Tensor importance = at::tensor({2.0, 5.0, 2.0, 2.0, 9.0, 2.0});
  EXPECT_EQ(chosen(top_k(importance, 4, {})), (std::vector<int64_t>{0, 1, 2, 4}));
  EXPECT_EQ(chosen(top_k(at::zeros({1000}), 3, {})), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(chosen(top_k(importance, 6, {})).size(), 6U);
}

TEST(Search, StaysWithin) {
  const at::Tensor importance = at::tensor({9.0, 8.0, 7.0, 6.0});
  const at::Tensor within = at::tensor({0, 1, 0, 1}, at::kByte);
  EXPECT_EQ(chosen(top_k(importance, 1, within)), (std::vector<int64_t>{1}));
  EXPECT_EQ(chosen(top_k(importance, 2, within)), (std::vector<int64_t>{1, 3}));
}

TEST(Search, GlobalSharesOneBudgetAndEmptiesNoLayer) {
  const Candidates strong{at::arange(100, 200, at::kDouble), {}, 10, 1};
  const Candidates weak{at::arange(0, 50, at::kDouble), {}, 5, 2};
  const auto supports = find_search("global")({strong, weak}, {});
  EXPECT_EQ(chosen(supports[0]).size(), 13U);
  EXPECT_EQ(chosen(supports[1]), (std::vector<int64_t>{48, 49}));
}

TEST(Search, LevelsMakeLayersComparable) {
  Candidates high{at::arange(0, 10, at::kDouble), {}, 5, 1};
  Candidates low{at::arange(0, 10, at::kDouble), {}, 5, 1};
  low.level = at::full({}, -100.0, at::kDouble);
  const auto supports = find_search("global")({high, low}, {});
  EXPECT_EQ(chosen(supports[0]).size(), 9U);
  EXPECT_EQ(chosen(supports[1]), (std::vector<int64_t>{9}));
}

/// A block of four times the cost must be twice as large to be kept.
TEST(Search, CostsCountAndTheLimitHolds) {
  Candidates dear{at::tensor({2.1, 1.9, 0.1}, at::kDouble).log(), {}, 2, 1};
  Candidates cheap{at::tensor({1.0, 1.0, 1.0, 0.2}, at::kDouble).log(), {}, 2, 1};
  dear.in_logarithms = cheap.in_logarithms = true;
  dear.cost = at::full({3}, 4, at::kLong);
  cheap.cost = at::full({4}, 1, at::kLong);
  const auto supports = find_search("global")({dear, cheap}, {.cost = 7});
  EXPECT_EQ(chosen(supports[0]), (std::vector<int64_t>{0}));
  EXPECT_EQ(chosen(supports[1]), (std::vector<int64_t>{0, 1, 2}));
  // As norms rather than their logarithms: the same.
  dear.importance = dear.importance.exp();
  cheap.importance = cheap.importance.exp();
  dear.in_logarithms = cheap.in_logarithms = false;
  EXPECT_TRUE(at::equal(find_search("global")({dear, cheap}, {.cost = 7})[1], supports[1]));
  // Blocks that may not be chosen are not, however good.
  cheap.within = at::tensor({0, 1, 0, 1}, at::kByte);
  EXPECT_EQ(chosen(find_search("global")({dear, cheap}, {.cost = 100})[1]), (std::vector<int64_t>{1, 3}));
}

TEST(Search, RegrowthExchangesTheWorstForThoseWithTheLargestGradient) {
  Candidates layer{at::tensor({9.0, 1.0, 8.0, 7.0, 0.0, 0.0, 0.0}),
                   at::tensor({1, 1, 1, 1, 0, 0, 0}, at::kByte), 4, 1};
  layer.growth = at::tensor({99.0, 99.0, 99.0, 99.0, 1.0, 3.0, 2.0});
  EXPECT_EQ(chosen(find_search("regrow")({layer}, {.moved = 0.5})[0]), (std::vector<int64_t>{0, 2, 5, 6}));
  EXPECT_EQ(chosen(find_search("regrow")({layer}, {.moved = 0})[0]), (std::vector<int64_t>{0, 1, 2, 3}));
  layer.growth = at::Tensor();
  EXPECT_THROW(find_search("regrow")({layer}, {}), Error);
}

TEST(Search, EveryRegisteredSearchKeepsItsBudgetAndRepeats) {
  for (const SearchRow& row : searches()) {
    std::vector<Candidates> layers = {{at::rand({37}), {}, 5, 1},
                                      {at::rand({11}), at::ones({11}, at::kByte), 3, 1}};
    for (Candidates& layer : layers) layer.growth = at::rand_like(layer.importance);
    const auto a = row.search(layers, {});
    const auto b = row.search(layers, {});
    int64_t kept = 0;
    for (size_t i = 0; i < layers.size(); ++i) {
      EXPECT_TRUE(at::equal(a[i], b[i])) << row.name;
      EXPECT_EQ(a[i].scalar_type(), at::kByte);
      EXPECT_EQ(a[i].numel(), layers[i].importance.numel());
      kept += a[i].sum().item<int64_t>();
    }
    EXPECT_EQ(kept, 8) << row.name;
  }
  EXPECT_THROW(find_search("nope"), Error);
}

}  // namespace
}  // namespace hewn::prune
