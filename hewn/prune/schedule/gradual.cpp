#include "hewn/core/error.h"
#include "hewn/prune/schedule/schedule.h"

namespace hewn::prune {

std::vector<Share> gradual(const ScheduleOptions& options) {
  constexpr double kSparseShare = 0.25;
  const double dense = options.dense_fraction.value_or(0);
  if (dense < 0 || dense >= 1 - kSparseShare) {
    throw Error(str("dense-fraction: expected a number in [0, 0.75) for schedule gradual, got ", dense));
  }
  std::vector<Share> shares;
  if (dense > 0) shares.push_back({Phase::kDense, dense});
  append(shares, final_ramp(1 - kSparseShare - dense, options));
  shares.push_back({Phase::kSparse, kSparseShare});
  return shares;
}

}  // namespace hewn::prune
