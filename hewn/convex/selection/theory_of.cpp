#include "hewn/convex/selection/theory_of.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "hewn/convex/mask.h"
#include "hewn/convex/solver/subset.h"
#include "hewn/convex/theory.h"
#include "hewn/core/random.h"

namespace hewn::convex {

TrainedMask train_masks(const Selection& found, const ChosenMethod& chosen, uint64_t seed) {
  const Problem& problem = found.problem;
  const Mask mask = parse_mask(chosen.part);
  const Matrix solved = found.solution.coefficients(problem.groups);
  const double size = std::max(1e-3, solved.cwiseAbs().maxCoeff());
  TrainedMask out;
  out.objective = std::numeric_limits<double>::infinity();
  out.penalised = found.solution.objective;
  constexpr uint64_t kStarts = 8;
  for (uint64_t start = 0; start < kStarts; ++start) {
    Vector values(problem.groups.total());  // none is zero: what is dead stays so
    for (Index i = 0; i < values.size(); ++i) {
      const double share = unit(draw(seed, Stream::kSynthetic, start, static_cast<uint64_t>(i))[0]);
      values[i] = size * (share < 0.5 ? share - 1 : share);
    }
    const MaskTraining trained = train_mask(problem, mask, found.solution.lambda, values);
    if (!(trained.objective < out.objective)) continue;
    out.objective = trained.objective;
    out.iterations = trained.iterations;
    out.at_saddle = trained.at_saddle;
    const Matrix difference = trained.solution.coefficients(problem.groups) - solved;
    out.distance = difference.norm() / std::max(1e-300, solved.norm());
  }
  return out;
}

OmprDemand demand_of(const Problem& problem, Index k) {
  Subsets subsets(problem);
  std::vector<Index> all(to_size(problem.groups.count()));
  std::iota(all.begin(), all.end(), Index{0});
  const double excess =
      subsets.fit(subsets.always(), nullptr).objective - subsets.fit(all, nullptr).objective;
  const OmprBound bound = ompr_bound(problem, k, excess, 0.01 * excess);
  OmprDemand out;
  out.kprime = bound.kprime;
  out.rounds = bound.rounds;
  out.smooth = bound.smooth;
  out.strong = bound.strong;
  out.says_nothing = bound.kprime > problem.groups.count();
  return out;
}

}  // namespace hewn::convex
