#include "hewn/data/clicks/cache/split.h"

#include <numeric>

#include "hewn/core/error.h"
#include "hewn/data/plumbing/split_position.h"

namespace hewn::data {

Split::Split(const ClickOptions& options, const std::vector<uint64_t>& file_rows)
    : by_day_(options.split == "day"),
      test_share_(options.test_share),
      held_out_share_(options.test_share + options.validation_share) {
  if (!by_day_) return;
  const uint64_t all = std::accumulate(file_rows.begin(), file_rows.end(), uint64_t{0});
  validation_begin_ = all - file_rows.back();
  test_begin_ = validation_begin_ + file_rows.back() / 2;
}

RowPart Split::part_of(uint64_t row) const {
  if (by_day_) {
    return row < validation_begin_ ? RowPart::kTrain
           : row < test_begin_     ? RowPart::kValidation
                                   : RowPart::kTest;
  }
  const double position = split_position(row);
  return position < test_share_       ? RowPart::kTest
         : position < held_out_share_ ? RowPart::kValidation
                                      : RowPart::kTrain;
}

}  // namespace hewn::data
