#include "hewn/data/synthetic/click_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "hewn/core/random.h"
#include "hewn/data/synthetic/reference/click_rows.h"

namespace hewn::data {
namespace {

/// A truth with fields of 1, 2, 3, 100 and 10000 values, aliases of all kinds, and logits between about -6
/// and 6.
struct Truth {
  std::vector<AliasEntry> aliases;
  std::vector<ValueEffect> effects;
  ClickTruth truth;

  Truth() {
    const uint32_t sizes[] = {1, 2, 3, 100, 10000};
    for (int f = 0; f < kClickFields; ++f) {
      const uint32_t size = sizes[f % 5];
      for (uint32_t v = 0; v < size; ++v) {
        const auto words = draw(1, Stream::kPattern, static_cast<uint64_t>(f), v);
        aliases.push_back({words[0], static_cast<int32_t>(below(words[1], size))});
        ValueEffect effect{static_cast<float>(unit(words[2]) - 0.5), {}};
        for (int k = 0; k < kClickRank; ++k) {
          effect.factor[k] = static_cast<float>(unit(words[3] << (8 * k)) - 0.5) * 0.5f;
        }
        effects.push_back(effect);
      }
      truth.first[f + 1] = static_cast<int32_t>(aliases.size());
    }
    truth.aliases = aliases.data();
    truth.effects = effects.data();
    truth.bias = -1;
  }
};

struct Rows {
  std::vector<int32_t> input;
  std::vector<float> target, logit;
  std::vector<double> probability;

  explicit Rows(int64_t count)
      : input(static_cast<size_t>(count * kClickFields + 1), -7),
        target(static_cast<size_t>(count + 1), -7),
        logit(target.size(), -7),
        probability(target.size(), -7) {}
};

Rows fast(const ClickTruth& truth, const ClickStream& stream, int64_t first, int64_t count) {
  Rows out(count);
  click_rows(truth, stream, first, count, out.input.data(), out.target.data(), out.logit.data());
  return out;
}

TEST(SyntheticRows, EqualTheFormula) {
  const Truth t;
  for (const ClickStream stream :
       {ClickStream{0, 0}, ClickStream{~0ULL, counter_of(Stream::kClicks, 12345)}}) {
    for (const int64_t first : {int64_t{0}, int64_t{1}, int64_t{777}, int64_t{1} << 40}) {
      for (const int64_t count : {0, 1, 2, 7, 64, 333}) {
        const Rows got = fast(t.truth, stream, first, count);
        Rows expected(count);
        reference::click_rows(t.truth, stream, first, count, expected.input.data(), expected.target.data(),
                              expected.probability.data());
        ASSERT_EQ(got.input, expected.input);  // and nothing behind the last row
        ASSERT_EQ(got.target, expected.target);
        ASSERT_EQ(got.logit.back(), -7);
        for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
          const double p = expected.probability[i];
          ASSERT_NEAR(got.logit[i], std::log(p / (1 - p)), 1e-5);
        }
      }
    }
  }
}

TEST(SyntheticRows, ARowDependsOnItsNumberAndStreamOnly) {
  const Truth t;
  const ClickStream stream{3, 4};
  const Rows all = fast(t.truth, stream, 0, 50);
  for (int64_t row = 0; row < 50; ++row) {
    const Rows one = fast(t.truth, stream, row, 1);
    const auto begin = all.input.begin() + row * kClickFields;
    EXPECT_TRUE(std::equal(begin, begin + kClickFields, one.input.begin()));
    EXPECT_EQ(one.target[0], all.target[static_cast<size_t>(row)]);
  }
  std::set<std::vector<int32_t>> different = {all.input};
  for (const ClickStream other : {ClickStream{4, 4}, ClickStream{3, 5}}) {
    EXPECT_TRUE(different.insert(fast(t.truth, other, 0, 50).input).second);
  }
}

TEST(SyntheticRows, LogitsMayBeLeftOut) {
  const Truth t;
  const Rows with = fast(t.truth, {}, 5, 20);
  Rows without(20);
  click_rows(t.truth, {}, 5, 20, without.input.data(), without.target.data(), nullptr);
  EXPECT_EQ(with.input, without.input);
  EXPECT_EQ(with.target, without.target);
}

}  // namespace
}  // namespace hewn::data
