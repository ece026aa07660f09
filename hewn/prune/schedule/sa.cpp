// SequentialAttention++: ACDC's cycles with a SPARSIFICATION phase before each SPARSE one. The last cycle,
// with its extension, is one long SPARSIFICATION phase that leads into the final fine-tuning.
#include "hewn/prune/schedule/schedule.h"

namespace hewn::prune {
namespace {

std::vector<Share> alternate_with_ramps(Alternation form, const ScheduleOptions& options) {
  const int64_t count = cycle_count(options, form.cycles);
  lengthen_dense(options, &form.dense, &form.length);
  const double one_cycle = form.length / static_cast<double>(count);
  std::vector<Share> shares = {{Phase::kDense, form.dense}};
  append(shares, cycles(count - 1, form.length - one_cycle, options));
  append(shares, final_ramp(one_cycle + form.extension, options));
  shares.push_back({Phase::kSparse, form.sparse});
  return shares;
}

}  // namespace

std::vector<Share> sa_imagenet(const ScheduleOptions& options) {
  return alternate_with_ramps(kImagenet, options);
}

std::vector<Share> sa_ctr(const ScheduleOptions& options) { return alternate_with_ramps(kCtr, options); }

}  // namespace hewn::prune
