#pragma once

#include <string>
#include <vector>

#include "hewn/deploy/select/layer_groups.h"
#include "hewn/run/costs.h"

namespace hewn::deploy {

/// Kept blocks of a layer and how long it took.
struct CostPoint {
  double blocks = 0;
  double ms = 0;
};

/// ms = fixed + each * blocks.
struct CostLine {
  double fixed = 0;
  double each = 0;
};

/// Least squares with fixed >= 0 and each > 0: of times that do not grow with the blocks their mean and next
/// to nothing for each.
CostLine fit_costs(const std::vector<CostPoint>& points);

struct MeasuredCosts {
  run::Costs costs;      // model and data are the caller's to name
  std::string withheld;  // why times here cannot be compared; empty: they can
};

/// Times every prunable layer of the model on this machine, dense and at several densities of that block,
/// with LibTorch's current number of threads. Of the options, the blocks, sparsities and min_blocks do not
/// matter. Throws Error for a layer that cannot be timed.
MeasuredCosts measure_costs(nn::Model& model, const std::vector<int64_t>& input, const BlockShape& block,
                            const AdviceOptions& options);

}  // namespace hewn::deploy
