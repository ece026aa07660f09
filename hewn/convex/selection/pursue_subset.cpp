#include <algorithm>

#include "hewn/convex/criterion.h"
#include "hewn/convex/selection/theory_of.h"
#include "hewn/convex/selection/ways.h"
#include "hewn/convex/solver/greedy_common.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::convex {
namespace {

using Pursue = std::function<Greedy(const Problem&, const GreedyOptions&)>;

/// A criterion for no group, one, ... up to k. A pursuit that only ever adds meets all of them on its way.
std::vector<double> criteria_of_sizes(const Problem& problem, const std::string& name,
                                      const GreedyOptions& greedy, bool only_adds, const Pursue& pursue) {
  const Criterion criterion = find_criterion(name);
  std::vector<double> out = {criterion_of(criterion, problem, select_none(problem).solution)};
  GreedyOptions own = greedy;
  if (only_adds) {
    own.on_solution = [&](const Solution& s) { out.push_back(criterion_of(criterion, problem, s)); };
    pursue(problem, own);
    return out;
  }
  const Index most = checked_count(problem, greedy.k);
  for (own.k = 1; own.k <= most; ++own.k)
    out.push_back(criterion_of(criterion, problem, pursue(problem, own).solution));
  return out;
}

}  // namespace

void pursue_subset(Selection& out, const ChosenMethod& chosen, const SelectOptions& options,
                   const Options& solver, const std::function<void(int, int)>& progress) {
  const MethodKind kind = chosen.method->kind;
  GreedyOptions greedy;
  greedy.k = options.k > 0 ? options.k : options.start.empty() ? 10 : to_index(options.start.size());
  if (options.rounds > 0) greedy.rounds = static_cast<int>(options.rounds);
  for (const std::string& name : options.start) {
    const auto at = std::find(out.group_names.begin(), out.group_names.end(), name);
    if (at == out.group_names.end()) {
      throw Error(str("start: there is no group \"", name, "\"", did_you_mean(name, out.group_names)));
    }
    greedy.start.push_back(at - out.group_names.begin());
  }
  if (!options.q.empty()) {
    const ChosenMethod q = find_method(options.q);
    if (q.method->is_subset())
      throw Error(str("q: expected a method with a penalty, got \"", options.q, "\""));
    greedy.q = penalty_of(q, takes_unit(q) ? natural_unit(out.problem, solver) : 1);
  }
  greedy.kprime = options.kprime;
  greedy.literal = options.literal;
  greedy.score = options.score == "norm" ? Score::kNorm : Score::kCurvature;
  greedy.epsilon = options.epsilon;
  const auto pursue = [&](const Problem& problem, const GreedyOptions& own) {
    return kind == MethodKind::kOmp    ? omp(problem, own)
           : kind == MethodKind::kOmpr ? ompr(problem, own)
           : kind == MethodKind::kIht  ? iht(problem, own)
                                       : sequential_lasso(problem, solver, own);
  };
  if (options.cv > 0) {
    const CrossValidationOptions cv = cv_options(options, *out.problem.loss);
    const auto pick = [&](const Problem& rest, Index size) {
      GreedyOptions own = greedy;
      own.k = size;
      return pursue(rest, own).solution;
    };
    out.cv = kind == MethodKind::kOmp
                 ? cross_validate_omp(out.problem, greedy, cv)
                 : cross_validate_sizes(out.problem, checked_count(out.problem, greedy.k), pick, cv);
    greedy.k = to_index(chosen_by(*out.cv, options));
  } else if (!options.criterion.empty()) {
    out.criterion =
        criteria_of_sizes(out.problem, options.criterion, greedy, kind == MethodKind::kOmp, pursue);
    greedy.k = std::min_element(out.criterion.begin(), out.criterion.end()) - out.criterion.begin();
  }
  greedy.progress = progress;
  const Greedy found = greedy.k == 0 ? select_none(out.problem) : pursue(out.problem, greedy);
  out.rounds = found.rounds;
  if (options.bound) out.demand = demand_of(out.problem, std::max<Index>(1, greedy.k));
  out.selected = found.selected;
  out.losses = found.losses;
  out.tau = found.tau;
  out.null_loss = found.null_loss;
  out.solution = found.solution;
}

}  // namespace hewn::convex
