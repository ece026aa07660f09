#include <algorithm>

#include "hewn/convex/fit/fitter.h"
#include "hewn/convex/solver/greedy_common.h"
#include "hewn/core/error.h"

namespace hewn::convex {

Greedy sequential_lasso(const Problem& problem, const Options& solver, const GreedyOptions& options) {
  if (!(options.epsilon > 0 && options.epsilon < 1)) {
    throw Error(str("epsilon: expected a number between 0 and 1, got ", options.epsilon));
  }
  const Index k = checked_count(problem, options.k);
  Problem current = problem;
  Subsets subsets(problem);
  SubsetFit fit = subsets.fit(subsets.always(), nullptr);
  Greedy out;
  out.null_loss = fit.loss;
  for (Index i = 0; i < k; ++i) {
    const Choice choice = choose_entering(subsets, fit, Score::kNorm);
    if (i == 0) out.tau = choice.tau;
    if (out.tau == 0) break;  // a response of zeros: there is nothing to explain
    Index entered = choice.group;
    if (choice.tau > 0) {
      Fitter fitter(current, Penalty(), solver);
      const Solution solution = fitter.fit((1 - options.epsilon) * fitter.tau());
      entered = -1;
      for (const Index g : solution.support) {
        if (current.groups.weight(g) == 0) continue;
        if (entered >= 0) {
          throw Error(str("sequential lasso: groups ", entered, " and ", g, " entered together in step ",
                          i + 1, "; choose a smaller epsilon than ", options.epsilon));
        }
        entered = g;
      }
      if (entered < 0 || (entered != choice.group && !choice.tie)) {
        throw Error(str("sequential lasso: step ", i + 1, " selected group ", entered,
                        " but the largest gradient is of ", choice.group, "; choose a smaller tolerance"));
      }
    }
    current.groups.set_weight(entered, 0);
    std::vector<Index> groups = fit.groups;
    groups.push_back(entered);
    fit = subsets.fit(groups, &fit);
    out.selected.push_back(entered);
    out.losses.push_back(fit.loss);
    out.rounds.push_back({entered, -1, choice.tau, choice.tie, fit.loss, fit.objective, choice.group});
    if (options.progress) options.progress(static_cast<int>(i) + 1, static_cast<int>(k));
  }
  finish(out, subsets, fit);
  return out;
}

}  // namespace hewn::convex
