#include "hewn/prune/schedule/schedule.h"

namespace hewn::prune {

/// Sparse from the first step to the last. Blocks are exchanged between the phases of the first three
/// quarters (Evci et al. 2020, RigL).
std::vector<Share> exchange(const ScheduleOptions& options) {
  constexpr double kExchange = 0.75;
  constexpr int64_t kPhases = 30;
  const int64_t count = cycle_count(options, kPhases);
  std::vector<Share> shares(static_cast<size_t>(count),
                            {Phase::kSparse, kExchange / static_cast<double>(count)});
  shares.push_back({Phase::kSparse, 1 - kExchange});
  return shares;
}

}  // namespace hewn::prune
