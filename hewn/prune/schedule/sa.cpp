// SequentialAttention++: ACDC's cycles with a SPARSIFICATION phase before each SPARSE one. The last cycle,
// with its extension, is one long SPARSIFICATION phase that leads into the final fine-tuning.
#include "hewn/prune/schedule/schedule.h"

namespace hewn::prune {
namespace {

std::vector<Share> alternate_with_ramps(double dense, int64_t usual, double length, double extension,
                                        double sparse, const ScheduleOptions& options) {
  const int64_t count = cycle_count(options, usual);
  lengthen_dense(options, &dense, &length);
  const double one_cycle = length / static_cast<double>(count);
  std::vector<Share> shares = {{Phase::kDense, dense}};
  append(shares, cycles(count - 1, length - one_cycle, options));
  append(shares, final_ramp(one_cycle + extension, options));
  shares.push_back({Phase::kSparse, sparse});
  return shares;
}

}  // namespace

std::vector<Share> sa_imagenet(const ScheduleOptions& options) {
  return alternate_with_ramps(0.10, 7, 0.70, 0.05, 0.15, options);
}

std::vector<Share> sa_ctr(const ScheduleOptions& options) {
  return alternate_with_ramps(0.20, 10, 0.60, 0, 0.20, options);
}

}  // namespace hewn::prune
