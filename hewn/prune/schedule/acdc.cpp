// Alternating compressed and decompressed training (Peste et al. 2021), in the two forms the paper compares
// with.
#include "hewn/prune/schedule/schedule.h"

namespace hewn::prune {
namespace {

/// Sparse-dense cycles: what the parts of a cycle become without SPARSIFICATION, in equal halves.
std::vector<Share> sparse_dense(int64_t usual, double length, const ScheduleOptions& options) {
  return cycles(cycle_count(options, usual), length, {.sparsification = false, .cycle = {0, 1, 1}});
}

std::vector<Share> alternate(double dense, int64_t usual, double length, double extension, double sparse,
                             const ScheduleOptions& options) {
  lengthen_dense(options, &dense, &length);
  std::vector<Share> shares = {{Phase::kDense, dense}};
  append(shares, sparse_dense(usual, length, options));
  shares.back().length += extension;
  shares.push_back({Phase::kSparse, sparse});
  return shares;
}

}  // namespace

std::vector<Share> acdc_imagenet(const ScheduleOptions& options) {
  return alternate(0.10, 7, 0.70, 0.05, 0.15, options);
}

std::vector<Share> acdc_ctr(const ScheduleOptions& options) {
  return alternate(0.20, 10, 0.60, 0, 0.20, options);
}

}  // namespace hewn::prune
