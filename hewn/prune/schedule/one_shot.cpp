#include "hewn/core/error.h"
#include "hewn/prune/schedule/schedule.h"

namespace hewn::prune {

std::vector<Share> no_pruning(const ScheduleOptions&) { return {{Phase::kDense, 1}}; }

std::vector<Share> all_sparse(const ScheduleOptions&) { return {{Phase::kSparse, 1}}; }

std::vector<Share> one_shot(const ScheduleOptions& options) {
  const double dense = options.dense_fraction.value_or(0.5);
  if (dense <= 0 || dense >= 1)
    throw Error(str("dense-fraction: expected a number between 0 and 1, got ", dense));
  return {{Phase::kDense, dense}, {Phase::kSparse, 1 - dense}};
}

}  // namespace hewn::prune
