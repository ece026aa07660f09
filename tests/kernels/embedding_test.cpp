#include "hewn/kernels/embedding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hewn/core/random.h"
#include "hewn/kernels/reference/embedding.h"
#include "tests/support/numbers.h"

namespace hewn::kernels {
namespace {

/// Tables of a few awkward vocabularies (a single value, a few, many) and a batch that meets them.
struct Case {
  std::vector<int64_t> first;
  int64_t width;
  int64_t samples;
  std::vector<int32_t> values;
  std::vector<float> table, grad;

  Case(const std::vector<int64_t>& vocabularies, int64_t width_, int64_t samples_)
      : first{0}, width(width_), samples(samples_) {
    for (const int64_t size : vocabularies) first.push_back(first.back() + size);
    const auto fields = vocabularies.size();
    for (int64_t n = 0; n < samples; ++n) {
      for (size_t f = 0; f < fields; ++f) {
        const auto word = draw(7, Stream::kPattern, f, static_cast<uint64_t>(n))[0];
        values.push_back(static_cast<int32_t>(below(word, static_cast<uint32_t>(vocabularies[f]))));
      }
    }
    table = numbers(static_cast<size_t>(first.back() * width), 1);
    grad = numbers(values.size() * static_cast<size_t>(width), 2);
  }

  Tables tables() const { return {static_cast<int64_t>(first.size()) - 1, width, first.data()}; }

