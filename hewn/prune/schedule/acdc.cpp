// Alternating compressed and decompressed training (Peste et al. 2021), in the two forms the paper compares
// with.
#include "hewn/prune/schedule/schedule.h"

namespace hewn::prune {
namespace {

std::vector<Share> alternate(Alternation form, const ScheduleOptions& options) {
  lengthen_dense(options, &form.dense, &form.length);
  std::vector<Share> shares = {{Phase::kDense, form.dense}};
  // What the parts of a cycle become without SPARSIFICATION, in equal halves.
  append(shares, cycles(cycle_count(options, form.cycles), form.length,
                        {.sparsification = false, .cycle = {0, 1, 1}}));
  shares.back().length += form.extension;
  shares.push_back({Phase::kSparse, form.sparse});
  return shares;
}

}  // namespace

std::vector<Share> acdc_imagenet(const ScheduleOptions& options) { return alternate(kImagenet, options); }

std::vector<Share> acdc_ctr(const ScheduleOptions& options) { return alternate(kCtr, options); }

}  // namespace hewn::prune
