#include "hewn/data/tables/parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hewn/core/error.h"
#include "hewn/data/plumbing/split_position.h"

namespace hewn::data {

RowParts row_parts(int64_t rows, const RowShares& shares, Part part, const std::string& where) {
  const auto share_of = [&](double share) {
    if (share <= 0) return int64_t{0};
    return std::clamp<int64_t>(std::llround(share * static_cast<double>(rows)), 1, rows);
  };
  const int64_t test = share_of(shares.test);
  const int64_t validation = share_of(shares.validation);
  if (test + validation >= rows) {
    throw Error(str("test-share and validation-share: of the ", rows, rows == 1 ? " row of " : " rows of ",
                    where, " none is left for training"));
  }
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::vector<double> position;
  for (const int64_t row : order) position.push_back(split_position(static_cast<uint64_t>(row)));
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return position[static_cast<size_t>(a)] < position[static_cast<size_t>(b)];
  });
  const auto after_test = order.begin() + test;
  const auto training = after_test + validation;
  RowParts out{{training, order.end()}, {}};
  if (part == Part::kTest) {
    out.held_out.assign(order.begin(), after_test);
  } else {
    out.held_out.assign(after_test, training);
  }
  std::sort(out.training.begin(), out.training.end());
  std::sort(out.held_out.begin(), out.held_out.end());
  return out;
}

}  // namespace hewn::data
