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
  const auto supports = find_search("global")({strong, weak});
  EXPECT_EQ(chosen(supports[0]).size(), 13U);
  EXPECT_EQ(chosen(supports[1]), (std::vector<int64_t>{48, 49}));
}

TEST(Search, EveryRegisteredSearchKeepsItsBudgetAndRepeats) {
  for (const SearchRow& row : searches()) {
    std::vector<Candidates> layers = {{at::rand({37}), {}, 5, 1},
                                      {at::rand({11}), at::ones({11}, at::kByte), 3, 1}};
    const auto a = row.search(layers);
    const auto b = row.search(layers);
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
