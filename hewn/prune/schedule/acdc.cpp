// Alternating compressed and decompressed training (Peste et al. 2021), in the two forms the paper compares
// with.
#include "hewn/prune/schedule/schedule.h"

namespace hewn::prune {
namespace {

/// Sparse-dense cycles: what the parts of a cycle become without SPARSIFICATION, in equal halves.
std::vector<Share> sparse_dense(int64_t usual, double length, const ScheduleOptions& options) {
  return cycles(cycle_count(options, usual), length, {.sparsification = false, .cycle = {0, 1, 1}});
}

}  // namespace

std::vector<Share> acdc_imagenet(const ScheduleOptions& options) {
  std::vector<Share> shares = {{Phase::kDense, 0.10}};
  append(shares, sparse_dense(7, 0.70, options));
  shares.back().length += 0.05;
  shares.push_back({Phase::kSparse, 0.15});
  return shares;
}

std::vector<Share> acdc_ctr(const ScheduleOptions& options) {
  std::vector<Share> shares = {{Phase::kDense, 0.20}};
  append(shares, sparse_dense(10, 0.60, options));
  shares.push_back({Phase::kSparse, 0.20});
  return shares;
}

}  // namespace hewn::prune
