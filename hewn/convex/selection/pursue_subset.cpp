#include <algorithm>

#include "hewn/convex/selection/ways.h"
#include "hewn/convex/solver/greedy_common.h"
#include "hewn/core/error.h"

namespace hewn::convex {

void pursue_subset(Selection& out, const ChosenMethod& chosen, const SelectOptions& options,
                   const Options& solver, const std::function<void(int, int)>& progress) {
  const MethodKind kind = chosen.method->kind;
  if (!options.lambda.empty() || options.path > 0) {
    throw Error(str("lambda and path: do not apply to ", chosen.method->name, ", which takes k"));
  }
  if (options.cv > 0 && options.kprime > 0) throw Error("kprime: cannot be given together with cv");
  if (options.score != "norm" && options.score != "curvature") {
    throw Error(str("score: expected norm or curvature, got \"", options.score, "\""));
  }
  GreedyOptions greedy;
  greedy.k = options.k > 0 ? options.k : 10;
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
    const CrossValidationOptions cv = cv_options(options);
    const auto pick = [&](const Problem& rest, Index size) {
      GreedyOptions own = greedy;
      own.k = size;
      return pursue(rest, own).solution;
    };
    out.cv = kind == MethodKind::kOmp
                 ? cross_validate_omp(out.problem, greedy, cv)
                 : cross_validate_sizes(out.problem, checked_count(out.problem, greedy.k), pick, cv);
    greedy.k = to_index(std::max<std::size_t>(1, out.cv->one_se));
  }
  greedy.progress = progress;
  const Greedy found = pursue(out.problem, greedy);
  out.selected = found.selected;
  out.losses = found.losses;
  out.tau = found.tau;
  out.null_loss = found.null_loss;
  out.solution = found.solution;
}

}  // namespace hewn::convex