  static std::vector<float> numbers(size_t count, uint64_t seed) {
    std::vector<float> out(count);
    for (size_t i = 0; i < count; ++i)
      out[i] = static_cast<float>(unit(draw(seed, Stream::kPattern, 0, i)[0]) - 0.5);
    return out;
  }
};

std::vector<Case> cases() {
  return {{{1}, 1, 1}, {{3, 1, 50}, 10, 200}, {{5, 4000, 2}, 17, 37}, {{9, 9}, 3, 0}, {{100000}, 10, 500}};
}

/// number_rows and sum_rows together: rows and sums, in shares as threads would take them.
void gradient(const Case& c, int64_t share, std::vector<int64_t>* rows, std::vector<float>* sums) {
  const Tables tables = c.tables();
  const auto fields = static_cast<size_t>(tables.fields);
  std::vector<int32_t> known(static_cast<size_t>(c.first.back()), -1);
  std::vector<int32_t> number(c.values.size());
  std::vector<int64_t> found(c.values.size()), counts(fields), start(fields + 1);
  for (int64_t f = 0; f < tables.fields; f += share) {
    number_rows(tables, c.values.data(), c.samples, known.data(), number.data(), found.data(), counts.data(),
                f, std::min(f + share, tables.fields));
  }
  for (size_t f = 0; f < fields; ++f) {
    start[f + 1] = start[f] + counts[f];
    const auto* begin = found.data() + static_cast<int64_t>(f) * c.samples;
    rows->insert(rows->end(), begin, begin + counts[f]);
  }
  sums->assign(static_cast<size_t>(start.back() * c.width), 0);
  for (int64_t f = 0; f < tables.fields; f += share) {
    sum_rows(tables, number.data(), c.samples, c.grad.data(), start.data(), sums->data(), f,
             std::min(f + share, tables.fields));
  }
  for (const int32_t entry : known) ASSERT_EQ(entry, -1) << "the scratch was not left as it was found";
}

TEST(Embedding, LooksUpEveryValue) {
  for (const Case& c : cases()) {
    std::vector<float> out(c.grad.size(), 7.0F), expected = out;
    ASSERT_TRUE(embed(c.tables(), c.table.data(), c.values.data(), 0, c.samples, out.data()));
    ASSERT_TRUE(reference::embed(c.tables(), c.table.data(), c.values.data(), 0, c.samples, expected.data()));
    EXPECT_EQ(out, expected);
  }
}

TEST(Embedding, NumbersAndSumsEqualTheReference) {
  for (const Case& c : cases()) {
    const Tables tables = c.tables();
    const auto fields = static_cast<size_t>(tables.fields);
    std::vector<int32_t> known(static_cast<size_t>(c.first.back()), -1);
    std::vector<int32_t> number(c.values.size(), 7), expected_number = number;
    std::vector<int64_t> rows(c.values.size(), 7), expected_rows = rows;
    std::vector<int64_t> counts(fields, 7), expected_counts = counts;
    number_rows(tables, c.values.data(), c.samples, known.data(), number.data(), rows.data(), counts.data(),
                0, tables.fields);
    reference::number_rows(tables, c.values.data(), c.samples, nullptr, expected_number.data(),
                           expected_rows.data(), expected_counts.data(), 0, tables.fields);
    ASSERT_EQ(number, expected_number);
    ASSERT_EQ(rows, expected_rows);
    ASSERT_EQ(counts, expected_counts);

    std::vector<int64_t> start = {0};
    for (const int64_t count : counts) start.push_back(start.back() + count);
    std::vector<float> sums(static_cast<size_t>(start.back() * c.width), 0.25F), expected = sums;
    sum_rows(tables, number.data(), c.samples, c.grad.data(), start.data(), sums.data(), 0, tables.fields);
    reference::sum_rows(tables, number.data(), c.samples, c.grad.data(), start.data(), expected.data(), 0,
                        tables.fields);
    ASSERT_LT(largest_difference(sums, expected), 1e-5);
  }
}

TEST(Embedding, RefusesValuesOutsideTheVocabulary) {
  Case c({3, 4}, 2, 5);
  std::vector<float> out(c.grad.size());
  for (const int32_t wrong :
       {3, -1, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
    Case broken = c;
    broken.values[4] = wrong;  // sample 2, field 0
    EXPECT_FALSE(embed(broken.tables(), c.table.data(), broken.values.data(), 0, 5, out.data()));
    EXPECT_TRUE(embed(broken.tables(), c.table.data(), broken.values.data(), 3, 5, out.data()));
  }
}

TEST(Embedding, GradientEqualsThatOfTheWholeTable) {
  for (const Case& c : cases()) {
    std::vector<double> expected(c.table.size());
    reference::table_gradient(c.tables(), c.values.data(), c.samples, c.grad.data(), expected.data());
    std::vector<int64_t> rows;
    std::vector<float> sums;
    gradient(c, 2, &rows, &sums);
    std::vector<double> whole(c.table.size(), 0);
    for (size_t i = 0; i < rows.size(); ++i) {
      for (int64_t d = 0; d < c.width; ++d) {
        double& position = whole[static_cast<size_t>(rows[i] * c.width + d)];
        EXPECT_EQ(position, 0) << "row " << rows[i] << " occurs twice";
        position = static_cast<double>(sums[i * static_cast<size_t>(c.width) + static_cast<size_t>(d)]);
      }
    }
    for (size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(whole[i], expected[i], 1e-4);
  }
}

TEST(Embedding, GradientHasTheSameBitsHoweverFieldsAreShared) {
  const Case c({3, 1, 50, 1000}, 10, 300);
  std::vector<int64_t> rows, other_rows;
  std::vector<float> sums, other_sums;
  gradient(c, 4, &rows, &sums);
  gradient(c, 1, &other_rows, &other_sums);
  EXPECT_EQ(rows, other_rows);
  EXPECT_EQ(sums, other_sums);
}

TEST(Embedding, UpdateTouchesItsRowsOnlyAndFollowsTheTextbook) {
  const std::vector<int64_t> rows = {7, 0, 39, 3, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22};
  const int64_t width = 10;
  for (const UpdateKind kind : {UpdateKind::kSgd, UpdateKind::kAdam, UpdateKind::kAdamW}) {
    const UpdateRule rule{.kind = kind,
                          .lr = 0.1,
                          .weight_decay = 0.01,
                          .momentum = 0.9,
                          .correction1 = 0.19,
                          .correction2 = 0.002};
    const auto start = Case::numbers(400, 1);
    const auto grad = Case::numbers(rows.size() * 10, 2);
    auto weight = start, first = Case::numbers(400, 3), second = Case::numbers(400, 4);
    for (float& v : second) v = std::abs(v);
    auto w = weight, m = first, v = second;
    const float scale = 0.5F;
    update_rows(rule, rows.data(), width, grad.data(), weight.data(), first.data(), second.data(), &scale, 0,
                4);
    update_rows(rule, rows.data(), width, grad.data(), weight.data(), first.data(), second.data(), &scale, 4,
                static_cast<int64_t>(rows.size()));
    reference::update_rows(rule, rows.data(), width, grad.data(), w.data(), m.data(), v.data(), &scale, 0,
                           static_cast<int64_t>(rows.size()));
    for (size_t i = 0; i < w.size(); ++i) {
      const bool touched = std::find(rows.begin(), rows.end(), static_cast<int64_t>(i / 10)) != rows.end();
      if (!touched) {
        EXPECT_EQ(weight[i], start[i]);
      }
      EXPECT_NEAR(weight[i], w[i], 1e-5);
      EXPECT_NEAR(first[i], m[i], 1e-6);
      EXPECT_NEAR(second[i], v[i], 1e-6);
    }
  }
}

}  // namespace
}  // namespace hewn::kernels
