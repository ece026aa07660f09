#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace hewn::deploy {

struct AdviceOptions {
  int64_t batch = 24;
  std::vector<int64_t> blocks = {4, 8, 16, 32, 64};
  std::vector<double> sparsities = {0.5, 0.7, 0.8, 0.9, 0.95};
  int64_t min_blocks = 100;  // layers with fewer stay dense
  int64_t rounds = 3;
  uint64_t seed = 0;
  std::function<void(int64_t, int64_t)> progress = {};  // how many measurements of how many are done

  /// Fewer points, one round each.
  static AdviceOptions quick();
};

}  // namespace hewn::deploy
