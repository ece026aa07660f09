#include "hewn/convex/theory_walk.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hewn/convex/fit/fitter.h"
#include "hewn/convex/greedy.h"
#include "hewn/convex/mask.h"
#include "hewn/convex/path.h"
#include "hewn/convex/solver/subset.h"
#include "hewn/convex/theory.h"
#include "hewn/core/error.h"
#include "hewn/core/random.h"

namespace hewn::convex {
namespace {

Matrix small_numbers(Index rows, Index cols, uint64_t seed) {
  Matrix out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) {
    const auto words = draw(seed, Stream::kSynthetic, 0, static_cast<uint64_t>(i));
    out.data()[i] =
        std::sqrt(-2 * std::log(1 - unit(words[0]))) * std::cos(6.283185307179586 * unit(words[1]));
  }
  return out;
}

Problem small_problem(Matrix x, Matrix y, Groups groups) {
  Problem out;
  out.x = dense_design(std::move(x));
  out.y = std::move(y);
  out.loss = &find_loss("gaussian");
  out.groups = std::move(groups);
  out.intercept = false;
  return out;
}

Options exact_options() {
  Options out;
  out.tolerance = 1e-10;
  return out;
}

/// A mask is trained from several starts and compared with the penalty that it should equal.
Statement mask_lemma(const std::string& name, const std::string& mask_name, const std::string& claim) {
  const Matrix x = small_numbers(40, 6, 11);
  const Matrix y = x.leftCols(2) * Vector::Constant(2, 1.5) + 0.5 * small_numbers(40, 1, 12);
  const Problem problem = small_problem(x, y, Groups::sizes({2, 2, 2}, 1));
  const Mask mask = parse_mask(mask_name);
  const double lambda = 0.1;
  const Solution penalised = solve(problem, mask.equivalent(), lambda, exact_options());
  double best = std::numeric_limits<double>::infinity();
  for (uint64_t start = 0; start < 8; ++start) {
    best = std::min(best, train_mask(problem, mask, lambda, small_numbers(6, 1, 20 + start)).objective);
  }
  const double difference = std::abs(best - penalised.objective) / penalised.objective;
  return {name,
          claim,
          difference < 1e-6,
          true,
          {{"lambda", lambda},
           {"masks trained", best},
           {"penalty solved", penalised.objective},
           {"relative difference", difference}}};
}

Statement composed_lemma() {
  double least = std::numeric_limits<double>::infinity();
  for (const char* name : {"power:0.3", "power:0.5", "power:0.9", "log"}) {
    const auto q = make_scalar(name);
    for (uint64_t i = 0; i < 1000; ++i) {
      const Vector r = small_numbers(4, 1, 100 + i).cwiseAbs();
      double sum = 0;
      for (const double one : r) sum += q->value(one);
      least = std::min(least, q->inverse(sum) / r.sum() - 1);
    }
  }
  return {"lemma 4",
          "for subadditive q the composed penalty is never below the sum of norms",
          least >= 0,
          true,
          {{"least excess, relative", least}}};
}

Statement lambert_counterexample() {
  const auto q = make_scalar("lambert");
  return {"lemma 4, q of lemma 1",
          "the q of exp masks is subadditive, as theorem 1 needs",
          q->value(0.2) <= 2 * q->value(0.1),
          false,
          {{"q(0.2)", q->value(0.2)}, {"2 q(0.1)", 2 * q->value(0.1)}}};
}

Statement one_group_lemma() {
  double worst = 0;
  for (const char* name : {"power:0.3", "power:0.5", "log", "lambert"}) {
    const auto q = make_scalar(name);
    for (const double r : {0.01, 0.5, 3.0, 40.0})
      worst = std::max(worst, std::abs(q->inverse(q->value(r)) / r - 1));
  }
  return {"lemma 5",
          "with one group the composed penalty is its norm",
          worst < 1e-9,
          true,
          {{"largest difference, relative", worst}}};
}

Statement first_theorem() {
  const Matrix x = small_numbers(12, 3, 40);
  const Problem problem = small_problem(x, x.col(1) + 0.5 * small_numbers(12, 1, 41), Groups::features(3, 1));
  Fitter fitter(problem, Penalty(), exact_options());
  const double lambda = 0.97 * fitter.tau();
  const Solution lasso = fitter.fit(lambda);
  double difference = 0;
  bool same = lasso.support.size() == 1 && lasso.support[0] == fitter.first_group();
  for (const char* name : {"power:0.5", "power:0.8", "log"}) {
    const Solution composed = solve(problem, Penalty(Form::kComposed, name), lambda, exact_options());
    same = same && composed.support == lasso.support && composed.certificate.verdict == Verdict::kCertified;
    difference = std::max(difference, std::abs(composed.objective - lasso.objective));
  }
  return {"theorem 1",
          "just below tau every composed penalty selects the group with the largest gradient",
          same && difference < 1e-9,
          true,
          {{"tau", fitter.tau()},
           {"lambda", lambda},
           {"group", static_cast<double>(fitter.first_group())},
           {"largest difference of objectives", difference}}};
}

Statement masks_are_not_composed() {
  const Problem problem = small_problem((Matrix(2, 2) << 10, 0, 0, 1).finished(),
                                        (Matrix(2, 1) << 1, 5).finished(), Groups::features(2, 1));
  Fitter fitter(problem, Penalty(), exact_options());
  const Index by_lasso = fitter.fit(0.9 * fitter.tau()).support.at(0);
  Index by_mask = -1;
  for (double at = 3; at > 0.05 && by_mask < 0; at *= 0.9) {
    const Solution solution = solve(problem, parse_mask("l1").equivalent(), at, exact_options());
    if (solution.support.size() == 1) by_mask = solution.support[0];
  }
  return {"theorem 1, l1 masks",
          "l1 masks select what the group LASSO selects (X = diag(10, 1), y = (1, 5))",
          by_lasso == by_mask,
          false,
          {{"group of the LASSO", static_cast<double>(by_lasso)},
           {"group of the masks", static_cast<double>(by_mask)}}};
}

Statement second_theorem() {
  const Matrix x = small_numbers(4000, 8, 90);
  const Problem problem =
      small_problem(x, x.col(6) + 0.5 * small_numbers(4000, 1, 95), Groups::features(8, 1));
  Subsets subsets(problem);
  double best = std::numeric_limits<double>::infinity();
  for (Index g = 0; g < 8; ++g) best = std::min(best, subsets.fit({g}, nullptr).objective);
  const double epsilon = 1e-6;
  const OmprBound bound = ompr_bound(problem, 1, subsets.fit({}, nullptr).objective - best, epsilon);
  double least = std::numeric_limits<double>::infinity();
  if (bound.kprime <= 8) {
    GreedyOptions options;
    options.k = 1;
    options.kprime = bound.kprime;
    options.rounds = static_cast<int>(bound.rounds);
    options.literal = true;
    const Greedy result = ompr(problem, options);
    least = result.solution.objective;
    for (const GreedyRound& round : result.rounds) least = std::min(least, round.objective);
  }
  return {"theorem 2",
          "OMPR with k' groups and R rounds comes within 1e-6 of the best group",
          least <= best + epsilon,
          true,
          {{"L2", bound.smooth},
           {"mu", bound.strong},
           {"condition", bound.smooth / bound.strong},
           {"k'", static_cast<double>(bound.kprime)},
           {"R", static_cast<double>(bound.rounds)},
           {"OMPR", least},
           {"best by enumeration", best}}};
}

Statement literal_algorithm() {
  double swaps = 0;
  double worse = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const Matrix x = small_numbers(30, 12, 200 + seed) + small_numbers(30, 1, 300 + seed).replicate(1, 12);
    const Problem problem = small_problem(x, x.leftCols(3).rowwise().sum() + small_numbers(30, 1, 400 + seed),
                                          Groups::features(12, 1));
    GreedyOptions options;
    options.k = 3;
    options.rounds = 20;
    options.literal = true;
    double last = std::numeric_limits<double>::infinity();
    for (const GreedyRound& round : ompr(problem, options).rounds) {
      if (round.removed >= 0) {
        swaps += 1;
        worse += round.objective > last ? 1 : 0;
      }
      last = round.objective;
    }
  }
  return {"algorithm 2 as written",
          "no swap raises the loss",
          worse == 0,
          false,
          {{"swaps", swaps}, {"that raise it", worse}}};
}

}  // namespace

std::vector<Statement> walk_theory() {
  return {mask_lemma("lemma 1", "exp", "training exp masks minimises the sum of Lambert-W penalties"),
          mask_lemma("lemma 2", "l1", "training l1 masks minimises the sum of norms to the 2/3"),
          mask_lemma("lemma 3", "powerprop", "training group powerpropagation solves the group LASSO"),
          composed_lemma(),
          lambert_counterexample(),
          one_group_lemma(),
          first_theorem(),
          masks_are_not_composed(),
          second_theorem(),
          literal_algorithm()};
}

}  // namespace hewn::convex
