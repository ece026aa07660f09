#include "hewn/convex/select.h"

#include "hewn/convex/selection/holdout.h"
#include "hewn/convex/selection/named_groups.h"
#include "hewn/convex/selection/ways.h"
#include "hewn/core/error.h"

namespace hewn::convex {

Selection select(const Dataset& data, const SelectOptions& options,
                 const std::function<void(int, int)>& progress) {
  const ChosenMethod chosen = find_method(options.method);
  if (options.k < 0) throw Error(str("k: expected at least 1, got ", options.k));
  if (!(options.holdout >= 0 && options.holdout < 1)) {
    throw Error(str("holdout: expected a share from 0 to below 1, got ", options.holdout));
  }
  if (!(options.tolerance > 0)) throw Error(str("tolerance: expected more than 0, got ", options.tolerance));
  Selection out;
  out.problem = data.problem;
  NamedGroups groups = named_groups(data, options);
  out.problem.groups = std::move(groups.groups);
  out.group_names = std::move(groups.names);
  out.problem.intercept = options.intercept;
  out.problem.standardise = options.standardise;
  const bool subset = chosen.method->is_subset();
  out.problem.ridge = options.ridge.value_or(subset && out.problem.loss->may_diverge() ? 1e-3 : 0);
  Options solver;
  solver.tolerance = options.tolerance;

  Vector outside;
  if (options.holdout > 0)
    outside = leave_out(out.problem, options.holdout, static_cast<uint64_t>(options.seed));
  if (subset) {
    pursue_subset(out, chosen, options, solver, progress);
  } else {
    follow_path(out, chosen, options, solver, progress);
  }
  if (options.holdout > 0) {
    out.holdout = score_of(out.problem, outside, out.selected);
    std::vector<Index> all;
    for (Index g = 0; g < out.problem.groups.count(); ++g) {
      if (out.problem.groups.weight(g) > 0) all.push_back(g);
    }
    out.holdout_all = score_of(out.problem, outside, all);
  }
  return out;
}

}  // namespace hewn::convex
