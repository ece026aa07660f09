// Which rows are held out.
#include "hewn/data/tables/parts.h"

#include <gtest/gtest.h>

#include "tests/support/message.h"

namespace hewn::data {
namespace {

using test::message_of;

TEST(RowParts, AreDisjointExactAndTheSameWhateverIsAskedFor) {
  const RowParts test = row_parts(100, {0.2, 0.1}, Part::kTest, "a.csv");
  const RowParts validation = row_parts(100, {0.2, 0.1}, Part::kValidation, "a.csv");
  EXPECT_EQ(test.held_out.size(), 20U);
  EXPECT_EQ(validation.held_out.size(), 10U);
  EXPECT_EQ(test.training, validation.training);
  std::vector<bool> seen(100, false);
  for (const auto* part : {&test.held_out, &validation.held_out, &test.training}) {
    for (const int64_t row : *part) {
      EXPECT_FALSE(seen[static_cast<size_t>(row)]);
      seen[static_cast<size_t>(row)] = true;
    }
  }
  EXPECT_EQ(row_parts(3, {0.1, 0.1}, Part::kTest, "a.csv").training.size(), 1U);
  EXPECT_EQ(message_of([] {
              row_parts(1, {0.1, 0.1}, Part::kTest, "a.csv");
            }),
            "test-share and validation-share: of the 1 row of a.csv none is left for training");
}

}  // namespace
}  // namespace hewn::data
